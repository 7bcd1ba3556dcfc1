// The data of the page: the report by its schema, and the trace of a run.
import type { Gate, McptestReport, Run, Test } from './report';

export type { Gate, Run, Test };
export type Report = McptestReport;
export type Status = Test['status'];
export type Cause = NonNullable<Test['causes']>[number];
export type Finding = Gate['explanation'][number];
export type Expectation = Gate['expectations'][number];
export type Diff = NonNullable<Expectation['diff']>;
export type Table = NonNullable<Gate['tables']>[number];

export interface Tokens {
  prompt?: number | null;
  completion?: number | null;
  total?: number | null;
}

export interface Turn {
  role: string;
  content?: unknown;
  cost_usd?: number | null;
  duration_ms?: number | null;
  start_ms?: number | null;
  tokens?: Tokens | null;
}

export interface Call {
  name: string;
  server?: string | null;
  args?: unknown;
  args_text?: string | null;
  caller?: unknown;
  distractor?: boolean | null;
  turn?: number | null;
}

export interface Result {
  call_index?: number | null;
  content?: unknown;
  structured?: unknown;
  error?: { code?: number | null; message?: string | null; data?: unknown } | null;
  is_error?: boolean | null;
  start_ms?: number | null;
  duration_ms?: number | null;
}

/** One run as it was recorded, by docs/schema/trace.schema.json. */
export interface Trace {
  tool_calls?: Call[] | null;
  tool_results?: Result[] | null;
  unmade_calls?: Call[] | null;
  final_response?: string | null;
  stop_reason?: string | null;
  final_state?: unknown;
  errors?: unknown[] | null;
  delegations?: { from: string; to: string }[] | null;
  faults?: { name: string; kind: string; call_index: number; virtual_ms?: number | null }[] | null;
  conversation?: { turns?: Turn[] | null; tokens?: Tokens | null; cost_usd?: number | null; duration_ms?: number | null } | null;
}
