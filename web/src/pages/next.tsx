// What to do with a result: decide with a model, take it along, show it to others.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ofStudy, post, postCsv } from '../lib/api';
import { capital, list, whole } from '../lib/text';
import type { Equivalents, Result, Upload } from '../lib/types';
import { CopyButton } from './end';

interface Decisions {
  csv: string;
  rows: number;
  decided: { name: string; rows: number }[];
}

/** Gives the browser a file that it made. */
function save(name: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Decisions about the rows of the session, or about a model's probabilities, as CSV. */
function Decide({ result, own }: { result: Result; own: boolean }): JSX.Element {
  const classes = result.metric?.layout?.classes ?? [];
  const [upload, setUpload] = useState<Upload | null>(null);
  const groups = result.metric?.layout?.groups ?? [];
  const rows = result.settings?.rows ?? result.treatments?.rows ?? 0;
  const [column, setColumn] = useState('');
  const [group, setGroup] = useState('');
  const [id, setId] = useState('');
  // Without rows that a rule was found on, the threshold for calibrated probabilities is all there is.
  const [calibrated, setCalibrated] = useState(!result.best);
  const [said, setSaid] = useState('');
  const [busy, setBusy] = useState(false);
  const numbers = (upload?.columns ?? []).filter((c) => c.kind === 'number').map((c) => c.name);
  const named = classes.every((c) => numbers.includes(c));
  const run = async (task: () => Promise<string>): Promise<void> => {
    setBusy(true);
    setSaid('');
    try {
      setSaid(await task());
    } catch (problem) {
      setSaid((problem as Error).message);
    } finally {
      setBusy(false);
    }
  };
  const take = (file: File | undefined): void =>
    void run(async () => {
      if (!file) return '';
      const told = await postCsv<Upload>('/api/upload', file);
      setUpload(told);
      const known = told.columns.filter((c) => c.kind === 'number').map((c) => c.name);
      setColumn(known.find((name) => name === classes[1]) ?? known[known.length - 1] ?? '');
      const texts = told.columns.filter((c) => groups.every((name) => c.values.map(String).includes(name)));
      setId('');
      setGroup(texts[0]?.name ?? told.columns[0]?.name ?? '');
      return `${file.name}: ${whole(told.rows)} rows`;
    });
  const decide = (body: Record<string, unknown>): void =>
    void run(async () => {
      const told = await post<Decisions>(ofStudy('/api/decisions'), body);
      save('decisions.csv', told.csv);
      return `Decided about ${whole(told.rows)} rows: ${list(told.decided.map((d) => `${whole(d.rows)} ${d.name}`))}. The file is decisions.csv.`;
    });
  if (!result.best && !result.threshold)
    return (
      <div>
        <p>These questions were about given classifiers: no rule on probabilities follows from them. The metric file ranks any others.</p>
      </div>
    );
  return (
    <div>
      {own && result.best && rows > 0 && (
        <p>
          <button type="button" disabled={busy} onClick={() => decide({})}>
            Decisions for your file <small>CSV</small>
          </button>
        </p>
      )}
      <div class="field">
        <label for="decide-file">Probabilities of your model, a CSV file with a row for each {result.people === 'people' ? 'person' : 'case'}</label>
        <input id="decide-file" type="file" accept=".csv,text/csv,.txt" onChange={(event) => take(event.currentTarget.files?.[0])} />
      </div>
      {upload && (
        <>
          {classes.length === 2 && !named && (
            <div class="field">
              <label for="decide-column">Column with the probability of {classes[1]}</label>
              <select id="decide-column" value={column} onChange={(event) => setColumn(event.currentTarget.value)}>
                {numbers.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            </div>
          )}
          {groups.length > 1 && (
            <div class="field">
              <label for="decide-group">Column with the groups ({list(groups)})</label>
              <select id="decide-group" value={group} onChange={(event) => setGroup(event.currentTarget.value)}>
                {upload.columns.map((c) => (
                  <option key={c.name}>{c.name}</option>
                ))}
              </select>
            </div>
          )}
          <div class="field">
            <label for="decide-id">Name the rows by</label>
            <select id="decide-id" value={id} onChange={(event) => setId(event.currentTarget.value)}>
              <option value="">row number, and the id where there is one</option>
              {upload.columns.map((c) => (
                <option key={c.name}>{c.name}</option>
              ))}
            </select>
          </div>
          {result.threshold && result.best && (
            <label class="switch">
              <input type="checkbox" checked={calibrated} onChange={() => setCalibrated(!calibrated)} />
              <span>Another model, whose probabilities are calibrated</span>
            </label>
          )}
          <p>
            <button
              type="button"
              class="primary"
              disabled={busy}
              onClick={() =>
                decide({
                  upload: upload.upload,
                  calibrated,
                  ...(id ? { id } : {}),
                  ...(classes.length === 2 && !named ? { columns: [column] } : {}),
                  ...(groups.length > 1 ? { group } : {}),
                })
              }
            >
              Get decisions <small>CSV</small>
            </button>
          </p>
        </>
      )}
      <p role="status">{said}</p>
    </div>
  );
}

function Lines({ text }: { text: string }): JSX.Element {
  return (
    <>
      <pre tabIndex={0}>{text}</pre>
      <CopyButton text={text} label="Copy" />
    </>
  );
}

/** The preference as others know it; each line of code is copied with one click. */
function EquivalentNumbers({ equivalents }: { equivalents: Equivalents }): JSX.Element {
  return (
    <div>
      <p>{equivalents.note}</p>
      <dl class="effects">
        {equivalents.lines.map((one) => (
          <div key={one.key}>
            <dt>{capital(one.name)}</dt>
            <dd>
              {one.text}
              {one.code.map((code) => (
                <div key={code.tool}>
                  <small>{code.tool}</small>
                  <Lines text={code.line} />
                </div>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** A link that shows the result, to read only; whoever has it can answer the same questions. */
function Share(): JSX.Element {
  const [link, setLink] = useState('');
  const [problem, setProblem] = useState('');
  const make = (): void => {
    post<{ path: string }>('/api/share', {})
      .then((told) => setLink(new URL(told.path, location.href).href))
      .catch((error: Error) => setProblem(error.message));
  };
  return (
    <div>
      <p>
        Whoever has the link sees this result without your name, and can answer the same questions to compare. It works
        until you delete the session.
      </p>
      {link ? <Lines text={link} /> : (
        <button type="button" onClick={make}>
          Make a link
        </button>
      )}
      <p role="alert">{problem}</p>
    </div>
  );
}

export function Next({ result, own }: { result: Result; own: boolean }): JSX.Element {
  return (
    <section id="next" tabIndex={-1}>
      <h2>Next</h2>
      <ul class="next">
        <li>
          <details>
            <summary>
              <b>Use it with my model</b>
              <span>Upload probabilities, get decisions</span>
            </summary>
            <Decide result={result} own={own} />
          </details>
        </li>
        <li>
          <details>
            <summary>
              <b>Get the report</b>
              <span>To read, to print (also as PDF) or to attach</span>
            </summary>
            <div class="downloads">
              <a class="button" href={ofStudy('/api/result/report')} download>
                Report <small>HTML</small>
              </a>
              <a class="button" href={ofStudy('/api/result/metric')} download>
                Metric file <small>for programs</small>
              </a>
              <a class="button" href={ofStudy('/api/result/session')} download>
                Session file <small>all answers</small>
              </a>
            </div>
          </details>
        </li>
        {own && (
          <li>
            <details>
              <summary>
                <b>Share, or invite a colleague</b>
                <span>A link that shows this page, without your name</span>
              </summary>
              <Share />
            </details>
          </li>
        )}
        {result.equivalents && (
          <li>
            <details>
              <summary>
                <b>Use it in other programs</b>
                <span>Threshold, class weights, cost matrix, for scikit-learn, xgboost, LightGBM and R</span>
              </summary>
              <EquivalentNumbers equivalents={result.equivalents} />
            </details>
          </li>
        )}
        {result.python && (
          <li>
            <details>
              <summary>
                <b>Use it in programs</b>
                <span>Python and the command line</span>
              </summary>
              <div>
                <Lines text={result.python} />
                {result.command && <Lines text={result.command} />}
              </div>
            </details>
          </li>
        )}
      </ul>
    </section>
  );
}
