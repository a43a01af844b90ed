import type { ComponentChildren, JSX } from 'preact';
import { paragraphs } from '../lib/text';
import type { Page, Value } from '../lib/types';

export interface PageProps<P extends Page> {
  page: P;
  busy: boolean;
  /** The server's refusal of what was sent, and the field it is about. */
  problem: { message: string; field: string | null } | null;
  send: (value: Value) => void;
  undo: () => void;
}

export function Texts({ text }: { text: string | string[] | undefined }): JSX.Element {
  return (
    <>
      {paragraphs(text).map((p) => (
        <p key={p}>{p}</p>
      ))}
    </>
  );
}

/** Headings take the focus when a page appears, so that a screen reader begins there. */
export function Heading({ children, say = false }: { children: ComponentChildren; say?: boolean }): JSX.Element {
  return (
    <h1 tabIndex={-1} data-focus class={say ? 'say' : undefined}>
      {children}
    </h1>
  );
}

export function Problem({ problem }: { problem: { message: string } | null }): JSX.Element {
  return (
    <div class="problem-live" role="alert">
      {problem && <p class="problem">{problem.message}</p>}
    </div>
  );
}
