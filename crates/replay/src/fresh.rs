//! What was recorded of the rows of a plan just now?

use crate::plan::Plan;
use crate::tool_test::{is_answered, path_of};
use mcptest_core::row::{Reason, ReasonKind};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// The result of recording one row.
#[derive(Debug)]
pub enum FreshRow {
    /// The recording was written.
    OnDisk {
        /// Notes on the written recording.
        notes: Vec<String>,
    },
    /// The recording was not written.
    InMemory {
        /// The text of the recording.
        recording: String,
        /// The recording of the side runs, if the agent has any.
        side: Option<String>,
        /// Notes on the recording.
        notes: Vec<String>,
    },
    /// Recording failed for this reason.
    Failed(Reason),
    /// Another row failed first.
    NotRun,
}

impl FreshRow {
    /// A failed recording.
    pub fn failed(why: impl Into<String>) -> Self {
        Self::Failed(Reason::new(ReasonKind::RecordingFailed, why))
    }

    /// Returns true if no file has the result, so that only recording again can show it.
    pub(crate) fn is_unwritten(&self) -> bool {
        matches!(self, Self::Failed(_) | Self::InMemory { .. })
    }

    /// Notes on the recording, besides its contents.
    pub fn notes(&self) -> &[String] {
        match self {
            Self::OnDisk { notes } | Self::InMemory { notes, .. } => notes,
            Self::Failed(_) | Self::NotRun => &[],
        }
    }
}

/// The results of recording all rows.
#[derive(Debug, Default)]
pub struct FreshRows {
    /// By their place in the plan.
    pub rows: BTreeMap<usize, FreshRow>,
    /// The total time of making the runs of each row.
    pub took: BTreeMap<usize, Duration>,
}

impl FreshRows {
    /// The answers to tool tests that were not written, with the places of their recordings.
    pub fn of_tool_tests(self, plan: &Plan<'_>) -> Vec<(PathBuf, String)> {
        let unwritten = self.rows.into_iter().filter_map(|(index, row)| match row {
            FreshRow::InMemory { recording, .. } if is_answered(&recording) => {
                Some((plan.rows[index].tool_row()?, recording))
            }
            _ => None,
        });
        unwritten
            .map(|(of, recording)| (path_of(of.suite, of.test), recording))
            .collect()
    }
}
