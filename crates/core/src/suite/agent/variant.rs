//! In which variants is an agent recorded and judged, each a separate row?

use serde::{Deserialize, Serialize};
use std::fmt;

/// One variant of an agent: what differs from its other rows. Reports have it as rows name it.
///
/// ```
/// use mcptest_core::{RowId, Variant};
///
/// let row = RowId::new("forecast").with_variant(Variant::Distractors(4));
/// assert_eq!(row.to_string(), "forecast [4 distractors]");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[non_exhaustive]
pub enum Variant {
    /// This number of distractors among its tools.
    Distractors(usize),
}

impl Variant {
    /// Returns true for the agent without the gate's change.
    pub(crate) fn is_baseline(self) -> bool {
        self == Self::Distractors(0)
    }
}

/// The name in a row: `4 distractors`.
impl fmt::Display for Variant {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Distractors(1) => write!(out, "1 distractor"),
            Self::Distractors(count) => write!(out, "{count} distractors"),
        }
    }
}

impl From<Variant> for String {
    fn from(variant: Variant) -> Self {
        variant.to_string()
    }
}

impl TryFrom<String> for Variant {
    type Error = String;

    fn try_from(written: String) -> Result<Self, String> {
        let count = written
            .strip_suffix(" distractors")
            .or_else(|| written.strip_suffix(" distractor"));
        let count = count.and_then(|count| count.parse().ok());
        count
            .map(Self::Distractors)
            .ok_or_else(|| format!("`{written}` is not a variant of an agent"))
    }
}
