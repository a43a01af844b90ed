// What a test does at one setting, and next to another one: the same people, one mark each.

import type { JSX } from 'preact';
import { t } from '../lib/say';
import { capital, whole } from '../lib/text';
import type { Setting, Settings } from '../lib/types';
import { ClassPeople } from './people';

export interface Names {
  positive: string;
  negative: string;
  people: string;
  missed: (n: number) => string;
  alarms: (n: number) => string;
}

/** Whole people: pictures and sentences show the same numbers. */
export const counted = (s: Setting): { missed: number; alarms: number } => ({
  missed: Math.round(s.missed.value),
  alarms: Math.round(s.false_alarms.value),
});

interface Props {
  title: string;
  note: string;
  setting: Setting;
  other: Setting;
  settings: Settings;
  names: Names;
  own?: boolean;
}

export function SettingCard({ title, note, setting, other, settings, names, own = false }: Props): JSX.Element {
  const { missed, alarms } = counted(setting);
  const than = counted(other);
  const positives = settings.positives;
  return (
    <section class={own ? 'card setting own' : 'card setting'}>
      <h3>
        {title} <span>{note}</span>
      </h3>
      <ClassPeople
        title={names.positive}
        kept={(n) => t`${whole(n)} found`}
        total={positives}
        wrong={missed}
        other={than.missed}
        word={names.missed(missed)}
        mistake="missed"
        right="found"
        people={settings.people}
      />
      <ClassPeople
        title={names.negative}
        kept={(n) => t`${whole(n)} cleared`}
        total={settings.people - positives}
        wrong={alarms}
        other={than.alarms}
        word={names.alarms(alarms)}
        mistake="alarm"
        right="clear"
        people={settings.people}
      />
    </section>
  );
}

/** The same two settings as numbers. */
export function SettingTable({ rows, settings, names }: { rows: [string, Setting][]; settings: Settings; names: Names }): JSX.Element {
  const range = (x: { low?: number | null; high?: number | null }): string =>
    typeof x.low === 'number' && typeof x.high === 'number' ? t` (${whole(x.low)} to ${whole(x.high)})` : '';
  return (
    <div class="table-scroll" tabIndex={0} role="group" aria-label={t`The settings in numbers`}>
      <table>
        <caption>
          {t`Of ${whole(settings.people)} ${names.people}, ${whole(settings.positives)} of them ${names.positive}; in brackets the 95% range for others like them`}
        </caption>
        <thead>
          <tr>
            <td />
            <th scope="col">{capital(names.missed(2))}</th>
            <th scope="col">{capital(names.alarms(2))}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, s]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                {whole(counted(s).missed)}
                {range(s.missed)}
              </td>
              <td>
                {whole(counted(s).alarms)}
                {range(s.false_alarms)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
