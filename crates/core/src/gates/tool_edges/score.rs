//! How do the walks of all runs score?

use super::policy::{Closed, ToolEdges, Walk, delegations};
use crate::trace::Trace;
use serde_json::Value;
use std::collections::BTreeSet;

/// The compliance of a test's runs with a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EdgesScore {
    /// Percent of the allowed tools that any run called, rounded down; 100 if none is declared.
    pub allowed_pct: usize,
    /// Calls to restricted tools in all runs.
    pub restricted_attempts: usize,
    /// Percent of the expected hand-offs in the worst run, rounded down; 100 if none is declared.
    pub delegation_pct: usize,
    /// Recorded hand-offs that are not expected, in all runs.
    pub undeclared_delegations: usize,
    /// True if the runs did nothing forbidden.
    pub gate_passed: bool,
    /// Calls to tools that are neither allowed nor restricted, in all runs.
    pub unlisted_calls: usize,
}

/// Scores recorded runs, given as trace envelopes.
///
/// ```
/// use mcptest_core::eval::{ToolEdges, score_tool_edges};
/// use serde_json::json;
///
/// let edges = ToolEdges {
///     allowed: vec!["search".into(), "summarize".into()],
///     restricted: vec!["delete_repo".into()],
///     ..ToolEdges::default()
/// };
/// let run = json!({"tool_calls": [{"name": "search"}, {"name": "delete_repo"}]});
/// let score = score_tool_edges(&[run], &edges)?;
/// assert_eq!((score.allowed_pct, score.restricted_attempts, score.gate_passed), (50, 1, false));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn score_tool_edges(
    envelopes: &[Value],
    edges: &ToolEdges,
) -> Result<EdgesScore, serde_json::Error> {
    let mut walks = Vec::new();
    for envelope in envelopes {
        let text = envelope.to_string();
        let trace = Trace::read(&text)?;
        let every_call = |_: usize, _: usize| true;
        walks.push(edges.walk(&trace.tool_calls, delegations(&trace), &[], &every_call));
    }
    Ok(EdgesScore::over(edges, Closed::both(edges.closed), &walks))
}

impl EdgesScore {
    pub(super) fn over(edges: &ToolEdges, closed: Closed, walks: &[Walk]) -> Self {
        let restricted_attempts = walks.iter().map(|walk| walk.restricted.len()).sum();
        let unlisted_calls = walks.iter().map(|walk| walk.unlisted.len()).sum();
        let undeclared_delegations = walks.iter().map(|walk| walk.undeclared.len()).sum();
        let reached = (0..edges.allowed.len())
            .filter(|&tool| walks.iter().any(|walk| walk.reached[tool]))
            .map(|tool| edges.allowed[tool].as_str());
        let declared: BTreeSet<&str> = edges.allowed.iter().map(String::as_str).collect();
        Self {
            allowed_pct: percent(reached.collect::<BTreeSet<_>>().len(), declared.len()),
            restricted_attempts,
            delegation_pct: walks.iter().map(delegation_pct).min().unwrap_or(100),
            undeclared_delegations,
            gate_passed: restricted_attempts == 0
                && (!closed.tools || unlisted_calls == 0)
                && (!closed.delegation || undeclared_delegations == 0),
            unlisted_calls,
        }
    }
}

fn delegation_pct(walk: &Walk) -> usize {
    percent(
        walk.handed_over
            .iter()
            .filter(|took_place| **took_place)
            .count(),
        walk.handed_over.len(),
    )
}

/// The percentage, rounded down; 100 if nothing was counted.
fn percent(part: usize, whole: usize) -> usize {
    (100 * part).checked_div(whole).unwrap_or(100)
}
