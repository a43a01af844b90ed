// The start page: an example with one click, or one's own data.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { get, post, rememberCsrf, type ApiError } from '../lib/api';
import { known, useLanguage } from '../lib/languages';
import { t } from '../lib/say';
import { patiently } from '../lib/patience';
import type { Dataset, Page } from '../lib/types';
import { Brand } from '../shell';
import { emptyDraft, startRequest, withDataset, type Step } from './draft';
import { Hero, type Example } from './hero';
import './start.css';
import { Wizard } from './wizard';

function UnderWay({ page, leave }: { page: Page; leave: () => void }): JSX.Element {
  const done = page.kind === 'result';
  return (
    <div class="notice under-way">
      <p>
        You have {page.study?.id ? `“${page.study.title}”` : 'a session'} under way{done ? ', and it has a result' : ''}.
      </p>
      <a href={page.study?.id ? `/s/${page.study.id}` : '/session'}>{done ? 'See the result' : 'Go on'}</a>
      <button type="button" class="link" onClick={leave}>
        Leave it
      </button>
    </div>
  );
}

const STEPS: Step[] = ['own', 'columns', 'words', 'ask'];

/** The step that the address names; null: the start page itself. */
function useStep(): Step | null {
  const read = (): Step | null => STEPS.find((step) => location.hash === `#${step}`) ?? null;
  const [step, setStep] = useState(read);
  useEffect(() => {
    const turn = (): void => setStep(read());
    window.addEventListener('hashchange', turn);
    return () => window.removeEventListener('hashchange', turn);
  }, []);
  return step;
}

const noUploads = {
  table: () => Promise.reject(new Error('an example uploads nothing')),
  columns: () => Promise.reject(new Error('an example uploads nothing')),
};

/** The start page is in the browser's language. */
export const speakAsAsked = (): Promise<void> => useLanguage(known(navigator.languages));

export function Start(): JSX.Element {
  const step = useStep();
  const [datasets, setDatasets] = useState<Dataset[]>([]);
  const [underWay, setUnderWay] = useState<Page | null>(null);
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    document.title = 'melicit: which mistakes matter more to you?';
    get<{ datasets: Dataset[] }>('/api/datasets')
      .then(({ datasets: found }) => setDatasets(found))
      .catch((error: ApiError) => setProblem(error.message));
    get<{ page: Page }>('/api/page')
      .then(({ page }) => {
        rememberCsrf(page.csrf);
        if (page.kind !== 'bye') setUnderWay(page);
      })
      .catch(() => undefined);
  }, []);
  const start = async ({ dataset, classes, group }: Example): Promise<void> => {
    setBusy(true);
    setProblem('');
    try {
      const request = await startRequest(withDataset(emptyDraft, { name: dataset, classes }, group), noUploads);
      await patiently(() => post('/api/start', request));
      location.assign('/session');
    } catch (error) {
      setBusy(false);
      setProblem((error as ApiError).message);
    }
  };
  const leave = (): void => {
    post('/api/leave', {})
      .then(() => setUnderWay(null))
      .catch((error: ApiError) => setProblem(error.message));
  };
  return (
    <>
      <header class="top">
        <Brand />
        <nav>
          <a href="/admin">{t`For researchers`}</a>
        </nav>
      </header>
      <main id="main" class="wide start" data-listed={datasets.length > 0 || undefined}>
        {underWay && <UnderWay page={underWay} leave={leave} />}
        {step === null ? (
          <Hero busy={busy} problem={problem} start={(example) => void start(example)} />
        ) : (
          <Wizard step={step} datasets={datasets} />
        )}
      </main>
    </>
  );
}
