//! What was recorded of a row just now?

use mcptest_core::row::{Reason, ReasonKind};

/// The result of recording one row.
#[derive(Debug)]
pub(crate) enum FreshRow {
    OnDisk {
        /// What is worth knowing beside what was written.
        notes: Vec<String>,
    },
    /// Nothing was written.
    InMemory {
        recording: String,
        /// The recording of the side runs, when the agent has any.
        side: Option<String>,
        notes: Vec<String>,
    },
    Failed(Reason),
    /// Another row failed before it.
    NotRun,
}

impl FreshRow {
    pub(crate) fn failed(why: impl Into<String>) -> Self {
        Self::Failed(Reason::new(ReasonKind::RecordingFailed, why))
    }

    /// What is worth knowing of the recording, beside what is in it.
    pub(crate) fn notes(&self) -> &[String] {
        match self {
            Self::OnDisk { notes } | Self::InMemory { notes, .. } => notes,
            Self::Failed(_) | Self::NotRun => &[],
        }
    }
}
