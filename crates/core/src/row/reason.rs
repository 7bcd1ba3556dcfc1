//! Why is a row or a run an error, or skipped, and what is the fix?

use crate::words::word_of;
use serde::{Deserialize, Serialize};

/// Why a row is an error or skipped, and what to do about it.
///
/// ```
/// use mcptest_core::{Reason, ReasonKind};
///
/// let reason = Reason::new(ReasonKind::RecordingMissing, "the recording is missing");
/// assert_eq!(reason.kind, ReasonKind::RecordingMissing);
/// ```
#[must_use]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Reason {
    /// Its kind, for programs.
    #[serde(default)]
    pub kind: ReasonKind,
    /// The problem, in one sentence.
    pub message: String,
    /// Details, one line each: what changed, where the file is cut.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// The fix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The command that fixes it, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// The kind of reason.
///
/// ```
/// use mcptest_core::ReasonKind;
///
/// let kind: ReasonKind = serde_json::from_str("\"recording_stale\"")?;
/// assert_eq!(kind, ReasonKind::RecordingStale);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReasonKind {
    /// The suite's file has errors.
    SuiteRefused,
    /// The suite sets `skip:`.
    Skipped,
    /// Another test has `only: true`.
    OtherOnly,
    /// None of its files is a trace.
    NotATrace,
    /// `--fail-fast` ended the judging before.
    FailFast,
    /// The recording is missing.
    RecordingMissing,
    /// The recording, or one of its runs, cannot be read.
    RecordingUnreadable,
    /// A newer mcptest made the recording.
    RecordingNewer,
    /// The suite has changed since the recording.
    RecordingStale,
    /// The recording's header was edited by hand.
    RecordingEdited,
    /// The recording has no fingerprint, which is not allowed.
    RecordingUnpinned,
    /// Too few runs are recorded.
    RunsMissing,
    /// A run ended in an error.
    RunError,
    /// The user's agent crashed, or exited with a failure.
    AgentCrashed,
    /// The results of a run do not fit its calls.
    TraceInconsistent,
    /// An injected fault can never be hit.
    FaultUnhittable,
    /// The recorded fault does not match the suite.
    FaultMismatch,
    /// The run has no grade yet.
    GradeMissing,
    /// The suite, or the run, has changed since it was graded.
    GradeStale,
    /// The judges gave no grade.
    GradeFailed,
    /// The row has nothing to run.
    NothingToRun,
    /// The run or call could not be made, or not be written.
    RecordingFailed,
    /// The model's provider cannot be used: it is unknown, or its key is not set.
    ProviderUnusable,
    /// The server cannot be started as declared.
    ServerUnusable,
    /// A dollar budget cannot be enforced: the model's price is unknown.
    PriceUnknown,
    /// The call of a tool test was not answered.
    CallFailed,
    /// The call of a tool test took longer than its `timeout:`.
    CallTooSlow,
    /// Nothing was asserted.
    NothingAsserted,
    /// No call met an injected fault, and that is not allowed.
    FaultNotMet,
    /// Runs were given under an unknown row name.
    RowUnknown,
    /// The secrets cannot be removed.
    RedactionFailed,
    /// A server violates the specification.
    ProbeFailed,
    /// mcptest itself failed.
    Panicked,
    /// A probe could not be sent: the server lacks its subject, or must not be called.
    ProbeNotSent,
    /// A probe of a server had no result in time.
    ProbeNotFinished,
    /// None of these: the report was written by another version.
    #[default]
    #[serde(other)]
    Unspecified,
}

impl ReasonKind {
    /// The kind in two or three words: `recording stale`.
    pub fn words(self) -> String {
        word_of(self).replace('_', " ")
    }
}

impl Reason {
    /// A reason with only a message.
    pub fn new(kind: ReasonKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            details: Vec::new(),
            help: None,
            command: None,
        }
    }

    /// The first line of a string is the message, the others are its details.
    pub fn from_lines(kind: ReasonKind, text: &str) -> Self {
        let mut lines = text.lines();
        let message = lines.next().unwrap_or_default();
        Self::new(kind, message).details(lines.map(str::to_owned).collect())
    }

    /// Adds advice.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds the command that fixes it.
    pub fn command(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
    }

    /// With these details.
    pub fn details(mut self, details: Vec<String>) -> Self {
        self.details = details;
        self
    }
}
