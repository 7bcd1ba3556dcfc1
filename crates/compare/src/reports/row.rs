//! What is a row of a report beside the same row of another?

use crate::comparison::{ComparedRow, RowIdentity};
use mcptest_core::report::{Status, TestReport, checks};
use mcptest_stats::Tally;

impl ComparedRow for TestReport {
    fn identity(&self) -> RowIdentity<'_> {
        RowIdentity {
            suite: &self.suite.file,
            name: &self.name,
            model: self.model.as_deref(),
            variant: self.variant,
        }
    }

    /// `examples/a.yml · refunds [gpt-5]`.
    fn in_words(&self) -> String {
        format!("{} · {}", self.suite.file, self.row_name())
    }

    fn tally(&self) -> Tally {
        self.tally()
    }

    fn why_not_compared(&self, later: &Self) -> Option<String> {
        why_without_runs(self, "first")
            .or_else(|| why_without_runs(later, "second"))
            .or_else(|| checks::changed(self, later))
    }
}

/// Why a side says nothing of a test.
fn why_without_runs(test: &TestReport, side: &str) -> Option<String> {
    if test.tally().runs > 0 {
        return None;
    }
    let what = match test.status {
        Status::Error => "could not be judged",
        Status::Skipped => "was skipped",
        _ => "has no runs",
    };
    let reason = test.reason.as_ref();
    let reason = reason.map(|reason| format!(": {}", reason.message));
    Some(format!(
        "it {what} in the {side}{}",
        reason.unwrap_or_default()
    ))
}
