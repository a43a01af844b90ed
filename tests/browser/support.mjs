// What the browser tests share: a server of their own, a browser, a person who answers, axe.
// MELICIT_PROGRAM: the program (default build/melicit).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
const require = createRequire(path.join(root, 'web/package.json'));
const { chromium } = require('playwright-core');
const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

export const program = path.resolve(process.env.MELICIT_PROGRAM ?? path.join(root, 'build/melicit'));
export const WIDTHS = [1280, 360];
/** Of ways to look at a page, such as widths, the one whose turn it is; all of them with MELICIT_SOAK=1. */
export const inTurn = (turn, ways) => (process.env.MELICIT_SOAK ? ways : [ways[turn % ways.length]]);
export const PATIENCE_MS = 120_000;
const HEIGHTS = { 1280: 800, 390: 844, 360: 740, 320: 640 };
const BROWSER_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A server on a store of its own; stop() ends it and removes the store. */
export async function startServer() {
  const folder = mkdtempSync(path.join(tmpdir(), 'melicit-browser-'));
  const child = spawn(program, ['serve', '--port', '0', '--store', path.join(folder, 's.db'), '--json'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let said = '';
  child.stderr.on('data', (bytes) => (said += bytes));
  const told = await new Promise((resolve, reject) => {
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
    child.on('error', reject);
    child.stdout.on('data', (bytes) => {
      out += bytes;
      try {
        resolve(JSON.parse(out));
      } catch {
        // The object is not complete yet.
      }
    });
  });
  const stop = async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true });
  };
  /** A file of this text, as a browser would pick it. */
  const fileOf = (name, bytes) => {
    const file = path.join(folder, name);
    writeFileSync(file, bytes);
    return file;
  };
  return { url: told.url, token: told.token, folder, fileOf, stop };
}

export const launch = () => chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args: BROWSER_FLAGS });

/** For a window in which pages fade in. Elsewhere nothing moves: drawing what nobody sees took a sixth of the tests' time. */
export const MOVING = { reducedMotion: 'no-preference' };

/** A new person's browser window. Errors in the page and requests to other hosts fail the test through check(). */
export async function visitor(browser, server, width, options = {}) {
  const context = await browser.newContext({
    viewport: { width, height: HEIGHTS[width] ?? 800 },
    acceptDownloads: true,
    reducedMotion: 'reduce',
    ...options,
  });
  // Slow machines are slow: what is waited for comes, or never.
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const state = { page: null, wrong: [], bytes: 0 };
  const watch = (tab) => {
    tab.on('pageerror', (error) => state.wrong.push(`error: ${error.message}`));
    tab.on('console', (message) => {
      // The browser itself reports refused requests and lost connections; tests look at those on their own.
      if (message.type() === 'error' && !/Failed to load resource|ERR_INTERNET_DISCONNECTED/.test(message.text()))
        state.wrong.push(message.text());
    });
    tab.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(server.url) && !url.startsWith('data:') && !url.startsWith('blob:'))
        state.wrong.push(`request to ${url}`);
    });
    tab.on('response', async (response) => {
      if (!/^\/api\/(page|join|start|event|undo)$/.test(new URL(response.url()).pathname)) return;
      try {
        const body = await response.json();
        state.page = body.page ?? body.error?.page ?? state.page;
      } catch {
        // A reload cut the answer off; the next one comes at once.
      }
    });
  };
  watch(page);
  context.on('page', watch);
  const check = () => assert.deepEqual(state.wrong, []);
  return { context, page, state, check, width, url: server.url };
}

/** No serious or critical violation of WCAG 2.2 AA in what is shown now. */
export async function axe(page, where) {
  // The fade of a page that appears would be judged half transparent.
  await page.waitForFunction(() => document.getAnimations().every((a) => a.playState !== 'running'));
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource);
  const found = await page.evaluate(() =>
    globalThis.axe.run(document, {
      resultTypes: ['violations'], // all of these, and of what passed only that it did
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    }),
  );
  const bad = found.violations
    .filter((v) => v.impact === 'serious' || v.impact === 'critical')
    .map((v) => `${where}: ${v.id}: ${v.nodes.map((n) => `${n.html.slice(0, 120)} ${n.failureSummary}`).join(' | ')}`);
  assert.deepEqual(bad, []);
}

export async function fits(page, where) {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(over <= 0, `${where} is ${over} px wider than the window`);
}

/** Looks at the page in every respect that holds for all pages. */
export async function inspect(person, name) {
  await axe(person.page, `${name} at ${person.width}`);
  await fits(person.page, name);
}

/** Waits until the server's answer with this kind of page (and a seq above `after`) is shown and can be answered. */
export async function arrive(person, kind, after = 0) {
  const end = Date.now() + PATIENCE_MS;
  while (!(person.state.page && person.state.page.seq > after && (!kind || person.state.page.kind === kind))) {
    if (Date.now() > end)
      throw new Error(
        `no ${kind} page after event ${after}; the last one is ${JSON.stringify(person.state.page)?.slice(0, 300)}`,
      );
    await person.page.waitForTimeout(15);
  }
  const { page } = person.state;
  // The answer is here before the page is: its heading must be that of this page, not of the last one.
  await person.page.waitForSelector(`main[data-seq="${page.seq}"] [data-focus]`);
  await person.page.waitForFunction(() => !document.querySelector('button:disabled.answer'));
  return page;
}

const flat = (counts) => (Array.isArray(counts[0][0]) ? counts : [counts]);

/** What the mistakes of a system cost somebody to whom a missed one is worth `ratio` false alarms. */
export const cost = (counts, ratio) =>
  flat(counts).reduce((sum, m) => sum + ratio * (m[1][0] ?? 0) + (m[0][1] ?? 0), 0);

export function choice(question, ratio) {
  const a = cost(question.a, ratio);
  const b = cost(question.b, ratio);
  return a === b ? '=' : a < b ? 'A' : 'B';
}

/** All mistakes of a system, in one table or in one for each group. */
const mistakes = ({ counts }) => cost(counts, 1);

/** The number or letter that a training page of the ready studies asks for, from the numbers it shows. */
export function rightAnswer({ question, view: [a, b] }) {
  const rate = (m) => Math.round((100 * m[1][0]) / (m[1][0] + m[1][1]));
  if (/misses more|makes fewer/.test(question)) return mistakes(a) < mistakes(b) ? 'A' : 'B';
  if (/women who would repay/.test(question)) return a.counts[0][0][1];
  if (/given to men/.test(question)) return a.counts[1][1][0] > b.counts[1][1][0] ? 'A' : 'B';
  if (/more false alarms/.test(question)) return a.counts[0][1] > b.counts[0][1] ? 'A' : 'B';
  if (/Imagine 100/.test(question)) return rate(a.counts);
  if (/predicted to have cancer, rightly/.test(question)) return b.counts[0][1] + b.counts[1][1];
  return a.counts[1][0];
}

/** Sends what the page would send, without it; the next page. */
export async function send(person, address, data, csrf = 'first') {
  const answer = await person.page.request.post(`${person.url}${address}`, { data, headers: { 'X-Melicit-CSRF': csrf } });
  const told = await answer.json();
  assert.equal(answer.status(), 200, JSON.stringify(told));
  return told.page;
}

/** What somebody with this ratio sends for a page. */
function replyTo(page, ratio) {
  if (page.kind === 'consent') return { agreed: true, version: page.version };
  if (page.kind === 'form') return Object.fromEntries(page.fields.map((f) => [f.name, f.type === 'number' ? 30 : (f.choices?.[0] ?? 'Nothing to add')]));
  if (page.kind === 'guess') return { ratio: 5 };
  if (page.kind === 'training') return { answer: rightAnswer(page) };
  return page.kind === 'question' ? { answer: choice(page.question, ratio) } : {};
}

/** Answers by requests from this page to the first one after it for which `end` holds; that page. */
export async function answerUntil(person, first, end, ratio = 7) {
  const study = /\/s\/(\w+)/.exec(person.page.url());
  const address = `/api/event${study ? `?study=${study[1]}` : ''}`;
  for (let page = first; ; )
    if (end(page)) return page;
    else page = await send(person, address, { seq: page.seq, key: randomUUID(), value: replyTo(page, ratio), seconds: 4 + (page.seq % 7) }, page.csrf);
}

/** Until the pause is over in which a question does not take answers yet. */
export const settle = (person) => person.page.locator('[data-listening]').waitFor();

/** Chooses how a pair is shown. */
export async function view(page, name) {
  await page.locator('.view-menu:not([open]) > summary').click();
  await page.locator('.view-menu').getByRole('button', { name, exact: true }).click();
}

/** Ticks or unticks one of the switches of the same menu. */
export async function viewSwitch(page, name) {
  await page.locator('.view-menu:not([open]) > summary').click();
  await page.locator('.view-menu').getByLabel(name).click();
  await page.keyboard.press('Escape');
}

/** Tab until an element that matches has the focus. */
export async function tabTo(page, selector) {
  for (let i = 0; i < 120; i++) {
    if (await page.evaluate((s) => document.activeElement?.matches(s) ?? false, selector)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`the focus never reached ${selector}`);
}

/** Starts the example of the start page. */
export async function startExample(person) {
  await person.page.goto(person.url);
  await person.page.getByRole('button', { name: 'Try the cancer example' }).click();
}

/** The wizard for one's own data, at its first step with this source chosen. */
export async function startOwn(person, source) {
  await person.page.goto(`${person.url}/#own`);
  await person.page.getByLabel(source).check();
}

/** Goes on to a step of the wizard. */
export async function goOn(page, step) {
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.locator(`form[data-step="${step}"]`).waitFor();
}

/** Logs a researcher in by the page. */
export async function login(person, token) {
  await person.page.goto(`${person.url}/admin`);
  await person.page.getByLabel('Token').fill(token);
  await person.page.keyboard.press('Enter');
  await person.page.getByRole('heading', { level: 1, name: 'Studies' }).waitFor();
}

/** A researcher without a page: sends what one sends; the answer as JSON. */
export async function researcherOf(server) {
  const headers = { 'Content-Type': 'application/json', 'X-Melicit-CSRF': 'first' };
  const send = async (path, body) => {
    const answer = await fetch(`${server.url}/api/admin/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    const told = await answer.json();
    assert.equal(answer.status, 200, JSON.stringify(told));
    headers.Cookie ??= answer.headers.get('set-cookie').split(';')[0];
    headers['X-Melicit-CSRF'] = told.csrf ?? headers['X-Melicit-CSRF'];
    return told;
  };
  await send('login', { token: server.token });
  return send;
}

/** Makes a study of an example by the page; its id. */
export async function createStudy(person, title) {
  await person.page.goto(`${person.url}/admin/new`);
  await person.page.getByRole('button', { name: title }).click();
  await person.page.locator('[data-valid]').waitFor();
  await person.page.getByRole('button', { name: 'Make the study' }).click();
  await person.page.waitForURL(/\/admin\/study\//);
  await person.page.getByRole('heading', { level: 2, name: 'Participants' }).waitFor();
  return person.page.url().split('/').pop();
}

/** What a question of the cancer example says of B against A. */
export function cancerWords(q) {
  const told = (from, to, one, many) =>
    `${Math.abs(to - from).toLocaleString('en')} ${to > from ? 'more' : 'fewer'} ${Math.abs(to - from) === 1 ? one : many}`;
  const found = q.a[1][1] === q.b[1][1] ? '' : `finds ${told(q.a[1][1], q.b[1][1], 'cancer', 'cancers')}`;
  const [one, many] = ['patient without cancer gets a biopsy', 'patients without cancer get a biopsy'];
  const alarms = q.a[0][1] === q.b[0][1] ? '' : told(q.a[0][1], q.b[0][1], one, many);
  return `${found ? 'B' : 'With B,'} ${[found, alarms].filter((text) => text).join('; ')}.`;
}
