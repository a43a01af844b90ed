import type { JSX } from 'preact';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { ApiError, get, post, remove, rememberCsrf } from '../lib/api';
import { duration, percent, short } from '../lib/text';
import type { Person, Range, Ratio, StudyView, Weight } from '../lib/types';
import { CopyButton } from '../pages/end';
import { Loading } from '../shell';
import { Frame, when } from './common';
import { Forest, type Line } from './forest';
import { Planning } from './plan';
import { TimePlot } from './plots';

const REFRESH_MS = 5000;

function ratioText(ratio: Range | undefined | null): string {
  if (!ratio) return '–';
  const value = short(ratio.value);
  return ratio.low != null && ratio.high != null ? `${value} (${short(ratio.low)} to ${short(ratio.high)})` : value;
}

const real = (view: StudyView): Person[] => view.live.filter((p) => !p.simulated);
const simulated = (view: StudyView): Person[] => view.live.filter((p) => p.simulated);

/** Who is where, in a line; simulated participants are not people. */
function Summary({ view }: { view: StudyView }): JSX.Element {
  const people = real(view);
  const count = (state: string): number => people.filter((p) => p.state === state).length;
  const times = people.flatMap((p) => (p.state === 'complete' && p.seconds ? [p.seconds] : [])).sort((a, b) => a - b);
  const half = times[Math.floor(times.length / 2)];
  return (
    <span class="summary">
      {count('complete')} finished, {count('active')} under way, {count('left')} left.
      {half !== undefined && ` Half were done within ${duration(half)}.`}
      {simulated(view).length > 0 && ` ${simulated(view).length} simulated, not counted.`}
    </span>
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

function PersonRow({ person, study, erase }: { person: Person; study: string; erase: () => void }): JSX.Element {
  const m = person.agreement;
  const odd = isOdd(person);
  const name = person.label ?? person.id.slice(0, 8);
  return (
    <tr>
      <th scope="row" class="stick-left">
        <a href={`/admin/study/${study}/${person.id}`}>{name}</a>
        {odd && <b title="inconsistent"> ▲</b>}
        {person.simulated && <small> simulated</small>}
      </th>
      <td>{ratioText(person.cost_ratio)}</td>
      <td>{person.state === 'active' ? (person.page ?? person.state) : person.state}</td>
      <td>{person.answers ?? '–'}</td>
      <td>{m?.elicited != null ? percent(m.elicited, m.of) : '–'}</td>
      <td>{m?.guess != null ? percent(m.guess, m.of) : '–'}</td>
      <td>{person.seconds != null ? duration(person.seconds) : '–'}</td>
      <td>{person.median_seconds != null ? `${short(person.median_seconds)} s` : '–'}</td>
      <td>{consistencyText(person)}</td>
      <td class="stick-right">
        <button type="button" class="quiet danger-text" aria-label={`Delete participant ${person.label ?? person.id}`} onClick={erase}>
          Delete
        </button>
      </td>
    </tr>
  );
}

const isOdd = (person: Person): boolean => person.consistency != null && person.consistency < 0.05;

const COLUMNS = ['who', 'ratio (95%)', 'state', 'answers', 'result foretells their choices', 'own guess does', 'time', 'per question', 'p, changed when asked again'];

function Table({ people, study, erase, label }: { people: Person[]; study: string; erase: (person: Person) => void; label: string }): JSX.Element {
  return (
    <div class="table-scroll" tabIndex={0} role="group" aria-label={label}>
      <table class="people">
        <thead>
          <tr>
            {COLUMNS.map((h, i) => (
              <th key={h} scope="col" class={i === 0 ? 'stick-left' : undefined}>
                {h}
              </th>
            ))}
            <td class="stick-right" />
          </tr>
        </thead>
        <tbody>
          {people.map((person) => (
            <PersonRow key={person.id} person={person} study={study} erase={() => erase(person)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function People({ view, erase }: { view: StudyView; erase: (person: Person) => void }): JSX.Element {
  const people = real(view);
  return (
    <section class="card">
      <h2>Participants</h2>
      {people.length === 0 ? <p>Nobody has come yet.</p> : <Table people={people} study={view.id} erase={erase} label="Participants" />}
      {view.complete === false && <p role="status">Some people’s answers are still being read; their numbers follow.</p>}
      <p class="note">
        Result foretells their choices: the share of the evaluation questions on which the elicited metric prefers what
        the participant preferred. p: the probability that answers of somebody who errs as assumed speak so little
        against coin tosses (or, where no error is assumed, contradict the metric so often); below 0.05 they are marked
        ▲: look at them before you count them.
      </p>
    </section>
  );
}

/** Which numbers can be drawn: the ratio of costs where there is one, else every weight. */
function measures(view: StudyView): string[] {
  const found = new Set(view.live.flatMap((p) => (p.weights ?? []).map((w) => w.symbol)));
  return [...(view.live.some((p) => p.cost_ratio) ? ['ratio'] : []), ...found];
}

const rangeOf = (about: { cost_ratio?: Ratio; weights?: Weight[] } | null | undefined, what: string): Range | undefined =>
  what === 'ratio' ? about?.cost_ratio : about?.weights?.find((w) => w.symbol === what);

function linesOf(people: Person[], what: string, study: string): Line[] {
  return people.flatMap((p) => {
    const range = rangeOf(p, what);
    return range && (what !== 'ratio' || range.value > 0)
      ? [{ key: p.id, name: p.label ?? p.id.slice(0, 8), range, odd: isOdd(p), truth: what === 'ratio' ? p.truth : undefined, href: `/admin/study/${study}/${p.id}` }]
      : [];
  });
}

/** Every metric with its interval and that of all together; simulated ones apart. */
function Metrics({ view }: { view: StudyView }): JSX.Element | null {
  const [chosen, setChosen] = useState('');
  const choices = measures(view);
  const what = choices.includes(chosen) ? chosen : choices[0];
  if (what === undefined) return null;
  const ratio = view.live.find((p) => p.cost_ratio)?.cost_ratio;
  const name = (symbol: string): string =>
    symbol === 'ratio' ? `How many ${ratio?.false_alarms ?? 'false alarms'} weigh as much as one ${ratio?.missed ?? 'missed case'}?` : (view.live.flatMap((p) => p.weights ?? []).find((w) => w.symbol === symbol)?.name ?? symbol);
  const lines = linesOf(real(view), what, view.id);
  const made = linesOf(simulated(view), what, view.id);
  const pooled = view.pooled;
  const range = (what === 'ratio' && pooled?.community?.cost_ratio) || rangeOf(pooled, what);
  const all = pooled && range ? { name: `All ${pooled.participants}`, range } : null;
  const label = `${name(what)} ${lines.length} participants, each with an interval.`;
  return (
    <section class="card">
      <h2>{name(what)}</h2>
      <p class="note">Dot: best guess. Line: 19 times out of 20. Arrow: no upper end.</p>
      {choices.length > 1 && (
        <div class="field">
          <label for="measure">Shown</label>
          <select id="measure" value={what} onChange={(e) => setChosen(e.currentTarget.value)}>
            {choices.map((symbol) => (
              <option key={symbol} value={symbol}>
                {symbol === 'ratio' ? 'the ratio' : `weight ${symbol}`}
              </option>
            ))}
          </select>
        </div>
      )}
      <Forest lines={lines} all={pooled?.simulated ? null : all} log={what === 'ratio'} label={label} />
      {lines.length === 0 && <p>Nobody’s metric is known yet.</p>}
      {made.length > 0 && (
        <>
          <h3>Simulated</h3>
          <p class="note">Made to test the study; not counted above.</p>
          <Forest lines={made} all={pooled?.simulated ? all : null} log={what === 'ratio'} label={`${made.length} simulated participants`} simulated />
        </>
      )}
    </section>
  );
}

function PooledCard({ view }: { view: StudyView }): JSX.Element | null {
  const pooled = view.pooled;
  if (!pooled || pooled.simulated) return null;
  const common = pooled.cost_ratio && pooled.community?.cost_ratio;
  return (
    <section class="together">
      <h2>
        All together ({pooled.participants}
        {pooled.of && pooled.of > pooled.participants ? `, the first of ${pooled.of}` : ''})
      </h2>
      {pooled.cost_ratio && <p class="big">{ratioText(common ?? pooled.cost_ratio)}</p>}
      {common ? <p>Around it lies what each of them wants. If all wanted exactly the same, it would be {ratioText(pooled.cost_ratio)}.</p> : pooled.words && <p>{pooled.words}</p>}
      {view.file.learn_from_others && pooled.community && <p>New participants’ questions start from what these want.</p>}
      {pooled.statements?.map((s) => <p key={s.key}>{s.text}</p>)}
    </section>
  );
}

function Simulated({ view, erase }: { view: StudyView; erase: (person: Person) => void }): JSX.Element | null {
  const people = simulated(view);
  return people.length === 0 ? null : (
    <details class="card simulated">
      <summary>
        <b>{people.length} simulated participants</b>
      </summary>
      <Table people={people} study={view.id} erase={erase} label="Simulated participants" />
    </details>
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

/** What can be done with the study as a whole. */
function Actions({ view, change }: { view: StudyView; change: (work: Promise<unknown>) => void }): JSX.Element {
  const state = (next: string): void => change(post(`/api/admin/studies/${view.id}/state`, { state: next }));
  const drop = (): void => {
    const people = real(view).length;
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
  const { view, problem, reload } = useStudy(id);
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
      <Simulated view={view} erase={erase} />
      {times}
      <div class="cards">
        <Places view={view} />
        <Links view={view} />
        <Export view={view} />
        <Rehearse view={view} reload={reload} />
        <Planning view={view} simple={hasRatio(view)} />
      </div>
    </Frame>
  );
}
