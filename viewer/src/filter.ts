// The filter's grammar: words, "phrase", key:value, a,b = or, - = not, > and <.
import type { Row } from './data';

interface Term {
  not: boolean;
  key?: string;
  op: string;
  values: string[];
}

const TERM = /(-?)(?:([a-z]+)([:<>]))?(?:[<>](?=[\d.]))?("[^"]*"?|[^\s"]+(?:"[^"]*"?)?)/gi;
const unquoted = (text: string) => text.replaceAll('"', '').toLowerCase();

const TEXTS: Record<string, (row: Row) => Iterable<string>> = {
  status: (row) => [row.test.status],
  model: (row) => [row.test.model ?? ''],
  tag: (row) => row.test.tags ?? [],
  gate: (row) => row.test.gates.map((gate) => gate.key),
  fails: (row) => row.failing,
  tool: (row) => row.tools,
  file: (row) => [row.test.suite.file],
  variant: (row) => [row.test.variant ?? ''],
};
const NUMBERS: Record<string, (row: Row) => number | undefined> = {
  cost: (row) => row.cost,
  tokens: (row) => row.tokens,
  runs: (row) => row.test.runs.length,
  time: (row) => row.time && row.time / 1000,
};
/** Keys whose values are whole words; the others are found by a part. */
const WHOLE = new Set(['status', 'tag', 'gate', 'fails']);

export const KEYS = [...Object.keys(TEXTS), ...Object.keys(NUMBERS)];

function parse(query: string): Term[] {
  const terms: Term[] = [];
  for (const [all, not, key, op, value] of query.matchAll(TERM)) {
    const known = key && (key in TEXTS || key in NUMBERS);
    // `cost:>0.1` says the same as `cost>0.1`.
    const compares = all.slice(not.length + (key?.length ?? 0)).match(/^:?([<>])/)?.[1];
    if (known) terms.push({ not: !!not, key, op: compares ?? op, values: value.split(',').map(unquoted) });
    else terms.push({ not: !!not, op: ':', values: [unquoted(all.slice(not.length))] });
  }
  return terms.filter((term) => term.values.some(Boolean));
}

function holds(row: Row, { key, op, values }: Term): boolean {
  if (!key) return row.text.includes(values[0]);
  const number = NUMBERS[key]?.(row);
  if (key in NUMBERS) {
    if (number == null) return false;
    return values.some((value) => (op === '>' ? number > +value : op === '<' ? number < +value : number === +value));
  }
  const texts = [...TEXTS[key](row)].map((text) => text.toLowerCase());
  return values.some((value) => texts.some((text) => (WHOLE.has(key) ? text === value : text.includes(value))));
}

export function filtered(rows: Row[], query: string): Row[] {
  const terms = parse(query);
  return terms.length ? rows.filter((row) => terms.every((term) => holds(row, term) !== term.not)) : rows;
}

/** The query with `key:value` added, or removed if the query has it. */
export function toggled(query: string, key: string, value: string): string {
  const term = `${key}:${/[\s,"]/.test(value) ? `"${value.replaceAll('"', '')}"` : value}`;
  const without = query.split(term).join(' ').replace(/\s+/g, ' ').trim();
  return without === query.replace(/\s+/g, ' ').trim() ? `${without} ${term}`.trim() : without;
}

export const has = (query: string, key: string, value: string) => toggled(query, key, value).length < query.trim().length;

const BY_STATUS = { error: 0, failed: 1, skipped: 2, passed: 3 };
const down = (number: (row: Row) => number | undefined) => (one: Row, other: Row) => (number(other) ?? -1) - (number(one) ?? -1);

export const SORTS: Record<string, (one: Row, other: Row) => number> = {
  status: (one, other) => BY_STATUS[one.test.status] - BY_STATUS[other.test.status],
  name: (one, other) => (one.name < other.name ? -1 : 1),
  suite: (one, other) => one.at - other.at,
  cost: down((row) => row.cost),
  tokens: down((row) => row.tokens),
  time: down((row) => row.time),
};
