// The page as `mcptest view` serves it: traces on demand, and a recording as it happens.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launch, open, program, root } from './browser.mjs';
import { gallery } from './gallery.mjs';

let browser;
const folders = [];
const running = [];
before(async () => {
  browser = await launch();
});
after(async () => {
  running.forEach((one) => one.kill('SIGINT'));
  await browser.close();
  folders.forEach((folder) => rmSync(folder, { recursive: true, force: true }));
});

function start(cwd, ...args) {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  running.push(child);
  return child;
}

/** Serves what these arguments name, and gives the address that it says. */
async function view(cwd, ...args) {
  const child = start(cwd, 'view', ...args);
  let said = '';
  for await (const chunk of child.stderr) {
    said += chunk;
    const found = /http:\S+/.exec(said);
    if (found) return found[0];
  }
  throw new Error(`mcptest view ended: ${said}`);
}

test('suites are judged and served, and a run asks for its trace when it is opened', async () => {
  const address = await view(root, 'demo/red');
  const { page, faults, close } = await open(browser, address);
  assert.match(await page.locator('h1').textContent(), /4 of 4 tests did not pass/);
  await page.getByRole('link', { name: 'triages without detours' }).click();
  await page.waitForSelector('.gate');
  const traces = page.waitForResponse(/traces\/1$/);
  await page.goto(`${page.url()}/r/2`);
  const { 2: trace } = await (await traces).json();
  assert.equal(trace.tool_calls.length, 6);
  await page.getByText(trace.conversation?.turns?.[0]?.content ?? trace.final_response).first().waitFor();
  assert.deepEqual(faults, []);
  await close();
});

const SUITE = `
agents:
  - name: waits to be told
    agent: { command: [node, agent.mjs] }
    prompt: Say done.
    servers: []
    runs: 3
    expect:
      - { target: final_response, matcher: { contains: done } }
`;
// Each run ends when the file is there, and takes it away.
const AGENT = `
import { existsSync, rmSync } from 'node:fs';
while (!existsSync('go')) await new Promise((done) => setTimeout(done, 20));
rmSync('go');
console.log('done');
`;

test('a recording is followed run by run, and judged when its last run is there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mcptest-view-'));
  folders.push(folder);
  writeFileSync(join(folder, 'mcptest.yml'), SUITE);
  writeFileSync(join(folder, 'agent.mjs'), AGENT);
  const { page, faults, close } = await open(browser, await view(folder));
  const first = page.locator('.list .row:not(.head)').first();
  await first.getByLabel('error', { exact: true }).waitFor();
  start(folder, 'run', '--record', '--jobs', '1');
  await page.getByText('Recording: 0 of 3 runs').waitFor();
  await first.getByLabel('being recorded').waitFor();
  for (const done of [1, 2]) {
    writeFileSync(join(folder, 'go'), '');
    await page.getByText(`Recording: ${done} of 3 runs`).waitFor();
    await first.getByLabel(`${done} of 3 runs recorded`).waitFor();
  }
  writeFileSync(join(folder, 'go'), '');
  await first.getByLabel('passed', { exact: true }).waitFor();
  assert.match(await page.locator('h1').textContent(), /The test passed/);
  assert.equal(await page.getByText('Recording:').count(), 0);
  assert.deepEqual(faults, []);
  await close();
});

test('a page that is followed keeps its place when another report comes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mcptest-view-'));
  folders.push(folder);
  const [one] = gallery.tests;
  const write = (isFailed) => {
    const test = (at) => ({ ...one, id: String(at).padStart(10, '0'), name: `test ${at}`, gates: [], runs: [], status: isFailed(at) ? 'failed' : 'passed', reason: isFailed(at) ? { kind: 'run_error', message: `number ${at} broke` } : undefined });
    writeFileSync(join(folder, 'report.json'), JSON.stringify({ ...gallery, tests: Array.from({ length: 200 }, (_, at) => test(at)) }));
  };
  write((at) => at % 2 === 0);
  const { page, faults, close } = await open(browser, await view(folder, 'report.json'), '#/?q=test');
  for (let step = 0; step < 30; step++) await page.keyboard.press('j');
  await page.locator('.list').evaluate((list) => (list.scrollTop = 1200));
  const place = () => page.evaluate(() => {
    const list = document.querySelector('.list');
    const top = list.getBoundingClientRect().top + 40;
    const row = [...list.querySelectorAll('.row:not(.head)')].find((one) => one.getBoundingClientRect().bottom > top);
    return [row.querySelector('.name').textContent, Math.round(row.getBoundingClientRect().top), document.querySelector('#filter').value];
  });
  await page.waitForTimeout(100);
  const [before, chosen] = [await place(), await page.locator('.row[data-selected=true] .name').textContent()];
  // Half of those above the place grow by a cause, the others shrink.
  write((at) => at % 2 === 1);
  await page.getByText('number 1 broke').waitFor({ state: 'attached', timeout: 5000 }).catch(() => {});
  await page.waitForFunction(() => !document.body.textContent.includes('number 60 broke'));
  await page.waitForTimeout(100);
  assert.deepEqual(await place(), before);
  assert.equal(await page.locator('.row[data-selected=true] .name').textContent(), chosen);
  assert.deepEqual(faults, []);
  await close();
});

test('what a server told the agent in confidence is not served', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mcptest-view-'));
  folders.push(folder);
  const secret = `ghp_${'aB3'.repeat(12)}`;
  const trace = { tool_calls: [{ name: 'login', args: { token: secret } }], tool_results: [{ content: [{ type: 'text', text: secret }] }], final_response: secret };
  writeFileSync(join(folder, 'run.json'), JSON.stringify(trace));
  const address = await view(folder, 'run.json');
  const texts = await Promise.all(['', 'report?0', 'traces/0'].map(async (path) => (await fetch(address + path)).text()));
  assert.match(texts[1], /login/);
  texts.forEach((text) => assert.ok(!text.includes(secret)));
});
