//! `trajectory_axes:` did every call come after the ones it builds on?

mod picture;

use crate::engine::facts::AgentFacts;
use crate::engine::gate::{Documentation, Gate, GateKind, RunFailsBy};
use crate::engine::scores::RunScores;
use crate::engine::shown::Shown;
use crate::engine::target::Target;
use crate::problem::Problem;
use crate::report::Evidence;
use crate::suite::read::{Block, Field};
use crate::trace::{Call, CallResult, Run, Tool, Trace};
use crate::words::{count, quoted};
use serde_json::Value;
use std::collections::BTreeSet;

const DEPENDENCY_SATISFACTION: Target = Target::percent(
    "trajectory.dependency_satisfaction",
    "percent of dependencies whose consumers all ran after a producer they could read",
);
const ORDER_SATISFACTION: Target = Target::percent(
    "trajectory.order_satisfaction",
    "percent of order edges whose second calls all ran after a first call",
);
const PASS_RATE: Target = Target::pass_rate("trajectory_axes.pass_rate");

const TARGETS: &[Target] = &[DEPENDENCY_SATISFACTION, ORDER_SATISFACTION, PASS_RATE];

const MOST_FINDINGS: usize = 20;
const NO_CONSUMER: &str = "no consumer of the dependencies was called";
const NO_SECOND: &str = "no second tool of the order was called";

/// Which tools build on which, without fixing the calls themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrajectoryAxes {
    /// Tools that read the output of another tool.
    pub dependencies: Vec<Dependency>,
    /// Tools that must not run before another tool.
    pub order: Vec<Order>,
    /// True if an edge fails if its later tool was never called.
    pub require_present: bool,
}

/// One tool reads the output of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// The tool whose output is read.
    pub producer: String,
    /// The tool that reads it.
    pub consumer: String,
}

/// One tool must not run before another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The tool that runs first.
    pub first: String,
    /// The tool that must run after it.
    pub second: String,
}

/// The satisfied share of each axis in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AxesScore {
    /// The percentage of satisfied dependencies, rounded down. It is 100 without dependencies.
    pub dependency_satisfaction: usize,
    /// The percentage of satisfied order edges, rounded down. It is 100 without order edges.
    pub order_satisfaction: usize,
}

/// Scores recorded calls (objects with `name` and, where known, `server` and `turn`) on both axes.
///
/// ```
/// use mcptest_core::eval::{Dependency, TrajectoryAxes, score_trajectory_axes};
/// use serde_json::json;
///
/// let reads_url = Dependency { producer: "search".into(), consumer: "fetch_page".into() };
/// let axes = TrajectoryAxes { dependencies: vec![reads_url], ..TrajectoryAxes::default() };
/// let calls = [json!({"name": "search", "turn": 0}), json!({"name": "fetch_page", "turn": 1})];
/// assert_eq!(score_trajectory_axes(&calls, &axes).dependency_satisfaction, 100);
/// ```
pub fn score_trajectory_axes(calls: &[Value], axes: &TrajectoryAxes) -> AxesScore {
    let judged = axes.judge(&calls.iter().map(AxisCall::from).collect::<Vec<_>>());
    AxesScore {
        dependency_satisfaction: percent_held(&judged, Axis::Dependency),
        order_satisfaction: percent_held(&judged, Axis::Order),
    }
}

/// The parts of a call that the axes use.
struct AxisCall<'a> {
    tool: Tool<'a>,
    turn: Option<u64>,
    /// True if it is known to have failed.
    has_failed: bool,
}

impl<'a> AxisCall<'a> {
    fn all_of(trace: &'a Trace<'_>) -> Vec<Self> {
        let calls = trace.tool_calls.iter().zip(trace.results_by_call());
        let step = |(call, result): (&'a Call<'_>, Option<&CallResult<'_>>)| Self {
            tool: call.into(),
            turn: call.turn,
            has_failed: result.is_some_and(CallResult::is_failure),
        };
        calls.map(step).collect()
    }
}

impl<'a> From<&'a Value> for AxisCall<'a> {
    fn from(call: &'a Value) -> Self {
        Self {
            tool: Tool::from_json(call),
            turn: call.get("turn").and_then(Value::as_u64),
            has_failed: false,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Axis {
    Dependency,
    Order,
}

/// An edge that the block declares.
#[derive(Clone, Copy)]
struct Edge<'a> {
    axis: Axis,
    earlier: &'a str,
    later: &'a str,
}

impl Edge<'_> {
    /// Returns true if both tools of the edge are equal. A tool whose field could not be read has
    /// an empty name; its problem is already reported.
    fn is_to_itself(&self) -> bool {
        self.earlier == self.later && !self.earlier.is_empty()
    }
}

/// One edge in one run.
struct JudgedEdge<'a> {
    edge: Edge<'a>,
    /// The first call of the earlier tool with usable output, otherwise the last that failed.
    earlier_call: Option<usize>,
    /// The first call of the later tool.
    later_call: Option<usize>,
    holds: bool,
    /// The later tool's calls that came too soon.
    too_soon: Vec<TooSoon>,
}

struct TooSoon {
    call: usize,
    why: WhyTooSoon,
}

enum WhyTooSoon {
    SharesTurn { producer: usize },
    ProducersFailed { last: usize },
    NoneBefore,
}

impl TrajectoryAxes {
    /// The edges of both axes.
    fn edges(&self) -> impl Iterator<Item = Edge<'_>> {
        let dependencies = self.dependencies.iter().map(|edge| Edge {
            axis: Axis::Dependency,
            earlier: &edge.producer,
            later: &edge.consumer,
        });
        let order = self.order.iter().map(|edge| Edge {
            axis: Axis::Order,
            earlier: &edge.first,
            later: &edge.second,
        });
        dependencies.chain(order)
    }

    /// Judges every edge of both axes in one run.
    fn judge(&self, steps: &[AxisCall<'_>]) -> Vec<JudgedEdge<'_>> {
        self.edges()
            .map(|edge| JudgedEdge::new(edge, steps, self.require_present))
            .collect()
    }
}

impl<'a> JudgedEdge<'a> {
    fn new(edge: Edge<'a>, steps: &[AxisCall<'_>], require_present: bool) -> Self {
        let mut earlier = EarlierCalls::new(edge.axis);
        let mut later_call = None;
        let mut too_soon = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            if step.tool.is(edge.later) {
                later_call = later_call.or(Some(at));
                let why = earlier.why_too_soon(step, steps);
                too_soon.extend(why.map(|why| TooSoon { call: at, why }));
            }
            if step.tool.is(edge.earlier) {
                earlier.add(at, step, steps);
            }
        }
        let is_missing = require_present && later_call.is_none();
        Self {
            edge,
            earlier_call: earlier.first.or(earlier.last_failed),
            later_call,
            holds: too_soon.is_empty() && !is_missing,
            too_soon,
        }
    }

    /// Returns true if the later tool was called at all.
    fn is_present(&self) -> bool {
        self.later_call.is_some()
    }
}

/// The calls of an edge's earlier tool, as far as the run has been read.
struct EarlierCalls {
    axis: Axis,
    /// The first call with the output that the later tool needs.
    first: Option<usize>,
    last_failed: Option<usize>,
    are_in_two_turns: bool,
}

impl EarlierCalls {
    fn new(axis: Axis) -> Self {
        Self {
            axis,
            first: None,
            last_failed: None,
            are_in_two_turns: false,
        }
    }

    /// For outputs, a failed producer counts as having none.
    fn add(&mut self, at: usize, call: &AxisCall<'_>, steps: &[AxisCall<'_>]) {
        if call.has_failed && self.axis == Axis::Dependency {
            self.last_failed = Some(at);
            return;
        }
        match self.first {
            Some(first) => self.are_in_two_turns |= !self.is_unread_by(call, &steps[first]),
            None => self.first = Some(at),
        }
    }

    /// Why a call of the later tool came too soon, if it did.
    fn why_too_soon(&self, later: &AxisCall<'_>, steps: &[AxisCall<'_>]) -> Option<WhyTooSoon> {
        match (self.first, self.last_failed) {
            (Some(producer), _) => {
                let is_unread = self.is_unread_by(later, &steps[producer]);
                (is_unread && !self.are_in_two_turns).then_some(WhyTooSoon::SharesTurn { producer })
            }
            (None, Some(last)) => Some(WhyTooSoon::ProducersFailed { last }),
            (None, None) => Some(WhyTooSoon::NoneBefore),
        }
    }

    /// Returns true if a call cannot have read the output of another call: both are in the same
    /// turn.
    fn is_unread_by(&self, call: &AxisCall<'_>, other: &AxisCall<'_>) -> bool {
        self.axis == Axis::Dependency && call.turn.is_some() && call.turn == other.turn
    }
}

/// The use of an axis: undeclared, idle if none of its later tools was called, or called.
enum AxisUse {
    Undeclared,
    Idle,
    Called,
}

impl AxisUse {
    fn new(axis: Axis, judged: &[JudgedEdge<'_>]) -> Self {
        let mut edges = judged
            .iter()
            .filter(|judged| judged.edge.axis == axis)
            .peekable();
        if edges.peek().is_none() {
            Self::Undeclared
        } else if edges.any(JudgedEdge::is_present) {
            Self::Called
        } else {
            Self::Idle
        }
    }
}

/// 100 for an axis without edges.
fn percent_held(judged: &[JudgedEdge<'_>], axis: Axis) -> usize {
    let of_axis = judged.iter().filter(|judged| judged.edge.axis == axis);
    let held = of_axis.clone().filter(|judged| judged.holds).count();
    (100 * held).checked_div(of_axis.count()).unwrap_or(100)
}

pub(super) const KIND: GateKind = GateKind::new(
    "trajectory_axes",
    Documentation {
        summary: "Did every call come after the calls that it builds on?",
        doc: include_str!("doc.md"),
        example: include_str!("example.yml"),
    },
    TARGETS,
    RunFailsBy::Assertions,
    |block| Box::new(TrajectoryAxes::read(block)),
)
.with_floors(&[
    (DEPENDENCY_SATISFACTION, 100.0),
    (ORDER_SATISFACTION, 100.0),
]);

impl Gate for TrajectoryAxes {
    fn score_run(&self, run: &Run<'_>) -> RunScores {
        let judged = self.judge(&AxisCall::all_of(run.trace));
        let mut scores = RunScores::default();
        scores
            .whole(
                &DEPENDENCY_SATISFACTION,
                percent_held(&judged, Axis::Dependency),
            )
            .whole(&ORDER_SATISFACTION, percent_held(&judged, Axis::Order));
        self.note_idle_axes(&judged, &mut scores);
        let failed: Vec<&JudgedEdge<'_>> = judged.iter().filter(|judged| !judged.holds).collect();
        for judged in failed.iter().take(MOST_FINDINGS) {
            let Edge {
                axis,
                earlier,
                later,
            } = judged.edge;
            let (axis, target) = match axis {
                Axis::Dependency => ("dependency", DEPENDENCY_SATISFACTION),
                Axis::Order => ("order", ORDER_SATISFACTION),
            };
            let why = why_broken(judged);
            scores.find_about(&[target], format!("{axis} `{earlier}` → `{later}`: {why}"));
        }
        if failed.len() > MOST_FINDINGS {
            scores.find(format!("and {} more edges", failed.len() - MOST_FINDINGS));
        }
        scores
    }

    fn evidence(&self, shown: &Shown<'_, '_>) -> Option<Evidence> {
        let runs = shown
            .listed
            .iter()
            .map(|run| picture::of_run(self, run))
            .collect();
        Some(Evidence::TrajectoryAxes {
            runs,
            left_out: shown.left_out(),
        })
    }

    fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        if self.edges().next().is_none() {
            let problem = Problem::warning("no edges are declared, so any run is accepted");
            let help = "add `dependencies: [{ producer: …, consumer: … }]` or `order: [{ first: …, second: … }]`";
            return vec![problem.at(agent.key_span).help(help)];
        }
        let mut problems = self.lint_edges_to_themselves(agent);
        problems.extend(self.lint_unknown_tools(agent));
        problems.extend(self.lint_cycle(agent));
        problems.extend(self.lint_unasserted(agent));
        problems
    }
}

/// The two tools of an edge. Both are empty if a problem is reported, so that the list does not
/// look empty.
fn read_edge(
    field: &mut Field<'_>,
    earlier: (&'static str, &str),
    later: (&'static str, &str),
) -> Option<(String, String)> {
    let edge = field.block(|block| {
        let earlier = block.required(earlier.0, earlier.1, |field| field.tool());
        let later = block.required(later.0, later.1, |field| field.tool());
        earlier.zip(later)
    });
    (!field.is_describing()).then(|| edge.flatten().unwrap_or_default())
}

impl TrajectoryAxes {
    fn read(block: &mut Block<'_>) -> Self {
        let doc = "Tools that read the output of another tool";
        let dependencies = block.list("dependencies", doc, |field| {
            let producer = ("producer", "The tool whose output is read");
            let (producer, consumer) =
                read_edge(field, producer, ("consumer", "The tool that reads it"))?;
            Some(Dependency { producer, consumer })
        });
        let order = block.list("order", "Tools that must not run before another", |field| {
            let first = ("first", "The tool that runs first");
            let (first, second) =
                read_edge(field, first, ("second", "The tool that must run after it"))?;
            Some(Order { first, second })
        });
        let doc = "Fail an edge whose consumer or second tool was never called";
        let require_present = block.flag("require_present", doc, false);
        Self {
            dependencies,
            order,
            require_present,
        }
    }

    fn lint_edges_to_themselves(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        self.edges()
            .filter(Edge::is_to_itself)
            .map(|edge| {
                let tool = edge.earlier;
                let message = format!(
                    "`{tool}` must come after itself: its first call always fails this edge"
                );
                Problem::warning(message)
                    .at(agent.key_span)
                    .help("name two different tools, or remove the edge")
            })
            .collect()
    }

    fn lint_unknown_tools(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        let tools: BTreeSet<&str> = self
            .edges()
            .flat_map(|edge| [edge.earlier, edge.later])
            .collect();
        tools
            .into_iter()
            .filter(|tool| !tool.is_empty())
            .filter_map(|tool| agent.unknown_tool(tool, agent.key_span))
            .collect()
    }

    fn lint_cycle(&self, agent: &AgentFacts<'_>) -> Option<Problem> {
        if !self.require_present {
            return None;
        }
        let message = format!(
            "{} must each come after another of them, but with `require_present` all must be \
            called: this cannot pass",
            quoted(&self.cycle()?)
        );
        let asks_for_all = agent.written().next().is_none();
        let problem = if asks_for_all {
            Problem::error(message)
        } else {
            Problem::warning(message)
        };
        let help = "remove one of the edges, or `require_present`";
        Some(problem.at(agent.key_span).help(help))
    }

    fn lint_unasserted(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        let mut problems = Vec::new();
        if !self.dependencies.is_empty() {
            problems.extend(agent.unasserted("dependencies are", &[&DEPENDENCY_SATISFACTION]));
        }
        if !self.order.is_empty() {
            problems.extend(agent.unasserted("order edges are", &[&ORDER_SATISFACTION]));
        }
        problems
    }

    /// Tools that must each come after another of them, if any.
    fn cycle(&self) -> Option<Vec<&str>> {
        let mut open: BTreeSet<(&str, &str)> = self
            .edges()
            .map(|edge| (edge.earlier, edge.later))
            .filter(|(earlier, later)| earlier != later)
            .collect();
        // A tool that comes after none of the others is in no cycle, and neither is one that none comes after.
        loop {
            let (earlier, later): (BTreeSet<&str>, BTreeSet<&str>) = open.iter().copied().unzip();
            let left: BTreeSet<(&str, &str)> = open
                .iter()
                .copied()
                .filter(|(first, second)| later.contains(first) && earlier.contains(second))
                .collect();
            if left.is_empty() {
                return None;
            }
            if left.len() == open.len() {
                return Some(earlier.into_iter().collect());
            }
            open = left;
        }
    }

    /// Notes each axis whose later tools were never called. With `require_present`, such an edge
    /// fails instead.
    fn note_idle_axes(&self, judged: &[JudgedEdge<'_>], scores: &mut RunScores) {
        if judged.is_empty() {
            scores.not_exercised("no edges are declared");
            return;
        }
        if self.require_present {
            return;
        }
        let dependencies = AxisUse::new(Axis::Dependency, judged);
        let order = AxisUse::new(Axis::Order, judged);
        match (dependencies, order) {
            (AxisUse::Idle, AxisUse::Idle) => {
                scores.not_exercised("no consumer and no second tool was called");
            }
            (AxisUse::Idle, AxisUse::Undeclared) => {
                scores.not_exercised(NO_CONSUMER);
            }
            (AxisUse::Undeclared, AxisUse::Idle) => {
                scores.not_exercised(NO_SECOND);
            }
            (AxisUse::Idle, AxisUse::Called) => {
                scores.nothing_counts(&DEPENDENCY_SATISFACTION, NO_CONSUMER);
            }
            (AxisUse::Called, AxisUse::Idle) => {
                scores.nothing_counts(&ORDER_SATISFACTION, NO_SECOND);
            }
            (AxisUse::Called | AxisUse::Undeclared, AxisUse::Called | AxisUse::Undeclared) => {}
        }
    }
}

fn why_broken(judged: &JudgedEdge<'_>) -> String {
    let Edge { earlier, later, .. } = judged.edge;
    let Some(TooSoon { call, why }) = judged.too_soon.first() else {
        return format!("`{later}` was never called");
    };
    let why = match why {
        WhyTooSoon::SharesTurn { producer } => format!(
            "ran in the same turn as call {} `{earlier}`, so it cannot have read its output",
            producer + 1
        ),
        WhyTooSoon::ProducersFailed { last } => format!(
            "has nothing to read: call {} `{earlier}` failed, and no earlier call succeeded",
            last + 1
        ),
        WhyTooSoon::NoneBefore => format!("ran before any `{earlier}`"),
    };
    let more = match judged.too_soon.len() - 1 {
        0 => String::new(),
        more => format!(" (and so did {})", count(more, "more call")),
    };
    format!("call {} `{later}` {why}{more}", call + 1)
}

#[cfg(test)]
mod tests;
