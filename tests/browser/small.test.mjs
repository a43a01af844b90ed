// What is small and seen at once: one of a kind, long names, marks, the bar of answers on a phone, and what happens at the edges of
// a study. At the width of a desk and of a phone.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answerUntil, arrive, fits, inTurn, launch, researcherOf, settle, startServer, view, visitor } from './support.mjs';

let server;
let browser;
let researcher;
before(async () => {
  server = await startServer();
  browser = await launch();
  researcher = await researcherOf(server);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const GUESS = { kind: 'guess', title: 'Guess' };
const QUESTIONS = { kind: 'elicitation' };
const RESULT = { kind: 'result', title: 'Your result' };
const DONE = { kind: 'done', title: 'Thanks' };

/** A study of these pages; its id. */
async function studyOf(phases, mistakes = {}, asked = {}) {
  const told = await researcher('studies', {
    format: 'melicit-study',
    version: 1,
    title: 'Small things',
    space: { population: 'logistic:a=5,b=0.7', classes: ['healthy', 'sepsis'] },
    words: { people: 'patients', mistakes },
    elicitation: { family: 'linear', tolerance: 0.001, max_questions: 3, assume: 'none', repeat_every: 0, ...asked },
    phases,
  });
  return told.id;
}

async function open(width, study, options) {
  const person = await visitor(browser, server, width, options);
  await person.page.goto(`${server.url}/s/${study}`);
  return person;
}

async function close(person) {
  person.check();
  await person.context.close();
}

/** Answers every question after this event with A; the page after the last one. */
async function answerAll(person, last = 0) {
  for (let seq = last; ; ) {
    const page = await arrive(person, null, seq);
    if (page.kind !== 'question') return page;
    seq = page.seq;
    await settle(person);
    await person.page.getByRole('button', { name: /rather have A|Choose A/ }).click();
  }
}

const LONG = 'Blutvergiftungsfrüherkennungsfehlalarm'.repeat(5);

for (const width of inTurn(1, [1280, 390]))
  test(`long names at ${width} px`, async () => {
    const study = await studyOf([GUESS, QUESTIONS, RESULT, DONE], { missed: `missed ${LONG}`, false_alarm: LONG });
    const person = await open(width, study);
    const { page } = person;
    await arrive(person, 'guess');
    await fits(page, 'guess');
    await page.getByRole('spinbutton').fill('7');
    await fits(page, 'guess with its sentence');
    await page.getByRole('button', { name: 'Continue' }).click();
    await arrive(person, 'question', 1);
    for (const name of ['Flow', 'Bars', 'Both', 'People', 'Table']) {
      await view(page, name);
      await fits(page, name);
      const number = page.locator('.legend b, .crowd-count b').first();
      assert.ok((await number.boundingBox()).height < 40, `${name}: a number is broken`);
    }
    await answerAll(person);
    await page.locator('.headline').waitFor();
    await fits(page, 'result');
    await close(person);
  });

for (const width of [1280, 390]) {
  test(`the legend has the marks of the picture at ${width} px`, async () => {
    const person = await open(width, await studyOf([QUESTIONS, DONE]));
    const { page } = person;
    await arrive(person, 'question');
    for (const kind of ['missed', 'alarm']) {
      const [inPicture, inLegend] = [page.locator(`.crowd .mark-${kind}`).first(), page.locator(`.crowd-count .mark-${kind}`).first()];
      await inLegend.waitFor({ state: 'attached' });
      const look = (element) => {
        const { fill, stroke } = getComputedStyle(element);
        // The first mark of a picture of many.
        return [fill, stroke, element.getAttribute('d').split('M')[1].replace(/^[-\d.e]+ [-\d.e]+/, '')];
      };
      assert.deepEqual(await inLegend.evaluate(look), await inPicture.evaluate(look), kind);
    }
    await close(person);
  });

  test(`the answers keep their distance at ${width} px`, async () => {
    const person = await open(width, await studyOf([QUESTIONS, DONE]));
    const { page } = person;
    await arrive(person, 'question');
    for (const name of ['Flow', 'Table']) {
      await view(page, name);
      await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
      const above = await page.locator('.pair').boundingBox();
      const bar = await page.locator('.answers-main').boundingBox();
      assert.ok(bar.y - (above.y + above.height) >= 16, `${name}: ${bar.y - (above.y + above.height)} px`);
    }
    // On a phone it lies over the picture: nothing shines through, and it has an edge.
    const { backgroundImage, backgroundColor, borderTopWidth } = await page.locator('.answers').evaluate((bar) => getComputedStyle(bar));
    if (width < 600) assert.deepEqual([backgroundImage, borderTopWidth, /rgba/.test(backgroundColor)], ['none', '1px', false]);
    await close(person);
  });

  test(`what was wrong in practice is in view at ${width} px`, async () => {
    const items = [{ question: 'How many sick people does A miss?', of: { system: 'A', true: 1, predicted: 0 }, explain: 'Count the missed ones of system A.' }];
    const person = await open(width, await studyOf([{ kind: 'training', title: 'Practice', items }, QUESTIONS, DONE]));
    const { page } = person;
    await arrive(person, 'training');
    await page.getByRole('spinbutton').fill('987654');
    await page.getByRole('button', { name: 'Check' }).click();
    await arrive(person, 'training', 1);
    const told = page.getByText('Count the missed ones of system A.');
    await told.waitFor();
    const box = await told.boundingBox();
    assert.ok(box.y >= 0 && box.y + box.height <= page.viewportSize().height, `it is at ${box.y} px`);
    assert.ok(await page.evaluate(() => document.activeElement.textContent.includes('Not quite')));
    await close(person);
  });

  test(`an answer that comes too early gets a sign at ${width} px`, async () => {
    const person = await visitor(browser, server, width);
    const { page } = person;
    // The pause after a new question lasts until the test ends it.
    await page.addInitScript(() => {
      const wait = window.setTimeout;
      const held = [];
      window.setTimeout = (call, ms, ...more) => (ms === 250 ? held.push(call) : wait(call, ms, ...more));
      window.endPauses = () => held.splice(0).forEach((call) => call());
    });
    await page.goto(`${server.url}/s/${await studyOf([QUESTIONS, DONE])}`);
    const first = await arrive(person, 'question');
    const events = [];
    page.on('request', (request) => request.url().includes('/api/event') && events.push(request.url()));
    const sign = page.getByText('This question is new. Look at it first, then answer.');
    assert.equal(await sign.count(), 0);
    await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
    const before = await page.locator('.answers-main').boundingBox();
    await page.getByRole('button', { name: /rather have A|Choose A/ }).click();
    await sign.waitFor();
    assert.deepEqual(await page.locator('.answers-main').boundingBox(), before); // nothing jumps
    assert.deepEqual(events, []);
    await fits(page, 'the sign');
    await page.evaluate(() => window.endPauses());
    await settle(person);
    await page.getByRole('button', { name: /rather have A|Choose A/ }).click();
    await arrive(person, 'question', first.seq);
    assert.equal(await sign.count(), 0);
    await close(person);
  });
}

test('one of a kind', async () => {
  const study = await studyOf([GUESS, QUESTIONS, RESULT, DONE], { missed: 'missed sepsis', false_alarm: 'false alarm' }, { assume: 'person', max_questions: 20, repeat_every: 6 });
  const person = await open(390, study);
  const { page } = person;
  await arrive(person, 'guess');
  await page.getByRole('spinbutton').fill('1');
  await page.getByText('One missed sepsis is as bad as 1 false alarm.', { exact: true }).waitFor();
  await page.getByRole('spinbutton').fill('7');
  await page.getByText('One missed sepsis is as bad as 7 false alarms.', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Continue' }).click();
  const { result } = await answerUntil(person, await arrive(person, 'question', 1), ({ kind }) => kind === 'result', 1.02);
  assert.equal(result.headline.kind, 'number', result.headline.why);
  await page.route('**/api/page*', async (route) => {
    const answer = await route.fetch();
    const told = await answer.json();
    told.page.result.cost_ratio = { ...told.page.result.cost_ratio, value: 1.01, low: 0.6, high: 2 };
    told.page.result.ratio_interval = [0.6, 2];
    await route.fulfill({ response: answer, json: told });
  });
  await page.reload();
  await page.locator('.headline').waitFor();
  assert.match((await page.locator('.headline').innerText()).replace(/\s+/g, ' '), /as bad as about 1 false alarm\./);
  assert.doesNotMatch(await page.locator('main').innerText(), /sepsises|pivot/);
  await close(person);
});

test('a study that is closed says so', async () => {
  const study = await studyOf([QUESTIONS, DONE]);
  await researcher(`studies/${study}/state`, { state: 'closed' });
  const person = await open(390, study);
  await person.page.getByRole('heading', { level: 1, name: 'This study is closed' }).waitFor();
  assert.doesNotMatch(await person.page.locator('main').innerText(), /did not work/);
  assert.equal(await person.page.getByRole('button', { name: 'Try again' }).count(), 0);
  await fits(person.page, 'closed');
  await close(person);
});

test('the last question is not spoken later', async () => {
  const person = await open(390, await studyOf([QUESTIONS, { kind: 'text', title: 'After', text: 'That was it.' }, DONE]));
  await arrive(person, 'question');
  const spoken = person.page.locator('main > p[aria-live]');
  assert.match(await spoken.innerText(), /^Question 1/);
  assert.equal((await answerAll(person)).kind, 'text');
  assert.equal(await spoken.innerText(), '');
  await close(person);
});
