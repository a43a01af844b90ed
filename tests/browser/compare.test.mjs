// A person compares classifiers in a page of the program's own: melicit optimise --oracle browser, and melicit.ask of the Python package.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { WIDTHS, axe, fits, launch, program, visitor } from './support.mjs';

let browser;
before(async () => {
  browser = await launch();
});
after(async () => browser?.close());

/** A program that waits for answers at a page; result() is the JSON that it prints in the end. */
async function begin(command, words, env = {}) {
  const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  let out = '';
  child.stdout.on('data', (bytes) => (out += bytes));
  const url = await new Promise((resolve, reject) => {
    let said = '';
    child.on('exit', (code) => reject(new Error(`the program ended with ${code}: ${said}`)));
    child.stderr.on('data', (bytes) => {
      said += bytes;
      const found = /http:\S+\/\n/.exec(said);
      if (found) resolve(found[0].trim());
    });
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  return { url, result: async () => (await ended, JSON.parse(out)) };
}

const optimise = (...words) => {
  const data = ['--data', 'breast_cancer_original', '--validation', 'breast_cancer_original'];
  return begin(program, ['optimise', ...data, '--oracle', 'browser', '--json', ...words]);
};

/** melicit.ask(session, browser=True); the answers that the session has afterwards. */
const python = (session) =>
  begin(
    '/usr/bin/python3',
    [
      '-c',
      `import json, sys, melicit, pandas
from melicit import Problem, Session
session = ${session}
melicit.ask(session, browser=True, open_page=lambda url: print(url, file=sys.stderr, flush=True))
print(json.dumps([record["answer"] for record in session.records()]))`,
    ],
    { PYTHONPATH: path.join(path.dirname(program), 'python/site'), PYTHONDONTWRITEBYTECODE: '1' },
  );

for (const width of WIDTHS)
  test(`buttons, keys and undo at ${width} pixels`, async () => {
    const { url, result } = await optimise('--max-questions', '3');
    const person = await visitor(browser, { url }, width);
    const { page } = person;
    const asked = (n) => page.getByText(`Question ${n}, at most 3`).waitFor();
    await page.goto(url);
    await asked(1);
    await page.getByRole('heading', { name: 'Which would you rather have?' }).waitFor();
    await page.getByRole('rowheader', { name: '1 taken for 0' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Take back' }).count(), 0);
    await axe(page, 'compare');
    await fits(page, 'compare');
    await page.getByRole('button', { name: 'I prefer A' }).click();
    await asked(2);
    await page.keyboard.press('b');
    await asked(3);
    await page.getByRole('button', { name: 'Take back the last answer' }).click();
    await asked(2);
    await page.reload();
    await asked(2);
    await page.getByRole('button', { name: 'About the same' }).click();
    await asked(3);
    await page.keyboard.press('s');
    await page.getByText('That was all. Thank you.').waitFor();
    const found = await result();
    assert.equal(found.questions, 3);
    assert.equal(found.status, 'done');
    person.check();
    await person.context.close();
  });

test('a session of Python returns when the last question is answered', async () => {
  const { url, result } = await python(
    `Session(Problem.population("softmax:1,3,5", ["<b>low", "middle", "high"]), "diagonal-linear", max_questions=3)`,
  );
  const person = await visitor(browser, { url }, 360);
  const { page } = person;
  const asked = (n) => page.getByText(`Question ${n} of about 3`).waitFor();
  await page.goto(url);
  await asked(1);
  await page.getByRole('rowheader', { name: '<b>low recognised' }).waitFor();
  await axe(page, 'python');
  await fits(page, 'python');
  await page.getByRole('button', { name: 'I prefer B' }).click();
  await asked(2);
  await page.keyboard.press('u');
  await asked(1);
  await page.keyboard.press('a');
  await asked(2);
  await page.keyboard.press('=');
  await asked(3);
  await page.keyboard.press('?');
  await page.getByText("s can't say").waitFor();
  await asked(3);
  await page.keyboard.press('s');
  await page.getByText('That was all. Thank you.').waitFor();
  assert.deepEqual(await result(), ['A', '=', '?']);
  person.check();
  await person.context.close();
});

test('candidates have their names, and what was answered counts when somebody stops', async () => {
  const { url, result } = await python(
    `Session(Problem.candidates(pandas.DataFrame({"tp": [95, 80, 30], "fn": [5, 20, 70], "fp": [400, 120, 10], "tn": [500, 780, 890]}, index=["bold", "fast", "shy"])))`,
  );
  const person = await visitor(browser, { url }, 1280);
  const { page } = person;
  await page.goto(url);
  await page.getByRole('columnheader', { name: /^A \((bold|fast|shy)\)$/ }).waitFor();
  await page.getByRole('rowheader', { name: '1 taken for 0' }).waitFor();
  await page.getByRole('button', { name: 'I prefer A' }).click();
  await page.getByText('Question 2').waitFor();
  await page.getByRole('button', { name: 'Stop here' }).click();
  await page.getByText('That was all. Thank you.').waitFor();
  assert.deepEqual(await result(), ['A']);
  person.check();
  await person.context.close();
});
