//! `tool_edges:` did the agent keep to the tools and hand-offs it was given?

mod picture;
mod policy;
mod score;
#[cfg(test)]
mod tests;

pub use policy::{DelegationEdge, ToolEdges};
pub use score::{EdgesScore, score_tool_edges};

use super::prelude::*;
use super::scores::vacuous_runs;
use crate::trace::Delegation;
use policy::{Walk, delegations};

targets! { "edges":
    ALLOWED_PCT = percent("allowed_pct", "percent of the allowed tools that any run called").pooled();
    RESTRICTED_ATTEMPTS = count("restricted_attempts", "calls to restricted tools").summed();
    DELEGATION_PCT = percent("delegation_pct", "percent of the expected hand-offs that took place");
    UNDECLARED_DELEGATIONS = count("undeclared_delegations", "recorded hand-offs that are not expected")
        .summed();
    GATE_PASSED = flag("gate_passed", "1 when nothing forbidden was done");
    UNLISTED_CALLS = count("unlisted_calls", "calls to tools neither allowed nor restricted").summed();
}

const MOST_FINDINGS: usize = 20;

/// The block as written: the policy, and the places of its tools.
pub(crate) struct ToolEdgesBlock {
    edges: ToolEdges,
    allowed: Vec<Span>,
    restricted: Vec<Span>,
    /// The servers of the agent.
    servers: Vec<String>,
    has_expect: bool,
}

kind! {
    "tool_edges", "Did the agent keep to the tools and hand-offs it was given?", ToolEdgesBlock, RunFailsBy::Assertions,
}

impl Gate for ToolEdgesBlock {
    /// What is forbidden; with `closed: true`, whatever else is expected.
    fn expect_beside(&self, has_expect: bool) -> Vec<(Target, f64)> {
        let none = [
            (RESTRICTED_ATTEMPTS, 0.0),
            (UNLISTED_CALLS, 0.0),
            (UNDECLARED_DELEGATIONS, 0.0),
        ];
        match (self.edges.closed, has_expect) {
            (true, _) => none.to_vec(),
            (false, false) => none[..1].to_vec(),
            (false, true) => Vec::new(),
        }
    }

    fn score(&self, runs: &[Run<'_>]) -> Scores {
        let walks = self.walks(runs);
        let mut scores = Scores {
            not_exercised: self.why_not_exercised(runs),
            ..Scores::default()
        };
        if !runs.is_empty() {
            let score = EdgesScore::over(&self.edges, &walks);
            let whole = |number: usize| Some(Number::Int(number as i64));
            scores
                .set(&ALLOWED_PCT, whole(score.allowed_pct))
                .set(&RESTRICTED_ATTEMPTS, whole(score.restricted_attempts))
                .set(&DELEGATION_PCT, whole(score.delegation_pct))
                .set(&UNDECLARED_DELEGATIONS, whole(score.undeclared_delegations))
                .set(&GATE_PASSED, whole(usize::from(score.gate_passed)))
                .set(&UNLISTED_CALLS, whole(score.unlisted_calls));
        }
        self.explain(runs, &walks, &mut scores.findings);
        scores
    }

    fn evidence(&self, shown: &Shown<'_, '_>) -> Option<Evidence> {
        Some(picture::of_runs(
            &self.edges,
            shown.all,
            &self.walks(shown.all),
        ))
    }

    /// More runs call more of the allowed tools, never fewer; all else is a sum or the worst run's.
    fn outlook(&self, target: &Target, scores: &Scores, _runs: &[Run<'_>], _of: usize) -> Outlook {
        match scores.value(target.name) {
            Some(percent) if target.name == ALLOWED_PCT.name => Outlook::OneOf(
                (percent.as_f64() as i64..=100)
                    .map(|percent| percent as f64)
                    .collect(),
            ),
            _ => Outlook::folded(target, scores),
        }
    }

    fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        if self.edges.is_empty() {
            let help =
                "list tools under `allowed:` or `restricted:`, or hand-offs under `delegation:`";
            let problem =
                Problem::warning("`tool_edges:` declares nothing, so any run is accepted");
            return vec![problem.at(agent.key_span).help(help)];
        }
        let mut problems: Vec<Problem> = self
            .edges
            .contradictions(agent.servers)
            .map(|(allowed, restricted)| {
                let tool = &self.edges.allowed[allowed];
                Problem::error(format!("`{tool}` is both allowed and restricted"))
                    .at(self.restricted[restricted])
                    .also(self.allowed[allowed], "allowed here")
                    .help("remove it from one of the two lists")
            })
            .collect();
        if !self.edges.restricted.is_empty() {
            problems.extend(agent.unasserted(
                "restricted tools are",
                &[&RESTRICTED_ATTEMPTS, &GATE_PASSED],
            ));
        }
        if self.edges.restricted.is_empty() && !self.edges.closed && !self.has_expect {
            let problem = Problem::warning("nothing is forbidden here, so this gate cannot fail");
            let help = "list tools under `restricted:`, set `closed: true`, or assert \
                        `edges.allowed_pct` or `edges.delegation_pct` under `expect:`";
            problems.push(problem.at(agent.key_span).help(help));
        }
        problems.extend(agent.unknown_tools(agent.named));
        problems
    }

    fn tool_names<'n>(&'n self, _: &'n [(String, Span)]) -> Vec<&'n str> {
        self.edges
            .restricted
            .iter()
            .chain(&self.edges.allowed)
            .map(String::as_str)
            .collect()
    }
}

fn read_tools(
    block: &mut Block<'_>,
    key: &'static str,
    doc: &str,
    places: &mut Vec<Span>,
) -> Vec<String> {
    let tools = block.optional(key, doc, |field| {
        field.list(|item| {
            let tool = item.tool();
            places.push(item.span());
            // One whose problem is reported stands there, so that the block is not taken for an empty one.
            (!item.is_describing()).then(|| tool.unwrap_or_default())
        })
    });
    tools.unwrap_or_default()
}

fn read_edge(field: &mut Field<'_>) -> Option<DelegationEdge> {
    field.try_block(|block| {
        let from = block.required("from", "Who hands over", |f| f.name());
        let to = block.required("to", "Who takes over", |f| f.name());
        Some(DelegationEdge {
            from: from?,
            to: to?,
        })
    })
}

impl ToolEdgesBlock {
    fn read(block: &mut Block<'_>) -> Self {
        let (mut allowed, mut restricted) = (Vec::new(), Vec::new());
        let edges = ToolEdges {
            allowed: read_tools(block, "allowed", "Tools that may be called", &mut allowed),
            restricted: read_tools(
                block,
                "restricted",
                "Tools that must not be called",
                &mut restricted,
            ),
            delegation: block.list("delegation", "Hand-offs that are expected", read_edge),
            closed: block.flag(
                "closed",
                "Forbid every tool that is not allowed, and every hand-off that is not expected",
                false,
            ),
        };
        let servers = block.sibling("servers", |field| field.list(|item| item.string()));
        let servers = servers.unwrap_or_default();
        Self {
            edges,
            allowed,
            restricted,
            servers,
            has_expect: block.has("expect"),
        }
    }

    fn walks(&self, runs: &[Run<'_>]) -> Vec<Walk> {
        let walk = |trace: &Trace<'_>| {
            self.edges
                .walk(&trace.tool_calls, delegations(trace), &self.servers)
        };
        runs.iter().map(|run| walk(run.trace)).collect()
    }

    fn why_not_exercised(&self, runs: &[Run<'_>]) -> Option<String> {
        if self.edges.is_empty() {
            return Some("nothing is declared".to_owned());
        }
        let silent = runs.iter().map(|run| {
            run.trace
                .tool_calls
                .is_empty()
                .then_some("the run made no calls")
        });
        vacuous_runs(runs, silent)
    }

    fn explain(&self, runs: &[Run<'_>], walks: &[Walk], findings: &mut Vec<Finding>) {
        let mut find = |run: Option<usize>, about: &[Target], message: String| {
            findings
                .push(Finding::new(run.map(|run: usize| runs[run].number), message).about(about));
        };
        for (run, walk) in walks.iter().enumerate() {
            let called =
                |at: usize| format!("call {} `{}`", at + 1, runs[run].trace.tool_calls[at].name);
            for &at in walk.restricted.iter().take(MOST_FINDINGS) {
                find(
                    Some(run),
                    &[RESTRICTED_ATTEMPTS, GATE_PASSED],
                    format!("{} is restricted", called(at)),
                );
            }
            for &at in walk
                .unlisted
                .iter()
                .filter(|_| self.edges.closed)
                .take(MOST_FINDINGS)
            {
                find(
                    Some(run),
                    &[UNLISTED_CALLS, GATE_PASSED],
                    format!("{} is not on the list of allowed tools", called(at)),
                );
            }
            for &at in walk
                .undeclared
                .iter()
                .filter(|_| self.edges.closed)
                .take(MOST_FINDINGS)
            {
                let Delegation { from, to } = &delegations(runs[run].trace)[at];
                let message = format!("`{from}` hands over to `{to}`, which is not declared");
                find(Some(run), &[UNDECLARED_DELEGATIONS, GATE_PASSED], message);
            }
            for edge in missing(&walk.handed_over)
                .map(|at| &self.edges.delegation[at])
                .take(MOST_FINDINGS)
            {
                find(
                    Some(run),
                    &[DELEGATION_PCT],
                    format!("`{}` never hands over to `{}`", edge.from, edge.to),
                );
            }
        }
        let reached: Vec<bool> = (0..self.edges.allowed.len())
            .map(|tool| walks.iter().any(|walk| walk.reached[tool]))
            .collect();
        for tool in missing(&reached)
            .map(|at| &self.edges.allowed[at])
            .take(MOST_FINDINGS)
        {
            find(
                None,
                &[ALLOWED_PCT],
                format!("no run calls the allowed tool `{tool}`"),
            );
        }
    }
}

fn missing(present: &[bool]) -> impl Iterator<Item = usize> {
    present
        .iter()
        .enumerate()
        .filter(|(_, present)| !**present)
        .map(|(at, _)| at)
}
