// What the pictures share: measuring, patterns, the words next to a number.

import type { ComponentChildren, JSX, RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Kind } from '../lib/counts';

/** The width of an element, so that letters in a picture keep their size on every screen. */
export function useWidth<T extends HTMLElement>(): [RefObject<T | null>, number] {
  const ref = useRef<T>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const measure = (): void => setWidth(Math.round(element.clientWidth));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}

let nextId = 0;
/** An id that is not used elsewhere on the page: patterns are referred to by id. */
export function useId(prefix: string): string {
  const ref = useRef('');
  if (ref.current === '') ref.current = `${prefix}-${++nextId}`;
  return ref.current;
}

/** Hatching for missed ones, dots for false alarms: the picture can be read without colours. */
export function Patterns({ id }: { id: string }): JSX.Element {
  return (
    <defs>
      <pattern id={`${id}-missed`} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect width="6" height="6" class="fill-missed" />
        <rect width="1.6" height="6" class="fill-texture" />
      </pattern>
      <pattern id={`${id}-alarm`} width="6" height="6" patternUnits="userSpaceOnUse">
        <rect width="6" height="6" class="fill-alarm" />
        <circle cx="3" cy="3" r="1.2" class="fill-texture" />
      </pattern>
    </defs>
  );
}

export const fillOf = (kind: Kind, id: string): string | undefined =>
  kind === 'missed' || kind === 'alarm' ? `url(#${id}-${kind})` : undefined;

/** The small mark that ties a word to what it looks like in the picture. */
export function Swatch({ kind }: { kind: Kind }): JSX.Element {
  const id = useId('swatch');
  return (
    <svg class="swatch" width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
      <Patterns id={id} />
      <rect x="0.5" y="0.5" width="13" height="13" rx="3" class={`fill-${kind}`} fill={fillOf(kind, id)} />
    </svg>
  );
}

export function Hidden({ children }: { children: ComponentChildren }): JSX.Element {
  return <span class="visually-hidden">{children}</span>;
}
