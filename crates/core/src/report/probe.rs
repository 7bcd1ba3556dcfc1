//! What was sent to a server to try it, and what came?

use serde::{Deserialize, Serialize};

/// One probe of a server, whatever came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// Its id, which no other probe has and which stays: `ERRORS-unknown-tool`.
    pub id: String,
    /// The family it belongs to.
    pub family: String,
    /// What a good server does, in a few words.
    pub title: String,
    /// What was sent, cut short.
    pub sent: String,
    /// What came, cut short.
    pub came: String,
    /// What the specification says.
    pub says: String,
    /// Where it says so: the revision and the section.
    pub section: String,
    /// What is not as it should be, though the specification does not insist on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}
