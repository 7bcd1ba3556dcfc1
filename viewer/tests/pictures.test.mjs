// Each picture shows the numbers of the report, no others.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { barriers, launch, open, rendered, written } from './browser.mjs';
import { gallery } from './gallery.mjs';

let browser, examples, red, bad;
before(async () => {
  browser = await launch();
  examples = written('examples', ['run', 'examples', '--coverage']);
  red = written('red', ['run', 'demo/red']);
  bad = rendered('gallery', gallery);
});
after(() => browser.close());

/** The first test with a gate of that kind, and its page with the gate opened. */
async function gateOf(kind, from = bad) {
  const found = from.report.tests.find((one) => one.gates.some((gate) => gate.key === kind && (gate.evidence || gate.tables)));
  assert.ok(found, `a test with evidence of ${kind}`);
  const opened = await open(browser, from.html, `#/t/${found.id}`);
  const card = opened.page.locator(`[data-gate="${kind}"]`);
  await card.evaluate((details) => (details.open = true));
  return { ...opened, card, test: found, gate: found.gates.find((gate) => gate.key === kind) };
}

const data = (locator, name) => locator.evaluateAll((nodes, key) => nodes.map((node) => node.dataset[key]), name);

test('a trajectory sets the expected calls beside the recorded ones', async () => {
  const { card, gate, close, faults } = await gateOf('trajectory', red);
  assert.deepEqual(await data(card.locator('[data-how]'), 'how'), gate.tables[0].rows.map((row) => row.how));
  const changed = gate.tables[0].rows.find((row) => row.how === 'changed');
  assert.ok((await card.textContent()).includes(JSON.stringify(changed.diff[0].actual)));
  assert.deepEqual(faults, []);
  await close();
});

test('a golden path has its detours and missed steps', async () => {
  const { card, gate, close } = await gateOf('golden_path');
  const [run] = gate.evidence.runs;
  assert.deepEqual(await data(card.locator('[data-detour]'), 'detour'), run.calls.filter((call) => call.detour).map((call) => String(call.number)));
  assert.equal(await card.locator('.missed').count(), run.missed.length);
  assert.equal(await card.locator('[data-step]').count(), gate.evidence.path.length);
  await close();
});

test('stability has a cell for each pair, and every dimension', async () => {
  const { card, gate, close } = await gateOf('stability');
  const { similarity, dimensions, mean } = gate.evidence;
  assert.deepEqual(await data(card.locator('[data-pair]'), 'value'), similarity.flat().map((value) => String(value ?? '')));
  assert.deepEqual(await data(card.locator('[data-dimension]'), 'value'), dimensions.map((one) => String(one.value)));
  assert.ok((await card.locator('.legend').first().textContent()).includes(Number.isInteger(mean) ? String(mean) : mean.toFixed(2)));
  await close();
});

test('reliability has both curves', async () => {
  const { card, gate, close } = await gateOf('reliability');
  assert.deepEqual(await data(card.locator('[data-k]'), 'power'), gate.evidence.curve.map((point) => String(point.power)));
  assert.deepEqual(await data(card.locator('[data-k]'), 'unbiased'), gate.evidence.curve.map((point) => String(point.unbiased ?? '')));
  await close();
});

test('a sweep has a point for each number of distractors, and below it the floor that its runs certify', async () => {
  const { card, test: found, close } = await gateOf('distractors', examples);
  const gates = examples.report.tests.filter((one) => one.name === found.name).flatMap((one) => one.gates);
  assert.deepEqual(await data(card.locator('[data-count]'), 'floor'), gates.filter((gate) => gate.key === 'distractors').map((gate) => String(gate.targets['distractors.certified_lower'])));
  const rows = examples.report.tests.filter((one) => one.name === found.name).flatMap((one) => one.gates).flatMap((gate) => gate.evidence?.points ?? []);
  assert.deepEqual(await data(card.locator('[data-count]'), 'count'), rows.map((point) => String(point.count)));
  await close();
});

test('recovery has a bar for each failure, with its times', async () => {
  const { card, gate, close } = await gateOf('recovery');
  const all = gate.evidence.runs.flatMap((run) => run.encounters);
  assert.deepEqual(await data(card.locator('[data-wait]'), 'wait'), all.map((one) => String(one.wait_ms)));
  assert.deepEqual(await data(card.locator('[data-outcome]'), 'outcome'), all.map((one) => one.outcome));
  await close();
});

test('a narrative marks each claim and leads to its call', async () => {
  const { page, card, gate, test: found, close } = await gateOf('narrative');
  const [run] = gate.evidence.runs;
  assert.deepEqual(await data(card.locator('[data-verdict]'), 'verdict'), run.claims.map((claim) => claim.verdict));
  assert.deepEqual(await card.locator('.claim').evaluateAll((all) => all.map((one) => one.firstChild.textContent)), run.claims.map((claim) => [...run.text].slice(claim.start, claim.end).join('')));
  assert.deepEqual(await data(card.locator('[data-unmentioned]'), 'unmentioned'), run.unmentioned.map((call) => String(call.number)));
  const backed = run.claims.find((claim) => claim.calls.length);
  await card.locator('a.claim').first().click();
  assert.match(page.url(), new RegExp(`#/t/${found.id}/r/${run.run}/c/${backed.calls[0]}$`));
  await close();
});

test('tool edges, faults, tokens, choices and worlds have what the report has', async () => {
  const shown = async (kind, selector, count) => {
    const { card, gate, close, faults } = await gateOf(kind);
    assert.equal(await card.locator(selector).count(), count(gate.evidence), kind);
    assert.deepEqual(faults, [], kind);
    await close();
  };
  await shown('tool_edges', '[data-edge]', (of) => of.edges.length);
  await shown('tool_edges', '[data-handoff]', (of) => of.handoffs.length);
  await shown('fault_matrix', '[data-cell]', (of) => of.cells.length);
  await shown('token_efficiency', '[data-run]', (of) => of.runs.length);
  for (const column of ['missed', 'right', 'extra']) await shown('tool_selection', `.${column} [data-tool]`, (of) => of.tools.filter((tool) => tool[column]).length);
  await shown('tool_quality', '[data-rule]', (of) => of.tools.length);
  await shown('scenario', '[data-left-at="2"]', () => 1);
  await shown('trajectory_axes', '[data-arc=order]', (of) => of.runs[0].order.filter((one) => one.before_call && one.after_call).length);
  await shown('ablate', '[data-drop]', (of) => of.rows.length);
  await shown('scenario', '.worlds pre', (of) => (of.runs[0].expected === undefined ? 2 : 3));
});

test('judges show their votes and criteria', async () => {
  const found = examples.report.tests.find((one) => one.gates.some((gate) => gate.grades?.length));
  const { page, close } = await open(browser, examples.html, `#/t/${found.id}`);
  const grades = found.gates.flatMap((gate) => gate.grades ?? []);
  assert.equal(await page.locator('[data-grade]').count(), grades.length);
  const reason = grades[0].votes[0].answers?.[0]?.reason;
  if (reason) assert.ok((await page.locator('.grades').textContent()).includes(reason));
  await close();
});

test('coverage is a field for each tool', async () => {
  const { page, close } = await open(browser, examples.html, '#/?view=coverage');
  const tools = examples.report.coverage.servers.flatMap((server) => server.tools);
  assert.equal(await page.locator('.treemap g g').count(), tools.length);
  assert.equal(await page.locator('.treemap .not-called').count(), tools.filter((tool) => !tool.calls).length);
  await close();
});

test('nobody is kept out of any picture, in light and in dark', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const { page, go, faults, close } = await open(browser, bad.html, '', { colorScheme });
    for (const one of bad.report.tests) {
      await go(`#/t/${one.id}`);
      assert.deepEqual(await barriers(page), [], `${one.name} ${colorScheme}`);
    }
    await go('#/doc/stability/weakest_score');
    assert.deepEqual(await barriers(page), [], 'definitions');
    assert.deepEqual(faults, []);
    await close();
  }
});
test('every asserted number has its threshold and leads to its definition', async () => {
  const { page, card, gate, close } = await gateOf('reliability');
  const asserted = gate.expectations.find((one) => 'gte' in one.matcher);
  const row = card.locator(`[data-target="${asserted.target}"]`);
  assert.ok((await row.textContent()).includes('≥'));
  await row.locator('th a').click();
  await page.waitForSelector('.definitions');
  const about = bad.report.gates.reliability.targets;
  const doc = about[asserted.target]?.doc ?? about[asserted.target.split('.')[1]].doc;
  assert.ok((await page.locator('[aria-current=true]').textContent()).includes(doc));
  await close();
});

test('every number has a paragraph of the documentation, which has the focus', async () => {
  const { page, go, faults, close } = await open(browser, examples.html);
  for (const [gate, { targets }] of Object.entries(examples.report.gates)) {
    for (const target of Object.keys(targets)) {
      await go(`#/doc/${gate}/${target.replace(`${gate}.`, '')}`);
      assert.deepEqual(await page.locator('#marked').evaluateAll((all) => all.map((one) => one === document.activeElement)), [true], target);
      assert.ok((await page.locator('#marked code').allTextContents()).includes(target), target);
    }
    assert.deepEqual(await page.locator('.markdown').evaluate((text) => text.innerText.match(/^[|#-] |\*\*|```/m)), null, gate);
    assert.deepEqual(await barriers(page), [], gate);
  }
  assert.deepEqual(faults, []);
  await close();
});

