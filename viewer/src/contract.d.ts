// A field of comparisons that reports are about to have.
import type { Leaderboard } from './compare-report';

declare module './report' {
  interface McptestReport {
    leaderboard?: Leaderboard;
  }
}
