// The first thing that anybody sees: one sentence, one picture, one button.

import type { JSX } from 'preact';
import { t } from '../lib/say';
import { emptyDraft } from './draft';

/** Rows of the pile, from below: how many false alarms, and where. It shows no number, so as not to anchor anybody. */
const PILE: [number, number][] = [
  [4, 248],
  [4, 227],
  [3, 206],
  [3, 185],
  [2, 164],
  [2, 144],
  [1, 124],
];

function Rings(): JSX.Element {
  return (
    <>
      {PILE.map(([n, y], row) =>
        Array.from({ length: n }, (_, i) => (
          <circle
            key={`${row}-${i}`}
            class={`ring ring-${row}`}
            cx={424 + (i - (n - 1) / 2) * (row > 4 ? 18 : 21)}
            cy={y}
            r={8}
          />
        )),
      )}
    </>
  );
}

function Balance(): JSX.Element {
  return (
    <svg
      class="balance"
      viewBox="0 70 520 330"
      role="img"
      aria-label={t`A balance. On the left one missed cancer; on the right a pile of false alarms that fades out, with the question: how many?`}
    >
      <Rings />
      <path class="beam" d="M260 92V386M200 388H320M96 92H424" />
      <circle class="pivot" cx={260} cy={92} r={9} />
      <path class="string" d="M96 92L36 262M96 92L156 262M424 92L364 262M424 92L484 262" />
      <path class="pan" d="M28 262Q96 312 164 262zM356 262Q424 312 492 262z" />
      <path class="diamond" d="M96 202l28 28-28 28-28-28z" />
      <text x={96} y={334}>
        {t`1 missed cancer`}
      </text>
      <text x={424} y={334}>
        {t`how many`}
        <tspan x={424} dy={24}>
          {t`false alarms?`}
        </tspan>
      </text>
    </svg>
  );
}

export interface Example {
  dataset: string;
  classes: string[];
  group: string;
  text: () => string;
}
export const CANCER_EXAMPLE: Example = {
  dataset: 'mammographic_mass',
  classes: ['benign', 'malignant'],
  group: '',
  text: () => t`Try the cancer example, 3 minutes`,
};
const OTHERS: Example[] = [
  { dataset: 'german_credit', classes: ['0', '1'], group: 'sex', text: () => t`loans, women and men` },
  { dataset: 'vehicle', classes: ['0', '1', '2', '3'], group: '', text: () => t`vehicles, four kinds` },
];

interface HeroProps {
  busy: boolean;
  problem: string;
  start: (example: Example) => void;
}

export function Hero({ busy, problem, start }: HeroProps): JSX.Element {
  return (
    <>
      <div class="hero">
        <div>
          <h1 tabIndex={-1} data-focus>
            {t`Which mistakes matter more to you?`}
          </h1>
          <p class="hero-lead">
            {t`Choose between two settings of a test, ${emptyDraft.questions} times at most, and see how many false alarms one missed case is worth to you.`}
          </p>
          <div class="hero-go">
            <button type="button" class="primary" disabled={busy} onClick={() => start(CANCER_EXAMPLE)}>
              {busy ? t`Preparing the questions …` : CANCER_EXAMPLE.text()}
            </button>
            <a class="button" href="#own">
              {t`Use my own data`}
            </a>
          </div>
          <p class="hero-hint">{t`No account. Nothing leaves this server.`}</p>
          <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
        </div>
        <Balance />
      </div>
      <p class="hero-more">
        <span>{t`Other examples:`}</span>
        {OTHERS.map((example) => (
          <button key={example.dataset} type="button" class="link" disabled={busy} onClick={() => start(example)}>
            {example.text()}
          </button>
        ))}
      </p>
    </>
  );
}
