// The people of a pair, one mark each, those of one true class together: mistakes first, then everybody else.

import type { JSX } from 'preact';
import { binaryOrder, classTotal, className, isBinary, matrices, positiveOf, rowTotals, sum } from '../lib/counts';
import { t, tx } from '../lib/say';
import { alarmWord, capital, missedWord, percent, whole } from '../lib/text';
import type { Frame, Matrix, View, Words } from '../lib/types';
import { Block, Crowd, Mark, usePhone, type MarkKind } from './crowd';

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
  /** Marks of half the size. */
  fine?: boolean;
  /** What so many of the others are: "25 found". */
  kept?: (n: number) => string;
}

/** Those of one class: how many there are, how many of them are mistaken, and all of them. */
export function ClassPeople(props: ClassProps): JSX.Element {
  const { title, total, wrong, other, word, mistake, right, people, rates = false, muted = false, fine, kept } = props;
  return (
    <div class={muted ? 'class-people muted' : 'class-people'}>
      <div class="crowd-head">
        <span>
          <b>{whole(total)}</b> {title}
        </span>
        <span class={`crowd-count crowd-${mistake}`}>
          <Mark kind={mistake} />
          <b class={`digits-${String(total).length}`}>{whole(wrong)}</b> {word}
          {rates && <span class="rate">{percent(wrong, total)}</span>}
          {muted && <span class="no-difference">, {t`no difference`}</span>}
          {!muted && kept && (
            <span class="crowd-kept">
              <Mark kind={right} /> {kept(total - wrong)}
            </span>
          )}
        </span>
      </div>
      <Crowd total={total} wrong={wrong} other={other} mistake={mistake} right={right} people={people} fine={fine} />
    </div>
  );
}

interface Props {
  view: View;
  other?: View;
  words?: Words;
  rates: boolean;
  /** Two such pictures are side by side, also on a phone. */
  beside?: boolean;
}

/** "with cancer", "without cancer", where it is known what is found; else the name of the class. */
export function titleOf(view: Frame, truth: number, words?: Words): string {
  const found = words?.consequences?.found;
  if (!found || !isBinary(view)) return className(view.classes, truth);
  return truth === positiveOf(view) ? t`with ${found}` : t`without ${found}`;
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
            title={titleOf(view, truth, words)}
            kept={(n) => (truth === p ? t`${whole(n)} found` : t`${whole(n)} cleared`)}
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
const MOST_GROUPS = 4;
/** Marks of one block of a group, or of one of several classes that have as many each. */
const MOST_PEOPLE = 1000;

/** Whether there is a picture with a mark for each person. */
export function showsPeople(view: Frame): boolean {
  const k = view.classes.length;
  const groups = view.groups?.length ?? 0;
  if (groups > 0) return k <= MOST_CLASSES && groups <= MOST_GROUPS && view.people <= MOST_PEOPLE;
  return k === 2 || (k <= MOST_CLASSES && (!view.of_each_class || view.people <= MOST_PEOPLE));
}

/** How many of a class are taken for another one. */
export const wrongOf = (m: Matrix, view: View, truth: number): number => {
  const row = m[truth] ?? [];
  return row.includes(null) ? classTotal(row, view, truth) - (row[truth] ?? 0) : sum(row) - (row[truth] ?? 0);
};

/** What the mistakes about a class are taken for; what differs from the other system is set off. */
function TakenFor({ view, row, than, truth }: { view: View; row: Matrix[number]; than: Matrix[number]; truth: number }): JSX.Element | null {
  if (row.includes(null)) return null;
  return (
    <p class="taken-for">
      {t`taken for`}{' '}
      {view.classes.map((c, j) =>
        j === truth ? null : (
          <span key={c.name} class={row[j] === than[j] ? undefined : 'differs'}>
            {c.name} {whole(row[j] ?? 0)}
          </span>
        ),
      )}
    </p>
  );
}

/** Every class with how many of it are not recognised; those that differ have marks of their own. */
export function ClassesPeople({ view, other, words }: { view: View; other: View; words?: Words }): JSX.Element {
  const [m, than] = [matrices(view.counts)[0] ?? [], matrices(other.counts)[0] ?? []];
  const grave = (i: number): number => Number(view.classes[i]?.name === words?.gravest);
  const differing = view.classes
    .flatMap((_, i) => (wrongOf(m, view, i) !== wrongOf(than, other, i) ? [i] : []))
    .sort((x, y) => grave(y) - grave(x) || Math.abs(wrongOf(m, view, y) - wrongOf(than, other, y)) - Math.abs(wrongOf(m, view, x) - wrongOf(than, other, x)));
  return (
    <div class="people classes-people">
      {view.classes.map((c, truth) => {
        const at = differing.indexOf(truth);
        return (
          <div key={c.name}>
            <ClassPeople
              title={c.name}
              total={classTotal(m[truth] ?? [], view, truth)}
              wrong={wrongOf(m, view, truth)}
              other={wrongOf(than, other, truth)}
              word={t`wrong`}
              mistake={at === 0 ? 'missed' : at === 1 ? 'alarm' : 'other'}
              right={at < 0 ? 'clear' : 'found'}
              people={view.people}
              fine={view.of_each_class && view.people > 100}
              muted={at < 0}
            />
            <TakenFor view={view} row={m[truth] ?? []} than={than[truth] ?? []} truth={truth} />
          </div>
        );
      })}
    </div>
  );
}

/* --- groups --------------------------------------------------------------------------------------- */

interface Level {
  wrong: number;
  other: number;
  total: number;
}

/** The step from one group's level to the next one's. */
function Gap({ from, to }: { from: Level; to: Level }): JSX.Element {
  const height = (l: Level): number => 100 - (100 * l.wrong) / Math.max(1, l.total);
  const size = from.total === to.total ? Math.abs(from.wrong - to.wrong) : null;
  const points = Math.round(100 * Math.abs(from.wrong / Math.max(1, from.total) - to.wrong / Math.max(1, to.total)));
  return (
    <div class="group-gap">
      <p>
        <b>{size === 0 ? t`no` : size === null ? `${points}%` : whole(size)}</b> {t`gap`}
      </p>
      <svg viewBox="0 0 40 100" preserveAspectRatio="none" aria-hidden="true">
        <path d={`M2 ${height(from)}H20V${height(to)}H38`} />
      </svg>
    </div>
  );
}

/** Groups side by side, filled from below with mistakes: the step between the levels is the difference between groups. */
export function GroupsPeople({ view, other, words, rates, beside = false }: Props): JSX.Element {
  const p = positiveOf(view);
  const phone = usePhone();
  const two = view.classes.length === 2;
  const all = matrices(view.counts);
  const than = other ? matrices(other.counts) : all;
  const levelsOf = (truth: number): Level[] =>
    all.map((m, g) => ({
      wrong: wrongOf(m, view, truth),
      other: wrongOf(than[g] ?? m, other ?? view, truth),
      total: classTotal(m[truth] ?? [], view, truth),
    }));
  const changed = (levels: Level[]): boolean => levels.some((l) => l.wrong !== l.other);
  const order = two ? binaryOrder(p) : view.classes.map((_, truth) => truth);
  const differing = order.filter((truth) => changed(levelsOf(truth)));
  const markOf = (truth: number): MarkKind => {
    if (two) return truth === p ? 'missed' : 'alarm';
    const at = differing.indexOf(truth);
    return at === 0 ? 'missed' : at === 1 ? 'alarm' : 'other';
  };
  const nameOf = (truth: number): string =>
    two ? capital(truth === p ? missedWord(words, 2) : alarmWord(words, 2)) : t`${capital(className(view.classes, truth))} wrong`;
  return (
    <div class="people groups-people">
      {order.map((truth) => {
        const kind = markOf(truth);
        const levels = levelsOf(truth);
        const differ = changed(levels);
        return (
          <section key={truth} class={differ ? 'group-kind' : 'group-kind muted'}>
            <h3>
              <Mark kind={kind} /> {nameOf(truth)}{' '}
              <small>
                {!differ && <span class="no-difference">{t`no difference`}</span>}
              </small>
            </h3>
            <div class={`group-row groups-${levels.length}`}>
              {levels.flatMap((l, g) => [
                ...(g > 0 ? [<Gap key={`gap-${g}`} from={levels[g - 1] as Level} to={l} />] : []),
                <figure key={g}>
                  <Block
                    up
                    columns={l.total <= 100 ? 10 : phone && beside ? 25 : 50}
                    shaded={[Math.min(l.wrong, l.other), Math.max(l.wrong, l.other)]}
                    runs={[
                      { kind, n: l.wrong },
                      { kind: (two ? truth === p : differ) ? 'found' : 'clear', n: l.total - l.wrong },
                    ]}
                  />
                  <figcaption class={`crowd-${kind}`}>
                    {tx`${<b>{whole(l.wrong)}</b>} of ${whole(l.total)} ${view.groups?.[g]}`}
                    {rates && <span class="rate">{percent(l.wrong, l.total)}</span>}
                  </figcaption>
                </figure>,
              ])}
            </div>
          </section>
        );
      })}
    </div>
  );
}

/** A mark for each person, whatever there are: two classes, more of them, or groups. */
export function PeopleOf(props: Props): JSX.Element {
  const { view, other } = props;
  if (view.groups?.length) return <GroupsPeople {...props} />;
  return view.classes.length === 2 ? <People {...props} /> : <ClassesPeople view={view} other={other ?? view} words={props.words} />;
}
