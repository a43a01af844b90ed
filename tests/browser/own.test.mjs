// One's own results beyond two classes: groups and classes in questions and results, what is done today, close calls given again, decisions;
// and what the start page hands over to researchers.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { answerUntil, arrive, goOn, inTurn, inspect, launch, login, settle, startOwn, startServer, visitor } from './support.mjs';

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

/** The last step of the wizard for bundled data. */
async function bundled(person, dataset, group) {
  const { page } = person;
  await startOwn(person, /Nothing of my own/);
  await page.getByLabel('Data set').selectOption(dataset);
  if (group) await page.getByLabel('Compare how groups fare').selectOption(group);
  await goOn(page, 'words');
  await goOn(page, 'ask');
}

/** Where things are: the same for every question. */
const places = (page) =>
  page.evaluate(() =>
    ['h1', '.view-menu', '.difference', '.pair', '.answers-main'].map((selector) => {
      const box = document.querySelector(selector).getBoundingClientRect();
      return [selector, Math.round(box.top + scrollY), Math.round(box.height)].join(' ');
    }),
  );

/** Answers by keys until there is a result, looking at every question. */
async function answerAll(person, look) {
  const { page } = person;
  let current = await arrive(person, 'question');
  const seen = new Set();
  for (let n = 0; current.kind === 'question'; n++) {
    await settle(person);
    seen.add((await places(page)).join());
    await look(current.question, n);
    await page.keyboard.press(n % 2 ? 'ArrowLeft' : 'ArrowRight');
    current = await arrive(person, null, current.seq);
  }
  assert.equal(seen.size, 1, [...seen].join('\n'));
  return current;
}

for (const [width, colorScheme] of inTurn(0, [
  [1280, 'light'],
  [390, 'dark'],
]))
  test(`groups side by side, and what is done today, at ${width} px`, async () => {
    const person = await visitor(browser, server, width, { colorScheme });
    const { page } = person;
    await bundled(person, 'german_credit', 'sex');
    await page.getByText('More choices').click();
    await page.locator('#questions').selectOption('10');
    await page.getByRole('button', { name: 'Start answering' }).click();
    const last = await answerAll(person, async (q, n) => {
      if (n > 0) return;
      await inspect(person, 'question-groups');
      // A and B are side by side, and so are the groups in each, with the gap between them; nothing is cut off.
      const tops = await page.locator('.system').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
      assert.equal(tops[0], tops[1]);
      for (const row of await page.locator('.group-row').all()) {
        const boxes = await row.locator('.crowd, .group-gap').evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).map((b) => [b.left, b.right, b.width]));
        assert.equal(boxes.length, 3);
        assert.ok(boxes.every(([left, right, wide]) => wide >= 30 && left >= 0 && right <= width), JSON.stringify(boxes));
      }
      for (const [i, side] of [q.a, q.b].entries()) {
        const shown = await page.locator('.system').nth(i).locator('figcaption b').allInnerTexts();
        assert.deepEqual(shown.map(Number), [side[0][1][0], side[1][1][0], side[0][0][1], side[1][0][1]]);
        const gaps = await page.locator('.system').nth(i).locator('.group-gap b').allInnerTexts();
        assert.deepEqual(
          gaps.map((gap) => (gap === 'no' ? 0 : Number(gap))),
          [Math.abs(side[0][1][0] - side[1][1][0]), Math.abs(side[0][0][1] - side[1][0][1])],
        );
      }
    });
    await inspect(person, 'result-groups');
    // Words and picture have one source: what the best rule does with each class of each group.
    const [best, usual] = last.result.treatments.rules;
    const shown = async (i) => (await page.locator('.setting').nth(i).locator('figcaption b').allInnerTexts()).map(Number);
    const people = (rule) => [rule.decided[0][1][0], rule.decided[1][1][0], rule.decided[0][0][1], rule.decided[1][0][1]].map(([x]) => Math.round(100 * x));
    assert.deepEqual(await shown(0), people(best));
    assert.deepEqual(await shown(1), people(usual));
    await page.locator('.today > summary').click();
    await page.getByRole('button', { name: 'Compare with this' }).click();
    await page.getByText('Please give a number from 0 to 1.').waitFor();
    await page.locator('#today-threshold').fill('0,3');
    await page.getByRole('button', { name: 'Compare with this' }).click();
    const moved = await arrive(person, 'result', last.seq);
    assert.deepEqual(await shown(1), people(moved.result.treatments.rules[1]));
    assert.notDeepEqual(await shown(1), people(usual));
    await page.getByText('from your threshold on').waitFor();
    await page.locator('.today > summary').click();
    const rows = Array.from({ length: 200 }, (_, i) => `${i % 2 ? 'female' : 'male'};${i % 3 ? 'repays' : 'defaults'};${i % 5 ? 'repays' : 'defaults'}`);
    await page.locator('#today-file').setInputFiles(server.fileOf('today.csv', `sex;was;said\n${rows.join('\n')}\n`));
    await page.getByText('today.csv: 200 rows').waitFor();
    await page.getByRole('button', { name: 'Compare with these decisions' }).click();
    await page.getByText('the decisions of your file').waitFor();
    const wrong = (sex, was, said) => {
      const of = rows.filter((row) => row.startsWith(`${sex};${was};`));
      return Math.round((100 * of.filter((row) => row.endsWith(`;${said}`)).length) / of.length);
    };
    assert.deepEqual(await shown(1), [
      ...['female', 'male'].map((sex) => wrong(sex, 'defaults', 'repays')),
      ...['female', 'male'].map((sex) => wrong(sex, 'repays', 'defaults')),
    ]);
    // Decisions come for all rows of the file, and say which of them trained the model.
    await page.getByRole('button', { name: 'Use it with my model' }).click();
    await page.getByLabel(/The one these questions were about/).check();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: /Decisions for the example/ }).click()]);
    const [head, ...lines] = readFileSync(await download.path(), 'utf8').trim().split('\n');
    assert.match(head, /^"row","used to",/);
    assert.deepEqual(['measure', 'train'].map((use) => lines.filter((line) => line.includes(`"${use}"`)).length), [500, 500]);
    // The closest answers, in words, once more.
    const before = person.state.page;
    assert.equal(await page.locator('.calls .card').count(), before.again);
    await page.getByRole('button', { name: /^Not quite/ }).click();
    const again = await answerUntil(person, await arrive(person, 'question', before.seq), (p) => p.kind === 'result');
    assert.equal(again.result.questions, before.result.questions + before.again);
    person.check();
    await person.context.close();
  });

for (const family of ['diagonal-linear', 'linear'])
  test(`four classes in words and marks, ${family}`, async () => {
    const person = await visitor(browser, server, family === 'linear' ? 1280 : 390);
    const { page } = person;
    await bundled(person, 'vehicle');
    await page.getByText('More choices').click();
    await page.locator('#family').selectOption(family);
    await page.locator('#questions').selectOption('10');
    await page.getByRole('button', { name: 'Start answering' }).click();
    const last = await answerAll(person, async (q, n) => {
      if (n > 0) return;
      await inspect(person, 'question-classes');
      const words = await page.locator('.difference').innerText();
      const told = [...words.matchAll(/Of (\d+) (\w+), B (?:gets|takes) (\d+) (more|fewer) (?:right|for (\w+))\./g)];
      assert.equal(told.length, Math.min(2, q.differences.length), words);
      for (const [, total, truth, by, more, predicted = truth] of told) {
        const [i, j] = [truth, predicted].map((name) => q.classes.findIndex((c) => c.name === name));
        assert.equal(Number(total), Math.round(q.people * q.classes[i].share));
        assert.equal(q.b[i][j] - q.a[i][j], more === 'more' ? Number(by) : -Number(by));
      }
    });
    await inspect(person, 'result-classes');
    const { rules, share } = last.result.treatments;
    for (const [i, rule] of rules.entries()) {
      const shown = await page.locator('.setting').nth(i).locator('.crowd-count b').allInnerTexts();
      const wrong = rule.decided[0].map((row, c) => {
        const total = Math.round(1000 * share[0][c]);
        return row.includes(null) ? total - Math.round(total * row[c][0]) : row.reduce((n, cell, j) => n + (j === c ? 0 : Math.round(total * cell[0])), 0);
      });
      assert.deepEqual(shown.map(Number), wrong);
    }
    assert.equal(await page.locator('.cost-matrix td svg').count(), family === 'linear' ? 12 : 4);
    person.check();
    await person.context.close();
  });

test('a colleague answers the same questions about four classes, and the two are compared', async () => {
  const person = await visitor(browser, server, 1280);
  const other = await visitor(browser, server, 390);
  await bundled(person, 'vehicle');
  await person.page.getByText('More choices').click();
  await person.page.locator('#questions').selectOption('10');
  await person.page.getByRole('button', { name: 'Start answering' }).click();
  await answerUntil(person, await arrive(person, 'question'), (p) => p.kind === 'result');
  await person.page.reload();
  await person.page.locator('summary', { hasText: 'Invite a colleague' }).click();
  await person.page.getByRole('button', { name: 'Make a link' }).click();
  await other.page.goto(await person.page.locator('.next pre').filter({ hasText: '/r/' }).innerText());
  await other.page.getByRole('button', { name: 'Answer the questions' }).click();
  await answerUntil(other, await arrive(other, 'question'), (p) => p.kind === 'result', 0.2);
  await other.page.reload();
  await other.page.getByRole('heading', { name: 'You and your colleague' }).waitFor();
  await inspect(other, 'compare-classes');
  assert.equal(await other.page.locator('.colleague-row').count(), 8);
  for (const one of [person, other]) {
    one.check();
    await one.context.close();
  }
});

test('what the start page hands over becomes a study that people can join', async () => {
  const person = await visitor(browser, server, 1280);
  const { page } = person;
  await login(person, server.token);
  const rows = Array.from({ length: 300 }, (_, i) => `${20 + (i * 37) % 50};${(i * 37) % 50 + (i * 13) % 20 > 40 ? 'gone' : 'stays'}`);
  await startOwn(person, /A file with cases, but no model/);
  await page.locator('#file').setInputFiles(server.fileOf('customers.csv', `age;churned\n${rows.join('\n')}\n`));
  await page.getByText('300 rows, 2 columns').waitFor();
  await goOn(page, 'columns');
  await goOn(page, 'words');
  await page.locator('#missed-means').fill('The customer is lost.');
  await goOn(page, 'ask');
  await page.getByLabel('Other people, by a link').check();
  await page.getByRole('button', { name: 'Make a study of it' }).click();
  await page.waitForURL(/\/admin\/new/);
  await page.locator('[data-valid]').waitFor();
  await inspect(person, 'admin-handed-over');
  await page.getByRole('button', { name: 'Make the study' }).click();
  await page.waitForURL(/\/admin\/study\//);
  const participant = await visitor(browser, server, 390);
  await participant.page.goto(`${server.url}/s/${page.url().split('/').pop()}`);
  await arrive(participant, 'text');
  await participant.page.getByRole('button', { name: 'Continue' }).click();
  const first = await arrive(participant, 'question');
  assert.deepEqual(first.question.classes.map((c) => c.name), ['stays', 'gone']);
  await participant.page.getByText('The customer is lost.').waitFor();
  for (const one of [person, participant]) {
    one.check();
    await one.context.close();
  }
});
