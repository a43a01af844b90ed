// How simulated participants answer: what a form asks about them, and what is sent.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { StudyView } from '../lib/types';

/** Of two classes without groups one number says what simulated participants want. */
export const hasRatio = ({ file }: StudyView): boolean =>
  (file.space?.classes?.length ?? 2) === 2 && !hasGroups(file) && (file.elicitation?.family ?? 'linear') === 'linear';

const hasGroups = (file: StudyView['file']): boolean => Boolean(file.space?.group ?? file.space?.groups);

const NOISE: [string, string][] = [
  ['none', 'never'],
  ['flip:0.05', '1 answer in 20'],
  ['flip:0.1', '1 answer in 10'],
  ['flip:0.2', '1 answer in 5'],
  ['person', 'as people do: the more, the closer the two are'],
];

interface NumberProps {
  id: string;
  label: string;
  value: number;
  low: number;
  high: number;
  step?: number;
  set: (x: number) => void;
}

export function NumberField({ id, label, value, low, high, step, set }: NumberProps): JSX.Element {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} type="number" min={low} max={high} step={step ?? 'any'} value={value} onInput={(e) => set(Number(e.currentTarget.value))} />
    </div>
  );
}

/** What they want and how they err: fields, and the same as a request. With groups they make as few mistakes as possible, without errors. */
export function useAnswers(view: StudyView, id: string, label: string): { fields: JSX.Element | null; sent: { metric?: number; noise?: string } } {
  const [ratio, setRatio] = useState(7);
  const [noise, setNoise] = useState('flip:0.05');
  const simple = hasRatio(view);
  const errs = !hasGroups(view.file);
  return {
    sent: { ...(simple ? { metric: ratio } : {}), ...(errs ? { noise } : {}) },
    fields: errs ? (
      <>
        {simple && <NumberField id={`${id}-ratio`} label={label} value={ratio} low={0.01} high={1000} set={setRatio} />}
        <div class="field">
          <label for={`${id}-noise`}>How they err</label>
          <select id={`${id}-noise`} value={noise} onChange={(e) => setNoise(e.currentTarget.value)}>
            {NOISE.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </div>
      </>
    ) : null,
  };
}
