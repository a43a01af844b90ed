// The screenshots of the documentation, taken anew: every page with the data of real sessions, light, at the widths in the names.
// usage: node tools/screenshots.mjs [FOLDER]   (default docs/screenshots; MELICIT_PROGRAM: build/melicit; Chromium on this machine)
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { answerUntil, arrive, createStudy, goOn, launch, login, root, settle, startOwn, startServer, view, visitor } from '../tests/browser/support.mjs';

const folder = path.resolve(process.argv[2] ?? path.join(root, 'docs/screenshots'));
mkdirSync(folder, { recursive: true });
const server = await startServer();
const browser = await launch();

/** What is in sight, as soon as nothing moves; of an element, all of it. */
async function shot({ page, width }, name, element) {
  await page.waitForFunction(() => document.getAnimations().every((a) => a.playState !== 'running'));
  const file = { path: path.join(folder, `${name}-${width}.png`), animations: 'disabled' };
  await (element ? element.screenshot(file) : page.screenshot(file));
  console.log(`${name}-${width}`);
}

/** Calls work with a new person of this width. */
async function as(width, work, options) {
  const person = await visitor(browser, server, width, options);
  await work(person, person.page);
  person.check();
  await person.context.close();
}

const toResult = async (person, first) => {
  const { kind } = await answerUntil(person, first, (page) => page.kind !== 'question');
  await person.page.goto(`${server.url}/session`);
  return arrive(person, kind);
};

async function example(width) {
  await as(width === 360 ? 390 : width, async (person, page) => {
    await page.goto(server.url);
    await page.locator('main[data-listed]').waitFor();
    await shot(person, 'start');
  });
  await as(width, async (person, page) => {
    await page.goto(server.url);
    await page.getByRole('button', { name: 'Try the cancer example' }).click();
    const first = await arrive(person, 'question');
    await settle(person);
    await shot(person, 'question');
    if (width === 1280)
      for (const name of ['Bars', 'Both', 'People', 'Table']) {
        await view(page, name);
        await page.keyboard.press('Escape');
        await shot(person, `question-${name.toLowerCase()}`);
      }
    await toResult(person, first);
    await shot(person, 'result');
  });
}

/** Customers as a spreadsheet saves them. */
function churn() {
  const wave = (i, k) => Math.sin(i * 12.9898 * k + 78.233 * k) * 0.5 + 0.5;
  const rows = ['age;contract;revenue;left'];
  for (let i = 0; i < 400; i++) {
    const age = 20 + Math.floor(55 * wave(i, 1));
    const monthly = wave(i, 2) > 0.5;
    const gone = (60 - age) / 40 + (monthly ? 0.9 : -0.9) + 2.5 * (wave(i, 3) - 0.5) > 0.8;
    rows.push(`${i % 29 ? age : ''};${monthly ? 'month' : 'year'};${(30 + 40 * wave(i, 4)).toFixed(2).replace('.', ',')};${gone ? 'yes' : 'no'}`);
  }
  return rows.join('\n');
}

async function wizard(width) {
  const file = path.join(server.folder, 'customers.csv');
  writeFileSync(file, churn());
  await as(width, async (person, page) => {
    await startOwn(person, /A file with cases/);
    await page.locator('#file').setInputFiles(file);
    await page.getByText('400 rows, 4 columns').waitFor();
    await page.evaluate(() => scrollTo(0, 0));
    await shot(person, 'own');
    for (const step of ['columns', 'words', 'ask']) {
      await goOn(page, step);
      if (step === 'ask') await page.locator('.quality').waitFor();
      await shot(person, `own-${step}`);
    }
  });
}

/** The other examples of the start page. */
async function others(name, text) {
  await as(1280, async (person, page) => {
    await page.goto(server.url);
    await page.getByRole('button', { name: text }).click();
    const first = await arrive(person, 'question');
    await settle(person);
    await shot(person, `question-${name}`);
    await toResult(person, first);
    await shot(person, `result-${name}`);
  });
}

const CANCER_PAGES = { consent: [360], form: [360], training: [1280, 360], guess: [360], done: [360] };

/** A participant of the cancer study, page by page. */
async function walkCancer(study, width, label) {
  await as(width, async (person, page) => {
    await page.goto(`${server.url}/s/${study}?label=${label}`);
    let now = await arrive(person, 'consent');
    const seen = new Set();
    for (;;) {
      const name = now.kind === 'text' && now.view ? 'text-picture' : now.kind;
      const wanted = name === 'text-picture' ? [1280] : (CANCER_PAGES[name] ?? []);
      if (!seen.has(name) && wanted.includes(width)) {
        await page.reload();
        await arrive(person, now.kind);
        await shot(person, `cancer-${name}`);
      }
      seen.add(name);
      if (now.kind === 'done') return;
      const { seq } = now;
      now = await answerUntil(person, now, (next) => next.seq > seq);
    }
  });
}

async function researchers() {
  await as(360, async (person, page) => {
    await page.goto(`${server.url}/admin`);
    await page.getByLabel('Token').waitFor();
    await shot(person, 'admin-login');
  });
  await as(390, async (person, page) => {
    await login(person, server.token);
    await page.goto(`${server.url}/admin/new`);
    await page.getByRole('button', { name: 'An empty study' }).click();
    await page.locator('[data-valid]').waitFor();
    await shot(person, 'admin-new');
  });
  let study;
  await as(1280, async (person) => {
    await login(person, server.token);
    study = await createStudy(person, /Which cancer test/);
    const credit = await createStudy(person, /Who should get the loan/);
    await as(1280, async (other, page) => {
      await page.goto(`${server.url}/s/${credit}`);
      await answerUntil(other, await arrive(other, 'consent'), ({ kind }) => kind === 'question');
      await page.reload();
      await arrive(other, 'question');
      await settle(other);
      await shot(other, 'credit-question');
    });
  });
  await walkCancer(study, 1280, 'anna');
  await walkCancer(study, 360, 'ben');
  for (const [i, label] of ['clara', 'david', 'emil'].entries())
    await as(1280, async (person, page) => {
      await page.goto(`${server.url}/s/${study}?label=${label}`);
      await answerUntil(person, await arrive(person, 'consent'), ({ kind }) => kind === 'done', [3, 12, 25][i]);
    });
  await as(1280, async (person, page) => {
    await login(person, server.token);
    await page.goto(`${server.url}/admin/study/${study}`);
    await page.getByLabel('Simulated participants').fill('3');
    await page.getByRole('button', { name: 'Send them through' }).click();
    await page.getByText('3 simulated, not counted.').waitFor();
    await page.locator('.forest svg').first().waitFor();
    await page.evaluate(() => scrollTo(0, 0));
    await shot(person, 'admin-study');
    await page.getByRole('button', { name: 'Work it out' }).click();
    await page.getByText(/for half of the people/).waitFor();
    await shot(person, 'admin-plan', page.locator('section.card', { has: page.getByRole('heading', { name: 'Planning' }) }));
    await page.getByRole('link', { name: 'anna' }).click();
    await page.getByRole('heading', { level: 1, name: 'anna' }).waitFor();
    await shot(person, 'admin-person');
    await page.goto(`${server.url}/admin`);
    await page.getByRole('link', { name: /Which cancer test/ }).waitFor();
    await shot(person, 'admin');
  });
}

/** The report that make run writes. */
async function report() {
  const program = process.env.MELICIT_PROGRAM ?? path.join(root, 'build/melicit');
  execFileSync('sh', [path.join(root, 'tools/tour.sh'), program]);
  const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
  await page.goto(`file://${path.join(path.dirname(program), 'tour/report.html')}`);
  await shot({ page, width: 1280 }, 'report');
  await page.close();
}

await report();
for (const width of [1280, 360]) await example(width);
for (const width of [1280, 390]) await wizard(width);
await others('classes', 'vehicles, four kinds');
await others('groups', 'loans, women and men');
await researchers();
await browser.close();
await server.stop();
