// The second step: what the columns of a file hold, shown on its first rows.

import type { JSX } from 'preact';
import { percent } from '../lib/text';
import type { Cell, Upload } from '../lib/types';
import { canBeLabel, looksLikeProbability, withLabel, type FileDraft } from './draft';
import { Choice, type StepProps } from './fields';

const SHOWN_COLUMNS = 12;

/** Of numbers 15 digits arrive; what is longer is seen to be rounded. */
const numberText = (n: number): string => (Math.abs(n) < 1e15 ? String(n) : n.toPrecision(6));
const cellText = (cell: Cell | undefined): string =>
  cell === null || cell === undefined ? '' : typeof cell === 'number' ? numberText(cell) : cell.slice(0, 60);

/** What each column is, over the first rows. */
function Preview({ upload, role }: { upload: Upload; role: (column: string) => string }): JSX.Element {
  const idle = (i: number): number => Number(role(upload.columns[i]?.name ?? '') === '');
  const order = upload.columns.map((_, i) => i).sort((a, b) => idle(a) - idle(b) || a - b);
  const shown = order.slice(0, SHOWN_COLUMNS);
  return (
    <div class="table-scroll preview" tabIndex={0} role="region" aria-label="The first rows of the file">
      <table>
        <caption class="visually-hidden">The first rows of the file, with what each column is taken for</caption>
        <thead>
          <tr>
            {shown.map((i) => {
              const name = upload.columns[i]?.name ?? '';
              const what = role(name);
              return (
                <th key={i} scope="col" class={what ? 'has-role' : undefined}>
                  {name}
                  <small>{what || ' '}</small>
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {upload.head.map((row, r) => (
            <tr key={r}>
              {shown.map((i) => (
                <td key={i} class={role(upload.columns[i]?.name ?? '') ? 'has-role' : undefined}>
                  {cellText(row[i]) || <span class="missing">missing</span>}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {order.length > shown.length && <p class="note">and {order.length - shown.length} more columns</p>}
    </div>
  );
}

function Probabilities({ draft, set, problem, file }: StepProps & { file: FileDraft }): JSX.Element {
  const possible = file.upload.columns.filter((c, i) => c.name !== file.label && looksLikeProbability(file.upload, i));
  const two = draft.original.length === 2;
  return (
    <div class="grid">
      {draft.original.map((name, i) => {
        const other = draft.original[1 - i];
        const none = two && other !== undefined && file.probability[other] ? `1 minus that of ${other}` : 'choose a column';
        return (
          <Choice
            key={name}
            id={`probability-${i}`}
            label={`Probability of ${name}`}
            value={file.probability[name] ?? ''}
            options={[['', none], ...possible.map((c) => [c.name, c.name] as const)]}
            problem={problem}
            set={(column) => set({ ...draft, file: { ...file, probability: { ...file.probability, [name]: column } } })}
          />
        );
      })}
    </div>
  );
}

/** Columns that the model must not see: ids, or what is known only afterwards. */
function LeftOut({ draft, set, file }: StepProps & { file: FileDraft }): JSX.Element {
  const others = file.upload.columns.filter((c) => c.name !== file.label && c.name !== file.group);
  const skip = file.skip ?? [];
  const turn = (name: string): void =>
    set({ ...draft, file: { ...file, skip: skip.includes(name) ? skip.filter((s) => s !== name) : [...skip, name] } });
  return (
    <details class="left-out">
      <summary>Leave columns out{skip.length > 0 ? ` (${skip.length})` : ''}</summary>
      <p class="note">Such as ids, or what is known only afterwards.</p>
      {others.map((c) => (
        <label key={c.name} class="switch">
          <input type="checkbox" checked={skip.includes(c.name)} onChange={() => turn(c.name)} />
          <span>{c.name}</span>
        </label>
      ))}
    </details>
  );
}

export function ColumnsStep(props: StepProps): JSX.Element | null {
  const { draft, set, problem } = props;
  const file = draft.file;
  if (file === null) return null;
  const model = draft.source === 'probabilities';
  const labels = file.upload.columns.filter((c) => canBeLabel(c) || c.name === file.label);
  const role = (column: string): string => {
    if (column === file.label) return 'what was true';
    if (column === file.group) return 'group';
    const classes = draft.original.filter((c) => model && file.probability[c] === column);
    if (classes.length > 0) return `probability of ${classes.join(', ')}`;
    if (model || !file.skip?.includes(column)) return '';
    return column === file.upload.ids ? 'identifies rows' : 'left out';
  };
  const ids = file.upload.columns.find((c) => role(c.name) === 'identifies rows')?.name;
  const total = draft.counts.reduce((a, b) => a + b, 0);
  return (
    <>
      <Preview upload={file.upload} role={role} />
      {!model && (
        <p class="note">
          {ids !== undefined && `${ids} identifies rows and is not used to predict. `}All other columns are what the model predicts from.
        </p>
      )}
      {file.upload.warnings.map((text) => (
        <p key={text} class="caution">
          {text}
        </p>
      ))}
      <div class="grid">
        <Choice
          id="label-column"
          label="What was true"
          value={file.label}
          options={labels.map((c) => [c.name, c.name] as const)}
          problem={problem}
          set={(label) => set(withLabel(draft, file, label))}
        />
        <Choice
          id="group-column"
          label="Groups, to compare how they fare"
          value={file.group}
          options={[['', 'none'], ...labels.filter((c) => c.name !== file.label).map((c) => [c.name, c.name] as const)]}
          problem={problem}
          set={(group) => set({ ...draft, family: '', file: { ...file, group } })}
        />
      </div>
      <p class="note">
        {draft.original.map((name, i) => `${name}: ${percent(draft.counts[i] ?? 0, total)}`).join(', ')}
      </p>
      {model ? <Probabilities {...props} file={file} /> : <LeftOut {...props} file={file} />}
    </>
  );
}
