// The third step: which class is to be found, and what its mistakes are called.

import type { JSX } from 'preact';
import { percent, whole } from '../lib/text';
import { mistakeWords, UNNAMED, type Draft } from './draft';
import { Choice, Field, type StepProps } from './fields';

function ClassNames({ draft, set, problem }: StepProps): JSX.Element {
  const rename = (i: number, name: string): void =>
    set({ ...draft, classes: draft.classes.map((c, j) => (j === i ? name : c)) });
  return (
    <div class="grid class-names">
      {draft.classes.map((name, i) => (
        <Field
          key={i}
          id={`class-${i}`}
          label={draft.original[i] === undefined ? `Name of class ${i + 1}` : `Name of “${draft.original[i]}”`}
          value={name}
          problem={problem}
          set={(text) => rename(i, text)}
        />
      ))}
    </div>
  );
}

function share(draft: Draft, i: number): string {
  if (draft.source === 'names') {
    const total = draft.shares.reduce((a, b) => a + b, 0);
    return percent(draft.shares[i] ?? 0, total);
  }
  const total = draft.counts.reduce((a, b) => a + b, 0);
  return total > 0 ? `${whole(draft.counts[i] ?? 0)} rows, ${percent(draft.counts[i] ?? 0, total)}` : '';
}

function ToBeFound({ draft, set }: StepProps): JSX.Element {
  return (
    <fieldset class="field found-class" id="positive">
      <legend class="visually-hidden">What is to be found?</legend>
      {[0, 1].map((i) => (
        <label key={i} class="choice">
          <input
            type="radio"
            name="positive"
            checked={draft.positive === i}
            onChange={() => set({ ...draft, positive: i, ...UNNAMED })}
          />
          <span>
            <b>{draft.classes[i]?.trim() || `class ${i + 1}`}</b>
            <small>{share(draft, i)}</small>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

const Diamond = (): JSX.Element => (
  <svg class="mark" viewBox="0 0 10 10" aria-hidden="true">
    <path class="diamond" d="M5 0l5 5-5 5-5-5z" />
  </svg>
);
const Ring = (): JSX.Element => (
  <svg class="mark" viewBox="0 0 10 10" aria-hidden="true">
    <circle class="ring" cx={5} cy={5} r={3.8} />
  </svg>
);

function Mistakes({ draft, set, problem }: StepProps): JSX.Element {
  const name = (i: number): string => draft.classes[i]?.trim() || `class ${i + 1}`;
  const found = name(draft.positive);
  const other = name(1 - draft.positive);
  const words = mistakeWords(draft);
  return (
    <>
      <h2 class="sub">What are the two mistakes called?</h2>
      <div class="mistake">
        <p>
          <Diamond /> Really {found}, but the model says {other}
        </p>
        <div class="grid">
          <Field id="missed" label="One of them" value={words.missed} problem={problem} set={(missed) => set({ ...draft, missed })} />
          <Field
            id="missed-plural"
            label="Several"
            value={words.missedPlural}
            problem={problem}
            set={(missedPlural) => set({ ...draft, missedPlural })}
          />
        </div>
        <Field
          id="missed-means"
          label="What happens then? (may stay empty)"
          value={draft.missedMeans}
          problem={problem}
          most={200}
          placeholder="Treatment starts months later."
          set={(missedMeans) => set({ ...draft, missedMeans })}
        />
      </div>
      <div class="mistake">
        <p>
          <Ring /> Really {other}, but the model says {found}
        </p>
        <div class="grid">
          <Field id="false-alarm" label="One of them" value={words.alarm} problem={problem} set={(alarm) => set({ ...draft, alarm })} />
          <Field
            id="false-alarm-plural"
            label="Several"
            value={words.alarmPlural}
            problem={problem}
            set={(alarmPlural) => set({ ...draft, alarmPlural })}
          />
        </div>
        <div class="grid">
          <Field
            id="alarmed"
            label="What comes of one? (may stay empty)"
            value={draft.alarmMeans}
            problem={problem}
            placeholder="healthy person gets a biopsy"
            set={(alarmMeans) => set({ ...draft, alarmMeans })}
          />
          <Field
            id="alarmed-plural"
            label="Of several"
            value={draft.alarmMeansPlural}
            problem={problem}
            placeholder="healthy people get a biopsy"
            set={(alarmMeansPlural) => set({ ...draft, alarmMeansPlural })}
          />
        </div>
      </div>
    </>
  );
}

/** The class whose mistakes weigh most leads sentence and colour. */
function Gravest({ draft, set, problem }: StepProps): JSX.Element {
  return (
    <Choice
      id="gravest"
      label="Which is the gravest to get wrong? It comes first in every question"
      value={draft.gravest}
      options={[['', 'none of them'], ...draft.classes.map((name) => [name, name] as const)]}
      problem={problem}
      set={(gravest) => set({ ...draft, gravest })}
    />
  );
}

export function WordsStep(props: StepProps): JSX.Element {
  const { draft, set, problem } = props;
  const two = draft.classes.length === 2;
  return (
    <>
      {two && <ToBeFound {...props} />}
      {draft.source !== 'names' && <ClassNames {...props} />}
      {two && <Mistakes {...props} />}
      {!two && <Gravest {...props} />}
      <Field
        id="scenario"
        label="Who is tested, and what does each mistake do to them? One line, shown with every question (may stay empty)"
        value={draft.scenario}
        problem={problem}
        most={300}
        placeholder="Patients with a lump are tested. A missed cancer is treated months later; a false alarm means a biopsy."
        set={(scenario) => set({ ...draft, scenario })}
      />
      <div class="grid">
        <Field
          id="people"
          label="Whom is it about, in the plural?"
          value={draft.people}
          problem={problem}
          placeholder="patients"
          set={(people) => set({ ...draft, people })}
        />
        <Field
          id="task"
          label="What is it for? (may stay empty)"
          value={draft.task}
          problem={problem}
          placeholder="finding cancer"
          set={(task) => set({ ...draft, task })}
        />
      </div>
    </>
  );
}
