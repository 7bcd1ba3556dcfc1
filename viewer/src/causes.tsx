// Why a test is not green: each cause whole, with the runs that it is about and the lines of the suite that ask for it.
import { AssertionDetail } from './assertions';
import type { Row } from './data';
import type { Cause, Test } from './model';
import { Copy, RunLinks } from './parts';
import { Text } from './text';

/** The lines to show around a line of the suite. */
const [BEFORE, AFTER] = [2, 4];

/** The line of the suite that asks for what did not hold, with its neighbours. */
export function Excerpt({ test, line }: { test: Test; line: number | undefined }) {
  const found = test.excerpts?.find((one) => line != null && one.first <= line && line < one.first + one.lines.length);
  if (!found || line == null) return null;
  const numbered = found.lines.map((text, at) => ({ text, number: found.first + at }));
  const shown = numbered.filter(({ number }) => number >= line - BEFORE && number <= line + AFTER);
  return (
    <figure class="excerpt">
      <figcaption class="mono"><Text of={`${test.suite.file}:${line}`} /></figcaption>
      <pre tabIndex={0}>{shown.map(({ text, number }) => <div key={number} class={number === line ? 'asked' : ''}><span class="number">{number}</span><Text of={text} /></div>)}</pre>
    </figure>
  );
}

/** Every line of the suite that it is refused for. */
const Refusals = ({ test }: { test: Test }) => (
  <>{test.excerpts?.map((one) => (
    <figure key={one.first} class="excerpt">
      <figcaption class="mono"><Text of={`${test.suite.file}:${one.first}`} /></figcaption>
      <pre tabIndex={0}>{one.lines.map((text, at) => <div key={at}><span class="number">{one.first + at}</span><Text of={text} /></div>)}</pre>
    </figure>
  ))}</>
);

/** Why the test, or a run of it, failed whatever was expected of it. */
const reasonsOf = (test: Test) => [test.reason, ...test.runs.map((run) => run.reason)].filter((reason) => !!reason);

/** The command that fixes the test, or else the command that judges it alone. The terminal ends with this command. */
export const nextCommand = (test: Test) => reasonsOf(test).find((reason) => reason.command)?.command ?? test.rerun;

export const helpOf = (test: Test) => reasonsOf(test).find((reason) => reason.help)?.help;

export const Help = ({ of }: { of: string | undefined }) => (of ? <p><b>Help:</b> <Text of={of} code /></p> : null);

export const Command = ({ text }: { text: string }) => (
  <div class="command-line"><code><Text of={text} /></code><Copy text={text} /></div>
);

/** Foreign lines, verbatim, such as the last output of a program. */
const Details = ({ of }: { of: string[] | undefined }) => (of?.length ? <pre class="details" tabIndex={0}><Text of={of.join('\n')} /></pre> : null);

export function ReasonBox({ reason }: { reason: NonNullable<Test['reason']> }) {
  return (
    <section class="reason" aria-label="Why it could not be judged">
      <p class="sentence"><Text of={reason.message} code /></p>
      <Details of={reason.details} />
      <Help of={reason.help} />
      {reason.command && <Command text={reason.command} />}
    </section>
  );
}

/** The sentence of a cause, and its runs if the test has other runs too. */
export function Sentence({ row, cause }: { row: Row; cause: Cause }) {
  return (
    <>
      <p class="sentence"><Text of={cause.message} code /></p>
      {row.test.runs.length > 1 && !!cause.runs?.length && <RunLinks row={row} runs={cause.runs} />}
    </>
  );
}

/** The findings of checks of runs. Differences are shown once, as values. */
function OwnCheck({ row, cause }: { row: Row; cause: Cause }) {
  const run = row.test.runs.find((one) => one.index === cause.runs?.[0]);
  const missed = cause.target && run?.expectations.find((one) => !one.passed && one.target === cause.target && one.suite_line === cause.suite_line);
  return (
    <section class="card failed" data-cause={cause.key}>
      <Sentence row={row} cause={cause} />
      {missed ? <AssertionDetail of={missed} /> : <Details of={cause.details} />}
      <Excerpt test={row.test} line={cause.suite_line} />
    </section>
  );
}

/** The text that a person pastes elsewhere: the test, every cause with its details, and the command. */
export function asText({ test, name }: Row): string {
  const causes = test.causes?.map((cause) => [`${cause.key}: ${cause.message}`, ...(cause.runs?.length ? [`runs ${cause.runs.join(', ')}`] : []), ...(cause.details ?? [])].join('\n  ')) ?? [];
  return [`${name} (${test.suite.file}:${test.suite.line})`, ...causes, helpOf(test) ?? '', nextCommand(test)].filter(Boolean).join('\n\n');
}

/** All causes except gates, which are shown with their pictures. */
export function Causes({ row }: { row: Row }) {
  const { test } = row;
  const gates = new Set(test.gates.filter((gate) => gate.status !== 'passed').map((gate) => gate.key));
  const own = test.causes?.filter((cause) => !gates.has(cause.key) && cause.message !== test.reason?.message) ?? [];
  return (
    <>
      {test.reason && <ReasonBox reason={test.reason} />}
      {test.reason?.kind === 'suite_refused' && <Refusals test={test} />}
      {own.map((cause, at) => <OwnCheck key={at} row={row} cause={cause} />)}
    </>
  );
}
