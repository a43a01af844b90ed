// How many questions and people a study needs, by simulated participants who are not stored.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { post, type ApiError } from '../lib/api';
import { short } from '../lib/text';
import type { StudyView } from '../lib/types';
import { NumberField, hasRatio, useAnswers } from './simulated';

interface Plan {
  measure: 'factor' | 'radius';
  wanted: number;
  participants: number;
  /** idle: for how many people the question told nothing. */
  by_questions: { questions: number; width: number | null; within: number; idle: number }[];
  by_people: { people: number; width: number | null }[];
  questions: number | null;
  people: number | null;
  asked: number;
  dominated: number;
  trivial: number;
}

const widthText = (width: number | null): string => (width === null ? 'open' : short(width));

function Answer({ plan }: { plan: Plan }): JSX.Element {
  const steps = plan.by_questions.filter((_, i, all) => (i + 1) % Math.max(1, Math.round(all.length / 8)) === 0 || i === all.length - 1);
  const narrow = plan.measure === 'factor' ? `whose upper end is at most ${short(plan.wanted)} times the lower one` : `of at most ±${short(plan.wanted)}`;
  return (
    <div role="status">
      <p>
        An interval {narrow}:{' '}
        <b>{plan.questions === null ? 'more questions than the study asks' : plan.questions === 1 ? '1 question' : `${plan.questions} questions`}</b> for half of the people,{' '}
        <b>{plan.people === null ? `more than ${plan.participants} people` : `${plan.people} people`}</b> for what they want together.
      </p>
      {plan.dominated > 0 && (
        <p class="caution">
          {plan.dominated} of {plan.asked} questions tell nothing: one system is as good or better in every number.
        </p>
      )}
      {plan.trivial > 0 && (
        <p class="caution">
          {plan.trivial} of {plan.asked} questions tell hardly anything: the answers before them said what would be answered.
        </p>
      )}
      <div class="grid">
        <table>
          <caption>One person, median</caption>
          <thead>
            <tr>
              <th scope="col">Questions</th>
              <th scope="col">Width</th>
              <th scope="col">Needless for</th>
            </tr>
          </thead>
          <tbody>
            {steps.map((row) => (
              <tr key={row.questions}>
                <th scope="row">{row.questions}</th>
                <td>{widthText(row.width)}</td>
                <td>{row.idle > 0 ? row.idle : '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <table>
          <caption>All together</caption>
          <thead>
            <tr>
              <th scope="col">People</th>
              <th scope="col">Width</th>
            </tr>
          </thead>
          <tbody>
            {plan.by_people.map((row) => (
              <tr key={row.people}>
                <th scope="row">{row.people}</th>
                <td>{widthText(row.width)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

export function Planning({ view }: { view: StudyView }): JSX.Element {
  const simple = hasRatio(view);
  const [count, setCount] = useState(20);
  const [width, setWidth] = useState(simple ? 2 : 0.1);
  const [spread, setSpread] = useState(0.5);
  const { fields, sent } = useAnswers(view, 'plan', 'False alarms that a missed one is worth to most');
  const [plan, setPlan] = useState<Plan | null>(null);
  const [said, setSaid] = useState('');
  const go = async (event: Event): Promise<void> => {
    event.preventDefault();
    setSaid('Simulated participants are on their way …');
    try {
      setPlan(await post<Plan>(`/api/admin/studies/${view.id}/plan`, { participants: count, width, ...sent, ...(simple ? { spread } : {}) }));
      setSaid('');
    } catch (error) {
      setSaid((error as ApiError).message);
    }
  };
  return (
    <section class="card">
      <h2>Planning</h2>
      <p class="note">How many questions and people does it take? Simulated participants, who are not kept, answer with this study’s settings.</p>
      <form onSubmit={(event) => void go(event)}>
        <div class="grid">
          <NumberField id="plan-people" label="At most how many people" value={count} low={2} high={200} step={1} set={setCount} />
          <NumberField id="plan-width" label={simple ? 'Upper end of the interval, times the lower one' : 'Interval, plus or minus'} value={width} low={0.001} high={1000} set={setWidth} />
          {fields}
          {simple && <NumberField id="plan-spread" label="How far people differ (0: not; 0.7: by half or double)" value={spread} low={0} high={5} set={setSpread} />}
        </div>
        <button type="submit">Work it out</button>
        <p role="status">{said}</p>
      </form>
      {plan && <Answer plan={plan} />}
    </section>
  );
}
