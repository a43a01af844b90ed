// The first page: what is to be predicted, and what its mistakes are called.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { System } from '../charts/pair';
import { ApiError, get, post, postCsv, rememberCsrf } from '../lib/api';
import { patiently } from '../lib/patience';
import type { Dataset, Page, Upload, View } from '../lib/types';
import { Brand } from '../shell';
import {
  emptyDraft,
  familiesFor,
  missing,
  startRequest,
  withDataset,
  withSource,
  type Draft,
  type Source,
} from './draft';
import { FileSource } from './file';
import { NamesSource } from './names';

const EXAMPLE: View = {
  people: 100,
  classes: [{ name: 'healthy' }, { name: 'cancer' }],
  counts: [
    [56, 9],
    [4, 31],
  ],
};

const SOURCES: [Source, string, string][] = [
  ['bundled', 'Try an example', 'Public data that come with the program'],
  ['file', 'Use my own file', 'A CSV with true classes, or a model’s probabilities'],
  ['names', 'I have no data', 'Class names, and how common each one is'],
];

export interface SectionProps {
  draft: Draft;
  set: (draft: Draft) => void;
}

function Step({
  number,
  title,
  children,
}: {
  number: number;
  title: string;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <section class="step">
      <h2>
        <span class="step-number" aria-hidden="true">
          {number}
        </span>
        {title}
      </h2>
      {children}
    </section>
  );
}

function SourceChoice({ draft, set, datasets }: SectionProps & { datasets: Dataset[] }): JSX.Element {
  return (
    <div class="sources" role="radiogroup" aria-label="Where the systems come from">
      {SOURCES.map(([source, title, text]) => (
        <label key={source} class="source">
          <input
            type="radio"
            name="source"
            checked={draft.source === source}
            onChange={() => set(withSource(draft, source, datasets))}
          />
          <span>
            <b>{title}</b>
            <small>{text}</small>
          </span>
        </label>
      ))}
    </div>
  );
}

function Bundled({ draft, set, datasets }: SectionProps & { datasets: Dataset[] }): JSX.Element {
  const chosen = datasets.find((d) => d.name === draft.dataset);
  return (
    <div class="field">
      <label for="dataset">Data set</label>
      <select
        id="dataset"
        value={draft.dataset}
        onChange={(e) => {
          const dataset = datasets.find((d) => d.name === e.currentTarget.value);
          if (dataset) set(withDataset(draft, dataset));
        }}
      >
        {datasets.length === 0 && <option value="">loading …</option>}
        {datasets.map((d) => (
          <option key={d.name} value={d.name}>
            {d.title} ({d.rows} rows)
          </option>
        ))}
      </select>
      {chosen?.source && <p class="note">{chosen.source}</p>}
    </div>
  );
}

export function Field({
  id,
  label,
  value,
  set,
  hint,
  placeholder,
}: {
  id: string;
  label: string;
  value: string;
  set: (text: string) => void;
  hint?: string;
  placeholder?: string;
}): JSX.Element {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        maxLength={80}
        autocomplete="off"
        value={value}
        placeholder={placeholder}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onInput={(e) => set(e.currentTarget.value)}
      />
      {hint && (
        <p class="note" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

function ClassNames({ draft, set }: SectionProps): JSX.Element {
  const rename = (i: number, name: string): void =>
    set({ ...draft, classes: draft.classes.map((c, j) => (j === i ? name : c)) });
  return (
    <div class="grid">
      {draft.classes.map((name, i) => (
        <Field
          key={i}
          id={`class-${i}`}
          label={`Name of class ${i + 1}`}
          value={name}
          set={(text) => rename(i, text)}
        />
      ))}
    </div>
  );
}

function BinaryWords({ draft, set }: SectionProps): JSX.Element {
  const name = (i: number): string => draft.classes[i]?.trim() || `class ${i + 1}`;
  const found = name(draft.positive);
  const other = name(1 - draft.positive);
  return (
    <>
      <fieldset class="field choices inline">
        <legend>Which one is to be found?</legend>
        {[0, 1].map((i) => (
          <label key={i} class="choice">
            <input
              type="radio"
              name="positive"
              checked={draft.positive === i}
              onChange={() => set({ ...draft, positive: i })}
            />
            <span>{name(i)}</span>
          </label>
        ))}
      </fieldset>
      <div class="grid">
        <Field
          id="missed"
          label="What do you call a missed one?"
          value={draft.missed}
          set={(missed) => set({ ...draft, missed })}
          placeholder={`missed ${found} case`}
          hint={`Truly ${found}, predicted ${other}. In the singular.`}
        />
        <Field
          id="false-alarm"
          label="What do you call a false alarm?"
          value={draft.falseAlarm}
          set={(falseAlarm) => set({ ...draft, falseAlarm })}
          placeholder="false alarm"
          hint={`Truly ${other}, predicted ${found}. In the singular.`}
        />
      </div>
    </>
  );
}

function Details({ draft, set }: SectionProps): JSX.Element {
  const families = familiesFor(draft);
  const family = families.some(([name]) => name === draft.family) ? draft.family : (families[0]?.[0] ?? 'linear');
  return (
    <>
      <div class="grid">
        <Field
          id="task"
          label="What is the system for?"
          value={draft.task}
          set={(task) => set({ ...draft, task })}
          placeholder="finding cancer"
        />
        <Field
          id="people"
          label="Whom is it about, in the plural?"
          value={draft.people}
          set={(people) => set({ ...draft, people })}
        />
      </div>
      <div class="grid">
        <div class="field">
          <label for="family">What do you want to know?</label>
          <select id="family" value={family} onChange={(e) => set({ ...draft, family: e.currentTarget.value })}>
            {families.map(([name, text]) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </select>
        </div>
        <div class="field">
          <label for="questions">At most how many questions?</label>
          <select
            id="questions"
            value={draft.questions}
            onChange={(e) => set({ ...draft, questions: Number(e.currentTarget.value) })}
          >
            {[10, 20, 40, 80].map((n) => (
              <option key={n} value={n}>
                {n}
              </option>
            ))}
          </select>
        </div>
      </div>
    </>
  );
}

function Intro(): JSX.Element {
  return (
    <div class="intro">
      <div>
        <h1 tabIndex={-1} data-focus>
          Which mistakes matter more to you?
        </h1>
        <p class="lead">
          A system that predicts makes mistakes of several kinds, and it can be tuned to trade one kind for another. You
          compare two systems at a time; after about ten answers you know what your comparisons amount to: how many
          false alarms one missed case is worth to you, how sure that is, and where to set the threshold.
        </p>
        <p class="note">Nothing leaves this server. Every answer is saved at once, and you can take answers back.</p>
      </div>
      <div class="intro-picture">
        <System
          name="System A"
          view={EXAMPLE}
          look={{ picture: 'flow', rates: false, mistakesOnly: false }}
          words={{ mistakes: { missed: 'missed cancer', false_alarm: 'false alarm' } }}
          scale={100}
        />
      </div>
    </div>
  );
}

function UnderWay({ page, leave }: { page: Page; leave: () => void }): JSX.Element {
  return (
    <div class="notice">
      <p>
        You have {page.study?.id ? `“${page.study.title}”` : 'a session'} under way
        {page.kind === 'result' ? ', and it has a result' : ''}.
      </p>
      <div class="actions">
        <a class="button primary" href={page.study?.id ? `/s/${page.study.id}` : '/session'}>
          {page.kind === 'result' ? 'See the result' : 'Go on'}
        </a>
        <button type="button" class="quiet" onClick={leave}>
          Leave it and start anew
        </button>
      </div>
    </div>
  );
}

export function Start(): JSX.Element {
  const [draft, setDraft] = useState<Draft>(emptyDraft);
  const [datasets, setDatasets] = useState<Dataset[]>([]);
  const [underWay, setUnderWay] = useState<Page | null>(null);
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    document.title = 'melicit: which mistakes matter more to you?';
    get<{ datasets: Dataset[] }>('/api/datasets')
      .then(({ datasets: found }) => {
        setDatasets(found);
        // Who was faster than this answer and chose another source keeps what they chose and typed.
        const first = found[0];
        if (first) setDraft((d) => (d.source === 'bundled' && d.dataset === '' ? withDataset(d, first) : d));
      })
      .catch((error: ApiError) => setProblem(error.message));
    get<{ page: Page }>('/api/page')
      .then(({ page }) => {
        rememberCsrf(page.csrf);
        if (page.kind !== 'bye') setUnderWay(page);
      })
      .catch(() => undefined);
  }, []);

  const begin = async (event: Event): Promise<void> => {
    event.preventDefault();
    const gap = missing(draft);
    if (gap) {
      setProblem(gap.message);
      document.getElementById(gap.field)?.focus();
      return;
    }
    setBusy(true);
    setProblem('');
    try {
      const families = familiesFor(draft);
      const family = families.some(([name]) => name === draft.family) ? draft.family : (families[0]?.[0] ?? 'linear');
      const upload = async (csv: string): Promise<string> =>
        (await patiently(() => postCsv<Upload>('/api/upload', csv))).upload;
      const request = await startRequest({ ...draft, family }, upload);
      await patiently(() => post('/api/start', request));
      location.assign('/session');
    } catch (error) {
      setBusy(false);
      setProblem((error as ApiError).message);
    }
  };
  const leave = (): void => {
    post('/api/leave', {})
      .then(() => setUnderWay(null))
      .catch((error: ApiError) => setProblem(error.message));
  };
  const props = { draft, set: setDraft };
  return (
    <>
      <header class="top">
        <Brand />
        <nav>
          <a href="/admin">For researchers</a>
        </nav>
      </header>
      <main id="main" class="wide start">
        {underWay && <UnderWay page={underWay} leave={leave} />}
        <Intro />
        <form onSubmit={(event) => void begin(event)} noValidate data-listed={datasets.length > 0 || undefined}>
          <Step number={1} title="What do the systems work on?">
            <SourceChoice {...props} datasets={datasets} />
            {draft.source === 'bundled' && <Bundled {...props} datasets={datasets} />}
            {draft.source === 'file' && <FileSource {...props} />}
            {draft.source === 'names' && <NamesSource {...props} />}
          </Step>
          {(draft.source !== 'file' || draft.file) && (
            <Step number={2} title="What are things called?">
              {draft.source !== 'names' && <ClassNames {...props} />}
              {draft.classes.length === 2 && <BinaryWords {...props} />}
              <Details {...props} />
            </Step>
          )}
          <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
          <div class="actions">
            <button type="submit" class="primary large" disabled={busy}>
              {busy ? 'Preparing the questions …' : 'Start answering'}
            </button>
          </div>
        </form>
      </main>
    </>
  );
}
