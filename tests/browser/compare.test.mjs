// melicit optimise --oracle browser: a person compares classifiers in a page of the program's own.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, test } from 'node:test';
import { WIDTHS, axe, fits, launch, program, visitor } from './support.mjs';

let browser;
before(async () => {
  browser = await launch();
});
after(async () => browser?.close());

/** The program, waiting for answers; result() is what it prints in the end. */
async function begin(...words) {
  const data = ['--data', 'breast_cancer_original', '--validation', 'breast_cancer_original'];
  const child = spawn(program, ['optimise', ...data, '--oracle', 'browser', '--json', ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
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
  const ended = new Promise((resolve) => child.once('exit', resolve));
  return { url, result: async () => (await ended, JSON.parse(out)) };
}

for (const width of WIDTHS)
  test(`buttons, keys and undo at ${width} pixels`, async () => {
    const { url, result } = await begin('--max-questions', '3');
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
