// A study's page: who takes part, what they want, and what a researcher does with it.

import type { JSX } from 'preact';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { get, post, remove, rememberCsrf, type ApiError } from '../lib/api';
import type { Person, StudyView } from '../lib/types';
import { CopyButton } from '../pages/end';
import { Loading } from '../shell';
import { Frame, when } from './common';
import { Export, Links } from './links';
import { Metrics, PooledCard } from './metrics';
import { People, Places, Simulated, Summary, participants } from './people';
import { Planning } from './plan';
import { TimePlot } from './plots';
import { Rehearse } from './rehearse';

const REFRESH_MS = 5000;

/** The study as it is now, again every few seconds while somebody looks. */
function useStudy(id: string, after: string | null): { view: StudyView | null; problem: string; reload: () => void } {
  const [view, setView] = useState<StudyView | null>(null);
  const [problem, setProblem] = useState('');
  const reload = useCallback(() => {
    get<StudyView>(`/api/admin/studies/${id}${after === null ? '' : `?after=${after}`}`)
      .then((answer) => {
        rememberCsrf(answer.csrf);
        setView(answer);
        setProblem('');
        document.title = `${answer.file.title ?? 'Study'} – melicit`;
      })
      .catch((error: ApiError) => setProblem(error.message));
  }, [id, after]);
  useEffect(() => {
    reload();
    const timer = setInterval(() => document.hidden || reload(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [reload]);
  return { view, problem, reload };
}

/** What can be done with the study as a whole. */
function Actions({ view, change }: { view: StudyView; change: (work: Promise<unknown>) => void }): JSX.Element {
  const state = (next: string): void => change(post(`/api/admin/studies/${view.id}/state`, { state: next }));
  const drop = (): void => {
    const people = participants(view);
    if (!confirm(`Delete this study with ${people === 1 ? 'one participant' : `${people} participants`} and all answers? This cannot be undone.`)) return;
    change(remove(`/api/admin/studies/${view.id}`).then(() => location.assign('/admin')));
  };
  return (
    <div class="actions study-actions">
      {view.links.anonymous && <CopyButton text={view.links.anonymous} label="Copy link" />}
      {view.state === 'open' ? (
        <button type="button" onClick={() => state('closed')}>
          Close for newcomers
        </button>
      ) : (
        <button type="button" onClick={() => state('open')}>
          Open again
        </button>
      )}
      <a class="button" href={`/admin/new?from=${view.id}`}>
        Duplicate
      </a>
      {view.state !== 'archived' && (
        <button type="button" onClick={() => state('archived')}>
          Archive
        </button>
      )}
      <button type="button" class="danger" onClick={drop}>
        Delete the study
      </button>
    </div>
  );
}

export function Study({ id }: { id: string }): JSX.Element {
  const [after, setAfter] = useState<string | null>(null);
  const { view, problem, reload } = useStudy(id, after);
  const [failed, setFailed] = useState('');
  // Drawn anew only when what is shown has changed, not with every look at the server.
  const shown = JSON.stringify(view?.live.map((p) => p.times));
  const times = useMemo(
    () =>
      view && view.live.some((p) => !p.simulated && p.times?.length) && (
        <section class="card plots">
          <h2>Time</h2>
          <TimePlot people={view.live} />
        </section>
      ),
    [shown],
  );
  if (!view)
    return problem ? (
      <Frame title="Study">
        <p role="alert">{problem}</p>
      </Frame>
    ) : (
      <Loading />
    );
  const change = (work: Promise<unknown>): void => {
    work
      .then(() => {
        setFailed('');
        reload();
      })
      .catch((error: ApiError) => setFailed(error.message));
  };
  const erase = (person: Person): void => {
    if (confirm(`Delete ${person.label ?? person.id} and all of their answers? This cannot be undone.`))
      change(remove(`/api/admin/studies/${id}/participants/${person.id}`));
  };
  return (
    <Frame title={view.file.title ?? 'Study'}>
      <p>
        <span class={`state state-${view.state}`}>{view.state}</span> <Summary view={view} /> <span class="note">Made {when(view.created)}.</span>
      </p>
      <Actions view={view} change={change} />
      <div role="alert">{(failed || problem) && <p class="problem">{failed || problem}</p>}</div>
      <PooledCard view={view} />
      <Metrics view={view} />
      <People view={view} erase={erase} />
      {(after !== null || view.next) && (
        <nav class="actions" aria-label="Pages of participants">
          <button type="button" disabled={after === null} onClick={() => setAfter(null)}>
            First page
          </button>
          <button type="button" disabled={!view.next} onClick={() => setAfter(view.next ?? null)}>
            Next page
          </button>
          <span class="note">
            {view.live.length.toLocaleString()} of {(participants(view) + (view.participants?.simulated ?? 0)).toLocaleString()} participants are shown here; tables and plots are about them.
          </span>
        </nav>
      )}
      <Simulated view={view} erase={erase} />
      {times}
      <div class="cards">
        <Places view={view} />
        <Links view={view} />
        <Export view={view} />
        <Rehearse view={view} reload={reload} />
        <Planning view={view} />
      </div>
    </Frame>
  );
}
