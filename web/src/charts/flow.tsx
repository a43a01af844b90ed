// The flow chart: true classes on the left, predictions on the right, every band as high as the number of people in it.

import type { JSX } from 'preact';
import {
  binaryOrder,
  className,
  columnTotals,
  kindOf,
  matrices,
  positiveOf,
  rowTotals,
  type Kind,
} from '../lib/counts';
import { t } from '../lib/say';
import { percent, whole } from '../lib/text';
import type { Matrix, View } from '../lib/types';
import { Patterns, fillOf, useId, useWidth } from './common';

interface Band {
  kind: Kind;
  count: number;
  total: number;
  left: number;
  right: number;
  height: number;
  /** Where along the band its number is written, 0 to 1. */
  at: number;
}

const GAP = 26;
const NODE = 10;

/** Bands and nodes in a box of this height; `order` says which class is drawn first. */
function layout(
  m: Matrix,
  order: [number, number],
  positive: number,
  height: number,
): {
  bands: Band[];
  left: [number, number][];
  right: [number, number][];
} {
  const rows = rowTotals(m);
  const columns = columnTotals(m);
  const all = Math.max(1, rows[0]! + rows[1]!);
  const scale = (height - GAP) / all;
  const stack = (totals: number[]): [number, number][] => {
    const first = (totals[order[0]] ?? 0) * scale;
    return [
      [0, first],
      [first + GAP, (totals[order[1]] ?? 0) * scale],
    ];
  };
  const left = stack(rows);
  const right = stack(columns);
  const bands: Band[] = [];
  const used = [0, 0];
  order.forEach((truth, i) => {
    let y = left[i]![0];
    order.forEach((predicted, j) => {
      const count = m[truth]?.[predicted] ?? 0;
      const h = count * scale;
      const kind = kindOf(truth, predicted, 2, positive);
      bands.push({
        kind,
        count,
        total: rows[truth] ?? 0,
        left: y,
        right: right[j]![0] + used[j]!,
        height: h,
        at: kind === 'right' ? 0.62 : 0.27,
      });
      y += h;
      used[j] = used[j]! + h;
    });
  });
  return { bands, left, right };
}

/** The cubic curve from (0, a) to (w, b) with level ends, and its height at share t of the way. */
const curve = (x0: number, y0: number, x1: number, y1: number): string => {
  const mid = (x0 + x1) / 2;
  return `C${mid} ${y0} ${mid} ${y1} ${x1} ${y1}`;
};
const heightAt = (y0: number, y1: number, t: number): number => {
  const s = t * t * (3 - 2 * t);
  return y0 + (y1 - y0) * s;
};
const placeAt = (w: number, t: number): number => w * (1.5 * t - 1.5 * t * t + t * t * t);

function BandShape({ band, width, id }: { band: Band; width: number; id: string }): JSX.Element | null {
  if (band.count === 0) return null;
  // Thin bands stay visible.
  const h = Math.max(band.height, 1.5);
  const x0 = NODE;
  const x1 = width - NODE;
  const d = `M${x0} ${band.left}${curve(x0, band.left, x1, band.right)}V${band.right + h}${curve(x1, band.right + h, x0, band.left + h)}Z`;
  return <path d={d} class={`band fill-${band.kind}`} fill={fillOf(band.kind, id)} />;
}

/** Moves numbers that would cover one another apart. */
function spread(labels: { x: number; y: number; text: string; kind: Kind }[], height: number): typeof labels {
  const placed: typeof labels = [];
  for (const label of [...labels].sort((p, q) => p.y - q.y)) {
    let y = Math.max(12, Math.min(height - 12, label.y));
    for (const other of placed) if (Math.abs(other.x - label.x) < 52 && Math.abs(other.y - y) < 25) y = other.y + 25;
    placed.push({ ...label, y });
  }
  const over = Math.max(0, ...placed.map((p) => p.y - (height - 12)));
  return over > 0 ? placed.map((p) => (p.y > height / 2 ? { ...p, y: p.y - over } : p)) : placed;
}

function Numbers({
  bands,
  width,
  height,
  rates,
}: {
  bands: Band[];
  width: number;
  height: number;
  rates: boolean;
}): JSX.Element {
  const labels = bands.map((band) => ({
    x: NODE + placeAt(width - 2 * NODE, band.at),
    y: heightAt(band.left, band.right, band.at) + band.height / 2,
    text: rates ? percent(band.count, band.total) : whole(band.count),
    kind: band.kind,
  }));
  return (
    <g class="numbers">
      {spread(labels, height).map((label) => {
        const w = 14 + 8.2 * label.text.length;
        return (
          <g key={`${label.kind}-${label.y}`} transform={`translate(${label.x} ${label.y})`}>
            <rect x={-w / 2} y={-11} width={w} height={22} rx={11} class={`pill stroke-${label.kind}`} />
            <text class="pill-text" y={5} text-anchor="middle">
              {label.text}
            </text>
          </g>
        );
      })}
    </g>
  );
}

export interface PictureProps {
  view: View;
  rates: boolean;
  mistakesOnly?: boolean;
  large?: boolean;
}

export function Flow({ view, rates, mistakesOnly = false, large = false }: PictureProps): JSX.Element {
  const id = useId('flow');
  const [ref, width] = useWidth<HTMLDivElement>();
  const positive = positiveOf(view);
  const order = binaryOrder(positive);
  const m = matrices(view.counts)[0] ?? [];
  const height = large ? 380 : width > 0 && width < 220 ? 132 : 210;
  const { bands, left, right } = layout(m, order, positive, height);
  const rows = rowTotals(m);
  const columns = columnTotals(m);
  const shown = mistakesOnly ? bands.filter((band) => band.kind !== 'right') : bands;
  return (
    <div class="flow" aria-hidden="true">
      <div class="flow-side">
        {order.map((c) => (
          <div key={c} class="flow-label">
            <b>{whole(rows[c] ?? 0)}</b>
            <span>
              <small>{t`really`}</small> {className(view.classes, c)}
            </span>
          </div>
        ))}
      </div>
      <div class="flow-middle" ref={ref}>
        {width > 0 && (
          <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
            <Patterns id={id} />
            {/* Right predictions first, so that mistakes lie on top where bands cross. */}
            {[...bands]
              .sort((p) => (p.kind === 'right' ? -1 : 1))
              .map((band) => (
                <g key={`${band.kind}${band.left}`} class={mistakesOnly && band.kind === 'right' ? 'faded' : ''}>
                  <BandShape band={band} width={width} id={id} />
                </g>
              ))}
            {left.map(([y, h], i) => (
              <rect key={i} class="node" x={0} y={y} width={NODE} height={Math.max(h, 1.5)} rx={2} />
            ))}
            {right.map(([y, h], i) => (
              <rect key={i} class="node" x={width - NODE} y={y} width={NODE} height={Math.max(h, 1.5)} rx={2} />
            ))}
            <Numbers bands={shown} width={width} height={height} rates={rates} />
          </svg>
        )}
      </div>
      <div class="flow-side flow-right">
        {order.map((c) => (
          <div key={c} class="flow-label">
            <b>{whole(columns[c] ?? 0)}</b>
            <span>
              <small>{t`predicted`}</small> {className(view.classes, c)}
            </span>
          </div>
        ))}
      </div>
    </div>
  );
}
