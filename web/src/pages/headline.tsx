// The sentence that the answers come to, and the equation of marks that it is.

import type { JSX } from 'preact';
import { Equation } from '../charts/equation';
import { Interval, logTicks } from '../charts/interval';
import { short } from '../lib/text';
import type { Range, Ratio, Result, Words } from '../lib/types';
import { Heading } from './common';

/** About the graver of the two mistakes; with one bound only, about the one that it makes a number above 1 of. */
interface Sides {
  grave: 'missed' | 'alarm';
  one: string;
  many: string;
  single: string;
  range: { value: number; low: number | null; high: number | null };
}

const known = (x: number | null | undefined): x is number => typeof x === 'number' && Number.isFinite(x) && x > 0;

/** The other way round where a false alarm is the graver one: never less than one of a kind. */
function sidesOf(ratio: Ratio, interval: [number | null, number | null] | undefined): Sides {
  const [low, high] = interval ?? [ratio.low ?? null, ratio.high ?? null];
  const [least, most] = [known(low) ? low : null, known(high) ? high : null];
  const bound = least === null || most === null ? (least ?? most) : null;
  if ((bound ?? ratio.value) >= 1)
    return { grave: 'missed', one: ratio.missed, many: ratio.false_alarms, single: ratio.false_alarm, range: { value: ratio.value, low: least, high: most } };
  return {
    grave: 'alarm',
    one: ratio.false_alarm,
    many: ratio.missed_plural,
    single: ratio.missed,
    range: { value: 1 / ratio.value, low: most === null ? null : 1 / most, high: least === null ? null : 1 / least },
  };
}

const searched = (result: Result): boolean => result.metric?.elicited?.strategy === 'search';

function Scale({ range }: { range: Range }): JSX.Element {
  const ticks = logTicks(range);
  return <Interval range={range} low={ticks.low} high={ticks.high} ticks={ticks.ticks} log />;
}

function RatioWords({ result, ratio }: { result: Result; ratio: Ratio }): JSX.Element {
  const { grave, one, many, single, range } = sidesOf(ratio, result.ratio_interval);
  const number = short(range.value);
  // A bound on one side only.
  const open = range.high === null || range.low === null;
  const words = result.statements.find((s) => s.key === 'words')?.text ?? '';
  const light = grave === 'missed' ? 'alarm' : 'missed';
  return (
    <>
      <Heading say>
        To you, <b>one {one}</b>{' '}
        {open ? (
          <>
            {range.low === null ? 'is less bad than ' : 'is worse than '}
            <b>
              {short(range.low === null ? Math.ceil(range.high ?? 0) : Math.floor(range.low))} {many}
            </b>
            .
          </>
        ) : (
          <>
            is as bad as{' '}
            <b>
              {number === '1' ? `about 1 ${single}` : `about ${number} ${many}`}
            </b>
            .
          </>
        )}
      </Heading>
      {open ? (
        <p class="say-range">{words}</p>
      ) : (
        range.low !== null && (
          <p class="say-range">
            Between {short(range.low)} and {short(range.high as number)},{' '}
            {searched(result) ? 'where the search ended' : `as far as ${result.questions} answers can tell`}.
          </p>
        )
      )}
      {range.low === null ? null : (range.high ?? range.low ?? 0) > 40 || (range.high ?? range.low ?? 0) < 1 ? (
        <Scale range={range} />
      ) : (
        <Equation grave={grave} light={light} {...range} />
      )}
    </>
  );
}

export function Headline({ result, words }: { result: Result; words?: Words }): JSX.Element {
  const first = result.statements.find((s) => s.key === 'words')?.text ?? '';
  // Of several sentences the one that compares two mistakes says most; lists of numbers come below.
  const all = first.split(/(?<=[.!?]) (?=[A-Z])/);
  const main = all.find((s) => /^(Predicting|Getting) /.test(s)) ?? all[0] ?? '';
  // Weights have a picture, which says them once; "How sure is this?" has every sentence.
  const rest = all.filter((s) => s !== main && !/^(Weight of|On a common scale)/.test(s));
  const bound = result.ratio_interval ?? [1, 1];
  // Nothing is known on either side: there is no number to show.
  const ratio = bound[0] === null && bound[1] === null ? undefined : result.cost_ratio;
  return (
    <section class="headline">
      <p class="out-of">
        Your {result.questions} answers{words?.task ? ` about ${words.task}` : ''} say
      </p>
      {ratio ? (
        <RatioWords result={result} ratio={ratio} />
      ) : (
        <>
          <Heading say={main.length < 160}>{main}</Heading>
          {rest.length > 0 && <p class="say-range">{rest.join(' ')}</p>}
        </>
      )}
    </section>
  );
}
