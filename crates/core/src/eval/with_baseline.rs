//! What else is known of a gate's block, so that its numbers can be compared with a baseline?

use super::gate::{GateBlock, GateKind, Trait};
use crate::baseline::{TestBaseline, capture};
use crate::problem::Problem;
use crate::report::GateReport;
use crate::row::AgentRow;
use crate::trace::Run;

impl GateKind {
    /// Whether the block may stand beside `agents:`, for all of them.
    pub(crate) fn may_stand_in_suite(&self) -> bool {
        self.traits.contains(&Trait::ComparesWithBaseline)
    }
}

impl GateBlock {
    /// A digest of the block as it is written.
    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }

    /// Whether the gate compares the numbers of the others with a baseline.
    pub(crate) fn compares_with_baseline(&self) -> bool {
        self.kind.traits.contains(&Trait::ComparesWithBaseline)
    }

    /// Whether the block can name files.
    pub(crate) fn reads_files(&self) -> bool {
        self.compares_with_baseline() || self.kind.traits.contains(&Trait::ReadsFiles)
    }

    /// Reads the files that the block names.
    pub(crate) fn read_files(
        &mut self,
        test: &TestBaseline,
        read: &dyn Fn(&str) -> Result<Vec<u8>, String>,
    ) -> Option<Problem> {
        self.gate.read_files(test, read)
    }

    /// Judges the runs of a row, of which a baseline can be made.
    pub(crate) fn judge_beside(&self, row: AgentRow<'_>, row_name: &str, runs: &[Run<'_>]) -> GateReport {
        let scores = self.of(row.variant).score_beside(runs, &|| capture(row, runs));
        self.report(row.variant, row_name, runs, scores)
    }
}
