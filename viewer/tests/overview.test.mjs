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

const names = (page) => page.locator('.list .row:not(.head) .name a').allTextContents();

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
  const { height } = await page.locator('.list .row:not(.head)').first().boundingBox();
  for (const at of [200, 203, 280, 0]) {
    const top = height * at;
    await page.locator('.list').evaluate((list, to) => (list.scrollTop = to), top);
    await page.waitForFunction((wanted) => [...document.querySelectorAll('.list .name a')].some((link) => link.textContent === wanted), `test ${at}`);
    const rows = await page.locator('.list .row:not(.head)').evaluateAll((all) => all.map((row) => [row.ariaRowIndex, row.querySelector('a').textContent]));
    assert.deepEqual(rows, rows.map((_, at) => [String(Number(rows[0][0]) + at), `test ${Number(rows[0][0]) + at - 2}`]));
    assert.equal(await page.evaluate(() => document.activeElement.className), 'list');
  }
  await close();
});

test('a row leads with the first cause as a sentence, and columns without a value are not there', async () => {
  const { page, close } = await open(browser, red.html);
  const causes = await page.locator('.list .row .cause').allTextContents();
  assert.equal(causes.length, 4);
  assert.match(causes.join('\n'), /^trajectory 1 call differs, 1 is missing · call 1 search has/m);
  assert.match(causes.join('\n'), /^expect 1 of 2 runs: tool_names must not contain "refund_invoice"/m);
  const heads = await page.locator('.list .head [role=columnheader]').allTextContents();
  assert.deepEqual(heads, ['Status', 'Test and cause', 'Model', 'Runs', 'Tokens', 'Time/run']);
  await close();
});

test('a test begins with its cause and the line of the suite, and a mismatch stands once', async () => {
  const { page, go, close } = await open(browser, red.html);
  const [trajectory, , own] = red.report.tests;
  await go(`#/t/${own.id}`);
  assert.match(await page.locator('.card .sentence').first().textContent(), /^tool_names must not contain "refund_invoice", got/);
  assert.deepEqual(await page.locator('.run-links a').allTextContents(), ['run 2']);
  assert.equal(await page.locator('.excerpt .asked').textContent(), '40      - target: tool_names');
  await go(`#/t/${trajectory.id}`);
  assert.equal(await page.locator('.gate .sentence').textContent(), '1 call differs, 1 is missing');
  assert.match(await page.locator('.excerpt .asked').textContent(), /trajectory:$/);
  assert.equal((await page.locator('main').textContent()).split('rotate API kye').length, 2);
  await close();
});

test('runs that fail alike are listed with their files', async () => {
  const [one] = gallery.tests;
  const runs = Array.from({ length: 20 }, (_, at) => ({
    index: at + 1, status: at % 2 ? 'failed' : 'passed', source: `nightly/t${at + 1}.json`, tool_names: [], calls: 0,
    expectations: [{ target: 'stop_reason', matcher: { exact: 'end' }, passed: !(at % 2), actual: at % 2 ? 'length' : 'end', diff: [] }],
  }));
  const report = { ...gallery, tests: [{ ...one, id: 'abcdef0123', status: 'failed', gates: [], runs }] };
  const { page, close } = await open(browser, rendered('alike', report).html, '#/t/abcdef0123');
  const links = page.locator('.card .run-links li');
  assert.equal(await links.count(), 10);
  assert.equal(await links.nth(1).textContent(), 'run 4 nightly/t4.json');
  await links.nth(1).locator('a').click();
  assert.match(await page.locator('h1').textContent(), /run 4/);
  await close();
});

test('a test ends with the command that mends a run, and each run has what failed it', async () => {
  const crashed = { kind: 'agent_crashed', message: 'the agent ended with code 1', help: 'record the row again', command: "mcptest run red.yml --record=failed --filter 'answers'" };
  const tests = red.report.tests.map((one, at) => (at === 0 ? { ...one, runs: one.runs.map((run) => ({ ...run, reason: crashed })) } : one));
  const { html } = rendered('crashed', { ...red.report, tests });
  const { page, close } = await open(browser, html, `#/t/${tests[0].id}`);
  assert.equal(await page.locator('.command-line code').textContent(), crashed.command);
  assert.match(await page.locator('main').textContent(), /Help: record the row again/);
  await close();
  const readOnly = red.report.tests.find((one) => one.name === 'invoice lookup stays read-only');
  const other = await open(browser, red.html, `#/t/${readOnly.id}`);
  const rows = await other.page.locator('table.wide tbody tr').allTextContents();
  assert.deepEqual(rows.map((row) => row.includes('expect')), [false, true]);
  await other.close();
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
