// The sentence that the answers come to, and the equation of marks that it is.

import type { JSX } from 'preact';
import { Equation } from '../charts/equation';
import { Interval, logTicks } from '../charts/interval';
import { t, tx } from '../lib/say';
import { alarmWord, capital, missedWord, short, whole } from '../lib/text';
import type { Bound, Placed, Range, Ratio, Result, Words } from '../lib/types';
import { Heading } from './common';

/** About the graver of the two mistakes; with one bound only, about the one that it makes a number above 1 of. */
interface Sides {
  grave: 'missed' | 'alarm';
  one: string;
  many: string;
  single: string;
  range: { value: number; low: number | null; high: number | null };
  /** Of how many, where it is about shares of each class. */
  each?: string;
  /** Where the answers set one bound only. */
  bound?: Bound;
}

const known = (x: number | null | undefined): x is number => typeof x === 'number' && Number.isFinite(x) && x > 0;

/** The other way round where a false alarm is the graver one: never less than one of a kind. */
export function sidesOf(ratio: Ratio, interval?: [number | null, number | null]): Sides {
  const [low, high] = interval ?? [ratio.low ?? null, ratio.high ?? null];
  const [least, most] = [known(low) ? low : null, known(high) ? high : null];
  const { bound } = ratio;
  if (bound ? bound.about === 'missed' : ratio.value >= 1)
    return { grave: 'missed', one: ratio.missed, many: ratio.false_alarms, single: ratio.false_alarm, range: { value: ratio.value, low: least, high: most }, bound };
  return {
    bound,
    grave: 'alarm',
    one: ratio.false_alarm,
    many: ratio.missed_plural,
    single: ratio.missed,
    range: { value: 1 / ratio.value, low: most === null ? null : 1 / most, high: least === null ? null : 1 / least },
  };
}

const answers = ({ questions }: Result): string => (questions === 1 ? t`1 answer` : t`${whole(questions)} answers`);

/** What comes before the sentence. */
const whose = (result: Result, them: boolean): string =>
  result.questions === 1 ? (them ? t`Their answer says` : t`Your answer says`) : them ? t`Their ${answers(result)} say` : t`Your ${answers(result)} say`;

const searched = (result: Result): boolean => result.metric?.elicited?.strategy === 'search';

function Scale({ range }: { range: Range }): JSX.Element {
  const ticks = logTicks(range);
  return <Interval range={range} low={ticks.low} high={ticks.high} ticks={ticks.ticks} log />;
}

/** Two classes in groups: what one mistake in a hundred of its class is worth, from the ratio of the two costs. */
function ratesOf(result: Result, words?: Words): Sides | null {
  const { classes = [], coordinates } = result.metric?.layout ?? {};
  const found = result.ratios?.[0];
  if (classes.length !== 2 || coordinates !== 'offdiagonal' || result.ratios?.length !== 1 || !found || !known(found.ratio)) return null;
  const missed = (n: number): string => missedWord(words, n);
  const alarm = (n: number): string => alarmWord(words, n);
  const grave = found.of === 1 ? 'missed' : 'alarm';
  const [heavy, light] = grave === 'missed' ? [missed, alarm] : [alarm, missed];
  const [low, high] = found.interval;
  const range = { value: 1 / found.ratio, low: known(high) ? 1 / high : null, high: known(low) ? 1 / low : null };
  const least = found.more_than;
  const bound = least === undefined ? undefined : ({ about: grave === 'missed' ? 'missed' : 'false_alarm', more: true, number: least, one: heavy(1), many: light(least === '1' ? 1 : 2) } as const);
  return { grave, one: heavy(1), many: light(2), single: light(1), range, each: t` in 100`, bound };
}

function RatioWords({ result, sides, words, them }: { result: Result; sides: Sides; words?: Words; them: boolean }): JSX.Element {
  const { grave, one, many, single, range, bound, each = '' } = sides;
  const number = short(range.value);
  // A bound on one side only.
  const open = range.high === null || range.low === null;
  const light = grave === 'missed' ? 'alarm' : 'missed';
  const first = <b>{t`one ${one}`}</b>;
  const much = <b>{number === '1' ? t`about 1 ${single}` : t`about ${number} ${many}`}</b>;
  const least = bound && <b>{`${bound.number} ${bound.many}`}</b>;
  return (
    <>
      <Heading say>
        {!bound
          ? them
            ? tx`To them, ${first}${each} is as bad as ${much}${each}.`
            : tx`To you, ${first}${each} is as bad as ${much}${each}.`
          : bound.more
            ? them
              ? tx`To them, ${first}${each} is worse than ${least}${each}.`
              : tx`To you, ${first}${each} is worse than ${least}${each}.`
            : them
              ? tx`To them, ${first}${each} is less bad than ${least}${each}.`
              : tx`To you, ${first}${each} is less bad than ${least}${each}.`}
      </Heading>
      {open ? (
        <p class="say-range">{result.headline.why || result.words}</p>
      ) : (
        range.low !== null && (
          <p class="say-range">
            {searched(result)
              ? t`Between ${short(range.low)} and ${short(range.high as number)}, where the search ended.`
              : t`Between ${short(range.low)} and ${short(range.high as number)}, as far as ${answers(result)} can tell.`}
          </p>
        )
      )}
      {words?.consequences?.alarmed && <p class="say-range note">{t`${capital(alarmWord(words, 1))}: ${words.consequences.alarmed}.`}</p>}
      {range.low === null ? null : (range.high ?? range.low ?? 0) > 40 || (range.high ?? range.low ?? 0) < 1 ? (
        <Scale range={range} />
      ) : (
        <Equation grave={grave} light={light} {...range} />
      )}
    </>
  );
}

/** Of given classifiers the decision comes first: which one. What was answered is never contradicted in the headline. */
function Preferred({ order, chosen }: { order: Placed[]; chosen?: string }): JSX.Element {
  const chance = order[0]?.best_probability ?? 0;
  if (chosen !== undefined && (chosen !== order[0]?.name || chance < 0.95))
    return (
      <Heading say>
        {order.length === 2 ? tx`You chose ${<b>{chosen}</b>} over the other one.` : tx`You chose ${<b>{chosen}</b>} over each of the other ${order.length - 1}.`}
      </Heading>
    );
  const name = <b>{order[0]?.name}</b>;
  return (
    <Heading say>
      {chance >= 0.95
        ? tx`To you, ${name} is the best of these ${order.length} classifiers.`
        : chance >= 0.5
          ? tx`To you, ${name} is probably the best of these ${order.length} classifiers.`
          : tx`To you, ${name} is perhaps the best of these ${order.length} classifiers.`}
    </Heading>
  );
}

/** All answers were "can't say". */
export const nothingFound = (result: Result): boolean => result.statements.some((s) => s.key === 'unanswered');

export function Headline({ result, words, them = false }: { result: Result; words?: Words; them?: boolean }): JSX.Element {
  const { headline } = result;
  const none = result.statements.find((s) => s.key === 'none-preferred');
  const ratio = result.cost_ratio ? sidesOf(result.cost_ratio, result.ratio_interval) : ratesOf(result, words);
  const settled = headline.kind === 'number' || (headline.kind !== 'unsettled' && ratio?.bound !== undefined);
  const sides = settled ? ratio : null;
  return (
    <section class="headline">
      <p class="out-of">{whose(result, them)}</p>
      {nothingFound(result) ? (
        <Heading say>{t`You chose “Can't say” every time, so there is nothing to show yet.`}</Heading>
      ) : result.order && result.order.length > 1 ? (
        <>
          {none ? (
            <Heading say>{t`None of these ${result.order.length} classifiers is preferred to another.`}</Heading>
          ) : (
            <Preferred order={result.order} chosen={result.chosen} />
          )}
          <p class="say-range">{(none ?? result.statements.find((s) => s.key === 'preferred'))?.text}</p>
          <p class="say-range">{result.words}</p>
        </>
      ) : sides ? (
        <>
          <RatioWords {...{ result, sides, words, them }} />
          {!result.cost_ratio && headline.rest && <p class="say-range">{headline.rest}</p>}
        </>
      ) : (
        <>
          <Heading say={headline.text.length < 160}>{headline.text}</Heading>
          {[headline.why, headline.range, headline.rest]
            .filter((text) => text)
            .map((text) => (
              <p class="say-range">{text}</p>
            ))}
        </>
      )}
    </section>
  );
}
