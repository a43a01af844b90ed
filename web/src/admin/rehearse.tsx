// Simulated participants go through a study, to see that it works.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { post, type ApiError } from '../lib/api';
import type { StudyView } from '../lib/types';
import { NumberField, useAnswers } from './simulated';

export function Rehearse({ view, reload }: { view: StudyView; reload: () => void }): JSX.Element {
  const [count, setCount] = useState(5);
  const { fields, sent } = useAnswers(view, 'rehearse', 'False alarms that a missed one is worth to them');
  const [said, setSaid] = useState('');
  const go = async (event: Event): Promise<void> => {
    event.preventDefault();
    setSaid('Simulated participants are on their way …');
    try {
      await post(`/api/admin/studies/${view.id}/rehearse`, { participants: count, ...sent });
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
          <NumberField id="simulated" label="Simulated participants" value={count} low={1} high={200} step={1} set={setCount} />
          {fields}
        </div>
        <button type="submit">Send them through</button>
        <p role="status">{said}</p>
      </form>
    </section>
  );
}
