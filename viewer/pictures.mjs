// The pictures of the docs: `node pictures.mjs [KEY...]`. Of each gate one for its page, from the examples with the runs that
// fail in the place of those that pass; with `page` the overview, a test and a run. Build the program first (cargo build --workspace).
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { small } from './png.mjs';
import { entries, examplesWith, failing, launch, open, root, written } from './tests/browser.mjs';

/** The most telling test where several fail. */
const CHOSEN = {
  distractors: 'keeps its head in a growing crowd',
  narrative: 'a refused refund is told as refused',
  scenario: 'hands a large refund over',
  trajectory: 'answers from the page it found',
};
const MOST_BYTES = 60_000;
/** A picture that is too big is tried again, coarser. */
const SCALES = [1.5, 1.25, 1];

const wanted = process.argv.slice(2);

const browser = await launch();
const blank = await browser.newPage();

/** The gate's part of the page of a test. */
async function pictured(html, id, key) {
  for (const deviceScaleFactor of SCALES) {
    const { page, close } = await open(browser, html, `#/t/${id}`, { viewport: { width: 1080, height: 2400 }, colorScheme: 'light', deviceScaleFactor });
    const picture = await small(blank, await page.locator(`[data-gate="${key}"]`).screenshot());
    await close();
    if (picture.length <= MOST_BYTES) return picture;
  }
  throw new Error(`the picture of ${key} has more than ${MOST_BYTES} bytes`);
}

mkdirSync(join(root, 'docs/pictures'), { recursive: true });
for (const suite of entries(failing)) {
  for (const from of entries(suite)) {
    const key = basename(from);
    if (key === 'expect' || (wanted.length && !wanted.includes(key))) continue;
    const { html, report } = written(key, ['run', `${basename(suite)}.yml`, '--embed', 'all'], examplesWith(from));
    const failed = report.tests.filter((test) => test.gates.some((gate) => gate.key === key && gate.status === 'failed'));
    const test = failed.find((one) => !CHOSEN[key] || one.name === CHOSEN[key]);
    if (!test) continue;
    const picture = await pictured(html, test.id, key);
    writeFileSync(join(root, `docs/pictures/gate-${key}.png`), picture);
    console.log(`gate-${key}.png: ${picture.length} bytes`);
  }
}

/** The overview, a test and a run, of the examples of which some fail. */
async function pictureOfPages() {
  const home = examplesWith(...entries(failing).map((suite) => entries(suite).at(-1)));
  const all = written('page', ['run', ...entries(failing).map((suite) => `${basename(suite)}.yml`), '--embed', 'all'], home);
  const red = written('red', ['run', 'demo/red', '--embed', 'all']);
  const [test] = red.report.tests;
  const places = [['overview', all.html, ''], ['test', red.html, `#/t/${test.id}`], ['run', red.html, `#/t/${test.id}/r/1`]];
  for (const [name, html, hash] of places) {
    const { page, close } = await open(browser, html, hash, { viewport: { width: 1150, height: 700 }, colorScheme: 'light' });
    // A run asks for its trace first.
    await page.waitForTimeout(300);
    const picture = await small(blank, await page.screenshot());
    await close();
    writeFileSync(join(root, `docs/pictures/page-${name}.png`), picture);
    console.log(`page-${name}.png: ${picture.length} bytes`);
  }
}

if (!wanted.length || wanted.includes('page')) await pictureOfPages();
await browser.close();
