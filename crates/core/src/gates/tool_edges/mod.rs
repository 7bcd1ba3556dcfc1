//! `tool_edges:` did the agent keep to the tools and hand-offs it was given?

mod picture;
mod policy;
mod restriction;
mod score;
#[cfg(test)]
mod tests;

pub use policy::{DelegationEdge, ToolEdges};
pub use score::{EdgesScore, score_tool_edges};

use crate::engine::facts::AgentFacts;
use crate::engine::gate::{Documentation, Gate, GateKind, GateTrait, RunFailsBy};
use crate::engine::outlook::Outlook;
use crate::engine::scores::Scores;
use crate::engine::scores::vacuous_runs;
use crate::engine::shown::Shown;
use crate::engine::success::Success;
use crate::engine::target::Target;
use crate::gates::only_reads;
use crate::problem::{Problem, Span};
use crate::report::{Evidence, Finding, Number};
use crate::suite::read::{Block, Field};
use crate::trace::{Call, Delegation, Run};
use policy::{Closed, Walk, delegations};
use restriction::Restriction;

const ALLOWED_PCT: Target = Target::percent(
    "edges.allowed_pct",
    "percent of the allowed tools that any run called",
)
.pooled();
const RESTRICTED_ATTEMPTS: Target =
    Target::count("edges.restricted_attempts", "calls to restricted tools").summed();
const DELEGATION_PCT: Target = Target::percent(
    "edges.delegation_pct",
    "percent of the expected hand-offs that took place",
);
const UNDECLARED_DELEGATIONS: Target = Target::count(
    "edges.undeclared_delegations",
    "recorded hand-offs that are not expected",
)
.summed();
const GATE_PASSED: Target = Target::flag("edges.gate_passed", "1 when nothing forbidden was done");
const UNLISTED_CALLS: Target = Target::count(
    "edges.unlisted_calls",
    "calls to tools neither allowed nor restricted",
)
.summed();

const TARGETS: &[Target] = &[
    ALLOWED_PCT,
    RESTRICTED_ATTEMPTS,
    DELEGATION_PCT,
    UNDECLARED_DELEGATIONS,
    GATE_PASSED,
    UNLISTED_CALLS,
];

const MOST_FINDINGS: usize = 20;

/// The block: the policy, and the places of its tools.
pub(crate) struct ToolEdgesBlock {
    edges: ToolEdges,
    /// The calls and hand-offs that are forbidden although no entry restricts them.
    closed: Closed,
    /// True if the block has `closed: true`: its prohibitions apply with any other expectations.
    is_closed_anyway: bool,
    /// True if tools that only read may be called without being listed.
    are_reads_free: bool,
    allowed: Vec<Span>,
    restricted: Vec<Restriction>,
    /// The success condition that the agent sets for all its gates.
    success: Option<Success>,
    /// The servers of the agent.
    servers: Vec<String>,
    has_expect: bool,
}

pub(super) const KIND: GateKind = GateKind::new(
    "tool_edges",
    Documentation {
        summary: "Did the agent keep to the tools and hand-offs it was given?",
        doc: include_str!("doc.md"),
        example: include_str!("example.yml"),
    },
    TARGETS,
    RunFailsBy::Assertions,
    |block| Box::new(ToolEdgesBlock::read(block)),
)
.with_traits(&[GateTrait::CountsSuccess]);

impl Gate for ToolEdgesBlock {
    /// The limits of forbidden calls. Besides `expect:`, they apply only with `closed: true`.
    fn expect_beside(&self, has_expect: bool) -> Vec<(Target, f64)> {
        if has_expect && !self.is_closed_anyway {
            return Vec::new();
        }
        let limits = [
            (true, RESTRICTED_ATTEMPTS),
            (self.closed.tools, UNLISTED_CALLS),
            (self.closed.delegation, UNDECLARED_DELEGATIONS),
        ];
        let limits = limits.into_iter().filter(|(is_forbidden, _)| *is_forbidden);
        limits.map(|(_, target)| (target, 0.0)).collect()
    }

    fn score(&self, runs: &[Run<'_>]) -> Scores {
        let walks = self.walks(runs);
        let mut scores = Scores {
            not_exercised: self.why_not_exercised(runs),
            ..Scores::default()
        };
        if !runs.is_empty() {
            let score = EdgesScore::over(&self.edges, self.closed, &walks);
            let whole = |number: usize| Some(Number::Int(number as i64));
            scores
                .set(&ALLOWED_PCT, whole(score.allowed_pct))
                .set(&RESTRICTED_ATTEMPTS, whole(score.restricted_attempts))
                .set(&DELEGATION_PCT, whole(score.delegation_pct))
                .set(&UNDECLARED_DELEGATIONS, whole(score.undeclared_delegations))
                .set(&GATE_PASSED, whole(usize::from(score.gate_passed)))
                .set(&UNLISTED_CALLS, whole(score.unlisted_calls));
        }
        let records_hand_offs = |run: &Run<'_>| run.trace.delegations.is_some();
        if !self.edges.delegation.is_empty() && !runs.iter().any(records_hand_offs) {
            let why = "no run has `delegations`, where a trace records its hand-offs";
            scores.nothing_counts(&UNDECLARED_DELEGATIONS, why);
        }
        self.explain(runs, &walks, &mut scores.findings);
        scores
    }

    fn evidence(&self, shown: &Shown<'_, '_>) -> Option<Evidence> {
        Some(picture::of_runs(
            &self.edges,
            self.closed,
            shown.all,
            &self.walks(shown.all),
        ))
    }

    /// Further runs can only call more of the allowed tools. Other targets are a sum or the worst
    /// run's.
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
        if self.declares_nothing() {
            let help =
                "list tools under `allowed:` or `restricted:`, or hand-offs under `delegation:`";
            let problem = Problem::warning("`tool_edges:` declares nothing, so it accepts any run");
            return vec![problem.at(agent.key_span).help(help)];
        }
        let mut problems = self.lint_contradictions(agent);
        problems.extend(self.lint_unasserted(agent));
        problems.extend(self.lint_idle(agent));
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
        let from = block.required("from", "The agent that hands over", |f| f.name());
        let to = block.required("to", "The agent that takes over", |f| f.name());
        Some(DelegationEdge {
            from: from?,
            to: to?,
        })
    })
}

impl ToolEdgesBlock {
    fn read(block: &mut Block<'_>) -> Self {
        let mut places = Vec::new();
        let doc =
            "Tools that may be called; other tools are forbidden unless `closed: false` is written";
        let allowed = read_tools(block, "allowed", doc, &mut places);
        let doc =
            "Tools that must not be called: each a name, or a map that selects some of its calls";
        let restricted = block.list("restricted", doc, Restriction::read);
        let doc =
            "Expected hand-offs; other hand-offs are forbidden unless `closed: false` is written";
        let delegation = block.list("delegation", doc, read_edge);
        let doc = "Forbid unlisted tools and hand-offs: `true` closes both lists, `false` only reports [default: each \
                   written list is closed]";
        let closed = block.optional("closed", doc, |field| field.flag());
        let doc = "`free` lets tools that only read be called without being listed";
        let words = &[("listed", false), ("free", true)];
        let are_reads_free = block.optional("reads", doc, |field| field.choice("a word", words));
        let servers = block.sibling("servers", |field| field.list(|item| item.string()));
        let listed = Closed {
            tools: block.has("allowed"),
            delegation: block.has("delegation"),
        };
        Self {
            edges: ToolEdges {
                allowed,
                restricted: restricted.iter().map(|entry| entry.tool.clone()).collect(),
                delegation,
                closed: closed == Some(true),
            },
            closed: closed.map_or(listed, Closed::both),
            is_closed_anyway: closed == Some(true),
            are_reads_free: are_reads_free == Some(true),
            allowed: places,
            restricted,
            success: Success::of_agent(block),
            servers: servers.unwrap_or_default(),
            has_expect: block.has("expect"),
        }
    }

    /// Tools that are both allowed and restricted.
    fn lint_contradictions(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        self.edges
            .contradictions(agent.servers)
            .filter(|(_, restricted)| self.restricted[*restricted].is_of_every_call())
            .map(|(allowed, restricted)| {
                let tool = &self.edges.allowed[allowed];
                Problem::error(format!("`{tool}` is both allowed and restricted"))
                    .at(self.restricted[restricted].span)
                    .also(self.allowed[allowed], "allowed here")
                    .help("remove it from one of the two lists")
            })
            .collect()
    }

    /// Lists that no expectation checks.
    fn lint_unasserted(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        let mut problems = Vec::new();
        if !self.edges.restricted.is_empty() {
            let targets = [&RESTRICTED_ATTEMPTS, &GATE_PASSED];
            problems.extend(agent.unasserted("restricted tools are", &targets));
        }
        if self.closed.tools && !self.is_closed_anyway {
            let targets = [&UNLISTED_CALLS, &GATE_PASSED];
            problems.extend(agent.unasserted("allowed tools are", &targets));
        }
        if self.closed.delegation && !self.is_closed_anyway {
            let targets = [&UNDECLARED_DELEGATIONS, &GATE_PASSED, &DELEGATION_PCT];
            problems.extend(agent.unasserted("hand-offs are", &targets));
        }
        problems
    }

    /// Keys without an effect.
    fn lint_idle(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        let mut problems = Vec::new();
        let forbids_nothing = self.edges.restricted.is_empty() && self.closed == Closed::default();
        if forbids_nothing && !self.has_expect {
            let help = "list tools under `restricted:`, remove `closed: false`, or assert \
                        `edges.allowed_pct` or `edges.delegation_pct` under `expect:`";
            let cannot_fail = "nothing is forbidden here, so this gate cannot fail";
            problems.push(Problem::warning(cannot_fail).help(help));
        }
        if self.are_reads_free && !self.closed.tools {
            let no_effect = "`reads: free` has no effect: unlisted tools may be called here";
            let help = "list tools under `allowed:`, or remove `reads:`";
            problems.push(Problem::warning(no_effect).help(help));
        }
        let place = |problem: Problem| problem.at(agent.key_span);
        problems.into_iter().map(place).collect()
    }

    fn declares_nothing(&self) -> bool {
        self.edges.is_empty() && self.closed == Closed::default()
    }

    fn walk(&self, run: &Run<'_>) -> Walk {
        let trace = run.trace;
        let results = trace.results_by_call();
        let forbids = |call: usize, entry: usize| {
            let restriction = &self.restricted[entry];
            restriction.forbids(
                &trace.tool_calls[call],
                results[call],
                self.success.as_ref(),
            )
        };
        let mut walk = self.edges.walk(
            &trace.tool_calls,
            delegations(trace),
            &self.servers,
            &forbids,
        );
        if self.are_reads_free {
            walk.unlisted.retain(|&at| !is_read(&trace.tool_calls[at]));
        }
        walk
    }

    fn walks(&self, runs: &[Run<'_>]) -> Vec<Walk> {
        runs.iter().map(|run| self.walk(run)).collect()
    }

    fn why_not_exercised(&self, runs: &[Run<'_>]) -> Option<String> {
        if self.declares_nothing() {
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
        for (run, walk) in runs.iter().zip(walks) {
            findings.extend(self.explain_run(run, walk));
        }
        let is_reached = |tool: usize| walks.iter().any(|walk| walk.reached[tool]);
        let reached: Vec<bool> = (0..self.edges.allowed.len()).map(is_reached).collect();
        findings.extend(missing(&reached).take(MOST_FINDINGS).map(|at| {
            let tool = &self.edges.allowed[at];
            Finding::new(None, format!("no run calls the allowed tool `{tool}`"))
                .about(&[ALLOWED_PCT])
        }));
    }

    /// The calls and hand-offs of a run that break the policy, and the expected hand-offs that it lacks.
    fn explain_run(&self, run: &Run<'_>, walk: &Walk) -> Vec<Finding> {
        let finding = |about: &[Target], message: String| {
            Finding::new(Some(run.number), message).about(about)
        };
        let called = |at: usize| {
            let name = &run.trace.tool_calls[at].name;
            format!("called `{name}` (call {})", at + 1)
        };
        let mut findings = Vec::new();
        findings.extend(walk.restricted.iter().take(MOST_FINDINGS).map(|&at| {
            let message = format!("{}, which is restricted", called(at));
            finding(&[RESTRICTED_ATTEMPTS, GATE_PASSED], message)
        }));
        if self.closed.tools {
            findings.extend(walk.unlisted.iter().take(MOST_FINDINGS).map(|&at| {
                let call = called(at);
                let message = format!("{call}, which is not on the list of allowed tools");
                finding(&[UNLISTED_CALLS, GATE_PASSED], message)
            }));
        }
        if self.closed.delegation {
            findings.extend(walk.undeclared.iter().take(MOST_FINDINGS).map(|&at| {
                let Delegation { from, to } = &delegations(run.trace)[at];
                let message = format!("`{from}` hands over to `{to}`, which is not declared");
                finding(&[UNDECLARED_DELEGATIONS, GATE_PASSED], message)
            }));
        }
        let unseen = missing(&walk.handed_over).take(MOST_FINDINGS);
        findings.extend(unseen.map(|at| {
            let DelegationEdge { from, to } = &self.edges.delegation[at];
            let message = format!("`{from}` never hands over to `{to}`");
            finding(&[DELEGATION_PCT], message)
        }));
        findings
    }
}

/// Returns true if a call only reads, by its name and its arguments.
fn is_read(call: &Call<'_>) -> bool {
    let arguments = call
        .args
        .map_or(call.args_text.as_deref(), |args| Some(args.get()));
    only_reads(&call.name, arguments.unwrap_or_default())
}

fn missing(present: &[bool]) -> impl Iterator<Item = usize> {
    present
        .iter()
        .enumerate()
        .filter(|(_, present)| !**present)
        .map(|(at, _)| at)
}
