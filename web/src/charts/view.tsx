// One control for how a pair is drawn. It has buttons, so that the arrow keys always answer.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../lib/say';
import { isBinary } from '../lib/counts';
import type { Frame, Picture } from '../lib/types';
import type { Look } from './pair';
import { showsPeople } from './people';

const binaryPictures = (): [Picture, string][] => [
  ['icons', t`People`],
  ['flow', t`Flow`],
  ['bars', t`Bars`],
  ['both', t`Both`],
  ['table', t`Table`],
];
const otherPictures = (): [Picture, string][] => [
  ['changes', t`What differs`],
  ['table', t`Everything`],
];

/** How numbers of this kind can be drawn, the usual way first. */
export function picturesOf(frame: Frame): [Picture, string][] {
  if (isBinary(frame)) return binaryPictures();
  return showsPeople(frame) ? [['icons', t`People`], ...otherPictures()] : otherPictures();
}

interface Props {
  look: Look;
  set: (look: Look) => void;
  frame: Frame;
  extra?: ComponentChildren;
}

export function ViewMenu({ look, set, frame, extra }: Props): JSX.Element {
  const ref = useRef<HTMLDetailsElement>(null);
  const pictures = picturesOf(frame);
  const binary = isBinary(frame);
  const close = (): void => {
    if (ref.current?.open) {
      ref.current.open = false;
      ref.current.querySelector('summary')?.focus();
    }
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') close();
      if (event.key.toLowerCase() !== 'v' || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target instanceof HTMLInputElement && event.target.type !== 'checkbox') return;
      if (!ref.current) return;
      ref.current.open = !ref.current.open;
      ref.current.querySelector('summary')?.focus();
    };
    const onClick = (event: Event): void => {
      if (ref.current?.open && event.target instanceof Node && !ref.current.contains(event.target)) ref.current.open = false;
    };
    addEventListener('keydown', onKey);
    addEventListener('click', onClick);
    return () => {
      removeEventListener('keydown', onKey);
      removeEventListener('click', onClick);
    };
  }, []);
  const pick = (picture: Picture): void => {
    set({ ...look, picture });
    close();
  };
  return (
    <details class="view-menu" ref={ref}>
      <summary aria-keyshortcuts="V">
        {t`View`}<span class="view-now">: {pictures.find(([picture]) => picture === look.picture)?.[1]}</span>
      </summary>
      <div role="group" aria-label={t`How the systems are shown`}>
        {pictures.map(([picture, name]) => (
          <button key={picture} type="button" class="quiet" aria-pressed={look.picture === picture} onClick={() => pick(picture)}>
            {name}
          </button>
        ))}
        <label class="switch">
          <input type="checkbox" checked={look.rates} onChange={() => set({ ...look, rates: !look.rates })} />
          <span>{t`Percent of each kind`}</span>
        </label>
        {binary && look.picture !== 'table' && look.picture !== 'icons' && (
          <label class="switch">
            <input type="checkbox" checked={look.mistakesOnly} onChange={() => set({ ...look, mistakesOnly: !look.mistakesOnly })} />
            <span>{t`Mistakes only`}</span>
          </label>
        )}
        {extra}
      </div>
    </details>
  );
}
