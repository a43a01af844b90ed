// The people of a pair, one mark each, those of one true class together: mistakes first, then everybody else.

import type { JSX } from 'preact';
import { binaryOrder, classTotal, className, matrices, positiveOf, rowTotals, sum } from '../lib/counts';
import { alarmWord, missedWord, percent, whole } from '../lib/text';
import type { Matrix, View, Words } from '../lib/types';
import { Crowd, Mark, type MarkKind } from './crowd';

interface ClassProps {
  title: string;
  total: number;
  wrong: number;
  other: number;
  /** What so many mistakes are called. */
  word: string;
  mistake: MarkKind;
  right: MarkKind;
  people: number;
  rates?: boolean;
  muted?: boolean;
}

/** Those of one class: how many there are, how many of them are mistaken, and all of them. */
export function ClassPeople(props: ClassProps): JSX.Element {
  const { title, total, wrong, other, word, mistake, right, people, rates = false, muted = false } = props;
  return (
    <div class={muted ? 'class-people muted' : 'class-people'}>
      <div class="crowd-head">
        <span>
          <b>{whole(total)}</b> truly {title}
        </span>
        <span class={`crowd-count crowd-${mistake}`}>
          <Mark kind={mistake} />
          <b>{whole(wrong)}</b> {word}
          {rates && <span class="rate">{percent(wrong, total)}</span>}
        </span>
      </div>
      <Crowd total={total} wrong={wrong} other={other} mistake={mistake} right={right} people={people} />
    </div>
  );
}

interface Props {
  view: View;
  other?: View;
  words?: Words;
  rates: boolean;
}

export function People({ view, other, words, rates }: Props): JSX.Element {
  const p = positiveOf(view);
  const m = matrices(view.counts)[0] ?? [];
  const than = other ? (matrices(other.counts)[0] ?? []) : m;
  const totals = rowTotals(m);
  return (
    <div class="people">
      {binaryOrder(p).map((truth) => {
        const wrong = m[truth]?.[1 - truth] ?? 0;
        return (
          <ClassPeople
            key={truth}
            title={className(view.classes, truth)}
            total={totals[truth] ?? 0}
            wrong={wrong}
            other={than[truth]?.[1 - truth] ?? 0}
            word={truth === p ? missedWord(words, wrong) : alarmWord(words, wrong)}
            mistake={truth === p ? 'missed' : 'alarm'}
            right={truth === p ? 'found' : 'clear'}
            people={view.people}
            rates={rates}
          />
        );
      })}
    </div>
  );
}

/* --- more classes --------------------------------------------------------------------------------- */

const MOST_CLASSES = 6;

const wrongOf = (m: Matrix, view: View, truth: number): number => {
  const row = m[truth] ?? [];
  return row.includes(null) ? classTotal(row, view, truth) - (row[truth] ?? 0) : sum(row) - (row[truth] ?? 0);
};

/** Whether how many of each class are recognised tells all that differs, in a picture that is not too large. */
export function showsClasses(a: View, b: View): boolean {
  const k = a.classes.length;
  if (k < 3 || k > MOST_CLASSES || a.groups?.length || a.of_each_class) return false;
  const [ma, mb] = [matrices(a.counts)[0] ?? [], matrices(b.counts)[0] ?? []];
  return ma.every(
    (row, truth) =>
      row.every((n, j) => j === truth || n === null || n === (mb[truth]?.[j] ?? null)) ||
      wrongOf(ma, a, truth) !== wrongOf(mb, b, truth),
  );
}

/** Every class with how many of it are not recognised; those that differ have marks of their own. */
export function ClassesPeople({ view, other }: { view: View; other: View }): JSX.Element {
  const [m, than] = [matrices(view.counts)[0] ?? [], matrices(other.counts)[0] ?? []];
  const differing = view.classes.flatMap((_, t) => (wrongOf(m, view, t) !== wrongOf(than, other, t) ? [t] : []));
  return (
    <div class="people">
      {view.classes.map((c, truth) => {
        const at = differing.indexOf(truth);
        return (
          <ClassPeople
            key={c.name}
            title={c.name}
            total={classTotal(m[truth] ?? [], view, truth)}
            wrong={wrongOf(m, view, truth)}
            other={wrongOf(than, other, truth)}
            word={at < 0 ? 'not recognised, no difference' : 'not recognised'}
            mistake={at === 0 ? 'missed' : at === 1 ? 'alarm' : 'other'}
            right={at < 0 ? 'clear' : 'found'}
            people={view.people}
            muted={at < 0}
          />
        );
      })}
    </div>
  );
}
