import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import cancer from '../../../studies/cancer.json';
import credit from '../../../studies/credit.json';
import { ApiError, post } from '../lib/api';
import { Frame } from './common';

const EXAMPLES: [string, string, string][] = [
  [
    cancer,
    'Which cancer test would you want?',
    'Two kinds of mistakes; practice, a guess, comparisons, 15 evaluation questions',
  ],
  [credit, 'Who should get the loan?', 'Mistakes, and treating two groups alike'],
];

export function NewStudy(): JSX.Element {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  const example = async (url: string): Promise<void> => {
    try {
      setText(await (await fetch(url)).text());
      setProblem('');
      document.getElementById('study-file')?.focus();
    } catch {
      setProblem('The example could not be read.');
    }
  };
  const create = async (event: Event): Promise<void> => {
    event.preventDefault();
    setProblem('');
    let file: unknown;
    try {
      file = JSON.parse(text);
    } catch (error) {
      setProblem(`This is no JSON: ${(error as Error).message}`);
      return;
    }
    setBusy(true);
    try {
      const { id } = await post<{ id: string }>('/api/admin/studies', file);
      location.assign(`/admin/study/${id}`);
    } catch (error) {
      setBusy(false);
      setProblem((error as ApiError).message);
    }
  };
  return (
    <Frame title="New study">
      <p>
        A study is one file: texts, questions, and how the comparisons are chosen. Begin with an example, or open a file
        of your own.
      </p>
      <div class="sources">
        {EXAMPLES.map(([url, title, about]) => (
          <button key={url} type="button" class="source" onClick={() => void example(url)}>
            <span>
              <b>{title}</b>
              <small>{about}</small>
            </span>
          </button>
        ))}
        <label class="source">
          <span>
            <b>A file of mine</b>
            <small>JSON, checked before anything is made</small>
            <input
              type="file"
              accept=".json,application/json"
              aria-label="Study file"
              onChange={(e) => void e.currentTarget.files?.[0]?.text().then(setText)}
            />
          </span>
        </label>
      </div>
      <form onSubmit={(event) => void create(event)}>
        <div class="field">
          <label for="study-file">Study file</label>
          <textarea
            id="study-file"
            class="source-text"
            rows={24}
            spellcheck={false}
            value={text}
            onInput={(e) => setText(e.currentTarget.value)}
          />
        </div>
        <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
        <div class="actions">
          <button type="submit" class="primary" disabled={busy || text.trim() === ''}>
            Make the study
          </button>
        </div>
      </form>
    </Frame>
  );
}
