// What the server says, as docs/http-api.md describes it.

/** Whole numbers, `[true class][predicted class]`; null where a number is not known. */
export type Matrix = (number | null)[][];
/** One matrix, or with groups one per group. */
export type Counts = Matrix | Matrix[];

export interface ClassInfo {
  name: string;
  share?: number | null;
}

export interface Words {
  task?: string;
  /** Who is tested, and what each mistake does to them, in a line. */
  scenario?: string;
  /** Of several classes, the one that is the gravest to mistake. */
  gravest?: string;
  person?: string;
  people?: string;
  /** What the two mistakes mean for people, a sentence each; what is found ("cancer"), and what comes of a false alarm
   *  ("healthy person gets a biopsy"), for one and for several. */
  consequences?: {
    missed?: string;
    false_alarm?: string;
    found?: string;
    found_plural?: string;
    alarmed?: string;
    alarmed_plural?: string;
    /** What people with each mistake do: "get a loan they cannot repay". */
    when_missed?: string;
    when_alarmed?: string;
  };
  mistakes?: { missed?: string; missed_plural?: string; false_alarm?: string; false_alarm_plural?: string };
}

export type Picture = 'flow' | 'bars' | 'both' | 'icons' | 'table' | 'changes';

export interface Show {
  picture?: Picture;
  rates?: boolean;
  toggles?: boolean;
}

/** What every picture needs besides the numbers. */
export interface Frame {
  people: number;
  /** Whether numbers are out of `people` of each true class, not of all. */
  of_each_class?: boolean;
  classes: ClassInfo[];
  groups?: string[];
  positive?: number;
}

export interface View extends Frame {
  counts: Counts;
}

export interface Difference {
  text: string;
  a: number;
  b: number;
  better?: 'a' | 'b';
  /** What so many of it are called. */
  name?: string;
  group?: number;
  true?: number;
  predicted?: number;
}

/** What changes from A to B, two classes: what is found first. */
export interface Told {
  /** What comes before the parts: "B", or "With B,". */
  start: string;
  parts: { kind: 'missed' | 'alarm'; text: string }[];
  /** What comes after the first part, where systems have names: " than A (model 3)". */
  after: string;
}

export interface Question extends Frame {
  number: number;
  expected?: number;
  a: Counts;
  b: Counts;
  differences: Difference[];
  /** What changes from A to B, in words. */
  sentence: string;
  told?: Told;
  /** As long as it gets with these names. */
  longest?: Told;
  swapped?: boolean;
  /** What A and B are called, where they are systems that exist. */
  names?: [string, string];
  words?: Words;
  /** A and B are two settings of one test. */
  same_test?: boolean;
  /** The session takes the answer "neither will do". */
  neither?: boolean;
  /** What is special about it: an imagined test, or asked before. */
  remark?: string;
}

export interface Range {
  value: number;
  low?: number | null;
  high?: number | null;
  /** As the library shows it: "7.3 (5.8 to 9.2)", "more than 200". */
  text?: string;
}

/** One mistake counts more than so many of the other kind, or less. */
export interface Bound {
  about: 'missed' | 'false_alarm';
  more: boolean;
  number: string;
  one: string;
  many: string;
}

export interface Weight extends Range {
  symbol: string;
  name: string;
  /** Of all weights of statistics. */
  share?: Range;
}

export interface Ratio extends Range {
  /** One of them, and several. */
  missed: string;
  missed_plural: string;
  false_alarm: string;
  false_alarms: string;
  /** Where the answers set one bound only. */
  bound?: Bound;
}

export interface Threshold extends Range {
  /** The class that is predicted from this probability on. */
  positive?: string;
}

export type Point = [number, number];

export interface Face {
  hull: Point[];
  best?: Point;
  positives?: number;
  negatives?: number;
}

/** What a rule does with people: [group][true class][decision], a share with its 95% range, null where it is not known. */
export interface Treatment {
  name: string;
  decided: ([number, number | null, number | null] | null)[][][];
}

export interface Treatments {
  /** Whether somebody said what is decided today. */
  today?: boolean;
  /** The best one, and today's. */
  rules: Treatment[];
  /** [group][class]: the share of everybody that this is. */
  share: number[][];
  /** Rows that it was measured on; 0: a population. */
  rows: number;
  people: string;
}

/** A given classifier in the order of the metric. */
export interface Placed {
  name: string;
  best_probability: number;
  beats_next?: number;
}

/** A setting of the test: what it does to so many people, and for which cost ratios it is the best one. */
export interface Setting {
  /** On the scores that the session was about; null: nobody is called positive; absent: decisions that were counted. */
  threshold?: number | null;
  missed: Range;
  false_alarms: Range;
  /** Of both mistakes, in false alarms. */
  cost?: number;
  ratios?: [number, number | null];
  /** Whether the answers allow it. */
  fits?: boolean;
  /** For whom it is the best one: "one missed cancer counts as much as 12 to 14 false alarms". */
  where?: string;
  /** Both mistakes by the answers: "as much as 73 false alarms". */
  weighs?: string;
}

export interface Settings {
  list: Setting[];
  best: number;
  usual: Setting;
  /** Whether somebody said that `usual` is what is done today. */
  today?: boolean;
  people: number;
  positives: number;
  /** Rows that it was measured on; 0: a population. */
  rows: number;
}

/** An answer that was close to the other one. */
export interface CloseCall {
  number: number;
  answer: 'A' | 'B' | '=' | '?';
  text?: string;
  missed?: number;
  false_alarms?: number;
}

/** A rule and what it does to 1,000 people, in words. */
export interface Effect {
  name: string;
  rule: string;
  text: string;
  value?: number | null;
}

/** A sentence about what was found. */
export interface Statement {
  about: 'metric' | 'end' | 'known' | 'open' | 'answers' | 'limits';
  key: string;
  text: string;
  /** The result is not to be trusted. */
  grave?: boolean;
}

/** On how many of the `of` evaluation questions each metric prefers what the person preferred. */
export interface Agreement {
  elicited?: number;
  guess?: number;
  accuracy?: number;
  f1?: number;
  of: number;
  /** Answers to questions that came again: how many were the same. */
  self?: number;
  self_of?: number;
}

/** The preference in the numbers that others use, with lines of code. */
export interface Equivalents {
  lines: { key: string; name: string; text: string; code: { tool: string; line: string }[] }[];
  note: string;
}

/** What comes first, by what the answers support. */
export interface Headline {
  kind: 'words' | 'number' | 'bound' | 'unsettled';
  text: string;
  /** A sentence about its interval. */
  range?: string;
  /** Why it is not settled and what to do; why a bound is not more. */
  why?: string;
  /** What else is said of the metric, less what pictures show. */
  rest?: string;
}

/** An outcome as `melicit elicit --json` prints it, with what the server adds. */
export interface Result {
  questions: number;
  headline: Headline;
  /** The metric in words. */
  words: string;
  statements: Statement[];
  metric?: { layout?: { classes?: string[]; groups?: string[]; coordinates?: string }; elicited?: { strategy?: string } };
  weights?: Weight[];
  cost_ratio?: Ratio;
  lambda?: Range;
  threshold?: Threshold;
  face?: Face;
  effect?: Effect[];
  open_ended?: boolean;
  ratio_interval?: [number | null, number | null];
  settings?: Settings;
  treatments?: Treatments;
  /** The questions were about data that come with the program. */
  example?: boolean;
  /** The best rule, where one is known. */
  best?: object;
  order?: Placed[];
  /** The one that the answers chose over every other one. */
  chosen?: string;
  close_calls?: CloseCall[];
  ratios?: { weight: number; of: number; ratio: number; interval: [number, number | null]; wide: boolean; more_than?: string }[];
  people?: string;
  closest?: { name: string; agreement: number; percent: string }[];
  equivalents?: Equivalents;
  agreement?: Agreement;
  python?: string;
  command?: string;
}

export interface Field {
  name: string;
  label: string;
  type: 'text' | 'number' | 'choice' | 'long';
  choices?: string[];
  required?: boolean;
  low?: number;
  high?: number;
}

export interface Progress {
  done: number;
  left: number;
  sure: boolean;
}

interface PageBase {
  seq: number;
  csrf: string;
  /** Of the study, or the one that the browser asks for. */
  language?: string;
  /** Lets somebody who takes part under a label go on in another browser. */
  resume?: string;
  study?: { title?: string; id?: string | null };
  progress?: Progress;
  can_undo?: boolean;
  words?: Words;
  show?: Show;
  title?: string;
  text?: string | string[];
}

export interface ConsentPage extends PageBase {
  kind: 'consent';
  version: string;
  agree?: string;
  refuse?: string;
}
export interface FormPage extends PageBase {
  kind: 'form';
  fields: Field[];
}
export interface TextPage extends PageBase {
  kind: 'text';
  view?: View[];
}
export interface TrainingPage extends PageBase {
  kind: 'training';
  view: [View, View];
  question: string;
  choices?: string[] | null;
  type?: 'number' | 'choice';
  explain?: string;
  wrong?: number;
}
export interface GuessPage extends PageBase {
  kind: 'guess';
  labels: { missed: string; false_alarm: string; false_alarms: string };
  low?: number;
  high?: number;
}
export interface QuestionPage extends PageBase {
  kind: 'question';
  question: Question;
}
export interface ResultPage extends PageBase {
  kind: 'result';
  result: Result;
  more?: boolean;
  /** How many of the closest answers can be given again. */
  again?: number;
}
export interface DonePage extends PageBase {
  kind: 'done';
  code?: string;
  redirect?: string;
}
export interface ByePage extends PageBase {
  kind: 'bye';
}

export type Page =
  | ConsentPage
  | FormPage
  | TextPage
  | TrainingPage
  | GuessPage
  | QuestionPage
  | ResultPage
  | DonePage
  | ByePage;

export type Value = Record<string, unknown>;

/** A family of metrics, as it is written, and what its metrics are. */
export interface Family {
  name: string;
  shape: string;
}

export interface Dataset {
  name: string;
  title: string;
  rows: number;
  classes: string[];
  /** Columns by which rows can be grouped. */
  groups: string[];
  source?: string;
}

export type Cell = string | number | null;

export interface Column {
  name: string;
  kind: 'number' | 'text';
  /** Empty when there are many; otherwise with the rows of each. */
  values: (string | number)[];
  counts: number[];
  missing: number;
}

export interface Upload {
  upload: string;
  columns: Column[];
  rows: number;
  /** The first rows. */
  head: Cell[][];
  /** The column that identifies rows: of no use to a model. */
  ids: string | null;
  /** How the file was read: "UTF-8, separator ';', decimal comma, ..." */
  how: string;
  warnings: string[];
}

/** What a session would be about: the rows that it is measured on, or how many classifiers. */
export interface Check {
  rows?: number;
  classes?: { name: string; rows?: number; right?: number }[];
  auc?: number;
  /** Shares found and alarmed at the threshold with at most one false alarm in ten. */
  found?: number;
  alarms?: number;
  classifiers?: number;
  /** What was left out, and what is odd about the files. */
  warnings?: string[];
}

export type StudyState = 'open' | 'closed' | 'archived';

export interface StudyRow {
  id: string;
  title: string;
  state: StudyState;
  created: number | string;
  /** People; simulated participants are counted apart. */
  participants: { active: number; complete: number; left: number; simulated: number };
}

export interface Person {
  id: string;
  label?: string | null;
  simulated?: boolean;
  /** The ratio that a simulated one was given. */
  truth?: number;
  created?: number;
  state: string;
  page?: string;
  answers?: number;
  seconds?: number;
  median_seconds?: number;
  seen?: number;
  questions?: number;
  cost_ratio?: Ratio;
  weights?: Weight[];
  words?: string;
  agreement?: Agreement;
  /** How likely answers so inconsistent are. */
  consistency?: number;
  repeats?: number;
  repeats_agreed?: number;
  times?: number[];
}

/** A line of a participant's log. */
export interface LogEvent {
  seq: number;
  time: number;
  page?: string;
  value?: Record<string, unknown>;
  undo?: number;
  seconds?: number;
  number?: number;
  swapped?: boolean;
  a?: number[];
  b?: number[];
}

export interface PersonView {
  csrf: string;
  person: Person;
  events: LogEvent[];
  about?: { metric?: unknown; noise?: string };
}

export interface Pooled {
  participants: number;
  /** Whether they are all simulated: there is nobody else yet. */
  simulated?: boolean;
  /** How many are through: where they are very many, the first ones are pooled. */
  of?: number;
  words?: string;
  cost_ratio?: Ratio;
  weights?: Weight[];
  statements?: Statement[];
  /** Whether they want different things. */
  differ?: boolean;
  /** How far people are apart: a factor of the ratio, or degrees. */
  community?: { people: number; factor?: Range; degrees?: Range };
}

export interface StudyView {
  csrf: string;
  id: string;
  state: StudyState;
  created: number | string;
  file: {
    title?: string;
    space?: { group?: string; groups?: string; classes?: string[] };
    learn_from_others?: boolean; elicitation?: { family?: string };
  };
  links: { anonymous?: string; prolific?: string };
  /** One page of participants, in the order in which they joined. */
  live: Person[];
  /** All of them, counted; where the next page begins. */
  participants?: { active: number; complete: number; left: number; simulated: number };
  next?: string | null;
  pages?: { name: string; title?: string | null; here: number; left: number }[];
  /** Whether every participant's numbers are there. */
  complete?: boolean;
  pooled?: Pooled | null;
}
