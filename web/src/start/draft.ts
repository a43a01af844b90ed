// What a person has filled in on the start page, and the request it becomes.

import { logisticIntercept } from '../lib/counts';
import { pickColumns } from '../lib/csv';
import { madeUpTable } from '../lib/made';
import { plural } from '../lib/text';
import type { Column, Dataset } from '../lib/types';

export type Source = 'bundled' | 'file' | 'names';

export interface FileDraft {
  name: string;
  rows: string[][];
  upload: string;
  columns: Column[];
  holds: 'table' | 'probabilities';
  label: string;
  group: string;
  probabilities: string[];
}

export interface Draft {
  source: Source;
  dataset: string;
  file: FileDraft | null;
  /** In the order of the data; with names only, in the order given. */
  classes: string[];
  /** The same classes as the data call them. */
  original: string[];
  shares: number[];
  /** How well such systems tell classes apart: standard deviations between them. */
  skill: number;
  /** Of two classes, the one to be found. */
  positive: number;
  task: string;
  people: string;
  missed: string;
  falseAlarm: string;
  family: string;
  questions: number;
}

export const emptyDraft: Draft = {
  source: 'bundled',
  dataset: '',
  file: null,
  classes: ['', ''],
  original: [],
  shares: [90, 10],
  skill: 2,
  positive: 1,
  task: '',
  people: 'people',
  missed: '',
  falseAlarm: '',
  family: 'linear',
  questions: 20,
};

interface Preset {
  classes: string[];
  task: string;
  people: string;
  missed: string;
  falseAlarm: string;
}

const CANCER: Preset = {
  classes: ['healthy', 'cancer'],
  task: 'finding cancer',
  people: 'patients',
  missed: 'missed cancer',
  falseAlarm: 'false alarm',
};
const PRESETS: Record<string, Preset> = {
  breast_cancer_original: CANCER,
  breast_cancer_diagnostic: CANCER,
  german_credit: {
    classes: ['repays', 'defaults'],
    task: 'deciding about loans',
    people: 'applicants',
    missed: 'missed default',
    falseAlarm: 'refused good applicant',
  },
};

export function withDataset(draft: Draft, dataset: Dataset): Draft {
  const preset = PRESETS[dataset.name];
  return {
    ...draft,
    source: 'bundled',
    dataset: dataset.name,
    original: dataset.classes,
    positive: 1,
    family: dataset.classes.length === 2 ? 'linear' : 'diagonal-linear',
    ...(preset ?? { classes: dataset.classes, task: '', people: 'people', missed: '', falseAlarm: '' }),
  };
}

/** Another source: names and words of the last one do not apply to it. */
export function withSource(draft: Draft, source: Source, datasets: readonly Dataset[]): Draft {
  const dataset = datasets.find((d) => d.name === draft.dataset) ?? datasets[0];
  if (source === 'bundled' && dataset) return withDataset(draft, dataset);
  return { ...emptyDraft, source, dataset: draft.dataset, questions: draft.questions };
}

/** Classes as the server orders them: numbers by value, texts by byte. */
export function sortedClasses(values: readonly (string | number)[]): string[] {
  const texts = [...new Set(values.map(String))];
  const numbers = texts.every((t) => t.trim() !== '' && Number.isFinite(Number(t)));
  return texts.sort((a, b) => (numbers ? Number(a) - Number(b) : a < b ? -1 : 1));
}

const MOST_CLASSES = 20;
export const canBeLabel = (column: Column): boolean =>
  column.values.length >= 2 && column.values.length <= MOST_CLASSES;

export function familiesFor(draft: Draft): [string, string][] {
  const groups = draft.source === 'file' && draft.file?.group;
  const found: [string, string][] = [];
  if (groups) found.push(['fair-linear', 'Mistakes, and equal treatment of groups']);
  if (draft.classes.length === 2) {
    found.push(['linear', 'How many false alarms a missed one is worth']);
    found.push(['linear-fractional', 'A ratio, such as F1 or precision']);
  } else {
    found.push(['diagonal-linear', 'What a right decision about each class is worth']);
    found.push(['linear', 'How bad each kind of mistake is (more questions)']);
  }
  return found;
}

/** What is missing, as a sentence with the field it is about; null when all is there. */
export function missing(draft: Draft): { field: string; message: string } | null {
  if (draft.source === 'bundled' && draft.dataset === '')
    return { field: 'dataset', message: 'Please choose a data set.' };
  if (draft.source === 'file' && !draft.file) return { field: 'file', message: 'Please choose a file.' };
  if (draft.source === 'file' && draft.file?.holds === 'probabilities' && draft.file.probabilities.length === 0)
    return { field: 'probabilities', message: 'Please say which columns hold probabilities.' };
  const empty = draft.classes.findIndex((name) => name.trim() === '');
  if (empty >= 0) return { field: `class-${empty}`, message: `Please name class ${empty + 1}.` };
  const names = draft.classes.map((name) => name.trim());
  if (new Set(names).size < names.length) return { field: 'class-0', message: 'Two classes have the same name.' };
  if (draft.source === 'names') {
    const bad = draft.shares.findIndex((s) => !(s > 0));
    if (bad >= 0) return { field: `share-${bad}`, message: `Please say how common ${names[bad]} is.` };
  }
  return null;
}

export type UploadText = (csv: string) => Promise<string>;

/** What to call each class of the data; names that stay as they are need not be said. */
function renaming(original: readonly string[], classes: readonly string[]): Record<string, unknown> {
  const pairs = original.map((old, i) => [old, classes[i] ?? old] as const).filter(([old, name]) => old !== name);
  return pairs.length > 0 ? { rename: Object.fromEntries(pairs) } : {};
}

async function spaceOf(draft: Draft, upload: UploadText): Promise<Record<string, unknown>> {
  const classes = draft.classes.map((name) => name.trim());
  const positive = classes.length === 2 ? { positive: draft.original[draft.positive] } : {};
  const rename = renaming(draft.original, classes);
  if (draft.source === 'bundled') {
    const smooth = classes.length === 2 ? { smooth: true } : {};
    return { data: draft.dataset, label: 'label', ...positive, ...rename, ...smooth };
  }
  if (draft.source === 'names') {
    const total = draft.shares.reduce((a, b) => a + b, 0);
    if (classes.length > 2) {
      const id = await upload(madeUpTable(classes, draft.shares, draft.skill));
      const numbers = classes.map((_, i) => String(i));
      return { data: `upload:${id}`, label: 'label', ...renaming(numbers, classes) };
    }
    // Slope 2.5 d of a logistic model on [-1, 1] separates about as well as two bells d standard deviations apart.
    const a = 2.5 * draft.skill;
    const b = logisticIntercept(a, (draft.shares[draft.positive] ?? 0) / total);
    const roles = draft.positive === 0 ? ['positive', 'negative'] : ['negative', 'positive'];
    return { population: `logistic:a=${a},b=${Number(b.toFixed(6))}`, ...renaming(roles, classes) };
  }
  const file = draft.file as FileDraft;
  if (file.holds === 'table')
    return {
      data: `upload:${file.upload}`,
      label: file.label,
      ...(file.group ? { group: file.group } : {}),
      ...positive,
      ...rename,
    };
  const probs = await upload(pickColumns(file.rows, file.probabilities));
  const labels = await upload(pickColumns(file.rows, [file.label]));
  return {
    probs: `upload:${probs}`,
    labels: `upload:${labels}`,
    ...(file.group ? { groups: `upload:${await upload(pickColumns(file.rows, [file.group]))}` } : {}),
    ...positive,
    ...rename,
  };
}

export async function startRequest(draft: Draft, upload: UploadText): Promise<Record<string, unknown>> {
  const mistakes = {
    missed: draft.missed.trim() || `missed ${draft.classes[draft.positive]?.trim() ?? ''} case`,
    false_alarm: draft.falseAlarm.trim() || 'false alarm',
  };
  const plurals = { missed_plural: plural(mistakes.missed, 2), false_alarm_plural: plural(mistakes.false_alarm, 2) };
  return {
    space: await spaceOf(draft, upload),
    words: {
      ...(draft.task.trim() ? { task: draft.task.trim() } : {}),
      people: draft.people.trim() || 'people',
      ...(draft.classes.length === 2 ? { mistakes: { ...mistakes, ...plurals } } : {}),
    },
    family: draft.family,
    options: { max_questions: draft.questions },
  };
}
