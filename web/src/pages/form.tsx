import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../lib/say';
import type { Field, FormPage, Value } from '../lib/types';
import { Heading, Problem, Texts, type PageProps } from './common';

type Answers = Record<string, string>;

function complaint(field: Field, text: string): string | null {
  if (text === '') return field.required ? t`Please answer this one.` : null;
  if (field.type !== 'number') return null;
  const number = Number(text);
  if (!Number.isFinite(number)) return t`Please enter a number.`;
  if (field.low !== undefined && number < field.low) return t`Please enter at least ${field.low}.`;
  if (field.high !== undefined && number > field.high) return t`Please enter at most ${field.high}.`;
  return null;
}

function Input({
  field,
  value,
  set,
  bad,
}: {
  field: Field;
  value: string;
  set: (text: string) => void;
  bad: boolean;
}): JSX.Element {
  const shared = {
    id: `field-${field.name}`,
    'aria-invalid': bad,
    'aria-describedby': bad ? `problem-${field.name}` : undefined,
    required: field.required,
  };
  if (field.type === 'long')
    return <textarea {...shared} rows={4} maxLength={5000} value={value} onInput={(e) => set(e.currentTarget.value)} />;
  const common = {
    ...shared,
    autocomplete: 'off',
    value,
    onInput: (e: { currentTarget: HTMLInputElement }) => set(e.currentTarget.value),
  } as const;
  if (field.type === 'number')
    return <input {...common} type="number" inputMode="decimal" step="any" min={field.low} max={field.high} />;
  return <input {...common} type="text" maxLength={500} />;
}

function Choices({
  field,
  value,
  set,
  bad,
}: {
  field: Field;
  value: string;
  set: (text: string) => void;
  bad: boolean;
}): JSX.Element {
  return (
    <fieldset class="field choices" aria-describedby={bad ? `problem-${field.name}` : undefined}>
      <legend>
        {field.label}
        {!field.required && <small> {t`optional`}</small>}
      </legend>
      {(field.choices ?? []).map((choice, i) => (
        <label key={choice} class="choice">
          <input
            type="radio"
            id={i === 0 ? `field-${field.name}` : undefined}
            name={field.name}
            checked={value === choice}
            onChange={() => set(choice)}
          />
          <span>{choice}</span>
        </label>
      ))}
    </fieldset>
  );
}

export function Form({ page, busy, problem, send }: PageProps<FormPage>): JSX.Element {
  const [answers, setAnswers] = useState<Answers>({});
  const [checked, setChecked] = useState(false);
  const of = (field: Field): string => answers[field.name] ?? '';
  const wrong = (field: Field): string | null =>
    problem?.field === field.name ? problem.message : checked ? complaint(field, of(field)) : null;
  const submit = (event: Event): void => {
    event.preventDefault();
    setChecked(true);
    const first = page.fields.find((field) => complaint(field, of(field)) !== null);
    if (first) {
      document.getElementById(`field-${first.name}`)?.focus();
      return;
    }
    const value: Value = {};
    for (const field of page.fields)
      if (of(field) !== '') value[field.name] = field.type === 'number' ? Number(of(field)) : of(field);
    send(value);
  };
  return (
    <form class="reading" onSubmit={submit} noValidate>
      <Heading>{page.title}</Heading>
      <Texts text={page.text} />
      {page.fields.map((field) => {
        const message = wrong(field);
        const set = (text: string): void => setAnswers({ ...answers, [field.name]: text });
        return (
          <div key={field.name}>
            {field.type === 'choice' ? (
              <Choices field={field} value={of(field)} set={set} bad={message !== null} />
            ) : (
              <div class="field">
                <label for={`field-${field.name}`}>
                  {field.label}
                  {!field.required && <small> {t`optional`}</small>}
                </label>
                <Input field={field} value={of(field)} set={set} bad={message !== null} />
              </div>
            )}
            <div aria-live="polite">
              {message && (
                <p class="problem" id={`problem-${field.name}`}>
                  {message}
                </p>
              )}
            </div>
          </div>
        );
      })}
      <Problem problem={problem?.field ? null : problem} />
      <div class="actions">
        <button type="submit" class="primary" disabled={busy}>
          {t`Continue`}
        </button>
      </div>
    </form>
  );
}
