// One run: its timeline, one call in full, its address, and the keys.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { folder, launch, open, written } from './browser.mjs';
import { write } from './synthetic.mjs';

let browser, examples, big;
before(async () => {
  browser = await launch();
  examples = written('examples', ['run', 'examples', '--embed', 'all']);
  write(join(folder, 'big'), 1000, 10);
  big = written('big', ['run'], join(folder, 'big'));
});
after(() => browser.close());

const traced = (name) => examples.report.tests.find((one) => one.name === name);

test('a run with a fault opens at the call that failed', async () => {
  const found = traced('recovers from a hung search tool');
  const { page, faults, close } = await open(browser, examples.html, `#/t/${found.id}/r/1`);
  await page.waitForSelector('.call-card');
  assert.equal(await page.locator('.call-card').count(), found.runs[0].calls);
  assert.match(await page.locator('[data-call="1"]').textContent(), /fault hang/);
  assert.equal(await page.locator('.call-card[aria-pressed=true]').getAttribute('data-call'), '1');
  assert.match(await page.locator('.right-pane').textContent(), /no answer to tools\/call search/);
  assert.match(await page.locator('.timeline').textContent(), /The search does not answer/);
  assert.deepEqual(faults, []);
  await close();
});

test('a run that a gate fails says what the gate found in it', async () => {
  const red = written('red', ['run', 'demo/red']);
  const found = red.report.tests.find((one) => one.name === 'triages without detours');
  const { page, go, close } = await open(browser, red.html, `#/t/${found.id}/r/2`);
  assert.match(await page.locator('[data-failed-by="golden_path"]').textContent(), /^golden_path 6 calls, but the golden path has 3/);
  await go(`#/t/${found.id}/r/1`);
  assert.equal(await page.locator('[data-failed-by]').count(), 0);
  await close();
});

test('a call has an address, and clicking another one changes it', async () => {
  const found = traced('recovers from a hung search tool');
  const { page, close } = await open(browser, examples.html, `#/t/${found.id}/r/2/c/2`);
  await page.waitForSelector('.call-card');
  assert.equal(await page.locator('.call-card[aria-pressed=true]').getAttribute('data-call'), '2');
  await page.locator('[data-call="1"]').click();
  assert.match(page.url(), /\/r\/2\/c\/1$/);
  await page.keyboard.press(']');
  assert.match(page.url(), /\/r\/3$/);
  await page.keyboard.press('u');
  assert.match(page.url(), new RegExp(`#/t/${found.id}$`));
  await close();
});

test('calls of one turn stand at once, and a search fades the rest', async () => {
  const found = examples.report.tests.find((one) => one.gates.some((gate) => gate.key === 'tool_edges') && one.runs[0].calls === 5);
  const { page, close } = await open(browser, examples.html, `#/t/${found.id}/r/1`);
  await page.waitForSelector('.call-card');
  assert.equal(await page.locator('.at-once').count(), 2);
  await page.locator('.right-pane input').fill('flaky-test');
  assert.equal(await page.locator('.call-card:not(.faded)').count(), 2);
  await close();
});

test('an address that leads nowhere says so', async () => {
  const { page, close } = await open(browser, examples.html, '#/t/0000000000/r/1');
  assert.match(await page.locator('h1').textContent(), /does not contain that test or run/);
  await close();
});

test('ten thousand runs are listed with few elements, filtered and reached by keys', async () => {
  const { page, faults, close } = await open(browser, big.html, '#/?view=runs');
  const { summary } = big.report;
  assert.equal(await page.locator('.list').getAttribute('aria-rowcount'), String(summary.runs + 1));
  assert.ok((await page.locator('.row').count()) < 80);
  // Past the leaderboard, since several models ran the tests.
  await page.keyboard.press('m');
  await page.locator('.pane').getByText('pass@1').first().waitFor();
  await page.keyboard.press('m');
  await page.waitForSelector('.row:not(.runs) .strip');
  assert.equal(await page.locator('.list').getAttribute('aria-rowcount'), String(summary.tests + 1));
  await page.locator('#filter').fill('status:failed');
  assert.equal(await page.locator('[role=status]').textContent(), `${summary.failed} of 1,000`);
  await page.keyboard.press('Escape');
  for (let step = 0; step < 60; step++) await page.keyboard.press('j');
  assert.equal(await page.locator('[data-selected=true]').getAttribute('aria-rowindex'), '61');
  await page.keyboard.press('t');
  const dark = await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
  assert.equal(dark, 'dark');
  assert.deepEqual(faults, []);
  await close();
});

test('on paper only what did not pass is listed, in light', async () => {
  const { page, close } = await open(browser, big.html, '', { colorScheme: 'dark' });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.locator('.printed .row').count(), Math.min(200, big.report.summary.failed));
  assert.equal(await page.locator('.printed .mark.passed').count(), 0);
  assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), 'light');
  await close();
});
