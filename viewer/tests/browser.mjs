// A real browser on reports that the built program wrote, opened from disk.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

export const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const target = process.env.CARGO_TARGET_DIR ?? join(root, 'target');
export const program = join(target, 'debug/mcptest');
const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
export const folder = mkdtempSync(join(tmpdir(), 'mcptest-viewer-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const places = (process.env.PATH ?? '').split(':').flatMap((one) => ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(one, name)));
const executablePath = process.env.CHROMIUM ?? places.find((one) => existsSync(one));
if (!executablePath) throw new Error('no `chromium` in PATH: run tests/peers/install, or name one in CHROMIUM');

/** The browser; as root it has no sandbox of its own. */
export const launch = () => chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });

/** Runs the program, and says what it wrote. */
export function mcptest(args, cwd = root) {
  const ended = spawnSync(program, args, { cwd, encoding: 'utf8', maxBuffer: 1 << 30 });
  if (ended.error) throw new Error(`${program}: build it with \`cargo build --workspace\` (${ended.error.message})`);
  return ended;
}

/** Writes the page and the JSON of a run of the program. */
export function written(name, args, cwd = root) {
  const [html, json] = ['html', 'json'].map((kind) => join(folder, `${name}.${kind}`));
  const ended = mcptest([...args, '--reporter', `html=${html}`, '--reporter', `json=${json}`], cwd);
  if (!existsSync(html)) throw new Error(`no report was written: ${ended.stderr}`);
  const report = JSON.parse(readFileSync(json, 'utf8'));
  report.tests.forEach((test, at) => (test.id ??= String(at + 1)));
  return { html, json, report };
}

export const failing = join(root, 'examples/failing');
export const entries = (path) => readdirSync(path).toSorted().map((name) => join(path, name));

/** A copy of the examples in which the runs of these folders of `failing` stand in the place of those that pass. */
export function examplesWith(...folders) {
  const home = mkdtempSync(join(folder, 'examples-'));
  cpSync(join(root, 'examples'), home, { recursive: true, filter: (path) => path !== failing });
  for (const path of folders.flatMap(entries)) {
    const suite = basename(dirname(dirname(path)));
    const place = join(home, path.endsWith('.pins.json') ? 'baselines' : `cassettes/${suite}`, basename(path));
    // The runs stand alone there, under the header of those that pass.
    const header = path.endsWith('.jsonl') ? `${readFileSync(place, 'utf8').split('\n')[0]}\n` : '';
    writeFileSync(place, header + readFileSync(path, 'utf8'));
  }
  return home;
}

/** Writes the page of a report that is given as JSON. */
export function rendered(name, report) {
  writeFileSync(join(folder, `${name}.given.json`), JSON.stringify(report));
  return written(name, ['report', join(folder, `${name}.given.json`)]);
}

/** Opens a page; `faults` fills with whatever a page must not do. */
export async function open(browser, html, hash = '', options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  context.setDefaultTimeout(5000);
  const page = await context.newPage();
  const faults = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('dialog', (dialog) => (faults.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  const address = html.startsWith('http:') ? html : pathToFileURL(html).href;
  page.on('request', (request) => !request.url().startsWith(address) && faults.push(`request: ${request.url()}`));
  await page.goto(address + hash);
  await page.waitForSelector('h1');
  return { page, faults, go: (to) => goTo(page, to), close: () => context.close() };
}

async function goTo(page, hash) {
  await page.evaluate((to) => (location.hash = to), hash);
  await page.waitForTimeout(80);
}

/** What axe finds that keeps people out. */
export async function barriers(page) {
  // As a tool of the browser, which the policy of the page does not hold.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run());
  return violations.filter((one) => ['serious', 'critical'].includes(one.impact)).map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(' | ')}`);
}
