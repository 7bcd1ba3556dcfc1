//! Which exit code does a report lead to?

use super::Report;

impl Report {
    /// 7 if nothing was selected, otherwise 2 if any row is an error, otherwise 1 if any row
    /// failed, otherwise 6 if fewer tools were called than required, otherwise 0.
    pub fn exit_code(&self) -> u8 {
        if self.tests.is_empty() {
            return 7;
        }
        if self.summary.errors > 0 {
            return 2;
        }
        if self.summary.failed > 0 {
            return 1;
        }
        let is_covered = self
            .coverage
            .as_ref()
            .is_none_or(|coverage| coverage.miss().is_none());
        if is_covered { 0 } else { 6 }
    }
}
