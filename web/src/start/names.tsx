// Names and shares of classes, for people without data.

import type { JSX } from 'preact';
import { percent } from '../lib/text';
import { rarerOf } from './draft';
import { Choice, Wrong, wrongProps, type StepProps } from './fields';

const MOST_CLASSES = 8;
const SKILLS: [string, string][] = [
  ['1', 'poorly: many mistakes'],
  ['2', 'fairly well'],
  ['3', 'very well: few mistakes'],
];

export function NamesStep({ draft, set, problem }: StepProps): JSX.Element {
  const total = draft.shares.reduce((a, b) => a + (b > 0 ? b : 0), 0);
  const resize = (classes: string[], shares: number[]): void =>
    set({ ...draft, classes, shares, positive: rarerOf(shares) });
  const change = (i: number, name: string, share: number): void =>
    resize(
      draft.classes.map((c, j) => (j === i ? name : c)),
      draft.shares.map((s, j) => (j === i ? share : s)),
    );
  return (
    <>
      <p class="note">We make up tests that tell these apart as well as you say.</p>
      <div class="class-list">
        {draft.classes.map((name, i) => (
          <div key={i} class="class-row">
            <div class="field">
              <label for={`class-${i}`}>Class {i + 1}</label>
              <input
                id={`class-${i}`}
                type="text"
                maxLength={40}
                autocomplete="off"
                value={name}
                placeholder={['healthy', 'ill', 'third class'][i] ?? ''}
                {...wrongProps(`class-${i}`, problem)}
                onInput={(e) => change(i, e.currentTarget.value, draft.shares[i] ?? 1)}
              />
              <Wrong field={`class-${i}`} problem={problem} />
            </div>
            <div class="field share">
              <label for={`share-${i}`}>of 100</label>
              <input
                id={`share-${i}`}
                type="number"
                inputMode="decimal"
                min={0.1}
                step="any"
                value={draft.shares[i]}
                {...wrongProps(`share-${i}`, problem)}
                onInput={(e) => change(i, name, Number(e.currentTarget.value))}
              />
              <Wrong field={`share-${i}`} problem={problem} />
            </div>
            {draft.classes.length > 2 && (
              <button
                type="button"
                class="quiet"
                aria-label={`Remove class ${i + 1}`}
                onClick={() =>
                  resize(
                    draft.classes.filter((_, j) => j !== i),
                    draft.shares.filter((_, j) => j !== i),
                  )
                }
              >
                Remove
              </button>
            )}
          </div>
        ))}
      </div>
      {Math.abs(total - 100) > 1e-9 && total > 0 && (
        <p class="note">
          Together that is {Number(total.toFixed(2))}; it counts as{' '}
          {draft.shares
            .map((s, i) => `${percent(Math.max(0, s), total)} ${draft.classes[i]?.trim() || `class ${i + 1}`}`)
            .join(', ')}
          .
        </p>
      )}
      {draft.classes.length < MOST_CLASSES && (
        <button type="button" onClick={() => resize([...draft.classes, ''], [...draft.shares, 10])}>
          Add a class
        </button>
      )}
      <Choice
        id="skill"
        label="How well can such systems tell them apart?"
        value={String(draft.skill)}
        options={SKILLS}
        problem={problem}
        set={(skill) => set({ ...draft, skill: Number(skill) })}
      />
    </>
  );
}
