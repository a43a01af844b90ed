import type { JSX } from 'preact';
import type { ApiError } from './lib/api';
import { t, translated } from './lib/say';
import { capital } from './lib/text';

/** A balance: one mistake of one kind against one of the other. */
export function Logo(): JSX.Element {
  return (
    <svg class="logo" width="26" height="26" viewBox="0 0 24 24" aria-hidden="true">
      <path class="logo-line" d="M12 4v16M7 20.5h10M3.5 8.5l17-3" />
      <path class="logo-a" d="M4.5 9.5l4 4-4 4-4-4z" />
      <circle class="logo-b" cx="19.5" cy="10.5" r="3" />
    </svg>
  );
}

export function Brand({ title }: { title?: string }): JSX.Element {
  return (
    <div class="brand">
      <Logo />
      <span>{title ? capital(translated(title)) : 'melicit'}</span>
    </div>
  );
}

export function Loading(): JSX.Element {
  return (
    <main id="main" class="loading" aria-busy="true">
      <p>{t`One moment …`}</p>
    </main>
  );
}

function explain(error: ApiError, own: boolean): [string, string] {
  if (error.status === 403)
    return own
      ? [t`No session here`, t`This browser has no session under way. You can start a new one.`]
      : error.code === 'wrong-link'
        ? [t`Your link is incomplete`, t`Please open it again from the message that brought it.`]
        : [t`This link does not open anything`, t`It was revoked, or the session was deleted.`];
  if (error.code === 'closed') return [t`This study is closed`, t`It takes no further participants. Thank you for your interest.`];
  if (error.code === 'full') return [t`This study is full`, t`It has all the participants that it needs. Thank you for your interest.`];
  if (error.status === 404) return [t`Nothing here`, error.message];
  if (error.passing) return [t`The server cannot be reached`, t`Nothing is lost. Please try again in a moment.`];
  return [t`That did not work`, error.message];
}

/** Somebody who comes back in another browser says what the first one showed. */
function ResumeForm({ resume }: { resume: (code: string) => void }): JSX.Element {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        resume(String(new FormData(event.currentTarget).get('code') ?? '').trim());
      }}
    >
      <label>
        {t`The code that was shown to you`} <input name="code" autocomplete="off" required />
      </label>{' '}
      <button type="submit">{t`Go on`}</button>
    </form>
  );
}

interface FailureProps {
  error: ApiError;
  retry: () => void;
  resume?: (code: string) => void;
  own: boolean;
}

export function Failure({ error, retry, resume, own }: FailureProps): JSX.Element {
  const [title, text] = explain(error, own);
  return (
    <>
      <header class="top">
        <Brand />
      </header>
      <main id="main" class="reading">
        <h1 tabIndex={-1} data-focus>
          {title}
        </h1>
        <p role="alert">{text}</p>
        {resume && (error.code === 'taken' || error.code === 'wrong-code') && <ResumeForm resume={resume} />}
        <div class="actions">
          {error.code !== 'closed' && (
            <button type="button" class="primary" onClick={retry}>
              {t`Try again`}
            </button>
          )}
          {own && (
            <a class="button" href="/?new">
              {t`To the start page`}
            </a>
          )}
        </div>
      </main>
    </>
  );
}
