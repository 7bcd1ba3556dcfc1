//! Which command or edit helps with a recording that is too short or unreadable?

use crate::row::{AgentRow, Reason, Row, RowOfAgent};

/// Returns true if recording never writes the agent's files: mcptest only reads lists and patterns,
/// and the traces of an agent without a model or program.
pub fn is_read_only(of: AgentRow<'_>) -> bool {
    of.agent.is_read_only() || (of.agent.models.is_empty() && of.agent.own.is_none())
}

/// The problem of too few recorded runs.
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
