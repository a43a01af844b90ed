// Somebody else's result next to one's own.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Interval, logTicks } from '../charts/interval';
import { get } from '../lib/api';
import { capital, list, short } from '../lib/text';
import type { Range, Ratio, Result, Weight, Words } from '../lib/types';

export interface SharedResult {
  result: Result;
  words?: Words;
  /** Whether the same questions can be asked by the link: not about somebody's upload. */
  askable?: boolean;
}

const KEY = 'melicit-colleague';

/** Whose questions these are, for the page with the result. */
export function rememberColleague(id: string, proof: string): void {
  try {
    sessionStorage.setItem(KEY, `${id}/${proof}`);
  } catch {
    // Then there is no comparison at the end.
  }
}

const ends = (r: Ratio): [number, number] => [r.low ?? r.value, r.high ?? r.value];

function verdict(mine: Ratio, theirs: Ratio): string {
  const [low, high] = ends(mine);
  const [from, to] = ends(theirs);
  if (low > to) return `A ${mine.missed} counts more to you than to them.`;
  if (high < from) return `A ${mine.missed} counts less to you than to them.`;
  return 'The two agree as far as the answers tell: the ranges overlap.';
}

/** As a share of all weights, so that two people's can be compared. */
function share(weights: readonly Weight[], w: Weight): Range {
  const all = weights.reduce((sum, x) => sum + Math.abs(x.value), 0) || 1;
  const ends = [w.low ?? w.value, w.high ?? w.value].map((x) => Math.abs(x) / all).sort((x, y) => x - y);
  return { value: Math.abs(w.value) / all, low: ends[0], high: ends[1] };
}

/** More classes, groups: every weight of both, on one scale. */
function Weights({ mine, theirs }: { mine: Weight[]; theirs: Weight[] }): JSX.Element | null {
  const pairs = mine.flatMap((w) => {
    const other = theirs.find((t) => t.symbol === w.symbol);
    return other ? [{ name: w.name, a: share(mine, w), b: share(theirs, other) }] : [];
  });
  if (pairs.length === 0) return null;
  const apart = pairs.filter(({ a, b }) => (a.low ?? 0) > (b.high ?? 1) || (a.high ?? 1) < (b.low ?? 0));
  const high = Math.max(...pairs.flatMap(({ a, b }) => [a.high ?? a.value, b.high ?? b.value]));
  const line = (who: string, r: Range): JSX.Element => (
    <div class="colleague-row">
      <span>
        {who} <b>{Math.round(100 * r.value)}%</b>
      </span>
      <Interval range={r} low={0} high={high} ticks={[0, high]} format={(x) => `${Math.round(100 * x)}%`} />
    </div>
  );
  return (
    <section>
      <h2>You and your colleague</h2>
      <p>
        {apart.length === 0
          ? 'The two agree as far as the answers tell: the ranges of every weight overlap.'
          : `You differ in ${list(apart.map((p) => p.name))}; the other ranges overlap.`}
      </p>
      <div class="cards">
        {pairs.map(({ name, a, b }) => (
          <div key={name} class="card">
            <h3>{capital(name)}</h3>
            {line('You', a)}
            {line('Your colleague', b)}
          </div>
        ))}
      </div>
    </section>
  );
}

/** Both ratios on one scale. */
export function Colleague({ result }: { result: Result }): JSX.Element | null {
  const [theirs, setTheirs] = useState<Result | null>(null);
  useEffect(() => {
    const link = sessionStorage.getItem(KEY);
    if (link) get<SharedResult>(`/api/shared/${link}`).then((told) => setTheirs(told.result)).catch(() => setTheirs(null));
  }, []);
  const [a, b] = [result.cost_ratio, theirs?.cost_ratio];
  if (theirs && !(a && b)) return <Weights mine={result.weights ?? []} theirs={theirs.weights ?? []} />;
  if (!a || !b) return null;
  const ticks = logTicks({ value: a.value, low: Math.min(...ends(a), ...ends(b)), high: Math.max(...ends(a), ...ends(b)) });
  const row = (name: string, r: Ratio): JSX.Element => (
    <>
      <p>
        <b>{name}:</b> one {r.missed} is as bad as {short(r.value)} {r.false_alarms} ({short(ends(r)[0])} to{' '}
        {short(ends(r)[1])})
      </p>
      <Interval range={r} low={ticks.low} high={ticks.high} ticks={ticks.ticks} log />
    </>
  );
  return (
    <section>
      <h2>You and your colleague</h2>
      <p>{verdict(a, b)}</p>
      {row('You', a)}
      {row('Your colleague', b)}
    </section>
  );
}
