// A server that is busy, above all with what a study is about when many come in the same moment, says when to come again.

import { ApiError } from './api';

const PATIENCE_MS = 60_000;

const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Asks again by itself while the server is busy, for a minute; every other failure is thrown at once. */
export async function patiently<T>(
  ask: () => Promise<T>,
  pause: (milliseconds: number) => Promise<void> = sleep,
  chance: () => number = Math.random,
): Promise<T> {
  let waited = 0;
  for (;;) {
    try {
      return await ask();
    } catch (problem) {
      if (!(problem instanceof ApiError) || problem.code !== 'busy' || problem.retryAfter === null) throw problem;
      // Those who were sent away together do not come back together.
      const wait = problem.retryAfter * 1000 * (1 + chance() / 2);
      if (waited + wait > PATIENCE_MS) throw problem;
      waited += wait;
      await pause(wait);
    }
  }
}
