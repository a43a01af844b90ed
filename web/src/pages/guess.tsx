import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../lib/say';
import { short, soMany } from '../lib/text';
import type { GuessPage } from '../lib/types';
import { Heading, Problem, Texts, type PageProps } from './common';

const STEPS = 240;

/** Steps of the slider are even in the logarithm, rounded to what people say. */
const fromStep = (step: number, low: number, high: number): number =>
  Number((low * (high / low) ** (step / STEPS)).toPrecision(2));
const toStep = (ratio: number, low: number, high: number): number =>
  Math.round((STEPS * Math.log(ratio / low)) / Math.log(high / low));

/** Fewer than one makes no sense as a number of false alarms: then it is said of 100. */
function sentence(ratio: number, { missed, false_alarm: one, false_alarms: many }: GuessPage['labels']): string {
  if (ratio >= 1) return t`One ${missed} is as bad as ${soMany(short(ratio), one, many)}.`;
  return t`100 of the kind “${missed}” are as bad as ${soMany(short(100 * ratio), one, many)}.`;
}

/** What a study without bounds of its own accepts. */
const LOWEST = 0.01;
const HIGHEST = 1000;

export function Guess({ page, busy, problem, send }: PageProps<GuessPage>): JSX.Element {
  const { missed, false_alarms: alarms } = page.labels;
  const low = page.low ?? LOWEST;
  const high = page.high ?? HIGHEST;
  const [text, setText] = useState('');
  const ratio = Number(text);
  const good = text.trim() !== '' && Number.isFinite(ratio) && ratio >= low && ratio <= high;
  const [checked, setChecked] = useState(false);
  const submit = (event: Event): void => {
    event.preventDefault();
    setChecked(true);
    if (good) send({ ratio });
  };
  const step = good ? toStep(ratio, low, high) : toStep(1, low, high);
  return (
    <form class="reading" onSubmit={submit} noValidate>
      <Heading>{page.title ?? t`Your guess`}</Heading>
      <Texts text={page.text} />
      <div class="field guess">
        <label for="guess">
          {t`One ${missed} is as bad as how many ${alarms}?`}
        </label>
        <div class="guess-row">
          <input
            id="guess"
            type="number"
            inputMode="decimal"
            step="any"
            min={low}
            max={high}
            autocomplete="off"
            value={text}
            aria-invalid={checked && !good}
            onInput={(e) => setText(e.currentTarget.value)}
          />
          <input
            type="range"
            aria-label={t`How many ${alarms}, on a slider`}
            aria-valuetext={good ? sentence(ratio, page.labels) : t`not set`}
            min={0}
            max={STEPS}
            value={step}
            onInput={(e) => setText(String(fromStep(Number(e.currentTarget.value), low, high)))}
          />
        </div>
        <div class="guess-ends" aria-hidden="true">
          <span>{t`${alarms} are worse`}</span>
          <span>{t`a ${missed} is worse`}</span>
        </div>
        <p class="guess-words" role="status">
          {good ? sentence(ratio, page.labels) : ' '}
        </p>
      </div>
      <Problem
        problem={problem ?? (checked && !good ? { message: t`Please enter a number from ${low} to ${high}.` } : null)}
      />
      <div class="actions">
        <button type="submit" class="primary" disabled={busy}>
          {t`Continue`}
        </button>
      </div>
    </form>
  );
}
