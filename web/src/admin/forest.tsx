// Every participant's number with its interval, one line each, and the number of all together.

import type { JSX } from 'preact';
import { useWidth } from '../charts/common';
import { short } from '../lib/text';
import type { Range } from '../lib/types';

export interface Line {
  key: string;
  name: string;
  range: Range;
  /** What it should be, where that is known. */
  truth?: number;
  odd?: boolean;
}

interface ForestProps {
  lines: Line[];
  all?: { name: string; range: Range } | null;
  /** Ratios are on a logarithmic scale, weights on an even one. */
  log: boolean;
  label: string;
  simulated?: boolean;
  /** Names are sentences rather than labels: they have a line of their own. */
  names?: boolean;
}

const ROW = 30;
const NAMED_ROW = 50;
const HEAD = 26;
const MOST = 200;

/** Only a lower bound is known. */
const isOpen = (range: Range): boolean => range.high == null && typeof range.low === 'number';

/** Only an upper bound of a ratio is known. */
const isBelow = (range: Range): boolean => range.text !== undefined && range.low === 0 && range.high != null;

const endsOf = (range: Range): [number, number] => [range.low ?? range.value, range.high ?? range.value];

/** As much of a name as there is room for. */
const cut = (name: string, most: number): string => {
  const letters = [...name];
  return letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : name;
};

/** The ends of the scale and where it is marked. */
function scaleOf(ranges: Range[], log: boolean): { low: number; high: number; ticks: number[] } {
  const values = ranges.map((r) => r.value);
  if (log) {
    const positive = ranges.flatMap((r) => [r.value, ...endsOf(r)]).filter((x) => x > 0 && Number.isFinite(x));
    const low = Math.max(Math.min(...positive, 1), Math.min(...values) / 30);
    const high = Math.min(Math.max(...positive, 10), Math.max(...values) * 30);
    const marks = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000];
    const ticks = marks.filter((t) => t >= low / 1.01 && t <= high * 1.01);
    return { low: Math.min(low, ticks[0] ?? low), high: Math.max(high, ticks[ticks.length - 1] ?? high), ticks };
  }
  const all = ranges.flatMap(endsOf);
  const [low, high] = [Math.min(...all, 0), Math.max(...all, 0)];
  const step = 10 ** Math.floor(Math.log10(high - low || 1));
  const ticks: number[] = [];
  for (let t = Math.ceil(low / step) * step; t <= high + 1e-9; t += step) ticks.push(Number(t.toPrecision(6)));
  return { low, high: high > low ? high : low + 1, ticks };
}

const rangeText = ({ low, high }: Range): string => (low == null || high == null ? '' : `${short(low)} to ${short(high)}`);

/** The number and its interval, or the one bound that there is, in the library's words; of that there is no best guess. */
function Numbers({ range, x, y }: { range: Range; x: number; y: number }): JSX.Element {
  const open = isOpen(range) || isBelow(range);
  return (
    <text class="forest-number" x={x} y={y} text-anchor="end">
      {!open && <tspan class="forest-value">{short(range.value)} </tspan>}
      {open ? range.text : rangeText(range)}
    </text>
  );
}

export function Forest({ lines, all, log, label, simulated, names = false }: ForestProps): JSX.Element | null {
  const [ref, width] = useWidth<HTMLDivElement>();
  const sorted = [...lines].sort((a, b) => a.range.value - b.range.value).slice(0, MOST);
  if (sorted.length === 0) return null;
  const { low, high, ticks } = scaleOf([...sorted.map((l) => l.range), ...(all ? [all.range] : [])], log);
  const [left, right] = names ? [14, 14] : width < 600 ? [74, 12] : [110, 150];
  const row = names ? NAMED_ROW : ROW;
  const at = (x: number): number => {
    const inside = Math.min(high, Math.max(low, x));
    const share = log ? Math.log(inside / low) / Math.log(high / low || Math.E) : (inside - low) / (high - low);
    return left + share * Math.max(0, width - left - right);
  };
  const y = (i: number): number => HEAD + i * row + (names ? row - 12 : row / 2);
  const height = HEAD + (sorted.length + (all ? 1.4 : 0)) * row + 6;
  const wide = width >= 600;
  return (
    <div class={`forest${simulated ? ' forest-simulated' : ''}`} ref={ref}>
      {width > 0 && (
        <svg width={width} height={height} role="img" aria-label={label}>
          {all && <rect class="forest-band" x={at(endsOf(all.range)[0])} width={Math.max(1, at(endsOf(all.range)[1]) - at(endsOf(all.range)[0]))} y={HEAD} height={height - HEAD - 6} />}
          {ticks.map((t) => (
            <g key={t}>
              <line class="forest-tick" x1={at(t)} x2={at(t)} y1={HEAD - 4} y2={height - 6} />
              <text class="tick-text" x={at(t)} y={14} text-anchor="middle">
                {short(t)}
              </text>
            </g>
          ))}
          {sorted.map((l, i) => {
            const open = isOpen(l.range);
            const below = isBelow(l.range);
            const [from, to] = open ? [l.range.low ?? low, high] : endsOf(l.range);
            return (
              <g key={l.key} class="forest-line">
                <text class="forest-name" x={4} y={names ? y(i) - 14 : y(i) + 4}>
                  {names ? cut(l.name, Math.floor((width - 130) / 7.5)) : `${l.odd ? '▲ ' : ''}${cut(l.name, wide ? 14 : 9)}`}
                  <title>{l.name}</title>
                </text>
                <line x1={at(from)} x2={at(to)} y1={y(i)} y2={y(i)} />
                {open || to > high * 1.01 ? <path class="forest-arrow" d={`M${at(to) - 7} ${y(i) - 5}l7 5-7 5`} /> : null}
                {below && <path class="forest-arrow" d={`M${at(low) + 7} ${y(i) - 5}l-7 5 7 5`} />}
                {!open && !below && <circle cx={at(l.range.value)} cy={y(i)} r={5} />}
                {l.truth !== undefined && <line class="forest-truth" x1={at(l.truth)} x2={at(l.truth)} y1={y(i) - 9} y2={y(i) + 9} />}
                {(wide || names) && <Numbers range={l.range} x={width - 4} y={names ? y(i) - 14 : y(i) + 4} />}
              </g>
            );
          })}
          {all && (
            <g class="forest-all">
              <line class="forest-tick" x1={0} x2={width} y1={y(sorted.length) - 8} y2={y(sorted.length) - 8} />
              <text class="forest-name" x={4} y={y(sorted.length) + 12}>
                {all.name}
              </text>
              <path d={`M${at(endsOf(all.range)[0])} ${y(sorted.length) + 8}L${at(all.range.value)} ${y(sorted.length)}L${at(endsOf(all.range)[1])} ${y(sorted.length) + 8}L${at(all.range.value)} ${y(sorted.length) + 16}z`} />
              {wide && <Numbers range={all.range} x={width - 4} y={y(sorted.length) + 12} />}
            </g>
          )}
        </svg>
      )}
      {lines.length > sorted.length && <p class="note">The first {MOST} of {lines.length}.</p>}
    </div>
  );
}
