//! In which order are the runs of a cassette, regardless of the order of recording?

use super::parse::CassetteRun;
use super::problem::Fault;
use std::collections::BTreeSet;

/// The run numbers so far.
#[derive(Default)]
pub(super) struct Order {
    seen: BTreeSet<usize>,
}

impl Order {
    /// The number of a run that is written without one.
    pub(super) fn next(&self) -> usize {
        self.seen.last().map_or(1, |last| last.saturating_add(1))
    }

    /// Counts a run. Each number is unique.
    pub(super) fn take(&mut self, run: usize) -> Result<(), Fault> {
        if self.seen.insert(run) {
            Ok(())
        } else {
            Err(Fault::DuplicateRun { run })
        }
    }

    /// The runs by number. Unreadable ones (0) take the missing numbers.
    pub(super) fn sorted(self, mut runs: Vec<CassetteRun<'_>>) -> Vec<CassetteRun<'_>> {
        let mut free = (1..).filter(|number| !self.seen.contains(number));
        for run in runs.iter_mut().filter(|run| run.number == 0) {
            run.number = free.next().unwrap_or(usize::MAX);
        }
        runs.sort_by_key(|run| run.number);
        runs
    }
}
