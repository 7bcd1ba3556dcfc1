//! A decided verdict never changes, for every gate, every matcher and every outcome of the
//! remaining runs.

use super::decided;
use crate::engine::trial::{loaded, suite};
use crate::engine::{GateKind, GateTrait};
use crate::gates::GATES;
use crate::report::Status;
use crate::suite::{Agent, Suite, yaml_to_json};
use crate::trace::{CatalogueTool, Header, Run, Trace};
use proptest::prelude::*;
use serde_json::{Value, json};

/// The possible outcomes of a run: its envelope, and whether its `expect:` held.
fn ways() -> Vec<(Value, bool)> {
    let met = json!([{ "name": "hung", "kind": "hang", "call_index": 0, "detected": true }]);
    vec![
        (
            json!({ "tool_calls": [{ "name": "search", "turn": 0 }, { "name": "open_page", "turn": 1 }],
                "tool_results": [{ "is_error": true }, {}], "final_response": "I opened the page.", "faults": met,
                "conversation": { "tokens": { "total": 100 } } }),
            true,
        ),
        (
            json!({ "tool_calls": [], "final_response": "I deleted the page." }),
            false,
        ),
        (
            json!({ "tool_calls": [{ "name": "search" }, { "name": "noise" }, { "name": "search" }, { "name": "search" }],
                "conversation": { "tokens": { "total": 5000 } } }),
            true,
        ),
        (
            json!({ "tool_calls": [{ "name": "delete_page" }, { "name": "search" }], "faults": met,
                "conversation": { "tokens": { "total": 900 } } }),
            false,
        ),
    ]
}

/// Blocks that match these runs, without `expect:`. Other gates use the block of their example.
const BLOCKS: &[(&str, &str)] = &[
    (
        "trajectory",
        "calls: [search, open_page], mode: subsequence",
    ),
    (
        "trajectory_axes",
        "dependencies: [{ producer: search, consumer: open_page }], order: [{ first: search, second: delete_page }]",
    ),
    ("golden_path", "calls: [search]"),
    ("stability", "premises: none, ignore_empty_turns: true"),
    ("reliability", "k: 2"),
    ("recovery", "max_detection_ms: 10"),
    ("narrative", "extra_verbs: []"),
    (
        "tool_selection",
        "expected_tool: search, min_selection_rate: 0.5",
    ),
    (
        "tool_selection",
        "expected_tool: open_page, min_selection_rate: 0.5, max_total_tokens: 1000",
    ),
    (
        "equal_function_sets",
        "classes: [{ name: c, members: [search] }, { name: d, members: [open_page] }]",
    ),
    ("distractors", "count: 1, correct: [search]"),
    (
        "tool_edges",
        "allowed: [search, open_page], restricted: [delete_page]",
    ),
    ("orchestration", "classes: [{ name: c, members: [search] }]"),
    (
        "token_efficiency",
        "classes: [{ name: c, members: [search] }]",
    ),
];

/// Every gate that has targets, with a block.
fn blocks() -> Vec<(&'static GateKind, String)> {
    let of_example = |kind: &GateKind| {
        let example = yaml_to_json(kind.example).unwrap();
        let block = example["agents"][0][kind.key]
            .as_object()
            .cloned()
            .unwrap_or_default();
        let keys = block.iter().filter(|(key, _)| *key != "expect");
        keys.map(|(key, value)| format!("{key}: {value}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let of_kind = |kind: &'static GateKind| {
        let fitting = BLOCKS
            .iter()
            .filter(|(key, _)| *key == kind.key)
            .map(|(_, keys)| (*keys).to_owned());
        let fitting: Vec<String> = fitting.collect();
        let blocks = if fitting.is_empty() {
            vec![of_example(kind)]
        } else {
            fitting
        };
        blocks.into_iter().map(move |keys| (kind, keys))
    };
    GATES
        .iter()
        .filter(|kind| !kind.targets.is_empty())
        .flat_map(of_kind)
        .collect()
}

fn with(agent: &str) -> Suite {
    let text = suite(agent);
    let loaded = loaded(&text);
    loaded
        .suite
        .unwrap_or_else(|| panic!("{text}{:?}", loaded.problems))
}

fn header() -> Header {
    let tool = |name: &str, distractor| CatalogueTool {
        name: name.to_owned(),
        distractor,
        ..CatalogueTool::default()
    };
    Header {
        catalogue: Some(vec![tool("search", false), tool("noise", true)]),
        ..Header::default()
    }
}

/// The verdict over all of these runs.
fn verdict(agent: &Agent, runs: &[Run<'_>]) -> bool {
    let runs_decide = !agent.expect.is_empty()
        && !agent
            .gates
            .iter()
            .any(|gate| gate.is(GateTrait::DecidesRuns));
    (!runs_decide || runs.iter().all(|run| run.as_expected))
        && agent
            .gates
            .iter()
            .all(|gate| gate.judges_side_runs() || gate.judge("t", runs).status == Status::Passed)
}

/// Calls `check` with the runs of these ways.
fn with_runs<T>(way: &[usize], check: impl FnOnce(&[Run<'_>]) -> T) -> T {
    let texts: Vec<(String, bool)> = ways()
        .iter()
        .map(|(envelope, passed)| (envelope.to_string(), *passed))
        .collect();
    let traces: Vec<Trace<'_>> = way
        .iter()
        .map(|&way| Trace::read(&texts[way].0).unwrap())
        .collect();
    let header = header();
    let outcomes = way.iter().map(|&way| texts[way].1);
    let runs = Run::all(&traces)
        .into_iter()
        .zip(outcomes)
        .map(|(run, passed)| Run {
            header: Some(&header),
            as_expected: passed,
            passed,
            ..run
        });
    check(&runs.collect::<Vec<Run<'_>>>())
}

fn decided_of(agent: &Agent, way: &[usize], of: usize) -> Option<bool> {
    with_runs(way, |runs| decided(agent, runs, of))
}

/// Every way of `rest` more runs.
fn completions(rest: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..rest {
        all = all
            .iter()
            .flat_map(|begun| (0..ways().len()).map(move |way| [&begun[..], &[way]].concat()))
            .collect();
    }
    all
}

fn contradiction(agent: &Agent, begun: &[usize], of: usize) -> Option<Vec<usize>> {
    let decided = decided_of(agent, begun, of)?;
    assert_eq!(
        with_runs(begun, |runs| verdict(agent, runs)),
        decided,
        "the runs there are say otherwise"
    );
    completions(of - begun.len())
        .into_iter()
        .map(|rest| [begun, &rest].concat())
        .find(|all| with_runs(all, |runs| verdict(agent, runs)) != decided)
}

fn target_and_matcher() -> impl Strategy<Value = ((&'static GateKind, String), usize, String)> {
    let number = prop_oneof![
        (0..=6_u32).prop_map(|number| number.to_string()),
        (0..=100_u32).prop_map(|number| number.to_string()),
        (0..=20_u32).prop_map(|number| (f64::from(number) / 20.0).to_string()),
    ];
    let matcher = (
        prop::sample::select(vec!["gte", "lte", "gt", "lt", "exact"]),
        number,
        any::<bool>(),
    )
        .prop_map(|(key, number, negated)| {
            if negated {
                format!("{{ not: {{ {key}: {number} }} }}")
            } else {
                format!("{{ {key}: {number} }}")
            }
        });
    (prop::sample::select(blocks()), 0..20_usize, matcher)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_completion_changes_what_is_decided(
        ((kind, keys), target, matcher) in target_and_matcher(),
        begun in prop::collection::vec(0..4_usize, 0..4),
        rest in 0..3_usize,
        is_default: bool,
        has_expect: bool,
    ) {
        let key = kind.key;
        let target = kind.targets[target % kind.targets.len()].name;
        let gate_expect =
            if is_default { String::new() } else { format!(", expect: [{{ target: {target}, matcher: {matcher} }}]") };
        let expect = if has_expect { "expect: [{ target: final_response, matcher: { contains: page } }]\n" } else { "" };
        let of = begun.len() + rest;
        let agent = format!("prompt: p\ninject: [hung]\nruns: {}\n{expect}{key}: {{ {keys}{gate_expect} }}", of.max(2));
        // What can never hold, or never fail, is refused or warned of before any run.
        if let Some(suite) = loaded(&suite(&agent)).suite {
            prop_assert_eq!(contradiction(&suite.agents[0], &begun, of), None, "{}", agent);
        }
    }
}

const EXPECT: &str = "expect: [{ target: final_response, matcher: { contains: page } }]\n";
const GOOD: usize = 0;
const SILENT: usize = 1;
const ASTRAY: usize = 2;

#[test]
fn a_rate_is_decided_when_it_is_reached_or_out_of_reach() {
    let suite = with(&format!(
        "prompt: p\nruns: 10\n{EXPECT}reliability: {{ expect: [{{ target: reliability.pass_rate, matcher: {{ gte: 0.8 }} }}] }}"
    ));
    let agent = &suite.agents[0];
    assert_eq!(decided_of(agent, &[GOOD; 7], 10), None);
    assert_eq!(decided_of(agent, &[GOOD; 8], 10), Some(true));
    assert_eq!(
        decided_of(agent, &[SILENT, SILENT], 10),
        None,
        "two of ten may fail"
    );
    assert_eq!(
        decided_of(agent, &[SILENT, SILENT, SILENT], 10),
        Some(false)
    );
    assert_eq!(
        decided_of(agent, &[GOOD, GOOD, GOOD, GOOD, SILENT, SILENT, SILENT], 10),
        Some(false)
    );
    let mixed = [GOOD, GOOD, GOOD, GOOD, GOOD, GOOD, GOOD, GOOD, GOOD, SILENT];
    assert_eq!(decided_of(agent, &mixed, 10), Some(true), "all are there");
}

#[test]
fn every_gate_must_be_decided_and_one_that_judges_nothing_is_not_waited_for() {
    let gates = "golden_path: { calls: [search, open_page] }\norchestration: { classes: [{ name: c, members: [search] }] }";
    let suite = with(&format!("prompt: p\nruns: 5\n{EXPECT}{gates}"));
    let agent = &suite.agents[0];
    assert_eq!(
        decided_of(agent, &[SILENT], 5),
        None,
        "its path is clean, and a later one may not be"
    );
    assert_eq!(
        decided_of(agent, &[ASTRAY], 5),
        None,
        "its `expect:` held, and a later one may not"
    );
    assert_eq!(decided_of(agent, &[ASTRAY, SILENT], 5), Some(false));
    assert_eq!(
        decided_of(agent, &[GOOD; 4], 5),
        None,
        "the last run may be the worst"
    );
}

#[test]
fn counts_of_runs_are_decided_and_what_depends_on_every_run_is_not() {
    let of = |gate: &str| with(&format!("prompt: p\nruns: 4\n{gate}"));
    let selection = of("tool_selection: { expected_tool: search, min_selection_rate: 0.5 }");
    assert_eq!(
        decided_of(&selection.agents[0], &[GOOD, GOOD], 4),
        Some(true)
    );
    assert_eq!(
        decided_of(&selection.agents[0], &[SILENT, SILENT, SILENT], 4),
        Some(false)
    );
    let capped = of(
        "tool_selection: { expected_tool: search, min_selection_rate: 0.5, max_total_tokens: 1000 }",
    );
    assert_eq!(
        decided_of(&capped.agents[0], &[GOOD, GOOD], 4),
        None,
        "a later run may be over the cap"
    );
    assert_eq!(decided_of(&capped.agents[0], &[ASTRAY], 4), Some(false));
    let distractors = of("distractors: { count: 1, correct: [search] }");
    assert_eq!(
        decided_of(&distractors.agents[0], &[ASTRAY], 4),
        Some(false)
    );
    let spread = "prompt: p\nruns: 4\nreliability: { expect: [{ target: reliability.variance_amplification, matcher: { lte: 50 } }] }";
    for open in [
        "stability: {}",
        "stability: { expect: [{ target: stability.variance, matcher: { lte: 0.1 } }] }",
    ] {
        assert_eq!(
            decided_of(&of(open).agents[0], &[GOOD, SILENT, ASTRAY], 4),
            None,
            "{open}"
        );
    }
    assert_eq!(
        decided_of(
            &with(&format!("{EXPECT}{spread}")).agents[0],
            &[GOOD, GOOD, GOOD],
            4
        ),
        None
    );
}
