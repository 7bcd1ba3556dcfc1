//! Which calls of a run are at the two ends of each edge?

use super::{Axis, AxisCall, Edge, TrajectoryAxes, why_broken};
use crate::eval::shown::MOST_CALLS;
use crate::report::evidence::{AxesRun, DataEdge, OrderEdge};
use crate::trace::Run;

pub(super) fn of_run(axes: &TrajectoryAxes, run: &Run<'_>) -> AxesRun {
    let steps = AxisCall::all_of(run.trace);
    let judged = axes.judge(&steps);
    AxesRun {
        run: run.number,
        calls: steps
            .iter()
            .take(MOST_CALLS)
            .map(|step| step.tool.name.to_owned())
            .collect(),
        calls_left_out: steps.len().saturating_sub(MOST_CALLS),
        order: judged
            .iter()
            .filter(|edge| edge.axis == Axis::Order)
            .map(order)
            .collect(),
        data: judged
            .iter()
            .filter(|edge| edge.axis == Axis::Dependency)
            .map(data)
            .collect(),
    }
}

fn order(edge: &Edge<'_>) -> OrderEdge {
    let (before_call, after_call) = ends(edge);
    let (before, after) = (edge.earlier.to_owned(), edge.later.to_owned());
    OrderEdge {
        before,
        after,
        before_call,
        after_call,
        held: edge.holds,
    }
}

fn data(edge: &Edge<'_>) -> DataEdge {
    let (from_call, to_call) = ends(edge);
    let what = (!edge.holds).then(|| why_broken(edge));
    let (from, to) = (edge.earlier.to_owned(), edge.later.to_owned());
    DataEdge {
        from,
        to,
        from_call,
        to_call,
        held: edge.holds,
        what,
    }
}

/// The numbers of the calls, of those that are listed.
fn ends(edge: &Edge<'_>) -> (Option<usize>, Option<usize>) {
    let listed = |call: Option<usize>| call.filter(|at| *at < MOST_CALLS).map(|at| at + 1);
    let later = edge
        .too_soon
        .first()
        .map(|soon| soon.call)
        .or(edge.later_call);
    (listed(edge.earlier_call), listed(later))
}
