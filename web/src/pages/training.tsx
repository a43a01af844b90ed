import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Pair, firstLook, outOf } from '../charts/pair';
import { t } from '../lib/say';
import type { TrainingPage } from '../lib/types';
import { Heading, Problem, Texts, type PageProps } from './common';

export function Training({ page, busy, problem, send }: PageProps<TrainingPage>): JSX.Element {
  const [a, b] = page.view;
  const [look, setLook] = useState(() => firstLook(page.show, a));
  const [answer, setAnswer] = useState('');
  const [missing, setMissing] = useState(false);
  const numeric = page.type === 'number';
  const submit = (event: Event): void => {
    event.preventDefault();
    const ready = answer.trim() !== '' && (!numeric || Number.isFinite(Number(answer)));
    setMissing(!ready);
    if (ready) send({ answer: numeric ? Number(answer) : answer });
  };
  const wrong = (page.wrong ?? 0) > 0;
  return (
    <form class="wide training" onSubmit={submit} noValidate>
      <Heading>{page.title ?? t`Practice`}</Heading>
      <Texts text={page.text} />
      <p class="out-of">{t`Numbers are ${outOf(a, page.words)}.`}</p>
      <Pair a={a} b={b} words={page.words} look={look} setLook={setLook} toggles={page.show?.toggles !== false} />
      <div class="ask">
        <div role="status">
          {wrong && (
            <div class="explain" tabIndex={-1} data-told>
              <b>{t`Not quite.`}</b> {page.explain ?? t`Please look at the picture again.`}
            </div>
          )}
        </div>
        {numeric ? (
          <div class="field">
            <label for="training-answer">{page.question}</label>
            <input
              id="training-answer"
              type="number"
              inputMode="decimal"
              step="any"
              autocomplete="off"
              value={answer}
              aria-invalid={missing}
              onInput={(e) => setAnswer(e.currentTarget.value)}
            />
          </div>
        ) : (
          <fieldset class="field choices">
            <legend>{page.question}</legend>
            {(page.choices ?? ['A', 'B']).map((choice) => (
              <label key={choice} class="choice">
                <input type="radio" name="answer" checked={answer === choice} onChange={() => setAnswer(choice)} />
                <span>{choice === '=' ? t`Both alike` : choice.length === 1 ? t`System ${choice}` : choice}</span>
              </label>
            ))}
          </fieldset>
        )}
        <Problem
          problem={problem ?? (missing ? { message: numeric ? t`Please enter a number.` : t`Please choose one.` } : null)}
        />
        <div class="actions">
          <button type="submit" class="primary" disabled={busy}>
            {t`Check`}
          </button>
        </div>
      </div>
    </form>
  );
}
