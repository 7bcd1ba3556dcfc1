//! Which protocol did each server use, and did it change between runs?

use crate::report::TestReport;
use crate::trace::{RecordedServer, Run};

/// Adds the servers of all runs to the report, each once. A server that used both protocols gets a note.
pub(super) fn note(runs: &[Run<'_>], report: &mut TestReport) {
    let servers = runs
        .iter()
        .flat_map(|run| run.trace.servers.iter().map(|server| (run.number, server)));
    let mut first: Vec<(usize, &RecordedServer)> = Vec::new();
    for (number, server) in servers {
        if report.servers.contains(server) {
            continue;
        }
        report.servers.push(server.clone());
        match first.iter().find(|(_, known)| known.name == server.name) {
            None => first.push((number, server)),
            Some((other, known)) if known.era != server.era => report.notes.push(format!(
                "server {:?} used the {} protocol in run {other}, but the {} protocol in run \
                {number}",
                server.name, known.era, server.era
            )),
            Some(_) => {}
        }
    }
}
