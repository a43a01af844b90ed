import type { ComponentChildren, JSX } from 'preact';
import { Logo } from '../shell';
import { ApiError, post } from '../lib/api';

export function when(time: number | string | undefined): string {
  if (time === undefined) return '–';
  const date = new Date(time);
  return Number.isNaN(date.getTime())
    ? String(time)
    : date.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
}

export function Frame({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
  const logout = (): void => {
    void post('/api/admin/logout', {})
      .catch(() => undefined)
      .then(() => location.assign('/admin'));
  };
  return (
    <>
      <header class="top">
        <div class="brand">
          <Logo />
          <a href="/admin">melicit</a>
        </div>
        <nav>
          <a href="/admin">Studies</a>
          <a href="/admin/new">New study</a>
          <button type="button" class="quiet" onClick={logout}>
            Log out
          </button>
        </nav>
      </header>
      <main id="main" class="wide admin">
        <h1 tabIndex={-1} data-focus>
          {title}
        </h1>
        {children}
      </main>
    </>
  );
}

export const isRefused = (error: unknown): boolean => error instanceof ApiError && error.status === 403;
