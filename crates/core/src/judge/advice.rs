//! Which command, or which edit of the suite, helps with a recording that is short or cannot be read?

use crate::row::{AgentRow, Reason, Row, RowOfAgent};

/// Returns true if recording never writes the agent's files: lists and patterns are only read, and so are the traces
/// of an agent without a model or program.
pub fn is_read_only(of: AgentRow<'_>) -> bool {
    of.agent.is_read_only() || (of.agent.models.is_empty() && of.agent.own.is_none())
}

/// Fewer runs are recorded than are asked for.
pub(super) fn short(reason: Reason, agent: RowOfAgent<'_>) -> Reason {
    // What an eval grades was recorded by another row, which is the one to record again.
    let recorder = agent.row.recorded_by();
    let RowOfAgent { row, of } = recorder.as_ref().and_then(Row::of_agent).unwrap_or(agent);
    if row.transcripts.is_some() {
        return reason.help("put more transcripts into the group, or lower `runs:`");
    }
    if is_read_only(of) {
        return reason.help("name more traces under `cassette:`, or lower `runs:`");
    }
    rest(reason, row)
}

/// Advises recording the missing part.
pub(super) fn rest(reason: Reason, row: &Row<'_>) -> Reason {
    reason
        .help("record the missing runs")
        .command(row.rerun.recording("--record=missing"))
}
