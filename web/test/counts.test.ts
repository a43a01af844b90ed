import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  apportioned,
  cells,
  columnTotals,
  differing,
  gap,
  isBinary,
  kindOf,
  logisticIntercept,
  matrices,
  outcomesThatDiffer,
  rowTotals,
  type TwoSystems,
} from '../src/lib/counts';
import { costsOf } from '../src/charts/costs';
import type { Weight } from '../src/lib/types';

const binary: TwoSystems = {
  people: 100,
  classes: [{ name: 'healthy' }, { name: 'cancer' }],
  a: [
    [56, 9],
    [4, 31],
  ],
  b: [
    [63, 2],
    [9, 26],
  ],
};

test('totals and kinds of a binary matrix', () => {
  const m = matrices(binary.a)[0]!;
  assert.deepEqual(rowTotals(m), [65, 35]);
  assert.deepEqual(columnTotals(m), [60, 40]);
  assert.ok(isBinary(binary));
  assert.ok(!isBinary({ ...binary, groups: ['x', 'y'] }));
  const rows: [number, number, number, number, string][] = [
    [0, 0, 2, 1, 'right'],
    [1, 0, 2, 1, 'missed'],
    [0, 1, 2, 1, 'alarm'],
    [0, 1, 2, 0, 'missed'],
    [0, 1, 3, 1, 'other'],
  ];
  for (const [t, p, k, positive, kind] of rows) assert.equal(kindOf(t, p, k, positive), kind);
});

test('what differs comes with the largest difference first', () => {
  const found = differing(binary);
  assert.deepEqual(
    found.map((c) => [c.kind, c.a, c.b, c.total]),
    [
      ['alarm', 9, 2, 65],
      ['missed', 4, 9, 35],
    ],
  );
  assert.equal(differing({ ...binary, b: binary.a }).length, 0);
});

test('groups: one outcome per kind of mistake, with every group', () => {
  const q: TwoSystems = {
    ...binary,
    groups: ['women', 'men'],
    a: [matrices(binary.a)[0]!, matrices(binary.a)[0]!],
    b: [matrices(binary.a)[0]!, matrices(binary.b)[0]!],
  };
  const found = outcomesThatDiffer(q);
  assert.deepEqual(
    found.map((o) => [o.truth, o.predicted]),
    [
      [1, 0],
      [0, 1],
    ],
  );
  assert.deepEqual(
    found[1]!.groups.map((c) => [c.group, c.a, c.b]),
    [
      [0, 9, 9],
      [1, 9, 2],
    ],
  );
  assert.equal(gap(found[1]!.groups.map((c) => c.b)), 7);
});

test('where only right predictions are known, they are what differs', () => {
  const q: TwoSystems = {
    people: 1000,
    classes: [
      { name: 'bus', share: 0.5 },
      { name: 'car', share: 0.3 },
      { name: 'van', share: 0.2 },
    ],
    a: [
      [400, null, null],
      [null, 200, null],
      [null, null, 150],
    ],
    b: [
      [450, null, null],
      [null, 180, null],
      [null, null, 150],
    ],
  };
  assert.deepEqual(
    differing(q).map((c) => [c.truth, c.predicted, c.b - c.a, c.total]),
    [
      [0, 0, 50, 500],
      [1, 1, -20, 300],
    ],
  );
  assert.equal(cells(q).length, 3);
  assert.equal(cells({ ...q, of_each_class: true })[0]!.total, 1000);
});

test('the population model has the wanted share of positives', () => {
  for (const a of [2.5, 5, 7.5])
    for (const share of [0.01, 0.1, 0.35, 0.5, 0.9]) {
      const b = logisticIntercept(a, share);
      let mean = 0;
      const n = 20000;
      for (let i = 0; i < n; i++) mean += 1 / (1 + Math.exp(a * (-1 + (2 * (i + 0.5)) / n) + b)) / n;
      assert.ok(Math.abs(mean - share) < 1e-6, `a ${a}, share ${share}: ${mean}`);
    }
});

test('shares become whole people who are all there', () => {
  assert.deepEqual(apportioned(1000, [0.38, 0.2396, 0.3804]), [380, 240, 380]);
  assert.deepEqual(apportioned(1000, [1 / 3, 1 / 3, 1 / 3]), [334, 333, 333]);
  assert.deepEqual(apportioned(100, [0.5, 0.25]), [50, 25]);
});

test('costs are shares of the gravest, with the sign of their ends', () => {
  const weight = (value: number, low: number, high: number): Weight => ({ symbol: '', name: '', value, low, high });
  const curved = costsOf([weight(0.1, -0.4, 0.5), weight(0.8, -0.4, 0.8)], undefined);
  assert.deepEqual(curved.map((c) => [c.value, c.ends]), [[0.125, [-0.5, 0.625]], [1, [-0.5, 1]]]);
  // Of utilities the weights of mistakes are negative.
  assert.deepEqual(costsOf([weight(-0.5, -0.75, -0.25), weight(-1, -1, -0.5)], undefined)[0], { value: 0.5, ends: [0.25, 0.75] });
  const known = costsOf([weight(0.1, 0, 0.2), weight(1, 0.9, 1)], [{ weight: 0, of: 1, ratio: 0.1, interval: [0.05, 0.12], wide: true }]);
  assert.deepEqual(known, [{ value: 0.1, ends: [0.05, 0.12] }, { value: 1, ends: null }]);
});
