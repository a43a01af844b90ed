// How long answers took, question by question.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useWidth } from '../charts/common';
import { short } from '../lib/text';
import type { Person } from '../lib/types';

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
