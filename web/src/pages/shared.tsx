// The page of a shared link: somebody's result, read-only, and the same questions for whoever wants to compare.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError, get, post } from '../lib/api';
import { Brand, Failure, Loading } from '../shell';
import { rememberColleague, type SharedResult } from './colleague';
import { Details, Findings } from './result';

export function Shared({ id, proof }: { id: string; proof: string }): JSX.Element {
  const [told, setTold] = useState<SharedResult | null>(null);
  const [failed, setFailed] = useState<ApiError | null>(null);
  const [problem, setProblem] = useState('');
  const load = (): void => {
    setFailed(null);
    get<SharedResult>(`/api/shared/${id}/${proof}`).then(setTold).catch(setFailed);
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
        <Brand title="A shared result" />
      </header>
      <main id="main">
        <div class="wide result">
          <p class="notice">Another person's result, without their name. Where it says “you”, it means that person.</p>
          <Findings result={told.result} words={told.words} />
          <section>
            <h2>Would you answer alike?</h2>
            {told.askable === false ? (
              <p>These questions are about a file that somebody uploaded. Ask them for the file; with it you can answer for yourself.</p>
            ) : (
              <>
                <p>Answer the same kind of questions about the same data; then the two results are compared.</p>
                <div class="actions">
                  <button type="button" class="primary" onClick={answer}>
                    Answer yourself
                  </button>
                </div>
                <p role="alert">{problem}</p>
              </>
            )}
          </section>
          <Details result={told.result} />
        </div>
      </main>
    </>
  );
}
