// One test: why it is not green, its gates, and its runs side by side.
import type { Row } from './data';
import { Assertions } from './assertions';
import { GateCard } from './gate';
import { short, time, usd, whole } from './format';
import type { Run, Test } from './model';
import { Badges, Copy, linkTo, Mark } from './parts';
import { go } from './route';
import { Text } from './text';

export function ReasonBox({ reason }: { reason: NonNullable<Test['reason']> }) {
  return (
    <section class="reason" aria-label="Why it could not be judged">
      <p><b><Text of={reason.message} code /></b></p>
      {reason.details?.map((line, at) => <p key={at}><Text of={line} code /></p>)}
      {reason.help && <p><Text of={reason.help} code /></p>}
      {reason.command && <Command text={reason.command} />}
    </section>
  );
}

export const Command = ({ text }: { text: string }) => (
  <div class="command-line"><code><Text of={text} /></code><Copy text={text} /></div>
);

function Header({ row }: { row: Row }) {
  const { test } = row;
  const toTag = (tag: string) => (event: Event) => {
    event.preventDefault();
    go(`#/?${new URLSearchParams({ q: `tag:${/\s/.test(tag) ? `"${tag}"` : tag}` })}`);
  };
  return (
    <header>
      <h1><Mark of={test.status} large /> <Text of={test.name} /></h1>
      <p class="chips">
        {test.model && <span class="chip model"><Text of={test.model} /></span>}
        {test.variant && <span class="chip"><Text of={test.variant} /></span>}
        {test.tags?.map((tag) => <a key={tag} class="chip" href="#/" onClick={toTag(tag)}>#<Text of={tag} /></a>)}
        <span class="mono dim"><Text of={`${test.suite.file}:${test.suite.line}`} /></span>
        {test.servers?.map((server) => <span key={server.name} class="mono dim"><Text of={`${server.name} ${server.protocol_version}`} /></span>)}
      </p>
      {test.reason && <ReasonBox reason={test.reason} />}
      <Command text={test.rerun} />
      {test.unpinned && <p class="dim">The recording has no fingerprint, so nobody can say whether it is stale.</p>}
      {test.notes?.map((note, at) => <p key={at} class="note"><Text of={note} code /></p>)}
      {test.advice?.map((one, at) => <p key={at} class="note"><a href={linkTo(row, one.run)}>run {one.run}</a> <b><Text of={one.model} /></b>, asked for advice by {one.key}: <Text of={one.message} /></p>)}
    </header>
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

function RunLine({ row, run }: { row: Row; run: Run }) {
  const failing = row.test.gates.filter((gate) => run.failed_by?.includes(gate.key));
  return (
    <tr>
      <th scope="row"><a href={linkTo(row, run.index)}>#{run.index}</a></th>
      <td class="left"><Mark of={run.status} /></td>
      <td class="left"><Badges gates={failing} /></td>
      <td class="left mono path">
        {(run.tool_names ?? []).map((tool, at) => <span key={at}>{at > 0 && <span class="dim"> › </span>}<a href={linkTo(row, run.index, at + 1)}><Text of={tool} /></a></span>)}
        {(run.calls ?? 0) > (run.tool_names?.length ?? 0) && <span class="dim"> and {run.calls! - (run.tool_names?.length ?? 0)} more</span>}
      </td>
      <td>{whole(run.calls)}</td>
      <td>{whole(run.turns)}</td>
      <td>{short(run.tokens?.total)}</td>
      <td>{time(run.duration_ms)}</td>
      <td>{usd(run.cost_usd)}</td>
    </tr>
  );
}

const Runs = ({ row }: { row: Row }) => (
  <section>
    <h2>Runs</h2>
    <div class="scroll" tabIndex={0}>
      <table class="numbers wide">
        <thead><tr>{['Run', 'Outcome', 'Failed by', 'Path', 'Calls', 'Turns', 'Tokens', 'Time', 'Cost'].map((name, at) => <th key={name} scope="col" class={at && at < 4 ? 'left' : ''}>{name}</th>)}</tr></thead>
        <tbody>{row.test.runs.map((run) => <RunLine key={run.index} row={row} run={run} />)}</tbody>
      </table>
    </div>
  </section>
);

/** What the runs' own checks found, those that failed. */
function Failed({ row }: { row: Row }) {
  const runs = row.test.runs.filter((run) => run.reason || run.expectations.some((one) => !one.passed));
  if (!runs.length) return null;
  return (
    <section>
      <h2>Own checks that did not hold</h2>
      {runs.slice(0, 20).map((run) => (
        <section key={run.index} class="card failed">
          <h3><a href={linkTo(row, run.index)}>run {run.index}</a></h3>
          {run.reason && <ReasonBox reason={run.reason} />}
          <Assertions of={run.expectations.filter((one) => !one.passed)} />
        </section>
      ))}
      {runs.length > 20 && <p class="dim">{runs.length - 20} more runs; each is in the table below.</p>}
    </section>
  );
}

const rank = { error: 0, failed: 1, skipped: 2, passed: 3 };

export function TestPage({ row }: { row: Row }) {
  const { test } = row;
  const gates = test.gates.toSorted((one, other) => rank[one.status] - rank[other.status]);
  return (
    <main class="page">
      <Header row={row} />
      {test.probe && <Probe probe={test.probe} />}
      <Failed row={row} />
      {gates.length > 0 && <h2>Gates</h2>}
      {gates.map((gate) => <GateCard key={gate.key} row={row} gate={gate} />)}
      {test.runs.length > 0 && <Runs row={row} />}
    </main>
  );
}

