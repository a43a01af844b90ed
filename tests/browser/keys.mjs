// Somebody without a mouse: reaches what they want by Tab, arrows, letters and Enter.
import assert from 'node:assert/strict';

const MOST_TABS = 200;

/** Keys of a person; what they point at is found by name, but only keys are sent. */
export function keysOf({ page }) {
  const at = (locator) => locator.evaluate((element) => element === document.activeElement);
  const name = (locator) => locator.evaluate((element) => element.name);
  /** Tab until this has the focus; of radio buttons, until one of them has. */
  const to = async (locator) => {
    const radio = (await locator.evaluate((element) => element.type)) === 'radio' ? await name(locator) : null;
    for (let i = 0; i < MOST_TABS; i++) {
      if (radio === null ? await at(locator) : await page.evaluate((n) => document.activeElement?.name === n, radio)) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`Tab never reaches ${locator}`);
  };
  const press = (key) => page.keyboard.press(key);
  return {
    to,
    press,
    /** A button, a link or what can be opened. */
    enter: async (locator) => {
      await to(locator);
      await press('Enter');
    },
    button: async (text) => {
      const button = page.getByRole('button', { name: text }).first();
      await button.waitFor();
      await to(button);
      await press('Enter');
    },
    open: async (text) => {
      const summary = page.locator('summary', { hasText: text }).first();
      await to(summary);
      await press('Enter');
      await page.locator('details[open] > summary', { hasText: text }).first().waitFor();
    },
    /** A radio button by arrows. */
    choose: async (locator) => {
      await to(locator);
      for (let i = 0; i < 12 && !(await locator.isChecked()); i++) await press('ArrowDown');
      assert.ok(await locator.isChecked(), `the arrows never reach ${locator}`);
    },
    /** An entry of a list by its letters. */
    select: async (locator, text) => {
      await to(locator);
      await page.keyboard.type(text);
      assert.ok((await locator.evaluate((list) => list.selectedOptions[0].text)).startsWith(text), `letters do not choose ${text}`);
    },
    fill: async (locator, text) => {
      await to(locator);
      await press('Control+a');
      await page.keyboard.type(text);
    },
  };
}

/** Nothing is pointed at, and nothing moves by itself but the words at the top; to be called before the first page. */
export async function watchOver({ page }) {
  await page.addInitScript(() => {
    window.pointed = [];
    window.shifts = [];
    // A key that presses a button makes a click of its own, without a pointer.
    addEventListener('pointerdown', (event) => window.pointed.push(event.target.outerHTML.slice(0, 80)), true);
    const outside = (entry) => entry.sources.some(({ node }) => !node?.parentElement?.closest('header'));
    const name = (entry) => entry.sources.map(({ node }) => `${node?.nodeName} ${node?.className ?? ''}`).join();
    new PerformanceObserver((list) => window.shifts.push(...list.getEntries().filter(outside).map(name))).observe({
      type: 'layout-shift',
      buffered: true,
    });
  });
  return {
    begin: () => page.evaluate(() => void (window.shifts = [])),
    still: async (where) => assert.deepEqual(await page.evaluate(() => window.shifts), [], where),
    unpointed: async () => assert.deepEqual(await page.evaluate(() => window.pointed), []),
  };
}
