// What the answers mean for people: the setting that fits them, today's where it was given, and every other one by a slider.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Mark } from '../charts/crowd';
import { SettingCard, SettingTable, counted, type Names } from '../charts/settings';
import { number, t, tx } from '../lib/say';
import { alarmWord, chanceText, changeOf, missedWord, whole } from '../lib/text';
import type { Result, Setting, Settings, Words } from '../lib/types';
import { nothingFound } from './headline';
import { TodayForm, type SendToday } from './today';

/** A probability with the digits that tell settings apart. */
const chance = (x: number | null | undefined): string =>
  x === null || x === undefined ? t`never` : x === 0 ? t`always` : number(x, { maximumSignificantDigits: 2 });

function namesOf(result: Result, words?: Words): Names {
  const classes = result.metric?.layout?.classes ?? [];
  const ratio = result.cost_ratio;
  const found = words?.consequences?.found;
  return {
    positive: found ? t`with ${found}` : (classes[1] ?? 'positive'),
    negative: found ? t`without ${found}` : (classes[0] ?? 'negative'),
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
  return from === undefined || to === undefined || from === to ? '' : t`Your answers set one bound only: settings from ${from} to ${to} fit them, too.`;
}

/** For whom this setting would be the best one, and whether the answers say so. */
function Why({ setting, result, mine, back }: WhyProps): JSX.Element {
  const text = chance(setting.threshold);
  const todays = result.settings?.today ? result.settings.usual.weighs : undefined;
  const said = setting.where;
  const others = mine ? alsoFits(result) : '';
  const lead = others ? t`${text} is a guess:` : mine ? t`${text} fits your answers best:` : t`${text} still fits your answers:`;
  if (nothingFound(result))
    return <p class="why" aria-live="polite">{said && t`${text} would be the best setting where ${said}.`}</p>;
  return (
    <p class="why" aria-live="polite">
      {said && (mine || setting.fits) && (
        <>
          <b>{lead}</b> {t`it is the best setting where ${said}.`} {others}{' '}
        </>
      )}
      {said && !mine && !setting.fits && (
        <>
          {t`${text} would be the best setting where ${said}.`} <b>{t`Your answers say otherwise.`}</b>{' '}
        </>
      )}
      {setting.weighs && (
        <>
          {todays ? tx`By your answers its mistakes weigh ${<b>{setting.weighs}</b>}; today's ${todays}.` : tx`By your answers its mistakes weigh ${<b>{setting.weighs}</b>}.`}{' '}
        </>
      )}
      {!mine && (
        <button type="button" class="link" onClick={back}>
          {t`Back to mine`}
        </button>
      )}
    </p>
  );
}

/** For whose probabilities the number holds. */
function Whose({ result, settings }: { result: Result; settings: Settings }): JSX.Element {
  const best = settings.list[settings.best];
  const any = result.threshold;
  return (
    <p class="note">
      {t`${chance(best?.threshold ?? null)} is for this test, as it was measured.`}{' '}
      {any?.text && t`For another model with honest percentages, use ${chanceText(any)}.`}
    </p>
  );
}

/** What changes from one setting to another, in words. */
function Compared({ now, other, names, lead, none }: { now: Setting; other: Setting; names: Names; lead: string; none: string }): JSX.Element {
  const a = counted(other);
  const b = counted(now);
  const same = a.missed === b.missed && a.alarms === b.alarms;
  return (
    <>
      <p class="compared" aria-live="polite">
        {same ? (
          none
        ) : (
          <>
            {lead} <Mark kind="missed" />
            <b>{changeOf(a.missed, b.missed, names.missed(Math.abs(b.missed - a.missed)))}</b>, <Mark kind="alarm" />
            <b>{changeOf(a.alarms, b.alarms, names.alarms(Math.abs(b.alarms - a.alarms)))}</b>.
          </>
        )}
      </p>
      {!same && (
        <p class="note">
          <span class="shade-sample" />
          {t`Shaded: the ${names.people} who fare differently.`}
        </p>
      )}
    </>
  );
}

interface Tick {
  at: number;
  text: string;
  note?: string;
}

/** Ticks nearer to each other than this share of the slider would cover one another. */
const APART = 0.2;

/** The ends of the slider, the setting that fits, and today's; what would cover a more important one is left out. */
function ticksOf(settings: Settings, last: number): Tick[] {
  const list = settings.list;
  const usual = settings.today ? settings.usual.threshold : undefined;
  // Highest threshold first: today's is between two settings of the list.
  const after = typeof usual === 'number' ? list.findIndex((s) => s.threshold !== null && (s.threshold ?? 0) <= usual) : -1;
  const wanted: Tick[] = [
    { at: settings.best, text: chance(list[settings.best]?.threshold), note: t`yours` },
    ...(typeof usual === 'number' ? [{ at: after < 0 ? last : after, text: chance(usual), note: t`today` }] : []),
    { at: 0, text: chance(list[0]?.threshold) },
    { at: last, text: chance(list[last]?.threshold) },
    { at: Math.round(last / 2), text: chance(list[Math.round(last / 2)]?.threshold) },
  ];
  return wanted.filter((tick, i) => wanted.slice(0, i).every((other) => Math.abs(other.at - tick.at) >= APART * last));
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
  const own = settings.list[settings.best] ?? now;
  const given = settings.today === true;
  const other = given ? settings.usual : own;
  const last = Math.max(1, settings.list.length - 1);
  const fitting = settings.list.flatMap((s, i) => (s.fits || i === settings.best ? [i] : []));
  const { missed, alarms } = counted(now);
  const place = (i: number): string => `${(100 * i) / last}%`;
  const from = fitting[0] ?? settings.best;
  const to = fitting[fitting.length - 1] ?? settings.best;
  const today = settings.usual.threshold === undefined ? t`the decisions of your file` : t`from ${chance(settings.usual.threshold)}`;
  const card = (title: string, note: string, setting: Setting, than: Setting, first = false): JSX.Element => (
    <SettingCard own={first} title={title} note={note} setting={setting} other={than} settings={settings} names={names} />
  );
  const fromNow = t`from ${chance(now.threshold)}`;
  const second: [string, string, Setting] | null = given
    ? [t`Today's setting`, today, settings.usual]
    : mine
      ? null
      : [t`Your setting`, t`from ${chance(own.threshold)}`, own];
  return (
    <section tabIndex={-1} data-told={told || undefined}>
      <h2>{t`What it means for ${whole(settings.people)} ${names.people}`}</h2>
      <p class="threshold-line">
        <label for="setting">{t`Say “${result.metric?.layout?.classes?.[1] ?? names.positive}” when the test gives it at least`}</label>{' '}
        <output for="setting">{chance(now.threshold)}</output>
      </p>
      <div class="slider">
        <div class="slider-track">
          <i style={{ insetInlineStart: place(from), width: `max(8px, ${(100 * (to - from)) / last}%)` }} />
        </div>
        <input
          id="setting"
          type="range"
          min={0}
          max={last}
          value={at}
          onInput={(event) => setAt(Number(event.currentTarget.value))}
          aria-valuetext={`${fromNow}: ${whole(missed)} ${names.missed(missed)}, ${whole(alarms)} ${names.alarms(alarms)}`}
        />
        <div class="slider-ticks" aria-hidden="true">
          {ticksOf(settings, last).map((tick) => (
            <span key={tick.at} style={{ insetInlineStart: place(tick.at) }} class={`${tick.note ? 'named' : ''} ${tick.at < 0.1 * last ? 'first' : tick.at > 0.9 * last ? 'last' : ''}`}>
              {tick.text}
              {tick.note && <small>{tick.note}</small>}
            </span>
          ))}
        </div>
        <div class="slider-ends" aria-hidden="true">
          <span>{t`fewer ${names.alarms(2)}`}</span>
          <span>{t`fewer ${names.missed(2)}`}</span>
        </div>
      </div>
      <Why setting={now} result={result} mine={mine} back={() => setAt(settings.best)} />
      <div class={second ? 'pair' : 'pair single'}>
        {card(mine ? t`Your setting` : t`If you chose`, fromNow, now, other, true)}
        {second && card(...second, now)}
      </div>
      {given && <Compared now={now} other={other} names={names} lead={t`Compared with today:`} none={t`Compared with today: no difference.`} />}
      {!given && !mine && <Compared now={now} other={other} names={names} lead={t`Compared with yours:`} none={t`Compared with yours: no difference.`} />}
      <Whose result={result} settings={settings} />
      {send && <TodayForm result={result} send={send} given={given} />}
      <details>
        <summary>{t`The same as a table`}</summary>
        <SettingTable
          rows={[[`${mine ? t`Yours` : t`Chosen`}, ${fromNow}`, now], ...(second ? [[`${second[0]}, ${second[1]}`, second[2]] as [string, Setting]] : [])]}
          settings={settings}
          names={names}
        />
      </details>
    </section>
  );
}
