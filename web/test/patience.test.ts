import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../src/lib/api';
import { patiently } from '../src/lib/patience';

const isBusy = (error: Error): boolean => error.message === 'Busy.';
const busy = (retryAfter: number | null): ApiError => new ApiError(503, 'busy', 'Busy.', null, null, retryAfter);

/** Fails so often, then answers; how long it was waited for. */
async function tried(failures: ApiError[], chance = 0): Promise<{ waits: number[]; answer: string }> {
  const waits: number[] = [];
  const left = [...failures];
  const answer = await patiently(
    () => {
      const failure = left.shift();
      return failure ? Promise.reject(failure) : Promise.resolve('here');
    },
    (milliseconds) => {
      waits.push(milliseconds);
      return Promise.resolve();
    },
    () => chance,
  );
  return { waits, answer };
}

test('asks again when the server says so', async () => {
  assert.deepEqual(await tried([]), { waits: [], answer: 'here' });
  assert.deepEqual(await tried([busy(2), busy(1)]), { waits: [2000, 1000], answer: 'here' });
  assert.deepEqual(await tried([busy(2)], 0.5), { waits: [2500], answer: 'here' });
});

test('gives up after a minute', async () => {
  await assert.rejects(tried(Array.from({ length: 31 }, () => busy(2))), isBusy);
  assert.equal((await tried(Array.from({ length: 30 }, () => busy(2)))).waits.length, 30);
  await assert.rejects(tried([busy(61)]), isBusy);
});

test('other failures are told at once', async () => {
  for (const failure of [
    busy(null),
    new ApiError(503, 'unavailable', 'Busy.', null, null, 2),
    new ApiError(503, 'storage', 'Busy.', null, null, 2),
    new ApiError(429, 'too-many', 'Busy.', null, null, 60),
    new ApiError(0, 'offline', 'Busy.'),
    new ApiError(404, 'no-study', 'Busy.', null, null, 2),
  ])
    await assert.rejects(tried([failure]), isBusy);
});
