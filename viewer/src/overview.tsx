// The first page: the verdict, the totals, and the tests that the filter leaves.
import { computed, signal } from '@preact/signals';
import { generation, type Row, type RunState, report, rows, totals } from './data';
import { filtered, has, SORTS, toggled } from './filter';
import { plural, short, time, usd, whole } from './format';
import { Leaderboard } from './leaderboard';
import { isLost, live } from './live';
import { Matrix } from './matrix';
import type { Run } from './model';
import { Badges, linkTo, List, Mark, Strip, type StripState } from './parts';
import { go, list, route, setParams } from './route';
import { Line } from './text';
import { Coverage } from './coverage';

export const query = computed(() => route.value.params.get('q') ?? '');
export const view = computed(() => route.value.params.get('view') ?? 'tests');
const sort = computed(() => route.value.params.get('sort') ?? 'status');
/** The tests in the list's order. */
export const shown = computed(() => {
  generation.value;
  // While runs are recorded no row moves.
  const order = live.value ? SORTS.suite : (SORTS[sort.value] ?? SORTS.status);
  return filtered(rows, query.value).toSorted(order);
});
/** The row that the keys are at. */
export const selected = signal(-1);
export const printing = signal(false);

export const VIEWS = () => ['tests', 'models', 'runs', ...(report.leaderboard ? ['leaderboard'] : []), ...(report.coverage ? ['coverage'] : [])];
const setView = (name: string) => setParams({ view: name === 'tests' ? '' : name });
export const nextView = () => report && setView(VIEWS()[(VIEWS().indexOf(view.value) + 1) % VIEWS().length]);

export function verdict(): string {
  const { tests, failed, errors, passed, skipped } = report.summary;
  if (!tests) return 'There were no tests to judge';
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
    ['runs', whole(summary.runs)],
    ['gates', whole(summary.gates)],
    ['not exercised', whole(summary.not_exercised)],
    ['tokens', short(sums.tokens)],
    ['cost', usd(sums.cost)],
    ['agent time', time(sums.time)],
  ];
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
        {numbers.map(([name, value]) => (
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

const TestHead = () => (
  <div class="row head" role="row">
    {['Status', 'Test and first cause', 'Model', 'Runs', 'Gates', 'Tokens', 'Cost', 'Time/run'].map((name, at) => (
      <span key={name} role="columnheader" class={`c${at}`}>{at ? name : <span class="unseen">{name}</span>}</span>
    ))}
  </div>
);

const atWork = (row: Row) => live.value?.at_work.find((one) => one.row === row.at);
/** Whether the runs of a row are being made: then none of its gates is decided. */
const recordingOf = (row: Row) => (atWork(row) ? 'work' : live.value?.waiting.includes(row.at) ? 'waiting' : undefined);
/** The runs of a row, those that are still to come hollow. */
function statesOf(row: Row): StripState[] {
  const work = atWork(row);
  return work ? Array.from({ length: work.of }, (_, at) => (at < work.runs ? 'recorded' : 'waiting')) : row.states;
}

/** What is being recorded, and what it costs so far. */
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

const TestRow = ({ row, at }: { row: Row; at: number }) => (
  <div class="row" role="row" aria-rowindex={at + 2} data-selected={selected.value === at} onClick={() => go(linkTo(row))}>
    <span role="cell" class="c0"><Mark of={recordingOf(row) ?? row.test.status} /></span>
    <span role="cell" class="c1"><a href={linkTo(row)}><Line of={row.name} /></a> <span class="cause">{!recordingOf(row) && <Line of={row.cause} />}</span></span>
    <span role="cell" class="c2 mono"><Line of={row.test.model ?? '–'} /></span>
    <span role="cell" class="c3"><Strip states={statesOf(row)} /></span>
    <span role="cell" class="c4">{!recordingOf(row) && <Badges gates={row.test.gates} />}</span>
    <span role="cell" class="c5 mono">{short(row.tokens)}</span>
    <span role="cell" class="c6 mono">{usd(row.cost)}</span>
    <span role="cell" class="c7 mono">{time(row.time && row.time / row.test.runs.length)}</span>
  </div>
);

interface RunOf {
  row: Row;
  run: Run;
  state: RunState;
}
const runRows = computed(() => shown.value.flatMap((row) => row.test.runs.map((run, at): RunOf => ({ row, run, state: row.states[at] }))));

const RunRow = ({ of: { row, run, state }, at }: { of: RunOf; at: number }) => (
  <div class="row runs" role="row" aria-rowindex={at + 2} onClick={() => go(linkTo(row, run.index))}>
    <span role="cell" class="c0"><Mark of={state === 'failed-by-gate' ? 'failed' : state} /></span>
    <span role="cell" class="c1"><a href={linkTo(row, run.index)}><Line of={row.name} /> #{run.index}</a></span>
    <span role="cell" class="c2 mono dim"><Line of={(run.tool_names ?? []).join(' › ')} /></span>
    <span role="cell" class="c3 mono"><Line of={row.test.model ?? '–'} /></span>
    <span role="cell" class="c4 mono">{whole(run.calls)}</span>
    <span role="cell" class="c5 mono">{short(run.tokens?.total)}</span>
    <span role="cell" class="c6 mono">{usd(run.cost_usd)}</span>
    <span role="cell" class="c7 mono">{time(run.duration_ms)}</span>
  </div>
);

const Runs = () => (
  <List
    items={runRows.value}
    label="Runs"
    selected={-1}
    head={
      <div class="row head runs" role="row">
        {['Status', 'Run', 'Path', 'Model', 'Calls', 'Tokens', 'Cost', 'Time'].map((name, at) => <span key={name} role="columnheader" class={`c${at}`}>{name}</span>)}
      </div>
    }
    render={(of, at) => <RunRow of={of} at={at} />}
  />
);

/** On paper: what did not pass, at most so many. */
const PRINTED = 200;
const Printed = () => {
  const wanted = shown.value.filter((row) => row.test.status !== 'passed').slice(0, PRINTED);
  return <div class="printed">{wanted.map((row, at) => <TestRow key={row.id} row={row} at={at} />)}</div>;
};

function Rows() {
  if (printing.value) return <Printed />;
  if (view.value === 'coverage' && report.coverage) return <Coverage of={report.coverage} />;
  if (view.value === 'leaderboard' && report.leaderboard) return <Leaderboard of={report.leaderboard} />;
  if (!shown.value.length) return <p class="empty">{rows.length ? 'No test fits the filter.' : 'The report has no tests.'} {rows.length > 0 && <button class="button" onClick={() => setParams({ q: '' })}>Show all</button>}</p>;
  if (view.value === 'models') return <Matrix rows={shown.value} />;
  if (view.value === 'runs') return <Runs />;
  return <List items={shown.value} label="Tests" selected={selected.value} head={<TestHead />} render={(row, at) => <TestRow row={row} at={at} />} />;
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
