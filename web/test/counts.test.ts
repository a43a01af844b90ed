import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  cells,
  columnTotals,
  differing,
  gap,
  isBinary,
  kindOf,
  logisticIntercept,
  marks,
  matrices,
  outcomesThatDiffer,
  peoplePerMark,
  rowTotals,
  sum,
  type TwoSystems,
} from '../src/lib/counts';

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

test('marks keep the sum, and nobody disappears', () => {
  const rows: [number[], number, number[]][] = [
    [[35, 65], 1, [35, 65]],
    [[4, 996], 10, [1, 99]],
    [[0, 1000], 10, [0, 100]],
    [[3, 3, 9994], 10, [1, 1, 998]],
    [[25, 25, 50], 10, [3, 2, 5]],
  ];
  for (const [counts, each, expected] of rows) assert.deepEqual(marks(counts, each), expected, String(counts));
  for (let a = 0; a <= 1000; a += 37) {
    const n = marks([a, 1000 - a], 10);
    assert.equal(sum(n), 100, `of ${a}`);
    assert.ok(n.every((m, i) => (i === 0 ? a : 1000 - a) === 0 || m > 0));
  }
  assert.deepEqual([100, 1000, 10000].map(peoplePerMark), [1, 1, 10]);
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
