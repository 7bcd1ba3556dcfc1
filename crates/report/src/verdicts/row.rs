//! What does one verdict row hold, and how is it written as JSON?

use mcptest_core::report::{Number, Status};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;

/// The longest value in a row, in bytes of JSON. Rows of a stream repeat values for each check.
const LONGEST: usize = 1_000;

/// One verdict on a trace, or on a group of traces.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VerdictRow<'r> {
    /// The trace; `None` if the row is about a group of several traces.
    pub trace_id: Option<&'r str>,
    /// The span of the trace that the verdict belongs to, if the input names one. Rows of JSON omit it.
    #[serde(skip)]
    pub span_id: Option<&'r str>,
    /// The group that the trace was judged in.
    pub group: Option<&'r str>,
    /// The suite.
    pub suite: &'r str,
    /// The agent; `None` if the input could not be read, so that no agent judged it.
    pub agent: Option<&'r str>,
    /// The subject of the row.
    pub kind: RowKind,
    /// The gate's key, or `expect`.
    pub gate: Option<&'r str>,
    /// The checked value: a target of the gate, or a path into the trace.
    pub target: Option<&'r str>,
    /// The measured value, if there is one.
    pub value: RowValue<'r>,
    /// The verdict.
    pub status: RowStatus,
    /// Why it is not `passed`, in one sentence.
    pub message: Option<Cow<'r, str>>,
}

impl VerdictRow<'_> {
    /// Appends the row as a line of JSON.
    pub fn write(&self, out: &mut Vec<u8>) {
        // Writing to memory cannot fail, and every key is a string.
        let _ = serde_json::to_writer(&mut *out, self);
        out.push(b'\n');
    }
}

/// The subject of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RowKind {
    /// The trace, or the group, as a whole.
    Verdict,
    /// One trace of a group.
    Run,
    /// One assertion of `expect:` on one trace.
    Expect,
    /// One number of a gate, or the gate itself if no number decided it.
    Gate,
    /// Input that could not be read.
    Input,
}

/// The verdict of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RowStatus {
    /// It held.
    Passed,
    /// It did not hold.
    Failed,
    /// It could not be judged.
    Error,
    /// It was not judged on purpose.
    Skipped,
    /// A number that nothing in the suite asserts.
    Unchecked,
}

impl RowStatus {
    /// The word in the row.
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Error => "error",
            Self::Skipped => "skipped",
            Self::Unchecked => "unchecked",
        }
    }

    pub(super) fn from_check(has_passed: bool) -> Self {
        if has_passed {
            Self::Passed
        } else {
            Self::Failed
        }
    }
}

impl From<Status> for RowStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Passed => Self::Passed,
            Status::Failed => Self::Failed,
            Status::Error => Self::Error,
            Status::Skipped => Self::Skipped,
        }
    }
}

/// The value that a check looked at.
#[derive(Debug, Clone, PartialEq)]
pub enum RowValue<'r> {
    /// No value.
    None,
    /// A number of a gate.
    Number(Number),
    /// A value of the trace.
    Json(&'r Value),
    /// The start of a long text, or of the JSON of a long value.
    Cut(String),
}

impl<'r> RowValue<'r> {
    /// A value of a trace, cut if it is long.
    pub(super) fn from_json(value: Option<&'r Value>) -> Self {
        match value {
            None => Self::None,
            Some(Value::String(text)) if text.len() > LONGEST => Self::Cut(start(text)),
            Some(value @ (Value::Array(_) | Value::Object(_))) => {
                let text = value.to_string();
                if text.len() > LONGEST {
                    Self::Cut(start(&text))
                } else {
                    Self::Json(value)
                }
            }
            Some(value) => Self::Json(value),
        }
    }

    /// The value as a number, if it is one. A truth value counts as 0 or 1.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(number.as_f64()),
            Self::Json(Value::Bool(flag)) => Some(f64::from(u8::from(*flag))),
            Self::Json(value) => value.as_f64(),
            Self::None | Self::Cut(_) => None,
        }
    }
}

fn start(text: &str) -> String {
    let end = (0..=LONGEST).rev().find(|end| text.is_char_boundary(*end));
    format!("{}…", &text[..end.unwrap_or_default()])
}

impl Serialize for RowValue<'_> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => writer.serialize_none(),
            Self::Number(number) => number.serialize(writer),
            Self::Json(value) => value.serialize(writer),
            Self::Cut(text) => writer.serialize_str(text),
        }
    }
}
