// A trace as what is read from top to bottom: who spoke, and which calls each answer made.
import type { Call, Result, Trace, Turn } from './model';

export interface Step {
  number: number;
  call: Call;
  result?: Result;
  faults: { name: string; kind: string; virtual_ms?: number | null }[];
}

export interface Spoken {
  role: string;
  label: string;
  text: string;
  turn?: Turn;
  calls: Step[];
}

/** The text of a message or a result: a string, or content blocks. */
export function textOf(content: unknown): string {
  if (content == null) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return JSON.stringify(content);
  return content.map((block) => (typeof block?.text === 'string' ? block.text : JSON.stringify(block))).join('\n');
}

export function said(result: Pick<Result, 'content' | 'error' | 'structured'>): string {
  if (result.error) return result.error.message ?? 'error';
  return textOf(result.content) || (result.structured != null ? JSON.stringify(result.structured) : '');
}

function calls(trace: Trace): Step[] {
  const results = trace.tool_results ?? [];
  return (trace.tool_calls ?? []).map((call, at) => ({
    number: at + 1,
    call,
    result: results.find((one, index) => (one.call_index ?? index) === at),
    faults: (trace.faults ?? []).filter((fault) => fault.call_index === at),
  }));
}

let last: { trace: Trace; steps: Spoken[] } | undefined;

export function steps(trace: Trace): Spoken[] {
  if (last?.trace !== trace) last = { trace, steps: spoken(trace) };
  return last.steps;
}

function spoken(trace: Trace): Spoken[] {
  const made = calls(trace);
  const out: Spoken[] = [];
  let answers = 0;
  for (const turn of trace.conversation?.turns ?? []) {
    const isAnswer = turn.role === 'assistant';
    const number = isAnswer ? answers++ : -1;
    const own = isAnswer ? made.filter((step) => step.call.turn === number) : [];
    // The answers of tools are shown with their calls.
    if (turn.role === 'tool') continue;
    out.push({ role: turn.role, label: isAnswer ? `turn ${answers}` : turn.role, text: textOf(turn.content), turn, calls: own });
  }
  const left = made.filter((step) => !out.some((one) => one.calls.includes(step)));
  out.push(...left.map((step) => ({ role: 'assistant', label: `call ${step.number}`, text: '', calls: [step] })));
  const closing = trace.final_response ?? '';
  const end = out.findLast((one) => one.role === 'assistant');
  if (end && end.text === closing && !end.calls.length) Object.assign(end, { role: 'answer', label: 'answer' });
  else if (closing) out.push({ role: 'answer', label: 'answer', text: closing, calls: [] });
  return out;
}
