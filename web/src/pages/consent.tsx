import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../lib/say';
import type { ConsentPage } from '../lib/types';
import { Heading, Problem, Texts, type PageProps } from './common';

export function Consent({ page, busy, problem, send }: PageProps<ConsentPage>): JSX.Element {
  const [agreed, setAgreed] = useState(false);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (agreed) send({ agreed: true, version: page.version });
  };
  return (
    <form class="reading" onSubmit={submit}>
      <Heading>{page.title ?? t`Before you begin`}</Heading>
      <Texts text={page.text} />
      <label class="tick">
        <input type="checkbox" checked={agreed} onChange={() => setAgreed(!agreed)} />
        <span>{page.agree ?? t`I agree to take part`}</span>
      </label>
      <Problem problem={problem} />
      <div class="actions">
        <button type="submit" class="primary" disabled={busy || !agreed}>
          {t`Continue`}
        </button>
        <button
          type="button"
          class="quiet"
          disabled={busy}
          onClick={() => send({ agreed: false, version: page.version })}
        >
          {page.refuse ?? t`I do not want to take part`}
        </button>
      </div>
      <p class="note">{t`Text version ${page.version}`}</p>
    </form>
  );
}
