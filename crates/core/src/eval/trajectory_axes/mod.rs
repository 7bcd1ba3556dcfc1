//! `trajectory_axes:` did every call come after the ones it builds on?

mod picture;

use super::facts::AgentFacts;
use super::gate::{Documentation, Gate, GateKind, RunFailsBy};
use super::scores::RunScores;
use super::shown::Shown;
use super::target::Target;
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
    "percent of order edges whose second calls all ran after a first",
);
const PASS_RATE: Target = Target::pass_rate("trajectory_axes.pass_rate");

const TARGETS: &[Target] = &[DEPENDENCY_SATISFACTION, ORDER_SATISFACTION, PASS_RATE];

const MOST_FINDINGS: usize = 20;
const NO_CONSUMER: &str = "no consumer of the dependencies was called";
const NO_SECOND: &str = "no second tool of the order was called";

/// Which tools build on which, without pinning the calls themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrajectoryAxes {
    /// Tools that read what another tool returned.
    pub dependencies: Vec<Dependency>,
    /// Tools that must not run before another.
    pub order: Vec<Order>,
    /// Whether an edge fails when its later tool was never called.
    pub require_present: bool,
}

/// One tool reads what another returned.
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
    /// The tool that runs only then.
    pub second: String,
}

/// How much of each axis a run satisfied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AxesScore {
    /// Percent of the dependencies, floored; 100 when there are none.
    pub dependency_satisfaction: usize,
    /// Percent of the order edges, floored; 100 when there are none.
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

/// A call as the axes see it.
struct AxisCall<'a> {
    tool: Tool<'a>,
    turn: Option<u64>,
    /// Whether it is known to have failed.
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
            tool: Tool::of_json(call),
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

/// One edge in one run.
struct Edge<'a> {
    axis: Axis,
    earlier: &'a str,
    later: &'a str,
    /// The first call of the earlier tool that gave what the later needs, else the last that failed.
    earlier_call: Option<usize>,
    /// The first call of the later tool.
    later_call: Option<usize>,
    holds: bool,
    /// The later tool's calls that came too soon.
    too_soon: Vec<TooSoon>,
}

struct TooSoon {
    call: usize,
    /// The call of the earlier tool made in the same turn, when there was one.
    same_turn: Option<usize>,
    /// The last call of the earlier tool, when all before failed.
    failed: Option<usize>,
}

impl TrajectoryAxes {
    /// The edges of both axes: the earlier and the later tool of each.
    fn edges(&self) -> impl Iterator<Item = (Axis, &str, &str)> + Clone {
        let dependencies = self.dependencies.iter();
        let dependencies =
            dependencies.map(|edge| (Axis::Dependency, &*edge.producer, &*edge.consumer));
        dependencies.chain(
            self.order
                .iter()
                .map(|edge| (Axis::Order, &*edge.first, &*edge.second)),
        )
    }

    /// Every edge of both axes in one run.
    fn judge(&self, steps: &[AxisCall<'_>]) -> Vec<Edge<'_>> {
        let judge = |(axis, earlier, later)| {
            let mut edge = Edge::of(axis, earlier, later, steps);
            edge.holds = edge.too_soon.is_empty() && (edge.is_present() || !self.require_present);
            edge
        };
        self.edges().map(judge).collect()
    }
}

impl<'a> Edge<'a> {
    /// Where outputs are read, a call made in the same turn as its only earlier producers could not read theirs, and
    /// producers that failed gave none.
    fn of(axis: Axis, earlier: &'a str, later: &'a str, steps: &[AxisCall<'_>]) -> Self {
        let (earlier_call, later_call, too_soon) = (None, None, Vec::new());
        let mut edge = Self {
            axis,
            earlier,
            later,
            earlier_call,
            later_call,
            holds: true,
            too_soon,
        };
        let reads_output = axis == Axis::Dependency;
        let mut first: Option<usize> = None;
        let mut failed: Option<usize> = None;
        let mut is_in_two_turns = false;
        for (at, step) in steps.iter().enumerate() {
            let shares_turn = |other: usize| {
                step.turn.is_some() && steps[other].turn == step.turn && reads_output
            };
            if step.tool.is(later) {
                edge.later_call = edge.later_call.or(Some(at));
                if first.is_none_or(shares_turn) && !is_in_two_turns {
                    edge.too_soon.push(TooSoon {
                        call: at,
                        same_turn: first,
                        failed,
                    });
                }
            }
            if step.tool.is(earlier) && step.has_failed && reads_output {
                failed = Some(at);
            } else if step.tool.is(earlier) {
                is_in_two_turns |= first.is_some_and(|first| !shares_turn(first));
                first = first.or(Some(at));
            }
        }
        edge.earlier_call = first.or(failed);
        edge
    }

    /// Whether the later tool was called at all.
    fn is_present(&self) -> bool {
        self.later_call.is_some()
    }
}

/// 100 for an axis without edges.
fn percent_held(edges: &[Edge<'_>], axis: Axis) -> usize {
    let of_axis = edges.iter().filter(|edge| edge.axis == axis);
    let held = of_axis.clone().filter(|edge| edge.holds).count();
    (100 * held).checked_div(of_axis.count()).unwrap_or(100)
}

pub(super) const KIND: GateKind = GateKind::new(
    "trajectory_axes",
    Documentation {
        summary: "Did every call come after the ones it builds on?",
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
        self.say_what_is_idle(&judged, &mut scores);
        let failed: Vec<&Edge<'_>> = judged.iter().filter(|edge| !edge.holds).collect();
        for edge in failed.iter().take(MOST_FINDINGS) {
            let (axis, target) = match edge.axis {
                Axis::Dependency => ("dependency", DEPENDENCY_SATISFACTION),
                Axis::Order => ("order", ORDER_SATISFACTION),
            };
            let message = format!(
                "{axis} `{}` → `{}`: {}",
                edge.earlier,
                edge.later,
                why_broken(edge)
            );
            scores.find_about(&[target], message);
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
        let TrajectoryAxes {
            dependencies,
            order,
            ..
        } = self;
        if dependencies.is_empty() && order.is_empty() {
            let problem = Problem::warning("no edges are declared, so any run is accepted");
            let help = "add `dependencies: [{ producer: …, consumer: … }]` or `order: [{ first: …, second: … }]`";
            return vec![problem.at(agent.key_span).help(help)];
        }
        let edges = self.edges();
        let tools: BTreeSet<&str> = edges
            .clone()
            .flat_map(|(_, earlier, later)| [earlier, later])
            .collect();
        let named = tools.into_iter().filter(|tool| !tool.is_empty());
        let unknown = named.filter_map(|tool| agent.unknown_tool(tool, agent.key_span));
        let own = edges.filter(|(_, earlier, later)| earlier == later && !earlier.is_empty());
        let own = own.map(|(_, tool, _)| {
            let message =
                format!("`{tool}` must come after itself: its first call always fails this edge");
            Problem::warning(message)
                .at(agent.key_span)
                .help("name two different tools, or remove the edge")
        });
        let cycle = self.cycle().filter(|_| self.require_present).map(|tools| {
            let message = format!(
                "{} must each come after another of them, and with `require_present` all must be called: this cannot pass",
                quoted(&tools)
            );
            let asks_for_all = agent.written().next().is_none();
            let problem = if asks_for_all { Problem::error(message) } else { Problem::warning(message) };
            problem.at(agent.key_span).help("remove one of the edges, or `require_present`")
        });
        let unlooked = [
            (!dependencies.is_empty())
                .then(|| agent.unasserted("dependencies are", &[&DEPENDENCY_SATISFACTION])),
            (!order.is_empty())
                .then(|| agent.unasserted("order edges are", &[&ORDER_SATISFACTION])),
        ];
        own.chain(unknown)
            .chain(cycle)
            .chain(unlooked.into_iter().flatten().flatten())
            .collect()
    }
}

/// The two tools of an edge; both empty where a problem is reported, so that the list is not taken for an empty one.
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
        let doc = "Tools that read what another returned";
        let dependencies = block.list("dependencies", doc, |field| {
            let producer = ("producer", "The tool whose output is read");
            let (producer, consumer) =
                read_edge(field, producer, ("consumer", "The tool that reads it"))?;
            Some(Dependency { producer, consumer })
        });
        let order = block.list("order", "Tools that must not run before another", |field| {
            let first = ("first", "The tool that runs first");
            let (first, second) =
                read_edge(field, first, ("second", "The tool that runs only then"))?;
            Some(Order { first, second })
        });
        let doc = "Whether an edge fails when its consumer or second tool was never called";
        let require_present = block.flag("require_present", doc, false);
        Self {
            dependencies,
            order,
            require_present,
        }
    }

    /// Tools of which each must come after another, when there are such.
    fn cycle(&self) -> Option<Vec<&str>> {
        let edges = self.edges().map(|(_, earlier, later)| (earlier, later));
        let mut open: BTreeSet<(&str, &str)> =
            edges.filter(|(earlier, later)| earlier != later).collect();
        // A tool that comes after none of the others is in no cycle, and neither is one that none comes after.
        loop {
            let (earlier, later): (BTreeSet<&str>, BTreeSet<&str>) = open.iter().copied().unzip();
            let left: BTreeSet<(&str, &str)> = open
                .iter()
                .copied()
                .filter(|(first, second)| later.contains(first) && earlier.contains(second))
                .collect();
            if left.len() == open.len() {
                return (!left.is_empty())
                    .then(|| {
                        left.iter()
                            .map(|(first, _)| *first)
                            .collect::<BTreeSet<_>>()
                    })
                    .map(|tools| tools.into_iter().collect());
            }
            open = left;
        }
    }

    fn say_what_is_idle(&self, judged: &[Edge<'_>], scores: &mut RunScores) {
        let TrajectoryAxes {
            dependencies,
            order,
            require_present,
        } = self;
        let is_called = |axis: Axis| {
            judged
                .iter()
                .any(|edge| edge.axis == axis && edge.is_present())
        };
        let is_idle = |axis: Axis| !require_present && !is_called(axis);
        let idle_dependencies = !dependencies.is_empty() && is_idle(Axis::Dependency);
        match (idle_dependencies, !order.is_empty() && is_idle(Axis::Order)) {
            _ if judged.is_empty() => scores.not_exercised("no edges are declared"),
            (true, true) => scores.not_exercised("no consumer and no second tool was called"),
            (true, false) if order.is_empty() => scores.not_exercised(NO_CONSUMER),
            (false, true) if dependencies.is_empty() => scores.not_exercised(NO_SECOND),
            (true, false) => scores.nothing_counts(&DEPENDENCY_SATISFACTION, NO_CONSUMER),
            (false, true) => scores.nothing_counts(&ORDER_SATISFACTION, NO_SECOND),
            (false, false) => scores,
        };
    }
}

fn why_broken(edge: &Edge<'_>) -> String {
    let Edge {
        earlier,
        later,
        too_soon,
        ..
    } = edge;
    let Some(TooSoon {
        call,
        same_turn,
        failed,
    }) = too_soon.first()
    else {
        return format!("`{later}` was never called");
    };
    let what = match (same_turn, failed) {
        (Some(producer), _) => format!(
            "ran in the same turn as call {} `{earlier}`, so it cannot have read its output",
            producer + 1
        ),
        (None, Some(producer)) => {
            format!(
                "has nothing to read: call {} `{earlier}` failed, and none before it succeeded",
                producer + 1
            )
        }
        (None, None) => format!("ran before any `{earlier}`"),
    };
    let more = match too_soon.len() - 1 {
        0 => String::new(),
        more => format!(" (and so did {})", count(more, "more call")),
    };
    format!("call {} `{later}` {what}{more}", call + 1)
}

#[cfg(test)]
mod tests;
