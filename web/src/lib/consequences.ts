// What it means to have B instead of A, in the words of the study or of the person: two classes.

import { isBinary, positiveOf } from './counts';
import { alarmWord, change, list, missedWord } from './text';
import type { Difference, Question, Words } from './types';

export interface Part {
  kind: 'missed' | 'alarm' | 'other';
  text: string;
}

export interface Told {
  /** What comes before the parts: "B", or "With B,". */
  start: string;
  parts: Part[];
  /** What comes after the first part, where systems have names: " than A (model 3)". */
  after: string;
}

/** "A (model 3)", where A is a system that exists. */
export const called = (side: 'A' | 'B', names?: [string, string]): string =>
  names ? `${side} (${names[side === 'A' ? 0 : 1]})` : side;

/** What so many that are not missed are called: "cancers", of "missed cancers"; null where nothing says so. */
export function foundWord(words: Words | undefined, count: number): string | null {
  const own = count === 1 ? words?.consequences?.found : words?.consequences?.found_plural;
  if (own) return own;
  const noun = /^missed\s+(\S.*)$/i.exec(missedWord(words, count))?.[1];
  return noun ?? null;
}

/** "healthy people get a biopsy"; null where nobody said so. */
const alarmedWords = (words: Words | undefined, count: number): string | null =>
  (count === 1 ? words?.consequences?.alarmed : words?.consequences?.alarmed_plural) || null;

/** The mark of a difference: the two mistakes of two classes have their own. */
function kindOf(d: Difference, q: Question): Part['kind'] {
  if (q.classes.length !== 2 || d.true === undefined || d.true === d.predicted) return 'other';
  return d.true === positiveOf(q) ? 'missed' : 'alarm';
}

/** "B finds 3 more cancers; 29 more healthy people get a biopsy": what is found first. */
export function tell(q: Question, words?: Words): Told {
  const order = ['missed', 'alarm', 'other'];
  const all = q.differences.map((d) => ({ d, kind: kindOf(d, q), size: Math.abs(d.b - d.a) }));
  all.sort((x, y) => order.indexOf(x.kind) - order.indexOf(y.kind));
  const verbs = all.map(({ kind, size }): string => {
    if (kind === 'missed') return foundWord(words, size) ? 'finds ' : 'has ';
    return kind === 'alarm' && alarmedWords(words, size) ? '' : 'has ';
  });
  const parts = all.map(({ d, kind, size }, i): Part => {
    const found = kind === 'missed' ? foundWord(words, size) : null;
    if (found) return { kind, text: `finds ${change(d.b, d.a)} ${found}` };
    const more = kind === 'alarm' ? (alarmedWords(words, size) ?? alarmWord(words, size)) : missedWord(words, size);
    const text = kind === 'other' ? d.text : `${change(d.a, d.b)} ${more}`;
    return { kind, text: i === 0 ? `${verbs[0]}${text}` : text };
  });
  const [a, b] = [called('A', q.names), called('B', q.names)];
  if (verbs[0] === '') return { start: q.names ? `With ${b} instead of ${a},` : 'With B,', parts, after: '' };
  return { start: b, parts, after: q.names ? ` than ${a}` : '' };
}

/** The same as one sentence; with more classes or groups, what the server says. */
export function toldAs(q: Question, words?: Words): string {
  if (!isBinary(q) || q.differences.length === 0)
    return `From ${called('A', q.names)} to ${called('B', q.names)}: ${list(q.differences.map((d) => d.text))}.`;
  const { start, parts, after } = tell(q, words);
  return `${start} ${parts.map((p, i) => (i === 0 ? p.text + after : p.text)).join('; ')}.`;
}
