// The question: which of two systems would you rather have?

import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Mark } from '../charts/crowd';
import { Pair, firstLook, keepLook, outOf, type Look } from '../charts/pair';
import { binaryOrder, className, differing, gap, isBinary, matrices, positiveOf, viewOf } from '../lib/counts';
import { alarmWord, called, capital, change, missedWord, peopleWord, sentence, whole } from '../lib/text';
import type { Counts, Matrix, Question, QuestionPage, Told, Words } from '../lib/types';
import { Heading, Problem, type PageProps } from './common';
import './question.css';

type Answer = 'A' | 'B' | '=' | '?';

/** As long as what is said of a question that comes again, for which a place is kept. */
const AGAIN = 'We ask once more, to see how sure you are; the sides are swapped.';

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
  '?': 'explain',
  h: 'explain',
  u: 'undo',
};

const KEY_HELP: [string[], string][] = [
  [['←', '1', 'a'], 'system A'],
  [['→', '2', 'b'], 'system B'],
  [['=', '3'], 'about the same'],
  [['s'], "can't say"],
  [['u'], 'undo the last answer'],
  [['v'], 'view: how it is shown'],
  [['?', 'h'], 'explain'],
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

/** A line for each mistake: what changes in each group, and what that makes of the difference between them. */
function InGroups({ q, words }: { q: Question; words?: Words }): JSX.Element {
  const groups = q.groups ?? [];
  const [a, b] = [matrices(q.a), matrices(q.b)];
  return (
    <>
      {binaryOrder(positiveOf(q)).map((truth) => {
        const missed = truth === positiveOf(q);
        const of = (side: Matrix[]): number[] => groups.map((_, g) => side[g]?.[truth]?.[1 - truth] ?? 0);
        const [from, to] = [of(a), of(b)];
        const same = groups.every((_, g) => from[g] === to[g]);
        return (
          <p key={truth} class={same ? 'in-groups same' : 'in-groups'}>
            <Mark kind={missed ? 'missed' : 'alarm'} />
            {capital(missed ? missedWord(words, 2) : alarmWord(words, 2))} with B:{' '}
            {groups.map((name, g) => (
              <span key={name}>
                {g > 0 && ', '}
                {from[g] === to[g] ? `the same for ${name}` : <strong>{`${name} ${change(from[g] ?? 0, to[g] ?? 0)}`}</strong>}
              </span>
            ))}
            .{' '}
            {gap(from) === gap(to) ? (
              `The gap stays at ${whole(gap(from))}.`
            ) : (
              <strong>
                The gap goes from {whole(gap(from))} to {whole(gap(to))}.
              </strong>
            )}
          </p>
        );
      })}
    </>
  );
}

/** More classes: "Out of 39 dogs, A recognises 39 and B 6." of the largest differences, a line each. */
const MOST_LINES = 2;

function InClasses({ q }: { q: Question }): JSX.Element {
  const all = differing({ ...viewOf(q, 'a'), a: q.a, b: q.b });
  const more = all.length - MOST_LINES;
  const group = (g: number): string => (q.groups?.length ? ` (${q.groups[g]})` : '');
  return (
    <>
      {all.slice(0, MOST_LINES).map((c) => (
        <p key={`${c.group}-${c.truth}-${c.predicted}`}>
          Out of {whole(c.total)} {className(q.classes, c.truth)}
          {group(c.group)}, {called('A', q.names)} {c.truth === c.predicted ? 'recognises' : 'takes'} <strong>{whole(c.a)}</strong>
          {c.truth === c.predicted ? '' : ` for ${className(q.classes, c.predicted)}`} and {called('B', q.names)}{' '}
          <strong>{whole(c.b)}</strong>.
        </p>
      ))}
      <p class="note">{more > 0 ? `And ${more} smaller ${more === 1 ? 'difference' : 'differences'}, shown below.` : '\u00a0'}</p>
    </>
  );
}

/** Numbers as long as any: what they say takes as many lines as anything that is asked. */
function longest(q: Question): Question {
  const [a, b] = [Math.floor(q.people / 2), q.people];
  const side = (n: number): Counts => {
    const group = (g: number): Matrix => q.classes.map(() => q.classes.map(() => (g % 2 ? 0 : n)));
    return q.groups?.length ? q.groups.map((_, g) => group(g)) : group(0);
  };
  // The longest names come first where the largest differences do.
  const classes = [...q.classes].sort((x, y) => y.name.length - x.name.length);
  return {
    ...q,
    told: q.longest,
    a: side(b),
    b: side(a),
    classes: q.classes.length > 2 ? classes : q.classes,
  };
}

function Sentences({ q, words }: { q: Question; words?: Words }): JSX.Element {
  if (q.differences.length === 0) return <p>In these numbers the two systems are alike.</p>;
  if (q.told) return <TwoMistakes told={q.told} />;
  return q.groups?.length && q.classes.length === 2 ? <InGroups q={q} words={words} /> : <InClasses q={q} />;
}

/** What changes from A to B, and what such mistakes mean. Lines are kept free for the longest sentence that these names make. */
function DifferenceWords({ q, words }: { q: Question; words?: Words }): JSX.Element {
  const means = words?.consequences;
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
      {means && (
        <p class="note">
          {[means.missed, means.false_alarm].filter((text) => text).map((text) => sentence(text as string)).join(' ')}
        </p>
      )}
    </div>
  );
}

/** Who is shaded; of two settings of one test everybody else is treated alike. */
function Shaded({ q, words }: { q: Question; words?: Words }): JSX.Element | null {
  const differ = q.differences.reduce((n, d) => n + Math.abs(d.b - d.a), 0);
  const people = peopleWord(words);
  return (
    <p class="note shaded-note">
      <span class="shade-sample" />
      {q.same_test
        ? `Shaded: the ${whole(differ)} ${people} who fare differently. For the other ${whole(q.people - differ)}, A and B do the same.`
        : 'Shaded: where A and B differ.'}
    </p>
  );
}

interface AnswerBarProps {
  answer: (a: Answer) => void;
  undo: () => void;
  busy: boolean;
  canUndo: boolean;
  help: JSX.Element;
  early: boolean;
}

function AnswerBar({ answer, undo, busy, canUndo, help, early }: AnswerBarProps): JSX.Element {
  return (
    <div class="answers" role="group" aria-label="Your answer">
      <div role="status">{early && <p class="early">This question is new. Look at it first, then answer.</p>}</div>
      <div class="answers-main">
        <button
          type="button"
          class="primary answer"
          disabled={busy}
          onClick={() => answer('A')}
          aria-keyshortcuts="ArrowLeft 1 A"
        >
          <kbd>←</kbd> System A
        </button>
        <button type="button" class="answer same" disabled={busy} onClick={() => answer('=')} aria-keyshortcuts="3 =">
          About the same <kbd>=</kbd>
        </button>
        <button
          type="button"
          class="primary answer"
          disabled={busy}
          onClick={() => answer('B')}
          aria-keyshortcuts="ArrowRight 2 B"
        >
          System B <kbd>→</kbd>
        </button>
      </div>
      <div class="answers-more">
        <button type="button" class="quiet" disabled={busy} onClick={() => answer('?')} aria-keyshortcuts="S">
          Can't say <kbd>s</kbd>
        </button>
        <button type="button" class="quiet" disabled={busy || !canUndo} onClick={undo} aria-keyshortcuts="U">
          Undo last answer <kbd>u</kbd>
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
      <summary>Keys</summary>
      <div>
        <p>Both systems decide about the same people. Choose the one whose mistakes you would rather have.</p>
        <dl>
          {KEY_HELP.map(([keys, meaning]) => (
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
          <span>Answer with single keys</span>
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
    else if (what !== 'undo') answer(what);
    else if (page.can_undo && !busy) undo();
  });
  const toggles = page.show?.toggles !== false;
  return (
    <div class={shortcuts ? 'wide question' : 'wide question no-keys'} data-listening={listening || undefined}>
      <div class="question-head">
        <Heading>
          Which system would you rather have{words?.task && <span class="task"> for {words.task}</span>}?
        </Heading>
        {/* In the place of what is known by then: a line more would move everything. */}
        <div class="out-of reserved">
          <span class="ghost" aria-hidden="true" data-text={AGAIN} />
          <span>{q.remark ?? `Numbers are ${outOf(viewOf(q, 'a'), words)}.`}</span>
        </div>
      </div>
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
        help={<ShortcutSwitch on={shortcuts} set={setShortcuts} open={explained} setOpen={setExplained} />}
      />
    </div>
  );
}

/** What a screen reader is told when a question appears. */
export const questionSummary = ({ question: q }: QuestionPage): string => `Question ${q.number}. ${q.sentence}`;
