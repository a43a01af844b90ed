import type { JSX } from 'preact';
import { percent } from '../lib/text';
import type { SectionProps } from './start';

const MOST_CLASSES = 8;
const SKILLS: [number, string][] = [
  [1, 'poorly: many mistakes'],
  [2, 'fairly well'],
  [3, 'very well: few mistakes'],
];

export function NamesSource({ draft, set }: SectionProps): JSX.Element {
  const total = draft.shares.reduce((a, b) => a + (b > 0 ? b : 0), 0);
  const change = (i: number, name: string, share: number): void =>
    set({
      ...draft,
      classes: draft.classes.map((c, j) => (j === i ? name : c)),
      shares: draft.shares.map((s, j) => (j === i ? share : s)),
    });
  const resize = (classes: string[], shares: number[]): void =>
    set({ ...draft, classes, shares, positive: 1, family: classes.length === 2 ? 'linear' : 'diagonal-linear' });
  return (
    <>
      <p>The systems in the questions are then made up: they work on an imagined population with these classes.</p>
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
                onInput={(e) => change(i, e.currentTarget.value, draft.shares[i] ?? 1)}
              />
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
                onInput={(e) => change(i, name, Number(e.currentTarget.value))}
              />
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
      <div class="field">
        <label for="skill">How well can such systems tell them apart?</label>
        <select
          id="skill"
          value={draft.skill}
          onChange={(e) => set({ ...draft, skill: Number(e.currentTarget.value) })}
        >
          {SKILLS.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </div>
    </>
  );
}
