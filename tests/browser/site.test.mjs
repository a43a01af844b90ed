// The documentation as web pages (make site): found by words, read at both widths, light and dark.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { axe, launch, root } from './support.mjs';

test('somebody looks something up', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'melicit-site-'));
  execFileSync('/usr/bin/python3', [path.join(root, 'tools/site.py'), path.join(folder, 'site')]);
  const browser = await launch();
  try {
    for (const [width, colorScheme] of [[1280, 'light'], [390, 'dark']]) {
      const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme });
      const asked = [];
      page.on('request', (request) => asked.push(request.url()));
      await page.goto(`file://${folder}/site/index.html`);
      await page.keyboard.press('Tab');
      await page.getByRole('searchbox').fill('pgbouncer restore');
      const hit = page.locator('#found a').first();
      assert.match(await hit.textContent(), /Deploying a server/);
      await hit.click();
      assert.match(await page.title(), /Deploying a server/);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), `${width}: nothing is wider than the page`);
      await axe(page, `site ${width}`);
      assert.deepEqual(asked.filter((url) => !url.startsWith('file:')), []);
      await page.close();
    }
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true });
  }
});
