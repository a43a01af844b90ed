// Every part of a study file, as the form of the editor shows it.

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export interface FieldSchema {
  key: string;
  label: string;
  type: 'text' | 'long' | 'number' | 'boolean' | 'choice' | 'list' | 'json' | 'object' | 'objects';
  /** 'families': those that the server names. */
  choices?: string[] | 'families';
  hint?: string;
  /** A line of its own. */
  wide?: boolean;
  /** Only where the object beside it is so; what is there already is always shown. */
  when?: (object: JsonObject) => boolean;
  /** Of an object, or of each object of a list. */
  fields?: FieldSchema[];
  /** A new entry of a list of objects. */
  empty?: JsonObject;
  /** What one entry of a list of objects is called. */
  one?: string;
}

const text = (key: string, label: string, hint?: string): FieldSchema => ({ key, label, type: 'text', hint });
const long = (key: string, label: string, hint?: string): FieldSchema => ({ key, label, type: 'long', hint });
const number = (key: string, label: string, hint?: string): FieldSchema => ({ key, label, type: 'number', hint });
const yes = (key: string, label: string): FieldSchema => ({ key, label, type: 'boolean' });
const choice = (key: string, label: string, choices: string[] | 'families', hint?: string): FieldSchema => ({ key, label, type: 'choice', choices, hint });
const list = (key: string, label: string, hint?: string): FieldSchema => ({ key, label, type: 'list', hint });
const json = (key: string, label: string, hint?: string): FieldSchema => ({ key, label, type: 'json', hint });

const TITLE: FieldSchema = { ...text('title', 'Title'), wide: true };
const PARAGRAPHS = 'An empty line begins a paragraph.';

export interface Section {
  /** The key of the part; '': fields of the file itself. */
  key: string;
  title: string;
  fields: FieldSchema[];
}

export const SECTIONS: Section[] = [
  { key: '', title: 'The study', fields: [TITLE, long('about', 'About it, for researchers')] },
  {
    key: 'space',
    title: 'What the questions are about',
    fields: [
      text('data', 'Data', 'A bundled data set, or upload:ID of a table.'),
      text('label', 'Column with the true class'),
      text('positive', 'Class to be found'),
      list('classes', 'Names of the classes', 'One per line, in the order of the data.'),
      text('group', 'Column with groups'),
      list('skip', 'Columns that the model does not use', 'One per line.'),
      text('probs', 'Probabilities of a model'),
      text('labels', 'Their labels'),
      text('groups', 'Their groups'),
      text('candidates', 'Classifiers to compare'),
      text('population', 'A population in closed form'),
      text('ball', 'A ball of rates'),
      number('radius', 'Radius of the ball'),
      json('rename', 'Other names of classes', '{"old": "new"}'),
    ],
  },
  {
    key: 'words',
    title: 'Words',
    fields: [
      text('task', 'What is it for?'),
      text('person', 'Whom is it about: one'),
      text('people', 'Several'),
      {
        key: 'mistakes',
        label: 'Mistakes',
        type: 'object',
        fields: [
          text('missed', 'A missed one'),
          text('missed_plural', 'Several'),
          text('false_alarm', 'A false alarm'),
          text('false_alarm_plural', 'Several'),
        ],
      },
      {
        key: 'consequences',
        label: 'What they mean for somebody',
        type: 'object',
        fields: [
          text('missed', 'A missed one, in a sentence'),
          text('false_alarm', 'A false alarm, in a sentence'),
          text('found', 'One that is found', 'cancer'),
          text('found_plural', 'Several', 'cancers'),
          text('alarmed', 'What comes of one false alarm', 'healthy person gets a biopsy'),
          text('alarmed_plural', 'Of several', 'healthy people get a biopsy'),
        ],
      },
    ],
  },
  {
    key: 'elicitation',
    title: 'How questions are chosen',
    fields: [
      { ...choice('family', 'What is to be found out', 'families'), wide: true },
      choice('strategy', 'Strategy', ['active', 'search']),
      number('max_questions', 'At most how many questions'),
      { key: 'tolerance', label: 'Precision', type: 'json', hint: '0.05, or "1.6x" for a ratio' },
      choice('assume', 'How people err', ['person', 'flip', 'none']),
      choice('questions', 'Which pairs', ['realistic', 'imagined', 'far']),
      number('repeat_every', 'Ask an earlier question again after so many'),
      number('seed', 'Seed'),
      choice('until', 'Ask until this is settled', ['auto', 'decision', 'ratio', 'tolerance', 'rank', 'threshold', 'rule']),
      yes('announce_repeats', 'Say so when a question comes again'),
    ],
  },
  {
    key: 'show',
    title: 'How questions look',
    fields: [
      number('people', 'Numbers out of', '0: as many as are needed; 100, 1000 or 10000'),
      choice('picture', 'Picture', ['flow', 'bars', 'both', 'icons', 'table', 'changes']),
      yes('rates', 'Percent'),
      yes('toggles', 'Participants may change the picture'),
    ],
  },
  {
    key: '',
    title: 'Who may come, and for how long',
    fields: [
      choice('resume', 'Who comes back', ['resume', 'restart', 'block']),
      number('resume_hours', 'Time out after (hours)'),
      number('quota', 'At most how many participants', '0: any number'),
      number('retention_days', 'Delete participants after so many days'),
      yes('learn_from_others', 'New participants start from what the others want'),
    ],
  },
  { key: 'prolific', title: 'Prolific', fields: [text('completion_url', 'Completion address')] },
];

const TEXT = long('text', 'Text', PARAGRAPHS);

/** The fields of a phase, by its kind, and a new one. */
export const PHASES: Record<string, { title: string; fields: FieldSchema[]; empty: JsonObject }> = {
  consent: {
    title: 'Consent',
    fields: [text('version', 'Version'), TITLE, TEXT, text('agree', 'To agree'), text('refuse', 'To refuse')],
    empty: { version: '1', title: 'Before you begin', text: 'May we keep your answers?' },
  },
  form: {
    title: 'Form',
    fields: [
      text('name', 'Name in exports'),
      TITLE,
      TEXT,
      {
        key: 'fields',
        label: 'Questions',
        type: 'objects',
        one: 'question',
        empty: { name: 'field', label: 'Your question', type: 'text' },
        fields: [
          text('name', 'Name in exports'),
          { ...text('label', 'Question'), wide: true },
          choice('type', 'Answer', ['text', 'number', 'choice', 'long']),
          { ...list('choices', 'Choices', 'One per line.'), when: (field) => field['type'] === 'choice' },
          yes('required', 'Must be answered'),
          { ...number('low', 'At least'), when: (field) => field['type'] === 'number' },
          { ...number('high', 'At most'), when: (field) => field['type'] === 'number' },
        ],
      },
    ],
    empty: { title: 'About you', fields: [{ name: 'age', label: 'How old are you, in years?', type: 'number' }] },
  },
  text: { title: 'Text', fields: [TITLE, TEXT, yes('view', 'With a picture of two systems')], empty: { title: 'Please read', text: 'Your text.' } },
  training: {
    title: 'Practice',
    fields: [
      TITLE,
      TEXT,
      {
        key: 'items',
        label: 'Items',
        type: 'objects',
        one: 'item',
        empty: { question: 'How many does system A miss?', type: 'number', of: { system: 'A', true: 1, predicted: 0 } },
        fields: [
          text('about', 'About'),
          { ...text('question', 'Question'), wide: true },
          choice('type', 'Answer', ['number', 'choice']),
          json('of', 'The right answer', 'As docs/study-file.md says; computed, never written down.'),
          text('compare', 'Compare'),
          long('explain', 'After a wrong answer'),
        ],
      },
    ],
    empty: {
      title: 'Practice',
      items: [{ question: 'How many does system A miss?', type: 'number', of: { system: 'A', true: 1, predicted: 0 } }],
    },
  },
  guess: {
    title: 'Guess',
    fields: [TITLE, TEXT, number('low', 'At least'), number('high', 'At most')],
    empty: { title: 'Your guess' },
  },
  elicitation: { title: 'Comparisons', fields: [TITLE, TEXT], empty: {} },
  evaluation: { title: 'Further comparisons, to test the result', fields: [number('questions', 'How many'), number('radius', 'Radius')], empty: { questions: 15 } },
  result: { title: 'Result', fields: [TITLE, TEXT], empty: { title: 'Your result' } },
  done: { title: 'End', fields: [TITLE, TEXT, yes('code', 'Show a code')], empty: { title: 'Thank you', text: 'Your answers are saved.', code: true } },
};

/** A copy of an object with one field changed; what is empty is left out. */
export function withField(object: JsonObject, key: string, value: Json | undefined): JsonObject {
  const { [key]: _, ...rest } = object;
  const empty = value === undefined || value === '' || (Array.isArray(value) && value.length === 0) || (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0);
  if (empty) return rest;
  return key in object ? Object.fromEntries(Object.entries(object).map(([k, v]) => [k, k === key ? value : v])) : { ...rest, [key]: value };
}

/** The first part of a refusal's place: "phases[2].fields[0].name: .." is about phase 2. */
export function partOf(message: string): { part: string; phase: number | null } {
  const place = /^([\w.[\]]+):/.exec(message)?.[1] ?? message.split(/[\s:.[]/)[0] ?? '';
  const phase = /^phases\[(\d+)\]/i.exec(place)?.[1];
  return { part: (place.split(/[.[]/)[0] ?? '').toLowerCase(), phase: phase === undefined ? null : Number(phase) };
}
