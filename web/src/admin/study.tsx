import type { JSX } from 'preact';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { ApiError, get, post, remove, rememberCsrf } from '../lib/api';
import { duration, percent, short } from '../lib/text';
import type { Person, Ratio, StudyView } from '../lib/types';
import { CopyButton } from '../pages/end';
import { Loading } from '../shell';
import { Frame, when } from './common';
import { RatioPlot, TimePlot } from './plots';

const REFRESH_MS = 5000;

function ratioText(ratio: Ratio | undefined | null): string {
  if (!ratio) return '–';
  const value = short(ratio.value);
  return ratio.low != null && ratio.high != null ? `${value} (${short(ratio.low)} to ${short(ratio.high)})` : value;
}

function Summary({ view }: { view: StudyView }): JSX.Element {
  const count = (state: string): number => view.live.filter((p) => p.state === state).length;
  const medians = view.live
    .flatMap((p) => (p.state === 'complete' && p.seconds ? [p.seconds] : []))
    .sort((a, b) => a - b);
  const rows: [string, string][] = [
    ['complete', String(count('complete'))],
    ['under way', String(count('active'))],
    ['left', String(count('left'))],
    ['median duration', medians.length ? duration(medians[Math.floor(medians.length / 2)] as number) : '–'],
  ];
  return (
    <dl class="counts large">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Places({ view }: { view: StudyView }): JSX.Element | null {
  if (!view.pages?.length) return null;
  const most = Math.max(1, ...view.pages.map((p) => p.here + p.left));
  return (
    <section class="card">
      <h2>Where people are, and where they left</h2>
      <div class="table-scroll" tabIndex={0} role="group" aria-label="Where people are">
        <table>
          <thead>
            <tr>
              <th scope="col">page</th>
              <th scope="col">here</th>
              <th scope="col">left here</th>
              <td />
            </tr>
          </thead>
          <tbody>
            {view.pages.map((p, i) => (
              <tr key={i}>
                <th scope="row">{p.title ?? p.name}</th>
                <td>{p.here}</td>
                <td>{p.left}</td>
                <td class="weight-bar" aria-hidden="true">
                  <svg viewBox="0 0 100 12" preserveAspectRatio="none">
                    <rect class="interval-range" width={(100 * p.here) / most} height="12" />
                    <rect class="fill-other" x={(100 * p.here) / most} width={(100 * p.left) / most} height="12" />
                  </svg>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function consistencyText(person: Person): string {
  const { consistency, repeats, repeats_agreed: agreed } = person;
  return `${consistency != null ? short(consistency) : '–'}${repeats ? `, ${repeats - (agreed ?? 0)} of ${repeats}` : ''}`;
}

function PersonRow({ person, erase }: { person: Person; erase: () => void }): JSX.Element {
  const m = person.agreement;
  const odd = person.consistency != null && person.consistency < 0.05;
  return (
    <tr>
      <th scope="row">
        {person.label ?? <span class="soft">{person.id.slice(0, 8)}</span>}
        {person.simulated && <small> simulated</small>}
      </th>
      <td>{person.state === 'active' ? (person.page ?? person.state) : person.state}</td>
      <td>{person.answers ?? '–'}</td>
      <td>{ratioText(person.cost_ratio)}</td>
      <td>{m?.elicited != null ? percent(m.elicited, m.of) : '–'}</td>
      <td>{m?.guess != null ? percent(m.guess, m.of) : '–'}</td>
      <td>{person.seconds != null ? duration(person.seconds) : '–'}</td>
      <td>{person.median_seconds != null ? `${short(person.median_seconds)} s` : '–'}</td>
      <td>
        {odd && <b title="inconsistent">! </b>}
        {consistencyText(person)}
      </td>
      <td>
        <button
          type="button"
          class="quiet danger-text"
          aria-label={`Delete participant ${person.label ?? person.id}`}
          onClick={erase}
        >
          Delete
        </button>
      </td>
    </tr>
  );
}

function People({ view, erase }: { view: StudyView; erase: (person: Person) => void }): JSX.Element {
  return (
    <section class="card">
      <h2>Participants</h2>
      {view.live.length === 0 ? (
        <p>Nobody has come yet.</p>
      ) : (
        <div class="table-scroll" tabIndex={0} role="group" aria-label="Participants">
          <table class="people">
            <thead>
              <tr>
                {[
                  'who',
                  'state',
                  'answers',
                  'ratio (95%)',
                  'M',
                  'M of guess',
                  'time',
                  'per question',
                  'p, repeats changed',
                ].map((h) => (
                  <th key={h} scope="col">
                    {h}
                  </th>
                ))}
                <td />
              </tr>
            </thead>
            <tbody>
              {view.live.map((person) => (
                <PersonRow key={person.id} person={person} erase={() => erase(person)} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {view.complete === false && <p role="status">Some people’s answers are still being read; their numbers follow.</p>}
      <p class="note">
        M: share of the evaluation questions on which the elicited metric prefers what the participant preferred. p: the
        probability that answers of somebody who errs as assumed speak so little against coin tosses (or, where no error
        is assumed, contradict the metric so often); below 0.05 they are called inconsistent.
      </p>
    </section>
  );
}

function PooledCard({ view }: { view: StudyView }): JSX.Element | null {
  const pooled = view.pooled;
  if (!pooled) return null;
  return (
    <section class="card">
      <h2>
        All together ({pooled.participants}
        {pooled.of && pooled.of > pooled.participants ? `, the first of ${pooled.of}` : ''})
      </h2>
      {pooled.cost_ratio && <p class="big">{ratioText(pooled.cost_ratio)}</p>}
      {pooled.words && <p>{pooled.words}</p>}
      {pooled.statements?.map((s) => <p key={s.key}>{s.text}</p>)}
    </section>
  );
}

function LinkRow({ name, url }: { name: string; url: string }): JSX.Element {
  return (
    <div class="link-row">
      <b>{name}</b>
      <code tabIndex={0}>{url}</code>
      <CopyButton text={url} label="Copy" />
    </div>
  );
}

function Links({ view }: { view: StudyView }): JSX.Element {
  const [labels, setLabels] = useState('');
  const [made, setMade] = useState<{ label: string; url: string }[]>([]);
  const [problem, setProblem] = useState('');
  const make = async (event: Event): Promise<void> => {
    event.preventDefault();
    const wanted = labels.split(/[\s,;]+/).filter((label) => label !== '');
    if (wanted.length === 0) return;
    try {
      const answer = await post<{ links: { label: string; url: string }[] }>(`/api/admin/studies/${view.id}/links`, {
        labels: wanted,
      });
      setMade(answer.links);
      setProblem('');
    } catch (error) {
      setProblem((error as ApiError).message);
    }
  };
  return (
    <section class="card">
      <h2>Links</h2>
      {view.links.anonymous && <LinkRow name="Anyone" url={view.links.anonymous} />}
      {view.links.prolific && <LinkRow name="Prolific" url={view.links.prolific} />}
      <form onSubmit={(event) => void make(event)}>
        <div class="field">
          <label for="labels">Personal links: one label each</label>
          <input
            id="labels"
            type="text"
            value={labels}
            placeholder="p01 p02 p03"
            aria-describedby="labels-hint"
            onInput={(e) => setLabels(e.currentTarget.value)}
          />
          <p class="note" id="labels-hint">
            A link leads its owner back from any browser. Once there are personal links, nobody comes in under a label
            without its link.
          </p>
        </div>
        <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
        <button type="submit">Make links</button>
      </form>
      {made.length > 0 && (
        <>
          <p class="note">Shown once: the server keeps no copy that could be read.</p>
          <pre tabIndex={0}>{made.map((l) => `${l.label}\t${l.url}`).join('\n')}</pre>
          <CopyButton text={made.map((l) => `${l.label}\t${l.url}`).join('\n')} label="Copy all" />
        </>
      )}
    </section>
  );
}

/** Of two classes without groups one number says what simulated participants want. */
const hasRatio = ({ file }: StudyView): boolean =>
  (file.space?.classes?.length ?? 2) === 2 &&
  !file.space?.group &&
  !file.space?.groups &&
  (file.elicitation?.family ?? 'linear') === 'linear';

function Rehearse({ view, reload }: { view: StudyView; reload: () => void }): JSX.Element {
  const [count, setCount] = useState(5);
  const [ratio, setRatio] = useState(7);
  const [noise, setNoise] = useState('flip:0.05');
  const simple = hasRatio(view);
  const [said, setSaid] = useState('');
  const go = async (event: Event): Promise<void> => {
    event.preventDefault();
    setSaid('Simulated participants are on their way …');
    try {
      await post(`/api/admin/studies/${view.id}/rehearse`, {
        participants: count,
        ...(simple ? { metric: ratio, noise } : {}),
      });
      setSaid('Done: they are marked as simulated.');
      reload();
    } catch (error) {
      setSaid((error as ApiError).message);
    }
  };
  return (
    <section class="card">
      <h2>Rehearsal</h2>
      <form onSubmit={(event) => void go(event)}>
        <div class="grid">
          <div class="field">
            <label for="simulated">Simulated participants</label>
            <input
              id="simulated"
              type="number"
              min={1}
              max={200}
              value={count}
              onInput={(e) => setCount(Number(e.currentTarget.value))}
            />
          </div>
          {simple && (
            <>
              <div class="field">
                <label for="ratio">False alarms that a missed one is worth to them</label>
                <input
                  id="ratio"
                  type="number"
                  min={0.01}
                  max={1000}
                  step="any"
                  value={ratio}
                  onInput={(e) => setRatio(Number(e.currentTarget.value))}
                />
              </div>
              <div class="field">
                <label for="noise">How they err</label>
                <select id="noise" value={noise} onChange={(e) => setNoise(e.currentTarget.value)}>
                  <option value="none">never</option>
                  <option value="flip:0.05">1 answer in 20</option>
                  <option value="flip:0.1">1 answer in 10</option>
                </select>
              </div>
            </>
          )}
        </div>
        <button type="submit">Send them through</button>
        <p role="status">{said}</p>
      </form>
    </section>
  );
}

function Export({ view }: { view: StudyView }): JSX.Element {
  const base = `/api/admin/studies/${view.id}/export`;
  return (
    <section class="card">
      <h2>Export</h2>
      <p>Everything as it is at this moment, while participants go on.</p>
      <div class="downloads">
        {(
          [
            ['csv', 'one row per answer'],
            ['jsonl', 'one line per event'],
            ['sqlite', 'a database'],
          ] as const
        ).map(([type, what]) => (
          <a key={type} class="button" href={`${base}.${type}`} download>
            {type === 'jsonl' ? 'JSON Lines' : type === 'csv' ? 'CSV' : 'SQLite'} <small>{what}</small>
          </a>
        ))}
      </div>
    </section>
  );
}

/** The study as it is now, again every few seconds while somebody looks. */
function useStudy(id: string): { view: StudyView | null; problem: string; reload: () => void } {
  const [view, setView] = useState<StudyView | null>(null);
  const [problem, setProblem] = useState('');
  const reload = useCallback(() => {
    get<StudyView>(`/api/admin/studies/${id}`)
      .then((answer) => {
        rememberCsrf(answer.csrf);
        setView(answer);
        setProblem('');
        document.title = `${answer.file.title ?? 'Study'} – melicit`;
      })
      .catch((error: ApiError) => setProblem(error.message));
  }, [id]);
  useEffect(() => {
    reload();
    const timer = setInterval(() => document.hidden || reload(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [reload]);
  return { view, problem, reload };
}

export function Study({ id }: { id: string }): JSX.Element {
  const { view, problem, reload } = useStudy(id);
  const [failed, setFailed] = useState('');
  // Plots are drawn anew only when what they show has changed, not with every look at the server.
  const shown = JSON.stringify([view?.live.map((p) => [p.cost_ratio, p.times]), view?.pooled?.cost_ratio]);
  const plots = useMemo(
    () =>
      view && (
        <section class="card plots">
          <h2>Plots</h2>
          <RatioPlot people={view.live} pooled={view.pooled} />
          <TimePlot people={view.live} />
          {!view.live.some((p) => p.cost_ratio || p.times?.length) && <p>There is nothing to draw yet.</p>}
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
  const next = view.state === 'open' ? 'closed' : 'open';
  return (
    <Frame title={view.file.title ?? 'Study'}>
      <p>
        <span class={`state state-${view.state}`}>{view.state}</span>{' '}
        <span class="note">made {when(view.created)}</span>{' '}
        <button
          type="button"
          class="quiet"
          onClick={() => change(post(`/api/admin/studies/${id}/state`, { state: next }))}
        >
          {view.state === 'open' ? 'Close for newcomers' : 'Open again'}
        </button>
      </p>
      <div role="alert">{(failed || problem) && <p class="problem">{failed || problem}</p>}</div>
      <Summary view={view} />
      <PooledCard view={view} />
      <People view={view} erase={erase} />
      {plots}
      <div class="cards">
        <Places view={view} />
        <Links view={view} />
        <Export view={view} />
        <Rehearse view={view} reload={reload} />
      </div>
    </Frame>
  );
}
