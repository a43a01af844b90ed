import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError, postCsv } from '../lib/api';
import { parseCsv } from '../lib/csv';
import type { Column, Upload } from '../lib/types';
import { canBeLabel, sortedClasses, type Draft, type FileDraft } from './draft';
import type { SectionProps } from './start';

const MOST_BYTES = 32 * 1024 * 1024;

/** A column called label, class, y, ..., else the last one that has few values. */
function likelyLabel(columns: Column[]): string {
  const possible = columns.filter(canBeLabel);
  const named = possible.find((c) => /^(label|class|target|y|truth|true|outcome)$/i.test(c.name));
  return (named ?? possible[possible.length - 1])?.name ?? '';
}

const isProbability = (column: Column): boolean =>
  column.kind === 'number' && column.values.every((v) => Number(v) >= 0 && Number(v) <= 1);

function withLabel(draft: Draft, file: FileDraft, label: string): Draft {
  const classes = sortedClasses(file.columns.find((c) => c.name === label)?.values ?? []);
  return {
    ...draft,
    file: { ...file, label, group: file.group === label ? '' : file.group },
    classes,
    original: classes,
    positive: 1,
    missed: '',
    falseAlarm: '',
    family: classes.length === 2 ? 'linear' : 'diagonal-linear',
  };
}

function Probabilities({ draft, set, file }: SectionProps & { file: FileDraft }): JSX.Element {
  const possible = file.columns.filter((c) => c.name !== file.label && isProbability(c));
  const turn = (name: string): void => {
    const chosen = file.probabilities.includes(name)
      ? file.probabilities.filter((p) => p !== name)
      : [...file.probabilities, name];
    // In the order of the file, whatever was ticked first.
    const probabilities = file.columns.map((c) => c.name).filter((c) => chosen.includes(c));
    set({ ...draft, file: { ...file, probabilities } });
  };
  return (
    <fieldset class="field choices inline" id="probabilities" tabIndex={-1}>
      <legend>
        Columns with probabilities: one per class under its name, or one for the class to be found
      </legend>
      {possible.length === 0 && <p class="note">No column holds numbers between 0 and 1 only.</p>}
      {possible.map((c) => (
        <label key={c.name} class="choice">
          <input type="checkbox" checked={file.probabilities.includes(c.name)} onChange={() => turn(c.name)} />
          <span>{c.name}</span>
        </label>
      ))}
    </fieldset>
  );
}

function Columns({ draft, set, file }: SectionProps & { file: FileDraft }): JSX.Element {
  const labels = file.columns.filter(canBeLabel);
  const groups = labels.filter((c) => c.name !== file.label);
  return (
    <>
      <fieldset class="field choices inline">
        <legend>What is in it?</legend>
        {(['table', 'probabilities'] as const).map((holds) => (
          <label key={holds} class="choice">
            <input
              type="radio"
              name="holds"
              checked={file.holds === holds}
              onChange={() => set({ ...draft, file: { ...file, holds } })}
            />
            <span>{holds === 'table' ? 'Features: fit a simple model here' : 'Probabilities of my own model'}</span>
          </label>
        ))}
      </fieldset>
      <div class="grid">
        <div class="field">
          <label for="label-column">Column with the true class</label>
          <select
            id="label-column"
            value={file.label}
            onChange={(e) => set(withLabel(draft, file, e.currentTarget.value))}
          >
            {labels.map((c) => (
              <option key={c.name}>{c.name}</option>
            ))}
          </select>
        </div>
        <div class="field">
          <label for="group-column">Column with groups, to compare how they fare</label>
          <select
            id="group-column"
            value={file.group}
            onChange={(e) =>
              set({
                ...draft,
                file: { ...file, group: e.currentTarget.value },
                family: e.currentTarget.value
                  ? 'fair-linear'
                  : draft.classes.length === 2
                    ? 'linear'
                    : 'diagonal-linear',
              })
            }
          >
            <option value="">none</option>
            {groups.map((c) => (
              <option key={c.name}>{c.name}</option>
            ))}
          </select>
        </div>
      </div>
      {file.holds === 'probabilities' && <Probabilities draft={draft} set={set} file={file} />}
    </>
  );
}

export function FileSource({ draft, set }: SectionProps): JSX.Element {
  const [state, setState] = useState<{ busy: boolean; problem: string }>({ busy: false, problem: '' });
  const take = async (chosen: File | undefined): Promise<void> => {
    if (!chosen) return;
    if (chosen.size > MOST_BYTES) {
      setState({ busy: false, problem: 'The file is larger than 32 MB.' });
      return;
    }
    setState({ busy: true, problem: '' });
    try {
      const text = await chosen.text();
      const answer = await postCsv<Upload>('/api/upload', text);
      const file: FileDraft = {
        name: chosen.name,
        rows: parseCsv(text),
        upload: answer.upload,
        columns: answer.columns,
        holds: 'table',
        label: '',
        group: '',
        probabilities: [],
      };
      const label = likelyLabel(answer.columns);
      if (label === '')
        throw new ApiError(
          400,
          'label',
          'No column of this file has between 2 and 20 different values, so none can be the true class.',
        );
      setState({ busy: false, problem: '' });
      set(withLabel(draft, file, label));
    } catch (error) {
      setState({ busy: false, problem: (error as ApiError).message });
    }
  };
  return (
    <>
      <div class="field">
        <label for="file">CSV file, with a header, at most 32 MB</label>
        <input
          id="file"
          type="file"
          accept=".csv,text/csv"
          disabled={state.busy}
          onChange={(e) => void take(e.currentTarget.files?.[0])}
        />
        <div role="status">
          {state.busy && <p class="note">Sending …</p>}
          {draft.file && !state.busy && (
            <p class="note">
              {draft.file.name}: {draft.file.rows.length - 1} rows, {draft.file.columns.length} columns
            </p>
          )}
        </div>
        <div role="alert">{state.problem && <p class="problem">{state.problem}</p>}</div>
      </div>
      {draft.file && <Columns draft={draft} set={set} file={draft.file} />}
    </>
  );
}
