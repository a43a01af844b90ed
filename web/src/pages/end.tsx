import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ofStudy, post } from '../lib/api';
import type { ByePage, DonePage } from '../lib/types';
import { Heading, Texts } from './common';

export function CopyButton({ text, label }: { text: string; label: string }): JSX.Element {
  const [said, setSaid] = useState('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied');
    } catch {
      setSaid('Please select and copy it');
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
function OwnData(): JSX.Element {
  const [asked, setAsked] = useState(false);
  const [said, setSaid] = useState('');
  const erase = (): void => {
    post(ofStudy('/api/erase'), {})
      .then(() => setSaid('Everything that was stored about you is deleted.'))
      .catch((problem: Error) => setSaid(problem.message));
  };
  if (said) return <p role="status">{said}</p>;
  return (
    <p class="own-data">
      <a href={ofStudy('/api/mine')} download>
        Download what is stored about you
      </a>{' '}
      {asked ? (
        <button type="button" onClick={erase}>
          Yes, delete all of it
        </button>
      ) : (
        <button type="button" onClick={() => setAsked(true)}>
          Delete it
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
      <Heading>{page.title ?? 'Thank you'}</Heading>
      <Texts text={page.text} />
      {page.code && (
        <div class="code">
          <p>Your completion code</p>
          <output>{page.code}</output>
          <CopyButton text={page.code} label="Copy the code" />
        </div>
      )}
      <p class="note">All your answers are saved. You may close this page.</p>
      <OwnData />
      {target && (
        <div class="actions">
          <a class="button primary" href={target} rel="noreferrer">
            Back to where you came from
          </a>
        </div>
      )}
    </div>
  );
}

export function Bye({ page }: { page: ByePage }): JSX.Element {
  return (
    <div class="reading">
      <Heading>{page.title ?? 'Good-bye'}</Heading>
      <Texts text={page.text ?? 'Nothing more is needed. You may close this page.'} />
      <OwnData />
    </div>
  );
}
