// The page of a shared link: the same questions first, then somebody's result beside one's own; or the result alone.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError, get, post } from '../lib/api';
import { known, useLanguage } from '../lib/languages';
import { t } from '../lib/say';
import { Brand, Failure, Loading } from '../shell';
import { rememberColleague, type SharedResult } from './colleague';
import { Details, Findings } from './result';

export function Shared({ id, proof }: { id: string; proof: string }): JSX.Element {
  const [told, setTold] = useState<SharedResult | null>(null);
  const [failed, setFailed] = useState<ApiError | null>(null);
  const [problem, setProblem] = useState('');
  const [seen, setSeen] = useState(false);
  const load = (): void => {
    setFailed(null);
    useLanguage(known(navigator.languages))
      .then(() => get<SharedResult>(`/api/shared/${id}/${proof}`))
      .then(setTold)
      .catch(setFailed);
  };
  useEffect(load, []);
  const answer = (): void => {
    post('/api/start', { like: { id, proof } })
      .then(() => {
        rememberColleague(id, proof);
        location.assign('/session');
      })
      .catch((error: Error) => setProblem(error.message));
  };
  if (failed) return <Failure error={failed} retry={load} own={false} />;
  if (!told) return <Loading />;
  return (
    <>
      <header class="top">
        <Brand title={t`A colleague's result`} />
      </header>
      <main id="main">
        <div class="wide result">
          {!seen && (
            <section>
              <h1 tabIndex={-1} data-focus>
                {t`Answer first, then compare`}
              </h1>
              {told.askable === false ? (
                <p>{t`These questions are about a file that somebody uploaded. Ask them for the file; with it you can answer for yourself.`}</p>
              ) : (
                <p>{t`Somebody invites you to answer the same kind of questions about the same data. Then the two results are shown side by side. Seeing theirs first would sway you.`}</p>
              )}
              <div class="actions">
                {told.askable !== false && (
                  <button type="button" class="primary" onClick={answer}>
                    {t`Answer the questions`}
                  </button>
                )}
                <button type="button" onClick={() => setSeen(true)}>
                  {t`Only show me the result`}
                </button>
              </div>
              <p role="alert">{problem}</p>
            </section>
          )}
          {seen && (
            <>
              <p class="notice">{t`Another person's result, without their name. Where it says “you”, it means that person.`}</p>
              <Findings result={told.result} words={told.words} them />
              <Details result={told.result} />
            </>
          )}
        </div>
      </main>
    </>
  );
}
