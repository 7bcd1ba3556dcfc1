// Measures the size and the speed of a page with many runs: `node bench.mjs [TESTS] [RUNS]`, 1,000 tests of 10 runs unless given
// otherwise; `--write` puts the table into docs/benchmarks.md. Build the program first (cargo build --workspace), and run it
// when nothing else does.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folder, launch, mcptest, root } from './tests/browser.mjs';
import { write } from './tests/synthetic.mjs';
import { pathToFileURL } from 'node:url';

const given = process.argv.slice(2);
const [tests = 1000, runs = 10] = given.filter((word) => word !== '--write').map(Number);
const table = ['| what | p50 | p95 | bound |', '|---|---|---|---|'];
console.log(table.join('\n'));
function row(...cells) {
  table.push(`| ${cells.join(' | ')} |`);
  console.log(table.at(-1));
}

const home = join(folder, 'bench');
write(home, tests, runs);
const pages = {};
for (const embed of ['none', 'failed', 'all']) {
  pages[embed] = join(folder, `${embed}.html`);
  const ended = mcptest(['run', '--embed', embed, '--reporter', `html=${pages[embed]}`], home);
  if (![0, 1].includes(ended.status)) throw new Error(ended.stderr);
  row(`the file, \`--embed ${embed}\``, `${(statSync(pages[embed]).size / 1e6).toFixed(2)} MB`, '', '');
}

const browser = await launch();
const ordered = (values) => values.toSorted((one, other) => one - other);
const at = (values, share) => ordered(values)[Math.min(values.length - 1, Math.floor(values.length * share))].toFixed(1);
const ms = (values) => [0.5, 0.95].map((share) => `${at(values, share)} ms`);

async function loaded() {
  const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
  await page.goto(pathToFileURL(pages.all).href);
  await page.waitForSelector('.list .row');
  return page;
}

const first = [];
for (let load = 0; load < 9; load++) {
  const page = await loaded();
  first.push(await page.evaluate(() => performance.getEntriesByName('mcptest-rendered')[0].startTime));
  await page.context().close();
}
row('first render', ...ms(first), 'p95 600 ms');

const page = await loaded();
await page.evaluate(() => (location.hash = '#/?view=runs'));
await page.waitForSelector('.row.runs');
const session = await page.context().newCDPSession(page);
// In time of the thread, which other programs do not lengthen.
await session.send('Performance.enable', { timeDomain: 'threadTicks' });
const work = async () => (await session.send('Performance.getMetrics')).metrics.find((one) => one.name === 'TaskDuration').value * 1000;
const before = await work();
const frames = await page.evaluate(async () => {
  const list = document.querySelector('.list');
  const out = [];
  const frame = () => new Promise(requestAnimationFrame);
  let last = await frame();
  for (let step = 0; step < 240; step++) {
    list.scrollTop += list.scrollHeight / 240;
    const now = await frame();
    out.push(now - last);
    last = now;
  }
  return out;
});
row('a frame of a scroll over all runs', ...ms(frames), 'p95 25 ms');
row('its work in the main thread, on average', `${(((await work()) - before) / frames.length).toFixed(1)} ms`, '', '');

await page.evaluate(() => (location.hash = '#/'));
await page.waitForSelector('#filter');
const typed = [];
for (const text of ['s', 'se', 'sea', 'sear', 'search', 'search status:failed', '-tag:smoke', 'tool:assign', '']) {
  typed.push(await page.evaluate(async (value) => {
    const box = document.querySelector('#filter');
    const start = performance.now();
    box.value = value;
    box.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    return performance.now() - start;
  }, text));
}
row('a letter of the filter until it is drawn', ...ms(typed), '');

const opened = [];
for (const hash of await page.evaluate(() => [...document.querySelectorAll('.list .c1 a')].map((link) => link.hash))) {
  opened.push(await page.evaluate(async (to) => {
    const start = performance.now();
    location.hash = `${to}/r/1`;
    while (!document.querySelector('.timeline')) await new Promise(requestAnimationFrame);
    const took = performance.now() - start;
    location.hash = '#/';
    while (document.querySelector('.timeline')) await new Promise(requestAnimationFrame);
    return took;
  }, hash));
}
row('a run is opened', ...ms(opened), '');
await session.send('HeapProfiler.collectGarbage');
const { usedSize } = await session.send('Runtime.getHeapUsage');
row('heap after all this', `${(usedSize / 1e6).toFixed(1)} MB`, '', '20 MB');
await browser.close();

if (given.includes('--write')) {
  const path = join(root, 'docs/benchmarks.md');
  const [begin, end] = readFileSync(path, 'utf8').split(/(?<=<!-- page -->\n)[^]*(?=<!-- end of page -->)/);
  writeFileSync(path, `${begin}\n${table.join('\n')}\n\n${end}`);
}
