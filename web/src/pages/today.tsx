// What is done today, where somebody says it: a threshold, or a file with decisions.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ofStudy, post, postCsv } from '../lib/api';
import { t } from '../lib/say';
import { whole } from '../lib/text';
import type { Result, Upload, Value } from '../lib/types';

export type SendToday = (value: Value) => void;

let changed = false;
/** Whether the page is there anew because somebody said what is done today: then it is shown where that counts. Once. */
export function todayChanged(): boolean {
  const was = changed;
  changed = false;
  return was;
}

/** Beside "Today's": what that is. */
export function todayNote(name: string): string {
  if (name === 'decided today') return t`the decisions of your file`;
  return name === 'the most probable class' ? t`whatever is most probable` : t`from your threshold on`;
}

interface Wrong {
  field: string;
  message: string;
}

function Columns({ upload, result, groups, use }: { upload: Upload; result: Result; groups: boolean; use: (body: Record<string, string>) => void }): JSX.Element {
  const names = upload.columns.filter((c) => c.values.length >= 1).map((c) => c.name);
  const like = (pattern: RegExp, other: string): string => names.find((n) => pattern.test(n)) ?? other;
  const [truth, setTruth] = useState(like(/^(truth|true|label|class|was|outcome|y)$/i, names[0] ?? ''));
  const [decision, setDecision] = useState(like(/decision|decided|predict|said|today/i, names[names.length - 1] ?? ''));
  const [group, setGroup] = useState(like(/group|sex|gender/i, names[0] ?? ''));
  const choice = (id: string, label: string, value: string, set: (name: string) => void): JSX.Element => (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => set(event.currentTarget.value)}>
        {names.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </div>
  );
  return (
    <>
      {choice('today-truth', t`What was true (${result.metric?.layout?.classes?.join(', ') ?? ''})`, truth, setTruth)}
      {choice('today-decision', t`What was decided`, decision, setDecision)}
      {groups && choice('today-group', t`Groups`, group, setGroup)}
      <button type="button" onClick={() => use({ upload: upload.upload, truth, decision, ...(groups ? { group } : {}) })}>
        {t`Compare with these decisions`}
      </button>
    </>
  );
}

/** Lets somebody say what is done today. */
export function TodayForm({ result, send, given, groups = false }: { result: Result; send: SendToday; given: boolean; groups?: boolean }): JSX.Element {
  const two = result.metric?.layout?.classes?.length === 2;
  const [text, setText] = useState('');
  const [upload, setUpload] = useState<Upload | null>(null);
  const [name, setName] = useState('');
  const [wrong, setWrong] = useState<Wrong | null>(null);
  const tell = (today: Record<string, unknown>): void => {
    changed = true;
    send({ today });
  };
  const fail = (field: string) => (error: Error): void => setWrong({ field, message: error.message });
  const at = Number(text.replace(',', '.'));
  const threshold = (): void => {
    if (text.trim() === '' || !(at >= 0 && at <= 1)) setWrong({ field: 'today-threshold', message: t`Please give a number from 0 to 1.` });
    else tell({ threshold: at });
  };
  const take = (file: File | undefined): void => {
    if (!file) return;
    setWrong(null);
    setName(file.name);
    postCsv<Upload>('/api/upload', file).then(setUpload).catch(fail('today-file'));
  };
  const count = (body: Record<string, string>): void => {
    setWrong(null);
    post<{ counts: number[] }>(ofStudy('/api/today'), body)
      .then(({ counts }) => tell({ counts }))
      .catch(fail('today-file'));
  };
  const problem = (field: string): JSX.Element | null =>
    wrong?.field === field ? (
      <p class="problem" id={`${field}-problem`} role="alert">
        {wrong.message}
      </p>
    ) : null;
  const bad = (field: string): Record<string, unknown> =>
    wrong?.field === field ? { 'aria-invalid': true, 'aria-describedby': `${field}-problem` } : {};
  return (
    <details class="today">
      <summary>{given ? t`Today is different` : t`Compare with what you do today`}</summary>
      {two && (
        <div class="field">
          <label for="today-threshold">{t`Above which probability do you say “${result.metric?.layout?.classes?.[1] ?? ''}” today?`}</label>
          <div class="today-row">
            <input id="today-threshold" type="text" inputMode="decimal" size={6} value={text} onInput={(event) => setText(event.currentTarget.value)} {...bad('today-threshold')} />
            <button type="button" onClick={threshold}>
              {t`Compare with this`}
            </button>
          </div>
          {problem('today-threshold')}
        </div>
      )}
      <div class="field">
        <label for="today-file">{two
            ? t`Or the decisions of your current classifier or team, a CSV file: what was true, and what was decided`
            : t`The decisions of your current classifier or team, a CSV file: what was true, and what was decided`}</label>
        <input id="today-file" type="file" accept=".csv,text/csv,.txt" onChange={(event) => take(event.currentTarget.files?.[0])} {...bad('today-file')} />
        {upload && (
          <p class="note">
            {t`${name}: ${whole(upload.rows)} rows`}
          </p>
        )}
        {problem('today-file')}
        {upload && <Columns key={upload.upload} upload={upload} result={result} groups={groups} use={count} />}
      </div>
      {given && (
        <p>
          <button type="button" class="link" onClick={() => tell({})}>
            {t`Compare with nothing`}
          </button>
        </p>
      )}
    </details>
  );
}
