import assert from 'node:assert/strict';
import { test } from 'node:test';
import { madeUpTable } from '../src/lib/made';
import type { Column, Upload } from '../src/lib/types';
import { cautions, qualityLine } from '../src/start/ask';
import {
  emptyDraft,
  familiesFor,
  familyOf,
  likelyLabel,
  mapProbabilities,
  missing,
  mistakeWords,
  placeOf,
  sortedClasses,
  startRequest,
  stepsOf,
  studyOf,
  withDataset,
  withLabel,
  withSource,
  type Draft,
  type FileDraft,
  type Source,
} from '../src/start/draft';

test('a made-up table is repeatable and has the wanted shares', () => {
  const table = (shares: number[], names: string[]): string[][] =>
    madeUpTable(names, shares, 2)
      .trim()
      .split('\n')
      .map((line) => line.split(','));
  const three = table([50, 30, 20], ['x', 'y', 'z']);
  assert.deepEqual(three[0], ['score1', 'score2', 'score3', 'label']);
  const count = (c: string): number => three.filter((row) => row[3] === c).length;
  assert.deepEqual(['0', '1', '2'].map(count), [1000, 600, 400]);
  assert.equal(madeUpTable(['x', 'y'], [1, 1], 2), madeUpTable(['x', 'y'], [1, 1], 2));
  assert.equal(table([1, 999], ['x', 'y']).filter((row) => row[2] === '0').length, 40);
});

const nothing = {
  table: (): Promise<string> => Promise.reject(new Error('nothing is uploaded here')),
  columns: (): Promise<string> => Promise.reject(new Error('nothing is uploaded here')),
};

test('classes are ordered as the server orders them', () => {
  assert.deepEqual(sortedClasses([10, 9, 1, 10]), ['1', '9', '10']);
  assert.deepEqual(sortedClasses(['b', 'B', 'a']), ['B', 'a', 'b']);
});

test('the first example: its own class names, and the words of cancer', async () => {
  const draft = withDataset(emptyDraft, { name: 'mammographic_mass', classes: ['benign', 'malignant'] });
  const request = (await startRequest(draft, nothing)) as { space: object; words: { consequences: object } };
  assert.deepEqual(request.space, { data: 'mammographic_mass', label: 'label', positive: 'malignant' });
  assert.deepEqual(Object.keys(request.words.consequences), ['alarmed', 'alarmed_plural', 'found', 'found_plural']);
  assert.match((request.words as { scenario?: string }).scenario ?? '', /A cancer that is missed is treated months later/);
});

test('bundled data: classes are renamed one by one, whichever is to be found', async () => {
  const draft = withDataset(emptyDraft, { name: 'breast_cancer_original', classes: ['0', '1'] });
  assert.equal(missing(draft), null);
  const space = {
    data: 'breast_cancer_original',
    label: 'label',
    positive: '1',
    rename: { '0': 'healthy', '1': 'cancer' },
  };
  const request = (await startRequest(draft, nothing)) as {
    space: object;
    words: { mistakes: { missed_plural: string; false_alarm_plural: string } };
  };
  assert.deepEqual(request.space, space);
  assert.equal(request.words.mistakes.missed_plural, 'missed cancers');
  assert.equal(request.words.mistakes.false_alarm_plural, 'false alarms');
  const other = (await startRequest({ ...draft, positive: 0 }, nothing)) as { space: object };
  assert.deepEqual(other.space, { ...space, positive: '0' });
  const groups = withDataset(draft, { name: 'german_credit', classes: ['0', '1'] }, 'sex');
  const grouped = (await startRequest(groups, nothing)) as { space: { group: string }; family: string };
  assert.deepEqual([grouped.space.group, grouped.family], ['sex', 'fair-linear']);
});

test('another source starts with empty names', () => {
  const dataset = { name: 'breast_cancer_original', title: '', rows: 699, classes: ['0', '1'], groups: [] };
  const first = withDataset({ ...emptyDraft, questions: 40 }, dataset);
  const names = withSource(first, 'names', [dataset]);
  assert.deepEqual([names.source, names.classes, names.missed, names.questions], ['names', ['', ''], null, 40]);
  const back = withSource(names, 'bundled', [dataset]);
  assert.deepEqual([back.source, back.classes, back.missed], ['bundled', ['healthy', 'cancer'], 'missed cancer']);
});

test('names only: a population with the right share, or a made-up table', async () => {
  const two: Draft = { ...emptyDraft, source: 'names', classes: ['ok', 'ill'], shares: [90, 10] };
  const request = (await startRequest(two, nothing)) as { space: { population: string; rename: object } };
  const [, a, b] = /^logistic:a=([\d.]+),b=(-?[\d.]+)$/.exec(request.space.population) ?? [];
  assert.equal(a, '5');
  assert.ok(Number(b) > 0, 'a rare class has a positive intercept');
  assert.deepEqual(request.space.rename, { negative: 'ok', positive: 'ill' });
  const sent: string[] = [];
  const three = { ...two, classes: ['x', 'y', 'z'], shares: [50, 30, 20] };
  const made = (await startRequest(three, { ...nothing, table: (csv) => Promise.resolve(`u${sent.push(csv)}`) })) as {
    space: object;
    words: object;
    family: string;
  };
  assert.deepEqual(made.space, { data: 'upload:u1', label: 'label', rename: { '0': 'x', '1': 'y', '2': 'z' } });
  assert.ok(!('mistakes' in made.words));
  assert.equal(made.family, 'diagonal-linear');
});

const text = (name: string, values: string[], counts: number[]): Column => ({ name, kind: 'text', values, counts, missing: 0 });
const numbers = (name: string): Column => ({ name, kind: 'number', values: [], counts: [], missing: 0 });

/** A file of scores of a model: two classes, two groups. */
const SCORES: Upload = {
  upload: 'whole',
  rows: 10,
  columns: [numbers('id'), numbers('p'), text('y', ['no', 'yes'], [7, 3]), text('sex', ['f', 'm'], [5, 5])],
  head: [
    [1, 0.2, 'no', 'f'],
    [2, 0.7, 'yes', 'm'],
  ],
  ids: 'id',
  how: '',
  warnings: [],
};
const fileOf = (upload: Upload): FileDraft => ({ name: 'f.csv', upload, label: '', group: '', probability: {} });
const fromFile = (source: Source, upload: Upload, label: string): Draft =>
  withLabel({ ...emptyDraft, source }, fileOf(upload), label);

test('the label, the rarer class and the columns of probabilities are found by their names', () => {
  assert.equal(likelyLabel(SCORES.columns), 'y');
  // A column of labels that says one thing only is named, not replaced by another one.
  const same = { ...SCORES, columns: SCORES.columns.map((c) => (c.name === 'y' ? { ...c, values: ['yes'], counts: [4] } : c)) };
  assert.equal(likelyLabel(same.columns), 'y');
  const told = missing(fromFile('table', same, 'y'), 'columns');
  assert.equal(told?.field, 'label-column');
  assert.match(told?.message ?? '', /“y” says “yes” in every row/);
  const draft = fromFile('probabilities', SCORES, 'y');
  assert.deepEqual([draft.classes, draft.counts, draft.positive], [['no', 'yes'], [7, 3], 1]);
  assert.deepEqual(draft.file?.probability, { no: '', yes: 'p' });
  const named: Upload = {
    ...SCORES,
    columns: [numbers('P(yes)'), numbers('no_prob'), text('y', ['no', 'yes'], [7, 3])],
    head: [[0.2, 0.8, 'no']],
  };
  assert.deepEqual(mapProbabilities(named, 'y', ['no', 'yes'], 1), { no: 'no_prob', yes: 'P(yes)' });
  const rare: Upload = { ...SCORES, columns: [text('y', ['a', 'b'], [2, 8])], head: [['a']] };
  assert.equal(fromFile('table', rare, 'y').positive, 0);
});

test('columns that are left out are no part of the model', async () => {
  const draft = fromFile('table', SCORES, 'y');
  const file = { ...(draft.file as FileDraft), skip: ['id', 'y'] };
  const request = (await startRequest({ ...draft, file }, nothing)) as { space: object };
  assert.deepEqual(request.space, { data: 'upload:whole', label: 'y', skip: ['id'], positive: 'yes' });
});

test('probabilities are sent as the columns that the server wants', async () => {
  const draft = fromFile('probabilities', SCORES, 'y');
  const file = { ...(draft.file as FileDraft), group: 'sex' };
  const asked: unknown[] = [];
  const uploads = { ...nothing, columns: (upload: string, chosen: [string, string][]) => (asked.push([upload, chosen]), Promise.resolve('c1')) };
  const request = (await startRequest({ ...draft, file }, uploads)) as { space: object; family: string };
  assert.equal(request.family, 'fair-linear');
  assert.deepEqual(asked, [['whole', [['yes', 'p']]]]);
  assert.deepEqual(request.space, {
    probs: 'upload:c1',
    probs_columns: 'yes',
    labels: 'upload:whole',
    label: 'y',
    groups: 'upload:whole',
    group: 'sex',
    positive: 'yes',
  });
  const plain = (await startRequest({ ...draft, file, family: 'linear' }, uploads)) as { space: object };
  assert.ok(!('groups' in plain.space));
});

test('families are those that the data allow', () => {
  const names = (draft: Draft): string[] => familiesFor(draft).map((f) => f.name);
  const two = fromFile('table', SCORES, 'y');
  const all = ['linear', 'linear-fractional', 'quadratic', 'polynomial:3', 'diagonal-linear', 'diagonal-linear-fractional', 'monotone'];
  const higher = ['polynomial:4', 'polynomial:5'];
  assert.deepEqual(names(two).filter((name) => !higher.includes(name)), all);
  for (const family of higher) assert.equal(familyOf({ ...two, family }), family);
  assert.deepEqual(names({ ...two, file: { ...(two.file as FileDraft), group: 'sex' } }).slice(0, 3), [
    'fair-linear',
    'fair-quadratic',
    'linear',
  ]);
  assert.deepEqual(names({ ...two, source: 'names', file: null }), ['linear', 'linear-fractional']);
  assert.deepEqual(names({ ...two, classes: ['a', 'b', 'c'] }).sort(), [...all].sort());
  assert.deepEqual(names({ ...two, classes: ['a', 'b', 'c', 'd'] }).slice(-2), ['monotone', 'quadratic']);
  assert.deepEqual(names({ ...two, classes: ['a', 'b', 'c', 'd', 'e'] }).at(-1), 'monotone');
  const pool: Upload = { ...SCORES, columns: ['women:tp', 'men:tp'].map(numbers) };
  assert.deepEqual(names({ ...two, source: 'candidates', file: fileOf(pool) }), ['fair-linear', 'fair-quadratic']);
  assert.equal(familyOf({ ...two, family: 'fair-linear' }), 'linear');
});

test('a class that is a number gives its mistakes no name', () => {
  assert.equal(mistakeWords({ ...fromFile('table', SCORES, 'y'), classes: ['0', '1'] }).missedPlural, 'missed cases');
});

test('what mistakes mean is part of the words where somebody said it', async () => {
  const draft = { ...withDataset(emptyDraft, { name: 'german_credit', classes: ['0', '1'] }), whenMissed: '', whenAlarmed: '', missedMeans: ' The loan is lost. ' };
  const { words } = (await startRequest(draft, nothing)) as { words: { consequences?: object } };
  assert.deepEqual(words.consequences, { missed: 'The loan is lost.' });
  const both = { ...draft, missedMeans: '', alarmMeans: 'applicant is refused ', alarmMeansPlural: 'applicants are refused' };
  const asked = (await startRequest(both, nothing)) as { words: { consequences?: object } };
  assert.deepEqual(asked.words.consequences, { alarmed: 'applicant is refused', alarmed_plural: 'applicants are refused' });
  assert.equal(missing({ ...both, alarmMeansPlural: ' ' })?.field, 'alarmed-plural');
  assert.equal(missing({ ...both, alarmMeans: '' })?.field, 'alarmed');
  assert.equal(missing(both), null);
});

test('mistakes are called after the class until somebody says otherwise', () => {
  const draft = fromFile('table', SCORES, 'y');
  assert.deepEqual(mistakeWords(draft), {
    missed: 'missed yes case',
    missedPlural: 'missed yes cases',
    alarm: 'false alarm',
    alarmPlural: 'false alarms',
  });
  assert.equal(mistakeWords({ ...draft, positive: 0 }).missed, 'missed no case');
  assert.equal(mistakeWords({ ...draft, missed: 'lost customer' }).missedPlural, 'lost customer cases');
  assert.equal(mistakeWords({ ...draft, missed: 'lost customer', missedPlural: 'lost customers' }).missedPlural, 'lost customers');
});

test('what is missing is named, with its step', () => {
  const scores = fromFile('probabilities', SCORES, 'y');
  const unmapped = { ...scores, file: { ...(scores.file as FileDraft), probability: {} } };
  const twice = { ...scores, file: { ...(scores.file as FileDraft), probability: { no: 'p', yes: 'p' } } };
  const rows: [Partial<Draft>, string, string][] = [
    [{ source: 'bundled' }, 'own', 'dataset'],
    [{ source: 'table' }, 'own', 'file'],
    [{ source: 'names', classes: ['a', ' '] }, 'columns', 'class-1'],
    [{ source: 'names', classes: ['a', 'a'] }, 'columns', 'class-1'],
    [{ source: 'names', classes: ['a', 'b'], shares: [0, 10] }, 'columns', 'share-0'],
    [{ source: 'names', classes: ['a', 'b'], shares: [Number.NaN, 10] }, 'columns', 'share-0'],
    [{ source: 'names', classes: ['a', 'b'], missed: ' ' }, 'words', 'missed'],
    [{ ...scores, classes: ['', 'yes'] }, 'words', 'class-0'],
    [unmapped, 'columns', 'probability-0'],
    [twice, 'columns', 'probability-1'],
  ];
  for (const [change, step, field] of rows) {
    const gap = missing({ ...emptyDraft, ...change });
    assert.deepEqual([gap?.step, gap?.field], [step, field]);
  }
  assert.equal(missing(scores), null);
  assert.equal(missing({ ...scores, classes: ['', 'yes'] }, 'columns'), null);
  assert.deepEqual(stepsOf({ ...scores, source: 'candidates' }), ['own', 'words', 'ask']);
});

test('a refusal goes to the field that it is about, without names of options', () => {
  const draft = fromFile('table', SCORES, 'y');
  const place = (message: string): string => placeOf(message, draft).field;
  assert.equal(place('fair-linear metrics are about groups: give --group COL'), 'family');
  assert.equal(place('group "x" has no rows of class "yes"'), 'group-column');
  assert.equal(place('data: column "y" has missing labels'), 'label-column');
  assert.equal(place('the file: row 3 has 4 cells'), 'file');
  assert.ok(!placeOf('--label says which one is meant', draft).message.includes('--'));
});

test('the quality of a model is a line, and what looks wrong is said', () => {
  const draft = fromFile('table', SCORES, 'y');
  const good = { rows: 250, classes: [{ name: 'no', rows: 200, right: 190 }, { name: 'yes', rows: 50, right: 30 }], auc: 0.912, found: 0.83, alarms: 0.1 };
  assert.equal(qualityLine(good, draft), 'The model finds 83% at 10% false alarms on 250 held-out rows, AUC 0.91.');
  assert.deepEqual(cautions(good, draft), []);
  assert.deepEqual(cautions({ ...good, warnings: ['column id counts the rows; left out'] }, draft), ['column id counts the rows; left out']);
  const bad = { ...good, auc: 0.1, classes: [{ name: 'no', rows: 240 }, { name: 'yes', rows: 10 }] };
  const told = cautions(bad, { ...draft, source: 'probabilities' });
  assert.ok(told[0]?.includes('10 rows of yes'));
  assert.ok(told[1]?.includes('inverted'));
  assert.equal(
    qualityLine({ rows: 100, classes: [{ name: 'a', rows: 40, right: 30 }, { name: 'b', rows: 60, right: 45 }] }, draft),
    'The model is right about 75% of 100 held-out rows; always saying the most common class would be right about 60%.',
  );
});

test('the same questions for others are a study', async () => {
  const draft = { ...withDataset(emptyDraft, { name: 'vehicle', classes: ['0', '1', '2', '3'] }), others: true };
  const file = studyOf(await startRequest(draft, nothing), draft) as { elicitation: object; phases: { kind: string }[] };
  assert.deepEqual(file.elicitation, { family: 'diagonal-linear', max_questions: 20, announce_repeats: true });
  assert.deepEqual(file.phases.map((p) => p.kind), ['text', 'elicitation', 'result', 'done']);
});
