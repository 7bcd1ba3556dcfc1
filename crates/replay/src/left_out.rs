//! Which rows and runs could not be used, and why?

use serde::Serialize;

/// A row, or a run of it, that is not used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The row's name.
    pub row: String,
    /// Why.
    pub reason: String,
}
