// The researchers' pages. Loaded on their own, with the plots, so that participants never fetch them.

import type { JSX } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { ApiError, get, post, rememberCsrf } from '../lib/api';
import type { StudyRow } from '../lib/types';
import { Brand, Loading } from '../shell';
import './admin.css';
import { Frame, isRefused, when } from './common';
import { PersonPage } from './person';

function Login({ done }: { done: () => void }): JSX.Element {
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState('');
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setProblem('');
    try {
      rememberCsrf((await post<{ csrf?: string }>('/api/admin/login', { token: token.trim() })).csrf);
      done();
    } catch (error) {
      setProblem((error as ApiError).message);
    }
  };
  return (
    <>
      <header class="top">
        <Brand title="melicit studies" />
        <nav>
          <a href="/">To the start page</a>
        </nav>
      </header>
      <main id="main" class="reading">
        <h1 tabIndex={-1} data-focus>
          For researchers
        </h1>
        <p>
          The token is printed when the server starts, and again by <code>melicit study token</code>.
        </p>
        <form onSubmit={(event) => void submit(event)}>
          <div class="field">
            <label for="token">Token</label>
            <input
              id="token"
              type="password"
              autocomplete="current-password"
              value={token}
              onInput={(e) => setToken(e.currentTarget.value)}
            />
          </div>
          <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
          <div class="actions">
            <button type="submit" class="primary" disabled={token.trim() === ''}>
              Log in
            </button>
          </div>
        </form>
      </main>
    </>
  );
}

function StudyList({ studies }: { studies: StudyRow[] }): JSX.Element {
  return (
    <ul class="study-list">
      {studies.map((study) => {
        const { complete, active, left, simulated } = study.participants;
        const counts: [string, number][] = [
          ['finished', complete],
          ['under way', active],
          ['left', left],
          ...(simulated > 0 ? [['simulated', simulated] as [string, number]] : []),
        ];
        return (
          <li key={study.id} class="card">
            <div>
              <h2>
                <a href={`/admin/study/${study.id}`}>{study.title}</a>
              </h2>
              <p class="note">made {when(study.created)}</p>
            </div>
            <span class={`state state-${study.state}`}>{study.state}</span>
            <dl class="counts">
              {counts.map(([name, n]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{n}</dd>
                </div>
              ))}
            </dl>
          </li>
        );
      })}
    </ul>
  );
}

function Studies({ studies }: { studies: StudyRow[] }): JSX.Element {
  const current = studies.filter((s) => s.state !== 'archived');
  const archived = studies.filter((s) => s.state === 'archived');
  return (
    <Frame title="Studies">
      {current.length === 0 ? (
        <div class="card">
          <p>There is no study yet.</p>
          <a class="button primary" href="/admin/new">
            Make one
          </a>
        </div>
      ) : (
        <StudyList studies={current} />
      )}
      {archived.length > 0 && (
        <details>
          <summary>{archived.length} archived</summary>
          <StudyList studies={archived} />
        </details>
      )}
    </Frame>
  );
}

/** A page that only some need is fetched when it is opened. */
function Later({ load }: { load: () => Promise<JSX.Element> }): JSX.Element {
  const [page, setPage] = useState<JSX.Element | null>(null);
  useEffect(() => void load().then(setPage), []);
  return page ?? <Loading />;
}

export function Admin(): JSX.Element {
  const [studies, setStudies] = useState<StudyRow[] | null>(null);
  const [state, setState] = useState<'loading' | 'login' | 'in' | 'failed'>('loading');
  const [problem, setProblem] = useState('');
  const load = useCallback(() => {
    get<{ csrf: string; studies: StudyRow[] }>('/api/admin/studies')
      .then((answer) => {
        rememberCsrf(answer.csrf);
        setStudies(answer.studies);
        setState('in');
      })
      .catch((error: ApiError) => {
        setState(isRefused(error) ? 'login' : 'failed');
        setProblem(error.message);
      });
  }, []);
  useEffect(() => {
    document.title = 'melicit studies';
    load();
  }, [load]);
  if (state === 'loading') return <Loading />;
  if (state === 'login') return <Login done={load} />;
  if (state === 'failed')
    return (
      <Frame title="That did not work">
        <p role="alert">{problem}</p>
        <button type="button" onClick={load}>
          Try again
        </button>
      </Frame>
    );
  const [, study, person] = /^\/admin\/study\/([\w-]+)(?:\/([\w-]+))?/.exec(location.pathname) ?? [];
  if (study && person) return <PersonPage study={study} id={person} />;
  if (study) return <Later load={() => import('./study').then(({ Study }) => <Study id={study} />)} />;
  if (location.pathname.startsWith('/admin/new')) return <Later load={() => import('./new').then(({ NewStudy }) => <NewStudy />)} />;
  return <Studies studies={studies ?? []} />;
}
