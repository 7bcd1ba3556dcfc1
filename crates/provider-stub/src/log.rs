//! What was asked of the stub?

use serde_json::Value;
use std::collections::BTreeMap;

/// A request.
#[derive(Debug, Clone)]
pub struct Logged {
    /// The dialect it was taken for.
    pub dialect: &'static str,
    /// Where it was sent.
    pub path: String,
    /// Its headers.
    pub headers: BTreeMap<String, String>,
    /// Its body, as it came.
    pub text: String,
    /// Its body; null when it is not JSON.
    pub body: Value,
    /// The status it was answered with; 0 when it was not.
    pub status: u16,
}
