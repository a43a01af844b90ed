// A study file as a form, with the pages that participants will see beside it. The JSON stays at hand, and says the same.

import { createContext, type JSX } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { PageBody } from '../app';
import { get, post, type ApiError } from '../lib/api';
import type { Family, Page } from '../lib/types';
import { PHASES, SECTIONS, partOf, withField, type FieldSchema, type Json, type JsonObject } from './schema';

const isObject = (value: Json | undefined): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);
const objects = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

const Families = createContext<Family[]>([]);

interface EditProps {
  schema: FieldSchema;
  id: string;
  value: Json | undefined;
  set: (value: Json | undefined) => void;
}

/** Text that is something else once it can be read as such: numbers and JSON while they are typed. */
function Typed({ id, value, set, long, read, show }: { id: string; value: Json | undefined; set: (value: Json | undefined) => void; long?: boolean; read: (text: string) => Json | undefined; show: (value: Json | undefined) => string }): JSX.Element {
  const [text, setText] = useState(show(value));
  const [wrong, setWrong] = useState(false);
  const last = useRef(JSON.stringify(value));
  // Another study, or a change in the JSON.
  if (JSON.stringify(value) !== last.current) {
    last.current = JSON.stringify(value);
    setText(show(value));
    setWrong(false);
  }
  const input = (typed: string): void => {
    setText(typed);
    try {
      const found = typed.trim() === '' ? undefined : read(typed);
      last.current = JSON.stringify(found);
      setWrong(false);
      set(found);
    } catch {
      setWrong(true);
    }
  };
  const props = { id, value: text, 'aria-invalid': wrong || undefined, spellcheck: false };
  return long ? (
    <textarea {...props} rows={3} onInput={(e) => input(e.currentTarget.value)} />
  ) : (
    <input {...props} type="text" autocomplete="off" onInput={(e) => input(e.currentTarget.value)} />
  );
}

const readNumber = (text: string): number => {
  const found = Number(text);
  if (!Number.isFinite(found)) throw new Error('no number');
  return found;
};
const showText = (value: Json | undefined): string => (value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value));
const readLines = (text: string): string[] => text.split('\n').map((line) => line.trim()).filter((line) => line !== '');
const showLines = (value: Json | undefined): string => (Array.isArray(value) ? value.map(String).join('\n') : showText(value));

function Choices({ schema, id, value, set }: EditProps): JSX.Element {
  const families = useContext(Families);
  const known = schema.choices === 'families' ? families.map((f) => f.name) : (schema.choices ?? []);
  const words = (name: string): string => {
    const family = schema.choices === 'families' ? families.find((f) => f.name === name) : undefined;
    return family ? `${name}: ${family.shape}` : name;
  };
  return (
    <select id={id} value={showText(value)} onChange={(e) => set(e.currentTarget.value || undefined)}>
      <option value="">as usual</option>
      {[...new Set([...known, ...(typeof value === 'string' ? [value] : [])])].map((c) => (
        <option key={c} value={c}>
          {words(c)}
        </option>
      ))}
    </select>
  );
}

function Control({ schema, id, value, set }: EditProps): JSX.Element {
  switch (schema.type) {
    case 'number':
      return <Typed id={id} value={value} set={set} read={readNumber} show={showText} />;
    case 'json':
      return <Typed id={id} value={value} set={set} read={(text) => JSON.parse(text) as Json} show={(v) => (v === undefined ? '' : JSON.stringify(v))} />;
    case 'list':
      return <Typed id={id} value={value} set={set} long read={readLines} show={showLines} />;
    case 'long':
      return <Typed id={id} value={value} set={set} long read={(text) => text} show={showText} />;
    case 'choice':
      return <Choices schema={schema} id={id} value={value} set={set} />;
    default:
      return <Typed id={id} value={value} set={set} read={(text) => text} show={showText} />;
  }
}

function EditField({ schema, id, value, set }: EditProps): JSX.Element {
  if (schema.type === 'boolean')
    return (
      <label class="choice edit-tick">
        <input type="checkbox" id={id} checked={value === true} onChange={(e) => set(e.currentTarget.checked || undefined)} />
        <span>{schema.label}</span>
      </label>
    );
  if (schema.type === 'object')
    return (
      <fieldset class="edit-part">
        <legend>{schema.label}</legend>
        <EditFields fields={schema.fields ?? []} id={id} value={isObject(value) ? value : {}} set={set} />
      </fieldset>
    );
  if (schema.type === 'objects') return <EditObjects schema={schema} id={id} value={value} set={set} />;
  return (
    <div class={schema.wide ? 'field wide-field' : 'field'}>
      <label for={id}>{schema.label}</label>
      <Control schema={schema} id={id} value={value} set={set} />
      {schema.hint && <p class="note">{schema.hint}</p>}
    </div>
  );
}

function EditFields({ fields, id, value, set }: { fields: FieldSchema[]; id: string; value: JsonObject; set: (value: JsonObject) => void }): JSX.Element {
  return (
    <div class="edit-fields">
      {fields.filter((f) => value[f.key] !== undefined || (f.when?.(value) ?? true)).map((schema) => (
        <EditField key={schema.key} schema={schema} id={`${id}-${schema.key}`} value={value[schema.key]} set={(next) => set(withField(value, schema.key, next))} />
      ))}
    </div>
  );
}

const moved = <T,>(items: readonly T[], from: number, to: number): T[] => {
  const rest = items.filter((_, i) => i !== from);
  return [...rest.slice(0, to), items[from] as T, ...rest.slice(to)];
};

function Movers({ what, at, of, move, drop }: { what: string; at: number; of: number; move: (to: number) => void; drop: () => void }): JSX.Element {
  return (
    <span class="movers">
      <button type="button" class="quiet" aria-label={`Move ${what} up`} disabled={at === 0} onClick={() => move(at - 1)}>
        ↑
      </button>
      <button type="button" class="quiet" aria-label={`Move ${what} down`} disabled={at === of - 1} onClick={() => move(at + 1)}>
        ↓
      </button>
      <button type="button" class="quiet danger-text" aria-label={`Remove ${what}`} onClick={drop}>
        ✕
      </button>
    </span>
  );
}

function EditObjects({ schema, id, value, set }: EditProps): JSX.Element {
  const items = objects(value);
  const one = schema.one ?? 'entry';
  return (
    <fieldset class="edit-part">
      <legend>{schema.label}</legend>
      {items.map((item, i) => (
        <div key={i} class="edit-item">
          <Movers what={`${one} ${i + 1}`} at={i} of={items.length} move={(to) => set(moved(items, i, to))} drop={() => set(items.filter((_, j) => j !== i))} />
          <EditFields fields={schema.fields ?? []} id={`${id}-${i}`} value={item} set={(next) => set(items.map((old, j) => (j === i ? next : old)))} />
        </div>
      ))}
      <button type="button" onClick={() => set([...items, schema.empty ?? {}])}>
        Add a {one}
      </button>
    </fieldset>
  );
}

interface PhaseProps {
  file: JsonObject;
  set: (file: JsonObject) => void;
  wrong: number | null;
  message: string;
  look: (phase: number) => void;
}

function EditPhases({ file, set, wrong, message, look }: PhaseProps): JSX.Element {
  const phases = objects(file['phases']);
  const [kind, setKind] = useState(Object.keys(PHASES)[0] ?? '');
  const put = (next: JsonObject[]): void => set({ ...file, phases: next });
  const add = (): void => {
    // Before the end, which comes last.
    const end = kind !== 'done' && phases[phases.length - 1]?.['kind'] === 'done' ? phases.length - 1 : phases.length;
    put([...phases.slice(0, end), { kind, ...PHASES[kind]?.empty }, ...phases.slice(end)]);
  };
  return (
    <section>
      <h2>Pages, in their order</h2>
      {phases.map((phase, i) => {
        const itsKind = String(phase['kind'] ?? '');
        const about = PHASES[itsKind];
        const name = `page ${i + 1}`;
        return (
          <details key={i} class="edit-phase" open={wrong === i || undefined} onFocusCapture={() => look(i)} onToggle={(e) => e.currentTarget.open && look(i)}>
            <summary>
              <b>
                {i + 1}. {about?.title ?? itsKind}
              </b>
              <span class="soft">{typeof phase['title'] === 'string' ? phase['title'] : ''}</span>
            </summary>
            {wrong === i && (
              <p class="problem" role="alert">
                {message}
              </p>
            )}
            <Movers what={name} at={i} of={phases.length} move={(to) => put(moved(phases, i, to))} drop={() => put(phases.filter((_, j) => j !== i))} />
            <EditFields fields={about?.fields ?? []} id={`phase-${i}`} value={phase} set={(next) => put(phases.map((old, j) => (j === i ? next : old)))} />
          </details>
        );
      })}
      <div class="field">
        <label for="new-phase">Another page</label>
        <div class="actions">
          {/* The arrow keys change a list at once: it takes the button to add. */}
          <select id="new-phase" value={kind} onChange={(e) => setKind(e.currentTarget.value)}>
            {Object.entries(PHASES).map(([name, { title }]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
          <button type="button" onClick={add}>
            Add the page
          </button>
        </div>
      </div>
    </section>
  );
}

export interface Preview {
  pages: Page[];
  message: string;
  busy: boolean;
}

const PAUSE_MS = 500;

/** The pages of a study file, asked for when nothing was changed for a moment; while it is wrong, those before and why. */
export function usePreview(text: string): Preview {
  const [preview, setPreview] = useState<Preview>({ pages: [], message: '', busy: false });
  const latest = useRef('');
  useEffect(() => {
    latest.current = text;
    if (text.trim() === '') return;
    let file: unknown;
    try {
      file = JSON.parse(text);
    } catch (error) {
      setPreview((p) => ({ ...p, busy: false, message: `This is no JSON: ${(error as Error).message}` }));
      return;
    }
    setPreview((p) => ({ ...p, busy: true }));
    const timer = setTimeout(() => {
      post<{ pages: Page[] }>('/api/admin/preview', file)
        .then(({ pages }) => latest.current === text && setPreview({ pages, message: '', busy: false }))
        .catch((error: ApiError) => latest.current === text && setPreview((p) => ({ ...p, message: error.message, busy: false })));
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return preview;
}

const ignore = (): void => undefined;

/** A page as participants see it; nothing can be done with it. */
function Shown({ page, title }: { page: Page | undefined; title: string }): JSX.Element {
  if (!page) return <p class="note">This page appears once the study can be made.</p>;
  if (page.kind === 'result') return <p class="note">Here participants see their result.</p>;
  const whole = { ...page, seq: 0, csrf: '', study: { title, id: 'preview' } } as Page;
  return (
    <div class="page-preview" inert>
      <PageBody key={JSON.stringify(page)} page={whole} busy={false} problem={null} send={ignore} undo={ignore} />
    </div>
  );
}

export function PreviewPane({ preview, phases, at, look }: { preview: Preview; phases: JsonObject[]; at: number; look: (phase: number) => void }): JSX.Element {
  const shown = Math.min(at, Math.max(0, phases.length - 1));
  return (
    <aside class="preview-pane" aria-label="Preview">
      <div class="preview-head">
        <b>
          Page {shown + 1} of {phases.length}, as participants see it
        </b>
        <span class="movers">
          <button type="button" class="quiet" aria-label="Page before" disabled={shown === 0} onClick={() => look(shown - 1)}>
            ←
          </button>
          <button type="button" class="quiet" aria-label="Next page" disabled={shown + 1 >= phases.length} onClick={() => look(shown + 1)}>
            →
          </button>
        </span>
      </div>
      <p role="status" class="note" data-valid={!preview.busy && preview.message === '' ? true : undefined}>
        {preview.busy ? 'Checking …' : preview.message === '' ? 'This study can be made.' : 'Not yet: see beside the part that it is about.'}
      </p>
      <Shown page={preview.pages[shown]} title="Preview" />
    </aside>
  );
}

export function EditForm({ file, set, message, look }: { file: JsonObject; set: (file: JsonObject) => void; message: string; look: (phase: number) => void }): JSX.Element {
  const { part, phase } = partOf(message);
  const [families, setFamilies] = useState<Family[]>([]);
  useEffect(() => {
    // Without the list the family of the file is still shown.
    get<{ families: Family[] }>('/api/datasets')
      .then((answer) => setFamilies(answer.families))
      .catch(() => undefined);
  }, []);
  const known = SECTIONS.some((s) => s.key === part || (s.key === '' && s.fields.some((f) => f.key === part)));
  return (
    <Families.Provider value={families}>
      {message !== '' && !known && phase === null && (
        <p class="problem" role="alert">
          {message}
        </p>
      )}
      {SECTIONS.map((section, n) => {
        const value = section.key === '' ? file : file[section.key];
        const wrong = message !== '' && phase === null && (section.key === '' ? section.fields.some((f) => f.key === part) : section.key === part);
        return (
          <details key={n} class="edit-section" open={n === 0 || wrong || undefined}>
            <summary>
              <b>{section.title}</b>
            </summary>
            {wrong && (
              <p class="problem" role="alert">
                {message}
              </p>
            )}
            <EditFields
              fields={section.fields}
              id={section.key || 'study'}
              value={isObject(value) ? value : {}}
              set={(next) => set(section.key === '' ? next : withField(file, section.key, next))}
            />
          </details>
        );
      })}
      <EditPhases file={file} set={set} wrong={phase} message={message} look={look} />
    </Families.Provider>
  );
}
