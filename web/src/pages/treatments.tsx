// More classes, or groups: what the rule that fits the answers does with everybody, next to what is done today.

import type { JSX } from 'preact';
import { Changes } from '../charts/changes';
import { Mark } from '../charts/crowd';
import { PeopleOf, showsPeople, wrongOf } from '../charts/people';
import { apportioned, binaryOrder, className, differing, gap, matrices, positiveOf, type Cell } from '../lib/counts';
import { t, tx } from '../lib/say';
import { alarmWord, capital, change, changeOf, list, missedWord, percent, whole } from '../lib/text';
import type { Counts, Frame, Matrix, Result, Treatment, Treatments as Both, View, Words } from '../lib/types';
import { todayNote, TodayForm, type SendToday } from './today';

/** As many as the questions were about. */
const PEOPLE = 1000;
const IN_GROUPS = 100;

/** Whole people: of all, or where there are groups of each class in each group. */
function viewOf(frame: Frame, both: Both, rule: Treatment): View {
  const whole = both.share.map((shares) => apportioned(PEOPLE, shares.map((share) => share ?? 0)));
  const total = (g: number, truth: number): number => (frame.of_each_class ? frame.people : (whole[g]?.[truth] ?? 0));
  const row = (cells: Treatment['decided'][number][number], g: number, truth: number): Matrix[number] => {
    const all = total(g, truth);
    const counts = cells.map((cell) => (cell === null ? null : Math.round(all * cell[0])));
    // What is rounded away belongs to those who are decided rightly.
    if (!counts.includes(null)) counts[truth] = all - counts.reduce<number>((n, c, j) => (j === truth ? n : n + (c ?? 0)), 0);
    return counts;
  };
  const groups = rule.decided.map((rows, g): Matrix => rows.map((cells, truth) => row(cells, g, truth)));
  const counts: Counts = frame.groups?.length ? groups : (groups[0] ?? []);
  return { ...frame, counts };
}

/** What the numbers are about. */
function frameOf(result: Result, both: Both): Frame {
  const classes = result.metric?.layout?.classes ?? [];
  const groups = result.metric?.layout?.groups ?? [];
  return {
    people: groups.length > 1 ? IN_GROUPS : PEOPLE,
    of_each_class: groups.length > 1,
    classes: classes.map((name, i) => ({ name, share: both.share[0]?.[i] ?? null })),
    ...(groups.length > 1 ? { groups } : {}),
    positive: 1,
  };
}

/** "10 more of 258 bus recognised" */
const cellWords = (c: Cell, frame: Frame): string =>
  c.truth === c.predicted
    ? t`${change(c.a, c.b)} of ${whole(c.total)} ${className(frame.classes, c.truth)} right`
    : t`${change(c.a, c.b)} of ${whole(c.total)} ${className(frame.classes, c.truth)} taken for ${className(frame.classes, c.predicted)}`;

interface ComparedProps {
  frame: Frame;
  today: View;
  mine: View;
  words?: Words;
  /** Whether somebody said what is decided today. */
  given: boolean;
}

function ComparedClasses({ frame, today, mine, words, given }: ComparedProps): JSX.Element {
  const told = (changes: string[]): JSX.Element => (
    <p class="compared">
      {given ? t`Compared with today:` : t`Compared with the most probable class:`} {changes.length === 0 ? t`no difference` : <b>{list(changes)}</b>}.
    </p>
  );
  const [a, b] = [matrices(today.counts)[0] ?? [], matrices(mine.counts)[0] ?? []];
  if (frame.classes.length === 2) {
    const changes = binaryOrder(positiveOf(frame)).map((truth) => {
      const [from, to] = [a[truth]?.[1 - truth] ?? 0, b[truth]?.[1 - truth] ?? 0];
      const name = truth === positiveOf(frame) ? missedWord : alarmWord;
      return from === to ? '' : changeOf(from, to, name(words, Math.abs(to - from)));
    });
    return told(changes.filter((text) => text !== ''));
  }
  // Right decisions say most; they are known also where mistakes are not.
  const totals = apportioned(frame.people, frame.classes.map((c) => c.share ?? 0));
  const right = frame.classes.map((_, i): Cell => {
    const total = totals[i] ?? 0;
    return { group: 0, truth: i, predicted: i, kind: 'right', a: a[i]?.[i] ?? 0, b: b[i]?.[i] ?? 0, total };
  });
  const moved = right.filter((c) => c.a !== c.b).sort((x, y) => Math.abs(y.b - y.a) - Math.abs(x.b - x.a));
  const rest = moved.length > 0 ? moved : differing({ ...frame, a: today.counts, b: mine.counts });
  return told(rest.slice(0, 4).map((c) => cellWords(c, frame)));
}

function ComparedGroups({ frame, today, mine, words, given }: ComparedProps): JSX.Element {
  const groups = frame.groups ?? [];
  const two = frame.classes.length === 2;
  return (
    <div class="compared">
      {(two ? binaryOrder(positiveOf(frame)) : frame.classes.map((_, truth) => truth)).map((truth) => {
        const missed = truth === positiveOf(frame);
        const [from, to] = [today, mine].map((view) => matrices(view.counts).map((m) => wrongOf(m, view, truth))) as [number[], number[]];
        if (!two && from.every((n, g) => n === to[g])) return null;
        return (
          <p key={truth}>
            {two && <Mark kind={missed ? 'missed' : 'alarm'} />}
            {two ? capital(missed ? missedWord(words, 2) : alarmWord(words, 2)) : t`${capital(className(frame.classes, truth))} wrong`}{' '}
            {given ? t`compared with today:` : t`compared with the most probable class:`}{' '}
            <b>{groups.map((name, g) => `${name} ${change(from[g] ?? 0, to[g] ?? 0)}`).join(', ')}</b>.{' '}
            {tx`Gap from ${whole(gap(from))} to ${<b>{whole(gap(to))}</b>}.`}
          </p>
        );
      })}
    </div>
  );
}

/** Every class of every group with its range, as numbers. */
function AsTable({ frame, both }: { frame: Frame; both: Both }): JSX.Element {
  const groups = frame.groups?.length ? frame.groups : [''];
  const cell = (rule: Treatment | undefined, g: number, i: number): string => {
    const share = rule?.decided[g]?.[i]?.[i];
    if (!share) return '–';
    const [value, low, high] = share;
    return `${percent(value, 1)}${low === null || high === null ? '' : t` (${percent(low, 1)} to ${percent(high, 1)})`}`;
  };
  return (
    <div class="table-scroll" tabIndex={0} role="group" aria-label={t`What is right, in numbers`}>
      <table>
        <caption>{t`Of each class, the share that is right; in brackets the 95% range for others like them`}</caption>
        <thead>
          <tr>
            <td />
            <th scope="col">{t`Your rule`}</th>
            <th scope="col">{both.today ? t`Today` : t`Most probable class`}</th>
          </tr>
        </thead>
        <tbody>
          {groups.flatMap((group, g) =>
            frame.classes.map((c, i) => (
              <tr key={`${group}-${c.name}`}>
                <th scope="row">
                  {c.name}
                  {group && `, ${group}`}
                </th>
                <td>{cell(both.rules[0], g, i)}</td>
                <td>{cell(both.rules[1], g, i)}</td>
              </tr>
            )),
          )}
        </tbody>
      </table>
    </div>
  );
}

function Card({ title, note, view, other, words, own }: { title: string; note: string; view: View; other: View; words?: Words; own?: boolean }): JSX.Element {
  return (
    <section class={own ? 'card setting own' : 'card setting'}>
      <h3>
        {title} <span>{note}</span>
      </h3>
      <PeopleOf view={view} other={other} words={words} rates={false} />
    </section>
  );
}

interface Props {
  result: Result;
  both: Both;
  words?: Words;
  /** Tells the server what is done today; undefined: somebody else's result. */
  send?: SendToday;
  told: boolean;
}

export function Treatments({ result, both, words, send, told }: Props): JSX.Element | null {
  const [best, today] = both.rules;
  if (!best || !today) return null;
  const frame = frameOf(result, both);
  const [mine, now] = [viewOf(frame, both, best), viewOf(frame, both, today)];
  const grouped = !!frame.groups?.length;
  const given = both.today === true;
  const people = frame.people;
  const note = todayNote(today.name);
  return (
    <section tabIndex={-1} data-told={told || undefined}>
      <h2>
        {grouped ? t`What it means for ${whole(people)} ${both.people} of each kind and group` : t`What it means for ${whole(people)} ${both.people}`}
      </h2>
      {showsPeople(frame) ? (
        <div class={grouped ? 'pair groups-pair' : 'pair'}>
          <Card own title={t`Your rule`} note={t`the best for your answers`} view={mine} other={now} words={words} />
          <Card title={given ? t`Today's` : t`Without weights`} note={note} view={now} other={mine} words={words} />
        </div>
      ) : (
        <Changes question={{ ...frame, a: now.counts, b: mine.counts }} words={words} rates={false} sides={[given ? t`Today` : t`Most probable`, t`Yours`]} />
      )}
      {grouped ? (
        <ComparedGroups {...{ frame, mine, words, given }} today={now} />
      ) : (
        <ComparedClasses {...{ frame, mine, words, given }} today={now} />
      )}
      <p class="note">
        <span class="shade-sample" />
        {t`Shaded: where the two differ.`}{' '}
        {both.rows > 0 && t`Measured on ${whole(both.rows)} rows: the table has the ranges for others like them.`}
      </p>
      {send && <TodayForm result={result} send={send} given={given} groups={grouped} />}
      <details>
        <summary>{t`The same as a table, with ranges`}</summary>
        <AsTable frame={frame} both={both} />
      </details>
    </section>
  );
}
