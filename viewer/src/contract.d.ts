// Fields of the report that its schema is about to have.
import './report';

declare module './report' {
  interface McptestReport {
    leaderboard?: { k: number; models: { model: string; tests: number; runs: number; pass_1: number; low: number; high: number; pass_k?: number | null; pass_hat_k?: number | null; calls?: number; turns?: number; tokens?: number; cost_usd?: number; duration_ms?: number; difference?: { value: number; low: number; high: number; p: number; verdict: string } }[] };
  }
}
