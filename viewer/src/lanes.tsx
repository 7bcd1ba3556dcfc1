// The run against the clock, where the recording has one: answers in the first lane, calls below, at once in lanes.
import { time } from './format';
import type { Trace } from './model';
import { steps } from './steps';
import { plain } from './text';

interface Span {
  start: number;
  end: number;
  label: string;
  call?: number;
  failed?: boolean;
}

function spans(trace: Trace): Span[] {
  const out: Span[] = [];
  for (const { turn, label, calls } of steps(trace)) {
    if (turn?.start_ms != null && turn.duration_ms != null) out.push({ start: turn.start_ms, end: turn.start_ms + turn.duration_ms, label });
    for (const { number, call, result } of calls) {
      if (result?.start_ms == null || result.duration_ms == null) continue;
      out.push({ start: result.start_ms, end: result.start_ms + result.duration_ms, label: plain(`${number} ${call.name}`, 60), call: number, failed: result.is_error === true || !!result.error });
    }
  }
  return out;
}

/** The first lane in which a call overlaps with no other. */
function lanes(calls: Span[]): number[] {
  const ends: number[] = [];
  return calls.map((call) => {
    const free = ends.findIndex((end) => end <= call.start);
    const lane = free < 0 ? ends.length : free;
    ends[lane] = call.end;
    return lane;
  });
}

const WIDE = 760;

export function Lanes({ trace, choose }: { trace: Trace; choose: (call: number) => void }) {
  const all = spans(trace);
  if (!all.length) return null;
  const [answers, calls] = [all.filter((span) => !span.call), all.filter((span) => span.call)];
  const end = Math.max(...all.map((span) => span.end), 1);
  const of = lanes(calls);
  const high = 40 + 18 * (Math.max(-1, ...of) + 1);
  const x = (ms: number) => 2 + ((WIDE - 4) * ms) / end;
  const bar = (span: Span, lane: number) => (
    <g key={`${span.label} ${span.start}`} class={span.call ? (span.failed ? 'call failed' : 'call') : 'answer'} onClick={() => span.call && choose(span.call)}>
      <title>{`${span.label}: from ${time(span.start)} to ${time(span.end)}`}</title>
      <rect x={x(span.start)} y={2 + lane * 18} width={Math.max(2, x(span.end) - x(span.start))} height="15" rx="2" />
      {x(span.end) - x(span.start) > 7 * span.label.length + 6 && <text x={x(span.start) + 4} y={13 + lane * 18}>{span.label}</text>}
    </g>
  );
  return (
    <svg class="lanes" viewBox={`0 0 ${WIDE} ${high}`} role="img" aria-label={`The run took ${time(end)}`}>
      {answers.map((span) => bar(span, 0))}
      {calls.map((span, at) => bar(span, of[at] + 1))}
      {[0, 0.25, 0.5, 0.75, 1].map((share) => <text key={share} class="axis" x={x(end * share)} y={high - 4} text-anchor={share === 0 ? 'start' : share === 1 ? 'end' : 'middle'}>{time(end * share)}</text>)}
    </svg>
  );
}
