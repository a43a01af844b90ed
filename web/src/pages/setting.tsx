// What the answers mean for people: the setting that fits them next to today's, and every other one by a slider.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Mark } from '../charts/crowd';
import { SettingCard, SettingTable, counted, type Names } from '../charts/settings';
import { alarmWord, change, missedWord, whole } from '../lib/text';
import type { Result, Setting, Settings, Words } from '../lib/types';
import { nothingFound } from './headline';
import { TodayForm, type SendToday } from './today';

/** A probability with the digits that tell settings apart. */
const chance = (t: number | null | undefined): string => (t === null || t === undefined ? 'never' : t === 0 ? 'always' : String(Number(t.toPrecision(2))));

function namesOf(result: Result, words?: Words): Names {
  const classes = result.metric?.layout?.classes ?? [];
  const ratio = result.cost_ratio;
  return {
    positive: classes[1] ?? 'positive',
    negative: classes[0] ?? 'negative',
    people: result.people ?? 'people',
    missed: (n) => (ratio ? (n === 1 ? ratio.missed : ratio.missed_plural) : missedWord(words, n)),
    alarms: (n) => (ratio ? (n === 1 ? ratio.false_alarm : ratio.false_alarms) : alarmWord(words, n)),
  };
}

interface WhyProps {
  setting: Setting;
  result: Result;
  mine: boolean;
  back: () => void;
}

/** With one bound only, how far the setting may be from the best guess. */
function alsoFits(result: Result): string {
  const fit = result.cost_ratio?.bound ? (result.settings?.list.filter((s) => s.fits).map((s) => chance(s.threshold)) ?? []) : [];
  const [from, to] = [fit[fit.length - 1], fit[0]];
  return from === to ? '' : ` Your answers set one bound only: settings from ${from} to ${to} fit them, too.`;
}

/** For whom this setting would be the best one, and whether the answers say so. */
function Why({ setting, result, mine, back }: WhyProps): JSX.Element {
  const text = chance(setting.threshold);
  const todays = result.settings?.usual.weighs;
  if (nothingFound(result))
    return (
      <p class="why" aria-live="polite">
        {setting.where && `${text} would be the best setting where ${setting.where}.`}
      </p>
    );
  const said = setting.where;
  const others = mine ? alsoFits(result) : '';
  return (
    <p class="why" aria-live="polite">
      {said && (
        <>
          {mine || setting.fits ? (
            <>
              <b>
                {text} {others ? 'is a guess' : mine ? 'fits your answers best' : 'still fits your answers'}:
              </b>{' '}
              it is the best setting where {said}.{others}
            </>
          ) : (
            <>
              {text} would be the best setting where {said}. <b>Your answers say otherwise.</b>
            </>
          )}{' '}
        </>
      )}
      {setting.weighs && (
        <>
          By your answers its mistakes weigh <b>{setting.weighs}</b>
          {todays && <>; today's {todays}</>}.{' '}
        </>
      )}
      {!mine && (
        <button type="button" class="link" onClick={back}>
          Back to mine
        </button>
      )}
    </p>
  );
}

/** For whose probabilities the number holds. */
function Whose({ result, settings }: { result: Result; settings: Settings }): JSX.Element {
  const t = result.threshold;
  const best = settings.list[settings.best];
  return (
    <p class="note">
      {chance(best?.threshold ?? null)} is on the probabilities of this test as it was measured.{' '}
      {t && (
        <>
          On calibrated probabilities, of any model: {t.text}.
        </>
      )}
    </p>
  );
}

function Compared({ now, usual, names, people }: { now: Setting; usual: Setting; names: Names; people: string }): JSX.Element {
  const a = counted(usual);
  const b = counted(now);
  return (
    <>
      <p class="compared" aria-live="polite">
        {a.missed === b.missed && a.alarms === b.alarms ? (
          'Compared with today: no difference.'
        ) : (
          <>
            Compared with today: <Mark kind="missed" />
            <b>
              {change(a.missed, b.missed)} {names.missed(Math.abs(b.missed - a.missed))}
            </b>
            , <Mark kind="alarm" />
            <b>
              {change(a.alarms, b.alarms)} {names.alarms(Math.abs(b.alarms - a.alarms))}
            </b>
            .
          </>
        )}
      </p>
      {(a.missed !== b.missed || a.alarms !== b.alarms) && (
        <p class="note">
          <span class="shade-sample" />
          Shaded: the {people} who fare differently.
        </p>
      )}
    </>
  );
}

interface Props {
  result: Result;
  settings: Settings;
  words?: Words;
  /** Tells the server what is done today; undefined: somebody else's result. */
  send?: SendToday;
  told: boolean;
}

export function WhatItMeans({ result, settings, words, send, told }: Props): JSX.Element {
  const [at, setAt] = useState(settings.best);
  const names = namesOf(result, words);
  const now = settings.list[at] ?? settings.usual;
  const mine = at === settings.best;
  const last = Math.max(1, settings.list.length - 1);
  const fitting = settings.list.flatMap((s, i) => (s.fits || i === settings.best ? [i] : []));
  const { missed, alarms } = counted(now);
  const place = (i: number): string => `${(100 * i) / last}%`;
  const from = fitting[0] ?? settings.best;
  const to = fitting[fitting.length - 1] ?? settings.best;
  const today = settings.usual.threshold === undefined ? 'the decisions of your file' : `from ${chance(settings.usual.threshold)}`;
  return (
    <section tabIndex={-1} data-told={told || undefined}>
      <h2>
        What it means for {whole(settings.people)} {names.people}
      </h2>
      <p class="threshold-line">
        <label for="setting">Predict {names.positive} when the test gives it a probability of at least</label>{' '}
        <output for="setting">{chance(now.threshold)}</output>
      </p>
      <div class="slider">
        <div class="slider-track">
          <i style={{ left: place(from), width: `max(8px, ${(100 * (to - from)) / last}%)` }} />
        </div>
        <input
          id="setting"
          type="range"
          min={0}
          max={last}
          value={at}
          onInput={(event) => setAt(Number(event.currentTarget.value))}
          aria-valuetext={`from ${chance(now.threshold)}: ${whole(missed)} ${names.missed(missed)}, ${whole(alarms)} ${names.alarms(alarms)}`}
        />
        <div class="slider-ends" aria-hidden="true">
          <span>fewer {names.alarms(2)}</span>
          <span>fewer {names.missed(2)}</span>
        </div>
      </div>
      <Why setting={now} result={result} mine={mine} back={() => setAt(settings.best)} />
      <div class="pair">
        <SettingCard
          own
          title={mine ? 'Your setting' : 'If you chose'}
          note={`from ${chance(now.threshold)}`}
          setting={now}
          other={settings.usual}
          settings={settings}
          names={names}
        />
        <SettingCard
          title="Today's setting"
          note={today}
          setting={settings.usual}
          other={now}
          settings={settings}
          names={names}
        />
      </div>
      <Compared now={now} usual={settings.usual} names={names} people={names.people} />
      <Whose result={result} settings={settings} />
      {send && <TodayForm result={result} send={send} />}
      <details>
        <summary>The same as a table</summary>
        <SettingTable
          rows={[
            [`${mine ? 'Yours' : 'Chosen'}, from ${chance(now.threshold)}`, now],
            [`Today, ${today}`, settings.usual],
          ]}
          settings={settings}
          names={names}
        />
      </details>
    </section>
  );
}
