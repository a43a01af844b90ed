// Questions that do not jump, keys that always answer, and the result: the slider, answers given again, decisions. At the width of a
// desk or of a phone; sessions are started and mostly answered by requests, so that the pages are what is waited for.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { answerUntil, arrive, inTurn, inspect, launch, program, send, settle, startServer, view, visitor } from './support.mjs';

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

/** Enough to rule out chance, however soon the best setting is settled. */
const TWELVE = { max_questions: 12, until: 'tolerance' };
const CANCER = {
  space: { data: 'breast_cancer_original', classes: ['healthy', 'cancer'] },
  words: { people: 'patients', mistakes: { missed: 'missed cancer', false_alarm: 'false alarm' } },
  family: 'linear',
};

/** A session of this person; its first page. */
const start = (person, body) => send(person, '/api/start', body);

/** Answers by requests until the result; the page. */
const answerRest = (person, first, ratio) => answerUntil(person, first, ({ kind }) => kind !== 'question', ratio);

/** Where everything is that must not move. */
const places = (page) =>
  page.evaluate(() =>
    ['h1', '.view-menu', '.difference', '.pair', '.system', '.crowd', '.answers-main'].map((selector) => {
      const { x, y, width, height } = document.querySelector(selector).getBoundingClientRect();
      return { selector, box: [x, y + scrollY, width, height] };
    }),
  );

/** A tenth of a pixel is rounding. */
function assertSamePlaces(now, before) {
  for (const [i, { selector, box }] of now.entries())
    for (const [j, x] of box.entries())
      assert.ok(Math.abs(x - before[i].box[j]) < 0.1, `${selector} moved from ${before[i].box} to ${box}`);
}

for (const width of inTurn(1, [1280, 390]))
  test(`nothing jumps between questions, and keys answer whatever was clicked, at ${width} px`, async () => {
    const person = await visitor(browser, server, width);
    const { page } = person;
    await page.addInitScript(() => {
      window.shifts = [];
      // The words at the top ("Saved", "about 8 to go") change on purpose.
      const outside = (entry) => entry.sources.some(({ node }) => !node?.parentElement?.closest('header'));
      const name = (entry) => entry.sources.map(({ node }) => `${node?.nodeName} ${node?.className ?? ''}`).join();
      new PerformanceObserver((list) => window.shifts.push(...list.getEntries().filter(outside).map(name))).observe({
        type: 'layout-shift',
        buffered: true,
      });
    });
    await start(person, CANCER);
    await page.goto(`${server.url}/session`);
    let question = await arrive(person, 'question');
    const where = await places(page);
    await view(page, 'Table');
    await view(page, 'People');
    assertSamePlaces(await places(page), where);
    await page.evaluate(() => (window.shifts = []));
    for (const key of ['ArrowLeft', 'ArrowRight', 'b']) {
      await settle(person);
      await page.keyboard.press(key);
      question = await arrive(person, 'question', question.seq);
      assertSamePlaces(await places(page), where);
    }
    assert.deepEqual(await page.evaluate(() => window.shifts), []);
    // Every mistake is a mark of its own, in both pictures.
    for (const [i, side] of ['a', 'b'].entries())
      for (const [kind, n] of [['missed', question.question[side][1][0]], ['alarm', question.question[side][0][1]]]) {
        const d = await page.locator('.system').nth(i).locator(`.crowd .mark-${kind}`).evaluateAll((all) => all.map((e) => e.getAttribute('d')).join(''));
        assert.equal(d.split('M').length - 1, n, `${side} ${kind}`);
      }
    // A question mark explains, as at the terminal, and is not an answer.
    await settle(person);
    await page.keyboard.press('?');
    await page.locator('details.help[open]').getByText("can't say").waitFor();
    await page.keyboard.press('?');
    await page.locator('details.help:not([open])').waitFor({ state: 'attached' });
    // Keys open and close the View; nothing in it takes the arrow keys.
    await settle(person);
    await page.keyboard.press('v');
    await page.locator('.view-menu[open]').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowLeft');
    await arrive(person, null, question.seq);
    person.check();
    await person.context.close();
  });

for (const width of inTurn(0, [1280, 390]))
  test(`the setting, today's, and every other one at ${width} px`, async () => {
    const person = await visitor(browser, server, width);
    const { page } = person;
    const { result } = await answerRest(person, await start(person, CANCER));
    await page.goto(`${server.url}/session`);
    const { seq } = await arrive(person, 'result');
    await inspect(person, 'result-setting');
    assert.equal(await page.locator('.primary').count(), 1);
    // Intervals at a setting that was chosen on the same rows hold both mistakes of new rows in 85%.
    assert.ok(!(await page.locator('main').innerText()).includes('Among other'));
    const { list, best, usual } = result.settings;
    const shown = async (i) => (await page.locator('.setting').nth(i).locator('.crowd-count b').allTextContents()).map(Number);
    const counts = (s) => [Math.round(s.missed.value), Math.round(s.false_alarms.value)];
    assert.deepEqual(await shown(0), counts(list[best]));
    // Nothing is compared with what nobody said.
    assert.equal(await page.locator('.setting').count(), 1);
    assert.equal(await page.getByText('today', { exact: true }).count(), 0);
    assert.deepEqual(await page.locator('.slider-ticks .named small').allTextContents(), ['yours']);
    assert.match(await page.locator('.why').innerText(), /fits your answers best/);
    await page.locator('#setting').focus();
    for (let i = best - 1; i >= Math.max(0, best - 2); i--) {
      await page.keyboard.press('ArrowLeft');
      assert.deepEqual(await shown(0), counts(list[i]));
      assert.match(await page.locator('#setting').getAttribute('aria-valuetext'), new RegExp(`${counts(list[i])[1]} false alarm`));
    }
    assert.deepEqual(await shown(1), counts(list[best]));
    await page.getByRole('button', { name: 'Back to mine' }).click();
    assert.deepEqual(await shown(0), counts(list[best]));
    await page.locator('.today > summary').click();
    await page.locator('#today-threshold').fill('0.5');
    await page.getByRole('button', { name: 'Compare with this' }).click();
    await arrive(person, 'result', seq);
    assert.deepEqual(await shown(1), counts(usual));
    assert.ok((await page.locator('.slider-ticks .named small').allTextContents()).every((name) => ['yours', 'today'].includes(name)));
    // The details hold everything that was found.
    for (const name of ['How sure is this?', 'For statisticians', 'The same as a table']) await page.getByText(name, { exact: true }).first().click();
    await inspect(person, 'result-details');
    person.check();
    await person.context.close();
  });

test('answers are given again, by keyboard alone, and count; in German', async () => {
  const person = await visitor(browser, server, 390, { locale: 'de-DE' });
  const { page } = person;
  const done = await answerRest(person, await start(person, { ...CANCER, options: { max_questions: 6 } }));
  assert.ok(done.again >= 2);
  await page.goto(`${server.url}/session`);
  let now = await arrive(person, 'result');
  assert.equal(now.language, 'de');
  await page.getByRole('button', { name: `Nicht ganz: Frag mich diese ${done.again} noch einmal` }).focus();
  await page.keyboard.press('Enter');
  for (let i = 0; i < done.again; i++) {
    now = await arrive(person, 'question', now.seq);
    await page.getByText(/Wir fragen noch einmal/).first().waitFor();
    await settle(person);
    await page.keyboard.press('=');
  }
  now = await arrive(person, 'result', now.seq);
  assert.equal(now.result.questions, done.result.questions + done.again);
  assert.equal(await page.evaluate(() => document.documentElement.lang), 'de');
  await page.getByRole('heading', { name: 'Passt das so?' }).waitFor();
  await inspect(person, 'result-german');
  // Right to left nothing sticks out, either.
  await page.evaluate(() => (document.documentElement.dir = 'rtl'));
  await inspect(person, 'result-right-to-left');
  person.check();
  await person.context.close();
});

test('decisions about rows and about probabilities, and lines that run as shown', async () => {
  const person = await visitor(browser, server, 1280);
  const { page } = person;
  const { result } = await answerRest(person, await start(person, { ...CANCER, options: TWELVE }));
  await page.goto(`${server.url}/session`);
  await arrive(person, 'result');
  await page.getByRole('button', { name: 'Use it with my model' }).click();
  assert.equal(await page.locator('#decide-file').count(), 0); // which model comes first
  await page.getByLabel(/The one these questions were about/).check();
  assert.equal(await page.locator('#decide-file').count(), 0); // an example's setting fits no other file
  const take = async (click) => {
    const [download] = await Promise.all([page.waitForEvent('download'), click()]);
    return readFileSync(await download.path(), 'utf8').trim().split(/\r?\n/);
  };
  const measured = await take(() => page.getByRole('button', { name: /Decisions for the example/ }).click());
  assert.equal(measured[0], '"row","used to","probability of cancer","truth","decision"');
  await page.getByLabel(/Another one/).check();
  const file = server.fileOf('p.csv', 'id,p\na,0.01\nb,0.5\nc,0.99\n');
  await page.getByLabel(/Probabilities of your model/).setInputFiles(file);
  await page.getByText('p.csv: 3 rows').waitFor();
  await page.getByLabel('Column with the probability of cancer').selectOption('p');
  const decided = await take(() => page.getByRole('button', { name: /Get decisions/ }).click());
  const at = result.threshold.value;
  await page.getByText(`from ${result.threshold.text} on: 1 / (1 + `).waitFor();
  assert.deepEqual(
    decided.slice(1).map((line) => line.split(',').pop()),
    [0.01, 0.5, 0.99].map((p) => (p >= at ? '"cancer"' : '"healthy"')),
  );
  await page.getByLabel(/The one these questions were about/).check();
  assert.equal(await page.getByRole('button', { name: /Get decisions/ }).count(), 0); // of the file that is still there, neither
  await page.getByLabel(/Another one/).check();
  await page.getByText('Get the report').click();
  const [metric] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: /Metric file/ }).click()]);
  writeFileSync(path.join(server.folder, 'metric.json'), readFileSync(await metric.path()));
  await page.getByText('Use it in other programs').click();
  const weights = page.locator('pre', { hasText: 'LogisticRegression(class_weight={' });
  assert.match(await weights.innerText(), /"cancer": [1-9][\d.]*\}\)$/);
  await weights.locator('xpath=following-sibling::span//button').click();
  await page.getByText(/^(Copied|Please select and copy it)$/).waitFor();
  await page.getByText('Use it with melicit').click();
  const command = await page.locator('.next pre', { hasText: /^\s*melicit / }).innerText();
  const words = command.trim().split(' ');
  assert.equal(words[0], 'melicit');
  execFileSync(program, words.slice(1), { cwd: server.folder });
  assert.equal(JSON.parse(readFileSync(path.join(server.folder, 'rule.json'), 'utf8')).format, 'melicit-classifier');
  person.check();
  await person.context.close();
});

test('a link shows the result, and whoever has it compares theirs', async () => {
  const person = await visitor(browser, server, 390);
  await answerRest(person, await start(person, { ...CANCER, options: TWELVE }));
  await person.page.goto(`${server.url}/session`);
  await arrive(person, 'result');
  await person.page.getByText('Invite a colleague').click();
  await person.page.getByRole('button', { name: 'Make a link' }).click();
  const link = (await person.page.locator('.next pre').filter({ hasText: '/r/' }).innerText()).trim();
  const other = await visitor(browser, server, 390);
  await other.page.goto(link);
  // Answer first, then compare; or look only, and read of them in the third person.
  await other.page.getByRole('heading', { level: 1, name: 'Answer first, then compare' }).waitFor();
  assert.ok(!(await other.page.locator('main').innerText()).includes('one missed cancer'));
  await inspect(other, 'invited');
  await other.page.getByRole('button', { name: 'Only show me the result' }).click();
  await other.page.getByRole('heading', { level: 1, name: /^To them, one missed cancer/ }).waitFor();
  assert.equal(await other.page.getByText('Does this feel right?').count(), 0);
  await inspect(other, 'shared');
  await other.page.reload();
  await other.page.getByRole('button', { name: 'Answer the questions' }).click();
  await answerRest(other, await arrive(other, 'question'), 0.1);
  await other.page.reload();
  await other.page.getByRole('heading', { name: 'You and your colleague' }).waitFor();
  // Somebody to whom false alarms are the graver ones reads it as the headline says it, never as less than one of a kind.
  const said = await other.page.getByText(/^You: one /).innerText();
  assert.match(said, /^You: one false alarm is .* [1-9][\d.]*( \(.*\))? missed cancer\b/);
  const number = /To you, one false alarm is .*?([\d.]+) missed/.exec(await other.page.getByRole('heading', { level: 1 }).innerText())[1];
  assert.ok(said.includes(` ${number} `), `${said} ${number}`);
  // Revoked, the link opens nothing, and the next one is another.
  await person.page.getByRole('button', { name: 'Revoke the link' }).click();
  await person.page.getByText('The link opens nothing any more.').waitFor();
  await other.page.goto(link);
  await other.page.getByRole('heading', { name: 'This link does not open anything' }).waitFor();
  await person.page.getByRole('button', { name: 'Make a link' }).click();
  await other.page.goto((await person.page.locator('.next pre').filter({ hasText: '/r/' }).innerText()).trim());
  await other.page.getByRole('heading', { level: 1, name: 'Answer first, then compare' }).waitFor();
  // The owner deletes the session, and with it what the link showed.
  await person.page.getByRole('button', { name: 'Delete it' }).click();
  await person.page.getByRole('button', { name: 'Yes, delete all of it' }).click();
  await person.page.getByText('Everything that was stored about you is deleted.').waitFor();
  await other.page.reload();
  await other.page.getByRole('heading', { name: 'This link does not open anything' }).waitFor();
  for (const one of [person, other]) {
    one.check();
    await one.context.close();
  }
});

test('answers that say nothing are not given a ratio; one answer is one', async () => {
  const person = await visitor(browser, server, 390);
  const { page } = person;
  const begin = async (n) => {
    await start(person, { ...CANCER, options: { max_questions: n } });
    await page.goto(`${server.url}/session`);
    return arrive(person, 'question');
  };
  let now = await begin(2);
  for (; now.kind === 'question'; now = await arrive(person, null, now.seq)) {
    await settle(person);
    await page.keyboard.press('s');
  }
  assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), "You chose “Can't say” every time, so there is nothing to show yet.");
  await page.getByText('All questions were answered "can\'t say"').first().waitFor();
  assert.doesNotMatch(await page.locator('main').innerText(), /fits your answers|By your answers|To you/);
  await inspect(person, 'nothing found');
  await begin(1);
  await settle(person);
  await page.keyboard.press('ArrowLeft');
  await page.getByText('Your answer says', { exact: true }).waitFor();
  person.check();
  await person.context.close();
});

test('where all classifiers are called about the same, none is called the best', async () => {
  const person = await visitor(browser, server, 390);
  const { page } = person;
  await page.goto(server.url);
  const told = await page.request.post(`${server.url}/api/upload`, {
    headers: { 'Content-Type': 'text/csv', 'X-Melicit-CSRF': 'first' },
    data: 'name,tp,fp,fn,tn\nold,80,30,20,870\nnew,90,85,10,815\ncautious,95,160,5,740\n',
  });
  const { upload } = await told.json();
  await start(person, { space: { candidates: `upload:${upload}` }, family: 'linear', options: { max_questions: 2 } });
  await page.goto(`${server.url}/session`);
  for (let now = await arrive(person, 'question'); now.kind === 'question'; now = await arrive(person, null, now.seq)) {
    await settle(person);
    await page.keyboard.press('=');
  }
  assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'None of these 3 classifiers is preferred to another.');
  await page.getByText('The answers prefer none of these 3 classifiers to another.').first().waitFor();
  assert.doesNotMatch(await page.locator('main').innerText(), /To you,/);
  person.check();
  await person.context.close();
});

test('where one bound leaves the setting open, the page says which others fit', async () => {
  const person = await visitor(browser, server, 390);
  const first = await start(person, { space: { population: 'logistic:a=5,b=7.97', classes: ['fine', 'fraud'] }, words: CANCER.words, family: 'linear', options: { max_questions: 20 } });
  const { result } = await answerRest(person, first, 30);
  const fit = result.settings.list.filter((setting) => setting.fits).map(({ threshold }) => threshold);
  assert.ok(result.cost_ratio.bound && fit.length > 1);
  await person.page.goto(`${server.url}/session`);
  await arrive(person, 'result');
  const [from, to] = [Math.min(...fit), Math.max(...fit)].map((t) => Number(t.toPrecision(2)));
  const said = await person.page.locator('.why').innerText();
  assert.ok(said.includes(`is a guess: `) && said.includes(`Your answers set one bound only: settings from ${from} to ${to} fit them, too.`), said);
  await inspect(person, 'one bound, open');
  person.check();
  await person.context.close();
});

const blanks = (text) => text.replace(/\s+/g, ' ');
/** What a reader of a report reads. */
const readable = (html) =>
  blanks(html.replace(/<(style|svg)[^]*?<\/\1>/g, ' ').replace(/<[^>]*>/g, ' '))
    .replace(/&quot;|&#34;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&');

test('the page, the terminal and the report say the same about one session', async () => {
  const person = await visitor(browser, server, 1280);
  const { page } = person;
  await answerRest(person, await start(person, { ...CANCER, options: { max_questions: 6 } }));
  await page.goto(`${server.url}/session`);
  await arrive(person, 'result');
  await page.locator('details').evaluateAll((all) => all.forEach((one) => (one.open = true)));
  const shown = blanks(await page.locator('.result').innerText());
  const file = path.join(server.folder, 'same.jsonl');
  writeFileSync(file, await (await page.request.get(`${server.url}/api/result/session`)).body());
  const { missed, false_alarm: alarm } = CANCER.words.mistakes;
  const words = ['elicit', '--session', file, '--oracle', 'cmd:cat', '--call', `missed=${missed},false-alarm=${alarm}`];
  const run = (...more) => execFileSync(program, [...words, ...more], { cwd: server.folder, encoding: 'utf8' });
  const found = JSON.parse(run('--json', '--report', 'same.html'));
  const printed = blanks(run());
  const report = readable(readFileSync(path.join(server.folder, 'same.html'), 'utf8'));
  assert.ok(found.statements.length > 4 && found.closest.length > 0);
  for (const { about, key, text } of found.statements) {
    assert.ok(shown.includes(text), `page: ${text}`);
    // The words of the metric are the headline of a report; what no answers can tell is not on the terminal.
    assert.ok(about === 'limits' || printed.includes(text), `terminal: ${text}`);
    assert.ok(key === 'words' || report.includes(text), `report: ${text}`);
  }
  for (const { name, percent } of found.closest) {
    assert.ok(shown.includes(`${name} orders ${percent}% of pairs alike`), `page: ${name} ${percent}`);
    assert.ok(printed.includes(`${name} (orders ${percent}% of pairs alike)`), `terminal: ${name} ${percent}`);
    assert.ok(report.includes(`${name} ${percent}%`), `report: ${name} ${percent}`);
  }
  for (const [i, { rule, text }] of found.effect.entries()) {
    assert.ok(i > 0 || printed.includes(`${rule}: ${text}`), `terminal: ${rule}: ${text}`);
    assert.ok(report.includes(rule), `report: ${rule}`);
  }
  person.check();
  await person.context.close();
});
