// The languages that there are, each fetched when it is needed.

import { speak, type Catalogue } from './say';

const LANGUAGES: Readonly<Record<string, () => Promise<{ default: Catalogue }>>> = {
  de: () => import('catalogue:de'),
  fr: () => import('catalogue:fr'),
  es: () => import('catalogue:es'),
};

/** Of these, in the order of preference, the first that there is: "de-AT" is German. */
export function known(wanted: readonly string[]): string {
  const names = wanted.map((name) => name.toLowerCase().split('-')[0] ?? '');
  return names.find((name) => name === 'en' || name in LANGUAGES) ?? 'en';
}

/** From now on all sentences are in this language. */
export async function useLanguage(name: string): Promise<void> {
  const load = LANGUAGES[name];
  speak(load ? name : 'en', load ? (await load()).default : {});
  document.documentElement.lang = load ? name : 'en';
}
