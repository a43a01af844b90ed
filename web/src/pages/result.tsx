// What came out: a sentence, what it means for people, whether it feels right, what to do with it; statistics last.

import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { CostMatrix, TradeOff } from '../charts/costs';
import { Mark } from '../charts/crowd';
import { FacePlot } from '../charts/face';
import { t } from '../lib/say';
import { capital, percent, sentence, whole } from '../lib/text';
import type { Agreement, CloseCall, Placed, Range, Result, ResultPage, Statement, Words } from '../lib/types';
import { Problem, type PageProps } from './common';
import { OwnData } from './end';
import { Colleague } from './colleague';
import { Headline } from './headline';
import { Next } from './next';
import './result.css';
import { WhatItMeans } from './setting';
import { todayChanged, type SendToday } from './today';
import { Treatments } from './treatments';

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

function Weights({ result }: { result: Result }): JSX.Element | null {
  const weights = result.weights ?? [];
  if (weights.length === 0) return null;
  const top = Math.max(1e-12, ...weights.map((w) => Math.abs(w.high ?? w.value)));
  return (
    <Card title={t`Weights`}>
      <div class="table-scroll" tabIndex={0} role="group" aria-label={t`Weights with intervals`}>
        <table class="numbers">
          <thead>
            <tr>
              <th scope="col">{t`of`}</th>
              <th scope="col">{t`weight`}</th>
              <th scope="col">{searched(result) ? t`interval` : t`95% interval`}</th>
              <td />
            </tr>
          </thead>
          <tbody>
            {weights.map((w) => (
              <tr key={w.symbol}>
                <th scope="row">{w.name}</th>
                <td>{w.value.toFixed(4)}</td>
                <td>{known(w) ? t`${w.low?.toFixed(4) ?? ''} to ${w.high?.toFixed(4) ?? ''}` : '–'}</td>
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
  // The settings have the same numbers, in whole people.
  if (!result.effect?.length || result.settings) return null;
  return (
    <Card title={t`What it means for the data`}>
      <dl class="effects">
        {result.effect.map((effect) => (
          <div key={effect.name}>
            <dt>{capital(effect.name)}</dt>
            <dd>
              {sentence(effect.rule)} {t`Of ${whole(1000)} ${result.people ?? ''}: ${effect.text}.`}
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

function AgreementCard({ agreement }: { agreement: Agreement }): JSX.Element {
  const rows: [string, number | undefined][] = [
    [t`the metric found here`, agreement.elicited],
    [t`your guess at the beginning`, agreement.guess],
    [t`accuracy`, agreement.accuracy],
    ['F1', agreement.f1],
  ];
  return (
    <Card title={t`How often each agrees with your last ${agreement.of} answers`}>
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
          {t`Of ${agreement.self_of} questions that came twice, ${agreement.self ?? 0} got the same answer from you.`}
        </p>
      )}
    </Card>
  );
}

/** What the test offered, as it was answered. */
function Call({ call }: { call: CloseCall }): JSX.Element {
  const said = { A: t`You said yes`, B: t`You said no`, '=': t`About the same to you`, '?': t`You couldn't say` }[call.answer];
  const { missed = 0, false_alarms: alarms = 0 } = call;
  if (!call.text) return <></>;
  return (
    <li class="card">
      <b>{said}</b>
      <p>{capital(call.text)}.</p>
      {missed > 0 && missed + alarms <= 80 && (
        <div class="call-marks" aria-hidden="true">
          {Array.from({ length: missed }, (_, i) => (
            <Mark key={i} kind="missed" />
          ))}
          {t`for`}
          {Array.from({ length: alarms }, (_, i) => (
            <Mark key={i} kind="alarm" />
          ))}
        </div>
      )}
    </li>
  );
}

interface FeelsProps {
  page: ResultPage;
  busy: boolean;
  send: PageProps<ResultPage>['send'];
  own: boolean;
}

/** The answers that drew the line, to be given again. */
function FeelsRight({ page, busy, send, own }: FeelsProps): JSX.Element | null {
  const calls = page.result.close_calls ?? [];
  const again = page.again ?? 0;
  if (calls.length === 0 || (again === 0 && !page.more)) return null;
  return (
    <section>
      <h2>{t`Does this feel right?`}</h2>
      <p class="out-of">
        {calls.length === 1 ? t`This answer was the closest call.` : t`These ${calls.length} answers were the closest calls: they drew the line.`}
      </p>
      <ul class="calls">
        {calls.map((call) => (
          <Call key={call.number} call={call} />
        ))}
      </ul>
      <div class="actions">
        {own && (
          <a class="button" href="#next">
            {t`Yes, that's me`}
          </a>
        )}
        {again > 0 && (
          <button type="button" disabled={busy} onClick={() => send({ again: true })}>
            {again === 1 ? t`Not quite: ask me that one again` : t`Not quite: ask me these ${again} again`}
          </button>
        )}
        {page.more && (
          <button type="button" disabled={busy} onClick={() => send({ more: true })}>
            {t`Answer more questions`}
          </button>
        )}
      </div>
    </section>
  );
}

export function Details({ result }: { result: Result }): JSX.Element {
  const classes = result.metric?.layout?.classes ?? [];
  const open = said(result, 'open');
  const part = (title: string, body: ComponentChildren): JSX.Element => (
    <details>
      <summary>{title}</summary>
      <div>{body}</div>
    </details>
  );
  return (
    <section class="more-details">
      <h2>{t`Details`}</h2>
      {part(
        t`How sure is this?`,
        <>
          {[...said(result, 'metric'), ...said(result, 'end'), ...said(result, 'known')].map((s) => (
            <p key={s.key}>{s.text}</p>
          ))}
          {open.length > 0 && (
            <>
              <h3>{t`What is open`}</h3>
              <List statements={open} />
            </>
          )}
          <h3>{t`How consistent the answers were`}</h3>
          <List statements={said(result, 'answers')} />
          <h3>{t`What is not known`}</h3>
          <List statements={said(result, 'limits')} />
        </>,
      )}
      {part(
        t`For statisticians`,
        <div class="cards">
          <Effects result={result} />
          {result.face && result.face.hull.length > 2 && (
            <Card title={t`What systems can achieve, and the best one for you`}>
              <FacePlot face={result.face} positive={classes[1] ?? 'positive'} negative={classes[0] ?? 'negative'} />
            </Card>
          )}
          <Weights result={result} />
          {result.closest && result.closest.length > 0 && (
            <Card title={t`Closest well-known metrics`}>
              <dl class="effects">
                {result.closest.map((n) => (
                  <div key={n.name}>
                    <dt>{n.name}</dt>
                    <dd>{t`orders ${n.percent}% of pairs alike`}</dd>
                  </div>
                ))}
              </dl>
            </Card>
          )}
          {result.agreement && <AgreementCard agreement={result.agreement} />}
        </div>,
      )}
    </section>
  );
}

/** Classifiers that exist, the preferred one first. */
function Order({ order }: { order: Placed[] }): JSX.Element {
  return (
    <section>
      <h2>{t`Your order of these classifiers`}</h2>
      <p class="out-of">{t`How likely each one is the best for you.`}</p>
      <ol class="agreement">
        {order.map((one) => (
          <li key={one.name}>
            <span>{one.name}</span>
            <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
              <rect class="bar-back" width="100" height="10" />
              <rect class="interval-range" width={100 * one.best_probability} height="10" />
            </svg>
            <b>{percent(one.best_probability, 1)}</b>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** What was found, without anything that changes it. */
export function Findings({ result, words, send, them }: { result: Result; words?: Words; send?: SendToday; them?: boolean }): JSX.Element {
  const [told] = useState(todayChanged);
  return (
    <>
      <Headline result={result} words={words} them={them} />
      {result.statements
        .filter((s) => s.grave)
        .map((s) => (
          <p key={s.key} class="notice warn">
            {s.text}
          </p>
        ))}
      {result.settings && <WhatItMeans result={result} settings={result.settings} words={words} send={send} told={told} />}
      {result.order && <Order order={result.order} />}
      <CostMatrix result={result} />
      <TradeOff result={result} />
      {result.treatments && <Treatments result={result} both={result.treatments} words={words} send={send} told={told} />}
    </>
  );
}

export function ResultView({ page, busy, problem, send }: PageProps<ResultPage>): JSX.Element {
  const own = !page.study?.id;
  const { result } = page;
  return (
    <div class="wide result">
      <Findings result={result} words={page.words} send={own ? send : undefined} />
      {own && <Colleague result={result} />}
      <FeelsRight page={page} busy={busy} send={send} own={own} />
      <Problem problem={problem} />
      <Next result={result} own={own} />
      <Details result={result} />
      <div class="actions">
        {!own && (
          <button type="button" class="primary" disabled={busy} onClick={() => send({})}>
            {t`Continue`}
          </button>
        )}
        {own && (
          <a class="button" href="/?new">
            {t`Start another`}
          </a>
        )}
      </div>
      {own && <OwnData />}
    </div>
  );
}
