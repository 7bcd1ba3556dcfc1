// A page that `mcptest view` serves asks for what changed, and follows a recording.
import { signal } from '@preact/signals';
import type { Report, Trace } from './model';

/** A recording as it happens; rows are named by their places in the report. */
export interface Live {
  at_work: { row: number; runs: number; of: number }[];
  waiting: number[];
  runs: number;
  of: number;
  cost_usd?: number;
  budget_usd?: number;
}

export const live = signal<Live | undefined>(undefined);
/** True if the server still answers. */
export const isLost = signal(false);

const EVERY = 1000;
let version = document.documentElement.dataset.version;
export const isServed = version !== undefined;

export async function served<T>(path: string): Promise<T | undefined> {
  const answer = await fetch(path);
  return answer.status === 200 ? ((await answer.json()) as T) : undefined;
}

export const servedTraces = (at: number) => served<Record<string, Trace>>(`traces/${at}`);

async function look(show: (report: Report) => void): Promise<void> {
  try {
    const found = await served<{ version: number; live: Live | null; report: Report }>(`report?${version}`);
    isLost.value = false;
    if (!found) return;
    version = String(found.version);
    live.value = found.live ?? undefined;
    show(found.report);
  } catch {
    isLost.value = true;
  }
}

/** Looks again and again, but never twice at once. */
export function follow(show: (report: Report) => void): void {
  void look(show).finally(() => setTimeout(() => follow(show), EVERY));
}
