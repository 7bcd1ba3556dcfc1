// Two reports side by side: one sentence, then the tests by how much their runs say. Several: all in one table, and each
// with the first.
import { computed, signal } from '@preact/signals';
import { Fragment } from 'preact';
import type { McptestCompare, Several, Two } from './compare-report';
import { number, percent, plural, whole } from './format';
import { Leaderboard } from './leaderboard';
import { Mark } from './parts';
import { go, route, search, to } from './route';
import { type Column, Heads, sorted } from './sort';
import { Text } from './text';

export type Comparison = McptestCompare;
type Change = Two['tests'][number];
type Verdict = NonNullable<Change['verdict']>;

const WORDS: Record<Verdict, string> = { worse: '▼ worse', better: '▲ better', no_evidence: '= no evidence of change', not_enough_runs: '? not enough runs' };
const RANK: Record<Verdict, number> = { worse: 0, better: 1, no_evidence: 2, not_enough_runs: 3 };
const MARKS: Record<Verdict, 'passed' | 'failed' | 'none'> = { worse: 'failed', better: 'passed', no_evidence: 'none', not_enough_runs: 'none' };

const points = (share: number | undefined) => (share == null ? '–' : `${share > 0 ? '+' : ''}${Math.round(share * 1000) / 10}`);
const rowName = (test: Change) => test.name + (test.model ? ` [${test.model}]` : '') + (test.variant ? ` [${String(test.variant)}]` : '');
const rank = (test: Change) => (test.verdict ? RANK[test.verdict] : 4);
const [LEFT, WIDE] = [8, 300];

const COLUMNS: Column<{ test: Change; at: number }>[] = [
  { key: 'test', name: 'Test', of: ({ test }) => rowName(test) },
  { key: 'a', name: 'A', of: ({ test }) => test.rate_a, down: true },
  { key: 'b', name: 'B', of: ({ test }) => test.rate_b, down: true },
  { key: 'rates', name: 'Pass rate: hollow A, solid B, shaded its 95% interval', left: true },
  { key: 'points', name: 'Points', of: ({ test }) => test.difference },
  { key: 'p', name: 'p (Holm)', of: ({ test }) => test.p_holm },
  { key: 'verdict', name: 'Verdict', of: ({ test }) => rank(test), left: true },
];

/** Hollow A, solid B, and behind them where B may lie: A with the interval of the difference. */
export function Dumbbell({ of }: { of: Change }) {
  if (of.rate_a == null || of.rate_b == null) return <span class="dim">–</span>;
  const x = (share: number) => LEFT + WIDE * Math.min(1, Math.max(0, share));
  const [a, b] = [of.rate_a, of.rate_b];
  return (
    <svg class={`dumbbell ${of.verdict ?? ''}`} viewBox={`0 0 ${WIDE + 16} 18`} width={WIDE + 16} height="18" role="img" aria-label={`${percent(a)}, now ${percent(b)}`} data-a={a} data-b={b}>
      <line class="base" x1={LEFT} x2={LEFT + WIDE} y1="9" y2="9" />
      {of.low != null && of.high != null && <rect class="reach" x={x(a + of.low)} width={Math.max(1, x(a + of.high) - x(a + of.low))} y="4" height="10" />}
      <line class="move" x1={x(a)} x2={x(b)} y1="9" y2="9" />
      <circle class="to" cx={x(b)} cy="9" r="5" />
      <circle class="from" cx={x(a)} cy="9" r="4.5" />
    </svg>
  );
}

function Detail({ of, names }: { of: Change; names: [string, string] }) {
  const moved = of.targets.filter((target) => target.a !== target.b);
  return (
    <div class="change">
      {of.not_compared && <p>Not compared: <Text of={of.not_compared} code /></p>}
      {of.first_difference && (
        <p>The typical run differs from call {of.first_difference.call}: <code class="expected"><Text of={of.first_difference.a ?? 'the end'} /></code>, now <code class="recorded"><Text of={of.first_difference.b ?? 'the end'} /></code></p>
      )}
      <div class="sides">
        {names.map((name, side) => (
          <section key={side} aria-label={name}>
            <h3>{side ? 'B' : 'A'} <Text of={name} /></h3>
            <p><Mark of={side ? of.status_b : of.status_a} /> {side ? of.passed_b : of.passed_a} of {plural(side ? of.runs_b : of.runs_a, 'run')} passed{(side ? of.broken_b : of.broken_a) ? `, ${whole(side ? of.broken_b : of.broken_a)} ended in errors` : ''}</p>
            <ul class="rules mono">{of.calls.filter((call) => (side ? call.runs_b : call.runs_a) > 0).map((call) => <li key={call.tool} class="broken">{side ? '+' : '−'} <Text of={call.tool} /> in {plural(side ? call.runs_b : call.runs_a, 'run')}</li>)}</ul>
          </section>
        ))}
      </div>
      {moved.length > 0 && (
        <table class="numbers">
          <thead><tr>{['Number', 'A', 'B', 'Better', 'p'].map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
          <tbody>{moved.map((one) => <tr key={one.target}><th scope="row" class="mono"><Text of={one.target} /></th><td>{number(one.a)}</td><td><b>{number(one.b)}</b></td><td>{one.better ?? '–'}</td><td>{number(one.p)}</td></tr>)}</tbody>
        </table>
      )}
    </div>
  );
}

const sought = signal('');

export function Compared({ of }: { of: Comparison }) {
  if (!('sides' in of)) return <Pair of={of} base={[]} />;
  const [first, at] = route.value.parts;
  const side = first === 'side' ? of.sides[Number(at)] : undefined;
  return side ? <Pair key={at} of={side} base={['side', at]} /> : <Sides of={of} />;
}

const Sides = ({ of }: { of: Several }) => (
  <main class="page compared">
    <h1><Mark of={MARKS[of.verdict]} large /> {of.sides.length + 1} sides</h1>
    {of.leaderboard && <Leaderboard of={of.leaderboard} name="Side" />}
    <ul class="rules">
      {of.sides.map((side, at) => <li key={at} data-verdict={side.verdict}><Mark of={MARKS[side.verdict]} /> <a href={to('side', at)}><Text of={side.b.name} /></a>: <Text of={side.sentence} /></li>)}
    </ul>
  </main>
);

function Pair({ of, base }: { of: Two; base: string[] }) {
  const open = computed(() => (route.value.parts[base.length] === 'cmp' ? Number(route.value.parts[base.length + 1]) : NaN));
  const words = sought.value.toLowerCase();
  const tests = of.tests.map((test, at) => ({ test, at })).filter(({ test }) => `${rowName(test)} ${test.verdict}`.toLowerCase().includes(words));
  tests.sort((one, other) => rank(one.test) - rank(other.test) || (one.test.p ?? 2) - (other.test.p ?? 2));
  return (
    <main class="page compared">
      <h1><Mark of={MARKS[of.verdict]} large /> <Text of={of.sentence} /></h1>
      <p><b>A</b> <code><Text of={of.a.name} /></code> {plural(of.a.tests, 'test')}, {plural(of.a.runs, 'run')} · <b>B</b> <code><Text of={of.b.name} /></code> {plural(of.b.tests, 'test')}, {plural(of.b.runs, 'run')}</p>
      <dl class="totals">
        {of.rate_a != null && <div><dt>pass rate of A</dt><dd>{percent(of.rate_a)}</dd></div>}
        {of.rate_b != null && <div><dt>pass rate of B</dt><dd>{percent(of.rate_b)}</dd></div>}
        {of.difference != null && <div><dt>difference, in points</dt><dd>{points(of.difference)}<small> {points(of.low)} to {points(of.high)}</small></dd></div>}
        {of.p != null && <div><dt>p</dt><dd>{number(of.p)}</dd></div>}
        {of.smallest_drop != null && <div><dt>smallest drop that shows</dt><dd>{points(of.smallest_drop).slice(1)}<small> points</small></dd></div>}
        {of.more_runs != null && <div><dt>more runs of each test</dt><dd>{whole(of.more_runs)}</dd></div>}
      </dl>
      <p><input type="search" aria-label="Filter the tests" placeholder="Filter: words, worse, better" value={sought.value} onInput={(event) => (sought.value = event.currentTarget.value)} /></p>
      <div class="scroll" tabIndex={0}>
        <table class="numbers wide">
          <thead><Heads columns={COLUMNS} /></thead>
          <tbody>
            {sorted(tests, COLUMNS).map(({ test, at }) => (
              <Fragment key={at}>
                <tr data-verdict={test.verdict ?? 'not_compared'} class={open.value === at ? 'open' : ''}>
                  <th scope="row"><a href={to(...base, 'cmp', at) + search()} onClick={(event) => { if (open.value === at) { event.preventDefault(); go(to(...base) + search()); } }}><Text of={rowName(test)} /></a></th>
                  <td>{test.passed_a}/{test.runs_a}</td>
                  <td>{test.passed_b}/{test.runs_b}</td>
                  <td class="left"><Dumbbell of={test} /></td>
                  <td>{points(test.difference)}</td>
                  <td>{number(test.p_holm)}</td>
                  <td class={`left ${test.verdict ?? ''}`}>{test.verdict ? WORDS[test.verdict] : '– not compared'}</td>
                </tr>
                {open.value === at && <tr><td colSpan={7} class="left"><Detail of={test} names={[of.a.name, of.b.name]} /></td></tr>}
              </Fragment>
            ))}
          </tbody>
        </table>
      </div>
      {([['A', of.only_a], ['B', of.only_b]] as const).map(([side, names]) => names.length > 0 && (
        <section key={side}><h2>Only in {side}</h2><ul>{names.map((name) => <li key={name}><Text of={name} /></li>)}</ul></section>
      ))}
      {of.leaderboard && <><h2>Models</h2><Leaderboard of={of.leaderboard} /></>}
    </main>
  );
}
