// More classes and groups: what each mistake costs, with its interval as a bar, and the trade-off between groups on a scale.

import type { JSX } from 'preact';
import { t, tx } from '../lib/say';
import { short } from '../lib/text';
import type { Result, Weight } from '../lib/types';
import { Interval } from './interval';

/** What a mistake costs as a share of the gravest; what is below 0 would be a gain. */
interface Cost {
  value: number;
  /** Without an interval, null. */
  ends: [number, number] | null;
}

/** Every cost against the largest: where the server knows how the two move together, with the interval of their ratio. */
export function costsOf(weights: readonly Weight[], ratios: Result['ratios']): Cost[] {
  const top = weights.reduce((most, w, i) => (Math.abs(w.value) > Math.abs(weights[most]?.value ?? 0) ? i : most), 0);
  const unit = weights[top]?.value || 1e-12;
  return weights.map((w, i): Cost => {
    const ratio = ratios?.find((r) => r.weight === i && r.of === top);
    if (ratio && ratio.interval[1] !== null) return { value: ratio.ratio, ends: [ratio.interval[0], ratio.interval[1]] };
    if (i === top && ratios?.length) return { value: 1, ends: null };
    const ends = w.low == null || w.high == null ? null : [w.low / unit, w.high / unit].sort((a, b) => a - b);
    return { value: w.value / unit, ends: ends as [number, number] | null };
  });
}

function Bar({ cost, low, high }: { cost: Cost; low: number; high: number }): JSX.Element {
  const at = (x: number): number => (100 * (x - low)) / (high - low);
  return (
    <>
      <b>{short(cost.value)}</b>{' '}
      {cost.ends && (
        <small>
          {t`${short(cost.ends[0])} to ${short(cost.ends[1])}`}
        </small>
      )}
      <svg viewBox="0 0 100 14" preserveAspectRatio="none" aria-hidden="true">
        <rect class="bar-back" y="5" width="100" height="4" />
        {low < 0 && <rect class="cost-zero" x={at(0)} width="0.5" height="14" />}
        {cost.ends && <rect class="cost-range" x={at(cost.ends[0])} width={Math.max(1.5, at(cost.ends[1]) - at(cost.ends[0]))} y="2" height="10" />}
        <rect class="cost-value" x={0.99 * at(cost.value)} width="1" height="14" />
      </svg>
    </>
  );
}

/** Costs of the mistakes between three or more classes, or of two in groups; the largest is 1. */
export function CostMatrix({ result }: { result: Result }): JSX.Element | null {
  const layout = result.metric?.layout;
  const classes = layout?.classes ?? [];
  const k = classes.length;
  const weights = result.weights ?? [];
  const mistakes = layout?.coordinates === 'offdiagonal';
  const needed = mistakes ? k * (k - 1) : k;
  if (k < 2 || layout?.coordinates === 'binary' || weights.length < needed) return null;
  const own = costsOf(weights.slice(0, needed), result.ratios);
  const every = own.flatMap((c) => [c.value, ...(c.ends ?? [])]);
  const [low, high] = [Math.min(0, ...every), Math.max(1, ...every)];
  const at = (truth: number, predicted: number): Cost | undefined => own[truth * (k - 1) + predicted - (predicted > truth ? 1 : 0)];
  // Weights of products come after those of the first ones.
  const curved = weights.length > needed && !result.lambda;
  return (
    <section>
      <h2>{mistakes ? (curved ? t`What the first mistake of each kind costs` : t`What each mistake costs`) : t`What getting each class right counts`}</h2>
      <p class="out-of">
        {t`The largest is 1; bars are 95% intervals on one scale, the line in each is the best guess.`}{' '}
        {low < 0 && (mistakes ? t`Below 0 a mistake would make things better: not ruled out yet.` : t`Below 0 a right decision would make things worse: not ruled out yet.`)}
      </p>
      <div class="table-scroll" tabIndex={0} role="group" aria-label={t`Costs with intervals`}>
        <table class="cost-matrix">
          <thead>
            <tr>
              <td />
              {(mistakes ? classes : ['']).map((name) => (
                <th key={name} scope="col">
                  {mistakes ? <small>{t`predicted`}</small> : t`counts`} {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {classes.map((name, truth) => (
              <tr key={name}>
                <th scope="row">
                  <small>{t`really`}</small> {name}
                </th>
                {(mistakes ? classes : ['']).map((other, predicted) => {
                  const cost = mistakes ? (truth === predicted ? undefined : at(truth, predicted)) : own[truth];
                  return <td key={other}>{cost ? <Bar cost={cost} low={low} high={high} /> : <span class="none">{t`right`}</span>}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** How much differences between groups count against mistakes. */
export function TradeOff({ result }: { result: Result }): JSX.Element | null {
  const lambda = result.lambda;
  if (!lambda) return null;
  return (
    <section>
      <h2>{t`Mistakes or differences between groups?`}</h2>
      <p>
        {tx`Differences between groups have ${<b>{Math.round(100 * lambda.value)}%</b>} of the weight, mistakes ${<b>{100 - Math.round(100 * lambda.value)}%</b>}.`}
      </p>
      <Interval range={lambda} low={0} high={1} ticks={[0, 0.5, 1]} format={(x) => (x === 0 ? t`only mistakes` : x === 1 ? t`only differences` : t`even`)} />
    </section>
  );
}
