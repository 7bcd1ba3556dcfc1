//! In how many runs does something hold, and is it lost beyond what chance explains?

use crate::baseline::DifferenceClass;
use mcptest_core::words::count;
use mcptest_stats::fisher_exact;
use serde::Serialize;

/// A loss in some of the runs must be as unlikely as this: a row has dozens of things that can be lost.
const UNLIKELY: f64 = 0.01;

/// The number of runs in which a fact holds, of the runs in which it can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Support {
    /// Runs in which it holds.
    pub held: usize,
    /// Runs in which it can hold.
    pub of: usize,
}

impl Support {
    /// Counts runs in which a fact holds. A run that does not show the fact is not counted.
    pub(crate) fn count(held: impl Iterator<Item = Option<bool>>) -> Self {
        let known: Vec<bool> = held.flatten().collect();
        Self {
            held: known.iter().filter(|holds| **holds).count(),
            of: known.len(),
        }
    }

    /// Returns true if no run contradicts it.
    pub(crate) fn is_whole(self) -> bool {
        self.held == self.of
    }

    fn lost(self) -> u64 {
        (self.of - self.held) as u64
    }
}

/// The number of further runs that each side needs before an invariant can be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MissingRuns {
    /// Missing runs of the baseline.
    pub before: usize,
    /// Missing runs of the newer side.
    pub now: usize,
}

impl MissingRuns {
    /// The number of runs of a side that must be able to show an invariant before it can be broken.
    pub const ENOUGH: usize = 3;

    /// The missing runs for sides with these numbers of runs; `None` if there are enough.
    pub fn between(before: usize, now: usize) -> Option<Self> {
        let missing = |runs: usize| Self::ENOUGH.saturating_sub(runs);
        let (before, now) = (missing(before), missing(now));
        (before + now > 0).then_some(Self { before, now })
    }

    /// `2 more runs on each side`, `1 more run now`.
    pub fn in_words(self) -> String {
        let more = |missing: usize| count(missing, "more run");
        match (self.before, self.now) {
            (before, now) if before == now => format!("{} on each side", more(before)),
            (before, 0) => format!("{} before", more(before)),
            (0, now) => format!("{} now", more(now)),
            (before, now) => format!("{} before and {now} now", more(before)),
        }
    }
}

/// The class of a fact that held in every earlier run. It is broken if it holds in no run now, or
/// in too few runs for chance to explain it. Both sides need enough runs: an agent differs from
/// itself in nearly half of the pairs of single runs.
pub(crate) fn class_of_invariant(before: Support, now: Support) -> DifferenceClass {
    if now.is_whole() {
        return DifferenceClass::Pass;
    }
    if MissingRuns::between(before.of, now.of).is_some() {
        return DifferenceClass::Undecided;
    }
    if now.held == 0 || is_lost_beyond_chance(before, now) {
        DifferenceClass::Fail
    } else {
        DifferenceClass::Undecided
    }
}

fn is_lost_beyond_chance(before: Support, now: Support) -> bool {
    let table = fisher_exact(
        now.held as u64,
        now.lost(),
        before.held as u64,
        before.lost(),
    );
    table.is_ok_and(|table| table.p_less <= UNLIKELY)
}
