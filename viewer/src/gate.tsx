// One gate: its picture, every number with its threshold, and what it found.
import { useState } from 'preact/hooks';
import type { Row } from './data';
import { Differences } from './assertions';
import { number, ranges } from './format';
import { Excerpt, Sentence } from './causes';
import type { Cause, Expectation, Finding, Gate } from './model';
import { bare, Defined, definitionOf, linkTo, Mark, stateOfGate } from './parts';
import { Grades } from './grades';
import { pictureOf } from './pictures/all';
import { to } from './route';
import { brief, Text } from './text';

const SIGNS: Record<string, string> = { gte: '≥', gt: '>', lte: '≤', lt: '<', exact: '=' };

/** A matcher as a sign and a number, if it compares numbers. */
function asked(one: Expectation): { words: string; low?: number; high?: number } {
  const [[key, value] = ['', undefined]] = Object.entries((one.matcher ?? {}) as object);
  if (typeof value !== 'number' || !SIGNS[key]) return { words: brief(one.matcher) };
  return { words: `${SIGNS[key]} ${number(value)}`, low: key.startsWith('l') ? undefined : value, high: key.startsWith('g') ? undefined : value };
}

/** A number between the ends of its range; where it would fail is tinted, a tick is at the threshold. */
function Meter({ value, range, limit, failed }: { value: number; range: [number, number | null]; limit?: { low?: number; high?: number }; failed?: boolean }) {
  const threshold = limit?.low ?? limit?.high;
  const low = range[0];
  const high = range[1] ?? ((Math.max(value, threshold ?? 0) || 1) * 1.25);
  const x = (at: number) => 4 + 112 * Math.min(1, Math.max(0, (at - low) / (high - low || 1)));
  return (
    <svg class={`meter ${threshold == null ? '' : failed ? 'failed' : 'passed'}`} viewBox="0 0 120 16" width="120" height="16" role="img" aria-label={`${number(value)} from ${number(low)} to ${number(high)}${threshold == null ? '' : `, threshold ${number(threshold)}`}`}>
      <rect class="base" x="4" y="6" width="112" height="4" rx="2" />
      {limit?.low != null && <rect class="fails" x="4" y="4" width={Math.max(0, x(limit.low) - 4)} height="8" />}
      {limit?.high != null && <rect class="fails" x={x(limit.high)} y="4" width={Math.max(0, 116 - x(limit.high))} height="8" />}
      <rect class="value" x="4" y="6" width={x(value) - 4} height="4" rx="2" />
      <circle class="value" cx={x(value)} cy="8" r="3.5" />
      {threshold != null && <line class="tick" x1={x(threshold)} x2={x(threshold)} y1="1" y2="15" />}
    </svg>
  );
}

function Target({ gate, name, expectations }: { gate: Gate; name: string; expectations: Expectation[] }) {
  const value = gate.targets[name];
  const about = definitionOf(gate.key, name);
  const failed = expectations.some((one) => !one.passed);
  const asks = expectations.map(asked);
  // Without an end and without a threshold, a bar has no scale.
  const draws = value != null && about?.range && about.unit !== 'flag' && (about.range[1] != null || asks.some((one) => one.low != null || one.high != null));
  return (
    <tr class={expectations.length ? 'asserted' : ''} data-target={name}>
      <th scope="row"><Defined gate={gate.key} target={name}>{bare(gate.key, name).split(/(?<=[._])/).flatMap((part) => [part, <wbr />])}</Defined></th>
      <td class={expectations.length ? (failed ? 'value failed' : 'value passed') : 'value'}>
        {expectations.length > 0 && <Mark of={failed ? 'failed' : 'passed'} />}
        <Defined gate={gate.key} target={name}>{number(value)}</Defined>
      </td>
      <td class="left dim">{asks.map((one) => one.words).join(', ')}</td>
      <td>{draws && <Meter value={value} range={about.range as [number, number | null]} limit={asks[0]} failed={failed} />}</td>
    </tr>
  );
}

function Targets({ gate }: { gate: Gate }) {
  const of = (name: string) => gate.expectations.filter((one) => one.target === name);
  // A flag that the suite does not name only repeats that the gate failed.
  const saysNothing = (name: string) => definitionOf(gate.key, name)?.unit === 'flag' && of(name).some((one) => !one.passed && one.suite_line == null);
  const names = Object.keys(gate.targets).filter((name) => !saysNothing(name));
  const asserted = names.filter((name) => of(name).length);
  const sorted = [...asserted, ...names.filter((name) => !of(name).length)];
  return (
    <table class="targets">
      <caption class="unseen">Numbers of {gate.key}</caption>
      <tbody>{sorted.map((name) => <Target key={name} gate={gate} name={name} expectations={of(name)} />)}</tbody>
    </table>
  );
}

/** Findings with the same words are one, with the runs that they are about. */
function merged(findings: Finding[]): { finding: Finding; runs: number[] }[] {
  const found = new Map<string, { finding: Finding; runs: number[] }>();
  for (const finding of findings) {
    const key = JSON.stringify([finding.message, finding.diff, finding.run == null]);
    const one = found.get(key) ?? { finding, runs: [] };
    if (finding.run != null) one.runs.push(finding.run);
    found.set(key, one);
  }
  return [...found.values()];
}

const SHOWN = 12;

function Findings({ row, gate, cause }: { row: Row; gate: Gate; cause?: Cause }) {
  const [all, setAll] = useState(false);
  // Shown once: neither the contents of a run's table nor the first sentence of the card is repeated.
  const tabled = new Set(gate.tables?.map((table) => table.run));
  const isShown = (finding: Finding) => (finding.run != null && tabled.has(finding.run)) || (finding.message === cause?.message && !finding.diff?.length);
  const findings = merged(gate.explanation.filter((finding) => !isShown(finding)));
  const isSaid = (text: string) => text === cause?.message || cause?.details?.includes(text);
  const shown = all ? findings : findings.slice(0, SHOWN);
  return (
    <ul class="findings">
      {gate.not_exercised && <li>Not exercised: <Text of={gate.not_exercised} code /></li>}
      {gate.remarks?.map((remark, at) => <li key={`remark ${at}`}><Text of={remark.message} code /></li>)}
      {gate.summary && !isSaid(gate.summary) && <li><Text of={gate.summary} code /></li>}
      {shown.map(({ finding, runs }, at) => (
        <li key={at} class={runs.length ? 'of-run' : ''}>
          {runs.length > 0 && <a href={linkTo(row, runs[0])}>{runs.length === 1 ? 'run' : 'runs'} {ranges(runs)}</a>}
          <div><Text of={finding.message} code />{!!finding.diff?.length && <Differences of={finding.diff} />}</div>
        </li>
      ))}
      {findings.length > SHOWN && !all && <li><button class="button" onClick={() => setAll(true)}>{findings.length - SHOWN} more</button></li>}
      {gate.line && <li class="mono"><Text of={gate.line} /></li>}
    </ul>
  );
}

export function GateCard({ row, gate }: { row: Row; gate: Gate }) {
  const state = stateOfGate(gate);
  const picture = pictureOf(row, gate);
  const cause = row.test.causes?.find((one) => one.key === gate.key && state !== 'passed');
  return (
    <details class={`card gate ${state}`} open={state !== 'passed' && state !== 'none'} data-gate={gate.key}>
      <summary>
        <Mark of={state} /> <b class="mono">{gate.key}</b>
        <span class="dim brief">{gate.expectations.map((one) => `${bare(gate.key, one.target)} ${number(gate.targets[one.target])} ${asked(one).words}`).join(' · ')}</span>
      </summary>
      <a class="definition" href={to('doc', gate.key)}>What {gate.key} asks</a>
      {cause && (
        <div class="told">
          <Sentence row={row} cause={cause} />
          {!gate.tables?.length && cause.details?.map((line, at) => <p key={at}><Text of={line} code /></p>)}
          <Excerpt test={row.test} line={cause.suite_line} />
        </div>
      )}
      <div class={picture ? 'body' : 'body plain'}>
        {picture && <div class="picture">{picture}</div>}
        <div>
          <Targets gate={gate} />
          <Findings row={row} gate={gate} cause={cause} />
        </div>
      </div>
      {gate.grades && gate.grades.length > 0 && <Grades row={row} grades={gate.grades} />}
    </details>
  );
}
