//! Which command, or which edit of the suite, helps with a recording that is short or cannot be read?

use crate::row::{AgentRow, Row};

/// Whether recording never writes what the agent names: lists and patterns are only read, and so are the traces of an
/// agent that names nobody to run.
pub fn is_read_only(of: AgentRow<'_>) -> bool {
    of.agent.is_read_only() || (of.agent.models.is_empty() && of.agent.own.is_none())
}

/// `record it with` and the command that does.
pub fn to_record(row: &Row<'_>) -> String {
    format!("record it with {}", row.rerun.recording("--record"))
}

/// Fewer runs are recorded than are asked for.
pub(super) fn short(row: &Row<'_>, of: AgentRow<'_>) -> String {
    if row.transcripts.is_some() {
        return "put more transcripts into the group, or lower `runs:`".to_owned();
    }
    if is_read_only(of) {
        return "name more traces under `cassette:`, or lower `runs:`".to_owned();
    }
    rest(row)
}

/// The command that records what is missing.
pub(super) fn rest(row: &Row<'_>) -> String {
    format!("record the rest with {}", row.rerun.recording("--record=missing"))
}
