// What to do with a result: decide with a model, take it along, show it to others.

import type { JSX } from 'preact';
import { ofStudy } from '../lib/api';
import type { Result } from '../lib/types';
import { CopyButton } from './end';

function Lines({ text }: { text: string }): JSX.Element {
  return (
    <>
      <pre tabIndex={0}>{text}</pre>
      <CopyButton text={text} label="Copy" />
    </>
  );
}

export function Next({ result }: { result: Result; own: boolean }): JSX.Element {
  return (
    <section id="next" tabIndex={-1}>
      <h2>Next</h2>
      <ul class="next">
        <li>
          <details>
            <summary>
              <b>Get the report</b>
              <span>To read, to print (also as PDF) or to attach</span>
            </summary>
            <div class="downloads">
              <a class="button" href={ofStudy('/api/result/report')} download>
                Report <small>HTML</small>
              </a>
              <a class="button" href={ofStudy('/api/result/metric')} download>
                Metric file <small>for programs</small>
              </a>
              <a class="button" href={ofStudy('/api/result/session')} download>
                Session file <small>all answers</small>
              </a>
            </div>
          </details>
        </li>
        {result.python && (
          <li>
            <details>
              <summary>
                <b>Use it in programs</b>
                <span>Python and the command line</span>
              </summary>
              <div>
                <Lines text={result.python} />
                {result.command && <Lines text={result.command} />}
              </div>
            </details>
          </li>
        )}
      </ul>
    </section>
  );
}
