// Requests to our own server; no other host is ever asked.

import { sentence } from './text';
import type { Page } from './types';

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly page: Page | null = null,
    readonly field: string | null = null,
    readonly retryAfter: number | null = null,
  ) {
    super(message);
  }
  /** Whether the same request may well succeed a little later. */
  get passing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** The token of the last page; before there is a page, the word that the server expects then. */
let csrf = 'first';
export const rememberCsrf = (value: string | undefined): void => {
  if (value) csrf = value;
};

/** The study that this page is about: it has a cookie of its own, so requests say which one they mean. */
let study: string | null = null;
export const rememberStudy = (id: string | null): void => {
  study = id;
};
export const currentStudy = (): string => study ?? '';
/** The path of a request about the current study, or about a session of one's own. */
export const ofStudy = (path: string): string => (study === null ? path : `${path}?study=${encodeURIComponent(study)}`);

const TIMEOUT_MS = 20_000;

interface ErrorBody {
  error?: { code?: string; message?: string; page?: Page; field?: string };
  page?: Page;
}

async function failure(response: Response): Promise<ApiError> {
  let body: ErrorBody = {};
  try {
    body = (await response.json()) as ErrorBody;
  } catch {
    // Not JSON: a proxy's own page. The status says enough.
  }
  const message = sentence(body.error?.message ?? `The server answered ${response.status}`);
  const wait = Number(response.headers.get('Retry-After'));
  return new ApiError(
    response.status,
    body.error?.code ?? 'failed',
    message,
    body.page ?? body.error?.page ?? null,
    body.error?.field ?? null,
    Number.isFinite(wait) && wait > 0 ? wait : null,
  );
}

async function request<T>(method: string, path: string, body?: BodyInit, type = 'application/json'): Promise<T> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), type === 'application/json' ? TIMEOUT_MS : 10 * TIMEOUT_MS);
  const headers: Record<string, string> = method === 'GET' ? {} : { 'X-Melicit-CSRF': csrf, 'Content-Type': type };
  try {
    const response = await fetch(path, {
      method,
      headers,
      body,
      signal: abort.signal,
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
    });
    if (!response.ok) throw await failure(response);
    const text = await response.text();
    return (text === '' ? {} : JSON.parse(text)) as T;
  } catch (problem) {
    if (problem instanceof ApiError) throw problem;
    throw new ApiError(0, 'offline', 'The server cannot be reached.');
  } finally {
    clearTimeout(timer);
  }
}

export const get = <T>(path: string): Promise<T> => request<T>('GET', path);
export const post = <T>(path: string, body: unknown): Promise<T> => request<T>('POST', path, JSON.stringify(body));
/** A table, in whatever encoding it is: the server finds out. */
export const postCsv = <T>(path: string, table: Blob | string): Promise<T> =>
  request<T>('POST', path, table, 'text/csv');
export const remove = <T>(path: string): Promise<T> => request<T>('DELETE', path, '{}');
