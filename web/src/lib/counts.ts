// Arithmetic on confusion matrices. Nothing here knows about the page.

import type { ClassInfo, Counts, Frame, Matrix, Question, View, Words } from './types';

/** Numbers that are not known count for nothing. */
export const sum = (xs: readonly (number | null | undefined)[]): number => xs.reduce<number>((a, b) => a + (b ?? 0), 0);

/** With groups there is one matrix per group, without there is one. */
export function matrices(counts: Counts): Matrix[] {
  const first = counts[0]?.[0];
  return Array.isArray(first) ? (counts as Matrix[]) : [counts as Matrix];
}

export const rowTotals = (m: Matrix): number[] => m.map((row) => sum(row));
export const columnTotals = (m: Matrix): number[] => (m[0] ?? []).map((_, j) => sum(m.map((row) => row[j])));

/** Which of two classes is to be found: the second one unless the server says otherwise. */
export const positiveOf = (q: { positive?: number }): number => q.positive ?? 1;

export const isBinary = (q: { classes: readonly unknown[]; groups?: readonly unknown[] }): boolean =>
  q.classes.length === 2 && !q.groups?.length;

/** The kind of a cell: right, or which of the two mistakes; with more classes "other". */
export type Kind = 'right' | 'missed' | 'alarm' | 'other';

export function kindOf(truth: number, predicted: number, classes: number, positive: number): Kind {
  if (truth === predicted) return 'right';
  if (classes !== 2) return 'other';
  return truth === positive ? 'missed' : 'alarm';
}

export interface Cell {
  group: number;
  truth: number;
  predicted: number;
  kind: Kind;
  a: number;
  b: number;
  /** People of the true class (in the group), in A and in B alike up to rounding. */
  total: number;
}

/** So many people in whole numbers by these shares: where the shares are all there is, their sum is all people. */
export function apportioned(people: number, shares: readonly number[]): number[] {
  const exact = shares.map((share) => people * share);
  const found = exact.map(Math.floor);
  const left = Math.round(exact.reduce((a, b) => a + b, 0)) - found.reduce((a, b) => a + b, 0);
  const order = exact.map((x, i) => [x - Math.floor(x), i] as const).sort((x, y) => y[0] - x[0]);
  for (const [, i] of order.slice(0, left)) found[i] = (found[i] ?? 0) + 1;
  return found;
}

export interface TwoSystems extends Frame {
  a: Counts;
  b: Counts;
}

/** How many people are truly of a class: the row's sum, or where cells are not known the class's share. */
export function classTotal(row: readonly (number | null)[], frame: Frame, truth: number): number {
  if (!row.includes(null)) return sum(row);
  return frame.of_each_class ? frame.people : Math.round(frame.people * (frame.classes[truth]?.share ?? 1));
}

/** Every known cell of the two systems, in reading order. */
export function cells(q: TwoSystems): Cell[] {
  const found: Cell[] = [];
  const other = matrices(q.b);
  matrices(q.a).forEach((matrix, group) =>
    matrix.forEach((row, truth) =>
      row.forEach((a, predicted) => {
        const b = other[group]?.[truth]?.[predicted] ?? null;
        if (a === null || b === null) return;
        const kind = kindOf(truth, predicted, q.classes.length, positiveOf(q));
        found.push({ group, truth, predicted, kind, a, b, total: classTotal(row, q, truth) });
      }),
    ),
  );
  return found;
}

/** Mistakes, or right predictions where only those are known. */
function telling(q: TwoSystems): Cell[] {
  const all = cells(q);
  const mistakes = all.filter((cell) => cell.truth !== cell.predicted);
  return mistakes.length > 0 ? mistakes : all;
}

/** What differs between A and B, largest difference first. */
export function differing(q: TwoSystems): Cell[] {
  return telling(q)
    .filter((cell) => cell.a !== cell.b)
    .sort((x, y) => Math.abs(y.b - y.a) - Math.abs(x.b - x.a));
}

/** What is about the class that is the gravest to mistake comes first. */
export function gravestFirst(cells: readonly Cell[], classes: readonly ClassInfo[], words?: Words): Cell[] {
  const grave = (c: Cell): boolean => words?.gravest !== undefined && classes[c.truth]?.name === words.gravest;
  return [...cells].sort((x, y) => Number(grave(y)) - Number(grave(x)));
}

export interface Outcome {
  truth: number;
  predicted: number;
  kind: Kind;
  groups: Cell[];
}

/** What differs, cells of the same kind together: one for each group. */
export function outcomesThatDiffer(q: TwoSystems): Outcome[] {
  const all = telling(q);
  const found: Outcome[] = [];
  for (const cell of differing(q)) {
    if (found.some((m) => m.truth === cell.truth && m.predicted === cell.predicted)) continue;
    const groups = all.filter((c) => c.truth === cell.truth && c.predicted === cell.predicted);
    found.push({ truth: cell.truth, predicted: cell.predicted, kind: cell.kind, groups });
  }
  // Two classes have two mistakes, which keep their places from question to question.
  return q.classes.length === 2
    ? found.sort((x, y) => Number(y.kind === 'missed') - Number(x.kind === 'missed'))
    : found;
}

/** The widest distance between two groups. */
export const gap = (values: readonly number[]): number => Math.max(...values) - Math.min(...values);

/** The order in which binary pictures show the classes: the one to be found first. */
export const binaryOrder = (positive: number): [number, number] => [positive, 1 - positive];

export const className = (classes: readonly ClassInfo[], i: number): string => classes[i]?.name ?? `class ${i + 1}`;

export function viewOf(q: Question, side: 'a' | 'b'): View {
  const { people, of_each_class, classes, groups, positive } = q;
  return { people, of_each_class, classes, groups, positive, counts: q[side] };
}

/**
 * The intercept b with which P(positive | x) = 1 / (1 + exp(a x + b)), x uniform on [-1, 1], has this mean.
 * 1 - mean = (softplus(a + b) - softplus(b - a)) / (2 a), solved for exp(b).
 */
export function logisticIntercept(a: number, share: number): number {
  const s = 2 * a * (1 - share);
  return Math.log(Math.expm1(s)) - a - Math.log(-Math.expm1(s - 2 * a));
}
