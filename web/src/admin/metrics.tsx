// What everybody wants: all metrics with their intervals, and that of all together.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Person, Range, Ratio, StudyView, Weight } from '../lib/types';
import { Forest, type Line } from './forest';
import { isOdd, ratioText, real, simulated } from './people';

/** Which numbers can be drawn: the ratio of costs where there is one, else every weight. */
function measures(view: StudyView): string[] {
  const found = new Set(view.live.flatMap((p) => (p.weights ?? []).map((w) => w.symbol)));
  return [...(view.live.some((p) => p.cost_ratio) ? ['ratio'] : []), ...found];
}

const rangeOf = (about: { cost_ratio?: Ratio; weights?: Weight[] } | null | undefined, what: string): Range | undefined =>
  what === 'ratio' ? about?.cost_ratio : about?.weights?.find((w) => w.symbol === what);

function linesOf(people: Person[], what: string): Line[] {
  return people.flatMap((p) => {
    const range = rangeOf(p, what);
    return range && (what !== 'ratio' || range.value > 0)
      ? [{ key: p.id, name: p.label ?? p.id.slice(0, 8), range, odd: isOdd(p), truth: what === 'ratio' ? p.truth : undefined }]
      : [];
  });
}

/** Every metric with its interval and that of all together; simulated ones apart. */
export function Metrics({ view }: { view: StudyView }): JSX.Element | null {
  const [chosen, setChosen] = useState('');
  const choices = measures(view);
  const what = choices.includes(chosen) ? chosen : choices[0];
  if (what === undefined) return null;
  const ratio = view.live.find((p) => p.cost_ratio)?.cost_ratio;
  const name = (symbol: string): string =>
    symbol === 'ratio' ? `How many ${ratio?.false_alarms ?? 'false alarms'} weigh as much as one ${ratio?.missed ?? 'missed case'}?` : (view.live.flatMap((p) => p.weights ?? []).find((w) => w.symbol === symbol)?.name ?? symbol);
  const lines = linesOf(real(view), what);
  const made = linesOf(simulated(view), what);
  const pooled = view.pooled;
  const range = rangeOf(pooled, what);
  const all = pooled && range ? { name: `All ${pooled.participants}`, range } : null;
  const label = `${name(what)} ${lines.length} participants, each with an interval.`;
  return (
    <section class="card">
      <h2>{name(what)}</h2>
      <p class="note">Dot: best guess. Line: 19 times out of 20. Arrow: no end on that side.</p>
      {choices.length > 1 && (
        <div class="field">
          <label for="measure">Shown</label>
          <select id="measure" value={what} onChange={(e) => setChosen(e.currentTarget.value)}>
            {choices.map((symbol) => (
              <option key={symbol} value={symbol}>
                {symbol === 'ratio' ? 'the ratio' : `weight: ${name(symbol)}`}
              </option>
            ))}
          </select>
        </div>
      )}
      <Forest lines={lines} all={pooled?.simulated ? null : all} log={what === 'ratio'} label={label} />
      {lines.length === 0 && <p>Nobody’s metric is known yet.</p>}
      {made.length > 0 && (
        <>
          <h3>Simulated</h3>
          <p class="note">Made to test the study; not counted above.</p>
          <Forest lines={made} all={pooled?.simulated ? all : null} log={what === 'ratio'} label={`${made.length} simulated participants`} simulated />
        </>
      )}
    </section>
  );
}

export function PooledCard({ view }: { view: StudyView }): JSX.Element | null {
  const pooled = view.pooled;
  if (!pooled || pooled.simulated) return null;
  return (
    <section class="together">
      <h2>
        All together ({pooled.participants}
        {pooled.of && pooled.of > pooled.participants ? `, the first of ${pooled.of}` : ''})
      </h2>
      {pooled.cost_ratio ? <p class="big">{ratioText(pooled.cost_ratio)}</p> : pooled.words && <p>{pooled.words}</p>}
      {view.file.learn_from_others && pooled.community && <p>New participants’ questions start from what these want.</p>}
      {pooled.statements?.map((s) => <p key={s.key}>{s.text}</p>)}
    </section>
  );
}
