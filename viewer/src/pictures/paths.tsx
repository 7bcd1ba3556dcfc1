// Calls on a line: the golden path with its detours, and the orders and data that had to hold.
import type { Row } from '../data';
import { linkTo } from '../parts';
import { plain, Text } from '../text';
import { Picker } from './picker';
import type { Evidence } from './kinds';

type Golden = Evidence<'golden_path'>;

/** Half of what a name takes, so that the first is not cut. */
const middle = (name = '') => 6 + 3.4 * Math.min(30, name.length);

/** The path from left to right; what was missed is hollow, detours hang below the step they follow. */
function GoldenRun({ row, path, run }: { row: Row; path: string[]; run: Golden['runs'][number] }) {
  const early = run.calls[0]?.detour ? 120 : 0;
  const gap = Math.max(96, Math.min(150, (480 - early) / Math.max(1, path.length)));
  const x = (step: number) => Math.max(48, middle(path[0])) + early + gap * step;
  const detours = new Map<number, typeof run.calls>();
  let after = -1;
  for (const call of run.calls) {
    if (call.step != null) after = call.step - 1;
    if (call.detour) detours.set(after, [...(detours.get(after) ?? []), call]);
  }
  // Each group below the one before it, so that no two names overlap. Those before the first step hang left of it.
  let below = 0;
  const hung = [...detours].map(([step, list]) => ({ list, x: step < 0 ? 12 : x(step), from: below, y: 46 + 18 * (below += list.length) }));
  const missed = new Set(run.missed);
  return (
    <svg class="golden" width={x(path.length - 1) + 80} height={58 + below * 18} role="group" aria-label={`Run ${run.run}: ${missed.size} of ${path.length} steps missed, ${run.calls.filter((call) => call.detour).length} detours`}>
      <line class="way" x1={x(0)} x2={x(path.length - 1)} y1="34" y2="34" />
      {path.map((tool, step) => {
        const call = run.calls.find((one) => one.step === step + 1);
        const node = (
          <g key={step} class={missed.has(step + 1) ? 'missed' : 'reached'} data-step={step + 1}>
            <circle cx={x(step)} cy="34" r="6" />
            <text x={x(step)} y="18" text-anchor="middle">{plain(tool, Math.floor(gap / 6.8))}</text>
          </g>
        );
        return call ? <a href={linkTo(row, run.run, call.number)}>{node}</a> : node;
      })}
      {hung.map(({ list, x, y, from }) => (
        <g key={x} class="detours">
          <path d={`M${x} 41V${y - 8}`} />
          {list.map((call, index) => (
            <a key={call.number} href={linkTo(row, run.run, call.number)} data-detour={call.number}>
              <path d={`M${x} ${56 + (from + index) * 18}h10`} />
              <text x={x + 14} y={60 + (from + index) * 18}>{call.number} {plain(call.tool, 30)}</text>
            </a>
          ))}
        </g>
      ))}
    </svg>
  );
}

export const GoldenPath = ({ row, of }: { row: Row; of: Golden }) => (
  <Picker items={of.runs} label={(run) => run.run} leftOut={of.left_out}>
    {(run) => (
      <>
        <GoldenRun row={row} path={of.path} run={run} />
        <p class="legend">Run {run.run}. Filled: reached. Hollow: missed. Below: detours, by the number of the call.</p>
      </>
    )}
  </Picker>
);

type Axes = Evidence<'trajectory_axes'>;

interface Arc {
  from?: number | null;
  to?: number | null;
  held: boolean;
  label: string;
}

/** The calls on a line; orders above, data below, what did not hold dashed. */
function AxesRun({ row, run }: { row: Row; run: Axes['runs'][number] }) {
  const gap = Math.max(72, Math.min(140, 600 / Math.max(1, run.calls.length)));
  const x = (call: number) => Math.max(40, middle(run.calls[0])) + gap * (call - 1);
  const order: Arc[] = run.order.map((one) => ({ from: one.before_call, to: one.after_call, held: one.held, label: `${one.before} before ${one.after}` }));
  const data: Arc[] = run.data.map((one) => ({ from: one.from_call, to: one.to_call, held: one.held, label: one.what ?? `${one.from} to ${one.to}` }));
  const drawn = (arcs: Arc[]) => arcs.filter((arc) => arc.from != null && arc.to != null);
  const lift = (arc: Arc) => Math.min(60, 16 + 12 * Math.abs(arc.to! - arc.from!));
  const room = (list: Arc[], least: number) => Math.max(least, ...drawn(list).map((arc) => 14 + lift(arc)));
  // The names are where no arc is; where both have some, below.
  const side = drawn(order).length ? 1 : -1;
  const isTight = run.calls.some((tool) => 2 * middle(tool) > gap);
  const line = room(order, side > 0 ? 14 : 40);
  const arcs = (list: Arc[], up: number, kind: string) => drawn(list).map((arc, at) => (
    <g key={`${kind}${at}`} class={arc.held ? 'held' : 'broken'} data-arc={kind}>
      <title>{plain(arc.label)}</title>
      <path d={`M${x(arc.from!)} ${line + up * 8}Q${(x(arc.from!) + x(arc.to!)) / 2} ${line + up * (8 + 2 * lift(arc))} ${x(arc.to!)} ${line + up * 8}`} />
    </g>
  ));
  return (
    <svg class="axes" width={x(run.calls.length) + middle(run.calls.at(-1))} height={line + room(data, side > 0 ? 40 : 14)} role="group" aria-label={`Run ${run.run}: ${order.filter((one) => !one.held).length} orders and ${data.filter((one) => !one.held).length} flows of data did not hold`}>
      <line class="way" x1={x(1)} x2={x(Math.max(1, run.calls.length))} y1={line} y2={line} />
      {arcs(order, -1, 'order')}
      {arcs(data, 1, 'data')}
      {run.calls.map((tool, at) => (
        <a key={at} href={linkTo(row, run.run, at + 1)}>
          <circle cx={x(at + 1)} cy={line} r="5" />
          <text x={x(at + 1)} y={line + side * (14 + (isTight ? (at % 2) * 13 : 0)) + (side > 0 ? 4 : 0)} text-anchor="middle">{plain(tool, Math.floor((isTight ? 2 : 1) * gap / 6.8))}</text>
        </a>
      ))}
    </svg>
  );
}

export const TrajectoryAxes = ({ row, of }: { row: Row; of: Axes }) => (
  <Picker items={of.runs} label={(run) => run.run} leftOut={of.left_out}>
    {(run) => (
      <>
        <AxesRun row={row} run={run} />
        <ul class="rules">
          {run.order.map((one, at) => <li key={`o${at}`} class={one.held ? 'held' : 'broken'}>{one.held ? '✓' : '✗'} <Text of={`${one.before} before ${one.after}`} /></li>)}
          {run.data.map((one, at) => <li key={`d${at}`} class={one.held ? 'held' : 'broken'}>{one.held ? '✓' : '✗'} <Text of={`${one.from} → ${one.to}${one.what ? `: ${one.what}` : ''}`} code /></li>)}
        </ul>
        <p class="legend">Arcs above: orders. Arcs below: a result used as an argument. Dashed: did not hold.</p>
      </>
    )}
  </Picker>
);

type Edges = Evidence<'tool_edges'>;

/** Callers left, tools right, in the report's order: the same picture every time. */
export function ToolEdges({ of }: { of: Edges }) {
  const callers = [...new Set([...of.edges.map((edge) => edge.caller), ...of.handoffs.flatMap((one) => [one.from, one.to])])];
  const tools = [...new Set(of.edges.map((edge) => edge.tool))];
  const most = Math.max(1, ...of.edges.map((edge) => edge.calls));
  // The agent that hands over is named in the gap above the agent that takes over.
  const high = Math.max(callers.length * (of.handoffs.length ? 54 : 34), tools.length * 34) + 10;
  const y = (names: string[], name: string) => 22 + (high / Math.max(1, names.length)) * names.indexOf(name) + (high / Math.max(1, names.length) - 34) / 2;
  return (
    <>
      <svg class="edges" viewBox={`0 0 532 ${high + 10}`} width="532" role="img" aria-label={`${callers.length} callers, ${tools.length} tools`}>
        {of.edges.map((edge) => {
          const [from, to] = [y(callers, edge.caller), y(tools, edge.tool)];
          return (
            <g key={`${edge.caller} ${edge.tool}`} class={`${edge.restricted ? 'restricted' : ''} ${edge.failed ? 'broken' : 'held'}`} data-edge={`${edge.caller}>${edge.tool}`}>
              <path d={`M170 ${from}C260 ${from} 290 ${to} 380 ${to}`} stroke-width={1 + (4 * edge.calls) / most} />
              <text x="372" y={to - 5} text-anchor="end">{edge.failed ? '✗ ' : ''}×{edge.calls}</text>
            </g>
          );
        })}
        {of.handoffs.map((one, at) => {
          const [from, to] = [y(callers, one.from), y(callers, one.to)];
          return (
            <g key={at} class={one.declared ? 'held' : 'broken'} data-handoff={`${one.from}>${one.to}`}>
              <path d={`M24 ${from}C0 ${from} 0 ${to} 24 ${to}`} stroke-width="2" />
              <text x="24" y={to - 18}>{one.declared ? '' : '✗ '}{plain(one.from, 16)} hands over ×{one.count}</text>
            </g>
          );
        })}
        {callers.map((name) => <Box key={name} x={24} y={y(callers, name)} name={name} />)}
        {tools.map((name) => <Box key={name} x={382} y={y(tools, name)} name={name} />)}
      </svg>
      <p class="legend">Width: calls. Dashed: restricted. Red: not allowed.</p>
    </>
  );
}

const Box = ({ x, y, name }: { x: number; y: number; name: string }) => (
  <g class="box">
    <title>{plain(name)}</title>
    <rect x={x} y={y - 13} width="146" height="26" rx="5" />
    <text x={x + 73} y={y + 4} text-anchor="middle">{plain(name, 20)}</text>
  </g>
);
