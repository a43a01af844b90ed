// More classes and groups: what each mistake costs, with its interval as a bar, and the trade-off between groups on a scale.

import type { JSX } from 'preact';
import { short } from '../lib/text';
import type { Result, Weight } from '../lib/types';
import { Interval } from './interval';

function Bar({ weight, top, wide }: { weight: Weight; top: number; wide: number }): JSX.Element {
  const size = Math.abs(weight.value) / top;
  const ends = [weight.low ?? weight.value, weight.high ?? weight.value].map((x) => Math.abs(x) / top).sort((a, b) => a - b);
  const [low, high] = [ends[0] ?? size, ends[1] ?? size];
  return (
    <>
      <b>{short(size)}</b>{' '}
      {weight.low !== undefined && (
        <small>
          {short(low)} to {short(high)}
        </small>
      )}
      <svg viewBox="0 0 100 14" preserveAspectRatio="none" aria-hidden="true">
        <rect class="bar-back" y="5" width="100" height="4" />
        <rect class="cost-range" x={(100 * low) / wide} width={Math.max(1.5, (100 * (high - low)) / wide)} y="2" height="10" />
        <rect class="cost-value" x={(99 * size) / wide} width="1" height="14" />
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
  const own = weights.slice(0, needed);
  const top = Math.max(1e-12, ...own.map((w) => Math.abs(w.value)));
  const wide = Math.max(1, ...own.flatMap((w) => [w.value, w.low ?? w.value, w.high ?? w.value].map((x) => Math.abs(x) / top)));
  const at = (truth: number, predicted: number): Weight | undefined => own[truth * (k - 1) + predicted - (predicted > truth ? 1 : 0)];
  return (
    <section>
      <h2>{mistakes ? 'What each mistake costs' : 'What finding each class counts'}</h2>
      <p class="out-of">The {mistakes ? 'gravest' : 'largest'} is 1; bars are 95% intervals on one scale, the line in each is the best guess.</p>
      <div class="table-scroll" tabIndex={0} role="group" aria-label="Costs with intervals">
        <table class="cost-matrix">
          <thead>
            <tr>
              <td />
              {(mistakes ? classes : ['']).map((name) => (
                <th key={name} scope="col">
                  {mistakes ? <small>predicted</small> : 'counts'} {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {classes.map((name, truth) => (
              <tr key={name}>
                <th scope="row">
                  <small>truly</small> {name}
                </th>
                {(mistakes ? classes : ['']).map((other, predicted) => {
                  const weight = mistakes ? (truth === predicted ? undefined : at(truth, predicted)) : own[truth];
                  return <td key={other}>{weight ? <Bar weight={weight} top={top} wide={wide} /> : <span class="none">right</span>}</td>;
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
      <h2>Mistakes or differences between groups?</h2>
      <p>
        Differences between groups have <b>{Math.round(100 * lambda.value)}%</b> of the weight, mistakes{' '}
        <b>{100 - Math.round(100 * lambda.value)}%</b>.
      </p>
      <Interval range={lambda} low={0} high={1} ticks={[0, 0.5, 1]} format={(x) => (x === 0 ? 'only mistakes' : x === 1 ? 'only differences' : 'even')} />
    </section>
  );
}
