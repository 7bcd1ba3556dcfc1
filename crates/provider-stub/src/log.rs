//! What was asked of the stub?

use serde_json::Value;
use std::collections::BTreeMap;

/// A request.
#[derive(Debug, Clone)]
pub struct Logged {
    /// The detected dialect.
    pub dialect: &'static str,
    /// The request's path.
    pub path: String,
    /// Its headers.
    pub headers: BTreeMap<String, String>,
    /// The verbatim body.
    pub text: String,
    /// The parsed body; null if it is not JSON.
    pub body: Value,
    /// The status of the answer; 0 without an answer.
    pub status: u16,
}
