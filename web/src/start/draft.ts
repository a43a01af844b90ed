// What a person has filled in about their own data, and the request it becomes.

import { logisticIntercept } from '../lib/counts';
import { madeUpTable } from '../lib/made';
import { t } from '../lib/say';
import { plural } from '../lib/text';
import type { Column, Dataset, Upload } from '../lib/types';

export type Source = 'probabilities' | 'table' | 'candidates' | 'names' | 'bundled';
export type Step = 'own' | 'columns' | 'words' | 'ask';

export interface FileDraft {
  name: string;
  upload: Upload;
  label: string;
  group: string;
  /** The column with the probability of each class, by the class; '': none. */
  probability: Record<string, string>;
  /** Of a table: columns that the model does not use. */
  skip?: string[];
}

export interface Draft {
  source: Source;
  dataset: string;
  /** Of bundled data: the column by which they are grouped; '': none. */
  group: string;
  file: FileDraft | null;
  /** In the order of the data; with names only, in the order given. */
  classes: string[];
  /** The same classes as the data call them. */
  original: string[];
  /** How many rows each has; empty: not known. */
  counts: number[];
  shares: number[];
  /** How well such systems tell classes apart: standard deviations between them. */
  skill: number;
  /** Of two classes, the one to be found. */
  positive: number;
  task: string;
  /** Who is tested, and what each mistake does to them, in a line; may stay empty. */
  scenario: string;
  /** Of several classes, the name of the one that is the gravest to mistake; '': none. */
  gravest: string;
  /** What is found, where that is a noun: "30 with cancer". */
  found: string;
  foundPlural: string;
  /** What people with each mistake do. */
  whenMissed: string;
  whenAlarmed: string;
  people: string;
  /** What the mistakes are called; null: as the class suggests. */
  missed: string | null;
  missedPlural: string | null;
  alarm: string | null;
  alarmPlural: string | null;
  /** What a missed one means for people, in a sentence; may stay empty. */
  missedMeans: string;
  /** What comes of one false alarm and of several ("healthy people get a biopsy"); may stay empty. */
  alarmMeans: string;
  alarmMeansPlural: string;
  family: string;
  questions: number;
  /** Who is asked: whoever fills this in, or others by a link. */
  others: boolean;
}

/** What is said of the mistakes of one class does not hold for those of another. */
export const UNNAMED = {
  missed: null,
  missedPlural: null,
  alarm: null,
  alarmPlural: null,
  missedMeans: '',
  alarmMeans: '',
  alarmMeansPlural: '',
  found: '',
  foundPlural: '',
  whenMissed: '',
  whenAlarmed: '',
};

export const emptyDraft: Draft = {
  source: 'probabilities',
  dataset: '',
  group: '',
  file: null,
  classes: ['', ''],
  original: [],
  counts: [],
  shares: [90, 10],
  skill: 2,
  positive: 1,
  task: '',
  scenario: '',
  gravest: '',
  people: '',
  ...UNNAMED,
  family: '',
  questions: 20,
  others: false,
};

// --- what data suggest -----------------------------------------------------------------------------

type Preset = Partial<Draft>;

const cancer = (scenario: string): Preset => ({
  task: t`finding cancer`,
  scenario,
  people: t`patients`,
  missed: t`missed cancer`,
  missedPlural: t`missed cancers`,
  alarm: t`false alarm`,
  alarmPlural: t`false alarms`,
  found: t`cancer`,
  foundPlural: t`cancers`,
  alarmMeans: t`patient without cancer gets a biopsy`,
  alarmMeansPlural: t`patients without cancer get a biopsy`,
});
/** In the language of the page. */
const presetOf = (dataset: string): Preset => {
  const lump = (): Preset => ({
    ...cancer(t`Patients with a lump in the breast are tested. A cancer that is missed is treated months later; a false alarm means a biopsy and days of fear.`),
    classes: [t`healthy`, t`cancer`],
  });
  const presets: Record<string, () => Preset> = {
    mammographic_mass: () => ({
      ...cancer(t`A mammogram shows something, and a test reads it. A cancer that is missed is treated months later; a false alarm means a biopsy and days of fear.`),
      classes: [t`benign`, t`malignant`],
    }),
    breast_cancer_original: lump,
    breast_cancer_diagnostic: lump,
    german_credit: () => ({
      classes: [t`repays`, t`defaults`],
      task: t`granting loans`,
      scenario: t`A bank's check decides who gets a loan. A missed default is a loan that is never paid back; a refused good applicant would have paid back, and gets no loan.`,
      people: t`applicants`,
      missed: t`missed default`,
      missedPlural: t`missed defaults`,
      alarm: t`refused good applicant`,
      alarmPlural: t`refused good applicants`,
      whenMissed: t`get a loan they cannot repay`,
      whenAlarmed: t`are refused a loan they would repay`,
    }),
    vehicle: () => ({
      classes: [t`bus`, 'Opel', 'Saab', t`van`],
      task: t`telling vehicles apart`,
      scenario: t`A camera at a toll gate tells four kinds of vehicles apart. One taken for another pays the wrong toll.`,
      people: t`vehicles`,
    }),
  };
  return presets[dataset]?.() ?? {};
};

export function withDataset(draft: Draft, dataset: Pick<Dataset, 'name' | 'classes'>, group = ''): Draft {
  return {
    ...emptyDraft,
    questions: draft.questions,
    source: 'bundled',
    dataset: dataset.name,
    group,
    original: dataset.classes,
    classes: dataset.classes,
    ...presetOf(dataset.name),
  };
}

/** Another source: names and words of the last one do not apply to it. */
export const withSource = (draft: Draft, source: Source, datasets: readonly Dataset[]): Draft => {
  const first = datasets[0];
  return source === 'bundled' && first
    ? withDataset(draft, first)
    : { ...emptyDraft, source, questions: draft.questions };
};

/** Classes as the server orders them: numbers by value, texts by byte. */
export function sortedClasses(values: readonly (string | number)[]): string[] {
  const texts = [...new Set(values.map(String))];
  const numbers = texts.every((t) => t.trim() !== '' && Number.isFinite(Number(t)));
  return texts.sort((a, b) => (numbers ? Number(a) - Number(b) : a < b ? -1 : 1));
}

export const canBeLabel = (column: Column): boolean => column.values.length >= 2;

/** Numbers between 0 and 1, as far as the first rows and the few values tell. */
export function looksLikeProbability(upload: Upload, at: number): boolean {
  const column = upload.columns[at];
  if (column?.kind !== 'number') return false;
  const seen = [...column.values, ...upload.head.map((row) => row[at])].filter((v) => v !== null);
  return seen.length > 0 && seen.every((v) => Number(v) >= 0 && Number(v) <= 1);
}

/** A column called label, class, y, ..., else the last one that has few values. */
export function likelyLabel(columns: readonly Column[]): string {
  const possible = columns.filter(canBeLabel);
  // One that is called so is it, even where it says the same in every row: then that is to be mended, not another one taken.
  const named = columns.find((c) => c.values.length > 0 && /^(label|class|target|y|truth|true|outcome|churn(ed)?)$/i.test(c.name));
  const texts = possible.filter((c) => c.kind === 'text');
  return (named ?? texts[texts.length - 1] ?? possible[possible.length - 1])?.name ?? '';
}

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

/** Which column holds the probability of which class, as their names tell; one that none tells is the rarer class's. */
export function mapProbabilities(upload: Upload, label: string, classes: readonly string[], rarer: number): Record<string, string> {
  const possible = upload.columns.filter((c, i) => c.name !== label && looksLikeProbability(upload, i)).map((c) => c.name);
  const found: Record<string, string> = {};
  for (const name of classes) {
    const end = plain(name);
    const exact = possible.find((p) => plain(p) === end);
    found[name] = exact ?? possible.find((p) => new RegExp(`^(p|prob|proba|probability|score)${end}$|^${end}(p|prob|proba|probability|score)$`).test(plain(p))) ?? '';
  }
  const only = possible[0];
  const wanted = classes[rarer];
  if (classes.length === 2 && only !== undefined && wanted !== undefined && classes.every((c) => found[c] === ''))
    found[wanted] = possible.find((p) => /^(p|prob|proba|probability|score|yprob|yproba|yscore|sure)$/.test(plain(p))) ?? only;
  return found;
}

/** The rarer of two classes is what is usually looked for. */
export const rarerOf = (counts: readonly number[]): number => ((counts[0] ?? 0) < (counts[1] ?? 0) ? 0 : 1);

export function withLabel(draft: Draft, file: FileDraft, label: string): Draft {
  const column = file.upload.columns.find((c) => c.name === label);
  const classes = sortedClasses(column?.values ?? []);
  const counts = classes.map((name) => column?.counts[column.values.findIndex((v) => String(v) === name)] ?? 0);
  const positive = rarerOf(counts);
  return {
    ...draft,
    file: {
      ...file,
      label,
      group: file.group === label ? '' : file.group,
      probability: mapProbabilities(file.upload, label, classes, positive),
    },
    classes,
    original: classes,
    counts,
    positive,
    ...UNNAMED,
    family: '',
  };
}

// --- words -----------------------------------------------------------------------------------------

export interface MistakeWords {
  missed: string;
  missedPlural: string;
  alarm: string;
  alarmPlural: string;
}

/** As given, and where nothing was given as the class to be found suggests. */
export function mistakeWords(draft: Draft): MistakeWords {
  const name = draft.classes[draft.positive]?.trim() || `class ${draft.positive + 1}`;
  // "Missed 1 cases" says nothing.
  const missed = draft.missed ?? (/^[\d.,+-]+$/.test(name) ? t`missed case` : t`missed ${name} case`);
  const alarm = draft.alarm ?? t`false alarm`;
  return {
    missed,
    missedPlural: draft.missedPlural ?? plural(missed.trim(), 2),
    alarm,
    alarmPlural: draft.alarmPlural ?? plural(alarm.trim(), 2),
  };
}

// --- what can be asked -----------------------------------------------------------------------------

export interface FamilyChoice {
  name: string;
  text: string;
}

const isGrouped = (draft: Draft): boolean =>
  draft.source === 'bundled'
    ? draft.group !== ''
    : draft.source === 'candidates'
      ? (draft.file?.upload.columns.some((c) => c.name.includes(':')) ?? false)
      : draft.source !== 'names' && !!draft.file?.group;

const FAIR: FamilyChoice[] = [
  { name: 'fair-linear', text: 'Mistakes, and equal treatment of groups' },
  { name: 'fair-quadratic', text: 'The same; large gaps between groups count more than in proportion' },
];
const TWO: FamilyChoice[] = [
  { name: 'linear', text: 'How many false alarms a missed one is worth' },
  { name: 'linear-fractional', text: 'A ratio, such as F1 or precision' },
  { name: 'quadratic', text: 'The more mistakes there are, the more each one counts (more questions)' },
  { name: 'polynomial:3', text: 'The same, bent in further ways: of degree 3 (many questions)' },
  { name: 'polynomial:4', text: 'Of degree 4 (very many questions)' },
  { name: 'polynomial:5', text: 'Of degree 5 (very many questions)' },
  { name: 'diagonal-linear', text: 'What a right decision about each class is worth' },
  { name: 'diagonal-linear-fractional', text: 'A ratio of right decisions' },
  { name: 'monotone', text: 'Anything that grows with right decisions, near one point' },
];
const SEVERAL: FamilyChoice[] = [
  { name: 'diagonal-linear', text: 'What a right decision about each class is worth' },
  { name: 'linear', text: 'How bad each kind of mistake is (more questions)' },
  { name: 'diagonal-linear-fractional', text: 'A ratio of right decisions, such as F1 of one class' },
  { name: 'linear-fractional', text: 'A ratio of any kinds of decisions (many questions)' },
  { name: 'monotone', text: 'Anything that grows with right decisions, near one point' },
];
/** On the web a metric has at most 100 numbers to be found: two classes have room for degree 5, three for degree 3, four for degree 2. */
const FOUR: FamilyChoice[] = [{ name: 'quadratic', text: 'The more mistakes there are, the more each one counts (many questions)' }];
const THREE: FamilyChoice[] = [...FOUR, { name: 'polynomial:3', text: 'The same, bent in further ways: of degree 3 (very many questions)' }];
/** Of a pool of classifiers only what is linear in known features can be found; of names alone there is a model of two classes only. */
const POOL = /^(linear|diagonal-linear|quadratic|polynomial:\d|fair-linear|fair-quadratic)$/;
const MODEL = /^(linear|linear-fractional)$/;

/** Every family that fits the data, the usual one first. */
export function familiesFor(draft: Draft): FamilyChoice[] {
  const two = draft.classes.length === 2;
  if (draft.source === 'candidates' && isGrouped(draft)) return FAIR;
  const all = [...(isGrouped(draft) ? FAIR : []), ...(two ? TWO : [...SEVERAL, ...({ 3: THREE, 4: FOUR }[draft.classes.length] ?? [])])];
  if (draft.source === 'candidates') return all.filter((f) => POOL.test(f.name));
  return draft.source === 'names' && two ? all.filter((f) => MODEL.test(f.name)) : all;
}

/** The chosen family, where it fits; else the usual one. */
export function familyOf(draft: Draft): string {
  const families = familiesFor(draft);
  return (families.find((f) => f.name === draft.family) ?? families[0])?.name ?? 'linear';
}

// --- steps and what is missing ---------------------------------------------------------------------

export const stepsOf = (draft: Draft): Step[] =>
  draft.source === 'bundled' || draft.source === 'candidates' ? ['own', 'words', 'ask'] : ['own', 'columns', 'words', 'ask'];

export interface Problem {
  step: Step;
  /** The id of the field that it is about. */
  field: string;
  message: string;
}

function missingColumns(draft: Draft): Problem | null {
  const at = (field: string, message: string): Problem => ({ step: 'columns', field, message });
  if (draft.source === 'names') {
    const bad = draft.shares.findIndex((s) => !(s > 0));
    if (bad >= 0) return at(`share-${bad}`, `Please say how common ${draft.classes[bad]?.trim() || 'it'} is.`);
    return null;
  }
  const file = draft.file;
  if (file !== null && draft.original.length < 2)
    return at('label-column', t`“${file.label}” says “${draft.original[0] ?? ''}” in every row. Choose a column with two values or more, or mend the file.`);
  if (file === null || draft.source !== 'probabilities') return null;
  const mapped = draft.original.filter((c) => file.probability[c]);
  const needed = draft.original.length === 2 ? 1 : draft.original.length;
  if (mapped.length < needed) {
    const open = draft.original.findIndex((c) => !file.probability[c]);
    return at(`probability-${open}`, `Please say which column holds the probability of ${draft.original[open] ?? 'it'}.`);
  }
  const twice = draft.original.findIndex((c, i) => file.probability[c] !== '' && draft.original.slice(0, i).some((o) => file.probability[o] === file.probability[c]));
  return twice >= 0 ? at(`probability-${twice}`, 'This column is chosen twice.') : null;
}

function missingNames(draft: Draft): Problem | null {
  const step = draft.source === 'names' ? 'columns' : 'words';
  const names = draft.classes.map((name) => name.trim());
  const empty = names.indexOf('');
  if (empty >= 0) return { step, field: `class-${empty}`, message: `Please name class ${empty + 1}.` };
  const twice = names.findIndex((name, i) => names.indexOf(name) < i);
  return twice >= 0 ? { step, field: `class-${twice}`, message: 'Two classes have the same name.' } : null;
}

function missingWords(draft: Draft): Problem | null {
  if (draft.classes.length !== 2) return null;
  const words = mistakeWords(draft);
  const fields: [keyof MistakeWords, string][] = [
    ['missed', 'missed'],
    ['missedPlural', 'missed-plural'],
    ['alarm', 'false-alarm'],
    ['alarmPlural', 'false-alarm-plural'],
  ];
  const empty = fields.find(([key]) => words[key].trim() === '');
  if (empty) return { step: 'words', field: empty[1], message: 'Please give it a name.' };
  const [one, many] = [draft.alarmMeans.trim(), draft.alarmMeansPlural.trim()];
  if (!one === !many) return null;
  return { step: 'words', field: one ? 'alarmed-plural' : 'alarmed', message: 'Please say it of one and of several, or of neither.' };
}

/** What is missing up to and including a step; null when all is there. */
export function missing(draft: Draft, upTo: Step = 'ask'): Problem | null {
  const steps = stepsOf(draft);
  const reached = (step: Step): boolean => steps.includes(step) && steps.indexOf(step) <= steps.indexOf(upTo);
  if (draft.source === 'bundled' && draft.dataset === '')
    return { step: 'own', field: 'dataset', message: 'Please choose a data set.' };
  if (draft.source !== 'bundled' && draft.source !== 'names' && !draft.file)
    return { step: 'own', field: 'file', message: 'Please choose a file.' };
  const named = missingNames(draft);
  return (
    (named && reached(named.step) ? named : null) ??
    (reached('columns') ? missingColumns(draft) : null) ??
    (reached('words') ? missingWords(draft) : null)
  );
}

/** Where a refusal of the server is shown: beside the field that it is about. */
export function placeOf(message: string, draft: Draft): Problem {
  const has = (pattern: RegExp): boolean => pattern.test(message);
  const columns = stepsOf(draft).includes('columns') ? 'columns' : 'own';
  const at = (step: Step, field: string): Problem => ({ step, field, message: asWords(message) });
  if (draft.source === 'names') return has(/family|question/i) ? at('ask', 'family') : at('columns', 'class-0');
  if (draft.source === 'bundled') return has(/group/i) ? at('own', 'group') : has(/family|metric/i) ? at('ask', 'family') : at('own', 'dataset');
  if (draft.source === 'candidates') return at('own', 'file');
  if (has(/^family|metrics? (is|are|has)/)) return at('ask', 'family');
  if (has(/group/i)) return at(columns, 'group-column');
  if (has(/probabilit|columns=|--probs|columns are/)) return at(columns, 'probability-0');
  if (has(/rename|--classes|two names/)) return at('words', 'class-0');
  if (has(/label|class/i)) return at(columns, 'label-column');
  return at('own', 'file');
}

/** Options of the command line have other names on this page. */
const asWords = (message: string): string =>
  message
    .replace(/give --groups? (COL|FILE)/g, 'choose a column with groups')
    .replace(/--label\b/g, 'the column with the true class')
    .replace(/--groups?\b/g, 'the column with groups')
    .replace(/--probs\b|columns=/g, 'the columns with probabilities')
    .replace(/--positive\b/g, 'the class to be found')
    .replace(/kind=rates/g, 'compare rates');

// --- requests --------------------------------------------------------------------------------------

export interface Uploads {
  table: (csv: string) => Promise<string>;
  /** Columns of an upload under other names: [class, column]. */
  columns: (upload: string, chosen: [string, string][]) => Promise<string>;
}

/** What to call each class of the data; names that stay as they are need not be said. */
function renaming(original: readonly string[], classes: readonly string[]): Record<string, unknown> {
  const pairs = original.map((old, i) => [old, classes[i] ?? old] as const).filter(([old, name]) => old !== name);
  return pairs.length > 0 ? { rename: Object.fromEntries(pairs) } : {};
}

async function spaceOfNames(draft: Draft, classes: string[], uploads: Uploads): Promise<Record<string, unknown>> {
  const total = draft.shares.reduce((a, b) => a + b, 0);
  if (classes.length > 2) {
    const id = await uploads.table(madeUpTable(classes, draft.shares, draft.skill));
    const numbers = classes.map((_, i) => String(i));
    return { data: `upload:${id}`, label: 'label', ...renaming(numbers, classes) };
  }
  // Slope 2.5 d of a logistic model on [-1, 1] separates about as well as two bells d standard deviations apart.
  const a = 2.5 * draft.skill;
  const b = logisticIntercept(a, (draft.shares[draft.positive] ?? 0) / total);
  const roles = draft.positive === 0 ? ['positive', 'negative'] : ['negative', 'positive'];
  return { population: `logistic:a=${a},b=${Number(b.toFixed(6))}`, ...renaming(roles, classes) };
}

async function spaceOf(draft: Draft, uploads: Uploads): Promise<Record<string, unknown>> {
  const classes = draft.classes.map((name) => name.trim());
  if (draft.source === 'names') return spaceOfNames(draft, classes, uploads);
  const naming = {
    ...(classes.length === 2 ? { positive: draft.original[draft.positive] } : {}),
    ...renaming(draft.original, classes),
  };
  if (draft.source === 'bundled') {
    return { data: draft.dataset, label: 'label', ...(draft.group ? { group: draft.group } : {}), ...naming };
  }
  const file = draft.file as FileDraft;
  const whole = `upload:${file.upload.upload}`;
  if (draft.source === 'candidates') return { candidates: whole, ...naming };
  const group = file.group ? { group: file.group } : {};
  const unused = (file.skip ?? []).filter((name) => name !== file.label && name !== file.group);
  const skip = unused.length > 0 ? { skip: unused } : {};
  if (draft.source === 'table') return { data: whole, label: file.label, ...group, ...skip, ...naming };
  const chosen = draft.original.flatMap((c): [string, string][] => (file.probability[c] ? [[c, file.probability[c]]] : []));
  const probs = await uploads.columns(file.upload.upload, chosen);
  return {
    probs: `upload:${probs}`,
    ...(chosen.length === 1 ? { probs_columns: chosen[0]?.[0] } : {}),
    labels: whole,
    label: file.label,
    // Families that are not about groups do not take them.
    ...(file.group && familyOf(draft).startsWith('fair') ? { groups: whole, ...group } : {}),
    ...naming,
  };
}

export async function startRequest(draft: Draft, uploads: Uploads): Promise<Record<string, unknown>> {
  const words = mistakeWords(draft);
  const mistakes = {
    missed: words.missed.trim(),
    missed_plural: words.missedPlural.trim(),
    false_alarm: words.alarm.trim(),
    false_alarm_plural: words.alarmPlural.trim(),
  };
  const family = familyOf(draft);
  const told = {
    missed: draft.missedMeans,
    alarmed: draft.alarmMeans,
    alarmed_plural: draft.alarmMeansPlural,
    found: draft.found,
    found_plural: draft.foundPlural,
    when_missed: draft.whenMissed,
    when_alarmed: draft.whenAlarmed,
  };
  const consequences = Object.fromEntries(Object.entries(told).flatMap(([key, text]) => (text.trim() ? [[key, text.trim()]] : [])));
  return {
    space: await spaceOf(draft, uploads),
    words: {
      ...(draft.task.trim() ? { task: draft.task.trim() } : {}),
      ...(draft.scenario.trim() ? { scenario: draft.scenario.trim() } : {}),
      ...(draft.classes.length > 2 && draft.classes.includes(draft.gravest) ? { gravest: draft.gravest.trim() } : {}),
      people: draft.people.trim() || t`people`,
      ...(draft.classes.length === 2 ? { mistakes } : {}),
      ...(draft.classes.length === 2 && Object.keys(consequences).length > 0 ? { consequences } : {}),
    },
    family,
    options: { max_questions: draft.questions, ...(family === 'monotone' ? { strategy: 'search' } : { announce_repeats: true }) },
  };
}

/** The same as a study file, for other people to be asked. */
export function studyOf(request: Record<string, unknown>, draft: Draft): Record<string, unknown> {
  const { space, words, family, options } = request as { space: object; words: object; family: string; options: object };
  return {
    format: 'melicit-study',
    version: 1,
    title: draft.task.trim() ? `Which mistakes of ${draft.task.trim()} matter more?` : 'Which mistakes matter more?',
    space,
    words,
    elicitation: { family, ...options },
    phases: [
      { kind: 'text', title: 'Which would you rather have?', text: 'You will see two systems at a time. Please choose the one that you would rather have.' },
      { kind: 'elicitation' },
      { kind: 'result' },
      { kind: 'done', title: 'Thank you', text: 'Your answers are saved.', code: true },
    ],
  };
}
