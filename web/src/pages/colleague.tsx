// Somebody else's result next to one's own.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Interval, logTicks } from '../charts/interval';
import { get } from '../lib/api';
import { short } from '../lib/text';
import type { Ratio, Result, Words } from '../lib/types';

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

/** Both ratios on one scale. */
export function Colleague({ result }: { result: Result }): JSX.Element | null {
  const [theirs, setTheirs] = useState<Result | null>(null);
  useEffect(() => {
    const link = sessionStorage.getItem(KEY);
    if (link) get<SharedResult>(`/api/shared/${link}`).then((told) => setTheirs(told.result)).catch(() => setTheirs(null));
  }, []);
  const [a, b] = [result.cost_ratio, theirs?.cost_ratio];
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
