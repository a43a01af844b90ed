// Somebody else's result next to one's own.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Interval, logTicks } from '../charts/interval';
import { get } from '../lib/api';
import { t } from '../lib/say';
import { capital, list, short } from '../lib/text';
import type { Range, Ratio, Result, Weight, Words } from '../lib/types';
import { sidesOf } from './headline';

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

/** Without an upper bound it may be anything. */
const ends = (r: Ratio): [number, number] => [r.low ?? r.value, r.high === null ? Infinity : (r.high ?? r.value)];

/** What is drawn: bounds that there are. */
const drawn = (r: Ratio): number[] => [r.value, ...ends(r)].filter((x) => x > 0 && Number.isFinite(x));

/** As the headline of each has it. */
function counts(r: Ratio): string {
  if (r.bound)
    return r.bound.more ? t`one ${r.bound.one} is worse than ${r.bound.number} ${r.bound.many}` : t`one ${r.bound.one} is less bad than ${r.bound.number} ${r.bound.many}`;
  const { one, many, range } = sidesOf(r);
  const between = range.low === null || range.high === null ? '' : t` (${short(range.low)} to ${short(range.high)})`;
  return t`one ${one} is as bad as ${short(range.value)}${between} ${many}`;
}

function verdict(mine: Ratio, theirs: Ratio): string {
  const [low, high] = ends(mine);
  const [from, to] = ends(theirs);
  if (low > to) return t`A ${mine.missed} counts more to you than to them.`;
  if (high < from) return t`A ${mine.missed} counts less to you than to them.`;
  return t`The two agree as far as the answers tell: the ranges overlap.`;
}

/** More classes, groups: every weight of both, on one scale. */
function Weights({ mine, theirs }: { mine: Weight[]; theirs: Weight[] }): JSX.Element | null {
  const pairs = mine.flatMap((w) => {
    const other = theirs.find((t) => t.symbol === w.symbol);
    return w.share && other?.share ? [{ name: w.name, a: w.share, b: other.share }] : [];
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
      <h2>{t`You and your colleague`}</h2>
      <p>
        {apart.length === 0
          ? t`The two agree as far as the answers tell: the ranges of every weight overlap.`
          : t`You differ in ${list(apart.map((p) => p.name))}; the other ranges overlap.`}
      </p>
      <div class="cards">
        {pairs.map(({ name, a, b }) => (
          <div key={name} class="card">
            <h3>{capital(name)}</h3>
            {line(t`You`, a)}
            {line(t`Your colleague`, b)}
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
  const ticks = logTicks({ value: a.value, low: Math.min(...drawn(a), ...drawn(b)), high: Math.max(...drawn(a), ...drawn(b)) });
  const row = (name: string, r: Ratio): JSX.Element => (
    <>
      <p>
        <b>{name}:</b> {counts(r)}.
      </p>
      <Interval range={r} low={ticks.low} high={ticks.high} ticks={ticks.ticks} log />
    </>
  );
  return (
    <section>
      <h2>{t`You and your colleague`}</h2>
      <p>
        {verdict(a, b)} {t`On the scales: ${a.false_alarms} to one ${a.missed}.`}
      </p>
      {row(t`You`, a)}
      {row(t`Your colleague`, b)}
    </section>
  );
}
