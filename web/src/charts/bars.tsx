// The bar chart: for every true class, how its people are predicted, all bars on one scale.

import type { JSX } from 'preact';
import { binaryOrder, className, columnTotals, kindOf, matrices, positiveOf, rowTotals } from '../lib/counts';
import { t } from '../lib/say';
import { percent, whole } from '../lib/text';
import { Patterns, fillOf, useId, useWidth } from './common';
import type { PictureProps } from './flow';

interface BarsProps extends PictureProps {
  /** The longest bar of both systems, so that A and B are on the same scale. */
  scale: number;
}

function Bar({
  share,
  kind,
  id,
  large,
}: {
  share: number;
  kind: 'right' | 'missed' | 'alarm' | 'other';
  id: string;
  large: boolean;
}): JSX.Element {
  const [ref, width] = useWidth<HTMLDivElement>();
  const height = large ? 30 : 18;
  return (
    <div class="bar" ref={ref}>
      {width > 0 && (
        <svg width={width} height={height}>
          <Patterns id={id} />
          <rect class="bar-back" width={width} height={height} rx={3} />
          <rect
            class={`fill-${kind}`}
            fill={fillOf(kind, id)}
            width={share > 0 ? Math.max(2, share * width) : 0}
            height={height}
            rx={3}
          />
        </svg>
      )}
    </div>
  );
}

export function Bars({ view, rates, mistakesOnly = false, large = false, scale }: BarsProps): JSX.Element {
  const id = useId('bars');
  const positive = positiveOf(view);
  const m = matrices(view.counts)[0] ?? [];
  const rows = rowTotals(m);
  const columns = columnTotals(m);
  const order = binaryOrder(positive);
  return (
    <div class={large ? 'bars large' : 'bars'} aria-hidden="true">
      {order.map((truth) => (
        <div key={truth} class="bars-class">
          <div class="bars-title">
            <span>
              <small>{t`really`}</small> {className(view.classes, truth)}
            </span>
            <b>{whole(rows[truth] ?? 0)}</b>
          </div>
          {order
            .filter((predicted) => !mistakesOnly || predicted !== truth)
            .map((predicted) => {
              const count = m[truth]?.[predicted] ?? 0;
              const total = rows[truth] ?? 0;
              const kind = kindOf(truth, predicted, 2, positive);
              return (
                <div key={predicted} class="bars-row">
                  <span class="bars-name">{t`predicted ${className(view.classes, predicted)}`}</span>
                  <Bar
                    share={rates ? count / Math.max(1, total) : count / scale}
                    kind={kind}
                    id={`${id}-${truth}-${predicted}`}
                    large={large}
                  />
                  <b>{rates ? percent(count, total) : whole(count)}</b>
                </div>
              );
            })}
        </div>
      ))}
      <p class="bars-totals">
        {t`In all: ${order.map((c) => `${whole(columns[c] ?? 0)} ${t`predicted ${className(view.classes, c)}`}`).join(', ')}`}
      </p>
    </div>
  );
}
