// A participant's way through a study or a session of one's own: shows the page that the server says is next.

import type { JSX } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ApiError, get, ofStudy, post, rememberCsrf, rememberStudy } from './lib/api';
import { deliver, leftOver, newKey, type Pending, type SaveState } from './lib/outbox';
import { known, useLanguage } from './lib/languages';
import { patiently } from './lib/patience';
import { t, tx } from './lib/say';
import type { Page, Progress, Value } from './lib/types';
import { Consent } from './pages/consent';
import { Bye, Done } from './pages/end';
import { Form } from './pages/form';
import { Guess } from './pages/guess';
import { QuestionView, questionSummary } from './pages/question';
import { ResultView } from './pages/result';
import { Text } from './pages/text';
import { Training } from './pages/training';
import type { PageProps } from './pages/common';
import { Brand, Failure, Loading } from './shell';

export function PageBody(props: PageProps<Page>): JSX.Element {
  const { page } = props;
  switch (page.kind) {
    case 'consent':
      return <Consent {...props} page={page} />;
    case 'form':
      return <Form {...props} page={page} />;
    case 'text':
      return <Text {...props} page={page} />;
    case 'training':
      return <Training {...props} page={page} />;
    case 'guess':
      return <Guess {...props} page={page} />;
    case 'question':
      return <QuestionView {...props} page={page} />;
    case 'result':
      return <ResultView {...props} page={page} />;
    case 'done':
      return <Done page={page} />;
    case 'bye':
      return <Bye page={page} />;
  }
}

function ProgressBar({ progress }: { progress: Progress }): JSX.Element | null {
  const { done, left, sure } = progress;
  if (done + left <= 0) return null;
  const text = left === 0 ? t`last page` : sure ? t`${left} to go` : t`about ${left} to go`;
  return (
    <div class="progress">
      <progress max={done + left} value={done} aria-label={t`${done} done, ${text}`} />
      <span aria-hidden="true">{text}</span>
    </div>
  );
}

function SavedMark({ state }: { state: SaveState }): JSX.Element {
  const text = { idle: '', saving: t`Saving`, saved: t`Saved`, waiting: t`Not saved yet` }[state.kind];
  return (
    <span class={`saved saved-${state.kind}`} role="status">
      {text && (
        <>
          <span class="saved-dot" aria-hidden="true" /> {text}
        </>
      )}
    </span>
  );
}

/** Seconds since the page appeared during which it was visible. */
function useVisibleSeconds(seq: number | undefined): () => number {
  const clock = useRef({ total: 0, since: 0 });
  useEffect(() => {
    clock.current = { total: 0, since: document.hidden ? 0 : performance.now() };
    const turn = (): void => {
      const c = clock.current;
      if (document.hidden && c.since > 0) {
        c.total += performance.now() - c.since;
        c.since = 0;
      } else if (!document.hidden && c.since === 0) c.since = performance.now();
    };
    document.addEventListener('visibilitychange', turn);
    return () => document.removeEventListener('visibilitychange', turn);
  }, [seq]);
  return () => {
    const { total, since } = clock.current;
    return Math.round(total + (since > 0 ? performance.now() - since : 0)) / 1000;
  };
}

/** The page's heading gets the focus whenever another page appears; the first time the browser's own start is fine. */
function useHeadingFocus(page: Page | null): void {
  const last = useRef<string | null>(null);
  // Not after the next frame: on a slow machine somebody may have moved the focus by then.
  useLayoutEffect(() => {
    if (!page) return;
    const now = `${page.kind}-${page.seq}-${page.kind === 'training' ? (page.wrong ?? 0) : 0}`;
    if (last.current !== null && last.current !== now) {
      window.scrollTo(0, 0);
      // What was wrong comes before the heading, which is known.
      const told = document.querySelector<HTMLElement>('[data-told]');
      told?.scrollIntoView({ block: 'center' });
      (told ?? document.querySelector<HTMLElement>('[data-focus]'))?.focus({ preventScroll: true });
    }
    last.current = now;
    document.title = `${page.title ?? (page.kind === 'question' ? t`Question ${page.question.number}` : 'melicit')}${page.study?.title ? ` – ${page.study.title}` : ''}`;
  }, [page]);
}

function joinOrPage(study: string | null, resume: string): Promise<{ page: Page }> {
  rememberStudy(study);
  const mark = `melicit-joined-${study}`;
  if (study === null || sessionStorage.getItem(mark)) return get(ofStudy('/api/page'));
  const query = new URLSearchParams(location.search);
  const prolific = Object.fromEntries(
    ['PROLIFIC_PID', 'STUDY_ID', 'SESSION_ID'].flatMap((name) => (query.has(name) ? [[name, query.get(name)]] : [])),
  );
  const body = {
    study,
    ...(query.has('label') ? { label: query.get('label') } : {}),
    ...(query.has('link') ? { link: query.get('link') } : {}),
    ...(Object.keys(prolific).length ? { prolific } : {}),
    ...(resume ? { resume } : {}),
  };
  return post<{ page: Page }>(ofStudy('/api/join'), body).then((answer) => {
    sessionStorage.setItem(mark, '1');
    // A personal link must not stay in the address bar or in the history.
    history.replaceState(null, '', location.pathname);
    return answer;
  });
}

/** Whether anything is still to be done: the result of a session of one's own is its end. */
const asksMore = (page: Page): boolean =>
  page.kind !== 'done' && page.kind !== 'bye' && !(page.kind === 'result' && !page.study?.id);

export function App({ study }: { study: string | null }): JSX.Element {
  const [page, setPage] = useState<Page | null>(null);
  const [failed, setFailed] = useState<ApiError | null>(null);
  const [save, setSave] = useState<SaveState>({ kind: 'idle' });
  const [problem, setProblem] = useState<PageProps<Page>['problem']>(null);
  const [notice, setNotice] = useState('');
  const [spoken, setSpoken] = useState('');
  const busy = save.kind === 'saving' || save.kind === 'waiting';
  const sending = useRef(false);

  const show = useCallback((next: Page) => {
    rememberCsrf(next.csrf);
    setProblem(null);
    setPage(next);
    setSpoken(next.kind === 'question' ? questionSummary(next) : '');
  }, []);

  const hand = useCallback(
    async (pending: Pending) => {
      if (sending.current) return;
      sending.current = true;
      setNotice('');
      try {
        show(await deliver(pending, setSave));
      } catch (caught) {
        const error = caught as ApiError;
        if (error.status === 409 && error.page) {
          setNotice(t`This page had already been answered, perhaps in another tab. Here is where you are now.`);
          show(error.page);
        } else if (error.status === 403 || error.status === 404) setFailed(error);
        else setProblem({ message: error.message, field: error.field ?? null });
      } finally {
        sending.current = false;
      }
    },
    [show],
  );

  const load = useCallback(async (resume = '') => {
    setFailed(null);
    try {
      const { page: first } = await patiently(() => joinOrPage(study, resume));
      await useLanguage(first.language ?? known(navigator.languages));
      show(first);
      const pending = leftOver(first);
      if (pending) await hand(pending);
    } catch (caught) {
      setFailed(caught as ApiError);
    }
  }, [study, show, hand]);
  useEffect(() => void load(), [load]);

  const seconds = useVisibleSeconds(page?.seq);
  useHeadingFocus(page);

  if (failed)
    return (
      <Failure error={failed} retry={() => void load()} resume={(code) => void load(code)} own={study === null} />
    );
  if (!page) return <Loading />;
  const send = (value: Value): void =>
    void hand({
      path: '/api/event',
      csrf: page.csrf,
      body: { seq: page.seq, key: newKey(), value, seconds: seconds() },
    });
  const undo = (): void => void hand({ path: '/api/undo', csrf: page.csrf, body: { seq: page.seq, key: newKey() } });
  return (
    <>
      <header class="top">
        <Brand title={page.study?.title} />
        {page.progress && asksMore(page) && <ProgressBar progress={page.progress} />}
        <SavedMark state={save} />
      </header>
      <main id="main" data-seq={page.seq}>
        <div aria-live="polite">
          {save.kind === 'waiting' && (
            <p class="notice warn">
              {save.message} {t`Your answer is kept on this device and sent again as soon as the connection is back.`}
            </p>
          )}
          {notice && <p class="notice">{notice}</p>}
        </div>
        <p class="visually-hidden" aria-live="polite">
          {spoken}
        </p>
        {page.resume && asksMore(page) && (
          <p class="resume">
            {tx`To go on in another browser, note this code: ${<code>{page.resume}</code>}`}
          </p>
        )}
        <PageBody key={`${page.kind}-${page.seq}`} page={page} busy={busy} problem={problem} send={send} undo={undo} />
      </main>
    </>
  );
}
