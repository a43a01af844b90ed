// The two studies that ship, from the researcher who makes them to the participant's code, by keyboard only.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import {
  MOVING,
  WIDTHS,
  answerUntil,
  arrive,
  choice,
  createStudy,
  inspect,
  launch,
  login,
  rightAnswer,
  settle,
  startServer,
  tabTo,
  visitor,
} from './support.mjs';

const RATIO = 7;
const KEYS = { A: ['ArrowLeft', '1', 'a'], B: ['ArrowRight', '2', 'b'], '=': ['=', '3'] };
let server;
let browser;
before(async () => {
  server = await startServer();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Presses the primary button by keyboard alone. */
async function proceed(page) {
  await tabTo(page, 'button.primary');
  await page.keyboard.press('Enter');
}

async function chooseLetter(page, letter) {
  await tabTo(page, 'input[name=answer]');
  // Arrows move among the letters; space takes the one that has the focus.
  await page.keyboard.press('Space');
  for (
    let i = 0;
    i < 3 &&
    (await page.evaluate(() => document.querySelector('input[name=answer]:checked')?.parentElement.innerText)) !==
      `System ${letter}`;
    i++
  )
    await page.keyboard.press('ArrowDown');
}

const pages = {
  async consent({ page }) {
    await tabTo(page, 'input[type=checkbox]');
    await page.keyboard.press('Space');
    await proceed(page);
  },
  async form({ page, state }) {
    for (const field of state.page.fields) {
      await tabTo(page, field.type === 'choice' ? `input[name="${field.name}"]` : `#field-${field.name}`);
      if (field.type === 'choice') await page.keyboard.press('Space');
      else await page.keyboard.type(field.type === 'number' ? '28' : 'Trade-offs');
    }
    await proceed(page);
  },
  async text({ page }) {
    await proceed(page);
  },
  async training(person, seen) {
    const { page, state } = person;
    const right = rightAnswer(state.page);
    // The first try at the first item is wrong: an explanation must come.
    const answer = seen.training === 1 && typeof right === 'number' ? right + 7 : right;
    if (typeof answer === 'number') {
      await tabTo(page, '#training-answer');
      await page.keyboard.type(String(answer));
    } else await chooseLetter(page, answer);
    const before = state.page.seq;
    await proceed(page);
    if (answer === right) return;
    const again = await arrive(person, 'training', before);
    assert.equal(again.wrong, 1);
    await page.getByText('Not quite.').waitFor();
  },
  async guess({ page }) {
    await tabTo(page, '#guess');
    await page.keyboard.type('5');
    await page.getByText('as bad as 5 false alarms').waitFor();
    await proceed(page);
  },
  async question(person, seen) {
    await settle(person);
    const keys = KEYS[choice(person.state.page.question, RATIO)];
    await person.page.keyboard.press(keys[seen.question % keys.length]);
  },
  async result({ page }) {
    await proceed(page);
  },
};

/** Answers this question and those after it by requests. */
async function answerQuestions(person, first, seen) {
  const end = (page) => {
    if (page.kind === 'question' && page !== first) seen.question++;
    return page.kind !== 'question';
  };
  await answerUntil(person, first, end, RATIO);
  await person.page.reload();
}

/** Walks through a study, with so many questions answered by keys; how many pages of each kind there were. */
async function walk(person, name, byKeys = Infinity) {
  const seen = {};
  let seq = 0;
  let reloaded = false;
  for (let n = 0; n < 200; n++) {
    const current = await arrive(person, null, seq);
    seen[current.kind] = (seen[current.kind] ?? 0) + 1;
    if (seen[current.kind] === 1 || (current.kind === 'text' && current.view))
      await inspect(person, `${name}-${current.kind}${current.view && current.kind === 'text' ? '-picture' : ''}`);
    if (n > 0 && !reloaded)
      assert.ok(
        await person.page.evaluate((s) => document.activeElement.matches(s), current.wrong ? '.explain' : 'h1'),
        `the focus after page ${n}`,
      );
    if (current.kind === 'done') return seen;
    reloaded = current.kind === 'question' && seen.question > byKeys;
    await (reloaded ? answerQuestions(person, current, seen) : pages[current.kind](person, seen));
    seq = current.seq;
  }
  throw new Error('the study does not end');
}

async function researcher(width) {
  const person = await visitor(browser, server, width, MOVING);
  await login(person, server.token);
  return person;
}

let cancer;
const walked = process.env.MELICIT_SOAK ? WIDTHS : [1280];
for (const width of walked)
  test(`the cancer study by keyboard at ${width} px`, async () => {
    if (!cancer) {
      const admin = await researcher(1280);
      cancer = await createStudy(admin, /Which cancer test/);
      admin.check();
      await admin.context.close();
    }
    const person = await visitor(browser, server, width, MOVING);
    await person.page.goto(`${server.url}/s/${cancer}?label=w${width}`);
    const seen = await walk(person, 'cancer');
    assert.equal(new URL(person.page.url()).search, '', 'the personal part of the link is gone');
    assert.deepEqual([seen.consent, seen.form, seen.text, seen.training, seen.guess, seen.result], [1, 2, 3, 6, 1, 1]);
    assert.ok(seen.question > 15 + 3, `${seen.question} questions`);
    assert.match(await person.page.locator('output').innerText(), /^[A-Z0-9]{8}$/);
    // Coming back changes nothing.
    await person.page.reload();
    assert.equal((await arrive(person, 'done')).kind, 'done');
    person.check();
    await person.context.close();
  });

test('the researcher sees, exports and deletes', async () => {
  const second = await visitor(browser, server, 360);
  await second.page.goto(`${server.url}/s/${cancer}?label=other`);
  await answerUntil(second, await arrive(second, 'consent'), ({ kind }) => kind === 'done');
  await second.context.close();
  const admin = await researcher(1280);
  const { page } = admin;
  await page.goto(`${server.url}/admin/study/${cancer}`);
  const row = page.getByRole('row').filter({ hasText: 'w1280' });
  await row.waitFor();
  await page.getByRole('heading', { name: /All together/ }).waitFor();
  await inspect(admin, 'admin-study');
  assert.match(await row.innerText(), /complete/);
  assert.match(await row.innerText(), /%/);
  const csv = readFileSync(await download(admin, /^CSV/), 'utf8');
  assert.ok(csv.split('\n').length > 40 && csv.includes('w1280'));
  const events = readFileSync(await download(admin, /JSON Lines/), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const answers = events.filter((e) => e.label === 'w1280' && e.page === 'question');
  assert.ok(answers.length > 15 && answers.every((e) => e.seconds > 0 && ['A', 'B', '='].includes(e.value.answer)));
  // The database can be opened, and says the same as the page.
  const { live } = await (await page.request.get(`${server.url}/api/admin/studies/${cancer}`)).json();
  assert.deepEqual(
    readDatabase(await download(admin, /SQLite/)),
    live.map((person) => [person.id, person.label, person.state, person.answers, null]),
  );

  await page.getByLabel(/Personal links/).fill('p01 p02');
  await page.getByRole('button', { name: 'Make links' }).click();
  const made = page.locator('pre', { hasText: 'p02' });
  await made.waitFor();
  const link = /p02\t(\S+)/.exec(await made.innerText())[1];
  const owner = await visitor(browser, server, 360);
  await owner.page.goto(link);
  assert.equal((await arrive(owner, 'consent')).seq, 1);
  owner.check();
  await owner.context.close();
  const other = await visitor(browser, server, 360);
  await other.page.goto(`${server.url}/s/${cancer}?label=p01`);
  await other.page.getByRole('heading', { name: 'Your link is incomplete' }).waitFor();
  await other.context.close();
  // How many people and questions it takes: nobody is kept.
  await page.getByLabel('At most how many people').fill('4');
  await page.getByRole('button', { name: 'Work it out' }).click();
  await page.getByText(/for half of the people/).waitFor();
  assert.equal(await page.getByRole('table', { name: 'All together' }).locator('tbody tr').count(), 2);
  await inspect(admin, 'admin-plan');
  await page.getByLabel('Simulated participants').fill('2');
  await page.getByRole('button', { name: 'Send them through' }).click();
  // They are kept apart from people.
  await page.getByText('2 simulated participants').waitFor();
  await page.getByText(`${walked.length + 1} finished, 1 under way, 0 left.`).waitFor();
  await page.getByRole('heading', { level: 3, name: 'Simulated' }).waitFor();
  // One participant, with everything they answered.
  await page.getByRole('link', { name: 'w1280' }).click();
  await page.getByRole('heading', { level: 1, name: 'w1280' }).waitFor();
  await inspect(admin, 'admin-person');
  const [told] = live.filter((person) => person.label === 'w1280');
  assert.equal(await page.locator('tbody tr').count(), told.answers);
  await page.getByRole('link', { name: 'Back to the study' }).click();

  page.on('dialog', (dialog) => void dialog.accept());
  await page.getByRole('button', { name: 'Delete participant p02' }).click();
  await page.getByRole('row').filter({ hasText: 'p02' }).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Close for newcomers' }).click();
  await page.getByText('closed', { exact: true }).waitFor();
  await page.goto(`${server.url}/admin`);
  await page.getByRole('link', { name: /Which cancer test/ }).waitFor();
  await inspect(admin, 'admin');
  admin.check();
  await admin.context.close();
});

/** The path of what a link gives. */
async function download(person, name) {
  const [file] = await Promise.all([
    person.page.waitForEvent('download'),
    person.page.getByRole('link', { name }).click(),
  ]);
  return file.path();
}

/** Who is in an exported database: id, label, state, how many events, and no token. */
function readDatabase(file) {
  const script = `
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
print(json.dumps(db.execute("SELECT id, label, state, (SELECT count(*) FROM event WHERE participant = id), token "
                            "FROM participant ORDER BY created").fetchall()))`;
  return JSON.parse(execFileSync('/usr/bin/python3', ['-c', script, file], { encoding: 'utf8' }));
}

test('a study made with the form, copied, archived and deleted', async () => {
  const admin = await researcher(390);
  const { page } = admin;
  const valid = page.locator('[data-valid]');
  await page.goto(`${server.url}/admin/new`);
  await page.getByRole('button', { name: 'An empty study' }).click();
  await valid.waitFor();
  await page.getByLabel('Title').first().fill('Made by hand');
  // A page is added before the end, changed, and shown as participants will see it.
  await page.getByLabel('Another page').selectOption('form');
  await page.getByRole('button', { name: 'Add the page' }).click();
  const added = page.locator('.edit-phase').nth(1);
  await added.locator('summary').click();
  await added.getByLabel('Title').fill('Who are you?');
  await added.getByLabel('Question', { exact: true }).fill('How long have you been a doctor?');
  await page.locator('.page-preview').getByText('How long have you been a doctor?').waitFor();
  await page.locator('.page-preview').getByRole('heading', { name: 'Who are you?', includeHidden: true }).waitFor();
  await added.getByRole('button', { name: 'Move page 2 up' }).click();
  await valid.waitFor();
  // What is wrong is said beside its part, and the JSON says the same.
  await page.getByText('How questions are chosen').click();
  await page.getByLabel('At most how many questions').fill('0');
  const wrong = page.locator('.edit-section', { hasText: 'How questions are chosen' }).locator('.problem');
  await wrong.waitFor();
  assert.match(await wrong.innerText(), /max_questions/);
  await inspect(admin, 'admin-new');
  await page.getByLabel('At most how many questions').fill('12');
  await valid.waitFor();
  await page.getByRole('radio', { name: 'JSON' }).check();
  const file = JSON.parse(await page.getByLabel('Study file', { exact: true }).inputValue());
  assert.deepEqual([file.title, file.elicitation.max_questions, file.phases.map((p) => p.kind)], ['Made by hand', 12, ['form', 'elicitation', 'done']]);
  await page.getByRole('button', { name: 'Make the study' }).click();
  await page.getByRole('link', { name: 'Duplicate' }).click();
  await valid.waitFor();
  assert.equal(await page.getByLabel('Title').first().inputValue(), 'Made by hand (copy)');
  await page.getByRole('button', { name: 'Make the study' }).click();
  await page.waitForURL(/\/admin\/study\//);
  await page.getByRole('button', { name: 'Archive' }).click();
  await page.getByText('archived', { exact: true }).waitFor();
  const copy = page.url().split('/').pop();
  await page.goto(`${server.url}/admin`);
  await page.getByRole('link', { name: 'Made by hand', exact: true }).waitFor();
  assert.ok(!(await page.getByRole('link', { name: 'Made by hand (copy)' }).isVisible()));
  await page.getByText('1 archived').click();
  await page.getByRole('link', { name: 'Made by hand (copy)' }).click();
  page.on('dialog', (dialog) => void dialog.accept());
  await page.getByRole('button', { name: 'Delete the study' }).click();
  await page.getByRole('heading', { level: 1, name: 'Studies' }).waitFor();
  assert.equal(await page.getByText('archived').count(), 0);
  assert.equal((await page.request.get(`${server.url}/api/admin/studies/${copy}`)).status(), 404);
  admin.check();
  await admin.context.close();
});

test('the credit study by keyboard', async () => {
  const admin = await researcher(360);
  const id = await createStudy(admin, /Who should get the loan/);
  await inspect(admin, 'admin-study-empty');
  admin.check();
  await admin.context.close();
  const person = await visitor(browser, server, 1280);
  await person.page.goto(`${server.url}/s/${id}`);
  const seen = await walk(person, 'credit', process.env.MELICIT_SOAK ? Infinity : 5);
  assert.ok(seen.question >= 20, `${seen.question} questions`);
  person.check();
  await person.context.close();
});

test('a wrong token, a wrong file and a wrong link are refused in words', async () => {
  const person = await visitor(browser, server, 360);
  const { page } = person;
  await page.goto(`${server.url}/admin`);
  await page.getByLabel('Token').fill('not the token');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText(/token/i).waitFor();
  await inspect(person, 'admin-login');
  await page.getByLabel('Token').fill(server.token);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Studies' }).waitFor();
  await page.goto(`${server.url}/admin/new`);
  await page.getByRole('button', { name: 'An empty study' }).click();
  await page.getByRole('radio', { name: 'JSON' }).check();
  await page.getByLabel('Study file', { exact: true }).fill('{"format": "melicit-study"}');
  await page.locator('#study-file-problem').getByText(/missing/).waitFor();
  await inspect(person, 'admin-json');
  await page.goto(`${server.url}/s/nosuchstudy`);
  await page.getByRole('alert').waitFor();
  await inspect(person, 'no-study');
  person.check();
  await person.context.close();
});
