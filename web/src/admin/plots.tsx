// Plots of a study: every participant's metric with its interval, and how long answers took.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useWidth } from '../charts/common';
import { short } from '../lib/text';
import type { Person, Pooled, Ratio } from '../lib/types';

const style = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const axis = (label: string): uPlot.Axis => ({
  label,
  labelSize: 22,
  labelFont: '13px system-ui, sans-serif',
  font: '12px system-ui, sans-serif',
  stroke: style('--soft'),
  grid: { stroke: style('--line'), width: 1 },
  ticks: { stroke: style('--line') },
});

function Plot({
  options,
  data,
  label,
}: {
  options: Omit<uPlot.Options, 'width' | 'height'>;
  data: uPlot.AlignedData;
  label: string;
}): JSX.Element {
  const [ref, width] = useWidth<HTMLDivElement>();
  const plot = useRef<uPlot | null>(null);
  useEffect(() => {
    if (!ref.current || width === 0) return;
    plot.current = new uPlot({ ...options, width, height: 260 }, data, ref.current);
    return () => plot.current?.destroy();
  }, [width, options, data, ref]);
  return <div class="plot" ref={ref} role="img" aria-label={label} />;
}

/** There is no half participant or question. */
const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500];

/** Whiskers between the low and the high series of a plot. */
function whiskers(u: uPlot): void {
  const ctx = u.ctx;
  ctx.save();
  ctx.strokeStyle = style('--accent');
  ctx.lineWidth = 2 * devicePixelRatio;
  ctx.setLineDash([]);
  for (let i = 0; i < (u.data[0]?.length ?? 0); i++) {
    const low = u.data[2]?.[i];
    const high = u.data[3]?.[i];
    if (low == null || high == null) continue;
    const x = u.valToPos(u.data[0]?.[i] as number, 'x', true);
    ctx.beginPath();
    ctx.moveTo(x, u.valToPos(low, 'y', true));
    ctx.lineTo(x, u.valToPos(high, 'y', true));
    ctx.stroke();
  }
  ctx.restore();
}

const hidden: uPlot.Series = { stroke: 'transparent', points: { show: false } };

export function RatioPlot({ people, pooled }: { people: Person[]; pooled?: Pooled | null }): JSX.Element | null {
  const known = people
    .filter((p): p is Person & { cost_ratio: Ratio } => (p.cost_ratio?.value ?? 0) > 0)
    .sort((a, b) => a.cost_ratio.value - b.cost_ratio.value);
  if (known.length === 0) return null;
  const series = (f: (r: Ratio) => number): number[] => known.map((p) => Math.max(1e-3, f(p.cost_ratio)));
  const data: uPlot.AlignedData = [
    known.map((_, i) => i + 1),
    series((r) => r.value),
    series((r) => r.low ?? r.value),
    series((r) => Math.min(1e5, r.high ?? r.value)),
    known.map(() => pooled?.cost_ratio?.value ?? null),
  ];
  const dot: uPlot.Series = {
    stroke: 'transparent',
    points: { show: true, size: 9, fill: style('--accent'), stroke: style('--surface') },
  };
  const options: Omit<uPlot.Options, 'width' | 'height'> = {
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { time: false, range: [0.5, known.length + 0.5] }, y: { distr: 3 } },
    axes: [
      { ...axis('participants, by ratio'), incrs: WHOLE },
      { ...axis('ratio of costs'), size: 62 },
    ],
    series: [{}, dot, hidden, hidden, { stroke: style('--other'), width: 2, dash: [6, 5], points: { show: false } }],
    hooks: { draw: [whiskers] },
  };
  return (
    <figure>
      <figcaption>
        How many false alarms one missed case is worth: each participant with the 95% interval
        {pooled?.cost_ratio ? `, all together dashed (${short(pooled.cost_ratio.value)})` : ''}
      </figcaption>
      <Plot
        options={options}
        data={data}
        label={`Ratios from ${short(known[0]?.cost_ratio.value ?? 0)} to ${short(known[known.length - 1]?.cost_ratio.value ?? 0)}`}
      />
    </figure>
  );
}

const median = (xs: number[]): number => {
  const sorted = [...xs].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
};

export function TimePlot({ people }: { people: Person[] }): JSX.Element | null {
  const times = people.filter((p) => !p.simulated && (p.times?.length ?? 0) > 0).map((p) => p.times as number[]);
  if (times.length === 0) return null;
  const questions = Math.max(...times.map((t) => t.length));
  const at = (i: number): number[] => times.flatMap((t) => (t[i] !== undefined ? [t[i] as number] : []));
  const numbers = Array.from({ length: questions }, (_, i) => i);
  // The median comes last: it lies on top of the thin lines.
  const data: uPlot.AlignedData = [
    numbers.map((i) => i + 1),
    ...times.map((t) => numbers.map((i) => t[i] ?? null)),
    numbers.map((i) => median(at(i))),
  ];
  const options: Omit<uPlot.Options, 'width' | 'height'> = {
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { time: false } },
    axes: [
      { ...axis('question'), incrs: WHOLE },
      { ...axis('seconds'), size: 56 },
    ],
    series: [
      {},
      ...times.map(() => ({ stroke: style('--right'), width: 1, points: { show: false } })),
      { stroke: style('--accent'), width: 3, points: { show: false } },
    ],
  };
  return (
    <figure>
      <figcaption>Seconds per question: each participant thin, the median thick</figcaption>
      <Plot options={options} data={data} label={`The median is ${short(median(times.flat()))} seconds`} />
    </figure>
  );
}
