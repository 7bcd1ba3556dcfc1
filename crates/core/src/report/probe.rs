//! What was sent to a server to try it, and what came?

use serde::{Deserialize, Serialize};

/// One probe of a server, with its result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// Its unique and stable id: `ERRORS-unknown-tool`.
    pub id: String,
    /// The family it belongs to.
    pub family: String,
    /// The behaviour of a good server, in a few words.
    pub title: String,
    /// The message, cut short.
    pub sent: String,
    /// The answer, cut short.
    pub came: String,
    /// The rule in the specification.
    pub says: String,
    /// The place of the rule: the revision and the section.
    pub section: String,
    /// A deviation that the specification does not forbid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}
