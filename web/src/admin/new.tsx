import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import cancer from '../../../studies/cancer.json';
import credit from '../../../studies/credit.json';
import { ApiError, get, post } from '../lib/api';
import type { StudyView } from '../lib/types';
import { STUDY_DRAFT } from '../lib/draft';
import { Frame } from './common';
import { EditForm, PreviewPane, usePreview } from './editor';
import type { JsonObject } from './schema';

const EXAMPLES: [string, string, string][] = [
  [
    cancer,
    'Which cancer test would you want?',
    'Two kinds of mistakes; practice, a guess, comparisons, 15 evaluation questions',
  ],
  [credit, 'Who should get the loan?', 'Mistakes, and treating two groups alike'],
];

const BLANK: JsonObject = {
  format: 'melicit-study',
  version: 1,
  title: 'A new study',
  space: { data: 'mammographic_mass', classes: ['benign', 'malignant'] },
  words: { people: 'patients', mistakes: { missed: 'missed cancer', false_alarm: 'false alarm' } },
  elicitation: { family: 'linear', max_questions: 20 },
  phases: [{ kind: 'elicitation' }, { kind: 'done', title: 'Thank you', text: 'Your answers are saved.', code: true }],
};

const pretty = (file: unknown): string => JSON.stringify(file, null, 2);

function parsed(text: string): JsonObject | null {
  try {
    const file = JSON.parse(text) as unknown;
    return typeof file === 'object' && file !== null && !Array.isArray(file) ? (file as JsonObject) : null;
  } catch {
    return null;
  }
}

/** Where a new study can begin. */
function Begin({ begin, fail }: { begin: (text: string) => void; fail: (message: string) => void }): JSX.Element {
  const example = async (url: string): Promise<void> => {
    try {
      begin(pretty(await (await fetch(url)).json()));
    } catch {
      fail('The example could not be read.');
    }
  };
  return (
    <div class="sources">
      {EXAMPLES.map(([url, title, about]) => (
        <button key={url} type="button" class="source" onClick={() => void example(url)}>
          <span>
            <b>{title}</b>
            <small>{about}</small>
          </span>
        </button>
      ))}
      <button type="button" class="source" onClick={() => begin(pretty(BLANK))}>
        <span>
          <b>An empty study</b>
          <small>Comparisons and an end, for you to add to</small>
        </span>
      </button>
      <label class="source">
        <span>
          <b>A file of mine</b>
          <small>JSON, checked before anything is made</small>
          <input
            type="file"
            accept=".json,application/json"
            aria-label="Study file from the disk"
            onChange={(e) => void e.currentTarget.files?.[0]?.text().then(begin)}
          />
        </span>
      </label>
    </div>
  );
}

/** What the page begins with: what the start page left, or another study. */
async function inherited(): Promise<string> {
  const left = sessionStorage.getItem(STUDY_DRAFT);
  sessionStorage.removeItem(STUDY_DRAFT);
  const from = new URLSearchParams(location.search).get('from');
  if (left !== null || from === null) return left ?? '';
  const { file } = await get<StudyView>(`/api/admin/studies/${encodeURIComponent(from)}`);
  return pretty({ ...file, title: `${file.title ?? 'Study'} (copy)` });
}

export function NewStudy(): JSX.Element {
  const [text, setText] = useState('');
  const [asJson, setAsJson] = useState(false);
  const [at, look] = useState(0);
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  const preview = usePreview(text);
  const file = parsed(text);
  useEffect(() => {
    inherited()
      .then(setText)
      .catch((error: ApiError) => setProblem(error.message));
  }, []);
  const begin = (next: string): void => {
    setProblem('');
    look(0);
    setText(next);
  };
  const create = async (event: Event): Promise<void> => {
    event.preventDefault();
    setProblem('');
    if (file === null) {
      setProblem('This is no JSON object.');
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
  const phases = Array.isArray(file?.['phases']) ? (file['phases'] as JsonObject[]) : [];
  return (
    <Frame title="New study">
      {text === '' && <p>Begin with an example, with nothing, or with a file of your own. Everything can be changed.</p>}
      {text === '' && <Begin begin={begin} fail={setProblem} />}
      <div role="alert">{text === '' && problem && <p class="problem">{problem}</p>}</div>
      {text !== '' && (
        <form class="editor" onSubmit={(event) => void create(event)} data-editor>
          <div>
            <div class="segments" role="radiogroup" aria-label="How to change it">
              {(['Form', 'JSON'] as const).map((way) => (
                <label key={way}>
                  <input type="radio" name="way" checked={asJson === (way === 'JSON')} onChange={() => setAsJson(way === 'JSON')} />
                  <span>{way}</span>
                </label>
              ))}
            </div>
            {asJson || file === null ? (
              <div class="field">
                <label for="study-file">Study file</label>
                <textarea id="study-file" class="source-text" rows={30} spellcheck={false} value={text} aria-describedby="study-file-problem" onInput={(e) => setText(e.currentTarget.value)} />
                <p class="problem" id="study-file-problem" role="alert" hidden={preview.message === ''}>
                  {preview.message}
                </p>
              </div>
            ) : (
              <EditForm file={file} set={(next) => setText(pretty(next))} message={preview.message} look={look} />
            )}
            <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
            <div class="actions">
              <button type="submit" class="primary" disabled={busy}>
                Make the study
              </button>
              <button type="button" onClick={() => begin('')}>
                Begin anew
              </button>
            </div>
          </div>
          <PreviewPane preview={preview} phases={phases} at={at} look={look} />
        </form>
      )}
    </Frame>
  );
}
