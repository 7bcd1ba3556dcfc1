// What models and servers write stays text, however bad or long it is.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { barriers, folder, launch, open, written } from './browser.mjs';

const BAD = '</script><script>alert(1)</script><img src=x onerror=alert(2)> \u001b[31mred\u001b[0m \u202egnp.exe\u202c ::error::boo <!-- {{x}} javascript:alert(3)';
const LONG = 'a'.repeat(1 << 20);

let browser, hostile;
before(async () => {
  browser = await launch();
  const home = join(folder, 'hostile');
  mkdirSync(home, { recursive: true });
  const call = (name, args) => ({ name, args, turn: 0, caller: BAD });
  const trace = {
    tool_calls: [call(BAD, { text: BAD }), call('long', { text: LONG }), call('half', { [BAD]: 'a\ud800b' })],
    tool_results: [{ content: [{ type: 'text', text: BAD }], is_error: true }, { content: LONG }, { error: { message: BAD } }],
    final_response: BAD,
    stop_reason: BAD,
    conversation: { turns: [{ role: 'user', content: BAD }, { role: 'assistant', content: BAD }] },
  };
  writeFileSync(join(home, 'bad.json'), JSON.stringify(trace).replace('a\\ud800b', 'a\\ufffdb'));
  const agent = { name: BAD, cassette: 'bad.json', tags: [BAD.slice(0, 40)], expect: [{ target: 'final_response', matcher: { exact: 'good' }, message: BAD }], golden_path: { calls: ['a'] }, trajectory: { mode: 'strict', calls: [{ name: BAD, args: { exact: { text: LONG.slice(0, 5000) } } }] } };
  writeFileSync(join(home, 'mcptest.yml'), JSON.stringify({ agents: [agent] }));
  hostile = written('hostile', ['run', '--embed', 'all'], home);
  assert.equal(hostile.report.summary.runs, 1, 'the run is judged');
});
after(() => browser.close());

test('nothing of it runs, loads or steers, on any page', async () => {
  const [found] = hostile.report.tests;
  const { page, go, faults, close } = await open(browser, hostile.html);
  for (const hash of ['#/', '#/?view=models', '#/?view=runs', `#/t/${found.id}`, `#/t/${found.id}/r/1`, `#/t/${found.id}/r/1/c/2`, `#/t/${found.id}/r/1/c/3`]) {
    await go(hash);
    assert.equal(await page.locator('#app script, #app img, #app iframe').count(), 0, hash);
    const text = await page.locator('#app').textContent();
    assert.ok(!/[\u202e\u001b]/.test(text), hash);
    assert.deepEqual(await barriers(page), [], hash);
  }
  assert.deepEqual(faults, []);
  await close();
});

test('hidden characters are shown and long text is folded', async () => {
  const [found] = hostile.report.tests;
  const { page, close } = await open(browser, hostile.html, `#/t/${found.id}/r/1/c/2`);
  await page.waitForSelector('.call-card');
  const text = await page.locator('#app').textContent();
  assert.ok(text.includes('⟦202E⟧') && text.includes('⟦1B⟧'));
  assert.ok(text.length < 60_000, `${text.length} characters on the page`);
  await page.locator('.right-pane .more').first().click();
  assert.ok((await page.locator('.right-pane').textContent()).length > 100_000);
  await close();
});
