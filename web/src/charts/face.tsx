// The achievable set of two classes: every system is a point, the best one for the metric is marked.

import type { JSX } from 'preact';
import { t } from '../lib/say';
import type { Face, Point } from '../lib/types';
import { useWidth } from './common';

const MARGIN = { left: 50, right: 14, top: 12, bottom: 44 };

export function FacePlot({
  face,
  positive,
  negative,
}: {
  face: Face;
  positive: string;
  negative: string;
}): JSX.Element {
  const [ref, width] = useWidth<HTMLDivElement>();
  const maxX = face.positives ?? Math.max(...face.hull.map((p) => p[0]));
  const maxY = face.negatives ?? Math.max(...face.hull.map((p) => p[1]));
  const inner = Math.max(0, width - MARGIN.left - MARGIN.right);
  const height = Math.min(380, Math.max(240, inner * 0.7));
  const tall = height - MARGIN.top - MARGIN.bottom;
  const x = (v: number): number => MARGIN.left + (v / maxX) * inner;
  const y = (v: number): number => MARGIN.top + (1 - v / maxY) * tall;
  const path = (points: Point[]): string =>
    points.map((p, i) => `${i ? 'L' : 'M'}${x(p[0]).toFixed(1)} ${y(p[1]).toFixed(1)}`).join('');
  const best = face.best;
  return (
    <div class="face" ref={ref}>
      {width > 0 && (
        <svg
          width={width}
          height={height}
          role="img"
          aria-label={
            best
              ? t`Of all ${positive} the best system finds ${Math.round((100 * best[0]) / maxX)} percent, and it leaves ${Math.round((100 * best[1]) / maxY)} percent of all ${negative} alone.`
              : t`What systems can achieve`
          }
        >
          <path class="face-set" d={`${path(face.hull)}Z`} />
          <line class="axis" x1={MARGIN.left} x2={MARGIN.left + inner} y1={y(0)} y2={y(0)} />
          <line class="axis" x1={MARGIN.left} x2={MARGIN.left} y1={MARGIN.top} y2={y(0)} />
          {[0, 0.5, 1].map((t) => (
            <g key={t}>
              <text class="tick-text" x={x(t * maxX)} y={y(0) + 17} text-anchor={t === 1 ? 'end' : 'middle'}>
                {Math.round(100 * t)}%
              </text>
              <text class="tick-text" x={MARGIN.left - 7} y={y(t * maxY) + 4} text-anchor="end">
                {Math.round(100 * t)}%
              </text>
            </g>
          ))}
          <text class="axis-text" x={MARGIN.left + inner / 2} y={height - 8} text-anchor="middle">
            {t`share of ${positive} found`}
          </text>
          <text class="axis-text" transform={`translate(12 ${MARGIN.top + tall / 2}) rotate(-90)`} text-anchor="middle">
            {t`share of ${negative} right`}
          </text>
          {best && (
            <g>
              <line class="guide" x1={x(best[0])} x2={x(best[0])} y1={y(best[1])} y2={y(0)} />
              <line class="guide" x1={MARGIN.left} x2={x(best[0])} y1={y(best[1])} y2={y(best[1])} />
              <circle class="interval-value" cx={x(best[0])} cy={y(best[1])} r={7} />
            </g>
          )}
        </svg>
      )}
    </div>
  );
}
