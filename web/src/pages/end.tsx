import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ofStudy, post } from '../lib/api';
import { t, translated } from '../lib/say';
import type { ByePage, DonePage } from '../lib/types';
import { Heading, Texts } from './common';

export function CopyButton({ text, label }: { text: string; label: string }): JSX.Element {
  const [said, setSaid] = useState('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid(t`Copied`);
    } catch {
      setSaid(t`Please select and copy it`);
    }
    setTimeout(() => setSaid(''), 2500);
  };
  return (
    <span class="copy">
      <button type="button" onClick={() => void copy()}>
        {label}
      </button>
      <span role="status">{said}</span>
    </span>
  );
}

/** What is stored about whoever looks at the page is theirs to take and to delete. */
export function OwnData(): JSX.Element {
  const [asked, setAsked] = useState(false);
  const [said, setSaid] = useState('');
  const erase = (): void => {
    post(ofStudy('/api/erase'), {})
      .then(() => setSaid(t`Everything that was stored about you is deleted.`))
      .catch((problem: Error) => setSaid(problem.message));
  };
  if (said) return <p role="status">{said}</p>;
  return (
    <p class="own-data">
      <a href={ofStudy('/api/mine')} download>
        {t`Download what is stored about you`}
      </a>{' '}
      {asked ? (
        <button type="button" onClick={erase}>
          {t`Yes, delete all of it`}
        </button>
      ) : (
        <button type="button" onClick={() => setAsked(true)}>
          {t`Delete it`}
        </button>
      )}
    </p>
  );
}

/** Only addresses that a browser should follow; a study file is written by people. */
const safeTarget = (url: string | undefined): string | null => (url && /^https?:\/\//.test(url) ? url : null);

export function Done({ page }: { page: DonePage }): JSX.Element {
  const target = safeTarget(page.redirect);
  return (
    <div class="reading">
      <Heading>{translated(page.title ?? 'Thank you')}</Heading>
      <Texts text={page.text} />
      {page.code && (
        <div class="code">
          <p>{t`Your completion code`}</p>
          <output>{page.code}</output>
          <CopyButton text={page.code} label={t`Copy the code`} />
        </div>
      )}
      <p class="note">{t`All your answers are saved. You may close this page.`}</p>
      <OwnData />
      {target && (
        <div class="actions">
          <a class="button primary" href={target} rel="noreferrer">
            {t`Back to where you came from`}
          </a>
        </div>
      )}
    </div>
  );
}

export function Bye({ page }: { page: ByePage }): JSX.Element {
  return (
    <div class="reading">
      <Heading>{translated(page.title ?? 'Good-bye')}</Heading>
      <Texts text={typeof page.text === 'string' ? translated(page.text) : (page.text ?? t`Nothing more is needed. You may close this page.`)} />
      <OwnData />
    </div>
  );
}
