// Every flow by keys alone: each page without serious violations, none wider than the window, nothing that moves between questions.
// make test runs each flow once, in the dark, one after the other at the widths of a desk and of a phone; MELICIT_SOAK=1 runs all of
// them at both widths, light and dark. The other files are mostly light and by mouse.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { keysOf, watchOver } from './keys.mjs';
import { answerUntil, arrive, choice, inspect, launch, settle, startServer, visitor } from './support.mjs';

const KEYS = { A: 'ArrowLeft', B: 'ArrowRight', '=': '=' };
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

/** Somebody at a page, with keys alone. */
async function somebody(width, colorScheme, address) {
  const person = await visitor(browser, server, width, { colorScheme });
  const watch = await watchOver(person);
  await person.page.goto(`${server.url}${address}`);
  return { person, page: person.page, keys: keysOf(person), watch };
}

async function leave({ person, watch }) {
  await watch.unpointed();
  person.check();
  await person.context.close();
}

/** Answers some questions by keys: nothing moves, and what comes again is announced; the page after them. */
async function answerSome(who, n, prefers) {
  const { person, page, keys, watch } = who;
  const seen = new Set();
  let now = await arrive(person, 'question');
  await settle(person);
  await watch.begin();
  for (let i = 0; i < n && now.kind === 'question'; i++) {
    const { a, b, remark } = now.question;
    const pair = [JSON.stringify(a), JSON.stringify(b)].sort().join();
    assert.ok(!seen.has(pair) || remark, 'only what is announced comes twice');
    seen.add(pair);
    await settle(person);
    await keys.press(KEYS[prefers(now.question)]);
    now = await arrive(person, null, now.seq);
    if (now.kind === 'question') {
      await settle(person);
      await watch.still(`question ${now.question.number} at ${person.width}`);
    }
  }
  return now;
}

/** Answers the rest by requests; the page after the last question. */
async function answerRest({ person, page }, first, ratio = 7) {
  const { kind } = await answerUntil(person, first, (now) => now.kind !== 'question', ratio);
  await page.goto(`${server.url}/session`);
  return arrive(person, kind);
}

const sevenfold = (question) => choice(question, 7);
const FLOWS = {
  'the example, its result, answers given again': async (...how) => {
    const who = await somebody(...how, '/');
    const { person, page, keys } = who;
    await page.locator('main[data-listed]').waitFor();
    await inspect(person, 'start');
    await keys.button('Try the cancer example');
    await inspect(person, (await arrive(person, 'question')).kind);
    let now = await answerRest(who, await answerSome(who, 4, sevenfold));
    assert.equal(now.kind, 'result');
    await inspect(person, 'result');
    const slider = page.locator('#setting');
    const said = await slider.getAttribute('aria-valuetext');
    await keys.to(slider);
    await keys.press('ArrowLeft');
    assert.notEqual(await slider.getAttribute('aria-valuetext'), said);
    for (const name of ['How sure is this?', 'For statisticians']) await keys.open(name);
    await inspect(person, 'result-details');
    await keys.button(/Not quite/);
    for (let i = now.again; i > 0; i--) {
      now = await arrive(person, 'question', now.seq);
      await settle(person);
      await keys.press('=');
    }
    await arrive(person, 'result', now.seq);
    await leave(who);
  },
  'decisions, a link, a colleague who compares': async (...how) => {
    const who = await somebody(...how, '/');
    const { person, page, keys } = who;
    await keys.button('Try the cancer example');
    await answerRest(who, await arrive(person, 'question'));
    await keys.button('Use it with my model');
    await keys.choose(page.getByLabel(/Another one/));
    await page.locator('#decide-file').setInputFiles(server.fileOf('p.csv', 'id,p\na,0.001\nb,0.999\n'));
    await page.getByText('p.csv: 2 rows').waitFor();
    await keys.select(page.locator('#decide-column'), 'p');
    const [download] = await Promise.all([page.waitForEvent('download'), keys.button('Get decisions')]);
    assert.match(readFileSync(await download.path(), 'utf8'), /1,"a",0.001,"benign"[^]*2,"b",0.999,"malignant"/);
    await inspect(person, 'result-decisions');
    await keys.open('Invite a colleague');
    await keys.button('Make a link');
    const link = new URL((await page.locator('.next pre').filter({ hasText: '/r/' }).innerText()).trim());
    const other = await somebody(...how, link.pathname);
    await other.page.getByRole('heading', { level: 1, name: 'Answer first, then compare' }).waitFor();
    await inspect(other.person, 'invited');
    await other.keys.button('Answer the questions');
    await answerRest(other, await arrive(other.person, 'question'), 2);
    await other.page.getByRole('heading', { name: 'You and your colleague' }).waitFor();
    await inspect(other.person, 'compared');
    await leave(other);
    await leave(who);
  },
  'a file with cases': async (...how) => {
    const who = await somebody(...how, '/#own');
    const { person, page, keys } = who;
    let text = 'age;plan;gone\n';
    for (let i = 0; i < 300; i++) text += `${i % 17 ? 20 + (i * 7) % 50 : ''};${i % 3 ? 'year' : 'month'};${(i * 7) % 50 < 20 === (i % 5 > 0) ? 'yes' : 'no'}\n`;
    await keys.choose(page.getByLabel(/A file with cases/));
    await page.locator('#file').setInputFiles(server.fileOf('cases.csv', text));
    await page.getByText('300 rows, 3 columns').waitFor();
    await walkWizard(who, ['columns', 'words', 'ask']);
    assert.equal((await answerSome(who, 2, sevenfold)).kind, 'question');
    await leave(who);
  },
  'a file of probabilities, with groups': async (...how) => {
    const who = await somebody(...how, '/#own');
    const { person, page, keys } = who;
    let text = 'p,truth,sex\n';
    for (let i = 0; i < 600; i++) {
      const p = (i % 10 < 4 ? 0.62 : 0.33) + 0.3 * Math.sin(i * 1.7) + (i % 3 ? 0 : 0.06);
      text += `${Math.min(0.98, Math.max(0.02, p)).toFixed(3)},${i % 10 < 4 ? 'yes' : 'no'},${i % 3 ? 'men' : 'women'}\n`;
    }
    await keys.choose(page.getByLabel(/A file with a model’s answers/));
    await page.locator('#file').setInputFiles(server.fileOf('scores.csv', text));
    await page.getByText('600 rows, 3 columns').waitFor();
    await walkWizard(who, ['columns', 'words', 'ask'], async (step) => {
      if (step === 'columns') await keys.select(page.getByLabel('Groups, to compare how they fare'), 'sex');
    });
    const now = await answerRest(who, await answerSome(who, 3, sevenfold));
    assert.equal(now.kind, 'result');
    await inspect(person, 'result-groups');
    await leave(who);
  },
  'names of three classes': async (...how) => {
    const who = await somebody(...how, '/#own');
    const { person, page, keys } = who;
    await keys.choose(page.getByLabel(/No file/));
    await walkWizard(who, ['columns', 'words', 'ask'], async (step) => {
      if (step === 'ask') {
        await keys.open('More choices');
        await keys.select(page.getByLabel('At most how many questions?'), '10');
      }
      if (step !== 'columns') return;
      await keys.button('Add a class');
      for (const [i, name] of ['bus', 'car', 'van'].entries()) {
        await keys.fill(page.locator(`#class-${i}`), name);
        await keys.fill(page.locator(`#share-${i}`), String(50 - 15 * i));
      }
    });
    const now = await answerRest(who, await answerSome(who, 3, sevenfold));
    assert.equal(now.kind, 'result');
    await inspect(person, 'result-classes');
    await leave(who);
  },
  'classifiers of one’s own': async (...how) => {
    const who = await somebody(...how, '/#own');
    const { person, page, keys } = who;
    await keys.choose(page.getByLabel(/A file with several classifiers/));
    await page.locator('#file').setInputFiles(server.fileOf('pool.csv', 'name,tp,fp,fn,tn\nold,80,30,20,870\nnew,90,85,10,815\ncautious,95,160,5,740\n'));
    await page.getByText('3 rows, 5 columns').waitFor();
    await walkWizard(who, ['words', 'ask']);
    const now = await answerRest(who, await answerSome(who, 3, sevenfold));
    assert.equal(now.kind, 'result');
    await inspect(person, 'result-candidates');
    await leave(who);
  },
  'a participant of a study, with practice': participate,
  'a researcher: editor, copy, archive, deletion': edit,
  'a researcher: participants, plots, planning, exports': research,
};

/** From step to step of the wizard to the first question. */
async function walkWizard({ person, page, keys }, steps, fill = async () => {}) {
  await inspect(person, 'own');
  for (const step of steps) {
    await keys.button('Continue');
    await page.locator(`form[data-step="${step}"]`).waitFor();
    await fill(step);
    await inspect(person, `own-${step}`);
  }
  await keys.button('Start answering');
  await arrive(person, 'question');
  await inspect(person, 'question');
}

const STUDY = {
  format: 'melicit-study',
  version: 1,
  title: 'Which test?',
  space: { population: 'logistic:a=5,b=0.7', classes: ['healthy', 'cancer'] },
  words: { people: 'patients', mistakes: { missed: 'missed cancer', false_alarm: 'false alarm' } },
  elicitation: { family: 'linear', max_questions: 4, repeat_every: 0 },
  phases: [
    { kind: 'consent', version: '1', title: 'Consent', text: 'May we?' },
    { kind: 'form', title: 'You', fields: [{ name: 'age', label: 'Age', type: 'number' }, { name: 'job', label: 'Job', type: 'choice', choices: ['doctor', 'other'] }] },
    { kind: 'text', title: 'Two tests', text: 'You will see two tests.' },
    {
      kind: 'training',
      title: 'Practice',
      items: [{ question: 'How many sick people does A miss?', of: { system: 'A', true: 1, predicted: 0 }, explain: 'Count the missed ones of system A.' }],
    },
    { kind: 'guess', title: 'Guess' },
    { kind: 'elicitation' },
    { kind: 'evaluation', questions: 2, radius: 0.1 },
    { kind: 'result', title: 'Your result' },
    { kind: 'done', title: 'Thanks', code: true },
  ],
};

/** A researcher of this server, logged in by keys. */
async function researcher(...how) {
  const who = await somebody(...how, '/admin');
  const { page, keys } = who;
  await keys.fill(page.getByLabel('Token'), server.token);
  await keys.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Studies' }).waitFor();
  return who;
}

/** Makes a study by requests; its id. */
async function studyOf(page, file) {
  const { csrf } = await (await page.request.get(`${server.url}/api/admin/studies`)).json();
  const answer = await page.request.post(`${server.url}/api/admin/studies`, { data: file, headers: { 'X-Melicit-CSRF': csrf } });
  const told = await answer.json();
  assert.equal(answer.status(), 200, JSON.stringify(told));
  return told.id;
}

async function participate(...how) {
  const admin = await researcher(...how);
  const study = await studyOf(admin.page, STUDY);
  await leave(admin);
  const who = await somebody(...how, `/s/${study}`);
  const { person, page, keys } = who;
  const step = async (kind, after, act) => {
    const now = await arrive(person, kind, after);
    await inspect(person, `study-${kind}`);
    await act(now);
    await keys.enter(page.locator('button.primary'));
    return now.seq;
  };
  let seq = await step('consent', 0, async () => {
    await keys.to(page.locator('input[type=checkbox]'));
    await keys.press('Space');
  });
  seq = await step('form', seq, async () => {
    await keys.fill(page.locator('#field-age'), '41');
    await keys.to(page.locator('input[name=job]').first());
    await keys.press('Space');
  });
  seq = await step('text', seq, async () => {});
  seq = await step('training', seq, () => keys.fill(page.getByRole('spinbutton'), '987654'));
  seq = await step('training', seq, async ({ view }) => {
    await page.getByText('Count the missed ones of system A.').waitFor();
    await keys.fill(page.getByRole('spinbutton'), String(view[0].counts[1][0]));
  });
  seq = await step('guess', seq, () => keys.fill(page.getByRole('spinbutton'), '5'));
  await answerSome(who, 6, sevenfold);
  seq = await step('result', seq, async () => {});
  await arrive(person, 'done', seq);
  await inspect(person, 'study-done');
  await leave(who);
}

async function edit(...how) {
  const who = await researcher(...how);
  const { person, page, keys } = who;
  page.on('dialog', (dialog) => void dialog.accept());
  await inspect(person, 'admin-studies');
  await keys.enter(page.getByRole('link', { name: 'New study' }));
  await keys.button('An empty study');
  await page.locator('[data-valid]').waitFor();
  await keys.fill(page.getByLabel('Title').first(), `By keys ${how}`);
  await keys.select(page.getByLabel('Another page'), 'Form');
  await keys.button('Add the page');
  const added = page.locator('.edit-phase').nth(1);
  await keys.enter(added.locator('summary'));
  await keys.fill(added.getByLabel('Question', { exact: true }), 'How old are you?');
  await page.locator('.page-preview').getByText('How old are you?').waitFor();
  await page.locator('[data-valid]').waitFor();
  await inspect(person, 'admin-editor');
  await keys.button('Make the study');
  await page.waitForURL(/\/admin\/study\//);
  await keys.enter(page.getByRole('link', { name: 'Duplicate' }));
  await page.locator('[data-valid]').waitFor();
  await keys.button('Make the study');
  await page.waitForURL(/\/admin\/study\//);
  await keys.button('Archive');
  await page.getByText('archived', { exact: true }).waitFor();
  const copy = page.url().split('/').pop();
  await keys.button('Delete the study');
  await page.getByRole('heading', { level: 1, name: 'Studies' }).waitFor();
  assert.equal((await page.request.get(`${server.url}/api/admin/studies/${copy}`)).status(), 404);
  await leave(who);
}

async function research(...how) {
  const who = await researcher(...how);
  const { person, page, keys } = who;
  const study = await studyOf(page, { ...STUDY, phases: [{ kind: 'elicitation' }, { kind: 'done', title: 'Thanks' }] });
  const participant = await somebody(...how, `/s/${study}?label=p1`);
  await answerSome(participant, 4, sevenfold);
  await leave(participant);
  await page.goto(`${server.url}/admin/study/${study}`);
  await page.getByText('1 finished, 0 under way, 0 left.').waitFor();
  await keys.fill(page.getByLabel('Simulated participants'), '2');
  await keys.button('Send them through');
  await page.getByText('1 finished, 0 under way, 0 left. Half were done', { exact: false }).waitFor();
  await page.getByText('2 simulated, not counted.').waitFor();
  await page.getByRole('img', { name: /1 participants, each with an interval/ }).waitFor();
  await page.getByRole('img', { name: '2 simulated participants' }).waitFor();
  await keys.fill(page.getByLabel('At most how many people'), '3');
  await keys.button('Work it out');
  await page.getByText(/for half of the people/).waitFor();
  await inspect(person, 'admin-study');
  await stickyColumns(page);
  for (const [name, pattern] of [['CSV', /p1/], ['JSON Lines', /"p1"/], ['SQLite', /^SQLite/]]) {
    const [download] = await Promise.all([page.waitForEvent('download'), keys.enter(page.getByRole('link', { name }))]);
    assert.match(readFileSync(await download.path(), 'latin1'), pattern);
  }
  await keys.enter(page.getByRole('link', { name: 'p1', exact: true }));
  await page.getByRole('heading', { level: 1, name: 'p1' }).waitFor();
  assert.equal(await page.getByRole('group', { name: 'Everything they answered' }).locator('tbody tr').count(), 4);
  await page.getByRole('heading', { name: 'Their metric' }).waitFor();
  await inspect(person, 'admin-person');
  await leave(who);
}

/** Who and what can be done with them stay in sight, however far a table is scrolled. */
async function stickyColumns(page) {
  const box = page.getByRole('group', { name: 'Participants', exact: true });
  for (const left of [0, 10_000]) {
    await box.evaluate((element, x) => element.scrollTo(x, 0), left);
    const [outer, first, last] = await box.evaluate((element) =>
      [element, element.querySelector('tbody .stick-left'), element.querySelector('tbody .stick-right')].map((e) => {
        const { left: from, right: to } = e.getBoundingClientRect();
        return [from, to];
      }),
    );
    assert.ok(first[0] >= outer[0] - 1 && last[1] <= outer[1] + 1, `${first} and ${last} in ${outer}, scrolled by ${left}`);
  }
}

const ALL = [1280, 390].flatMap((width) => ['dark', 'light'].map((scheme) => [width, scheme]));
for (const [i, [name, flow]] of Object.entries(FLOWS).entries())
  for (const [width, scheme] of process.env.MELICIT_SOAK ? ALL : [[i % 2 ? 390 : 1280, 'dark']]) test(`${name}, ${width} px, ${scheme}`, () => flow(width, scheme));
