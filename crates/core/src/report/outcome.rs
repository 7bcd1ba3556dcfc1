//! What is the outcome of a run?
//!
//! A run has failed if its `expect:` fails, if its agent crashed, or if a gate that scores run by run fails it, even
//! if the gate as a whole passes. Every report, table and comparison counts this outcome.

use super::{GateReport, RunReport, Status, TestReport};
use mcptest_stats::Tally;

impl TestReport {
    /// Sets the outcome of each run once the gates are judged.
    pub fn settle_runs(&mut self) {
        for gate in &self.gates {
            let is_failed = |run: &&mut RunReport| gate.failed_runs.contains(&run.index);
            for run in self.runs.iter_mut().filter(is_failed) {
                if !run.failed_by.contains(&gate.key) {
                    run.failed_by.push(gate.key.clone());
                }
                if run.status == Status::Passed {
                    run.status = Status::Failed;
                }
            }
        }
    }

    /// The number of passed runs.
    pub fn passed_runs(&self) -> usize {
        self.runs
            .iter()
            .filter(|run| run.status == Status::Passed)
            .count()
    }

    /// Returns true if neither a run nor a gate asserts anything. A gate without targets asserts
    /// something without an expectation.
    pub fn asserts_nothing(&self) -> bool {
        let is_silent =
            |gate: &GateReport| gate.expectations.is_empty() && !gate.targets.is_empty();
        self.gates.iter().all(is_silent) && self.runs.iter().all(|run| run.expectations.is_empty())
    }

    /// The number of runs that ended in an error.
    pub fn broken_runs(&self) -> usize {
        self.runs
            .iter()
            .filter(|run| run.status == Status::Error)
            .count()
    }

    /// The number of runs that passed. A run that ended in an error did not pass. A test without runs, such as a
    /// probe of a server, counts as one run if it was judged.
    pub fn tally(&self) -> Tally {
        if self.runs.is_empty() {
            let is_judged = matches!(self.status, Status::Passed | Status::Failed);
            return Tally {
                passed: u64::from(self.status == Status::Passed),
                runs: u64::from(is_judged),
            };
        }
        Tally {
            passed: self.passed_runs() as u64,
            runs: self.runs.len() as u64,
        }
    }
}

impl RunReport {
    /// Returns true if it did not pass, whatever its gates report: its `expect:` failed, its agent crashed, or it is
    /// an error.
    pub fn fails_by_itself(&self) -> bool {
        let is_bad = matches!(self.status, Status::Failed | Status::Error);
        let has_failed = || self.expectations.iter().any(|one| !one.passed);
        is_bad && (self.failed_by.is_empty() || self.reason.is_some() || has_failed())
    }
}
