import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { barriers, examplesWith, failing, folder, launch, mcptest, open, written } from './browser.mjs';

let browser, good, compared;
before(async () => {
  browser = await launch();
  good = written('good', ['run', '.'], examplesWith());
  const bad = written('bad', ['run', '.'], examplesWith(join(failing, 'reliability/reliability'), join(failing, 'offline-trace-validation/golden_path')));
  compared = written('compared', ['compare', good.json, bad.json]);
});
after(() => browser.close());

const cells = (page, table) => page.locator(`${table} tbody tr`).evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
const nameOf = (one) => one.name + (one.model ? ` [${one.model}]` : '') + (one.variant ? ` [${one.variant}]` : '');
/** Whether a text says a number, as exactly as it says it. */
function says(text, value, times = 1) {
  if (value == null) return assert.equal(text, '–');
  const [written] = text.replaceAll(',', '').match(/-?[\d.]+/);
  const digits = written.split('.')[1]?.length ?? 0;
  assert.ok(Math.abs(Number(written) - value * times) <= 0.5 * 10 ** -digits + 1e-9, `${text} is not ${value * times}`);
}

/** The value that rows are sorted by, of which those that have none are last. */
function isSorted(values, turn) {
  const known = values.filter((value) => value != null);
  assert.deepEqual(values, [...known.toSorted((one, other) => turn * (one - other)), ...values.filter((value) => value == null)]);
}

/** Turns a column by click and by key, and says what the heads and the rows are each time. */
async function turns(page, name, look) {
  const head = page.getByRole('columnheader', { name });
  const seen = [];
  for (const act of [(button) => button.click(), (button) => button.press('Enter'), (button) => button.press(' ')]) {
    await act(head.getByRole('button'));
    seen.push([await head.getAttribute('aria-sort'), await look()]);
  }
  assert.equal(await page.locator('[aria-sort]').count(), 0);
  return seen;
}

test('a comparison has every test with the numbers of its JSON', async () => {
  const { page, faults, close } = await open(browser, compared.html);
  const { report } = compared;
  assert.equal((await page.locator('h1').textContent()).trim(), report.sentence);
  const byName = new Map(report.tests.map((one) => [nameOf(one), one]));
  const rows = await cells(page, '.compared table.wide');
  assert.deepEqual(rows.map(([name]) => name).toSorted(), [...byName.keys()].toSorted());
  for (const [name, a, b, , points, p, verdict] of rows) {
    const one = byName.get(name);
    assert.deepEqual([a, b], [`${one.passed_a}/${one.runs_a}`, `${one.passed_b}/${one.runs_b}`]);
    says(points, one.difference, 100);
    says(p, one.p_holm);
    assert.ok(verdict.includes((one.verdict ?? 'not_compared').replaceAll('_', ' ')), verdict);
  }
  const drawn = await page.locator('.dumbbell').evaluateAll((all) => all.map((one) => [one.closest('tr').children[0].textContent, Number(one.dataset.a), Number(one.dataset.b)]));
  assert.deepEqual(drawn.map(([name]) => name).toSorted(), report.tests.filter((one) => one.rate_a != null && one.rate_b != null).map(nameOf).toSorted());
  for (const [name, a, b] of drawn) assert.deepEqual([a, b], [byName.get(name).rate_a, byName.get(name).rate_b]);
  assert.deepEqual(await barriers(page), []);
  assert.deepEqual(faults, []);
  await close();
});

test('a row of a comparison opens at its address, A left and B right', async () => {
  const at = compared.report.tests.findIndex((one) => one.difference < 0 && one.targets.some((target) => target.a !== target.b));
  const one = compared.report.tests[at];
  const { page, faults, close } = await open(browser, compared.html, `#/cmp/${at}?by=points`);
  const [left, right] = await page.locator('.sides section').all();
  assert.ok((await left.boundingBox()).x + (await left.boundingBox()).width <= (await right.boundingBox()).x);
  assert.match(await left.textContent(), new RegExp(`^A .*${one.passed_a} of ${one.runs_a} runs passed`));
  assert.match(await right.textContent(), new RegExp(`^B .*${one.passed_b} of ${one.runs_b} runs passed`));
  const moved = one.targets.filter((target) => target.a !== target.b);
  const numbers = await cells(page, '.change table');
  assert.ok(moved.length > 0);
  assert.deepEqual(numbers.map(([name]) => name), moved.map((target) => target.target));
  numbers.forEach(([, a, b], row) => (says(a, moved[row].a), says(b, moved[row].b)));
  assert.deepEqual(await barriers(page), []);
  await page.getByRole('link', { name: nameOf(one) }).press('Enter');
  await page.waitForSelector('.sides', { state: 'detached' });
  assert.ok(page.url().endsWith('#/?by=points'), 'what was sorted by is kept');
  await page.keyboard.press('m');
  assert.deepEqual(faults, []);
  await close();
});

test('the tests of a comparison are sorted by click and by key, and the address says how', async () => {
  const { page, faults, close } = await open(browser, compared.html);
  const byName = new Map(compared.report.tests.map((one) => [nameOf(one), one]));
  const differences = async () => (await cells(page, '.compared table.wide')).map(([name]) => byName.get(name).difference);
  const first = await differences();
  const [up, down, none] = await turns(page, 'Points', differences);
  assert.deepEqual([up[0], down[0], none[0]], ['ascending', 'descending', null]);
  isSorted(up[1], 1);
  isSorted(down[1], -1);
  assert.deepEqual(none[1], first);
  await close();
  const again = await open(browser, compared.html, '#/?by=-points');
  assert.equal(await again.page.getByRole('columnheader', { name: 'Points' }).getAttribute('aria-sort'), 'descending');
  assert.deepEqual([...faults, ...again.faults], []);
  await again.close();
});

test('the leaderboard has the numbers of its JSON, and is sorted by click and by key', async () => {
  const { k, models } = good.report.leaderboard;
  const { page, faults, close } = await open(browser, good.html, '#/?view=leaderboard');
  const look = () => cells(page, '.leaderboard');
  const rows = await look();
  assert.deepEqual(rows.map(([name]) => name), models.map((one) => one.model));
  assert.ok(k > 1, 'without several runs of each test, pass@k and pass^k would be no columns');
  rows.forEach(([, tests, runs, pass1, , passAtK, passHatK, calls, turned, tokens, cost, , against], at) => {
    const one = models[at];
    for (const [text, value, times] of [[tests, one.tests], [runs, one.runs], [pass1, one.pass_1, 100], [passAtK, one.pass_k, 100], [passHatK, one.pass_hat_k, 100], [calls, one.calls], [turned, one.turns], [tokens, one.tokens], [cost, one.cost_usd], [against, one.difference?.value, 100]]) says(text, value, times);
  });
  const valueOf = new Map(models.map((one) => [one.model, one.tokens]));
  const tokens = async () => (await look()).map(([name]) => valueOf.get(name));
  const [up, down, none] = await turns(page, 'Tokens', tokens);
  assert.deepEqual([up[0], down[0], none[0]], ['ascending', 'descending', null]);
  isSorted(up[1], 1);
  isSorted(down[1], -1);
  assert.deepEqual(none[1], models.map((one) => one.tokens));
  assert.match(page.url(), /view=leaderboard$/);
  assert.deepEqual(await barriers(page), []);
  await close();
  const again = await open(browser, good.html, '#/?view=leaderboard&by=-pass@1', { colorScheme: 'dark' });
  assert.equal(await again.page.getByRole('columnheader', { name: 'pass@1' }).getAttribute('aria-sort'), 'descending');
  assert.deepEqual(await barriers(again.page), []);
  assert.deepEqual([...faults, ...again.faults], []);
  await again.close();
});

test('a page of several sides leads from the table to the tests of each, and back', async () => {
  const html = join(folder, 'sides.html');
  const ended = mcptest(['compare', good.json, `again=${good.json}`, `<b>=${good.json}`, '--reporter', `html=${html}`]);
  assert.equal(ended.status, 0, ended.stderr);
  const { page, faults, close } = await open(browser, html);
  assert.deepEqual(await page.locator('tbody th').allTextContents(), [good.json, 'again', '<b>']);
  assert.deepEqual(await barriers(page), []);
  await page.locator('li a').nth(1).click();
  await page.waitForSelector('.dumbbell');
  assert.match(await page.locator('h1').textContent(), / in <b> \(/);
  const name = page.locator('tbody th a').first();
  await name.click();
  await page.waitForSelector('.change');
  assert.match(page.url(), /#\/side\/1\/cmp\/\d+$/);
  await name.click();
  assert.match(page.url(), /#\/side\/1$/);
  await page.locator('nav a').first().click();
  await page.waitForSelector('li a');
  assert.deepEqual(faults, []);
  await close();
});
