// One test: why it is not green, its gates, and its runs side by side.
import type { ComponentChildren } from 'preact';
import type { Row } from './data';
import { asText, Causes, Command, Help, helpOf, nextCommand } from './causes';
import { GateCard } from './gate';
import { short, time, usd, whole } from './format';
import type { Gate, Run, Test } from './model';
import { Copy, linkTo, Mark, Tags } from './parts';
import { shown } from './overview';
import { go } from './route';
import { Text } from './text';

/** The tests before and after this one, as the list has them. */
function Neighbours({ row }: { row: Row }) {
  const at = shown.value.findIndex((one) => one.id === row.id);
  const [before, after] = [shown.value[at - 1], at < 0 ? undefined : shown.value[at + 1]];
  return (
    <nav class="neighbours" aria-label="Other tests">
      {before && <a href={linkTo(before)}>‹ previous</a>}
      {after && <a href={linkTo(after)}>next ›</a>}
    </nav>
  );
}

function Header({ row }: { row: Row }) {
  const { test } = row;
  const toTag = (tag: string) => (event: Event) => {
    event.preventDefault();
    go(`#/?${new URLSearchParams({ q: `tag:${/\s/.test(tag) ? `"${tag}"` : tag}` })}`);
  };
  return (
    <header>
      <Neighbours row={row} />
      <h1><Mark of={test.status} large /> <Text of={test.name} /></h1>
      <p class="chips">
        {test.model && <span class="chip model"><Text of={test.model} /></span>}
        {test.variant && <span class="chip"><Text of={test.variant} /></span>}
        {test.tags?.map((tag) => <a key={tag} class="chip" href="#/" onClick={toTag(tag)}>#<Text of={tag} /></a>)}
        <span class="mono dim"><Text of={`${test.suite.file}:${test.suite.line}`} /></span>
        {!!test.causes?.length && <Copy text={asText(row)} label="copy the causes" />}
        {test.servers?.map((server) => <span key={server.name} class="mono dim"><Text of={`${server.name} ${server.protocol_version}`} /></span>)}
      </p>
    </header>
  );
}

/** Notes that decide nothing. */
function Notes({ row }: { row: Row }) {
  const { test } = row;
  return (
    <>
      {test.unpinned && <p class="dim">The recording has no fingerprint, so mcptest does not know if it is stale.</p>}
      {test.notes?.map((note, at) => <p key={at} class="note"><Text of={note} code /></p>)}
      {test.advice?.map((one, at) => <p key={at} class="note"><a href={linkTo(row, one.run)}>run {one.run}</a> <b><Text of={one.model} /></b>, asked for advice by {one.key}: <Text of={one.message} /></p>)}
    </>
  );
}

function Probe({ probe }: { probe: NonNullable<Test['probe']> }) {
  const parts = [['Sent', probe.sent], ['Came', probe.came], ['The specification says', probe.says], ['Where', probe.section], ['Warning', probe.warning]];
  return (
    <dl class="probe">
      {parts.filter(([, text]) => text).map(([name, text]) => <div key={name}><dt>{name}</dt><dd class="mono"><Text of={text} /></dd></div>)}
    </dl>
  );
}

interface RunColumn {
  name: string;
  of: (run: Run) => ComponentChildren;
  has: (run: Run) => boolean;
  left?: boolean;
}

function Path({ row, run }: { row: Row; run: Run }) {
  const names = run.tool_names ?? [];
  const more = (run.calls ?? 0) - names.length;
  return (
    <span class="mono path">
      {names.map((tool, at) => <span key={at}>{at > 0 && <span class="dim"> › </span>}<a href={linkTo(row, run.index, at + 1)}><Text of={tool} /></a></span>)}
      {more > 0 && <span class="dim"> and {more} more</span>}
    </span>
  );
}

/** The requirement and the gates that fail a run. */
const failedBy = (run: Run) => [...(run.expectations.some((one) => !one.passed) ? ['expect'] : []), ...(run.failed_by ?? [])];

const columnsOf = (row: Row): RunColumn[] => [
  { name: 'Outcome', of: (run) => <Mark of={run.status} />, has: () => true, left: true },
  { name: 'Failed by', of: (run) => <Tags of={failedBy(run)} />, has: (run) => failedBy(run).length > 0, left: true },
  { name: 'File', of: (run) => <span class="mono"><Text of={[run.source, run.trace_id].filter(Boolean).join(' ')} /></span>, has: (run) => hasOwnSource(row) || !!run.trace_id, left: true },
  { name: 'Path', of: (run) => <Path row={row} run={run} />, has: (run) => !!run.tool_names?.length, left: true },
  { name: 'Calls', of: (run) => whole(run.calls), has: (run) => run.calls != null },
  { name: 'Turns', of: (run) => whole(run.turns), has: (run) => run.turns != null },
  { name: 'Tokens', of: (run) => short(run.tokens?.total), has: (run) => run.tokens?.total != null },
  { name: 'Time', of: (run) => time(run.duration_ms), has: (run) => run.duration_ms != null },
  { name: 'Cost', of: (run) => usd(run.cost_usd), has: (run) => run.cost_usd != null },
];

const hasOwnSource = (row: Row) => new Set(row.test.runs.map((run) => run.source)).size > 1;

function Runs({ row }: { row: Row }) {
  const columns = columnsOf(row).filter((column) => row.test.runs.some(column.has));
  return (
    <section>
      <h2>Runs</h2>
      <div class="scroll" tabIndex={0}>
        <table class="numbers wide">
          <thead><tr><th scope="col" class="left">Run</th>{columns.map((column) => <th key={column.name} scope="col" class={column.left ? 'left' : ''}>{column.name}</th>)}</tr></thead>
          <tbody>
            {row.test.runs.map((run) => (
              <tr key={run.index}>
                <th scope="row"><a href={linkTo(row, run.index)}>#{run.index}</a></th>
                {columns.map((column) => <td key={column.name} class={column.left ? 'left' : ''}>{column.of(run)}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const rank = { error: 0, failed: 1, skipped: 2, passed: 3 };

export function TestPage({ row }: { row: Row }) {
  const { test } = row;
  const gates = test.gates.toSorted((one, other) => rank[one.status] - rank[other.status]);
  const bad = gates.filter((gate) => rank[gate.status] < rank.skipped);
  const others = gates.filter((gate) => !bad.includes(gate));
  const card = (gate: Gate) => <GateCard key={gate.key} row={row} gate={gate} />;
  return (
    <main class="page">
      <Header row={row} />
      <Causes row={row} />
      {bad.map(card)}
      {!test.reason && <Help of={helpOf(test)} />}
      {!test.reason?.command && <Command text={nextCommand(test)} />}
      <Notes row={row} />
      {test.probe && <Probe probe={test.probe} />}
      {others.length > 0 && <h2>{bad.length ? 'Gates that passed' : 'Gates'}</h2>}
      {others.map(card)}
      {test.runs.length > 0 && <Runs row={row} />}
    </main>
  );
}
