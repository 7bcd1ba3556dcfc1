//! Edges that hold, edges that do not, and edges without calls.

use super::*;
use crate::report::Number;
use crate::trace::Trace;
use serde_json::json;

fn axes(dependencies: &[(&str, &str)], order: &[(&str, &str)]) -> TrajectoryAxes {
    let dependency = |&(producer, consumer): &(&str, &str)| Dependency {
        producer: producer.to_owned(),
        consumer: consumer.to_owned(),
    };
    let order_edge = |&(first, second): &(&str, &str)| Order {
        first: first.to_owned(),
        second: second.to_owned(),
    };
    TrajectoryAxes {
        dependencies: dependencies.iter().map(dependency).collect(),
        order: order.iter().map(order_edge).collect(),
        require_present: false,
    }
}

/// Calls written as `name` or `name@turn`.
fn calls(written: &[&str]) -> Vec<Value> {
    let call = |text: &&str| match text.split_once('@') {
        Some((name, turn)) => json!({ "name": name, "turn": turn.parse::<u64>().unwrap() }),
        None => json!({ "name": text }),
    };
    written.iter().map(call).collect()
}

fn score(axes: &TrajectoryAxes, written: &[&str]) -> (usize, usize) {
    let score = score_trajectory_axes(&calls(written), axes);
    let text = json!({ "tool_calls": calls(written) }).to_string();
    let trace = Trace::read(&text).unwrap();
    let block = axes.clone();
    let scores = block.score(&[Run::new(&trace)]);
    let both = (score.dependency_satisfaction, score.order_satisfaction);
    let number = |percent: usize| Some(Number::Int(percent as i64));
    assert_eq!(
        scores.value("trajectory.dependency_satisfaction"),
        number(both.0)
    );
    assert_eq!(
        scores.value("trajectory.order_satisfaction"),
        number(both.1)
    );
    both
}

fn scores(axes: &TrajectoryAxes, written: &[&str]) -> (Vec<String>, Option<String>) {
    let text = json!({ "tool_calls": calls(written) }).to_string();
    let trace = Trace::read(&text).unwrap();
    let block = axes.clone();
    let scores = block.score(&[Run::new(&trace)]);
    (
        scores
            .findings
            .into_iter()
            .map(|finding| finding.message)
            .collect(),
        scores.not_exercised,
    )
}

#[test]
fn every_consumer_needs_an_earlier_producer() {
    let axes = axes(&[("p", "c")], &[("a", "p")]);
    assert_eq!(score(&axes, &["a", "p", "c", "x", "c"]), (100, 100));
    assert_eq!(score(&axes, &["c", "a", "p", "c"]), (0, 100));
    assert_eq!(score(&axes, &["p", "a", "c"]), (100, 0));
}

#[test]
fn percents_are_floored() {
    let axes = axes(&[("a", "b"), ("b", "c"), ("c", "a")], &[]);
    assert_eq!(score(&axes, &["a", "b", "c"]), (66, 100));
}

#[test]
fn a_consumer_cannot_read_what_its_own_turn_produces() {
    let edge = axes(&[("p", "c")], &[("p", "c")]);
    assert_eq!(score(&edge, &["p@1", "c@1"]), (0, 100));
    assert_eq!(score(&edge, &["p@0", "p@1", "c@1"]), (100, 100));
    assert_eq!(score(&edge, &["p@1", "p@1", "c@1", "c@2"]), (0, 100));
    assert_eq!(score(&edge, &["p", "c"]), (100, 100));
    assert_eq!(score(&edge, &["p", "c@0"]), (100, 100));
    let (findings, _) = scores(&axes(&[("p", "c")], &[]), &["x@0", "p@1", "c@1", "c@1"]);
    assert_eq!(
        findings,
        [
            "dependency `p` → `c`: call 3 `c` ran in the same turn as call 2 `p`, so it cannot have read its output \
             (and so did 1 more call)"
        ]
    );
}

#[test]
fn a_tool_may_be_named_with_its_server() {
    let calls = [
        json!({"name": "find", "server": "docs"}),
        json!({"name": "read", "server": "web"}),
    ];
    let satisfied = |producer| {
        score_trajectory_axes(&calls, &axes(&[(producer, "web__read")], &[]))
            .dependency_satisfaction
    };
    assert_eq!(satisfied("docs.find"), 100);
    assert_eq!(satisfied("web.find"), 0);
}

#[test]
fn an_absent_consumer_holds_unless_it_is_required_and_is_marked() {
    let mut edge = axes(&[("p", "c")], &[]);
    assert_eq!(score(&edge, &["p"]), (100, 100));
    let (findings, idle) = scores(&edge, &["p"]);
    assert_eq!(
        (findings.len(), idle.unwrap().as_str()),
        (0, "no consumer of the dependencies was called")
    );
    edge.require_present = true;
    assert_eq!(score(&edge, &["p"]), (0, 100));
    let (findings, idle) = scores(&edge, &["p"]);
    assert_eq!(
        (findings[0].as_str(), idle),
        ("dependency `p` → `c`: `c` was never called", None)
    );
}

#[test]
fn the_edge_and_the_call_are_named() {
    let edges = axes(&[("search", "fetch_page")], &[("login", "search")]);
    let (findings, idle) = scores(&edges, &["login", "fetch_page", "search"]);
    let expected =
        "dependency `search` → `fetch_page`: call 2 `fetch_page` ran before any `search`";
    assert_eq!((findings, idle), (vec![expected.to_owned()], None));
    let (_, idle) = scores(&edges, &["login"]);
    assert_eq!(idle.unwrap(), "no consumer and no second tool was called");
}

#[test]
fn a_block_without_edges_or_with_a_loop_is_warned_of() {
    let expect: Vec<_> = KIND.default_expect().collect();
    let facts = AgentFacts {
        runs: 1,
        expect: &expect,
        ..AgentFacts::default()
    };
    let lint = |axes: TrajectoryAxes| axes.lint(&facts).len();
    assert_eq!(lint(axes(&[], &[])), 1);
    assert_eq!(lint(axes(&[("a", "a"), ("a", "b")], &[("c", "c")])), 2);
    assert_eq!(lint(axes(&[("a", "b")], &[])), 0);
    let (_, idle) = scores(&axes(&[], &[]), &["a"]);
    assert_eq!(idle.unwrap(), "no edges are declared");
}

#[test]
fn a_cycle_that_must_be_present_cannot_pass() {
    let order = "order: [{ first: search, second: open }, { first: open, second: search }]";
    let said = crate::engine::lint_check::problems(&format!(
        "trajectory_axes: {{ {order}, require_present: true }}"
    ));
    assert!(
        said[0]
            .message
            .starts_with("`open`, `search` must each come after another of them"),
        "{said:?}"
    );
    assert_eq!(said[0].level, crate::problem::Level::Error);
    assert!(
        crate::engine::lint_check::problems(&format!("trajectory_axes: {{ {order} }}")).is_empty()
    );
}

#[test]
fn an_idle_axis_marks_the_gate_only_where_it_is_asserted() {
    use crate::engine::trial::judged;
    let both = "dependencies: [{ producer: p, consumer: c }], order: [{ first: a, second: b }]";
    let run = || json!({ "tool_calls": calls(&["a", "b"]) });
    let marked = |expect: &str| {
        judged(
            &format!("prompt: x\ntrajectory_axes: {{ {both}{expect} }}"),
            None,
            &[run()],
        )
        .not_exercised
    };
    let why = "`trajectory.dependency_satisfaction`: no consumer of the dependencies was called";
    assert_eq!(marked("").unwrap(), why);
    let order = ", expect: [{ target: trajectory.order_satisfaction, matcher: { exact: 100 } }]";
    assert_eq!(marked(order), None);
}

#[test]
fn the_edges_that_are_drawn_as_held_are_the_percent_that_the_targets_say() {
    use crate::engine::trial::{judged, value};
    let block = "prompt: x\ntrajectory_axes:\n  dependencies: [{ producer: p, consumer: c }, { producer: q, consumer: c }]\n  \
                 order: [{ first: a, second: p }]";
    let report = judged(
        block,
        None,
        &[json!({ "tool_calls": calls(&["a", "p", "c", "q"]) })],
    );
    let Some(Evidence::TrajectoryAxes { runs, left_out: 0 }) = report.evidence.as_deref() else {
        panic!()
    };
    let run = &runs[0];
    let percent = |held: usize, of: usize| Some((100 * held / of) as f64);
    let held = run.data.iter().filter(|edge| edge.held).count();
    assert_eq!(
        percent(held, run.data.len()),
        value(&report, "trajectory.dependency_satisfaction")
    );
    let held = run.order.iter().filter(|edge| edge.held).count();
    assert_eq!(
        percent(held, run.order.len()),
        value(&report, "trajectory.order_satisfaction")
    );
    assert_eq!(
        (run.data[1].from_call, run.data[1].to_call),
        (Some(4), Some(3))
    );
    assert_eq!((&*run.calls[3], &*run.calls[2]), ("q", "c"));
    let why = run.data[1].what.as_deref().unwrap();
    assert!(report.explanation[0].message.ends_with(why), "{why}");
}
