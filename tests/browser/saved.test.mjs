// Answers survive a lost connection, a reload and a second tab, and count once.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import {
  MOVING,
  PATIENCE_MS,
  arrive,
  axe,
  cancerWords,
  createStudy,
  fits,
  goOn,
  launch,
  login,
  researcherOf,
  settle,
  startExample,
  startOwn,
  startServer,
  visitor,
} from './support.mjs';

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

/** At the first question of a session with bundled data. */
async function atQuestion(width, options) {
  const person = await visitor(browser, server, width, options);
  await startExample(person);
  const first = await arrive(person, 'question');
  await settle(person);
  return { person, first };
}

test('offline: the answer waits and is sent once', async () => {
  const { person, first } = await atQuestion(1280);
  await person.context.setOffline(true);
  await person.page.keyboard.press('a');
  await person.page.getByText('Not saved yet').waitFor();
  await axe(person.page, 'offline');
  // Impatient keys change nothing while the answer is on its way.
  await person.page.keyboard.press('b');
  await person.context.setOffline(false);
  const second = await arrive(person, 'question', first.seq);
  assert.equal(second.question.number, 2);
  assert.equal(second.seq, first.seq + 1);
  await person.page.getByText('Saved', { exact: true }).waitFor();
  person.check();
  await person.context.close();
});

for (const lost of ['request', 'acknowledgement'])
  test(`a reload while the ${lost} is lost sends the answer with the same key`, async () => {
    const { person, first } = await atQuestion(1280);
    const keys = [];
    let broken = true;
    await person.context.route('**/api/event*', async (route) => {
      keys.push(JSON.parse(route.request().postData()).key);
      if (!broken) return route.continue();
      if (lost === 'acknowledgement') await route.fetch();
      return route.abort('connectionreset');
    });
    await person.page.keyboard.press('b');
    await person.page.getByText('Not saved yet').waitFor();
    broken = false;
    await person.page.reload();
    const second = await arrive(person, 'question', first.seq);
    assert.equal(second.question.number, 2);
    assert.equal(second.seq, first.seq + 1);
    assert.equal(new Set(keys).size, 1);
    assert.ok(lost === 'acknowledgement' || keys.length > 1);
    await settle(person);
    await person.page.keyboard.press('a');
    assert.equal((await arrive(person, 'question', second.seq)).question.number, 3);
    person.check();
    await person.context.close();
  });

/** What a server says that has no worker for this now. */
const busy = (headers) => ({
  status: 503,
  headers,
  json: { error: { code: 'busy', message: 'the server is busy; try again in a moment' } },
});

test('joining a busy server waits and goes on by itself', async () => {
  const admin = await visitor(browser, server, 1280);
  await login(admin, server.token);
  const study = await createStudy(admin, /Which cancer test/);
  await admin.context.close();
  const person = await visitor(browser, server, 1280);
  const answers = [busy({ 'Retry-After': '1' }), busy({ 'Retry-After': '1' })];
  await person.context.route('**/api/join*', (route) => {
    const answer = answers.shift();
    return answer ? route.fulfill(answer) : route.continue();
  });
  await person.page.goto(`${server.url}/s/${study}`);
  assert.equal((await arrive(person, 'consent')).seq, 1);
  assert.deepEqual(answers, []);
  assert.equal(await person.page.getByRole('button', { name: 'Try again' }).count(), 0);
  // Coming back finds a server that is busy as well.
  const again = [busy({ 'Retry-After': '1' })];
  await person.context.route('**/api/page*', (route) => {
    const answer = again.shift();
    return answer ? route.fulfill(answer) : route.continue();
  });
  await person.page.reload();
  await arrive(person, 'consent');
  assert.deepEqual(again, []);
  // One that does not say when to come again is not asked again unless the person wants it.
  again.push(busy({}));
  await person.page.reload();
  await person.page.getByRole('button', { name: 'Try again' }).click();
  await arrive(person, 'consent');
  person.check();
  await person.context.close();
});

test('starting on a busy server waits and goes on by itself', async () => {
  const person = await visitor(browser, server, 360);
  const answers = [busy({ 'Retry-After': '1' })];
  await person.context.route('**/api/start', (route) => {
    const answer = answers.shift();
    return answer ? route.fulfill(answer) : route.continue();
  });
  await startExample(person);
  await arrive(person, 'question');
  assert.deepEqual(answers, []);
  person.check();
  await person.context.close();
});

test('what was chosen before the data sets were listed stays', async () => {
  const person = await visitor(browser, server, 1280);
  const { page } = person;
  let list;
  const listed = new Promise((resolve) => (list = resolve));
  await person.context.route('**/api/datasets', async (route) => {
    await listed;
    return route.continue();
  });
  await startOwn(person, /No file/);
  await goOn(page, 'columns');
  await page.locator('#class-0').fill('fine');
  const response = page.waitForResponse('**/api/datasets');
  list();
  await (await response).finished();
  await page.locator('form[data-listed]').waitFor();
  assert.equal(await page.locator('#class-0').inputValue(), 'fine');
  await page.goBack();
  assert.ok(await page.getByLabel(/No file/).isChecked());
  await page.getByLabel(/Nothing of my own/).check();
  await page.getByRole('option', { name: /699/ }).first().waitFor({ state: 'attached' });
  person.check();
  await person.context.close();
});

test('a second tab is told where things are', async () => {
  const { person, first } = await atQuestion(1280);
  const other = await person.context.newPage();
  await other.goto(`${server.url}/session`);
  await other.getByRole('button', { name: /rather have A/ }).waitFor();
  await person.page.keyboard.press('a');
  const second = await arrive(person, 'question', first.seq);
  await other.locator('[data-listening]').waitFor();
  await other.keyboard.press('b');
  await other.getByText(/already been answered/).waitFor();
  const words = await other.locator('.difference').innerText();
  assert.equal(words, cancerWords(second.question));
  person.check();
  await person.context.close();
});

test('keys can be switched off, and held keys answer once', async () => {
  const { person, first } = await atQuestion(1280);
  const { page } = person;
  await page.getByText('Keys', { exact: true }).click();
  await page.getByLabel('Answer with single keys').uncheck();
  await page.keyboard.press('a');
  await page.waitForTimeout(300);
  assert.equal(person.state.page.seq, first.seq);
  // Keys count from the moment they are switched on, before the page is painted again.
  await page.getByLabel('Answer with single keys').evaluate(async (box) => {
    box.click();
    await new Promise((done) => setTimeout(done, 0));
    box.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true, cancelable: true }));
  });
  const second = await arrive(person, 'question', first.seq);
  await settle(person);
  await page.keyboard.down('a');
  for (let i = 0; i < 12; i++) {
    await page.keyboard.down('a');
    await page.waitForTimeout(60);
  }
  await page.keyboard.up('a');
  assert.equal((await arrive(person, 'question', second.seq)).question.number, 3);
  person.check();
  await person.context.close();
});

test('can’t say and about the same are answers', async () => {
  const { person, first } = await atQuestion(1280);
  await person.page.keyboard.press('s');
  const second = await arrive(person, 'question', first.seq);
  await settle(person);
  await person.page.keyboard.press('3');
  const third = await arrive(person, 'question', second.seq);
  await settle(person);
  await person.page.keyboard.press('u');
  const back = await arrive(person, 'question', third.seq);
  assert.deepEqual(back.question.a, second.question.a);
  person.check();
  await person.context.close();
});

test('narrow, zoomed, dark, touch', async () => {
  // 320 px is also what a 640 px window at 200% zoom has.
  for (const [width, options] of [
    [320, MOVING],
    [320, { ...MOVING, deviceScaleFactor: 2, hasTouch: true, isMobile: true }],
    [1280, { colorScheme: 'dark', reducedMotion: 'reduce' }],
  ]) {
    const { person } = await atQuestion(width, options);
    await fits(person.page, `question at ${width}`);
    await axe(person.page, `question at ${width} ${JSON.stringify(options)}`);
    const small = await person.page.evaluate(() =>
      [...document.querySelectorAll('button, a[href], label:has(input), select, summary')]
        .filter((e) => e.checkVisibility() && !e.classList.contains('skip'))
        .map((e) => [e.textContent.trim(), e.getBoundingClientRect()])
        .filter(([, box]) => box.width > 0 && (box.height < 43.5 || box.width < 43.5))
        .map(([text, box]) => `${text}: ${Math.round(box.width)} x ${Math.round(box.height)}`),
    );
    assert.deepEqual(small, []);
    await person.page.goto(`${server.url}/?new`);
    await person.page.getByText('under way').waitFor();
    await fits(person.page, `start at ${width}`);
    await axe(person.page, `start at ${width}`);
    person.check();
    await person.context.close();
  }
});

/** A study that fourteen people have been through; its id. */
async function peopled() {
  const send = await researcherOf(server);
  const { id } = await send('studies', {
    format: 'melicit-study',
    version: 1,
    title: 'Twelve and more',
    space: { data: 'breast_cancer_original', classes: ['healthy', 'cancer'] },
    elicitation: { family: 'linear', max_questions: 20 },
    phases: [{ kind: 'consent', version: '1', title: 'Consent', text: 'May we?' }, { kind: 'elicitation' }, { kind: 'result', title: 'Result' }, { kind: 'done', title: 'Thanks' }],
  });
  const person = async () => {
    const cookies = {};
    const call = async (path, body) => {
      const answer = await fetch(`${server.url}${path}?study=${id}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Melicit-CSRF': cookies.csrf ?? 'first', Cookie: cookies.text ?? '' },
        body: JSON.stringify(body),
      });
      const told = await answer.json();
      assert.equal(answer.status, 200, JSON.stringify(told));
      cookies.text ??= answer.headers.get('set-cookie')?.split(';')[0];
      cookies.csrf = told.page.csrf ?? cookies.csrf;
      return told.page;
    };
    let page = await call('/api/join', { study: id });
    const values = { consent: { agreed: true, version: '1' }, result: {} };
    while (page.kind !== 'done')
      page = await call('/api/event', {
        seq: page.seq,
        key: randomUUID(),
        value: values[page.kind] ?? { answer: page.seq % 3 ? 'A' : 'B' },
        seconds: 2,
      });
  };
  await Promise.all(Array.from({ length: 14 }, person));
  return id;
}

test('each page fetches less than 90 kB', async () => {
  for (const path of ['/', '/session', '/s/none', '/admin', '/admin/new', `/admin/study/${await peopled()}`]) {
    const context = await browser.newContext();
    // Researchers' pages are fetched by those who are logged in.
    const login = { data: { token: server.token }, headers: { 'X-Melicit-CSRF': 'first' } };
    if (path.startsWith('/admin/')) await context.request.post(`${server.url}/api/admin/login`, login);
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const client = await context.newCDPSession(page);
    await client.send('Network.enable');
    let bytes = 0;
    client.on('Network.loadingFinished', (event) => (bytes += event.encodedDataLength));
    await page.goto(server.url + path, { waitUntil: 'networkidle' });
    console.log(`${path}: ${(bytes / 1000).toFixed(1)} kB`);
    assert.ok(bytes > 5000 && bytes < 90_000, `${path}: ${bytes} bytes`);
    await context.close();
  }
});
