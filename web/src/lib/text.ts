// Numbers and words as people read them.

import { language, number, t } from './say';
import type { Range, Words } from './types';

export const whole = (x: number): string => number(x, { maximumFractionDigits: 0 });

/** Two significant digits below 10, whole numbers above. */
export function short(x: number): string {
  if (!Number.isFinite(x)) return x > 0 ? t`very many` : '–';
  const size = Math.abs(x);
  if (size >= 10) return whole(x);
  if (size >= 1 || size === 0) return number(x, { maximumFractionDigits: 1 });
  return number(x, { maximumSignificantDigits: 2 });
}

export function percent(part: number, total: number): string {
  if (total <= 0) return '–';
  const p = (100 * part) / total;
  // Neither nobody nor everybody unless it is so.
  const shown = (x: number): string => t`${number(x, { maximumFractionDigits: 1 })}%`;
  if (p > 0 && p < 0.95) return p < 0.1 ? `<${shown(0.1)}` : shown(p);
  if (p > 99.05 && p < 100) return p > 99.9 ? `>${shown(99.9)}` : shown(p);
  return shown(Math.round(p));
}

/** So many of a mistake that somebody named. English plurals of given names are not to be guessed ("missed defaulteds"): of what
 *  is no noun of ours there are cases. */
export function plural(noun: string, count: number): string {
  if (count === 1 || language() !== 'en') return noun;
  return /(case|alarm|positive|negative|mistake|error)$/.test(noun) ? `${noun}s` : `${noun} cases`;
}

/** A number as it is shown, with the word for one or for several. */
export const soMany = (shown: string, one: string, many: string): string => `${shown} ${shown === '1' ? one : many}`;

/** What so many missed ones are called. */
export function missedWord(words: Words | undefined, count: number): string {
  const own = words?.mistakes;
  return (count !== 1 && own?.missed_plural) || plural(own?.missed ?? t`missed case`, count);
}

/** What so many false alarms are called. */
export function alarmWord(words: Words | undefined, count: number): string {
  const own = words?.mistakes;
  return (count !== 1 && own?.false_alarm_plural) || plural(own?.false_alarm ?? t`false alarm`, count);
}

export const peopleWord = (words?: Words): string => words?.people ?? t`people`;

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** What the server says, as a sentence of its own. */
export const sentence = (text: string): string => (/[.!?]$/.test(text) ? capital(text) : `${capital(text)}.`);

/** A chance with its interval, or the one bound that is known: "13% (8.9% to 19%)". English as the server has it. */
export function chanceText(range: Range): string {
  const shown = (x: number): string => t`${number(100 * x, { maximumSignificantDigits: 2 })}%`;
  const [low, high] = [range.low ?? 0, range.high ?? 1];
  if (language() === 'en' && range.text) return range.text;
  if (low > 0 && high < 1) return `${shown(range.value)}${t` (${shown(low)} to ${shown(high)})`}`;
  return low > 0 ? t`more than ${shown(low)}` : high < 1 ? t`less than ${shown(high)}` : '';
}

/** An empty line begins a paragraph. */
export function paragraphs(text: string | string[] | undefined): string[] {
  if (text === undefined) return [];
  const parts = Array.isArray(text) ? text : text.split(/\n\s*\n/);
  return parts.map((p) => p.trim()).filter((p) => p !== '');
}

export function duration(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

/** "12 more", "85 fewer", "as many". */
export function change(from: number, to: number): string {
  if (to === from) return t`as many`;
  return to > from ? t`${whole(to - from)} more` : t`${whole(from - to)} fewer`;
}

/** "12 more false alarms", "as many false alarms"; the noun is for one or for several, as their number is. */
export function changeOf(from: number, to: number, noun: string): string {
  if (to === from) return t`as many ${noun}`;
  return to > from ? t`${whole(to - from)} more ${noun}` : t`${whole(from - to)} fewer ${noun}`;
}

/** "a, b and c". */
export function list(items: readonly string[]): string {
  if (items.length < 2) return items[0] ?? '';
  return t`${items.slice(0, -1).join(', ')} and ${items[items.length - 1] ?? ''}`;
}

/** "A (model 3)", where A is a system that exists. */
export const called = (side: 'A' | 'B', names?: [string, string]): string =>
  names ? `${side} (${names[side === 'A' ? 0 : 1]})` : side;
