// What came out: in words, in numbers with intervals, and what follows from it.

import type { ComponentChildren, JSX } from 'preact';
import { FacePlot } from '../charts/face';
import { Interval, logTicks } from '../charts/interval';
import { ofStudy } from '../lib/api';
import { capital, percent, sentence, short } from '../lib/text';
import type { Agreement, Range, Ratio, Result, ResultPage, Statement } from '../lib/types';
import { Heading, Problem, type PageProps } from './common';
import { CopyButton } from './end';

function Card({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
  return (
    <section class="card">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

const known = (range: Range): boolean => typeof range.low === 'number' && typeof range.high === 'number';

/** A search ends with an interval, but knows no probabilities. */
const searched = (result: Result): boolean => result.metric?.elicited?.strategy === 'search';

function RatioCard({ result, ratio }: { result: Result; ratio: Ratio }): JSX.Element {
  const ticks = logTicks(ratio);
  return (
    <section class="card headline">
      <h2>To you, one {ratio.missed} is as bad as</h2>
      <p class="big">
        {short(ratio.value)} <span>{short(ratio.value) === '1' ? ratio.false_alarm : ratio.false_alarms}</span>
      </p>
      {known(ratio) && (
        <p>
          {searched(result) ? 'the search ended' : 'very likely'} between {short(ratio.low as number)} and{' '}
          {short(ratio.high as number)} {!searched(result) && <small>(95%)</small>}
        </p>
      )}
      <Interval range={ratio} low={ticks.low} high={ticks.high} ticks={ticks.ticks} log />
    </section>
  );
}

function Weights({ result }: { result: Result }): JSX.Element | null {
  const weights = result.weights ?? [];
  if (weights.length === 0) return null;
  const top = Math.max(1e-12, ...weights.map((w) => Math.abs(w.high ?? w.value)));
  return (
    <Card title="Weights">
      <div class="table-scroll" tabIndex={0} role="group" aria-label="Weights with intervals">
        <table class="numbers">
          <thead>
            <tr>
              <th scope="col">of</th>
              <th scope="col">weight</th>
              <th scope="col">{searched(result) ? 'interval' : '95% interval'}</th>
              <td />
            </tr>
          </thead>
          <tbody>
            {weights.map((w) => (
              <tr key={w.symbol}>
                <th scope="row">{w.name}</th>
                <td>{w.value.toFixed(4)}</td>
                <td>{known(w) ? `${w.low?.toFixed(4)} to ${w.high?.toFixed(4)}` : '–'}</td>
                <td class="weight-bar" aria-hidden="true">
                  <svg viewBox="0 0 100 12" preserveAspectRatio="none">
                    <rect class="bar-back" y="4" width="100" height="4" />
                    <rect
                      class="interval-range"
                      x={(100 * Math.min(Math.abs(w.low ?? w.value), Math.abs(w.high ?? w.value))) / top}
                      width={Math.max(1, (100 * Math.abs((w.high ?? w.value) - (w.low ?? w.value))) / top)}
                      y="1"
                      height="10"
                    />
                  </svg>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function Effects({ result }: { result: Result }): JSX.Element | null {
  if (!result.effect?.length) return null;
  return (
    <Card title="What it means for the data">
      <dl class="effects">
        {result.effect.map((effect) => (
          <div key={effect.name}>
            <dt>{capital(effect.name)}</dt>
            <dd>
              {sentence(effect.rule)} Of 1,000 {result.people}: {effect.text}.
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

const said = (result: Result, about: Statement['about']): Statement[] =>
  result.statements.filter((s) => s.about === about);

function List({ statements }: { statements: Statement[] }): JSX.Element {
  return (
    <ul>
      {statements.map((s) => (
        <li key={s.key}>{s.grave ? <strong>{s.text}</strong> : s.text}</li>
      ))}
    </ul>
  );
}

const tenth = (x: number): string => `${(100 * x).toFixed(1)}%`;

function ThresholdCard({ result }: { result: Result }): JSX.Element | null {
  const t = result.threshold;
  if (!t) return null;
  return (
    <Card title="Best threshold">
      <p class="big">
        {tenth(t.value)}{' '}
        {known(t) && (
          <span>
            {tenth(t.low as number)} to {tenth(t.high as number)}
          </span>
        )}
      </p>
      <p>Predict {t.positive ?? 'the class to be found'} from this true probability up, whatever the data.</p>
      <Interval range={t} low={0} high={1} ticks={[0, 0.25, 0.5, 0.75, 1]} format={(x) => percent(x, 1)} />
    </Card>
  );
}

function AgreementCard({ agreement }: { agreement: Agreement }): JSX.Element {
  const rows: [string, number | undefined][] = [
    ['the metric found here', agreement.elicited],
    ['your guess at the beginning', agreement.guess],
    ['accuracy', agreement.accuracy],
    ['F1', agreement.f1],
  ];
  return (
    <Card title={`How often each agrees with your last ${agreement.of} answers`}>
      <ul class="agreement">
        {rows
          .filter((row): row is [string, number] => row[1] !== undefined && row[1] !== null)
          .map(([name, count]) => (
            <li key={name}>
              <span>{name}</span>
              <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                <rect class="bar-back" width="100" height="10" />
                <rect class="interval-range" width={(100 * count) / agreement.of} height="10" />
              </svg>
              <b>{percent(count, agreement.of)}</b>
            </li>
          ))}
      </ul>
      {agreement.self_of !== undefined && (
        <p class="soft">
          Of {agreement.self_of} questions that came twice, {agreement.self} got the same answer from you: no metric can be
          expected to agree with you more often.
        </p>
      )}
    </Card>
  );
}

function Downloads({ result }: { result: Result }): JSX.Element {
  return (
    <Card title="Take it with you">
      <div class="downloads">
        <a class="button" href={ofStudy('/api/result/report')} download>
          Report <small>to read and print</small>
        </a>
        <a class="button" href={ofStudy('/api/result/metric')} download>
          Metric file <small>for programs</small>
        </a>
        <a class="button" href={ofStudy('/api/result/session')} download>
          Session file <small>all answers</small>
        </a>
      </div>
      {result.python && (
        <details>
          <summary>Use it from Python</summary>
          <pre tabIndex={0}>{result.python}</pre>
          <CopyButton text={result.python} label="Copy" />
        </details>
      )}
    </Card>
  );
}

export function ResultBody({ result }: { result: Result }): JSX.Element {
  const classes = result.metric?.layout?.classes ?? [];
  const open = said(result, 'open');
  return (
    <>
      {result.cost_ratio && <RatioCard result={result} ratio={result.cost_ratio} />}
      <section class="card words">
        <h2 class="visually-hidden">In words</h2>
        {said(result, 'metric').map((s) => (
          <p key={s.key}>{s.text}</p>
        ))}
        <p>{[...said(result, 'end'), ...said(result, 'known')].map((s) => s.text).join(' ')}</p>
        {open.length > 0 && (
          <>
            <h3>What is open</h3>
            <List statements={open} />
          </>
        )}
      </section>
      <div class="cards">
        <ThresholdCard result={result} />
        <Effects result={result} />
        {result.face && result.face.hull.length > 2 && (
          <Card title="What systems can achieve, and the best one for you">
            <FacePlot face={result.face} positive={classes[1] ?? 'positive'} negative={classes[0] ?? 'negative'} />
          </Card>
        )}
        <Weights result={result} />
        {result.closest && result.closest.length > 0 && (
          <Card title="Closest well-known metrics">
            <dl class="effects">
              {result.closest.map((n) => (
                <div key={n.name}>
                  <dt>{n.name}</dt>
                  <dd>orders {n.percent}% of pairs alike</dd>
                </div>
              ))}
            </dl>
          </Card>
        )}
        {result.agreement && <AgreementCard agreement={result.agreement} />}
        <Card title="How consistent the answers were">
          <List statements={said(result, 'answers')} />
        </Card>
        <Card title="What is not known">
          <List statements={said(result, 'limits')} />
        </Card>
        <Downloads result={result} />
      </div>
    </>
  );
}

export function ResultView({ page, busy, problem, send }: PageProps<ResultPage>): JSX.Element {
  const own = !page.study?.id;
  return (
    <div class="wide result">
      <Heading>{page.title ?? 'What matters to you'}</Heading>
      <p class="out-of">From your answers to {page.result.questions} questions.</p>
      <ResultBody result={page.result} />
      <Problem problem={problem} />
      <div class="actions">
        {!own && (
          <button type="button" class="primary" disabled={busy} onClick={() => send({})}>
            Continue
          </button>
        )}
        {page.more && (
          <button type="button" disabled={busy} onClick={() => send({ more: true })}>
            Answer more questions
          </button>
        )}
        {own && (
          <a class="button" href="/?new">
            Start another
          </a>
        )}
      </div>
    </div>
  );
}
