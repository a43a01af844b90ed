import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCsv, pickColumns } from '../src/lib/csv';
import { madeUpTable } from '../src/lib/made';
import {
  emptyDraft,
  familiesFor,
  missing,
  sortedClasses,
  startRequest,
  withDataset,
  withSource,
  type Draft,
} from '../src/start/draft';

test('CSV is taken apart and put together', () => {
  const text = '\ufeffp,"a ""b""",label\r\n0.1,"x,y",1\r\n0.9,"two\nlines",0\r\n';
  const rows = parseCsv(text);
  assert.deepEqual(rows, [
    ['p', 'a "b"', 'label'],
    ['0.1', 'x,y', '1'],
    ['0.9', 'two\nlines', '0'],
  ]);
  assert.equal(pickColumns(rows, ['label']), 'label\n1\n0\n');
  assert.equal(pickColumns(rows, ['a "b"', 'p']), '"a ""b""",p\n"x,y",0.1\n"two\nlines",0.9\n');
  assert.deepEqual(parseCsv('a,b\n1,'), [
    ['a', 'b'],
    ['1', ''],
  ]);
  assert.deepEqual(parseCsv('a\n\n1\n'), [['a'], ['1']]);
});

test('a made-up table is repeatable and has the wanted shares', () => {
  const table = parseCsv(madeUpTable(['x', 'y', 'z'], [50, 30, 20], 2));
  assert.deepEqual(table[0], ['score1', 'score2', 'score3', 'label']);
  const count = (c: string): number => table.filter((row) => row[3] === c).length;
  assert.deepEqual(['0', '1', '2'].map(count), [1000, 600, 400]);
  assert.equal(madeUpTable(['x', 'y'], [1, 1], 2), madeUpTable(['x', 'y'], [1, 1], 2));
  assert.equal(parseCsv(madeUpTable(['x', 'y'], [1, 999], 2)).filter((row) => row[2] === '0').length, 40);
});

const noUpload = (): Promise<string> => Promise.reject(new Error('nothing is uploaded here'));

test('classes are ordered as the server orders them', () => {
  assert.deepEqual(sortedClasses([10, 9, 1, 10]), ['1', '9', '10']);
  assert.deepEqual(sortedClasses(['b', 'B', 'a']), ['B', 'a', 'b']);
});

test('bundled data: classes are renamed one by one, whichever is to be found', async () => {
  const dataset = { name: 'breast_cancer_original', title: '', rows: 699, classes: ['0', '1'] };
  const draft = withDataset(emptyDraft, dataset);
  assert.equal(missing(draft), null);
  const request = (await startRequest(draft, noUpload)) as {
    space: object;
    words: { mistakes: { missed_plural: string } };
  };
  assert.deepEqual(request.space, {
    data: 'breast_cancer_original',
    label: 'label',
    positive: '1',
    rename: { '0': 'healthy', '1': 'cancer' },
    smooth: true,
  });
  assert.equal(request.words.mistakes.missed_plural, 'missed cancer cases');
  const other = (await startRequest({ ...draft, positive: 0 }, noUpload)) as { space: object };
  assert.deepEqual(other.space, {
    data: 'breast_cancer_original',
    label: 'label',
    positive: '0',
    rename: { '0': 'healthy', '1': 'cancer' },
    smooth: true,
  });
});

test('another source starts with empty names', () => {
  const dataset = { name: 'breast_cancer_original', title: '', rows: 699, classes: ['0', '1'] };
  const first = withDataset({ ...emptyDraft, questions: 40 }, dataset);
  const names = withSource(first, 'names', [dataset]);
  assert.deepEqual([names.source, names.classes, names.missed, names.questions], ['names', ['', ''], '', 40]);
  const back = withSource(names, 'bundled', [dataset]);
  assert.deepEqual([back.source, back.classes, back.missed], ['bundled', ['healthy', 'cancer'], 'missed cancer']);
});

test('names only: a population with the right share, or a made-up table', async () => {
  const two: Draft = { ...emptyDraft, source: 'names', classes: ['ok', 'ill'], shares: [90, 10] };
  const request = (await startRequest(two, noUpload)) as { space: { population: string; rename: object } };
  const [, a, b] = /^logistic:a=([\d.]+),b=(-?[\d.]+)$/.exec(request.space.population) ?? [];
  assert.equal(a, '5');
  assert.ok(Number(b) > 0, 'a rare class has a positive intercept');
  assert.deepEqual(request.space.rename, { negative: 'ok', positive: 'ill' });
  const sent: string[] = [];
  const three = { ...two, classes: ['x', 'y', 'z'], shares: [50, 30, 20], family: 'diagonal-linear' };
  const made = (await startRequest(three, (csv) => (sent.push(csv), Promise.resolve('u1')))) as {
    space: object;
    words: object;
  };
  assert.deepEqual(made.space, { data: 'upload:u1', label: 'label', rename: { '0': 'x', '1': 'y', '2': 'z' } });
  assert.ok(!('mistakes' in made.words));
  assert.equal(sent.length, 1);
});

test('probabilities are sent as the columns that the server wants', async () => {
  const sent: string[] = [];
  const file = {
    name: 'p.csv',
    rows: parseCsv('id,p,y,sex\n1,0.2,no,f\n2,0.7,yes,m\n'),
    upload: 'whole',
    columns: [],
    holds: 'probabilities' as const,
    label: 'y',
    group: 'sex',
    probabilities: ['p'],
  };
  const draft: Draft = {
    ...emptyDraft,
    source: 'file',
    file,
    classes: ['no', 'yes'],
    original: ['no', 'yes'],
    family: 'fair-linear',
  };
  const request = (await startRequest(draft, (csv) => Promise.resolve(`u${sent.push(csv)}`))) as { space: object };
  assert.deepEqual(request.space, {
    probs: 'upload:u1',
    labels: 'upload:u2',
    groups: 'upload:u3',
    positive: 'yes',
  });
  assert.deepEqual(sent, ['p\n0.2\n0.7\n', 'y\nno\nyes\n', 'sex\nf\nm\n']);
  assert.deepEqual(
    familiesFor(draft).map(([name]) => name),
    ['fair-linear', 'linear', 'linear-fractional'],
  );
});

test('what is missing is named', () => {
  const rows: [Partial<Draft>, string][] = [
    [{ source: 'bundled' }, 'dataset'],
    [{ source: 'file' }, 'file'],
    [{ source: 'names', classes: ['a', ' '] }, 'class-1'],
    [{ source: 'names', classes: ['a', 'a'] }, 'class-0'],
    [{ source: 'names', classes: ['a', 'b'], shares: [0, 10] }, 'share-0'],
    [{ source: 'names', classes: ['a', 'b'], shares: [Number.NaN, 10] }, 'share-0'],
  ];
  for (const [change, field] of rows) assert.equal(missing({ ...emptyDraft, ...change })?.field, field);
});
