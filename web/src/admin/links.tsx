// What leaves a study's page: links for participants, and everything they answered.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { post, type ApiError } from '../lib/api';
import type { StudyView } from '../lib/types';
import { CopyButton } from '../pages/end';

function LinkRow({ name, url }: { name: string; url: string }): JSX.Element {
  return (
    <div class="link-row">
      <b>{name}</b>
      <code tabIndex={0}>{url}</code>
      <CopyButton text={url} label="Copy" />
    </div>
  );
}

export function Links({ view }: { view: StudyView }): JSX.Element {
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

export function Export({ view }: { view: StudyView }): JSX.Element {
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
