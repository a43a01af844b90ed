import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { System, firstLook, outOf } from '../charts/pair';
import { ViewMenu } from '../charts/view';
import { matrices } from '../lib/counts';
import type { TextPage } from '../lib/types';
import { t } from '../lib/say';
import { Heading, Problem, Texts, type PageProps } from './common';

export function Text({ page, busy, problem, send }: PageProps<TextPage>): JSX.Element {
  const view = page.view?.[0];
  const [look, setLook] = useState(() => firstLook(page.show, view ?? { people: 0, classes: [] }));
  const submit = (event: Event): void => {
    event.preventDefault();
    send({});
  };
  return (
    <form class="reading" onSubmit={submit}>
      <Heading>{page.title}</Heading>
      <Texts text={page.text} />
      {view && (
        <figure class="example">
          <figcaption>{t`An example, ${outOf(view, page.words)}`}</figcaption>
          <System
            name={t`System ${"A"}`}
            mark="A"
            view={view}
            look={look}
            words={page.words}
            scale={Math.max(
              1,
              ...matrices(view.counts)
                .flat(2)
                .map((n) => n ?? 0),
            )}
          />
          {page.show?.toggles !== false && <ViewMenu look={look} set={setLook} frame={view} />}
        </figure>
      )}
      <Problem problem={problem} />
      <div class="actions">
        <button type="submit" class="primary" disabled={busy}>
          {t`Continue`}
        </button>
      </div>
    </form>
  );
}
