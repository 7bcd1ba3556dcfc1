//! Paths into a trace: `tool_calls[0].name`, `tool_calls[*].args.city`, `conversation.tokens.total`.

mod absent;
mod parse;
mod resolve;
mod shape;

pub(crate) use parse::written_step;
pub(crate) use shape::Roots;

use crate::matcher::Type;
use crate::problem::Problem;
use crate::trace::Trace;
use serde_json::Value;

/// A path that a trace can have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    written: String,
    steps: Vec<PathStep>,
    /// True if a null at its end means an absent value. Within arguments and content, null is a
    /// value.
    null_is_absent: bool,
    /// The type of the value at its end.
    holds: Type,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PathStep {
    /// `.name`; a quoted key is never checked, so that fields mcptest does not know stay reachable.
    Key { name: String, quoted: bool },
    /// `[2]`, `[-1]`
    Index(i64),
    /// `[*]`
    Each,
    /// `[role=assistant]`: each item that has this text under this key.
    EachWith { key: String, value: String },
}

impl PathStep {
    /// Returns true if it leads to several items, which form one list.
    fn is_each(&self) -> bool {
        matches!(self, Self::Each | Self::EachWith { .. })
    }

    /// The key, unless it is quoted: a quoted key belongs to a value, never to the trace format.
    fn unquoted_key(&self) -> Option<&str> {
        match self {
            Self::Key {
                name,
                quoted: false,
            } => Some(name),
            _ => None,
        }
    }
}

impl Path {
    /// Reads a path and refuses one that no trace can have.
    pub(crate) fn parse(written: &str, roots: Roots) -> Result<Self, Box<Problem>> {
        let steps = parse::steps(written)?;
        let end = shape::check(&steps, roots)?;
        Ok(Self {
            written: written.to_owned(),
            steps,
            null_is_absent: end.is_own,
            holds: end.holds,
        })
    }

    /// Reads a path into the trace of an agent's run.
    pub fn into_trace(written: &str) -> Result<Self, Box<Problem>> {
        Self::parse(written, Roots::Trace)
    }

    /// The path as written.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// The type of the value at its end, if one exists.
    pub(crate) fn holds(&self) -> &Type {
        &self.holds
    }

    /// Returns true if it leads to the list of matches of `[*]`.
    pub(crate) fn is_list_of_each(&self) -> bool {
        self.steps.iter().any(PathStep::is_each)
    }

    /// The value at the path in this run; `None` if it is absent.
    pub fn resolve(&self, trace: &Trace<'_>) -> Option<Value> {
        resolve::in_trace(&self.steps, trace)
            .filter(|value| !(self.null_is_absent && value.is_null()))
    }

    /// The value at the path in a recorded tool call, as JSON text; `None` if it is absent.
    pub(crate) fn resolve_in(&self, text: &str) -> Option<Value> {
        resolve::in_text(text, &self.steps)
            .filter(|value| !(self.null_is_absent && value.is_null()))
    }

    /// The scorer of the number, if a scorer computes it.
    pub(crate) fn scorer(&self) -> Option<&str> {
        shape::of_scorer(&self.steps)
    }

    /// Returns true if the path starts with this key.
    pub(crate) fn starts_with(&self, key: &str) -> bool {
        matches!(self.steps.first(), Some(PathStep::Key { name, .. }) if name == key)
    }
}
