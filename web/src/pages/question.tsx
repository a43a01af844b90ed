// The question: which of two systems would you rather have?

import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Mark, type MarkKind } from '../charts/crowd';
import { Pair, firstLook, keepLook, outOf, type Look } from '../charts/pair';
import { isBinary, positiveOf, viewOf } from '../lib/counts';
import { alarmWord, list, missedWord, peopleWord, sentence, whole } from '../lib/text';
import type { Difference, Question, QuestionPage, Words } from '../lib/types';
import { Heading, Problem, type PageProps } from './common';
import './question.css';

type Answer = 'A' | 'B' | '=' | '?';

const KEYS: Record<string, Answer | 'undo'> = {
  ArrowLeft: 'A',
  '1': 'A',
  a: 'A',
  ArrowRight: 'B',
  '2': 'B',
  b: 'B',
  '=': '=',
  '3': '=',
  '?': '?',
  s: '?',
  u: 'undo',
};

const KEY_HELP: [string[], string][] = [
  [['←', '1', 'a'], 'system A'],
  [['→', '2', 'b'], 'system B'],
  [['=', '3'], 'about the same'],
  [['s', '?'], "can't say"],
  [['u'], 'undo the last answer'],
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

function useShortcuts(active: boolean, act: (what: Answer | 'undo') => void): void {
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

/** "A (model 3)", where A is a system that exists. */
const called = (side: 'A' | 'B', names?: [string, string]): string =>
  names ? `${side} (${names[side === 'A' ? 0 : 1]})` : side;

/** The mark of a difference: the two mistakes of two classes have their own. */
function markOf(d: Difference, q: Question): MarkKind {
  if (q.classes.length !== 2 || d.true === undefined || d.true === d.predicted) return 'other';
  return d.true === positiveOf(q) ? 'missed' : 'alarm';
}

/** What changes from A to B, the graver mistake first, and what such a mistake means. */
function DifferenceWords({ q, words }: { q: Question; words?: Words }): JSX.Element {
  const differences = [...q.differences].sort((x, y) => Number(markOf(y, q) === 'missed') - Number(markOf(x, q) === 'missed'));
  const means = words?.consequences;
  const long = q.classes.length !== 2 || q.names !== undefined || `${missedWord(words, 2)}${alarmWord(words, 2)}`.length > 45;
  if (differences.length === 0) return <p class="difference">In these numbers the two systems are alike.</p>;
  return (
    <div class={long ? 'difference long' : 'difference'}>
      <p>
        With {called('B', q.names)}
        {q.names ? ` instead of ${called('A', q.names)}` : ''}:{' '}
        {differences.map((d, i) => (
          <span key={d.text}>
            {i > 0 && (i === differences.length - 1 ? ' and ' : ', ')}
            {q.classes.length === 2 && <Mark kind={markOf(d, q)} />}
            <strong>{d.text}</strong>
          </span>
        ))}
        .
      </p>
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
        : 'Shaded: by how much the numbers differ.'}
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
        <button type="button" class="quiet" disabled={busy} onClick={() => answer('?')} aria-keyshortcuts="S ?">
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

function ShortcutSwitch({ on, set }: { on: boolean; set: (on: boolean) => void }): JSX.Element {
  const change = (): void => {
    try {
      localStorage.setItem(SHORTCUTS_KEY, on ? 'off' : 'on');
    } catch {
      // Then the choice lasts for this page.
    }
    set(!on);
  };
  return (
    <details class="help">
      <summary>Keys</summary>
      <div>
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
  const binary = isBinary(q);
  const [look, setLookState] = useState<Look>(() => firstLook(page.show, binary));
  const [shortcuts, setShortcuts] = useState(shortcutsWanted);
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
    if (what !== 'undo') answer(what);
    else if (page.can_undo && !busy) undo();
  });
  const toggles = page.show?.toggles !== false;
  return (
    <div class={shortcuts ? 'wide question' : 'wide question no-keys'} data-listening={listening || undefined}>
      <div class="question-head">
        <Heading>
          Which system would you rather have{words?.task && <span class="task"> for {words.task}</span>}?
        </Heading>
        <p class="out-of">Numbers are {outOf(viewOf(q, 'a'), words)}.</p>
      </div>
      {q.remark && <p class="note">{q.remark}</p>}
      <DifferenceWords q={q} words={words} />
      {look.picture === 'icons' && binary && <Shaded q={q} words={words} />}
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
        help={<ShortcutSwitch on={shortcuts} set={setShortcuts} />}
      />
    </div>
  );
}

/** What a screen reader is told when a question appears. */
export const questionSummary = ({ question: q }: QuestionPage): string =>
  `Question ${q.number}. From ${called('A', q.names)} to ${called('B', q.names)}: ` +
  `${list(q.differences.map((d) => d.text))}.`;
