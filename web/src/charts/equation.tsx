// One mistake of the graver kind, and how many of the other kind it counts as much as: an equation of marks.

import type { JSX } from 'preact';
import { t } from '../lib/say';
import { short } from '../lib/text';
import { Mark, outline, usePhone, type MarkKind } from './crowd';

const MOST = 40;

interface Props {
  /** Of the graver mistake. */
  grave: MarkKind;
  light: MarkKind;
  value: number;
  low: number | null;
  high: number | null;
}

/** Solid as far as it is certain, dashed where it is not. Without an upper end an arrow goes on. */
export function Equation({ grave, light, value, low, high }: Props): JSX.Element | null {
  const phone = usePhone();
  const open = high === null;
  const end = Math.round(open ? (low ?? value) : high);
  if (end > MOST || end < 1) return null;
  const sure = Math.round(low ?? 1);
  const per = phone ? 14 : MOST;
  const marks = Array.from({ length: end }, (_, i) => i);
  const rows = Math.ceil(end / per);
  const wide = Math.min(end, per) + (open ? 2 : 0);
  return (
    <div class="equation" aria-hidden="true">
      <span class="equation-grave">
        <Mark kind={grave} />
      </span>
      <span class="equation-sign">{open ? '>' : '='}</span>
      <svg class="equation-marks" viewBox={`0 0 ${wide * 10} ${rows * 10 + 12}`} preserveAspectRatio="xMinYMin meet">
        {marks.map((i) => (
          <path
            key={i}
            class={`mark mark-${light}${i >= sure && !open ? ' mark-unsure' : ''}`}
            d={outline(light, (i % per) * 10 + 5, Math.floor(i / per) * 10 + 5)}
          />
        ))}
        {open ? (
          <path class="equation-arrow" d={`M${(((end - 1) % per) + 1) * 10 + 2} ${rows * 10 - 5}h12m-3-2.5l3 2.5-3 2.5`} />
        ) : (
          <text class="equation-text" x={Math.min(end, per) * 10 - 1} y={rows * 10 + 8} text-anchor="end">
            {low === null ? t`up to ${short(high)}` : t`${short(low)} to ${short(high)}`}
          </text>
        )}
      </svg>
    </div>
  );
}
