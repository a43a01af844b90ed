// The last step: who is asked, how good the model is, and what may be a mistake.

import type { JSX } from 'preact';
import { list, percent, whole } from '../lib/text';
import type { Check } from '../lib/types';
import { familiesFor, familyOf, type Draft } from './draft';
import { Choice, Option, type StepProps } from './fields';

const LEAST_ROWS = 30;
/** Below this, probabilities rank the classes the wrong way round rather than by chance. */
const INVERTED = 0.4;

/** How good the model is, in a line. */
export function qualityLine(check: Check, draft: Draft): string {
  if (check.classifiers !== undefined) return `${whole(check.classifiers)} classifiers to compare.`;
  if (check.rows === undefined || check.classes === undefined) return '';
  const rows = `${whole(check.rows)} ${draft.source === 'probabilities' ? '' : 'held-out '}rows`;
  if (check.auc !== undefined && check.found !== undefined && check.alarms !== undefined)
    return `The model finds ${percent(check.found, 1)} at ${percent(check.alarms, 1)} false alarms on ${rows}, AUC ${check.auc.toFixed(2)}.`;
  const right = check.classes.reduce((sum, c) => sum + (c.right ?? 0), 0);
  const most = Math.max(...check.classes.map((c) => c.rows ?? 0));
  return `The model is right about ${percent(right, check.rows)} of ${rows}; always saying the most common class would be right about ${percent(most, check.rows)}.`;
}

/** What may be a mistake; the last word is the person's. */
export function cautions(check: Check, draft: Draft): string[] {
  const known = draft.file?.upload.warnings ?? [];
  const found = (check.warnings ?? []).filter((text) => !known.includes(text));
  const few = (check.classes ?? []).filter((c) => c.rows !== undefined && c.rows < LEAST_ROWS);
  if (few.length > 0)
    found.push(
      `Only ${list(few.map((c) => `${c.rows} rows of ${c.name}`))}: with fewer than ${LEAST_ROWS} of a class the numbers in the questions are rough.`,
    );
  if (check.auc !== undefined && check.auc < INVERTED)
    found.push(
      draft.source === 'probabilities'
        ? 'The probabilities look inverted: they are higher where the class to be found is absent. Please check which column belongs to which class.'
        : 'The model ranks the classes the wrong way round: it has learned nothing that holds for new rows.',
    );
  else if (check.auc !== undefined && check.auc < 0.6)
    found.push('The model hardly tells the two classes apart: whatever its setting, it makes many mistakes.');
  return found;
}

export interface Checked {
  check: Check | null;
  busy: boolean;
}

export function AskStep({ draft, set, problem, checked }: StepProps & { checked: Checked }): JSX.Element {
  const families = familiesFor(draft);
  const { check, busy } = checked;
  const line = check ? qualityLine(check, draft) : '';
  return (
    <>
      <div role="status">
        {busy && <p class="quality">Looking at the data …</p>}
        {line && <p class="quality">{line}</p>}
        {check &&
          cautions(check, draft).map((text) => (
            <p key={text} class="caution">
              {text}
            </p>
          ))}
      </div>
      <div role="radiogroup" aria-label="Who is asked?">
        <Option
          name="who"
          checked={!draft.others}
          choose={() => set({ ...draft, others: false })}
          title="I am, now"
          text={`At most ${draft.questions} questions; you can stop at any time and go on later.`}
        />
        <Option
          name="who"
          checked={draft.others}
          choose={() => set({ ...draft, others: true })}
          title="Other people, by a link"
          text="This becomes a study: you log in as a researcher, look it over and send the link."
        />
      </div>
      <details class="more-choices" open={problem?.field === 'family' || undefined}>
        <summary>More choices</summary>
        <div class="grid">
          <Choice
            id="family"
            label="What is to be found out?"
            value={familyOf(draft)}
            options={families.map((f) => [f.name, f.text] as const)}
            problem={problem}
            set={(family) => set({ ...draft, family })}
            hint={families.find((f) => f.name === familyOf(draft))?.text}
          />
          <Choice
            id="questions"
            label="At most how many questions?"
            value={String(draft.questions)}
            options={[10, 20, 40, 80].map((n) => [String(n), String(n)] as const)}
            problem={problem}
            set={(n) => set({ ...draft, questions: Number(n) })}
          />
        </div>
      </details>
    </>
  );
}
