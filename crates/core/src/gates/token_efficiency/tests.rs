//! What is measured, and what is left unsaid where nothing is known?

use super::*;
use crate::engine::trial::{findings, header, judged, problems, value};
use crate::report::Status;
use crate::trace::Header;
use serde_json::{Value, json};

const CLASSES: &str =
    "prompt: go\ntoken_efficiency:\n  classes:\n    - { name: find, members: [search] }\n";

fn run(tools: &[&str], conversation: impl Into<Value>) -> Value {
    let calls: Vec<Value> = tools
        .iter()
        .map(|name| json!({ "name": name, "server": "docs" }))
        .collect();
    json!({ "tool_calls": calls, "conversation": conversation.into() })
}

fn recorded(model: &str) -> Header {
    let mut header = header(json!([{"name": "hello world"}, {"name": "hello world"}]));
    header.model = Some(model.to_owned());
    header
}

fn tokens(prompt: u64, completion: u64) -> Value {
    json!({ "tokens": { "prompt": prompt, "completion": completion } })
}

#[test]
fn tokens_and_cost_are_set_against_the_correct_selections() {
    let runs = [
        run(&["search"], tokens(1000, 100)),
        run(&["search", "search"], tokens(2000, 100)),
    ];
    let report = judged(CLASSES, Some(&recorded("claude-sonnet-4-5")), &runs);
    let values = [
        "f1",
        "tool_surface_tokens",
        "correct_selections",
        "cost",
        "tokens_per_correct",
        "cost_per_correct",
    ]
    .map(|name| value(&report, &format!("token_efficiency.{name}")).unwrap());
    assert_eq!(values, [100.0, 4.0, 2.0, 0.012, 4.0, 0.006]);
    assert_eq!(report.status, Status::Passed);
    assert_eq!(
        report.summary.unwrap(),
        "F1 100% (A), 2 correct selections, \
         tool surface 4 tokens (4 each), cost $0.012 ($0.006 each)"
    );
}

#[test]
fn a_missed_class_fails_and_leaves_nothing_to_divide_by() {
    let report = judged(
        CLASSES,
        Some(&recorded("gpt-5")),
        &[run(&["open_page"], tokens(10, 1))],
    );
    assert_eq!(report.status, Status::Failed);
    assert_eq!(
        value(&report, "token_efficiency.correct_selections"),
        Some(0.0)
    );
    assert_eq!(value(&report, "token_efficiency.tokens_per_correct"), None);
    assert_eq!(value(&report, "token_efficiency.cost_per_correct"), None);
    assert!(value(&report, "token_efficiency.cost").is_some());
    assert_eq!(
        findings(&report),
        [
            "run 1: class `find` was not reached: no call to `search`",
            "run 1: call 1 `open_page` is in no class"
        ]
    );
    assert!(
        report
            .summary
            .unwrap()
            .contains("F1 0% (F), 0 correct selections")
    );
}

#[test]
fn what_is_not_known_is_absent_and_said_once() {
    let runs = [
        run(&["search"], tokens(10, 1)),
        run(&["search"], tokens(10, 1)),
    ];
    let report = judged(CLASSES, Some(&recorded("house-model")), &runs);
    assert_eq!(value(&report, "token_efficiency.cost"), None);
    assert_eq!(findings(&report).len(), 1, "{:?}", findings(&report));
    assert!(findings(&report)[0].starts_with("no price is known for `house-model`"));
    let bare = judged(CLASSES, None, &runs);
    assert_eq!(value(&bare, "token_efficiency.tool_surface_tokens"), None);
    assert_eq!(value(&bare, "token_efficiency.tokens_per_correct"), None);
    assert!(
        bare.summary
            .unwrap()
            .ends_with("tool surface not recorded, cost unknown")
    );
}

#[test]
fn one_run_without_a_cost_leaves_the_sum_unknown() {
    let runs = [
        run(&["search"], json!({ "cost_usd": 0.1 })),
        run(&["search"], json!({})),
    ];
    let report = judged(CLASSES, Some(&recorded("gpt-5")), &runs);
    assert_eq!(value(&report, "token_efficiency.cost"), None);
    assert!(findings(&report)[0].starts_with("run 2: the trace records neither the cost nor"));
}

#[test]
fn the_blocks_own_price_comes_first() {
    let own = format!(
        "{CLASSES}  prices:\n    gpt-5: {{ prompt_usd_per_million: 100, completion_usd_per_million: 1000 }}\n"
    );
    let report = judged(
        &own,
        Some(&recorded("gpt-5")),
        &[run(&["search"], tokens(10_000, 1_000))],
    );
    assert_eq!(value(&report, "token_efficiency.cost"), Some(2.0));
}

#[test]
fn a_sum_of_costs_shows_no_rounding_noise() {
    let runs = [0.1, 0.2].map(|cost| run(&["search"], json!({ "cost_usd": cost })));
    let report = judged(CLASSES, None, &runs);
    assert_eq!(value(&report, "token_efficiency.cost"), Some(0.3));
}

#[test]
fn classes_come_from_the_sibling_or_are_asked_for() {
    let sibling = "prompt: go\nequal_function_sets:\n  classes: [{ name: find, members: [search] }]\n\
                   token_efficiency: {}\n";
    let report = judged(sibling, None, &[run(&["search"], json!({}))]);
    assert_eq!(
        (report.key.as_str(), report.status),
        ("token_efficiency", Status::Passed)
    );
    let missing = problems("prompt: go\ntoken_efficiency: {}\n");
    assert_eq!(missing.len(), 1, "{missing:?}");
    assert!(
        missing[0].starts_with("error: `classes` is missing here"),
        "{missing:?}"
    );
    let broken =
        problems("prompt: go\nequal_function_sets: { classes: 3 }\ntoken_efficiency: {}\n");
    assert_eq!(broken.len(), 1, "{broken:?}");
    assert!(broken[0].contains("expected a list"), "{broken:?}");
}

#[test]
fn a_member_that_no_server_has_is_a_warning() {
    let said =
        problems("prompt: go\ntoken_efficiency:\n  classes: [{ name: find, members: [serch] }]\n");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].starts_with("warning:") && said[0].contains("`serch`"),
        "{said:?}"
    );
}

#[test]
fn letters_begin_at_their_tens() {
    let letters = [100, 90, 89, 80, 79, 70, 69, 60, 59, 0].map(letter);
    assert_eq!(letters, ['A', 'A', 'B', 'B', 'C', 'C', 'D', 'D', 'F', 'F']);
}

#[test]
fn the_most_tokens_of_tools_that_are_drawn_are_the_target_and_limits_are_those_asked() {
    let limits = "  expect:\n    - { target: token_efficiency.tool_surface_tokens, matcher: { lte: 9 } }\n    \
                  - { target: token_efficiency.f1, matcher: { gte: 50 } }\n";
    let runs = [
        run(&["search"], tokens(1000, 100)),
        run(&["search"], json!({})),
    ];
    let report = judged(
        &format!("{CLASSES}{limits}"),
        Some(&recorded("claude-sonnet-4-5")),
        &runs,
    );
    let Some(Evidence::TokenEfficiency { runs, limits, .. }) = report.evidence.as_deref() else {
        panic!()
    };
    let most = runs.iter().filter_map(|run| run.surface).max();
    assert_eq!(
        most.map(|tokens| tokens as f64),
        value(&report, "token_efficiency.tool_surface_tokens")
    );
    assert_eq!(
        (
            runs[0].tokens.prompt,
            runs[0].tokens.completion,
            runs[0].tokens.total
        ),
        (Some(1000), Some(100), Some(1100))
    );
    assert_eq!(
        (runs[1].tokens.prompt, runs[1].tokens.total),
        (None, None),
        "unknown is not 0"
    );
    let limits: Vec<(&str, f64)> = limits
        .iter()
        .map(|limit| (&*limit.target, limit.most))
        .collect();
    assert_eq!(limits, [("token_efficiency.tool_surface_tokens", 9.0)]);
}
