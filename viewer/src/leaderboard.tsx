// The models or the sides of a comparison, as the engine ranked them.
import { number, percent, plural, short, time, usd, whole } from './format';
import type { Report } from './model';
import { type Column, Heads, sorted } from './sort';
import { Text } from './text';

type Board = NonNullable<Report['leaderboard']>;

type Model = Board['models'][number];

const columnsOf = (k: number, name: string): Column<Model>[] => [
  { key: 'model', name, of: (one) => one.model },
  { key: 'tests', name: 'Tests', of: (one) => one.tests, down: true },
  { key: 'runs', name: 'Runs', of: (one) => one.runs, down: true },
  { key: 'pass@1', name: 'pass@1', of: (one) => one.pass_1, down: true },
  { key: 'interval', name: '95% interval', of: (one) => one.low, down: true },
  // Of one run both are pass@1.
  ...(k > 1 ? [{ key: 'pass@k', name: `pass@${k}`, of: (one: Model) => one.pass_k, down: true }, { key: 'pass^k', name: `pass^${k}`, of: (one: Model) => one.pass_hat_k, down: true }] : []),
  { key: 'calls', name: 'Calls', of: (one) => one.calls },
  { key: 'turns', name: 'Turns', of: (one) => one.turns },
  { key: 'tokens', name: 'Tokens', of: (one) => one.tokens },
  { key: 'cost', name: 'Cost', of: (one) => one.cost_usd },
  { key: 'time', name: 'Time', of: (one) => one.duration_ms },
  { key: 'difference', name: 'Against the first', of: (one) => one.difference?.value, down: true },
];

export const Leaderboard = ({ of, name = 'Model' }: { of: Board; name?: string }) => (
  <div class="pane" tabIndex={0}>
    <table class="numbers leaderboard">
      <caption>pass@1: a run passes. {of.k > 1 && `pass@${of.k}: at least one of ${of.k} runs does. pass^${of.k}: all of them do. `}The rest is per run.</caption>
      <thead><Heads columns={columnsOf(of.k, name)} /></thead>
      <tbody>
        {sorted(of.models, columnsOf(of.k, name)).map((one) => (
          <tr key={one.model}>
            <th scope="row" class="mono"><Text of={one.model} /></th>
            <td>{whole(one.tests)}</td>
            <td>{whole(one.runs)}</td>
            <td><b>{percent(one.pass_1)}</b></td>
            <td><Interval low={one.low} high={one.high} at={one.pass_1} /></td>
            {of.k > 1 && <><td>{percent(one.pass_k)}</td><td>{percent(one.pass_hat_k)}</td></>}
            <td>{number(one.calls)}</td>
            <td>{number(one.turns)}</td>
            <td>{short(one.tokens)}</td>
            <td>{usd(one.cost_usd)}</td>
            <td>{time(one.duration_ms)}</td>
            <td>{one.difference ? `${percent(one.difference.value)}, p ${number(one.difference.p)}: ${one.difference.verdict.replaceAll('_', ' ')}` : '–'}</td>
          </tr>
        ))}
      </tbody>
    </table>
    {of.tests_left_out?.length ? <p class="note">Counted: {plural(of.models[0]?.tests ?? 0, 'test')} that all have. Not counted: <Text of={of.tests_left_out.join(', ')} /></p> : null}
    {of.models_left_out?.length ? <p class="note">Without a test in common with these: <Text of={of.models_left_out.join(', ')} /></p> : null}
  </div>
);

/** A share with its interval on a line from 0 to 1. */
export const Interval = ({ low, high, at, from }: { low?: number | null; high?: number | null; at?: number | null; from?: number | null }) => (
  <svg class="interval" viewBox="0 0 120 14" width="120" height="14" role="img" aria-label={`${percent(at)}, from ${percent(low)} to ${percent(high)}`}>
    <line class="base" x1="2" x2="118" y1="7" y2="7" />
    {low != null && high != null && <rect class="band" x={2 + low * 116} width={Math.max(1, (high - low) * 116)} y="3" height="8" />}
    {from != null && <circle class="hollow" cx={2 + from * 116} cy="7" r="4" />}
    {at != null && <circle class="dot" cx={2 + at * 116} cy="7" r="4" />}
  </svg>
);
