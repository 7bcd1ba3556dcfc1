//! Which calls of a run are at the two ends of each edge?

use super::{Axis, AxisCall, JudgedEdge, TrajectoryAxes, why_broken};
use crate::engine::shown::MOST_CALLS;
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
        order: of_axis(&judged, Axis::Order).map(order_edge).collect(),
        data: of_axis(&judged, Axis::Dependency).map(data_edge).collect(),
    }
}

fn of_axis<'e, 'a>(
    judged: &'e [JudgedEdge<'a>],
    axis: Axis,
) -> impl Iterator<Item = &'e JudgedEdge<'a>> {
    judged.iter().filter(move |judged| judged.edge.axis == axis)
}

fn order_edge(judged: &JudgedEdge<'_>) -> OrderEdge {
    OrderEdge {
        before: judged.edge.earlier.to_owned(),
        after: judged.edge.later.to_owned(),
        before_call: listed_number(judged.earlier_call),
        after_call: listed_number(decisive_later_call(judged)),
        held: judged.holds,
    }
}

fn data_edge(judged: &JudgedEdge<'_>) -> DataEdge {
    DataEdge {
        from: judged.edge.earlier.to_owned(),
        to: judged.edge.later.to_owned(),
        from_call: listed_number(judged.earlier_call),
        to_call: listed_number(decisive_later_call(judged)),
        held: judged.holds,
        what: (!judged.holds).then(|| why_broken(judged)),
    }
}

/// The first call that came too soon, otherwise the first call.
fn decisive_later_call(judged: &JudgedEdge<'_>) -> Option<usize> {
    let too_soon = judged.too_soon.first().map(|too_soon| too_soon.call);
    too_soon.or(judged.later_call)
}

/// The number of a call, if the picture lists it.
fn listed_number(call: Option<usize>) -> Option<usize> {
    call.filter(|at| *at < MOST_CALLS).map(|at| at + 1)
}
