// Who takes part in a study: in a line, page by page, one row each; simulated participants apart.

import type { JSX } from 'preact';
import { duration, percent, short } from '../lib/text';
import type { Person, Range, StudyView } from '../lib/types';
import { PHASES } from './schema';

export const ratioText = (ratio: Range | undefined | null): string => ratio?.text ?? '–';

export const real = (view: StudyView): Person[] => view.live.filter((p) => !p.simulated);
export const simulated = (view: StudyView): Person[] => view.live.filter((p) => p.simulated);

/** Who is where, in a line; simulated participants are not people. */
/** How many people there are, on all pages. */
export const participants = (view: StudyView): number => {
  const n = view.participants;
  return n ? n.active + n.complete + n.left : real(view).length;
};

export function Summary({ view }: { view: StudyView }): JSX.Element {
  const people = real(view);
  const count = (state: 'active' | 'complete' | 'left'): number => view.participants?.[state] ?? people.filter((p) => p.state === state).length;
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

export function Places({ view }: { view: StudyView }): JSX.Element | null {
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
                <th scope="row">{p.title ?? PHASES[p.name]?.title ?? p.name}</th>
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
        <a href={`/admin/study/${study}/${person.id}`} title={name}>
          {name}
        </a>
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

export const isOdd = (person: Person): boolean => person.consistency != null && person.consistency < 0.05;

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

export function People({ view, erase }: { view: StudyView; erase: (person: Person) => void }): JSX.Element {
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

export function Simulated({ view, erase }: { view: StudyView; erase: (person: Person) => void }): JSX.Element | null {
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
