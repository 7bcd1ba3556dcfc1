//! Who called what in all runs, and who handed over to whom?

use super::policy::{Closed, ToolEdges, Walk, delegations};
use crate::hashed::HashSet;
use crate::report::Evidence;
use crate::report::evidence::{EdgeShown, Handoff};
use crate::trace::{Call, Run, Tool, is_direct};
use std::collections::BTreeMap;

pub(super) fn of_runs(
    edges: &ToolEdges,
    closed: Closed,
    runs: &[Run<'_>],
    walks: &[Walk],
) -> Evidence {
    let mut found: BTreeMap<(String, String), EdgeShown> = BTreeMap::new();
    for (run, walk) in runs.iter().zip(walks) {
        let restricted: HashSet<usize> = walk.restricted.iter().copied().collect();
        let unlisted: HashSet<usize> = walk.unlisted.iter().copied().collect();
        for (at, call) in run.trace.tool_calls.iter().enumerate() {
            let (caller, tool) = (caller(call), Tool::from(call).full_name());
            let edge = found
                .entry((caller.clone(), tool.clone()))
                .or_insert_with(|| EdgeShown {
                    caller: caller.clone(),
                    tool,
                    calls: 0,
                    restricted: restricted.contains(&at),
                    failed: restricted.contains(&at) || (closed.tools && unlisted.contains(&at)),
                });
            // A tool may be restricted with some arguments alone.
            edge.restricted |= restricted.contains(&at);
            edge.failed |= restricted.contains(&at) || (closed.tools && unlisted.contains(&at));
            edge.calls += 1;
        }
    }
    Evidence::ToolEdges {
        edges: found.into_values().collect(),
        handoffs: handoffs(edges, runs, walks),
    }
}

/// The caller: a sub-agent by its name, generated code, or the agent itself.
fn caller(call: &Call<'_>) -> String {
    if is_direct(call.caller) {
        return "agent".to_owned();
    }
    call.sub_agent().unwrap_or_else(|| "code".to_owned())
}

/// The recorded and the expected hand-offs. If a trace records none, an expected hand-off that took
/// place counts once.
fn handoffs(edges: &ToolEdges, runs: &[Run<'_>], walks: &[Walk]) -> Vec<Handoff> {
    let mut counts: BTreeMap<(String, String), (usize, bool)> = BTreeMap::new();
    for (at, edge) in edges.delegation.iter().enumerate() {
        let silent = runs
            .iter()
            .zip(walks)
            .filter(|(run, _)| delegations(run.trace).is_empty());
        let inferred = silent.filter(|(_, walk)| walk.handed_over[at]).count();
        counts.insert((edge.from.clone(), edge.to.clone()), (inferred, true));
    }
    for recorded in runs.iter().flat_map(|run| delegations(run.trace)) {
        counts
            .entry((recorded.from.to_string(), recorded.to.to_string()))
            .or_default()
            .0 += 1;
    }
    let handoff = |((from, to), (count, declared))| Handoff {
        from,
        to,
        count,
        declared,
    };
    counts.into_iter().map(handoff).collect()
}
