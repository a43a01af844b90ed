// The plain table. It is always there for screen readers, and for everybody on request.

import type { JSX } from 'preact';
import { className, columnTotals, kindOf, matrices, positiveOf, rowTotals } from '../lib/counts';
import { t } from '../lib/say';
import { percent, whole } from '../lib/text';
import type { Matrix, View } from '../lib/types';

interface TableProps {
  view: View;
  rates: boolean;
  caption: string;
  /** The other system: cells that differ from it are set off. */
  other?: View;
  /** Only there for screen readers: then it takes no focus to be scrolled. */
  unseen?: boolean;
}

function Body({ m, view, rates, other }: { m: Matrix; view: View; rates: boolean; other?: Matrix }): JSX.Element {
  const totals = rowTotals(m);
  return (
    <tbody>
      {m.map((row, truth) => (
        <tr key={truth}>
          <th scope="row">
            <small>{t`really`}</small> {className(view.classes, truth)}
          </th>
          {row.map((count, predicted) => {
            const kind = kindOf(truth, predicted, m.length, positiveOf(view));
            const differs = other !== undefined && other[truth]?.[predicted] !== count;
            return (
              <td key={predicted} class={`cell-${kind}${differs ? ' differs' : ''}`}>
                {count === null ? '–' : rates ? percent(count, totals[truth] ?? 0) : whole(count)}
              </td>
            );
          })}
          <td class="total">{whole(totals[truth] ?? 0)}</td>
        </tr>
      ))}
      <tr>
        <th scope="row">{t`total`}</th>
        {columnTotals(m).map((total, j) => (
          <td key={j} class="total">
            {whole(total)}
          </td>
        ))}
        <td class="total">{whole(totals.reduce((a, b) => a + b, 0))}</td>
      </tr>
    </tbody>
  );
}

export function MatrixTable({ view, rates, caption, other, unseen = false }: TableProps): JSX.Element {
  const others = other ? matrices(other.counts) : [];
  return (
    <>
      {matrices(view.counts).map((m, g) => (
        <div key={g} {...(unseen ? {} : { class: 'table-scroll', tabIndex: 0, role: 'group', 'aria-label': caption })}>
          <table class="matrix">
            <caption>
              {caption}
              {view.groups?.[g] ? `, ${view.groups[g]}` : ''}
              {rates ? `, ${t`percent of each kind`}` : ''}
            </caption>
            <thead>
              <tr>
                <td />
                {view.classes.map((c) => (
                  <th key={c.name} scope="col">
                    <small>{t`predicted`}</small> {c.name}
                  </th>
                ))}
                <th scope="col">{t`total`}</th>
              </tr>
            </thead>
            <Body m={m} view={view} rates={rates} other={others[g]} />
          </table>
        </div>
      ))}
    </>
  );
}
