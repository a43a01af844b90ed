// What to do with a result: decide with a model, take it along, show it to others.

import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ofStudy, post, postCsv } from '../lib/api';
import { t } from '../lib/say';
import { capital, chanceText, list, short, whole } from '../lib/text';
import type { Equivalents, Result, Upload } from '../lib/types';
import { CopyButton } from './end';

type Model = 'tested' | 'other';

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
  // The setting of an example says nothing about another file.
  const foreign = result.example === true;
  const [model, setModel] = useState<Model | null>(null);
  const fits = model === 'other' || (model === 'tested' && !foreign);
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
      return t`${file.name}: ${whole(told.rows)} rows`;
    });
  const decide = (body: Record<string, unknown>): void =>
    void run(async () => {
      const told = await post<Decisions>(ofStudy('/api/decisions'), body);
      save('decisions.csv', told.csv);
      return t`Decided about ${whole(told.rows)} rows: ${list(told.decided.map((d) => `${whole(d.rows)} ${d.name}`))}. The file is decisions.csv.`;
    });
  if (!result.best && !result.threshold)
    return <p>{t`These questions were about given classifiers: no rule on probabilities follows from them. The metric file ranks any others.`}</p>;
  const ready = upload && (
    <>
      {classes.length === 2 && !named && (
        <Select id="decide-column" label={t`Column with the probability of ${classes[1] ?? ''}`} value={column} set={setColumn} options={numbers.map((name) => [name, name])} />
      )}
      {groups.length > 1 && (
        <Select
          id="decide-group"
          label={t`Column with the groups (${list(groups)})`}
          value={group}
          set={setGroup}
          options={upload.columns.map((c) => [c.name, c.name])}
        />
      )}
      <Select
        id="decide-id"
        label={t`Name rows by`}
        value={id}
        set={setId}
        options={[['', t`row number, and the id where there is one`], ...upload.columns.map((c): [string, string] => [c.name, c.name])]}
      />
      <p>
        <button
          type="button"
          class="primary"
          disabled={busy}
          onClick={() =>
            decide({
              upload: upload.upload,
              calibrated: model === 'other',
              ...(id ? { id } : {}),
              ...(classes.length === 2 && !named ? { columns: [column] } : {}),
              ...(groups.length > 1 ? { group } : {}),
            })
          }
        >
          {t`Get decisions`} <small>CSV</small>
        </button>
      </p>
    </>
  );
  const choice = (value: Model, name: string, what: string): JSX.Element => (
    <label class="choice">
      <input type="radio" name="model" checked={model === value} onChange={() => setModel(value)} />
      <span>
        <b>{name}</b>
        <small>{what}</small>
      </span>
    </label>
  );
  const r = result.cost_ratio;
  return (
    <div>
      <fieldset class="field choices">
        <legend>{t`Which model is it?`}</legend>
        {result.best && choice('tested', t`The one these questions were about`, foreign ? t`An example: decisions for its rows` : t`Its setting, as it was measured`)}
        {result.threshold && choice('other', t`Another one, whose percentages are honest`, t`Of 100 cases to which it gives 20%, about 20 turn out so`)}
      </fieldset>
      {model === 'other' && r && result.threshold?.text && (
        <p>{t`Say “${classes[1] ?? ''}” from ${chanceText(result.threshold)} on: 1 / (1 + ${short(r.value)}), since one ${r.missed} is as bad as ${short(r.value)} ${r.false_alarms}.`}</p>
      )}
      {model === 'tested' && own && rows > 0 && (
        <p>
          <button type="button" class={foreign ? 'primary' : undefined} disabled={busy} onClick={() => decide({})}>
            {foreign ? t`Decisions for the example` : t`Decisions for your file`} <small>CSV</small>
          </button>
        </p>
      )}
      {fits && (
        <div class="field">
          <label for="decide-file">{t`Probabilities of your model, a CSV file with a row for each case`}</label>
          <input id="decide-file" type="file" accept=".csv,text/csv,.txt" onChange={(event) => take(event.currentTarget.files?.[0])} />
        </div>
      )}
      {fits && ready}
      <p role="status">{said}</p>
    </div>
  );
}

interface SelectProps {
  id: string;
  label: string;
  value: string;
  set: (value: string) => void;
  options: readonly (readonly [string, string])[];
}

function Select({ id, label, value, set, options }: SelectProps): JSX.Element {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => set(event.currentTarget.value)}>
        {options.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

function Lines({ text }: { text: string }): JSX.Element {
  return (
    <>
      <pre tabIndex={0}>{text}</pre>
      <CopyButton text={text} label={t`Copy`} />
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

/** A link by which others answer the same questions and then see both results. */
function Share(): JSX.Element {
  const [link, setLink] = useState('');
  const [said, setSaid] = useState('');
  const send = (revoke: boolean): void => {
    post<{ path?: string }>('/api/share', revoke ? { revoke } : {})
      .then(({ path }) => {
        setLink(path ? new URL(path, location.href).href : '');
        setSaid(path ? '' : t`The link opens nothing any more.`);
      })
      .catch((error: Error) => setSaid(error.message));
  };
  return (
    <div>
      <p>{t`Those who have the link answer the same questions first, then compare: they see this result without your name. It works until you revoke it or delete the session.`}</p>
      {link ? (
        <>
          <Lines text={link} />
          <button type="button" class="link" onClick={() => send(true)}>
            {t`Revoke the link`}
          </button>
        </>
      ) : (
        <button type="button" onClick={() => send(false)}>
          {t`Make a link`}
        </button>
      )}
      <p role="status">{said}</p>
    </div>
  );
}

interface RowProps {
  title: string;
  text: string;
  children: ComponentChildren;
}

const Row = ({ title, text, children }: RowProps): JSX.Element => (
  <li>
    <details>
      <summary>
        <b>{title}</b>
        <span>{text}</span>
      </summary>
      {children}
    </details>
  </li>
);

/** One thing to do, then what else there is. */
export function Next({ result, own }: { result: Result; own: boolean }): JSX.Element {
  const [open, setOpen] = useState(false);
  const file = (what: string, name: string, kind: string): JSX.Element => (
    <a class="button" href={ofStudy(`/api/result/${what}`)} download>
      {name} <small>{kind}</small>
    </a>
  );
  return (
    <section id="next" tabIndex={-1}>
      <h2>{t`Next`}</h2>
      {open ? (
        <div class="card">
          <h3>{t`Use it with my model`}</h3>
          <Decide result={result} own={own} />
        </div>
      ) : (
        <p>
          <button type="button" class={own ? 'primary' : undefined} onClick={() => setOpen(true)}>
            {t`Use it with my model`}
          </button>
        </p>
      )}
      <ul class="next">
        <Row title={t`Get the report`} text={t`To read, to print (also as PDF) or to attach`}>
          <div class="downloads">
            {file('report', t`Report`, 'HTML')}
            {file('metric', t`Metric file`, t`for programs`)}
            {file('session', t`Session file`, t`all answers`)}
          </div>
        </Row>
        {own && (
          <Row title={t`Invite a colleague`} text={t`They answer first, then you compare`}>
            <Share />
          </Row>
        )}
        {result.equivalents && (
          <Row title={t`Use it in other programs`} text={t`Threshold, class weights, cost matrix, for scikit-learn, xgboost, LightGBM and R`}>
            <EquivalentNumbers equivalents={result.equivalents} />
          </Row>
        )}
        {result.python && (
          <Row title={t`Use it with melicit`} text={t`Python and the command line`}>
            <div>
              <Lines text={result.python} />
              {result.command && <Lines text={result.command} />}
            </div>
          </Row>
        )}
      </ul>
    </section>
  );
}
