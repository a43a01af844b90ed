// How long people wait for the pages, and how large they are: the first question after the start button, the largest paint of each page,
// bytes on the wire. usage: node bench/pages.mjs   (MELICIT_PROGRAM: build/melicit; Chromium on this machine)
import { gzipSync } from 'node:zlib';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { answerUntil, arrive, launch, root, send, startServer, visitor } from '../tests/browser/support.mjs';

const TRIES = 5;
const GOAL_MS = 1000;
const GOAL_KB = 90;
const median = (xs) => [...xs].sort((a, b) => a - b)[Math.floor(xs.length / 2)];
const server = await startServer();
const browser = await launch();
const body = { space: { data: 'breast_cancer_original', classes: ['healthy', 'cancer'] }, words: {}, family: 'linear' };
const times = { 'start page': [], 'first question, from the button': [], 'question page': [], 'result page': [] };

/** The largest paint of the page that was just opened, in ms since it was asked for. */
const largest = (page) =>
  page.evaluate(
    () =>
      new Promise((resolve) => {
        let last = 0;
        new PerformanceObserver((list) => {
          last = list.getEntries().at(-1).startTime;
        }).observe({ type: 'largest-contentful-paint', buffered: true });
        setTimeout(() => resolve(last), 300);
      }),
  );

for (let i = 0; i < TRIES; i++) {
  const person = await visitor(browser, server, 1280);
  const { page } = person;
  await page.goto(server.url);
  await page.locator('button.primary, a.button.primary').first().waitFor();
  times['start page'].push(await largest(page));
  const since = Date.now();
  await page.locator('button.primary, a.button.primary').first().click();
  await arrive(person, 'question');
  times['first question, from the button'].push(Date.now() - since);
  const first = await send(person, '/api/start', body);
  await page.goto(`${server.url}/session`);
  await arrive(person, 'question');
  times['question page'].push(await largest(page));
  await answerUntil(person, first, ({ kind }) => kind !== 'question');
  await page.goto(`${server.url}/session`);
  await arrive(person, 'result');
  times['result page'].push(await largest(page));
  await person.context.close();
}
await browser.close();
await server.stop();

console.log(`${'ms on localhost, median of 5'.padEnd(36)}${'median'.padStart(8)}${'largest'.padStart(9)}${'goal'.padStart(7)}`);
for (const [name, ms] of Object.entries(times))
  console.log(`${name.padEnd(36)}${median(ms).toFixed(0).padStart(8)}${Math.max(...ms).toFixed(0).padStart(9)}${String(GOAL_MS).padStart(7)}`);

const folder = path.join(root, 'web/dist/assets');
const files = Object.fromEntries(readdirSync(folder).map((name) => [name, gzipSync(readFileSync(path.join(folder, name)), { level: 9 }).length]));
/** Everything that a script asks for, with what those ask for. */
function needed(name, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  for (const [, other] of readFileSync(path.join(folder, name), 'utf8').matchAll(/(?:from|import)"\/assets\/([\w-]+\.js)"/g)) needed(other, found);
  return found;
}
const named = (start) => Object.keys(files).find((name) => name.startsWith(start) && name.endsWith('.js'));
const styles = (starts) => Object.keys(files).filter((name) => name.endsWith('.css') && starts.some((start) => name.startsWith(start)));
console.log(`\n${'kB gzipped, script and style'.padEnd(36)}${'kB'.padStart(8)}${'goal'.padStart(16)}`);
for (const [page, scripts] of [['start', ['main-', 'start-']], ['question, result', ['main-', 'app-']], ['shared result', ['main-', 'shared-']], ['a study', ['main-', 'admin-', 'study-']], ['a new study', ['main-', 'admin-', 'new-']]]) {
  const all = new Set(scripts.flatMap((start) => [...needed(named(start))]));
  const bytes = [...all, ...styles(scripts)].reduce((sum, name) => sum + files[name], 0);
  console.log(`${page.padEnd(36)}${(bytes / 1000).toFixed(1).padStart(8)}${String(GOAL_KB).padStart(16)}`);
}
