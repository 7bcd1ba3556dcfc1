// The first page: the verdict, the totals, and the tests that the filter leaves.
import { computed, signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { byId, generation, type Row, type RunState, report, rows, totals } from './data';
import { filtered, has, SORTS, toggled } from './filter';
import { NONE, plural, short, time, usd, whole } from './format';
import { Leaderboard } from './leaderboard';
import { isLost, isServed, live } from './live';
import { Matrix } from './matrix';
import type { Run } from './model';
import { linkTo, List, Mark, Strip, type StripState, Tags } from './parts';
import { go, list, route, setParams } from './route';
import { Line } from './text';
import { Coverage } from './coverage';

export const query = computed(() => route.value.params.get('q') ?? '');
export const view = computed(() => route.value.params.get('view') ?? 'tests');
const sort = computed(() => route.value.params.get('sort') ?? 'status');
/** The tests in the list's order. */
export const shown = computed(() => {
  generation.value;
  return filtered(inOrder(sort.value), query.value);
});
/** The id of the row that the keys are at. */
export const selected = signal('');
export const selectedAt = () => shown.value.findIndex((row) => row.id === selected.value);

let kept = { by: '', ids: [] as string[] };

/** The tests in this order. In a report that is followed no test moves until the reader asks for another order. */
function inOrder(by: string): Row[] {
  const ordered = rows.toSorted(SORTS[by] ?? SORTS.status);
  if (!isServed) return ordered;
  if (kept.by !== by) kept = { by, ids: [] };
  const known = new Set(kept.ids);
  kept.ids.push(...ordered.map((row) => row.id).filter((id) => !known.has(id)));
  return kept.ids.flatMap((id) => byId.get(id) ?? []);
}
export const printing = signal(false);

export const VIEWS = () => ['tests', 'models', 'runs', ...(report.leaderboard ? ['leaderboard'] : []), ...(report.coverage ? ['coverage'] : [])];
const setView = (name: string) => setParams({ view: name === 'tests' ? '' : name });
export const nextView = () => report && setView(VIEWS()[(VIEWS().indexOf(view.value) + 1) % VIEWS().length]);

export function verdict(): string {
  const { tests, failed, errors, passed, skipped } = report.summary;
  if (!tests) return 'No tests to judge';
  if (failed + errors) return `${whole(failed + errors)} of ${plural(tests, 'test')} did not pass`;
  if (skipped) return `${whole(passed)} of ${plural(tests, 'test')} passed, ${whole(skipped)} skipped`;
  return tests === 1 ? 'The test passed' : `All ${whole(tests)} tests passed`;
}

const STATUSES = [['error', 'errors'], ['failed', 'failed'], ['skipped', 'skipped'], ['passed', 'passed']] as const;

function Verdict() {
  generation.value;
  const { summary } = report;
  const sums = totals();
  const status = summary.errors ? 'error' : summary.failed ? 'failed' : 'passed';
  const numbers: [string, string][] = [
    ['runs', whole(summary.runs || undefined)],
    ['gates', whole(summary.gates || undefined)],
    ['not exercised', whole(summary.not_exercised || undefined)],
    ['tokens', short(sums.tokens)],
    ['cost', usd(sums.cost)],
    ['agent time', time(sums.time)],
  ];
  const known = numbers.filter(([, value]) => value !== NONE);
  return (
    <section class="verdict" aria-label="Verdict">
      <div>
        <h1><Mark of={status} large /> {verdict()}</h1>
        <div class="stack">
          {STATUSES.filter(([, key]) => summary[key]).map(([kind, key]) => (
            <button key={kind} class={kind} style={{ flexGrow: summary[key] }} onClick={() => setParams({ q: toggled(query.value, 'status', kind) })}>
              {kind === 'error' ? plural(summary[key], kind) : `${whole(summary[key])} ${kind}`}
            </button>
          ))}
        </div>
      </div>
      <dl class="totals">
        {known.map(([name, value]) => (
          <div key={name}><dt>{name}</dt><dd>{value}</dd></div>
        ))}
      </dl>
    </section>
  );
}

function counted(values: Iterable<string>): [string, number][] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one);
}

const facets: { title: string; key: string; values: (row: Row) => string[] }[] = [
  { title: 'Status', key: 'status', values: (row) => [row.test.status] },
  { title: 'Model', key: 'model', values: (row) => (row.test.model ? [row.test.model] : []) },
  { title: 'Failing gate', key: 'fails', values: (row) => row.failing },
  { title: 'Tag', key: 'tag', values: (row) => row.test.tags ?? [] },
  { title: 'Gate', key: 'gate', values: (row) => row.test.gates.map((gate) => gate.key) },
];
/** Of the tests that the filter leaves, but for the part of the filter that is the facet's own. */
const facetCounts = computed(() =>
  facets.map((facet) => {
    const counts = counted(shown.value.flatMap(facet.values));
    const all = counted(rows.flatMap(facet.values));
    const left = new Map(counts);
    return { ...facet, counts: all.map(([value]) => [value, left.get(value) ?? 0] as const) };
  }),
);

const Facets = () => (
  <details class="facets" open={innerWidth > 800}>
    <summary>Narrow down</summary>
    {facetCounts.value.filter((facet) => facet.counts.length).map(({ title, key, counts }) => (
      <section key={key} aria-label={title}>
        <h2>{title}</h2>
        {counts.slice(0, 12).map(([value, count]) => (
          <button key={value} class="facet" aria-pressed={has(query.value, key, value)} onClick={() => setParams({ q: toggled(query.value, key, value) })}>
            {key === 'status' && <Mark of={value as Row['test']['status']} />}
            <span><Line of={value} /></span>
            <span class="count">{whole(count)}</span>
          </button>
        ))}
        {counts.length > 12 && <p class="dim">{counts.length - 12} more: write {key}:NAME</p>}
      </section>
    ))}
  </details>
);

const HINT = 'Filter: words, status:failed  fails:trajectory  tool:refund  cost:>0.1  -tag:nightly';

const Bar = () => (
  <div class="bar">
    <input type="search" id="filter" class="mono" aria-label="Filter the tests" placeholder={HINT} value={query.value} onInput={(event) => setParams({ q: event.currentTarget.value })} />
    <div class="tabs" role="group" aria-label="View">
      {VIEWS().map((name) => (
        <button key={name} aria-pressed={view.value === name} onClick={() => setView(name)}>{name[0].toUpperCase() + name.slice(1)}</button>
      ))}
    </div>
    <label>sort <select value={sort.value} onChange={(event) => setParams({ sort: event.currentTarget.value })}>
      {Object.keys(SORTS).map((name) => <option key={name}>{name}</option>)}
    </select></label>
    <span class="dim" role="status">{whole(shown.value.length)} of {whole(rows.length)}</span>
  </div>
);

/** A column of numbers, or of little else: it is shown if a row has something in it. */
interface Column<T> {
  name: string;
  width: string;
  of: (item: T) => ComponentChildren;
  /** True if the column has a value for this item. */
  has: (item: T) => boolean;
  kind?: 'number' | 'wide';
}

const testColumns: Column<Row>[] = [
  { name: 'Model', width: '9.5rem', of: (row) => <span class="mono"><Line of={row.test.model ?? NONE} /></span>, has: (row) => !!row.test.model },
  { name: 'Runs', width: '104px', of: (row) => <Strip states={statesOf(row)} />, has: (row) => statesOf(row).length > 0, kind: 'wide' },
  { name: 'Tokens', width: '4.2rem', of: (row) => short(row.tokens), has: (row) => row.tokens != null, kind: 'number' },
  { name: 'Cost', width: '4.4rem', of: (row) => usd(row.cost), has: (row) => row.cost != null, kind: 'number' },
  { name: 'Time/run', width: '4.6rem', of: (row) => time(row.time && row.time / row.test.runs.length), has: (row) => row.time != null, kind: 'number' },
];

/** The columns in which something stands. */
const used = <T,>(columns: Column<T>[], items: T[]) => columns.filter((column) => items.some(column.has));
const usedTestColumns = computed(() => {
  generation.value;
  return used(testColumns, rows);
});

const Head = <T,>({ name, columns }: { name: string; columns: Column<T>[] }) => (
  <div class="row head" role="row">
    <span role="columnheader"><span class="unseen">Status</span></span>
    <span role="columnheader">{name}</span>
    {columns.map((column) => <span key={column.name} role="columnheader" class={column.kind}>{column.name}</span>)}
  </div>
);

const Cells = <T,>({ item, columns }: { item: T; columns: Column<T>[] }) => (
  <>{columns.map((column) => <span key={column.name} role="cell" class={column.kind}>{column.of(item)}</span>)}</>
);

const templateOf = <T,>(columns: Column<T>[]) => ['20px minmax(8rem, 1fr)', ...columns.map((column) => column.width)].join(' ');

const atWork = (row: Row) => live.value?.at_work.find((one) => one.row === row.at);
/** True if the row is being recorded: none of its gates is decided yet. */
const recordingOf = (row: Row) => (atWork(row) ? 'work' : live.value?.waiting.includes(row.at) ? 'waiting' : undefined);
/** The runs of a row; runs that are not recorded yet are hollow. */
function statesOf(row: Row): StripState[] {
  const work = atWork(row);
  return work ? Array.from({ length: work.of }, (_, at) => (at < work.runs ? 'recorded' : 'waiting')) : row.states;
}

/** The rows that are being recorded, and their cost so far. */
function Recording() {
  const now = live.value;
  if (isLost.value) return <p class="live" role="status">mcptest view has ended; this is the last that it showed.</p>;
  if (!now) return null;
  const cost = now.cost_usd == null ? '' : `, ${usd(now.cost_usd)}${now.budget_usd == null ? '' : ` of ${usd(now.budget_usd)}`}`;
  return (
    <p class="live" role="status">
      Recording: {whole(now.runs)} of {plural(now.of, 'run')}{cost} <progress max={now.of} value={now.runs} aria-label="Runs recorded" />
    </p>
  );
}

/** A second sentence about the first cause: of a number, what the gate found. */
function moreOf({ test }: Row): string {
  const first = test.causes?.[0];
  const found = test.gates.find((gate) => gate.key === first?.key)?.explanation[0];
  const finding = found && found.message !== first?.message ? `${found.run && test.runs.length > 1 ? `run ${found.run}: ` : ''}${found.message}` : '';
  return first?.details?.[0] ?? finding;
}

/** The first of a test's causes, and the names of the others. */
function Cause({ row }: { row: Row }) {
  const [first, ...others] = row.test.causes ?? [];
  if (!first) return null;
  const further = [...new Set(others.map((one) => one.key))].filter((key) => key !== first.key);
  const more = moreOf(row);
  const isOfSome = first.runs?.length && row.test.runs.length > 1;
  return (
    <span role="cell" class="cause">
      <span class="gate-tag">{first.key}</span> {isOfSome && <b>{first.runs!.length} of {plural(row.test.runs.length, 'run')}: </b>}
      <Line of={first.message} code />{more && <span class="dim"> · <Line of={more} code /></span>}
      {further.length > 0 && <span class="dim"> · also <Tags of={further} /></span>}
    </span>
  );
}

const [ONE_LINE, CAUSE_LINE, LETTER] = [34, 18, 6.35];
function lettersOf(row: Row): number {
  const { causes = [] } = row.test;
  return [causes[0].key, causes[0].message, moreOf(row), ...causes.slice(1).map((one) => one.key)].join('   ').length + 8;
}

/** As many lines as the cause takes, two at most. */
const linesOf = (row: Row, width: number) => (row.cause && !recordingOf(row) ? (lettersOf(row) * LETTER > width - 70 ? 2 : 1) : 0);
const heightOf = (row: Row, width: number) => ONE_LINE + CAUSE_LINE * linesOf(row, width);

const TestRow = ({ row, at, columns, width = 0 }: { row: Row; at: number; columns: Column<Row>[]; width?: number }) => (
  <div class={`row ${linesOf(row, width) ? 'with-cause' : ''} of-${row.test.status}`} style={{ '--lines': linesOf(row, width) }} role="row" aria-rowindex={at + 2} data-selected={selected.value === row.id} onClick={() => go(linkTo(row))}>
    <span role="cell"><Mark of={recordingOf(row) ?? row.test.status} /></span>
    <span role="cell" class="name"><a href={linkTo(row)}><Line of={row.name} /></a></span>
    <Cells item={row} columns={columns} />
    {!recordingOf(row) && <Cause row={row} />}
  </div>
);

interface RunOf {
  row: Row;
  run: Run;
  state: RunState;
}
const runRows = computed(() => shown.value.flatMap((row) => row.test.runs.map((run, at): RunOf => ({ row, run, state: row.states[at] }))));

const runColumns: Column<RunOf>[] = [
  { name: 'Path', width: 'minmax(10rem, 1fr)', of: ({ run }) => <span class="mono dim"><Line of={(run.tool_names ?? []).join(' › ')} /></span>, has: ({ run }) => !!run.tool_names?.length, kind: 'wide' },
  { name: 'Model', width: '9.5rem', of: ({ row }) => <span class="mono"><Line of={row.test.model ?? NONE} /></span>, has: ({ row }) => !!row.test.model },
  { name: 'Calls', width: '3rem', of: ({ run }) => whole(run.calls), has: ({ run }) => run.calls != null, kind: 'number' },
  { name: 'Tokens', width: '4.2rem', of: ({ run }) => short(run.tokens?.total), has: ({ run }) => run.tokens?.total != null, kind: 'number' },
  { name: 'Cost', width: '4.4rem', of: ({ run }) => usd(run.cost_usd), has: ({ run }) => run.cost_usd != null, kind: 'number' },
  { name: 'Time', width: '4.6rem', of: ({ run }) => time(run.duration_ms), has: ({ run }) => run.duration_ms != null, kind: 'number' },
];

const RunRow = ({ of, at, columns }: { of: RunOf; at: number; columns: Column<RunOf>[] }) => (
  <div class="row" role="row" aria-rowindex={at + 2} onClick={() => go(linkTo(of.row, of.run.index))}>
    <span role="cell"><Mark of={of.state === 'failed-by-gate' ? 'failed' : of.state} /></span>
    <span role="cell" class="name"><a href={linkTo(of.row, of.run.index)}><Line of={of.row.name} /> #{of.run.index}</a></span>
    <Cells item={of} columns={columns} />
  </div>
);

function Runs() {
  const columns = used(runColumns, runRows.value);
  return (
    <List
      items={runRows.value}
      label="Runs"
      selected={-1}
      columns={templateOf(columns)}
      keyOf={({ row, run }) => `${row.id} ${run.index}`}
      head={<Head name="Run" columns={columns} />}
      render={(of, at) => <RunRow of={of} at={at} columns={columns} />}
    />
  );
}

function Tests() {
  const columns = usedTestColumns.value;
  return (
    <List
      items={shown.value}
      label="Tests"
      selected={selectedAt()}
      columns={templateOf(columns)}
      keyOf={(row) => row.id}
      heightOf={heightOf}
      head={<Head name="Test and cause" columns={columns} />}
      render={(row, at, width) => <TestRow row={row} at={at} columns={columns} width={width} />}
    />
  );
}

/** On paper: the tests that did not pass, up to this number. */
const PRINTED = 200;
const Printed = () => {
  const wanted = shown.value.filter((row) => row.test.status !== 'passed').slice(0, PRINTED);
  const columns = usedTestColumns.value;
  return <div class="printed" style={{ '--columns': templateOf(columns) }}>{wanted.map((row, at) => <TestRow key={row.id} row={row} at={at} columns={columns} />)}</div>;
};

function Rows() {
  if (printing.value) return <Printed />;
  if (view.value === 'coverage' && report.coverage) return <Coverage of={report.coverage} />;
  if (view.value === 'leaderboard' && report.leaderboard) return <Leaderboard of={report.leaderboard} />;
  if (!shown.value.length) return <p class="empty">{rows.length ? 'No test fits the filter.' : 'The report has no tests.'} {rows.length > 0 && <button class="button" onClick={() => setParams({ q: '' })}>Show all</button>}</p>;
  if (view.value === 'models') return <Matrix rows={shown.value} />;
  if (view.value === 'runs') return <Runs />;
  return <Tests />;
}

export function Overview() {
  list.value = location.hash || '#/';
  return (
    <main class="overview">
      <Recording />
      <Verdict />
      <Bar />
      <div class="split">
        <Facets />
        <Rows />
      </div>
    </main>
  );
}
