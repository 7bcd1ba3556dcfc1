//! `golden_path:` did the agent get there without wasted calls?

use crate::engine::facts::AgentFacts;
use crate::engine::gate::{Documentation, Gate, GateKind, RunFailsBy};
use crate::engine::scores::RunScores;
use crate::engine::shown::MOST_CALLS;
use crate::engine::shown::Shown;
use crate::engine::target::Target;
use crate::hashed::HashSet;
use crate::pairing::assignment::Groups;
use crate::pairing::subsequence::{longest_order_keeping_match, order_keeping_partners};
use crate::problem::Problem;
use crate::report::Evidence;
use crate::report::evidence::{PathCall, PathRun};
use crate::suite::read::Block;
use crate::trace::{Run, Tool};
use crate::words::{and_more, count};
use serde_json::Value;
use std::collections::BTreeSet;
use std::hash::Hash;

const PASSED: Target = Target::flag("golden_path.passed", "1 when no counted waste was found");
const PENALTY: Target = Target::ratio("golden_path.penalty", "1.0 without waste; falls toward 0");
const EXTRA_STEPS: Target =
    Target::count("golden_path.extra_steps", "calls beyond the path's length");
const BACKTRACKS: Target =
    Target::count("golden_path.backtracks", "returns to a tool that was left");
const REPEATED_TOOLS: Target = Target::count(
    "golden_path.repeated_tools",
    "calls to the same tool as the call before",
);
const COVERAGE: Target = Target::ratio(
    "golden_path.coverage",
    "how much of the path was walked, in order; 1 for an empty path",
);
const PASS_RATE: Target = Target::pass_rate("golden_path.pass_rate");

const TARGETS: &[Target] = &[
    PASSED,
    PENALTY,
    EXTRA_STEPS,
    BACKTRACKS,
    REPEATED_TOOLS,
    COVERAGE,
    PASS_RATE,
];

const MOST_FINDINGS: usize = 20;
const MOST_NAMED: usize = 5;

/// An ideal sequence of tools, and the kinds of waste to count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoldenPath {
    /// The tools in order.
    pub calls: Vec<String>,
    /// True if calls beyond the path's length are free.
    pub allow_extra_steps: bool,
    /// True if returning to an earlier tool counts as waste.
    pub penalize_backtracking: bool,
    /// True if consecutive calls of one tool count as waste.
    pub penalize_repeated_tools: bool,
}

impl GoldenPath {
    /// The strictest policy: every waste counts.
    pub fn new<S: Into<String>>(calls: impl IntoIterator<Item = S>) -> Self {
        Self {
            calls: calls.into_iter().map(Into::into).collect(),
            allow_extra_steps: false,
            penalize_backtracking: true,
            penalize_repeated_tools: true,
        }
    }
}

/// The result of comparing a trace with a golden path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathScore {
    /// True if the trace has no counted waste.
    pub passed: bool,
    /// Calls beyond the path's length.
    pub extra_steps: usize,
    /// Returns to an earlier tool.
    pub backtracks: usize,
    /// Calls to the same tool as the previous call.
    pub repeated_tools: usize,
    /// `1 / (1 + 0.5 w)` over the counted waste `w`.
    pub penalty: f64,
}

/// Scores recorded calls (objects with a `name`) against a golden path.
pub fn score_golden_path(calls: &[Value], golden: &GoldenPath) -> PathScore {
    let tools: Vec<Tool<'_>> = calls.iter().map(Tool::from_json).collect();
    score(&Waste::new(&tools, golden.calls.len()), golden)
}

/// The share of a golden path that the recorded calls walked in order: `LCS(names, golden) / len(golden)`, 1 for an
/// empty path.
pub fn golden_path_coverage(calls: &[Value], golden: &GoldenPath) -> f64 {
    coverage(
        &calls.iter().map(Tool::from_json).collect::<Vec<_>>(),
        &golden.calls,
    )
}

fn coverage(tools: &[Tool<'_>], golden: &[String]) -> f64 {
    if golden.is_empty() {
        return 1.0;
    }
    let (groups, recorded) = symbols(tools);
    let walked = longest_order_keeping_match(golden.len(), &recorded, |group| {
        positions(&groups, group, tools, golden)
    });
    walked as f64 / golden.len() as f64
}

/// The calls that are not a step of the path, if the calls walk as much of the path as possible in order.
fn beside_the_path(tools: &[Tool<'_>], golden: &[String]) -> Vec<usize> {
    let on_the_path: BTreeSet<usize> = steps(tools, golden).into_iter().flatten().collect();
    (0..tools.len())
        .filter(|call| !on_the_path.contains(call))
        .collect()
}

/// The call for each step of the path, with as many steps as possible walked in order.
fn steps(tools: &[Tool<'_>], golden: &[String]) -> Vec<Option<usize>> {
    let (groups, recorded) = symbols(tools);
    order_keeping_partners(golden.len(), &recorded, |group| {
        positions(&groups, group, tools, golden)
    })
}

/// Calls to each tool as one symbol.
fn symbols(tools: &[Tool<'_>]) -> (Groups, Vec<usize>) {
    let groups = Groups::collapse(tools);
    let recorded = (0..tools.len()).map(|call| groups.group_of(call)).collect();
    (groups, recorded)
}

/// The positions of a tool in the path.
fn positions(groups: &Groups, group: usize, tools: &[Tool<'_>], golden: &[String]) -> Vec<usize> {
    let tool = tools[groups.members(group)[0]];
    (0..golden.len())
        .filter(|&at| tool.is(&golden[at]))
        .collect()
}

fn score(waste: &Waste, golden: &GoldenPath) -> PathScore {
    let counted = |counts: bool, waste: usize| if counts { waste } else { 0 };
    let total = counted(!golden.allow_extra_steps, waste.extra_steps)
        + counted(golden.penalize_backtracking, waste.backtracks.len())
        + counted(golden.penalize_repeated_tools, waste.repeats.len());
    PathScore {
        passed: total == 0,
        extra_steps: waste.extra_steps,
        backtracks: waste.backtracks.len(),
        repeated_tools: waste.repeats.len(),
        penalty: 1.0 / (1.0 + 0.5 * total as f64),
    }
}

/// The wasted calls, as indices.
struct Waste {
    extra_steps: usize,
    backtracks: Vec<usize>,
    repeats: Vec<usize>,
}

impl Waste {
    fn new<T: Eq + Hash>(tools: &[T], golden_length: usize) -> Self {
        let mut seen = HashSet::default();
        let (mut backtracks, mut repeats) = (Vec::new(), Vec::new());
        for (at, tool) in tools.iter().enumerate() {
            if at > 0 && tools[at - 1] == *tool {
                repeats.push(at);
            } else if !seen.insert(tool) {
                backtracks.push(at);
            }
        }
        Self {
            extra_steps: tools.len().saturating_sub(golden_length),
            backtracks,
            repeats,
        }
    }

    /// The waste beyond another's, without as many of the first entries of each kind.
    fn beyond(mut self, own: &Self) -> Self {
        self.backtracks
            .drain(..own.backtracks.len().min(self.backtracks.len()));
        self.repeats
            .drain(..own.repeats.len().min(self.repeats.len()));
        self
    }
}

/// The block: the library's `GoldenPath`, and the keys that only a suite has.
pub(crate) struct GoldenPathBlock {
    path: GoldenPath,
    /// True if the path's own waste is free.
    allows_own_waste: bool,
    /// True if the default gate applies.
    is_default: bool,
    /// True if every step must be walked.
    requires_all: bool,
}

pub(super) const KIND: GateKind = GateKind::new(
    "golden_path",
    Documentation {
        summary: "Did the agent get there without wasted calls?",
        doc: include_str!("doc.md"),
        example: include_str!("example.yml"),
    },
    TARGETS,
    RunFailsBy::Assertions,
    |block| Box::new(GoldenPathBlock::read(block)),
)
.with_floors(&[(PASSED, 1.0)]);

impl Gate for GoldenPathBlock {
    fn expect_beside(&self, _has_expect: bool) -> Vec<(Target, f64)> {
        if self.requires_all {
            vec![(COVERAGE, 1.0)]
        } else {
            Vec::new()
        }
    }

    fn score_run(&self, run: &Run<'_>) -> RunScores {
        let calls = run.trace.tool_calls.as_slice();
        let tools: Vec<Tool<'_>> = calls.iter().map(Tool::from).collect();
        let mut waste = Waste::new(&tools, self.path.calls.len());
        if self.allows_own_waste {
            waste = waste.beyond(&self.own_waste());
        }
        let path = score(&waste, &self.path);
        let covered = coverage(&tools, &self.path.calls);
        let mut scores = RunScores::default();
        scores
            .flag(&PASSED, path.passed)
            .float(&PENALTY, path.penalty)
            .whole(&EXTRA_STEPS, path.extra_steps)
            .whole(&BACKTRACKS, path.backtracks)
            .whole(&REPEATED_TOOLS, path.repeated_tools)
            .float(&COVERAGE, covered);
        if calls.is_empty() {
            scores.not_exercised("the run made no calls");
        } else if covered <= 0.0 {
            scores.not_exercised("the run took no step of the path");
        } else if covered < 1.0 {
            self.explain_missed_steps(&tools, &mut scores);
        }
        self.explain(&tools, &waste, &mut scores);
        scores
    }

    fn evidence(&self, shown: &Shown<'_, '_>) -> Option<Evidence> {
        Some(Evidence::GoldenPath {
            path: self.path.calls.clone(),
            runs: shown.listed.iter().map(|run| self.walked(run)).collect(),
            left_out: shown.left_out(),
        })
    }

    fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        let tools: BTreeSet<&str> = self.path.calls.iter().map(String::as_str).collect();
        let mut problems: Vec<Problem> = tools
            .into_iter()
            .filter_map(|tool| agent.unknown_tool(tool, agent.key_span))
            .collect();
        let GoldenPath {
            allow_extra_steps,
            penalize_backtracking,
            penalize_repeated_tools,
            ..
        } = self.path;
        if allow_extra_steps
            && !penalize_backtracking
            && !penalize_repeated_tools
            && self.is_default
            && !self.requires_all
        {
            let message = "nothing counts as waste here: this cannot fail";
            let help = "count one kind of waste, or set `require: all`";
            problems.push(Problem::warning(message).at(agent.key_span).help(help));
        }
        if self.allows_own_waste || score(&self.own_waste(), &self.path).passed {
            return problems;
        }
        let message =
            "this golden path revisits a tool, so a run that follows it exactly counts as waste";
        let help = "add `baseline: golden` to count only the waste beyond the path's own";
        problems.push(Problem::warning(message).at(agent.key_span).help(help));
        problems
    }
}

impl GoldenPathBlock {
    fn read(block: &mut Block<'_>) -> Self {
        let calls = block.required("calls", "The tools of the ideal run, in order", |f| {
            f.list(|f| f.tool())
        });
        let allow_extra_steps = block.flag(
            "allow_extra_steps",
            "Do not count calls beyond the path's length",
            false,
        );
        let penalize_backtracking = block.flag(
            "penalize_backtracking",
            "Count returns to an earlier tool",
            true,
        );
        let penalize_repeated_tools = block.flag(
            "penalize_repeated_tools",
            "Count the same tool twice in a row",
            true,
        );
        let allows_own_waste = block.or_default(
            "baseline",
            "`zero` counts all waste, `golden` what is beyond the path's own",
            |f| f.choice("a baseline", &[("zero", false), ("golden", true)]),
        );
        let requires_all = block.or_default(
            "require",
            "`all` fails a run that omits a step; `none` judges only waste",
            |f| f.choice("the steps to require", &[("none", false), ("all", true)]),
        );
        Self {
            path: GoldenPath {
                calls: calls.unwrap_or_default(),
                allow_extra_steps,
                penalize_backtracking,
                penalize_repeated_tools,
            },
            allows_own_waste,
            is_default: !block.has("expect"),
            requires_all,
        }
    }

    /// Reports how much of the path was walked, and the missing steps.
    fn explain_missed_steps(&self, tools: &[Tool<'_>], scores: &mut RunScores) {
        let path = &self.path.calls;
        let steps = steps(tools, path);
        let missed = steps.iter().zip(path).filter(|(call, _)| call.is_none());
        let missed: Vec<String> = missed.map(|(_, tool)| format!("`{tool}`")).collect();
        let walked = format!(
            "walked {} of {}",
            path.len() - missed.len(),
            count(path.len(), "step")
        );
        let named: Vec<&str> = missed.iter().take(MOST_NAMED).map(String::as_str).collect();
        let more = and_more(missed.len().saturating_sub(MOST_NAMED));
        let message = format!("{walked}; missing: {}{more}", named.join(", "));
        scores
            .partial(&COVERAGE, walked)
            .find_about(&[COVERAGE], message);
    }

    fn walked(&self, run: &Run<'_>) -> PathRun {
        let tools: Vec<Tool<'_>> = run.trace.tool_calls.iter().map(Tool::from).collect();
        let steps = steps(&tools, &self.path.calls);
        let mut step_of = vec![None; tools.len()];
        for (step, call) in steps.iter().enumerate() {
            if let Some(call) = *call {
                step_of[call] = Some(step + 1);
            }
        }
        let call = |(at, tool): (usize, &Tool<'_>)| PathCall {
            number: at + 1,
            tool: tool.name.to_owned(),
            step: step_of[at],
            detour: step_of[at].is_none(),
        };
        PathRun {
            run: run.number,
            calls: tools
                .iter()
                .enumerate()
                .take(MOST_CALLS)
                .map(call)
                .collect(),
            calls_left_out: tools.len().saturating_sub(MOST_CALLS),
            missed: (1..)
                .zip(&steps)
                .filter(|(_, call)| call.is_none())
                .map(|(step, _)| step)
                .collect(),
        }
    }

    fn own_waste(&self) -> Waste {
        Waste::new(&self.path.calls, self.path.calls.len())
    }

    fn explain(&self, tools: &[Tool<'_>], waste: &Waste, scores: &mut RunScores) {
        let quoted = |at: usize| format!("call {} `{}`", at + 1, tools[at].name);
        if !self.path.allow_extra_steps && waste.extra_steps > 0 {
            let (calls, path) = (tools.len(), self.path.calls.len());
            let beside = beside_the_path(tools, &self.path.calls);
            let more = and_more(beside.len().saturating_sub(MOST_NAMED));
            let named: Vec<String> = beside.into_iter().take(MOST_NAMED).map(quoted).collect();
            let (calls, named) = (count(calls, "call"), named.join(", "));
            let message = format!("{calls}, but the golden path has {path}; extra: {named}{more}");
            scores.find_about(&[EXTRA_STEPS, PASSED, PENALTY], message);
        }
        if self.path.penalize_repeated_tools {
            for &at in waste.repeats.iter().take(MOST_FINDINGS) {
                let message = format!("{} repeats the call before it", quoted(at));
                scores.find_about(&[REPEATED_TOOLS, PASSED, PENALTY], message);
            }
        }
        if self.path.penalize_backtracking {
            for &at in waste.backtracks.iter().take(MOST_FINDINGS) {
                let before = tools[..at]
                    .iter()
                    .rposition(|tool| *tool == tools[at])
                    .unwrap_or_default();
                let message = format!(
                    "{} goes back to a tool last used in call {}",
                    quoted(at),
                    before + 1
                );
                scores.find_about(&[BACKTRACKS, PASSED, PENALTY], message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::scores::Scores;
    use crate::trace::Trace;
    use serde_json::json;

    fn calls(names: &[&str]) -> Vec<Value> {
        names.iter().map(|name| json!({ "name": name })).collect()
    }

    fn block(golden: &[&str], allows_own_waste: bool) -> GoldenPathBlock {
        GoldenPathBlock {
            path: GoldenPath::new(golden.iter().copied()),
            allows_own_waste,
            is_default: true,
            requires_all: false,
        }
    }

    fn run(block: &GoldenPathBlock, names: &[&str]) -> Scores {
        let text = json!({ "tool_calls": calls(names) }).to_string();
        let trace = Trace::read(&text).unwrap();
        block.score(&[Run::new(&trace)])
    }

    #[test]
    fn a_repeat_is_not_also_a_backtrack() {
        let score = score_golden_path(&calls(&["a", "b", "a", "a"]), &GoldenPath::new(["a", "b"]));
        assert_eq!(
            (score.extra_steps, score.backtracks, score.repeated_tools),
            (2, 1, 1)
        );
        assert!(!score.passed);
    }

    #[test]
    fn counts_stay_visible_when_their_penalty_is_off() {
        let golden = GoldenPath {
            allow_extra_steps: true,
            penalize_backtracking: false,
            ..GoldenPath::new(["a"])
        };
        let score = score_golden_path(&calls(&["a", "b", "a"]), &golden);
        assert_eq!(
            (score.extra_steps, score.backtracks, score.passed),
            (2, 1, true)
        );
    }

    #[test]
    fn a_path_that_revisits_is_clean_against_its_own_baseline_only() {
        let walked = ["a", "b", "a"];
        assert_eq!(
            run(&block(&walked, false), &walked)
                .value("golden_path.passed")
                .unwrap()
                .as_f64(),
            0.0
        );
        assert_eq!(
            run(&block(&walked, true), &walked)
                .value("golden_path.passed")
                .unwrap()
                .as_f64(),
            1.0
        );
    }

    #[test]
    fn a_clean_but_different_trace_shows_in_coverage() {
        let scores = run(
            &block(&["search", "open", "summarize"], false),
            &["search", "y", "summarize"],
        );
        assert_eq!(scores.value("golden_path.penalty").unwrap().as_f64(), 1.0);
        assert!((scores.value("golden_path.coverage").unwrap().as_f64() - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn waste_is_explained_call_by_call_and_no_calls_are_marked() {
        let scores = run(&block(&["a", "b"], false), &["a", "a", "b", "a"]);
        let messages: Vec<&str> = scores
            .findings
            .iter()
            .map(|finding| finding.message.as_str())
            .collect();
        assert_eq!(
            messages,
            [
                "4 calls, but the golden path has 2; extra: call 2 `a`, call 4 `a`",
                "call 2 `a` repeats the call before it",
                "call 4 `a` goes back to a tool last used in call 2",
            ]
        );
        assert!(run(&block(&["a"], false), &[]).not_exercised.is_some());
        let elsewhere = run(&block(&["a"], false), &["x"]).not_exercised;
        assert_eq!(elsewhere.unwrap(), "the run took no step of the path");
    }

    fn judged(block: &str, runs: &[&[&str]]) -> crate::report::GateReport {
        let runs: Vec<Value> = runs
            .iter()
            .map(|names| json!({ "tool_calls": calls(names) }))
            .collect();
        let agent = format!("prompt: p\nruns: {}\ngolden_path: {block}", runs.len());
        crate::engine::trial::judged(&agent, None, &runs)
    }

    #[test]
    fn a_half_walked_path_passes_and_says_how_much_was_walked() {
        use crate::report::Status;
        let report = judged("{ calls: [search, open_page, send] }", &[&["search"]]);
        assert_eq!(report.status, Status::Passed);
        assert_eq!(report.remarks[0].message, "walked 1 of 3 steps");
        assert!(report.remarks[0].is_partial, "--deny-vacuous fails it");
        let several = judged(
            "{ calls: [search, open_page, send] }",
            &[&["search"], &["search", "open_page", "send"], &["send"]],
        );
        assert_eq!(
            several.remarks[0].message,
            "walked 1 of 3 steps (in 2 of 3 runs: #1, #3)"
        );
        let whole = judged(
            "{ calls: [search, open_page] }",
            &[&["search", "open_page"]],
        );
        assert_eq!(whole.remarks, []);
    }

    #[test]
    fn what_is_asserted_of_the_coverage_is_enough() {
        let expect = "expect: [{ target: golden_path.coverage, matcher: { gte: 0.3 } }]";
        let block = format!("{{ calls: [search, open_page, send], {expect} }}");
        let report = judged(&block, &[&["search"]]);
        assert!(!report.remarks[0].is_partial, "{:?}", report.remarks);
    }

    #[test]
    fn require_all_fails_a_half_walked_path_by_itself() {
        use crate::report::Status;
        let block = "{ calls: [search, open_page, send], require: all }";
        let report = judged(block, &[&["search"]]);
        assert_eq!(report.status, Status::Failed);
        assert_eq!(
            report.explanation[0].message,
            "walked 1 of 3 steps; missing: `open_page`, `send`"
        );
        let whole = judged(block, &[&["search", "open_page", "send"]]);
        assert_eq!(whole.status, Status::Passed);
    }

    #[test]
    fn detours_less_missed_steps_are_the_extra_steps() {
        let envelope = |names: &[&str]| json!({ "tool_calls": calls(names) });
        let agent = "prompt: p\ngolden_path: { calls: [search, open_page] }";
        for names in [
            &["search", "search", "delete_page", "open_page"][..],
            &["open_page", "x", "y"],
        ] {
            let report = crate::engine::trial::judged(agent, None, &[envelope(names)]);
            let Some(Evidence::GoldenPath { runs, path, .. }) = report.evidence.as_deref() else {
                panic!()
            };
            let detours = runs[0].calls.iter().filter(|call| call.detour).count();
            let extra = report.targets["golden_path.extra_steps"].unwrap().as_f64() as usize;
            assert_eq!(detours - runs[0].missed.len(), extra, "{names:?}");
            let covered = 1.0 - runs[0].missed.len() as f64 / path.len() as f64;
            assert_eq!(
                covered,
                report.targets["golden_path.coverage"].unwrap().as_f64()
            );
            assert!(
                runs[0]
                    .calls
                    .iter()
                    .all(|call| call.step.is_none_or(|step| path[step - 1] == call.tool))
            );
        }
    }
}
