// One run: its turns and calls in order, and one call in full.
import { useEffect, useState } from 'preact/hooks';
import { Assertions } from './assertions';
import { type Row, stateOf, tracesOf } from './data';
import { plural, short, time, usd, whole } from './format';
import type { Call, Gate, Result, Run, Trace } from './model';
import { linkTo, Mark } from './parts';
import { go } from './route';
import { ReasonBox } from './causes';
import { brief, Json, Text } from './text';
import { steps, type Step, said } from './steps';
import { Lanes } from './lanes';

const isError = (result: Result | undefined) => !!result && (result.is_error === true || !!result.error);

function Head({ row, run, trace }: { row: Row; run: Run; trace?: Trace }) {
  const state = stateOf(run);
  const facts: [string, string | undefined][] = [
    [whole(run.calls), 'calls'],
    [whole(run.turns), 'turns'],
    [whole(run.tokens?.prompt), 'prompt tokens'],
    [whole(run.tokens?.completion), 'completion tokens'],
    [usd(run.cost_usd), undefined],
    [time(run.duration_ms), undefined],
  ];
  const stop = run.stop_reason ?? trace?.stop_reason;
  return (
    <header class="run-head">
      <h1><Mark of={state === 'failed-by-gate' ? 'failed' : state} large /> run {run.index} <small>of {row.test.runs.length}</small></h1>
      {facts.filter(([value]) => value !== '–').map(([value, name], at) => <span key={at}><b>{value}</b> {name}</span>)}
      {stop && <span>stop: <code><Text of={stop} /></code></span>}
      <span class="mono dim"><Text of={run.source ? `${run.source}${run.line ? `:${run.line}` : ''}` : ''} /></span>
      <nav class="picker" aria-label="Runs">
        {row.test.runs.slice(0, 60).map((one) => <a key={one.index} class={stateOf(one)} aria-current={one.index === run.index ? 'page' : undefined} href={linkTo(row, one.index)}>{one.index}</a>)}
      </nav>
    </header>
  );
}

const Caller = ({ of }: { of: unknown }) => (of == null ? null : <span class="tag caller">by <Text of={typeof of === 'string' ? of : brief(of)} /></span>);

function CallCard({ step, open, faded, choose }: { step: Step; open: boolean; faded: boolean; choose: () => void }) {
  const { call, result, number, faults } = step;
  const failed = isError(result);
  return (
    <button class={`call-card ${failed ? 'failed' : ''} ${faded ? 'faded' : ''}`} aria-pressed={open} data-call={number} onClick={choose}>
      <span class="dim">{number}</span> {call.server && <span class="dim"><Text of={call.server} />.</span>}<b><Text of={call.name} /></b> <span class="args"><Text of={brief(call.args ?? call.args_text).slice(0, 160)} /></span>
      {faults.map((fault, at) => <span key={at} class="tag fault">fault <Text of={fault.kind} />{fault.virtual_ms ? ` ${fault.virtual_ms} ms` : ''}</span>)}
      {call.distractor && <span class="tag">distractor</span>}
      <Caller of={call.caller} />
      <span class="outcome"><Mark of={result ? (failed ? 'failed' : 'passed') : 'none'} /> <Text of={result ? said(result).slice(0, 160) : 'no result is recorded'} />{result?.duration_ms != null && <span class="dim"> {time(result.duration_ms)}</span>}</span>
    </button>
  );
}

function Detail({ step }: { step: Step }) {
  const { call, result, faults } = step;
  return (
    <>
      <h2>call {step.number} · <code><Text of={call.name} /></code></h2>
      {faults.map((fault, at) => <p key={at}><span class="tag fault">fault <Text of={fault.kind} /></span> <Text of={fault.name} /></p>)}
      <h3>Arguments</h3>
      {call.args_text != null ? <pre class="json" tabIndex={0}><Text of={call.args_text} /></pre> : <Json of={call.args ?? {}} />}
      <h3>Result {isError(result) && <span class="tag failed">error</span>}</h3>
      {result ? <ResultBody of={result} /> : <p class="dim">The recording has none.</p>}
    </>
  );
}

const ResultBody = ({ of }: { of: Result }) => (
  <>
    {of.error && <pre class="json" tabIndex={0}><Text of={[of.error.code, of.error.message].filter((one) => one != null).join(' ')} /></pre>}
    {of.error?.data !== undefined && <Json of={of.error.data} />}
    {of.content != null && <pre class="json" tabIndex={0}><Text of={said({ content: of.content })} /></pre>}
    {of.structured != null && <><h3>Structured</h3><Json of={of.structured} /></>}
  </>
);

function Calls({ of, chosen, search, choose }: { of: Step[]; chosen?: number; search: string; choose: (number: number) => void }) {
  const fits = (step: Step) => !search || `${step.call.name} ${brief(step.call.args)} ${step.result ? said(step.result) : ''}`.toLowerCase().includes(search);
  return (
    <div class={of.length > 1 ? 'at-once' : ''}>
      {of.length > 1 && <small class="dim">{of.length} at once</small>}
      <div class="calls">{of.map((step) => <CallCard key={step.number} step={step} open={chosen === step.number} faded={!fits(step)} choose={() => choose(step.number)} />)}</div>
    </div>
  );
}

function Timeline({ trace, chosen, search, choose }: { trace: Trace; chosen?: number; search: string; choose: (number: number) => void }) {
  return (
    <ol class="timeline">
      {steps(trace).map((turn, at) => (
        <li key={at} class={turn.role}>
          <span class="when">{turn.label}{turn.turn?.tokens?.total != null && <small>{short(turn.turn.tokens.total)} tokens</small>}{turn.turn?.duration_ms != null && <small>{time(turn.turn.duration_ms)}</small>}</span>
          <div>
            {turn.text && <div class={`said ${search && !turn.text.toLowerCase().includes(search) ? 'faded' : ''}`}><Text of={turn.text} /></div>}
            {turn.calls.length > 0 && <Calls of={turn.calls} chosen={chosen} search={search} choose={choose} />}
          </div>
        </li>
      ))}
      {trace.unmade_calls?.map((call: Call, at) => <li key={`unmade ${at}`}><span class="when">not made</span><div class="call-card"><b><Text of={call.name} /></b> <Text of={brief(call.args ?? call.args_text)} /></div></li>)}
      {trace.errors?.map((error, at) => <li key={`error ${at}`}><span class="when">error</span><div class="call-card failed"><Text of={typeof error === 'string' ? error : brief(error)} /></div></li>)}
    </ol>
  );
}

/** The findings of each gate that fails the run. */
function FailedBy({ row, run }: { row: Row; run: Run }) {
  const gates = row.test.gates.filter((gate) => run.failed_by?.includes(gate.key));
  const foundBy = (gate: Gate) => gate.tables?.find((table) => table.run === run.index)?.summary ?? gate.explanation.find((one) => one.run === run.index)?.message ?? '';
  return (
    <>{gates.map((gate) => (
      <section key={gate.key} class="card failed" data-failed-by={gate.key}>
        <p class="sentence"><a href={linkTo(row)}><code>{gate.key}</code></a> <Text of={foundBy(gate)} code /></p>
      </section>
    ))}</>
  );
}

/** Without the trace there are the tools' names. */
const Names = ({ row, run }: { row: Row; run: Run }) => (
  <>
    <p class="note">The report has no trace of this run. Write it with <code>--embed all</code> to see the messages, arguments and results.</p>
    <ol class="names mono">{(run.tool_names ?? []).map((tool, at) => <li key={at} data-call={at + 1}><a href={linkTo(row, run.index, at + 1)}><Text of={tool} /></a></li>)}</ol>
  </>
);

export function RunPage({ row, run, call }: { row: Row; run: Run; call?: number }) {
  const [traces, setTraces] = useState<Record<string, Trace> | null | Error>(null);
  const [search, setSearch] = useState('');
  useEffect(() => void tracesOf(row).then((found) => setTraces(found ?? {}), setTraces), [row]);
  const trace = traces && !(traces instanceof Error) ? traces[run.index] : undefined;
  const calls = trace ? steps(trace).flatMap((turn) => turn.calls) : [];
  const chosen = calls.find((step) => step.number === call) ?? calls.find((step) => isError(step.result)) ?? calls[0];
  useEffect(() => {
    if (call) document.querySelector(`[data-call="${call}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [call, !!trace]);
  const failed = run.expectations.filter((one) => !one.passed);
  return (
    <main class="run">
      <Head row={row} run={run} trace={trace} />
      <div class="panes">
        <section class="left-pane" tabIndex={0} aria-label="Timeline">
          {traces instanceof Error && <p class="reason">{traces.message}</p>}
          {run.reason && <ReasonBox reason={run.reason} />}
          <FailedBy row={row} run={run} />
          {failed.length > 0 && <section class="card failed"><h2>Own checks that did not hold</h2><Assertions of={failed} /></section>}
          {traces && !trace && <Names row={row} run={run} />}
          {trace && <Lanes trace={trace} choose={(number) => go(linkTo(row, run.index, number))} />}
          {trace && <Timeline trace={trace} chosen={chosen?.number} search={search.toLowerCase()} choose={(number) => go(linkTo(row, run.index, number))} />}
          {run.expectations.length > failed.length && <details class="card"><summary>{plural(run.expectations.length - failed.length, 'own check')} held</summary><Assertions of={run.expectations.filter((one) => one.passed)} /></details>}
        </section>
        <aside class="right-pane" tabIndex={0} aria-label="One call in full">
          <input type="search" aria-label="Search arguments and results" placeholder="Search text, arguments and results" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
          {chosen && <Detail step={chosen} />}
          {trace?.final_state != null && <><h3>The world as the run left it</h3><Json of={trace.final_state} /></>}
        </aside>
      </div>
    </main>
  );
}
