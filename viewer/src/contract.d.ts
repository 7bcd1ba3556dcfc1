// Fields of the report that its schema is about to have.
import './report';

declare module './report' {
  interface McptestReport {
    version?: string;
    command?: string;
    gates?: Record<string, { summary: string; targets: Record<string, { doc: string; unit: string; range?: [number, number | null]; better: string; anchor: string }> }>;
    leaderboard?: { k: number; models: { model: string; tests: number; runs: number; pass_1: number; low: number; high: number; pass_k?: number | null; pass_hat_k?: number | null; calls?: number; turns?: number; tokens?: number; cost_usd?: number; duration_ms?: number; difference?: { value: number; low: number; high: number; p: number; verdict: string } }[] };
  }
  interface Test {
    id?: string;
  }
  interface Run {
    line?: number;
    stop_reason?: string;
    turns?: number;
    tokens?: { prompt?: number; completion?: number; total?: number; cached?: number };
    cost_usd?: number;
  }
  interface Gate {
    evidence?: { kind: string; [field: string]: any };
    grades?: { run: number; check: string; votes?: { model: string; sample: number; score: number; answers?: { name: string; score: number; reason: string }[] }[]; scores?: Record<string, number> }[];
  }
}
