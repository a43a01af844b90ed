// One event at a time on its way to the server. It is kept in the browser's storage until it is acknowledged and is
// sent again with the same key, so neither a lost connection nor a reload loses or doubles an answer.

import { ApiError, currentStudy, ofStudy, post } from './api';
import type { Page } from './types';

export interface Pending {
  path: '/api/event' | '/api/undo';
  csrf: string;
  body: { seq: number; key: string; value?: unknown; seconds?: number };
}

export type SaveState =
  | { kind: 'idle' }
  | { kind: 'saving' }
  | { kind: 'saved' }
  | { kind: 'waiting'; message: string };

/** Each study has its own: one tab must not drop what another one has to send. */
const storageKey = (): string => `melicit-pending-${currentStudy()}`;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 15_000;

function store(pending: Pending | null): void {
  try {
    if (pending) localStorage.setItem(storageKey(), JSON.stringify(pending));
    else localStorage.removeItem(storageKey());
  } catch {
    // Private windows may refuse storage; the answer is then safe unless the page is closed.
  }
}

/** What an earlier page could not deliver, if it belongs to the page that is awaited now. */
export function leftOver(page: Page): Pending | null {
  try {
    const pending = JSON.parse(localStorage.getItem(storageKey()) ?? 'null') as Pending | null;
    if (pending && pending.csrf === page.csrf && pending.body.seq === page.seq) return pending;
    localStorage.removeItem(storageKey());
  } catch {
    // Storage that cannot be read holds nothing of ours.
  }
  return null;
}

export function newKey(): string {
  // randomUUID needs a secure context, which plain http on a laboratory network is not.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
}

/** Waits, or until the browser says that it is online again. */
function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      removeEventListener('online', finish);
      resolve();
    };
    const timer = setTimeout(finish, milliseconds);
    addEventListener('online', finish);
  });
}

/** Delivers, however long it takes. Refusals (400, 403, 409) are thrown. */
export async function deliver(pending: Pending, tell: (state: SaveState) => void): Promise<Page> {
  store(pending);
  let wait = FIRST_WAIT_MS;
  for (;;) {
    tell({ kind: 'saving' });
    try {
      const answer = await post<{ saved: number; page: Page }>(ofStudy(pending.path), pending.body);
      store(null);
      tell({ kind: 'saved' });
      return answer.page;
    } catch (problem) {
      if (!(problem instanceof ApiError) || !problem.passing) {
        store(null);
        tell({ kind: 'idle' });
        throw problem;
      }
      tell({ kind: 'waiting', message: problem.message });
      await pause(problem.retryAfter ? problem.retryAfter * 1000 : wait);
      wait = Math.min(2 * wait, LONGEST_WAIT_MS);
    }
  }
}
