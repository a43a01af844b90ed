// One participant: what was found about them, and everything they answered, with the time it took.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { get, rememberCsrf, type ApiError } from '../lib/api';
import { duration, percent, sentence, short } from '../lib/text';
import type { LogEvent, PersonView, Weight } from '../lib/types';
import { Loading } from '../shell';
import { Frame, when } from './common';
import { Forest } from './forest';

const ANSWERS: Record<string, string> = { A: 'A', B: 'B', '=': 'about the same', '?': 'cannot say' };

/** What was answered, as people read it. */
export function answerText({ value, undo, page }: LogEvent): string {
  if (undo !== undefined || value?.['undo'] === true) return 'took the last answer back';
  const answer = value?.['answer'];
  if (typeof answer === 'string') return ANSWERS[answer] ?? answer;
  if (typeof answer === 'number') return String(answer);
  if (page === 'guess') return `guessed ${String(value?.['ratio'])}`;
  const entries = Object.entries(value ?? {}).filter(([, v]) => v !== '' && v !== null);
  return entries.map(([key, v]) => (v === true ? key : `${key}: ${String(v)}`)).join(', ') || 'went on';
}

const point = (numbers: number[] | undefined): string => (numbers ? numbers.map((x) => Number(x.toFixed(4))).join(', ') : '');

/** What the numbers of A and B are, in their order, where the weights of the metric say so. */
function statistics(events: LogEvent[], weights: Weight[]): string {
  const numbers = events.find((e) => e.a)?.a?.length;
  return numbers !== undefined && numbers === weights.length ? ` (${weights.map((w) => w.name).join(', ')}: shares of all)` : '';
}

function Events({ events, study, weights }: { events: LogEvent[]; study: string; weights: Weight[] }): JSX.Element {
  return (
    <section class="card">
      <h2>Everything they answered</h2>
      <div class="table-scroll" tabIndex={0} role="group" aria-label="Everything they answered">
        <table class="people events">
          <thead>
            <tr>
              {['', 'page', 'answer', 'time', 'A, as asked', 'B, as asked', 'when'].map((h) => (h === '' ? <td key={h} /> : <th key={h} scope="col">{h}</th>))}
            </tr>
          </thead>
          <tbody>
            {events.map((event) => (
              <tr key={event.seq}>
                <td>{event.seq}</td>
                <th scope="row">
                  {event.page ?? 'undo'}
                  {event.number !== undefined ? ` ${event.number}` : ''}
                </th>
                <td>{answerText(event)}</td>
                <td>{event.seconds !== undefined ? `${short(event.seconds)} s` : '–'}</td>
                <td>{point(event.swapped ? event.b : event.a)}</td>
                <td>{point(event.swapped ? event.a : event.b)}</td>
                <td>{when(event.time)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="note">
        A and B as they were shown: the statistics of the two systems that the metric is about{statistics(events, weights)}. The same is in
        the{' '}
        <a href={`/api/admin/studies/${study}/export.csv`}>export</a>.
      </p>
    </section>
  );
}

export function PersonPage({ study, id }: { study: string; id: string }): JSX.Element {
  const [view, setView] = useState<PersonView | null>(null);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    get<PersonView>(`/api/admin/studies/${study}/participants/${id}`)
      .then((found) => {
        rememberCsrf(found.csrf);
        setView(found);
      })
      .catch((error: ApiError) => setProblem(error.message));
  }, [study, id]);
  if (problem)
    return (
      <Frame title="Participant">
        <p role="alert">{problem}</p>
      </Frame>
    );
  if (!view) return <Loading />;
  const { person, events, about } = view;
  const m = person.agreement;
  const facts: [string, string][] = [
    ['state', person.state],
    ['came', when(person.created)],
    ['time in all', person.seconds != null ? duration(person.seconds) : '–'],
    ['per question', person.median_seconds != null ? `${short(person.median_seconds)} s` : '–'],
    ['result foretells their choices', m?.elicited != null ? percent(m.elicited, m.of) : '–'],
    ['changed when asked again', person.repeats ? `${person.repeats - (person.repeats_agreed ?? 0)} of ${person.repeats}` : '–'],
  ];
  return (
    <Frame title={person.label ?? person.id.slice(0, 8)}>
      <p>
        <a href={`/admin/study/${study}`}>Back to the study</a>
        {person.simulated && (
          <>
            {' '}
            <span class="state">simulated{about?.noise ? `, ${about.noise}` : ''}</span>
          </>
        )}
      </p>
      {person.words && <p class="person-words">{sentence(person.words)}</p>}
      <dl class="counts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {(person.weights?.length ?? 0) > 0 && (
        <section class="card">
          <h2>Their metric</h2>
          <Forest
            log={false}
            names
            label={`Weights: ${person.weights?.map((w) => `${w.name} ${short(w.value)}`).join(', ') ?? ''}`}
            lines={(person.weights ?? []).map((w) => ({ key: w.symbol, name: w.name, range: w }))}
          />
        </section>
      )}
      <Events events={events} study={study} weights={person.weights ?? []} />
    </Frame>
  );
}
