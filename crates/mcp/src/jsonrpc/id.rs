//! What ties an answer to its request?

use serde_json::value::RawValue;
use std::fmt;

/// A request's id: a whole number or a string.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Id {
    /// A whole number.
    Number(i64),
    /// A string.
    Text(String),
}

impl Id {
    /// The id in a JSON text, unless it is of another type.
    pub fn of(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        if text.starts_with('"') {
            serde_json::from_str(text).ok().map(Self::Text)
        } else {
            serde_json::from_str(text).ok().map(Self::Number)
        }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "{text:?}"),
        }
    }
}
