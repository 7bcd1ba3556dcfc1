//! In which variants is an agent recorded and judged, each a row of its own?

use std::fmt;

/// One variant of an agent: what differs from its other rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variant {
    /// So many distractors among its tools.
    Distractors(usize),
}

impl Variant {
    /// Whether it is the agent as it is without the gate.
    pub(crate) fn is_baseline(self) -> bool {
        self == Self::Distractors(0)
    }
}

/// As rows name it: `4 distractors`.
impl fmt::Display for Variant {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Distractors(1) => write!(out, "1 distractor"),
            Self::Distractors(count) => write!(out, "{count} distractors"),
        }
    }
}
