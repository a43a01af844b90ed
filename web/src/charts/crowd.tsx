// A crowd: one mark for each person, in the same places whoever is compared; those who fare differently are shaded.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from '../lib/say';
import { whole } from '../lib/text';
import './crowd.css';

/** Missed: a solid diamond. False alarm: an open ring. Right: quiet dots, those that were found darker. */
export type MarkKind = 'missed' | 'alarm' | 'found' | 'clear' | 'other';

const circle = (x: number, y: number, r: number): string => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0-${2 * r} 0`;
const diamond = (x: number, y: number, r: number): string => `M${x} ${y - r}l${r} ${r}-${r} ${r}-${r}-${r}z`;

/** The outline of a mark in a cell of 10 units. */
export function outline(kind: MarkKind, x: number, y: number): string {
  if (kind === 'missed') return diamond(x, y, 4.6);
  if (kind === 'other') return diamond(x, y, 3.6);
  return circle(x, y, { alarm: 3.2, found: 3.6, clear: 2.9 }[kind]);
}

/** The mark that ties a word to the picture. */
export function Mark({ kind }: { kind: MarkKind }): JSX.Element {
  return (
    <svg class="mark-sign" viewBox="0 0 10 10" aria-hidden="true">
      <path class={`mark mark-${kind}`} d={outline(kind, 5, 5)} />
    </svg>
  );
}

const PHONE = '(max-width: 40rem)';

export function usePhone(): boolean {
  const [phone, setPhone] = useState(() => matchMedia(PHONE).matches);
  useEffect(() => {
    const query = matchMedia(PHONE);
    const turn = (): void => setPhone(query.matches);
    query.addEventListener('change', turn);
    return () => query.removeEventListener('change', turn);
  }, []);
  return phone;
}

export interface Run {
  kind: MarkKind;
  n: number;
}

interface BlockProps {
  runs: Run[];
  columns: number;
  /** From this place to that one people fare differently. */
  shaded?: [number, number];
  /** Places that are kept free, so that nothing below moves. */
  places?: number;
  /** Filled from below. */
  up?: boolean;
  /** Height by width of the picture, where it is to be the same for any number of people. */
  ratio?: number;
}

/** A block of people in fixed places, with small gaps that help counting. */
export function Block({ runs, columns, shaded, places = 0, up = false, ratio }: BlockProps): JSX.Element {
  const total = runs.reduce((n, run) => n + run.n, 0);
  const rows = Math.ceil(Math.max(total, places, 1) / columns);
  const every = columns === 25 ? 5 : 10;
  const x = (column: number): number => column * 10 + Math.floor(column / every) * (columns > 10 ? 4 : 0);
  const y = (place: number): number => {
    const row = Math.floor(place / columns);
    return (up ? rows - 1 - row : row) * 10 + 5;
  };
  const paths: Record<string, string> = {};
  const [from, to] = shaded ?? [0, 0];
  let place = 0;
  for (const { kind, n } of runs)
    for (let i = 0; i < n; i++, place++) {
      const quiet = (kind === 'found' || kind === 'clear') && place >= from && place < to;
      const name = quiet ? `mark-${kind} mark-shaded` : `mark-${kind}`;
      paths[name] = (paths[name] ?? '') + outline(kind, x(place % columns) + 5, y(place));
    }
  const shades: JSX.Element[] = [];
  for (let row = Math.floor(from / columns); from < to && row * columns < to; row++) {
    const first = Math.max(from, row * columns);
    const last = Math.min(to, (row + 1) * columns) - 1;
    shades.push(
      <rect
        key={row}
        class="crowd-shade"
        x={x(first % columns) - 0.3}
        y={y(first) - 5.3}
        width={x(last % columns) - x(first % columns) + 10.6}
        height={10.6}
        rx={2.4}
      />,
    );
  }
  const width = x(columns - 1) + 12;
  const height = ratio === undefined ? rows * 10 + 2 : width * ratio;
  return (
    <svg class="crowd" viewBox={`-1 -1 ${width} ${height}`} preserveAspectRatio="xMinYMin meet" aria-hidden="true">
      {shades}
      {Object.entries(paths).map(([name, d]) => (
        <path key={name} class={`mark ${name}`} d={d} />
      ))}
    </svg>
  );
}

/** Marks of one picture: more people than this are a bar beside the mistakes. */
const MOST_MARKS = 1000;
/** Mistakes of a large class that its picture has room for; more are smaller. */
const LARGE_MARKS = 520;

interface CrowdProps {
  /** People of the class, and how many of them are mistaken here and in the other picture. */
  total: number;
  wrong: number;
  other: number;
  mistake: MarkKind;
  right: MarkKind;
  /** How many people all the picture shows: its scale. */
  people: number;
  /** Marks of half the size. */
  fine?: boolean;
}

/** Those of one true class: mistakes first, one mark each; of a large class everybody else is one bar. */
export function Crowd({ total, wrong, other, mistake, right, people, fine = false }: CrowdProps): JSX.Element {
  const phone = usePhone();
  const columns = people <= 100 ? (phone ? 10 : 20) : phone ? 25 : 40;
  const shaded: [number, number] = [Math.min(wrong, other), Math.max(wrong, other)];
  if (total <= MOST_MARKS)
    return (
      <Block
        columns={fine ? 2 * columns : columns}
        shaded={shaded}
        runs={[
          { kind: mistake, n: wrong },
          { kind: right, n: total - wrong },
        ]}
      />
    );
  const finer = Math.max(1, Math.ceil(Math.sqrt(shaded[1] / LARGE_MARKS)));
  return (
    <div class="crowd-large">
      <Block
        columns={columns * finer}
        ratio={LARGE_MARKS / columns / columns}
        shaded={shaded}
        runs={[
          { kind: mistake, n: wrong },
          { kind: right, n: Math.max(0, other - wrong) },
        ]}
      />
      <p class="crowd-rest">
        {t`and ${whole(total - shaded[1])} more, without a mistake`}
      </p>
    </div>
  );
}
