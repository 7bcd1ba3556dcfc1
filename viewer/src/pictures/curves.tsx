// Shares against a count: how reliability decays, and how accuracy holds among distractors.
import { type Row, rows } from '../data';
import { percent, plural } from '../format';
import { plain } from '../text';
import type { Evidence } from './kinds';

const [LEFT, TOP, WIDE, HIGH] = [44, 12, 400, 150];

/** The field of a curve: shares from 0% to 100% upwards, counts to the right. */
function frame(counts: number[]) {
  const [low, high] = [Math.min(...counts), Math.max(...counts)];
  const x = (count: number) => LEFT + (high === low ? WIDE / 2 : (WIDE * (count - low)) / (high - low));
  const y = (share: number) => TOP + HIGH * (1 - share);
  const line = (points: [number, number | null | undefined][]) => points.filter(([, share]) => share != null).map(([count, share], at) => `${at ? 'L' : 'M'}${x(count).toFixed(1)} ${y(share!).toFixed(1)}`).join('');
  const band = (points: [number, number, number][]) => `${line(points.map(([count, , top]) => [count, top]))}${line(points.toReversed().map(([count, bottom]) => [count, bottom])).replace('M', 'L')}Z`;
  const ticks = counts.length <= 8 ? counts : counts.filter((_, at) => at === 0 || at === counts.length - 1 || at % Math.ceil(counts.length / 6) === 0);
  const grid = (
    <g class="grid">
      {[0, 0.5, 1].map((share) => (
        <g key={share}><line x1={LEFT} x2={LEFT + WIDE} y1={y(share)} y2={y(share)} /><text class="axis" x={LEFT - 6} y={y(share) + 4} text-anchor="end">{share * 100}%</text></g>
      ))}
      {ticks.map((count) => <text key={count} class="axis" x={x(count)} y={TOP + HIGH + 16} text-anchor="middle">{count}</text>)}
    </g>
  );
  return { x, y, line, band, grid };
}

export function Reliability({ of }: { of: Evidence<'reliability'> }) {
  const { x, y, line, band, grid } = frame(of.curve.map((point) => point.k));
  return (
    <>
      <svg class="curve" viewBox={`0 0 ${LEFT + WIDE + 16} ${TOP + HIGH + 24}`} role="img" aria-label={`pass^k for k up to ${of.curve.at(-1)?.k}: ${percent(of.curve.at(-1)?.power)}`}>
        {grid}
        <path class="band" d={band(of.curve.map((point) => [point.k, point.low, point.high]))} />
        <path class="line" d={line(of.curve.map((point) => [point.k, point.power]))} />
        <path class="dashed" d={line(of.curve.map((point) => [point.k, point.unbiased]))} />
        {of.curve.map((point) => (
          <g key={point.k} data-k={point.k} data-power={point.power} data-unbiased={point.unbiased ?? ''}>
            <title>{`k = ${point.k}: ${percent(point.power)}, from ${percent(point.low)} to ${percent(point.high)}; unbiased ${percent(point.unbiased)}`}</title>
            <circle class="dot" cx={x(point.k)} cy={y(point.power)} r="2.5" />
          </g>
        ))}
      </svg>
      <p class="legend">The chance that k runs in a row pass. Solid: p^k with its 95% band. Dashed: unbiased. {of.passed} of {plural(of.runs, 'run')} passed.</p>
    </>
  );
}

/** The points of an evidence with the floor that its runs certify, where they do. */
const certified = (of: Evidence<'distractors'>) => of.points.map((point) => ({ ...point, low: of.floor ?? point.low }));

/** The points of a row and of the other rows of its sweep. */
function sweep(row: Row): Evidence<'distractors'>['points'] {
  const isSibling = ({ test }: Row) => test.name === row.test.name && test.suite.file === row.test.suite.file && test.model === row.test.model;
  const gates = rows.filter(isSibling).flatMap((one) => one.test.gates);
  const points = gates.flatMap(({ evidence }) => (evidence?.kind === 'distractors' ? certified(evidence) : []));
  return points.sort((one, other) => one.count - other.count);
}

export function Distractors({ row, of }: { row: Row; of: Evidence<'distractors'> }) {
  const points = row.test.variant ? sweep(row) : certified(of);
  if (!points.length) return null;
  const { x, y, line, band, grid } = frame(points.map((point) => point.count));
  const [first, last] = [points[0], points.at(-1)!];
  return (
    <>
      <svg class="curve" viewBox={`0 0 ${LEFT + WIDE + 16} ${TOP + HIGH + 24}`} role="img" aria-label={`Accuracy with ${first.count} to ${last.count} distractors: ${percent(first.accuracy)} to ${percent(last.accuracy)}`}>
        {grid}
        <path class="band" d={band(points.map((point) => [point.count, 0, point.low]))} />
        <path class="dashed" d={line(points.map((point) => [point.count, point.low]))} />
        {of.asked_floor != null && <g class="asked"><line x1={LEFT} x2={LEFT + WIDE} y1={y(of.asked_floor)} y2={y(of.asked_floor)} /><text x={LEFT + 4} y={y(of.asked_floor) - 4}>asked for: {percent(of.asked_floor)}</text></g>}
        <path class="line" d={line(points.map((point) => [point.count, point.accuracy]))} />
        {points.map((point) => (
          <g key={point.count} data-count={point.count} data-accuracy={point.accuracy} data-floor={point.low}>
            <title>{`${plural(point.count, 'distractor')}: ${point.correct} of ${plural(point.runs, 'run')} right, at least ${percent(point.low)}`}</title>
            {points.length === 1 && <path class="dashed" d={`M${x(point.count)} ${y(point.accuracy ?? point.low)}V${y(point.low)}m-20 0h40`} />}
            {point.accuracy != null && <circle class="dot" cx={x(point.count)} cy={y(point.accuracy)} r="4" />}
          </g>
        ))}
      </svg>
      <p class="legend">Dots: accuracy by the number of distractors. Dashed: the floor that is certified.{of.floor != null && ` Of this row it is ${percent(of.floor)}.`}</p>
    </>
  );
}

/** The worth of each tool: the drop of success without it. */
export function Ablation({ of }: { of: Evidence<'ablate'> }) {
  // Drops are in points.
  const x = (drop: number) => 340 + 0.9 * Math.max(-100, Math.min(100, drop));
  const [high, bottom] = [38, of.rows.length * 38];
  return (
    <>
      <svg class="drops" viewBox={`0 0 530 ${bottom + 24}`} width="530" role="img" aria-label="The drop of success without each tool">
        <line class="zero" x1={x(0)} x2={x(0)} y1="4" y2={bottom + 4} />
        {of.rows.map((row, at) => (
          <g key={row.tool} data-tool={row.tool} data-drop={row.drop}>
            <title>{`without ${plain(row.tool)}: ${row.passed} of ${plural(row.runs, 'run')} passed`}</title>
            <text x="4" y={at * high + 18}>{plain(row.tool, 34)}</text>
            {row.instead && <text class="dim" x="4" y={at * high + 32}>{plain(row.instead, 28)} instead</text>}
            <rect class="band" x={x(row.low)} width={Math.max(1, x(row.high) - x(row.low))} y={at * high + 11} height="14" />
            <circle class="dot" cx={x(row.drop)} cy={at * high + 18} r="5" />
            <text x="446" y={at * high + 22}>{plural(row.drop, 'point')}</text>
          </g>
        ))}
        <text class="axis" x={x(0)} y={bottom + 18} text-anchor="middle">0</text>
      </svg>
      <p class="legend">The drop of success without each tool, with its 95% interval; right of the line it is missed.</p>
    </>
  );
}
