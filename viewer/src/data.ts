// Reads what the page holds: the report, and per test the traces of its runs.
import { signal } from '@preact/signals';
import type { Comparison } from './compare';
import { isServed, servedTraces } from './live';
import type { Report, Run, Status, Test, Trace } from './model';

async function unpack<T>(text: string): Promise<T> {
  const base64 = text.trim();
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(stream).text()) as T;
}

async function block<T>(id: string): Promise<T | undefined> {
  const element = document.getElementById(id);
  if (!element) return undefined;
  try {
    return await unpack<T>(element.textContent ?? '');
  } catch {
    throw new Error('The data of this page is damaged. Write the report again.');
  }
}

export type RunState = Status | 'failed-by-gate';

/** One test with what the lists show and search. */
export interface Row {
  at: number;
  id: string;
  test: Test;
  name: string;
  cause: string;
  states: RunState[];
  failing: string[];
  tools: Set<string>;
  tokens?: number;
  cost?: number;
  time?: number;
  text: string;
}

export let report: Report;
export let rows: Row[] = [];
export const byId = new Map<string, Row>();
/** Counts the reports that were shown. Code that draws from `report` reads it, because a part is drawn again only when a signal that it reads changes. */
export const generation = signal(0);

const sum = (values: (number | null | undefined)[]) => {
  const known = values.filter((value) => value != null);
  return known.length ? known.reduce((one, other) => one + other, 0) : undefined;
};

export function nameOf(test: Test): string {
  const model = test.matrix && test.model ? ` [${test.model}]` : '';
  return test.name + model + (test.variant ? ` [${test.variant}]` : '');
}

/** The outcome of a run, and whether it failed by itself or only by gates. */
export function stateOf(run: Run): RunState {
  const failsByItself = run.reason || run.expectations.some((one) => !one.passed);
  return run.status === 'failed' && run.failed_by?.length && !failsByItself ? 'failed-by-gate' : run.status;
}

function rowOf(test: Test, at: number): Row {
  const cause = test.causes?.[0]?.message ?? '';
  const name = nameOf(test);
  const row: Row = {
    at,
    id: test.id ?? String(at + 1),
    test,
    name,
    cause,
    states: test.runs.map(stateOf),
    failing: test.gates.filter((gate) => gate.status === 'failed').map((gate) => gate.key),
    tools: new Set(test.runs.flatMap((run) => run.tool_names ?? [])),
    tokens: sum(test.runs.map((run) => run.tokens?.total)),
    cost: sum(test.runs.map((run) => run.cost_usd)),
    time: sum(test.runs.map((run) => run.duration_ms)),
    text: [name, test.model, ...(test.causes ?? []).flatMap((one) => [one.message, ...(one.details ?? [])])].join(' ').toLowerCase(),
  };
  return row;
}

/** The comparison, where the page is one of two reports. */
export let comparison: Comparison | undefined;

/** Reads the report or the comparison; nothing else here works before. */
export async function load(): Promise<void> {
  comparison = await block<Comparison>('compare');
  if (comparison) return;
  const found = await block<Report>('report');
  if (!found) throw new Error('This page has no report in it.');
  show(found);
}

/** Replaces the report. */
export function show(found: Report): void {
  report = found;
  rows = report.tests.map(rowOf);
  byId.clear();
  for (const row of rows) byId.set(row.id, row);
  kept = undefined;
  generation.value += 1;
}

const whole = new Promise<void>((done) => {
  if (document.readyState !== 'loading') done();
  else document.addEventListener('DOMContentLoaded', () => done(), { once: true });
});

/** The pages of the documentation on the gates, by their keys, once they were asked for. */
export const docs = signal<Record<string, string> | undefined>(undefined);

export async function readDocs(): Promise<void> {
  await whole;
  docs.value ??= (await block<Record<string, string>>('docs')) ?? {};
}

let kept: { at: number; traces: Promise<Record<string, Trace> | undefined> } | undefined;

/** The traces of a test's runs by their numbers, where the report holds them. */
export function tracesOf(row: Row): Promise<Record<string, Trace> | undefined> {
  if (kept?.at !== row.at) {
    const held = () => whole.then(() => block<Record<string, Trace>>(`traces-${row.at}`));
    kept = { at: row.at, traces: isServed ? servedTraces(row.at) : held() };
  }
  return kept.traces;
}

export const totals = () => ({
  tokens: sum(rows.map((row) => row.tokens)),
  cost: sum(rows.map((row) => row.cost)),
  time: sum(rows.map((row) => row.time)),
});
