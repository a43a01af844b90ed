// A value with its interval on a line, on a logarithmic or an even scale.

import type { JSX } from 'preact';
import { short } from '../lib/text';
import type { Range } from '../lib/types';
import { useWidth } from './common';

interface Props {
  range: Range;
  low: number;
  high: number;
  log?: boolean;
  ticks: number[];
  format?: (x: number) => string;
}

export function Interval({ range, low, high, log = false, ticks, format = short }: Props): JSX.Element {
  const [ref, width] = useWidth<HTMLDivElement>();
  const pad = 18;
  // Without an upper end there is no best guess either.
  const open = range.high === null && typeof range.low === 'number';
  const at = (x: number): number => {
    const clamped = Math.min(high, Math.max(low, x));
    const share = log ? Math.log(clamped / low) / Math.log(high / low) : (clamped - low) / (high - low);
    return pad + share * Math.max(0, width - 2 * pad);
  };
  return (
    <div class="interval" ref={ref} aria-hidden="true">
      {width > 0 && (
        <svg width={width} height={46}>
          <line class="axis" x1={pad} x2={width - pad} y1={16} y2={16} />
          {ticks.map((t, i) => (
            <g key={t} transform={`translate(${at(t)} 16)`}>
              <line class="axis" y1={-4} y2={4} />
              <text
                class="tick-text"
                x={i === 0 ? -pad : i === ticks.length - 1 ? pad : 0}
                y={24}
                text-anchor={i === 0 ? 'start' : i === ticks.length - 1 ? 'end' : 'middle'}
              >
                {format(t)}
              </text>
            </g>
          ))}
          <rect
            class="interval-range"
            x={at(range.low ?? range.value)}
            width={Math.max(3, at(open ? high : (range.high ?? range.value)) - at(range.low ?? range.value))}
            y={10}
            height={12}
            rx={6}
          />
          {open ? (
            <path class="interval-arrow" d={`M${width - pad - 2} 8l8 8-8 8`} />
          ) : (
            <circle class="interval-value" cx={at(range.value)} cy={16} r={7} />
          )}
        </svg>
      )}
    </div>
  );
}

/** Powers of ten (and 1) that enclose the interval. */
export function logTicks(range: Range): { low: number; high: number; ticks: number[] } {
  const value = range.high === null ? (range.low ?? range.value) : range.value;
  const from = Math.floor(Math.log10(Math.min(range.low ?? value, value, 1)));
  const to = Math.ceil(Math.log10(Math.max(range.high ?? value, value, 10)));
  const first = Math.max(-4, from);
  const last = Math.min(6, Math.max(first + 1, to));
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i));
  return { low: 10 ** first, high: 10 ** last, ticks };
}
