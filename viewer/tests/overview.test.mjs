import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { barriers, launch, open, rendered, written } from './browser.mjs';
import { gallery } from './gallery.mjs';

let browser, red;
before(async () => {
  browser = await launch();
  red = written('red', ['run', 'demo/red']);
});
after(() => browser.close());

const names = (page) => page.locator('.list .row:not(.head) .c1 a').allTextContents();

test('the overview tells the verdict and every test, those that did not pass first', async () => {
  const { page, faults, close } = await open(browser, red.html);
  const { summary, tests } = red.report;
  assert.match(await page.locator('h1').textContent(), new RegExp(`${summary.failed + summary.errors} of ${summary.tests} tests did not pass`));
  assert.deepEqual((await names(page)).toSorted(), tests.map((one) => one.name).toSorted());
  assert.equal((await names(page))[0], tests.find((one) => one.status === 'error').name);
  assert.equal(await page.locator('.strip rect').count(), summary.runs);
  assert.deepEqual(faults, []);
  await close();
});

test('a filter narrows the list, stands in the address and survives a visit to a test', async () => {
  const { page, close } = await open(browser, red.html);
  await page.keyboard.press('/');
  await page.keyboard.type('fails:golden_path');
  assert.deepEqual(await names(page), ['triages without detours']);
  assert.match(page.url(), /q=fails%3Agolden_path/);
  await page.keyboard.press('Escape');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.gate');
  assert.match(await page.locator('h1').textContent(), /triages without detours/);
  await page.keyboard.press('u');
  await page.waitForSelector('.list');
  assert.deepEqual(await names(page), ['triages without detours']);
  for (const [query, count] of [['-status:error', 3], ['status:error,failed', 4], ['runs>1', 2], ['runs:>1', 2], ['tool:search_issues', 1], ['"rotate api"', 1], ['xyzzy', 0]]) {
    await page.locator('#filter').fill(query);
    assert.equal((await names(page)).length, count, query);
  }
  await close();
});

test('after a jump the rows are those of their place, and the focus is in the list', async () => {
  const [one] = gallery.tests;
  const tests = Array.from({ length: 300 }, (_, at) => ({ ...one, id: String(at), name: `test ${at}` }));
  const many = rendered('many', { ...gallery, tests, summary: { ...gallery.summary, tests: 300, failed: 300 } });
  const { page, close } = await open(browser, many.html, '#/?sort=suite');
  await page.locator('.list .row a').first().focus();
  for (const top of [34 * 200, 34 * 203, 34 * 280, 0]) {
    await page.locator('.list').evaluate((list, to) => (list.scrollTop = to), top);
    await page.waitForFunction((wanted) => [...document.querySelectorAll('.list .c1 a')].some((link) => link.textContent === wanted), `test ${top / 34}`);
    const rows = await page.locator('.list .row:not(.head)').evaluateAll((all) => all.map((row) => [row.ariaRowIndex, row.querySelector('a').textContent]));
    assert.deepEqual(rows, rows.map((_, at) => [String(Number(rows[0][0]) + at), `test ${Number(rows[0][0]) + at - 2}`]));
    assert.equal(await page.evaluate(() => document.activeElement.className), 'list');
  }
  await close();
});

test('nobody is kept out, in light and in dark', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const { page, go, close } = await open(browser, red.html, '', { colorScheme });
    const id = red.report.tests[1].id;
    for (const hash of ['#/', '#/?view=models', '#/?view=runs', `#/t/${id}`, `#/t/${id}/r/1`, '#/?q=xyzzy']) {
      await go(hash);
      assert.deepEqual(await barriers(page), [], `${hash} ${colorScheme}`);
    }
    await close();
  }
});
