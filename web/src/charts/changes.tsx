// More than two classes, or groups: the numbers in which A and B differ, on one scale, the largest difference first.

import type { JSX } from 'preact';
import {
  className,
  gap,
  outcomesThatDiffer,
  positiveOf,
  type Cell,
  type Outcome,
  type TwoSystems,
} from '../lib/counts';
import { t, tx } from '../lib/say';
import { alarmWord, capital, change, missedWord, percent, whole } from '../lib/text';
import type { Words } from '../lib/types';

interface Props {
  question: TwoSystems;
  words?: Words;
  rates: boolean;
  /** What A and B are called. */
  sides?: [string, string];
}

function titleOf(m: Outcome, q: TwoSystems, words?: Words): string {
  if (m.truth === m.predicted) return t`${capital(className(q.classes, m.truth))} predicted rightly`;
  if (q.classes.length === 2) return capital(m.truth === positiveOf(q) ? missedWord(words, 2) : alarmWord(words, 2));
  return t`${capital(className(q.classes, m.truth))} predicted ${className(q.classes, m.predicted)}`;
}

function Meter({
  side,
  name,
  count,
  total,
  scale,
  rates,
}: {
  side: string;
  name: string;
  count: number;
  total: number;
  scale: number;
  rates: boolean;
}): JSX.Element {
  const share = rates ? count / Math.max(1, total) : count / scale;
  return (
    <div class="meter">
      <span class={name === side ? 'side-mark' : 'side-word'}>{name}</span>
      <svg class="meter-bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        <rect class="bar-back" width="100" height="10" />
        <rect class={`meter-${side.toLowerCase()}`} width={Math.max(count > 0 ? 0.8 : 0, 100 * share)} height="10" />
      </svg>
      <b>{rates ? percent(count, total) : whole(count)}</b>
    </div>
  );
}

function Row({ cell, q, scale, rates, sides }: { cell: Cell; q: TwoSystems; scale: number; rates: boolean; sides: [string, string] }): JSX.Element {
  return (
    <div class="change-row">
      {q.groups?.length ? <div class="change-group">{q.groups[cell.group]}</div> : null}
      <div class="meters">
        <Meter side="A" name={sides[0]} count={cell.a} total={cell.total} scale={scale} rates={rates} />
        <Meter side="B" name={sides[1]} count={cell.b} total={cell.total} scale={scale} rates={rates} />
      </div>
      <div class="change-words">{cell.a === cell.b ? t`no difference` : t`${sides[1]} has ${change(cell.a, cell.b)}`}</div>
    </div>
  );
}

function GapRow({ m, rates, sides }: { m: Outcome; rates: boolean; sides: [string, string] }): JSX.Element {
  const of = (side: 'a' | 'b'): string => {
    const width = gap(m.groups.map((c) => (rates ? (100 * c[side]) / Math.max(1, c.total) : c[side])));
    return rates ? t`${Math.round(width)} points` : whole(width);
  };
  return (
    <p class="change-gap">
      {tx`Gap between the groups: ${<b>{of('a')}</b>} with ${sides[0]}, ${<b>{of('b')}</b>} with ${sides[1]}`}
    </p>
  );
}

export function Changes({ question, words, rates, sides = ['A', 'B'] }: Props): JSX.Element {
  const outcomes = outcomesThatDiffer(question);
  const scale = Math.max(1, ...outcomes.flatMap((m) => m.groups.flatMap((c) => [c.a, c.b])));
  if (outcomes.length === 0) return <p>{t`In these numbers A and B are alike.`}</p>;
  return (
    <div class="changes">
      {outcomes.map((m) => (
        <section key={`${m.truth}-${m.predicted}`} class={`change kind-${m.kind}`}>
          <h3>
            {titleOf(m, question, words)}
            {question.classes.length === 2 && m.truth !== m.predicted && (
              <small>
                {t`really ${className(question.classes, m.truth)}, but called ${className(question.classes, m.predicted)}`}
              </small>
            )}
          </h3>
          {m.groups.map((cell) => (
            <Row key={cell.group} cell={cell} q={question} scale={scale} rates={rates} sides={sides} />
          ))}
          {m.groups.length > 1 && <GapRow m={m} rates={rates} sides={sides} />}
        </section>
      ))}
    </div>
  );
}
