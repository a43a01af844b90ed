// Somebody who wants a metric: from the start page to the result, with bundled data, with names only, with a file.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import {
  MOVING,
  WIDTHS,
  arrive,
  cancerWords,
  choice,
  fits,
  goOn,
  inspect,
  launch,
  settle,
  startExample,
  startOwn,
  startServer,
  view,
  viewSwitch,
  visitor,
} from './support.mjs';

const RATIO = 7;
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

const BUTTONS = { A: /rather have A/, B: /rather have B/, '=': 'About the same' };

/** Answers as a person with this ratio until there is no further question; how many there were. */
async function answerAll(person, ratio, first = 0) {
  let seq = first;
  for (let n = 0; n < 120; n++) {
    const page = await arrive(person, null, seq);
    if (page.kind !== 'question') return n;
    await settle(person);
    await person.page.getByRole('button', { name: BUTTONS[choice(page.question, ratio)] }).click();
    seq = page.seq;
  }
  throw new Error('the questions do not end');
}

for (const width of process.env.MELICIT_SOAK ? WIDTHS : [1280])
  test(`a session of one's own at ${width} px`, async () => {
    const person = await visitor(browser, server, width, MOVING);
    const { page } = person;
    await startExample(person);
    const clicked = Date.now();
    const first = await arrive(person, 'question');
    console.log(`first question ${Date.now() - clicked} ms after the click`);
    await inspect(person, 'question');
    assert.equal(first.question.classes[1].name, 'malignant');
    await assertShown(page, first.question);
    await everyPicture(person);

    // Reloading shows the same question; undo brings the last one back.
    await page.reload();
    const again = await arrive(person, 'question');
    assert.deepEqual(again.question, first.question);
    await settle(person);
    await page.getByRole('button', { name: /rather have A/ }).click();
    const second = await arrive(person, 'question', again.seq);
    assert.equal(second.question.number, 2);
    await page.getByText('Saved', { exact: true }).waitFor();
    await settle(person);
    await page.getByRole('button', { name: 'Undo' }).click();
    const undone = await arrive(person, 'question', second.seq);
    assert.equal(undone.question.number, 1);
    assert.deepEqual(undone.question.a, first.question.a);

    await answerAll(person, RATIO);
    const { result } = person.state.page;
    await page.getByRole('heading', { level: 1 }).waitFor();
    await inspect(person, 'result');
    assert.ok(Math.abs(Math.log(result.cost_ratio.value / RATIO)) < Math.log(1.6), `ratio ${result.cost_ratio.value}`);
    assert.ok(result.cost_ratio.low <= result.cost_ratio.value && result.cost_ratio.value <= result.cost_ratio.high);
    assert.match(await page.locator('.headline').innerText(), /one missed cancer is as bad as/i);
    const shown = (await page.locator('main').textContent()).replace(/\s+/g, ' ');
    const closest = result.closest.map((near) => `orders ${near.percent}% of pairs alike`);
    for (const { text } of [...result.statements, ...closest.map((text) => ({ text }))])
      assert.ok(shown.includes(text), `${shown} lacks ${text}`);
    const [best, accurate] = result.effect;
    assert.ok(
      best.value >= accurate.value - 1e-9,
      `the best system is worth ${best.value}, the most accurate one ${accurate.value}`,
    );
    await downloads(person);
    person.check();
    await person.context.close();
  });

/** The words, the picture's numbers and the table all say what the server sent. */
async function assertShown(page, q) {
  const words = await page.locator('.difference').innerText();
  assert.equal(words, cancerWords(q));
  for (const [i, side] of ['a', 'b'].entries()) {
    const cells = await page.locator('section.system').nth(i).locator('tbody td:not(.total)').allTextContents();
    assert.deepEqual(
      cells.map((c) => Number(c.replaceAll(',', ''))),
      q[side].flat(),
    );
    const heads = await page.locator('section.system').nth(i).locator('.crowd-count b').allTextContents();
    assert.deepEqual(heads, [`${q[side][1][0]}`, `${q[side][0][1]}`]);
  }
}

async function everyPicture(person) {
  for (const name of ['Bars', 'Both', 'People', 'Table']) {
    await view(person.page, name);
    await fits(person.page, name);
  }
  await view(person.page, 'Flow');
  await viewSwitch(person.page, 'Percent of each kind');
  assert.match(await person.page.locator('.system').first().innerText(), /%/);
  await viewSwitch(person.page, 'Percent of each kind');
  await person.page.locator('.view-menu > summary').click();
  await person.page.getByRole('button', { name: 'Enlarge' }).click();
  await person.page.getByRole('dialog').waitFor();
  await person.page.keyboard.press('Escape');
  await person.page.getByRole('dialog').waitFor({ state: 'detached' });
  await person.page.keyboard.press('Escape');
  await view(person.page, 'People');
}

async function downloads(person) {
  const take = async (name) => {
    const [download] = await Promise.all([
      person.page.waitForEvent('download'),
      person.page.getByRole('link', { name }).click(),
    ]);
    return readFileSync(await download.path(), 'utf8');
  };
  await person.page.getByText('Get the report').click();
  const metric = JSON.parse(await take(/Metric file/));
  assert.equal(metric.format, 'melicit-metric');
  const session = (await take(/Session file/))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(session[0].format, 'melicit-session');
  assert.ok(session.length > 5);
  assert.match(await take(/Report/), /<html/);
}

test('names and shares only, three classes', async () => {
  const person = await visitor(browser, server, 1280);
  const { page } = person;
  await startOwn(person, /No file/);
  await goOn(page, 'columns');
  await page.getByRole('button', { name: 'Add a class' }).click();
  for (const [i, name, share] of [
    [0, 'bus', '50'],
    [1, 'car', '30'],
    [2, 'van', '20'],
  ]) {
    await page.locator(`#class-${i}`).fill(name);
    await page.locator(`#share-${i}`).fill(share);
  }
  await goOn(page, 'words');
  await goOn(page, 'ask');
  await page.getByRole('button', { name: 'Start answering' }).click();
  const first = await arrive(person, 'question');
  assert.deepEqual(
    first.question.classes.map((c) => c.name),
    ['bus', 'car', 'van'],
  );
  assert.ok(Math.abs(first.question.classes[0].share - 0.5) < 0.02);
  await inspect(person, 'question-classes');
  await settle(person);
  await view(page, 'Everything');
  assert.equal(await page.locator('table.matrix').count(), 2);
  await fits(page, 'full tables');
  person.check();
  await person.context.close();
});

/** Scores of a model for two groups, with a fixed pattern instead of chance. */
function probabilities() {
  let text = 'p,truth,sex\n';
  for (let i = 0; i < 600; i++) {
    const yes = i % 10 < 4;
    const p = Math.min(0.98, Math.max(0.02, (yes ? 0.62 : 0.33) + 0.3 * Math.sin(i * 1.7) + (i % 3 === 0 ? 0.06 : 0)));
    text += `${p.toFixed(3)},${yes ? 'yes' : 'no'},${i % 3 === 0 ? 'women' : 'men'}\n`;
  }
  return text;
}

test('a file of probabilities with groups', async () => {
  const person = await visitor(browser, server, 1280);
  const { page } = person;
  const file = server.fileOf('scores.csv', probabilities());
  await startOwn(person, /A file with a model’s answers/);
  await page.locator('#file').setInputFiles(file);
  await page.getByText('600 rows, 3 columns').waitFor();
  await goOn(page, 'columns');
  await page.getByLabel('Groups, to compare how they fare').selectOption('sex');
  await goOn(page, 'words');
  await goOn(page, 'ask');
  await page.getByRole('button', { name: 'Start answering' }).click();
  const first = await arrive(person, 'question');
  assert.deepEqual([...first.question.groups].sort(), ['men', 'women']);
  await inspect(person, 'question-groups');
  const answered = await answerAll(person, 2);
  assert.ok(answered > 4);
  await inspect(person, 'result-groups');
  person.check();
  await person.context.close();
});
