// Two systems next to each other, with the choice of how they are drawn.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../lib/say';
import { isBinary, matrices, positiveOf, sum } from '../lib/counts';
import { alarmWord, missedWord, peopleWord, percent, whole } from '../lib/text';
import type { Frame, Picture, Show, View, Words } from '../lib/types';
import { Bars } from './bars';
import { Changes } from './changes';
import { Swatch } from './common';
import { Flow } from './flow';
import { MatrixTable } from './matrix';
import { PeopleOf } from './people';
import { ViewMenu, picturesOf } from './view';

export interface Look {
  picture: Picture;
  rates: boolean;
  mistakesOnly: boolean;
}

const STORAGE_KEY = 'melicit-look';

/** The person's last choice on this device, else what the study asks for. */
export function firstLook(show: Show | undefined, frame: Frame): Look {
  const look: Look = { picture: show?.picture ?? 'icons', rates: show?.rates ?? false, mistakesOnly: false };
  if (show?.toggles !== false) {
    try {
      Object.assign(look, JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? '{}'));
    } catch {
      // Nothing kept: the study's choice stands.
    }
  }
  const known = picturesOf(frame);
  if (!known.some(([picture]) => picture === look.picture)) look.picture = known[0]?.[0] ?? 'table';
  return look;
}

export function keepLook(look: Look): void {
  try {
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify(look));
  } catch {
    // The choice then lasts until the next page.
  }
}

const longest = (views: View[]): number =>
  Math.max(
    1,
    ...views.flatMap((v) =>
      matrices(v.counts)
        .flat(2)
        .map((n) => n ?? 0),
    ),
  );

interface PictureOfProps {
  view: View;
  other?: View;
  words?: Words;
  look: Look;
  scale: number;
  large?: boolean;
}

function PictureOf({ view, other, words, look, scale, large }: PictureOfProps): JSX.Element | null {
  const props = { view, rates: look.rates, mistakesOnly: look.mistakesOnly, large };
  switch (look.picture) {
    case 'flow':
      return <Flow {...props} />;
    case 'bars':
      return <Bars {...props} scale={scale} />;
    case 'both':
      return (
        <>
          <Flow {...props} />
          <Bars {...props} scale={scale} />
        </>
      );
    case 'icons':
      return <PeopleOf view={view} other={other} words={words} rates={look.rates} beside={view.groups?.length === 2} />;
    default:
      return null;
  }
}

interface LegendProps {
  view: View;
  words?: Words;
  rates: boolean;
}

/** The two mistakes in words and numbers, tied to the picture by their marks. */
function Legend({ view, words, rates }: LegendProps): JSX.Element {
  const p = positiveOf(view);
  const m = matrices(view.counts)[0] ?? [];
  const missed = m[p]?.[1 - p] ?? 0;
  const alarms = m[1 - p]?.[p] ?? 0;
  const total = (c: number): number => sum(m[c] ?? []);
  return (
    <ul class="legend">
      <li>
        <Swatch kind="missed" />
        <b>{whole(missed)}</b> {missedWord(words, missed)}
        {rates && <span class="rate">{percent(missed, total(p))}</span>}
      </li>
      <li>
        <Swatch kind="alarm" />
        <b>{whole(alarms)}</b> {alarmWord(words, alarms)}
        {rates && <span class="rate">{percent(alarms, total(1 - p))}</span>}
      </li>
    </ul>
  );
}

interface SystemProps {
  name: string;
  mark: string;
  /** What a system that exists is called. */
  called?: string;
  view: View;
  other?: View;
  look: Look;
  words?: Words;
  scale: number;
  large?: boolean;
}

export function System({ name, mark, called, view, other, look, words, scale, large }: SystemProps): JSX.Element {
  const binary = isBinary(view);
  const table = look.picture === 'table' || look.picture === 'changes';
  return (
    <section class="system" aria-label={name}>
      <h2>
        <span class="system-mark" aria-hidden={!called || undefined}>{mark}</span>
        {called ? <span class="system-name">{called}</span> : <span class="visually-hidden">{name}</span>}
      </h2>
      <PictureOf {...{ view, other, words, look, scale, large }} />
      {binary && look.picture !== 'icons' && <Legend view={view} words={words} rates={look.rates} />}
      <div class={table ? '' : 'visually-hidden'}>
        <MatrixTable
          view={view}
          rates={look.rates}
          caption={t`${name}, out of ${whole(view.people)}`}
          other={other}
          unseen={!table}
        />
      </div>
    </section>
  );
}

/** "out of 1,000 patients", or of each class and group where the numbers are rates. */
export function outOf(view: View, words?: Words): string {
  const who = `${whole(view.people)} ${peopleWord(words)}`;
  if (view.of_each_class) return view.groups?.length ? t`out of ${who} of each kind in each group` : t`out of ${who} of each kind`;
  return view.groups?.length ? t`out of ${who} of each group` : t`out of ${who}`;
}

function Enlarged({ close, children }: { close: () => void; children: ComponentChildren }): JSX.Element {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => ref.current?.showModal(), []);
  return (
    <dialog ref={ref} class="enlarged" onClose={close} aria-label={t`Both systems, enlarged`}>
      <button type="button" class="quiet close" onClick={() => ref.current?.close()}>
        {t`Close`}
      </button>
      {children}
    </dialog>
  );
}

interface PairProps {
  a: View;
  b: View;
  names?: [string, string];
  words?: Words;
  look: Look;
  setLook: (look: Look) => void;
  toggles: boolean;
}

/** Two systems side by side; of more classes or groups what differs first, everything on request. */
export function Pair({ a, b, names, words, look, setLook, toggles }: PairProps): JSX.Element {
  const [zoomed, setZoomed] = useState(false);
  const scale = longest([a, b]);
  const binary = isBinary(a);
  const both = (large: boolean): JSX.Element => (
    <div class={look.picture === 'icons' && (a.groups?.length ?? 0) <= 2 ? 'pair people-pair' : 'pair'}>
      <System name={t`System ${"A"}`} mark="A" called={names?.[0]} view={a} other={b} {...{ look, words, scale, large }} />
      <System name={t`System ${"B"}`} mark="B" called={names?.[1]} view={b} other={a} {...{ look, words, scale, large }} />
    </div>
  );
  const enlarge = binary && look.picture !== 'table' && (
    <button type="button" class="quiet" onClick={() => setZoomed(true)}>
      {t`Enlarge`}
    </button>
  );
  return (
    <>
      {toggles && <ViewMenu look={look} set={setLook} frame={a} extra={enlarge} />}
      {look.picture === 'changes' ? (
        <Changes question={{ ...a, a: a.counts, b: b.counts }} words={words} rates={look.rates} />
      ) : (
        both(false)
      )}
      {zoomed && <Enlarged close={() => setZoomed(false)}>{both(true)}</Enlarged>}
    </>
  );
}
