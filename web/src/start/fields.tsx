// Fields of the wizard: each with its label, its hint and what is wrong with it beside it.

import type { ComponentChildren, JSX } from 'preact';
import type { Draft, Problem } from './draft';

export interface StepProps {
  draft: Draft;
  set: (draft: Draft) => void;
  problem: Problem | null;
}

/** What is wrong with a field, beside it. */
export function Wrong({ field, problem }: { field: string; problem: Problem | null }): JSX.Element | null {
  return problem?.field === field ? (
    <p class="problem" id={`${field}-problem`} role="alert">
      {problem.message}
    </p>
  ) : null;
}

/** The attributes of a field that tell readers of the page what is wrong with it. */
export const wrongProps = (
  field: string,
  problem: Problem | null,
  hint?: boolean,
): { 'aria-invalid': true | undefined; 'aria-describedby': string | undefined } => {
  const bad = problem?.field === field;
  const described = [hint ? `${field}-hint` : '', bad ? `${field}-problem` : ''].filter((id) => id !== '').join(' ');
  return { 'aria-invalid': bad ? true : undefined, 'aria-describedby': described || undefined };
};

interface FieldProps {
  id: string;
  label: ComponentChildren;
  value: string;
  set: (text: string) => void;
  problem: Problem | null;
  hint?: string;
  placeholder?: string;
  /** Letters. */
  most?: number;
}

export function Field({ id, label, value, set, problem, hint, placeholder, most = 80 }: FieldProps): JSX.Element {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        maxLength={most}
        autocomplete="off"
        value={value}
        placeholder={placeholder}
        {...wrongProps(id, problem, !!hint)}
        onInput={(e) => set(e.currentTarget.value)}
      />
      {hint && (
        <p class="note" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <Wrong field={id} problem={problem} />
    </div>
  );
}

interface ChoiceProps {
  id: string;
  label: string;
  value: string;
  set: (value: string) => void;
  options: readonly (readonly [string, string])[];
  problem: Problem | null;
  /** What is chosen in full, where the list cuts it off. */
  hint?: string;
}

export function Choice({ id, label, value, set, options, problem, hint }: ChoiceProps): JSX.Element {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} {...wrongProps(id, problem, !!hint)} onChange={(e) => set(e.currentTarget.value)}>
        {options.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
      {hint && (
        <p class="note cut-off" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <Wrong field={id} problem={problem} />
    </div>
  );
}

interface OptionProps {
  name: string;
  checked: boolean;
  choose: () => void;
  title: string;
  text?: string;
  /** Shown while it is chosen. */
  children?: ComponentChildren;
}

/** One of several ways, as a card; what it needs opens inside it. */
export function Option({ name, checked, choose, title, text, children }: OptionProps): JSX.Element {
  return (
    <div class={`option${checked ? ' chosen' : ''}`}>
      <label>
        <input type="radio" name={name} checked={checked} onChange={choose} />
        <span>
          <b>{title}</b>
          {text && <small>{text}</small>}
        </span>
      </label>
      {checked && children && <div class="option-more">{children}</div>}
    </div>
  );
}
