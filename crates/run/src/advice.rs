//! What can be done about a row whose recording is missing, broken, short or stale?

use crate::cassette::ResolveError;
use crate::plan::Cell;
use crate::select::quote;
use mcptest_core::report::Reason;
use mcptest_core::suite::{Agent, Suite};

/// What was said in several lines: the first is the message, the others are its details.
pub(crate) fn reason_of(said: &str) -> Reason {
    let mut lines = said.lines().map(str::to_owned);
    let message = lines.next().unwrap_or_default();
    Reason { message, details: lines.collect(), help: None }
}

/// The command that records a row.
pub(crate) fn record_command(cell: &Cell<'_>, suite: &Suite, mode: &str) -> String {
    let filter = cell
        .rerun
        .split_once(" --filter ")
        .map_or_else(|| quote(&cell.row_name), |(_, filter)| filter.to_owned());
    let config = quote(&suite.path.display().to_string());
    format!("`mcptest run {mode} --config {config} --filter {filter}`")
}

/// Whether recording never writes what the agent names: lists and patterns are only read, and so are the traces of an
/// agent that names nobody to run.
fn is_read_only(agent: &Agent) -> bool {
    agent.is_read_only() || (agent.models.is_empty() && agent.own.is_none())
}

/// There is no file where the recording should be.
pub(crate) fn missing(cell: &Cell<'_>, suite: &Suite, agent: &Agent) -> String {
    if cell.traces.is_some() {
        return "it was there a moment ago; run again".to_owned();
    }
    if is_read_only(agent) {
        return "put the file there, or take it out of `cassette:`".to_owned();
    }
    format!(
        "put its traces there, name them with `cassette:`, or record it with {}",
        record_command(cell, suite, "--record")
    )
}

/// A recording cannot be read for this reason; the command stands only beside reasons that recording mends.
pub(crate) fn broken(message: &str, cell: &Cell<'_>, suite: &Suite, agent: &Agent) -> Option<String> {
    (message.contains("--record") && !is_read_only(agent))
        .then(|| format!("record it with {}", record_command(cell, suite, "--record")))
}

/// Fewer runs are recorded than are asked for.
pub(crate) fn short(cell: &Cell<'_>, suite: &Suite, agent: &Agent) -> String {
    if cell.traces.is_some() {
        return "put more transcripts into the group, or lower `runs:`".to_owned();
    }
    if is_read_only(agent) {
        return "name more traces under `cassette:`, or lower `runs:`".to_owned();
    }
    format!("record the rest with {}", record_command(cell, suite, "--record=missing"))
}

/// The suite has changed since the recording.
pub(crate) fn stale(cell: &Cell<'_>, suite: &Suite, agent: &Agent) -> String {
    let anew = if is_read_only(agent) {
        "record it again".to_owned()
    } else {
        format!("record it with {}", record_command(cell, suite, "--record"))
    };
    format!("{anew}, or set `run_options: {{stale: warn}}`")
}

/// A list or pattern under `cassette:` that leads to no file.
pub(crate) fn unresolved(error: &ResolveError) -> Reason {
    let message = match error {
        ResolveError::NoMatch { pattern, base } if base.as_os_str().is_empty() => {
            format!("no file matches `{pattern}`")
        }
        other => return Reason { message: other.to_string(), ..Reason::default() },
    };
    let help = Some("check the pattern, or record to a path without `*`, `?` and `[…]`".to_owned());
    Reason { message, help, ..Reason::default() }
}
