// The start page, and the wizard that leads from one's own data to the first question. By keys alone, at the widths of a desk and of a phone.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { answerUntil, arrive, choice, fits, goOn, inspect, launch, settle, startOwn, startServer, tabTo, visitor } from './support.mjs';

const WIDTHS = [1280, 390];
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

/** Numbers that look random and are the same every time. */
const wave = (i, k) => Math.sin(i * 12.9898 * k + 78.233 * k) * 0.5 + 0.5;

/** Customers as a spreadsheet saves them: semicolons, decimal commas, Windows letters, texts, missing cells. */
function churn() {
  const rows = ['Alter;Vertrag;Umsatz;gek\u00fcndigt'];
  for (let i = 0; i < 400; i++) {
    const age = 20 + Math.floor(55 * wave(i, 1));
    const monthly = wave(i, 2) > 0.5;
    const gone = (60 - age) / 40 + (monthly ? 0.9 : -0.9) + 2.5 * (wave(i, 3) - 0.5) > 0.8;
    rows.push(`${i % 29 ? age : ''};${monthly ? 'Monat' : 'Jahr'};${(30 + 40 * wave(i, 4)).toFixed(2).replace('.', ',')};${gone ? 'ja' : 'nein'}`);
  }
  return Buffer.from(`${rows.join('\r\n')}\r\n`, 'latin1');
}

/** Presses keys and counts them. */
function keysOf(page) {
  const counted = {
    n: 0,
    press: async (key) => {
      counted.n++;
      await page.keyboard.press(key);
    },
    /** Tab until there. */
    to: async (selector) => {
      while (!(await page.evaluate((s) => document.activeElement?.matches(s) ?? false, selector))) await counted.press('Tab');
    },
  };
  return counted;
}

const inView = (page, selector) =>
  page.locator(selector).evaluate((element) => {
    const box = element.getBoundingClientRect();
    return box.top >= 0 && box.bottom <= window.innerHeight && box.left >= 0 && box.right <= window.innerWidth;
  });

for (const width of WIDTHS) {
  test(`one sentence, one picture, one button, without scrolling, at ${width} px`, async () => {
    const person = await visitor(browser, server, width);
    const { page } = person;
    await page.goto(server.url);
    for (const selector of ['h1', '.hero-lead', '.balance', '.hero-go .primary', '.hero-go .button']) assert.ok(await inView(page, selector), selector);
    assert.equal(await page.locator('.primary').count(), 1);
    await page.locator('main[data-listed]').waitFor();
    await inspect(person, 'start');
    // What is promised is what is asked for.
    const promised = Number(/(\d+) times at most/.exec(await page.locator('.hero-lead').innerText())?.[1]);
    const asked = page.waitForRequest((request) => request.url().endsWith('/api/start'));
    await tabTo(page, '.hero-go .primary');
    await page.keyboard.press('Enter');
    assert.equal((await asked).postDataJSON().options.max_questions, promised);
    const first = await arrive(person, 'question');
    assert.ok(first.progress.left > 4 && first.progress.left <= promised, `${first.progress.left}`);
    assert.deepEqual(first.question.classes.map((c) => c.name), ['benign', 'malignant']);
    assert.equal(first.words.mistakes.missed_plural, 'missed cancers');
    // Coming back to the start page, one is told what is under way.
    await page.goto(server.url);
    await page.getByText('You have a session under way').waitFor();
    await fits(page, 'under way');
    person.check();
    await person.context.close();
  });

  test(`a file of customers, by keys, at ${width} px`, async () => {
    const person = await visitor(browser, server, width);
    const { page } = person;
    const keys = keysOf(page);
    await page.goto(server.url);
    await page.locator('main[data-listed]').waitFor();
    await keys.to('a[href="#own"]');
    await keys.press('Enter');
    await page.locator('form[data-step="own"]').waitFor();
    await inspect(person, 'own');
    await keys.to('input[name="source"]');
    await keys.press('ArrowDown');
    assert.ok(await page.getByLabel(/A file with cases/).isChecked());
    await keys.to('#file');
    keys.n += 2; // Enter, and the choice of the file
    await page.locator('#file').setInputFiles(server.fileOf('churn.csv', churn()));
    await page.getByText('400 rows, 4 columns').waitFor();
    await page.getByText("Windows-1252, separator ';', decimal comma").waitFor();
    await keys.to('button.primary');
    await keys.press('Enter');
    await page.locator('form[data-step="columns"]').waitFor();
    assert.equal(await page.locator('#label-column').inputValue(), 'gek\u00fcndigt');
    assert.equal(await page.locator('.preview .missing').count(), 1);
    await inspect(person, 'own-columns');
    await page.locator('h1').focus();
    await keys.to('button.primary');
    await keys.press('Enter');
    await page.locator('form[data-step="words"]').waitFor();
    // The rarer class is to be found, and the mistakes are called after it.
    assert.ok(await page.getByRole('radio', { name: /^ja/ }).isChecked());
    assert.equal(await page.locator('#missed-plural').inputValue(), 'missed ja cases');
    await inspect(person, 'own-words');
    await page.getByRole('radio', { name: /^nein/ }).check();
    assert.equal(await page.locator('#missed').inputValue(), 'missed nein case');
    await page.getByRole('radio', { name: /^ja/ }).check();
    await page.locator('#missed').focus();
    await keys.press('Enter');
    await page.locator('form[data-step="ask"]').waitFor();
    await page.getByText(/^The model finds \d+% at \d+% false alarms on 200 held-out rows, AUC 0\.\d\d\.$/).waitFor();
    await inspect(person, 'own-ask');
    await keys.to('button.primary');
    await keys.press('Enter');
    const first = await arrive(person, 'question');
    assert.deepEqual(first.question.classes.map((c) => c.name), ['nein', 'ja']);
    assert.equal(first.words.mistakes.missed_plural, 'missed ja cases');
    console.log(`${keys.n} keys from the start page to the first question at ${width} px`);
    person.check();
    await person.context.close();
  });

  test(`refusals are beside the field that they are about, at ${width} px`, async () => {
    const person = await visitor(browser, server, width);
    const { page } = person;
    const refused = async (field, message) => {
      const told = page.locator(`#${field}-problem`);
      await told.waitFor();
      assert.match(await told.innerText(), message);
      assert.ok(await inView(page, `#${field}-problem`), `${field}-problem is in view`);
      assert.equal(await page.evaluate(() => document.activeElement.id), field);
      await fits(page, field);
    };
    await startOwn(person, /A file with a model’s answers/);
    await page.getByRole('button', { name: 'Continue' }).click();
    await refused('file', /Please choose a file/);
    await page.locator('#file').setInputFiles(server.fileOf('cases.csv', churn()));
    await refused('file', /No column of this file holds numbers between 0 and 1/);
    await page.locator('#file').setInputFiles(server.fileOf('broken.csv', 'a,b\n1,2\n3\n'));
    await refused('file', /row 3/);
    await page.getByLabel(/No file/).check();
    await goOn(page, 'columns');
    await page.locator('#class-1').fill('broken');
    await page.getByRole('button', { name: 'Continue' }).click();
    await refused('class-0', /Please name class 1/);
    await page.locator('#class-0').fill('fine');
    await page.locator('#share-0').fill('97');
    await page.locator('#share-1').fill('3');
    await goOn(page, 'words');
    await page.locator('#missed').fill('');
    await page.getByRole('button', { name: 'Continue' }).click();
    await refused('missed', /Please give it a name/);
    await page.locator('#missed').fill('missed crack');
    await goOn(page, 'ask');
    await page.getByRole('button', { name: 'Start answering' }).click();
    const first = await arrive(person, 'question');
    assert.ok(Math.abs(first.question.classes[1].share - 0.03) < 0.001);
    assert.equal(first.words.mistakes.missed, 'missed crack');
    person.check();
    await person.context.close();
  });
}

test('from the start page to decisions about customers in at most 25 clicks and keys besides the answers', async () => {
  const person = await visitor(browser, server, 1280);
  const { page } = person;
  let clicks = 0;
  const click = async (target) => {
    clicks++;
    await target.click();
  };
  await page.goto(server.url);
  await click(page.getByRole('link', { name: 'Use my own data' }));
  await click(page.getByText('A file with cases, but no model'));
  clicks += 2; // the button, and the choice of the file
  await page.locator('#file').setInputFiles(server.fileOf('customers.csv', churn()));
  await page.getByText('400 rows, 4 columns').waitFor();
  for (const step of ['columns', 'words', 'ask']) {
    await click(page.getByRole('button', { name: 'Continue' }));
    await page.locator(`form[data-step="${step}"]`).waitFor();
    if (step !== 'columns') continue;
    await click(page.locator('summary', { hasText: 'Leave columns out' }));
    await click(page.getByLabel('Umsatz'));
    await page.locator('.preview th', { hasText: 'left out' }).waitFor();
  }
  await click(page.getByRole('button', { name: 'Start answering' }));
  const keys = { A: 'ArrowLeft', B: 'ArrowRight', '=': '=' };
  let current = await arrive(person, 'question');
  for (let n = 0; current.kind === 'question' && n < 60; n++) {
    await settle(person);
    await page.keyboard.press(keys[choice(current.question, 4)]);
    current = await arrive(person, null, current.seq);
  }
  assert.equal(current.kind, 'result');
  await click(page.getByRole('button', { name: 'Use it with my model' }));
  await click(page.getByLabel(/The one these questions were about/));
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    click(page.getByRole('button', { name: /Decisions for your file/ })),
  ]);
  const lines = readFileSync(await download.path(), 'utf8').trim().split(/\r?\n/);
  assert.equal(lines.length, 401, lines[0]); // all rows of the file
  // Each line says which row of the file it is about.
  const file = churn().toString('latin1').split('\r\n');
  const truths = lines.slice(1).map((line) => [line.split(',').at(-2)?.replaceAll('"', ''), file[Number(line.split(',')[0])]?.split(';').at(-1)]);
  assert.ok(truths.every(([told, own]) => told === own));
  const decided = lines.slice(1).map((line) => line.split(',').filter((cell) => /^"?(ja|nein)"?$/.test(cell)));
  assert.ok(decided.every((cells) => cells.length > 0) && new Set(decided.flat()).size === 2);
  console.log(`${clicks} clicks from the start page to decisions.csv`);
  assert.ok(clicks <= 25, `${clicks} clicks`);
  person.check();
  await person.context.close();
});

test('what identifies rows is shown as the file has it, and no model predicts from it unless somebody wants that', async () => {
  const person = await visitor(browser, server, 390);
  const { page } = person;
  const [head, ...rows] = churn().toString('latin1').trim().split('\r\n');
  const first = 90071992547409911n; // as numbers, neighbours are equal
  const lines = [`customer_id;${head}`, ...rows.map((row, i) => `0${first + BigInt(i)};${row}`)];
  await startOwn(person, /A file with cases, but no model/);
  await page.locator('#file').setInputFiles(server.fileOf('named.csv', Buffer.from(lines.join('\r\n'), 'latin1')));
  await page.getByText('400 rows, 5 columns').waitFor();
  await goOn(page, 'columns');
  await page.getByText('customer_id identifies rows and is not used to predict.').waitFor();
  await page.locator('.preview th', { hasText: 'identifies rows' }).waitFor();
  await page.locator('.preview').getByText(`0${first + 1n}`, { exact: true }).waitFor();
  await fits(page, 'what identifies rows');
  const skipped = async () => {
    const asked = page.waitForRequest((request) => request.url().endsWith('/api/check'));
    await goOn(page, 'words');
    await goOn(page, 'ask');
    return (await asked).postDataJSON().space.skip;
  };
  assert.deepEqual(await skipped(), ['customer_id']);
  for (const step of ['words', 'columns']) {
    await page.getByRole('link', { name: 'Back' }).click();
    await page.locator(`form[data-step="${step}"]`).waitFor();
  }
  await page.locator('summary', { hasText: 'Leave columns out (1)' }).click();
  await page.getByLabel('customer_id').uncheck();
  assert.equal(await page.getByText('is not used to predict').count(), 0);
  assert.equal(await skipped(), undefined);
  person.check();
  await person.context.close();
});

test('inverted probabilities and few rows are noticed, and a group without rows of a class is refused at its field', async () => {
  const person = await visitor(browser, server, 390);
  const { page } = person;
  let text = 'score;truth;site\n';
  for (let i = 0; i < 120; i++) {
    const ill = i % 6 === 0;
    // Of the healthy ones: what is high means "not ill".
    text += `${String(Math.min(0.99, Math.max(0.01, (ill ? 0.3 : 0.7) + 0.5 * (wave(i, 5) - 0.5))).toFixed(3)).replace('.', ',')};${ill ? 'ill' : 'well'};${i % 6 === 1 ? 'north' : 'south'}\n`;
  }
  await startOwn(person, /A file with a model’s answers/);
  await page.locator('#file').setInputFiles(server.fileOf('scores.csv', text));
  await page.getByText('120 rows, 3 columns').waitFor();
  await goOn(page, 'columns');
  await page.getByLabel('What was true').selectOption('truth');
  await page.getByLabel('Groups, to compare how they fare').selectOption('site');
  await goOn(page, 'words');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.locator('#group-column-problem').waitFor();
  assert.match(await page.locator('#group-column-problem').innerText(), /"north" has no rows of class "ill"/);
  assert.ok(await inView(page, '#group-column-problem'));
  await page.getByLabel('Groups, to compare how they fare').selectOption('');
  await goOn(page, 'words');
  await goOn(page, 'ask');
  await page.getByText('The probabilities look inverted').waitFor();
  await page.getByText('Only 20 rows of ill').waitFor();
  await page.goBack();
  await page.goBack();
  await page.getByLabel('Probability of ill').selectOption('');
  await page.getByLabel('Probability of well').selectOption('score');
  await goOn(page, 'words');
  // What was said about other columns is not shown again, not even until the answer about these is there.
  await page.evaluate(() => {
    window.stale = 0;
    new MutationObserver(() => (window.stale += document.body.innerText.includes('look inverted'))).observe(document.body, { childList: true, subtree: true });
  });
  await goOn(page, 'ask');
  await page.getByText('Only 20 rows of ill').waitFor();
  await page.locator('.quality', { hasText: 'AUC' }).waitFor();
  assert.equal(await page.evaluate(() => window.stale), 0);
  assert.equal(await page.getByText('look inverted').count(), 0);
  assert.match(await page.locator('.quality').innerText(), /AUC 0\.[89]/);
  person.check();
  await person.context.close();
});

for (const [width, colorScheme] of [
  [1280, 'light'],
  [390, 'dark'],
])
  test(`classifiers of one’s own, from the file to the decision, at ${width} px`, async () => {
    const person = await visitor(browser, server, width, { colorScheme });
    const { page } = person;
    await startOwn(person, /A file with several classifiers/);
    await page.locator('#file').setInputFiles(server.fileOf('pool.csv', 'name,tp,fp,fn,tn\nold,80,30,20,870\nnew,90,85,10,815\ncautious,95,160,5,740\n'));
    await page.getByText('3 rows, 5 columns').waitFor();
    await goOn(page, 'words');
    assert.equal(await page.locator('#class-0').inputValue(), 'negative');
    await page.locator('#class-0').fill('honest');
    await page.locator('#class-1').fill('fraud');
    await goOn(page, 'ask');
    await page.getByText('3 classifiers to compare.').waitFor();
    await page.getByRole('button', { name: 'Start answering' }).click();
    const first = await arrive(person, 'question');
    assert.ok(first.question.names.every((name) => ['old', 'new', 'cautious'].includes(name)));
    assert.deepEqual(first.question.classes.map((c) => c.name), ['honest', 'fraud']);
    await inspect(person, 'question-pool');
    // For somebody to whom one missed fraud is worth ten false alarms: 230, 185 and 210.
    const { result } = await answerUntil(person, first, (p) => p.kind === 'result', 10);
    await page.goto(`${server.url}/session`);
    await arrive(person, 'result');
    assert.equal(result.chosen, 'new');
    assert.equal(await page.locator('h1').innerText(), 'You chose new over each of the other 2.');
    await inspect(person, 'result-pool');
    // What is offered works: decisions about calibrated probabilities by the ratio found, and every file.
    await page.getByRole('button', { name: 'Use it with my model' }).click();
    await page.getByLabel(/Another one/).check();
    await page.locator('#decide-file').setInputFiles(server.fileOf('model.csv', 'id,p\na,0.01\nb,0.99\n'));
    await page.getByText('model.csv: 2 rows').waitFor();
    const [decided] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Get decisions' }).click()]);
    assert.deepEqual(readFileSync(await decided.path(), 'utf8').replaceAll('"', '').trim().split('\r\n'), ['row,id,probability of fraud,decision', '1,a,0.01,honest', '2,b,0.99,fraud']);
    await page.locator('summary', { hasText: 'Get the report' }).click();
    for (const name of ['Report', 'Metric file', 'Session file']) {
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name }).click()]);
      assert.ok(readFileSync(await download.path(), 'utf8').length > 100, name);
    }
    await page.locator('summary', { hasText: 'Invite a colleague' }).click();
    await page.getByRole('button', { name: 'Make a link' }).click();
    await page.goto((await page.locator('#next pre').filter({ hasText: '/r/' }).innerText()).trim());
    await page.getByRole('button', { name: 'Only show me the result' }).click();
    await page.getByText('over each of the other 2.').first().waitFor();
    person.check();
    await person.context.close();
  });

test('groups of bundled data', async () => {
  const person = await visitor(browser, server, 1280);
  const { page } = person;
  await startOwn(person, /Nothing of my own/);
  await page.getByLabel('Data set').selectOption('german_credit');
  await page.getByLabel('Compare how groups fare').selectOption('sex');
  await goOn(page, 'words');
  await goOn(page, 'ask');
  await page.getByText(/500 held-out rows/).waitFor();
  await page.getByText('More choices').click();
  assert.equal(await page.locator('#family').inputValue(), 'fair-linear');
  await page.getByRole('button', { name: 'Start answering' }).click();
  const fair = await arrive(person, 'question');
  assert.deepEqual([...fair.question.groups].sort(), ['female', 'male']);
  person.check();
  await person.context.close();
});
