//! One tool test being recorded: is it called, where does that go, and what came of it?

use super::{NOTHING_RECORDED, RecordedRow};
use crate::cassette::write_whole;
use crate::secrets::SuiteSecrets;
use crate::{Mode, Options, judge, tool_test};
use mcptest_core::report::Status;
use mcptest_core::row::{Reason, ReasonKind, Row, ToolRow};
use std::sync::{Arc, OnceLock};

/// One tool test to call.
pub(super) struct ToolJob<'p> {
    /// Its number among the jobs.
    pub(super) number: usize,
    /// Its place in the plan.
    pub(super) index: usize,
    pub(super) planned: &'p Row<'p>,
    pub(super) of: ToolRow<'p>,
    pub(super) mode: Mode,
    pub(super) secrets: Arc<SuiteSecrets>,
    pub(super) row: OnceLock<RecordedRow>,
}

impl ToolJob<'_> {
    /// Calls the tool, and writes down what came of it.
    pub(super) async fn call(&self) -> RecordedRow {
        let redactor = self.secrets.redactor();
        let called = match redactor {
            Ok(redactor) => tool_test::call(self.of.suite, self.of.test, redactor).await,
            Err(reason) => Err(reason),
        };
        let is_live = self.mode == Mode::Live;
        match called {
            Ok(recording) if is_live => RecordedRow::InMemory { recording, matrix: None },
            Ok(recording) => {
                match write_whole(&tool_test::path_of(self.of.suite, self.of.test), &recording) {
                    Ok(()) => RecordedRow::OnDisk,
                    Err(error) => {
                        RecordedRow::Failed(Reason::new(ReasonKind::RecordingFailed, error.to_string()))
                    }
                }
            }
            Err(mut reason) => {
                reason.details.extend((!is_live).then(|| NOTHING_RECORDED.to_owned()));
                RecordedRow::Failed(reason)
            }
        }
    }

    pub(super) fn keep(&self, row: RecordedRow) -> &RecordedRow {
        self.row.get_or_init(|| row)
    }

    pub(super) fn is_called(&self) -> bool {
        self.row.get().is_some()
    }

    /// Why there is nothing recorded of it, as it may be shown.
    pub(super) fn unrecorded(&self, row: &RecordedRow) -> Option<String> {
        let RecordedRow::Failed(reason) = row else { return None };
        Some(self.secrets.hidden_in(&reason.message))
    }

    pub(super) fn passes(&self, row: &RecordedRow, options: Options) -> bool {
        judge::judge(self.planned, options, Some(row)).status == Status::Passed
    }

    /// What came of it; `None` when it was not called.
    pub(super) fn into_row(self) -> Option<RecordedRow> {
        self.row.into_inner()
    }
}
