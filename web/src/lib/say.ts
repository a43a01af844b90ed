// Sentences in the language of the study or of the browser. English stands in the pages; web/languages.json has the others.

import type { ComponentChildren } from 'preact';

/** The sentence of another language by the English one; {0}, {1}, ... are what stands between its parts. */
export type Catalogue = Readonly<Record<string, string>>;

let catalogue: Catalogue = {};
let current = 'en';

export const language = (): string => current;

export function speak(name: string, sentences: Catalogue): void {
  [current, catalogue] = [name, sentences];
}

const sentenceOf = (parts: readonly string[]): string => {
  const english = parts.reduce((text, part, i) => `${text}{${i - 1}}${part}`);
  return catalogue[english] ?? english;
};

/** A sentence: t`${n} questions`. */
export const t = (parts: TemplateStringsArray, ...values: (string | number)[]): string =>
  sentenceOf(parts).replace(/\{(\d)\}/g, (_, i) => String(values[Number(i)]));

/** The same with elements in it. */
export const tx = (parts: TemplateStringsArray, ...values: ComponentChildren[]): ComponentChildren[] =>
  sentenceOf(parts)
    .split(/(\{\d\})/)
    .map((part) => (/^\{\d\}$/.test(part) ? values[Number(part[1])] : part));

/** What the server says in English, where it is one of the sentences. */
export const translated = (english: string): string => catalogue[english] ?? english;

/** Numbers as the language writes them. */
export const number = (x: number, options: Intl.NumberFormatOptions): string => new Intl.NumberFormat(current, options).format(x);
