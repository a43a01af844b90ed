// From one's own data to the first question, a step at a time. The browser's Back goes a step back.

import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { post, postCsv, type ApiError } from '../lib/api';
import { STUDY_DRAFT } from '../lib/draft';
import { patiently } from '../lib/patience';
import type { Check, Dataset, Upload } from '../lib/types';
import { AskStep, type Checked } from './ask';
import { ColumnsStep } from './columns';
import {
  emptyDraft,
  missing,
  placeOf,
  startRequest,
  stepsOf,
  studyOf,
  type Draft,
  type Problem,
  type Step,
  type Uploads,
} from './draft';
import { OwnStep } from './file';
import { NamesStep } from './names';
import { WordsStep } from './words';

const send = <T,>(path: string, body: unknown): Promise<T> => patiently(() => post<T>(path, body));

/** What was sent once is not sent again. */
function makeUploads(): Uploads {
  const known = new Map<string, Promise<string>>();
  const once = (key: string, upload: () => Promise<Upload>): Promise<string> => {
    const found = known.get(key) ?? patiently(upload).then((told) => told.upload);
    known.set(key, found);
    found.catch(() => known.delete(key));
    return found;
  };
  return {
    table: (csv) => once(csv, () => postCsv<Upload>('/api/upload', csv)),
    columns: (upload, chosen) => {
      const columns = chosen.map(([name, from]) => ({ name, from }));
      return once(JSON.stringify([upload, columns]), () => post<Upload>('/api/columns', { upload, columns }));
    },
  };
}

const titleOf = (step: Step, draft: Draft): string =>
  ({
    own: 'What do you have?',
    columns: draft.source === 'names' ? 'Which answers are there?' : 'What do the columns hold?',
    words: draft.classes.length === 2 ? 'What is to be found?' : 'What are the classes called?',
    ask: 'Who is asked?',
  })[step];

/** The classes of a table of classifiers, from its header. */
async function inspectPool(draft: Draft, uploads: Uploads): Promise<Draft> {
  if (draft.source !== 'candidates') return draft;
  // Classes that nobody has named yet are as the server calls them.
  const bare = await startRequest({ ...draft, original: [], classes: [] }, uploads);
  const { classes } = await send<Check>('/api/check', bare);
  const names = (classes ?? []).map((c) => c.name);
  const unnamed = names.join() === '0,1';
  return { ...draft, classes: unnamed ? ['negative', 'positive'] : names, original: names, positive: 1 };
}

/** How good the model is: asked for when the last step appears, and again when what it is about changes. */
function useCheck(step: Step, draft: Draft, uploads: Uploads, refuse: (error: ApiError) => void): Checked {
  const [checked, setChecked] = useState<Checked & { mark: string }>({ check: null, busy: false, mark: '' });
  const latest = useRef('');
  const { others: _, questions: __, ...about } = draft;
  const mark = step === 'ask' && draft.source !== 'names' ? JSON.stringify(about) : '';
  useEffect(() => {
    latest.current = mark;
    if (mark === '') return;
    setChecked({ check: null, busy: true, mark });
    startRequest(draft, uploads)
      .then((request) => send<Check>('/api/check', request))
      .then((check) => latest.current === mark && setChecked({ check, busy: false, mark }))
      .catch((error: ApiError) => {
        if (latest.current !== mark) return;
        setChecked({ check: null, busy: false, mark });
        refuse(error);
      });
  }, [mark]);
  return checked.mark === mark ? checked : { check: null, busy: mark !== '' };
}

/** Whatever is wrong comes into view with its field; otherwise the heading of a new step. */
function useFocus(step: Step, problem: Problem | null): void {
  const last = useRef('');
  useLayoutEffect(() => {
    const field = problem?.step === step ? document.getElementById(problem.field) : null;
    if (field) {
      field.focus({ preventScroll: true });
      (field.closest('.field') ?? field).scrollIntoView({ block: 'center' });
    } else if (last.current !== step) {
      window.scrollTo(0, 0);
      document.querySelector<HTMLElement>('[data-focus]')?.focus({ preventScroll: true });
    }
    last.current = step;
  }, [step, problem]);
}

export function Wizard({ step: wanted, datasets }: { step: Step; datasets: Dataset[] }): JSX.Element {
  const [draft, setDraft] = useState<Draft>(emptyDraft);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const [uploads] = useState(makeUploads);
  const steps = stepsOf(draft);
  // Who reloads in the middle begins again: the file is not kept.
  const gap = wanted === 'own' ? null : missing(draft, steps[Math.max(0, steps.indexOf(wanted) - 1)]);
  const step = steps.includes(wanted) && !(gap && problem === null) ? wanted : 'own';
  const go = (next: Step): void => {
    if (next !== step) location.hash = next;
  };
  const report = (found: Problem | null): void => {
    setProblem(found);
    if (found) go(found.step);
  };
  const refuse = (error: ApiError): void =>
    error.passing ? setProblem({ step, field: 'go', message: error.message }) : report(placeOf(error.message, draft));
  const set = (next: Draft): void => {
    setProblem(null);
    setDraft(next);
  };
  const checked = useCheck(step, draft, uploads, refuse);
  useFocus(step, problem);

  const begin = async (): Promise<void> => {
    setBusy(true);
    try {
      const request = await startRequest(draft, uploads);
      if (draft.others) {
        sessionStorage.setItem(STUDY_DRAFT, JSON.stringify(studyOf(request, draft), null, 2));
        location.assign('/admin/new');
        return;
      }
      await send('/api/start', request);
      location.assign('/session');
    } catch (error) {
      setBusy(false);
      refuse(error as ApiError);
    }
  };
  const forward = (event: Event): void => {
    event.preventDefault();
    const lacking = missing(draft, step);
    const next = steps[steps.indexOf(step) + 1];
    if (lacking) report(lacking);
    else if (next) go(next);
    else void begin();
  };
  const props = { draft, set, problem };
  const at = steps.indexOf(step);
  return (
    <form class="wizard" onSubmit={forward} noValidate data-step={step} data-listed={datasets.length > 0 || undefined}>
      <p class="wizard-back">
        <a href={at > 0 ? `#${steps[at - 1]}` : '#'}>Back</a>
      </p>
      <p class="wizard-step">
        Step {at + 1} of {steps.length}
      </p>
      <h1 tabIndex={-1} data-focus>
        {titleOf(step, draft)}
      </h1>
      {step === 'own' && (
        <OwnStep {...props} report={report} datasets={datasets} inspect={(next) => inspectPool(next, uploads)} />
      )}
      {step === 'columns' && (draft.source === 'names' ? <NamesStep {...props} /> : <ColumnsStep {...props} />)}
      {step === 'words' && <WordsStep {...props} />}
      {step === 'ask' && <AskStep {...props} checked={checked} />}
      {problem?.field === 'go' && (
        <p class="problem" role="alert">
          {problem.message}
        </p>
      )}
      <div class="actions">
        <button type="submit" class="primary large" disabled={busy}>
          {busy ? 'Preparing the questions …' : at + 1 < steps.length ? 'Continue' : draft.others ? 'Make a study of it' : 'Start answering'}
        </button>
      </div>
      {step === 'own' && <p class="note">Your file stays with this server. Nothing is sent elsewhere.</p>}
    </form>
  );
}
