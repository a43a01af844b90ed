// The icon array: one mark per person (or per so many people), those of one true class together.

import type { JSX } from 'preact';
import {
  binaryOrder,
  className,
  kindOf,
  marks,
  matrices,
  peoplePerMark,
  positiveOf,
  rowTotals,
  type Kind,
} from '../lib/counts';
import { whole } from '../lib/text';
import { useWidth } from './common';
import type { PictureProps } from './flow';

/** A disc for right, a cross for missed, a diamond for false alarms: told apart without colours. */
export function glyph(kind: Kind, x: number, y: number, size: number): string {
  const r = size * 0.36;
  if (kind === 'missed') return `M${x - r} ${y - r}L${x + r} ${y + r}M${x - r} ${y + r}L${x + r} ${y - r}`;
  if (kind === 'alarm') return `M${x} ${y - r * 1.25}L${x + r * 1.25} ${y}L${x} ${y + r * 1.25}L${x - r * 1.25} ${y}Z`;
  return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
}

function Grid({
  parts,
  width,
  size,
}: {
  parts: { kind: Kind; n: number }[];
  width: number;
  size: number;
}): JSX.Element {
  const columns = Math.max(10, Math.floor(width / size / 5) * 5);
  const total = parts.reduce((n, part) => n + part.n, 0);
  const cell = width / columns;
  let place = 0;
  return (
    <svg width={width} height={Math.ceil(total / columns) * cell} aria-hidden="true">
      {parts.map((part) => {
        let d = '';
        for (let i = 0; i < part.n; i++, place++)
          d += glyph(
            part.kind,
            (place % columns) * cell + cell / 2,
            Math.floor(place / columns) * cell + cell / 2,
            cell,
          );
        return (
          <path key={part.kind} d={d} class={`icon icon-${part.kind}`} stroke-width={Math.max(1.2, cell * 0.17)} />
        );
      })}
    </svg>
  );
}

export function Icons({ view, large = false }: PictureProps): JSX.Element {
  const [ref, width] = useWidth<HTMLDivElement>();
  const positive = positiveOf(view);
  const m = matrices(view.counts)[0] ?? [];
  const each = peoplePerMark(view.people);
  const size = (view.people <= 100 ? 22 : 9) * (large ? 1.5 : 1);
  const rows = rowTotals(m);
  return (
    <div class="icons" ref={ref} aria-hidden="true">
      {binaryOrder(positive).map((truth) => {
        const order = [1 - truth, truth];
        const n = marks(
          order.map((p) => m[truth]?.[p] ?? 0),
          each,
        );
        const parts = order.map((p, i) => ({ kind: kindOf(truth, p, 2, positive), n: n[i] ?? 0 }));
        return (
          <div key={truth}>
            <div class="bars-title">
              <span>
                <small>truly</small> {className(view.classes, truth)}
              </span>
              <b>{whole(rows[truth] ?? 0)}</b>
            </div>
            {width > 0 && <Grid parts={parts} width={width} size={size} />}
          </div>
        );
      })}
      {each > 1 && <p class="note">Each mark stands for {each} people.</p>}
    </div>
  );
}
