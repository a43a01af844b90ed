// The first step: what somebody has, and where it is.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { postCsv, type ApiError } from '../lib/api';
import { patiently } from '../lib/patience';
import { whole } from '../lib/text';
import type { Dataset, Upload } from '../lib/types';
import {
  likelyLabel,
  looksLikeProbability,
  withDataset,
  withLabel,
  withSource,
  type Draft,
  type FileDraft,
  type Problem,
  type Source,
} from './draft';
import { Choice, Option, Wrong, type StepProps } from './fields';

const MOST_BYTES = 32 * 1024 * 1024;

/** What a file of this kind must hold; a sentence where it does not. */
function refusal(source: Source, upload: Upload): string {
  if (source === 'candidates') return '';
  if (likelyLabel(upload.columns) === '')
    return 'No column of this file has between 2 and 20 different values, so none can say what was true.';
  if (source === 'probabilities' && !upload.columns.some((_, i) => looksLikeProbability(upload, i)))
    return 'No column of this file holds numbers between 0 and 1. If it has no model’s answers, choose “A file with cases, but no model”.';
  return '';
}

function withFile(draft: Draft, name: string, upload: Upload): Draft {
  const file: FileDraft = { name, upload, label: '', group: '', probability: {}, skip: upload.ids ? [upload.ids] : [] };
  // The classes of a table of classifiers are in its header: the server reads them.
  return draft.source === 'candidates' ? { ...draft, file } : withLabel(draft, file, likelyLabel(upload.columns));
}

const EXAMPLES: Partial<Record<Source, string[]>> = {
  probabilities: ['truth,sure', 'cancer,0.83', 'healthy,0.07'],
  table: ['age;plan;churned', '47;monthly;yes', '61;yearly;no'],
  candidates: ['name,tp,fp,fn,tn', 'old,80,30,20,870', 'new,90,85,10,815'],
};

interface DropProps extends StepProps {
  report: (problem: Problem | null) => void;
  /** For a table of classifiers: what its header says about the classes. */
  inspect: (draft: Draft) => Promise<Draft>;
}

function Drop({ draft, set, problem, report, inspect }: DropProps): JSX.Element {
  const [busy, setBusy] = useState(false);
  const [over, setOver] = useState(false);
  const refuse = (message: string): void => {
    set({ ...draft, file: null });
    report({ step: 'own', field: 'file', message });
  };
  const take = async (chosen: File | undefined): Promise<void> => {
    if (!chosen) return;
    if (chosen.size > MOST_BYTES) return refuse('The file is larger than 32 MB.');
    report(null);
    setBusy(true);
    try {
      const upload = await patiently(() => postCsv<Upload>('/api/upload', chosen));
      const wrong = refusal(draft.source, upload);
      if (wrong) refuse(wrong);
      else set(await inspect(withFile(draft, chosen.name, upload)));
    } catch (error) {
      refuse((error as ApiError).message);
    }
    setBusy(false);
  };
  return (
    <>
      <div
        class={`drop${over ? ' over' : ''}`}
        onDragOver={(e) => {
          e.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(e) => {
          e.preventDefault();
          setOver(false);
          void take(e.dataTransfer?.files[0]);
        }}
      >
        <label for="file">{draft.file ? 'Another file:' : 'Drop a CSV file here, or choose one:'}</label>
        <input
          id="file"
          type="file"
          accept=".csv,.tsv,.txt,text/csv"
          aria-invalid={problem?.field === 'file' || undefined}
          aria-describedby="file-problem"
          disabled={busy}
          onChange={(e) => void take(e.currentTarget.files?.[0])}
        />
      </div>
      <div role="status">
        {busy && <p class="note">Reading the file …</p>}
        {draft.file && !busy && (
          <p class="found">
            <b>{draft.file.name}</b>: {whole(draft.file.upload.rows)} rows, {draft.file.upload.columns.length} columns
            <span class="note">{draft.file.upload.how.replace(/, header.*/, '')}</span>
          </p>
        )}
      </div>
      <Wrong field="file" problem={problem} />
      {!draft.file && !busy && (
        <p class="note">
          For example:{' '}
          {EXAMPLES[draft.source]?.map((line) => (
            <>
              <code>{line}</code>{' '}
            </>
          ))}
        </p>
      )}
    </>
  );
}

const SOURCES: [Source, string, string][] = [
  ['probabilities', 'A file with a model’s answers', 'One row per case: what was true, and how sure the model was.'],
  ['table', 'A file with cases, but no model', 'A simple model is made from it, to have something to compare.'],
  ['candidates', 'A file with several classifiers', 'One row each, with its counts. You are asked about these alone.'],
  ['names', 'No file', 'You name the answers, and say how common each one is.'],
  ['bundled', 'Nothing of my own', 'Public data that come with the program.'],
];

function Bundled({ draft, set, problem, datasets }: StepProps & { datasets: Dataset[] }): JSX.Element {
  const chosen = datasets.find((d) => d.name === draft.dataset);
  return (
    <>
      <Choice
        id="dataset"
        label="Data set"
        value={draft.dataset}
        options={datasets.map((d) => [d.name, d.title] as const)}
        problem={problem}
        set={(name) => {
          const dataset = datasets.find((d) => d.name === name);
          if (dataset) set(withDataset(draft, dataset));
        }}
      />
      {chosen && chosen.groups.length > 0 && (
        <Choice
          id="group"
          label="Compare how groups fare"
          value={draft.group}
          options={[['', 'no groups'], ...chosen.groups.map((g) => [g, `by ${g}`] as const)]}
          problem={problem}
          set={(group) => set(withDataset(draft, chosen, group))}
        />
      )}
      {chosen?.source && <p class="note">{chosen.source}</p>}
    </>
  );
}

export function OwnStep(props: DropProps & { datasets: Dataset[] }): JSX.Element {
  const { draft, set, report, datasets } = props;
  return (
    <div role="radiogroup" aria-label="What do you have?">
      {SOURCES.map(([source, title, text]) => (
        <Option
          key={source}
          name="source"
          checked={draft.source === source}
          choose={() => {
            report(null);
            set(withSource(draft, source, datasets));
          }}
          title={title}
          text={text}
        >
          {source === 'bundled' ? <Bundled {...props} /> : source === 'names' ? null : <Drop {...props} />}
        </Option>
      ))}
    </div>
  );
}
