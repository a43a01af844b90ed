// The question: which of two systems would you rather have?

import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Mark } from '../charts/crowd';
import { Pair, firstLook, keepLook, type Look } from '../charts/pair';
import { binaryOrder, className, differing, gap, gravestFirst, isBinary, matrices, positiveOf, sum, viewOf, type Cell } from '../lib/counts';
import { t, translated, tx } from '../lib/say';
import { alarmWord, called, capital, change, changeOf, list, missedWord, peopleWord, sentence, whole } from '../lib/text';
import type { Counts, Matrix, Question, QuestionPage, Told, Words } from '../lib/types';
import { Heading, Problem, type PageProps } from './common';
import './question.css';

type Answer = 'A' | 'B' | '=' | '?' | 'neither';

/** As at the terminal: `?` explains, `s` is "can't say". */
const KEYS: Record<string, Answer | 'undo' | 'explain'> = {
  ArrowLeft: 'A',
  '1': 'A',
  a: 'A',
  ArrowRight: 'B',
  '2': 'B',
  b: 'B',
  '=': '=',
  '3': '=',
  s: '?',
  n: 'neither',
  '?': 'explain',
  h: 'explain',
  u: 'undo',
};

const keyHelp = (): [string[], string][] => [
  [['←', '1', 'a'], 'A'],
  [['→', '2', 'b'], 'B'],
  [['=', '3'], t`about the same`],
  [['s'], t`can't say`],
  [['u'], t`undo the last answer`],
  [['v'], t`view: how it is shown`],
  [['?', 'h'], t`explain`],
];

/** A key that is still down from the last question must not answer this one. */
const QUIET_MS = 250;
const SHORTCUTS_KEY = 'melicit-shortcuts';

function shortcutsWanted(): boolean {
  try {
    return localStorage.getItem(SHORTCUTS_KEY) !== 'off';
  } catch {
    return true;
  }
}

/** Whether the key means something to the element that has the focus: letters in a field, arrows in what scrolls. */
function takenBy(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== 'checkbox';
  const scroll = target.closest('.table-scroll');
  if (scroll) return key.startsWith('Arrow') && scroll.scrollWidth > scroll.clientWidth;
  return target instanceof HTMLTextAreaElement || target.closest('dialog') !== null;
}

function useShortcuts(active: boolean, act: (what: Answer | 'undo' | 'explain') => void): void {
  const latest = useRef(act);
  latest.current = act;
  // A plain effect waits for the next frame: on a slow machine a key pressed until then would be lost.
  useLayoutEffect(() => {
    if (!active) return;
    const onKey = (event: KeyboardEvent): void => {
      if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
      const what = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (!what || takenBy(event.target, event.key)) return;
      event.preventDefault();
      latest.current(what);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [active]);
}

/** Two classes: what changes from A to B, what is found first. */
function TwoMistakes({ told }: { told: Told }): JSX.Element {
  const { start, parts, after } = told;
  return (
    <p>
      {start}{' '}
      {parts.map(({ kind, text }, i) => (
        <span key={text}>
          {i > 0 && '; '}
          <Mark kind={kind} />
          <strong>{text}</strong>
          {i === 0 && after}
        </span>
      ))}
      .
    </p>
  );
}

/** What one of so many people of a group is called: "female applicants". */
const inGroup = (group: string, words?: Words): string => t`${group} ${peopleWord(words)}`;

/** A sentence for each mistake: what changes in each group, and who has more of it then. */
function InGroups({ q, words }: { q: Question; words?: Words }): JSX.Element {
  const groups = q.groups ?? [];
  const [a, b] = [matrices(q.a), matrices(q.b)];
  return (
    <>
      {binaryOrder(positiveOf(q)).map((truth) => {
        const missed = truth === positiveOf(q);
        const of = (side: Matrix[]): number[] => groups.map((_, g) => side[g]?.[truth]?.[1 - truth] ?? 0);
        const [from, to] = [of(a), of(b)];
        const kind = missed ? missedWord(words, 2) : alarmWord(words, 2);
        const moved = groups.flatMap((name, g) => (from[g] === to[g] ? [] : [changeOf(from[g] ?? 0, to[g] ?? 0, inGroup(name, words))]));
        const happens = missed ? words?.consequences?.when_missed : words?.consequences?.when_alarmed;
        const changes = <strong>{list(moved)}</strong>;
        return (
          <p key={truth} class={moved.length === 0 ? 'in-groups same' : 'in-groups'}>
            <Mark kind={missed ? 'missed' : 'alarm'} />
            {moved.length === 0
              ? t`${capital(kind)}: the same with B.`
              : happens
                ? tx`With B, ${changes} in ${whole(q.people)} ${happens}.`
                : tx`With B, ${changes} in ${whole(q.people)} are ${kind}.`}{' '}
            <Gap {...{ groups, from, to, words }} />
          </p>
        );
      })}
    </>
  );
}

/** Who has more of a mistake than the others, and by how many. */
function Gap({ groups, from, to, words }: { groups: readonly string[]; from: number[]; to: number[]; words?: Words }): JSX.Element {
  const [before, now] = [gap(from), gap(to)];
  const ahead = capital(inGroup(groups[to.indexOf(Math.max(...to))] ?? '', words));
  if (now === 0) return before === 0 ? <></> : <strong>{t`The gap is closed.`}</strong>;
  const same = before === now && from.indexOf(Math.max(...from)) === to.indexOf(Math.max(...to));
  return same ? <>{t`${ahead} stay ${whole(now)} ahead.`}</> : <strong>{t`${ahead} are now ${whole(now)} ahead.`}</strong>;
}

/** More classes: "Of 39 dogs, B gets 6 more right.", the gravest class first, then the largest differences; a line each. */
const MOST_LINES = 2;

/** Where each mistake is known, there may be more than two differences: a line is kept for them. */
const mistakesKnown = (q: Question): boolean => matrices(q.a).every((m) => m.every((row) => !row.includes(null)));

function InClasses({ q, words }: { q: Question; words?: Words }): JSX.Element {
  const all = gravestFirst(differing({ ...viewOf(q, 'a'), a: q.a, b: q.b }), q.classes, words);
  const group = (g: number): string => (q.groups?.length ? ` (${q.groups[g]})` : '');
  const right = (c: Cell): boolean => c.truth === c.predicted;
  const rest = all.slice(MOST_LINES).map((c) => t`${className(q.classes, c.truth)}${group(c.group)} ${change(c.a, c.b)}`);
  return (
    <>
      {all.slice(0, MOST_LINES).map((c, i) => {
        const name = `${className(q.classes, c.truth)}${group(c.group)}`;
        const by = <strong>{change(c.a, c.b)}</strong>;
        const b = called('B', q.names);
        return (
          <p key={`${c.group}-${c.truth}-${c.predicted}`}>
            <Mark kind={i === 0 ? 'missed' : 'alarm'} />
            {right(c)
              ? tx`Of ${whole(c.total)} ${name}, ${b} gets ${by} right.`
              : tx`Of ${whole(c.total)} ${name}, ${b} takes ${by} for ${className(q.classes, c.predicted)}.`}
          </p>
        );
      })}
      {(rest.length > 0 || mistakesKnown(q)) && (
        <p class="note one-line">
          {rest.length === 0 ? '\u00a0' : rest.length === 1 ? t`1 more difference: ${list(rest)}.` : t`${rest.length} more differences: ${rest.join(', ')}.`}
        </p>
      )}
    </>
  );
}

/** Numbers as long as any, of as many classes and groups as differ here: what is said of them takes as many lines as anything that is asked. */
function longest(q: Question): Question {
  const longer = (x: { length: number }, y: { length: number }): number => y.length - x.length;
  const classes = q.classes.length > 2 ? [...q.classes].sort((x, y) => longer(x.name, y.name)) : q.classes;
  const groups = q.groups && [...q.groups].sort(longer);
  const moved = new Set(q.differences.map((d) => d.group ?? 0)).size;
  const most = mistakesKnown(q) ? classes.length : MOST_LINES;
  const side = (n: number, g: number): Matrix => q.classes.map((_, i) => q.classes.map(() => (g < moved && (classes.length === 2 || i < most) ? n : 0)));
  const of = (n: number): Counts => (groups?.length ? groups.map((_, g) => side(n, g)) : side(n, 0));
  return { ...q, told: q.longest, classes, groups, a: of(q.people), b: of(Math.floor(q.people / 2)) };
}

function Sentences({ q, words }: { q: Question; words?: Words }): JSX.Element {
  if (q.differences.length === 0) return <p>{t`In these numbers A and B are alike.`}</p>;
  if (q.told) return <TwoMistakes told={q.told} />;
  return q.groups?.length && q.classes.length === 2 ? <InGroups q={q} words={words} /> : <InClasses q={q} words={words} />;
}

/** What changes from A to B. Lines are kept free for the longest sentence that these names make. */
function DifferenceWords({ q, words }: { q: Question; words?: Words }): JSX.Element {
  return (
    <div class={isBinary(q) ? 'difference' : 'difference lines'}>
      <div class="reserved">
        <div>
          <Sentences q={q} words={words} />
        </div>
        <div class="ghost" aria-hidden="true">
          <Sentences q={longest(q)} words={words} />
        </div>
      </div>
    </div>
  );
}

/** Who is tested, and what each mistake does to them, in a line. */
function Scenario({ q, words }: { q: Question; words?: Words }): JSX.Element {
  const means = words?.consequences;
  const positive = positiveOf(q);
  const [found, other] = [className(q.classes, positive), className(q.classes, 1 - positive)];
  const told = (name: string, what: string | undefined, otherwise: string): string =>
    what ? sentence(what) : t`${capital(name)}: ${otherwise}.`;
  const text =
    words?.scenario ??
    (q.classes.length > 2
      ? t`Each of the ${peopleWord(words)} is one of ${list(q.classes.map((c) => c.name))}. A mistake takes one for another.`
      : `${told(missedWord(words, 1), means?.missed, t`${found}, but taken for ${other}`)} ${told(alarmWord(words, 1), means?.false_alarm, t`${other}, but taken for ${found}`)}`);
  return <p class="scenario">{text}</p>;
}

/** What A and B are. */
function whatTheyAre(q: Question, words?: Words): string {
  const people = `${whole(q.people)} ${peopleWord(words)}`;
  if (q.of_each_class) return q.groups?.length ? t`Every square is ${people} of one kind in one group.` : t`Every block is ${people} of one kind.`;
  const found = words?.consequences?.found;
  const positives = found && isBinary(q) ? sum(matrices(q.a)[0]?.[positiveOf(q)] ?? []) : null;
  if (q.same_test)
    return positives === null ? t`The same test, set in two ways, for the same ${people}.` : t`The same test, set in two ways, for the same ${people}. ${whole(positives)} of them have ${found ?? ''}.`;
  return t`Two systems, for the same ${people}.`;
}

/** Who is shaded; of two settings of one test everybody else is treated alike. */
function Shaded({ q, words }: { q: Question; words?: Words }): JSX.Element | null {
  const differ = q.differences.reduce((n, d) => n + Math.abs(d.b - d.a), 0);
  const people = peopleWord(words);
  return (
    <p class="note shaded-note">
      <span class="shade-sample" />
      {q.same_test
        ? t`Shaded: the ${whole(differ)} ${people} who fare differently. For the other ${whole(q.people - differ)}, A and B do the same.`
        : t`Shaded: where A and B differ.`}
    </p>
  );
}

/** On a phone there is room for two words. */
const AnswerName = ({ side }: { side: 'A' | 'B' }): JSX.Element => (
  <>
    <span class="wide-only">{t`I'd rather have ${side}`}</span>
    <span class="phone-only">{t`Choose ${side}`}</span>
  </>
);

interface AnswerBarProps {
  answer: (a: Answer) => void;
  undo: () => void;
  busy: boolean;
  canUndo: boolean;
  help: JSX.Element;
  early: boolean;
  neither: boolean;
}

function AnswerBar({ answer, undo, busy, canUndo, help, early, neither }: AnswerBarProps): JSX.Element {
  return (
    <div class="answers" role="group" aria-label={t`Your answer`}>
      <div role="status">{early && <p class="early">{t`This question is new. Look at it first, then answer.`}</p>}</div>
      <div class="answers-main">
        <button
          type="button"
          class="primary answer"
          disabled={busy}
          onClick={() => answer('A')}
          aria-keyshortcuts="ArrowLeft 1 A"
        >
          <kbd>←</kbd> <AnswerName side="A" />
        </button>
        <button type="button" class="answer same" disabled={busy} onClick={() => answer('=')} aria-keyshortcuts="3 =">
          {t`About the same`} <kbd>=</kbd>
        </button>
        <button
          type="button"
          class="primary answer"
          disabled={busy}
          onClick={() => answer('B')}
          aria-keyshortcuts="ArrowRight 2 B"
        >
          <AnswerName side="B" /> <kbd>→</kbd>
        </button>
      </div>
      <div class="answers-more">
        <button type="button" class="quiet" disabled={busy} onClick={() => answer('?')} aria-keyshortcuts="S">
          {t`Can't say`} <kbd>s</kbd>
        </button>
        {neither && (
          <button type="button" class="quiet" disabled={busy} onClick={() => answer('neither')} aria-keyshortcuts="N">
            {t`Neither will do`} <kbd>n</kbd>
          </button>
        )}
        <button type="button" class="quiet" disabled={busy || !canUndo} onClick={undo} aria-keyshortcuts="U">
          {t`Undo`} <kbd>u</kbd>
        </button>
        {help}
      </div>
    </div>
  );
}

interface SwitchProps {
  on: boolean;
  set: (on: boolean) => void;
  open: boolean;
  setOpen: (open: boolean) => void;
}

function ShortcutSwitch({ on, set, open, setOpen }: SwitchProps): JSX.Element {
  const change = (): void => {
    try {
      localStorage.setItem(SHORTCUTS_KEY, on ? 'off' : 'on');
    } catch {
      // Then the choice lasts for this page.
    }
    set(!on);
  };
  return (
    <details class="help" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t`Keys`}</summary>
      <div>
        <p>{t`A and B decide about the same people. Choose the one whose mistakes you would rather have.`}</p>
        <dl>
          {keyHelp().map(([keys, meaning]) => (
            <>
              <dt>
                {keys.map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{meaning}</dd>
            </>
          ))}
        </dl>
        <label class="switch">
          <input type="checkbox" checked={on} onChange={change} />
          <span>{t`Answer with single keys`}</span>
        </label>
      </div>
    </details>
  );
}

export function QuestionView({ page, busy, problem, send, undo }: PageProps<QuestionPage>): JSX.Element {
  const q = page.question;
  const words = q.words ?? page.words;
  const [look, setLookState] = useState<Look>(() => firstLook(page.show, viewOf(q, 'a')));
  const [shortcuts, setShortcuts] = useState(shortcutsWanted);
  const [explained, setExplained] = useState(false);
  // The event for whose question the pause is over; it starts once the question is painted.
  const [listeningTo, setListeningTo] = useState(-1);
  const listening = listeningTo === page.seq;
  // The event for whose question an answer came during the pause.
  const [earlyFor, setEarlyFor] = useState(-1);
  useEffect(() => {
    const pause = setTimeout(() => setListeningTo(page.seq), QUIET_MS);
    return () => clearTimeout(pause);
  }, [page.seq]);
  const setLook = (next: Look): void => {
    keepLook(next);
    setLookState(next);
  };
  const answer = (a: Answer): void => {
    if (!listening) setEarlyFor(page.seq);
    else if (!busy) send({ answer: a, shown: { picture: look.picture, rates: look.rates } });
  };
  useShortcuts(shortcuts, (what) => {
    if (what === 'explain') setExplained(!explained);
    else if (what === 'neither' && !q.neither) return;
    else if (what !== 'undo') answer(what);
    else if (page.can_undo && !busy) undo();
  });
  const toggles = page.show?.toggles !== false;
  return (
    <div class={shortcuts ? 'wide question' : 'wide question no-keys'} data-listening={listening || undefined}>
      <div class="question-head">
        <Heading>
          {t`Which would you rather have?`}
        </Heading>
        {/* In the place of what is known by then: a line more would move everything. */}
        <div class="out-of reserved">
          <span class="ghost" aria-hidden="true" data-text={t`We ask once more, to see how sure you are; the sides are swapped.`} />
          <span>{q.remark === undefined ? whatTheyAre(q, words) : translated(q.remark)}</span>
        </div>
      </div>
      <Scenario q={q} words={words} />
      <DifferenceWords q={q} words={words} />
      {look.picture === 'icons' && <Shaded q={q} words={words} />}
      <Pair
        a={viewOf(q, 'a')}
        b={viewOf(q, 'b')}
        names={q.names}
        words={words}
        look={look}
        setLook={setLook}
        toggles={toggles}
      />
      <Problem problem={problem} />
      <AnswerBar
        answer={answer}
        undo={undo}
        busy={busy}
        canUndo={page.can_undo ?? false}
        early={earlyFor === page.seq}
        neither={q.neither ?? false}
        help={<ShortcutSwitch on={shortcuts} set={setShortcuts} open={explained} setOpen={setExplained} />}
      />
    </div>
  );
}

/** What a screen reader is told when a question appears. */
export const questionSummary = ({ question: q }: QuestionPage): string => t`Question ${q.number}. ${q.sentence}`;
