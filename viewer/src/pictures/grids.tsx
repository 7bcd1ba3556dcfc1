// Pairs of runs, and tools against faults.
import type { Row } from '../data';
import { number, plural } from '../format';
import { linkTo } from '../parts';
import { Text } from '../text';
import type { Evidence } from './kinds';

/** The similarity of each two runs: one hue, darker for more similar runs. */
export function Stability({ row, of }: { row: Row; of: Evidence<'stability'> }) {
  const cell = of.runs.length > 24 ? 14 : 28;
  const [left, top] = [30, 8];
  const shade = (value: number) => Math.min(6, Math.floor(value * 7));
  return (
    <>
      <svg class="heat" width={left + of.runs.length * cell + 10} height={top + of.runs.length * cell + 20} role="group" aria-label={`Similarity of ${plural(of.runs.length, 'run')}, in pairs; the mean is ${number(of.mean)}`}>
        {of.runs.map((run, at) => (
          <g key={run}>
            <a href={linkTo(row, run)}><text class="axis" x={left - 6} y={top + at * cell + cell / 2 + 4} text-anchor="end">{run}</text></a>
            <text class="axis" x={left + at * cell + cell / 2} y={top + of.runs.length * cell + 12} text-anchor="middle">{run}</text>
            <rect class="same" x={left + at * cell + 1} y={top + at * cell + 1} width={cell - 2} height={cell - 2} rx="2" />
            {(of.similarity[at] ?? []).map((value, other) => (
              <g key={other} class={value == null ? 'unknown' : `shade-${shade(value)}`} data-pair={`${run},${of.runs[other]}`} data-value={value ?? ''}>
                <title>{`runs ${of.runs[other]} and ${run}: ${number(value)}`}</title>
                <rect x={left + other * cell + 1} y={top + at * cell + 1} width={cell - 2} height={cell - 2} rx="2" />
                {of.runs.length <= 12 && value != null && <text x={left + other * cell + cell / 2} y={top + at * cell + cell / 2 + 4} text-anchor="middle">{value === 1 ? '1' : value.toFixed(2).slice(1)}</text>}
              </g>
            ))}
          </g>
        ))}
      </svg>
      <p class="legend">1 is the same tools in the same order. Mean of the pairs: <b>{number(of.mean)}</b></p>
      <Dimensions of={of.dimensions} />
    </>
  );
}

const Dimensions = ({ of }: { of: Evidence<'stability'>['dimensions'] }) => (
  <svg class="dimensions" viewBox={`0 0 440 ${of.length * 22 + 4}`} width="440" role="img" aria-label="The dimensions of stability">
    {of.map((one, at) => (
      <g key={one.name} data-dimension={one.name} data-value={one.value ?? ''}>
        <text x="0" y={at * 22 + 15}>{one.name}</text>
        <rect class="base" x="190" y={at * 22 + 8} width="180" height="6" rx="3" />
        {one.value != null && <rect class="value" x="190" y={at * 22 + 8} width={180 * Math.min(1, Math.max(0, one.value))} height="6" rx="3" />}
        {one.low != null && one.high != null && <line class="range" x1={190 + 180 * one.low} x2={190 + 180 * one.high} y1={at * 22 + 11} y2={at * 22 + 11} />}
        <text x="380" y={at * 22 + 15}>{number(one.value)}</text>
      </g>
    ))}
  </svg>
);

/** A fault that no call ran into is hollow, never green. */
export function FaultMatrix({ of }: { of: Evidence<'fault_matrix'> }) {
  const SIGNS = { survived: '✓', lost: '✗', unmet: '○' };
  return (
    <>
      <table class="fault-grid">
        <caption class="unseen">Tools against faults</caption>
        <thead><tr><th scope="col">Tool</th>{of.faults.map((fault) => <th key={fault} scope="col" class="mono"><Text of={fault} /></th>)}</tr></thead>
        <tbody>
          {of.tools.map((tool) => (
            <tr key={tool}>
              <th scope="row" class="mono"><Text of={tool} /></th>
              {of.faults.map((fault) => {
                const found = of.cells.find((cell) => cell.tool === tool && cell.fault === fault);
                if (!found) return <td key={fault} class="dim">–</td>;
                return <td key={fault} data-cell={`${tool},${fault}`}><span class={found.status}>{SIGNS[found.status]} {found.met ? `${found.recovered}/${found.met}` : 'not met'}</span></td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="legend">Runs that recovered, of the runs that met the fault. Hollow: no run met it.</p>
    </>
  );
}
