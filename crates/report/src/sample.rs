//! A report with a row of every kind, for the tests of every format.

use mcptest_core::eval::GATES;
use mcptest_core::report::{
    Advice, AssertionDiff, Expectation, Finding, GateReport, Number, Reason, ReasonKind, Report,
    RunReport, Side, Status, TestReport,
};
use proptest::prelude::{Strategy, any, prop_oneof};
use serde_json::{Value, json};

/// A row of every kind.
pub(crate) fn report() -> Report {
    Report::new(
        vec![
            looks_up_the_invoice(),
            says_hello(),
            weather(),
            searches_the_docs(),
            test(
                "examples/stale.yml",
                3,
                "old recording",
                Status::Error,
                |test| {
                    let message = "the cassette is stale: the prompt changed after it was recorded";
                    let reason = Reason::new(ReasonKind::RecordingStale, message)
                    .details(vec!["- Find invoice 41".into(), "+ Find invoice 42".into()])
                    .help("record it again, or set `run_options: {stale: warn}` to judge it anyway")
                    .command(
                        "mcptest run examples/stale.yml --record=stale --filter 'old recording'",
                    );
                    test.reason = Some(reason);
                    test.notes = vec!["the cassette holds 5 runs, the suite asks for 3".into()];
                },
            ),
            test(
                "examples/stale.yml",
                12,
                "needs the new server",
                Status::Skipped,
                |test| {
                    test.reason = Some(Reason::new(ReasonKind::Skipped, "waiting for server 2.0"));
                },
            ),
            selects_the_tool(),
        ],
        GATES,
    )
}

pub(crate) fn test(
    file: &str,
    line: usize,
    name: &str,
    status: Status,
    fill: impl FnOnce(&mut TestReport),
) -> TestReport {
    let mut test: TestReport = serde_json::from_value(json!({
        "name": name,
        "suite": { "file": file, "line": line },
        "status": status,
        "rerun": format!("mcptest run {file} --filter '{name}'"),
        "runs": [],
        "gates": [],
    }))
    .unwrap();
    fill(&mut test);
    test
}

pub(crate) fn run(index: usize, tools: &[&str], expectations: Vec<Expectation>) -> RunReport {
    let held = expectations.iter().all(|expectation| expectation.passed);
    let status = if held { Status::Passed } else { Status::Failed };
    let run = json!({ "index": index, "status": status, "tool_names": tools, "calls": tools.len(), "expectations": [] });
    let mut run: RunReport = serde_json::from_value(run).unwrap();
    run.expectations = expectations;
    run
}

pub(crate) fn held(target: &str, matcher: Value, actual: Value) -> Expectation {
    Expectation {
        target: target.into(),
        matcher: matcher.into(),
        passed: true,
        actual: Some(actual),
        diff: vec![],
        message: None,
        reason: None,
        grade: None,
        suite_line: None,
    }
}

pub(crate) fn broken(target: &str, matcher: Value, actual: Option<Value>) -> Expectation {
    Expectation {
        passed: false,
        actual,
        ..held(target, matcher, Value::Null)
    }
}

pub(crate) fn gate(key: &str, status: Status, targets: &[(&str, Option<Number>)]) -> GateReport {
    let gate = json!({ "key": key, "status": status, "targets": {}, "expectations": [], "explanation": [] });
    let mut gate: GateReport = serde_json::from_value(gate).unwrap();
    gate.targets = targets
        .iter()
        .map(|(name, value)| ((*name).to_owned(), *value))
        .collect();
    gate
}

pub(crate) fn diff(pointer: &str, expected: Value, actual: Value) -> AssertionDiff {
    AssertionDiff {
        pointer: pointer.into(),
        expected,
        actual,
        absent: None,
    }
}

/// A difference with an absent actual value.
pub(crate) fn absent(pointer: &str, expected: Value) -> AssertionDiff {
    AssertionDiff {
        absent: Some(Side::Actual),
        ..diff(pointer, expected, Value::Null)
    }
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "beside targets that were not measured"
)]
fn whole(number: i64) -> Option<Number> {
    Some(Number::Int(number))
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "beside targets that were not measured"
)]
fn ratio(number: f64) -> Option<Number> {
    Some(Number::Float(number))
}

fn looks_up_the_invoice() -> TestReport {
    test(
        "examples/invoices.yml",
        7,
        "looks up the invoice",
        Status::Passed,
        |test| {
            test.model = Some("gpt-5".into());
            test.tags = vec!["smoke".into()];
            let first = || {
                held(
                    "tool_calls[0].name",
                    json!({"exact": "get_invoice"}),
                    json!("get_invoice"),
                )
            };
            test.runs = (1..=10)
                .map(|index| run(index, &["get_invoice"], vec![first()]))
                .collect();
            let mut path = gate(
                "golden_path",
                Status::Passed,
                &[
                    ("golden_path.backtracks", whole(0)),
                    ("golden_path.coverage", ratio(1.0)),
                    ("golden_path.extra_steps", whole(0)),
                    ("golden_path.passed", whole(1)),
                    ("golden_path.penalty", ratio(1.0)),
                    ("golden_path.repeated_tools", whole(0)),
                ],
            );
            path.expectations = vec![held("golden_path.passed", json!({"gte": 1}), json!(1))];
            test.gates = vec![path];
        },
    )
}

fn advice(model: &str, message: &str) -> Advice {
    Advice {
        key: "narrative".into(),
        run: 1,
        model: model.into(),
        message: message.into(),
    }
}

fn says_hello() -> TestReport {
    test(
        "examples/invoices.yml",
        20,
        "says hello",
        Status::Passed,
        |test| {
            test.runs = vec![run(1, &[], vec![])];
            test.unpinned = true;
            test.notes = vec!["5 runs are recorded; the first 3 are judged".into()];
            test.advice = vec![advice(
                "gpt-5",
                "the message promises a call that was not made",
            )];
            let mut path = gate(
                "trajectory",
                Status::Passed,
                &[
                    ("trajectory.mismatch_count", whole(0)),
                    ("trajectory.passed", whole(1)),
                ],
            );
            path.not_exercised = Some("the run made no calls".into());
            let mut tokens = gate(
                "token_efficiency",
                Status::Passed,
                &[
                    ("token_efficiency.cost", None),
                    ("token_efficiency.f1", whole(100)),
                ],
            );
            tokens.expectations =
                vec![held("token_efficiency.f1", json!({"gte": 100}), json!(100))];
            test.gates = vec![path, tokens];
        },
    )
}

fn weather() -> TestReport {
    test(
        "examples/invoices.yml",
        31,
        "weather",
        Status::Failed,
        |test| {
            test.model = Some("gpt-5".into());
            test.has_several_models = true;
            let good = || {
                vec![held(
                    "tool_calls[0].name",
                    json!({"exact": "get_weather"}),
                    json!("get_weather"),
                )]
            };
            let name = Expectation {
                diff: vec![diff("", json!("get_weather"), json!("search"))],
                message: Some("the weather tool comes first".into()),
                ..broken(
                    "tool_calls[0].name",
                    json!({"exact": "get_weather"}),
                    Some(json!("search")),
                )
            };
            let args = Expectation {
                diff: vec![
                    diff("/city", json!("Zürich"), json!("Zurich")),
                    absent("/days", json!(2)),
                ],
                ..broken(
                    "tool_calls[1].args",
                    json!({"subset": {"city": "Zürich", "days": 2}}),
                    Some(json!({"city": "Zurich", "unit": "C"})),
                )
            };
            let absent = Expectation {
                reason: Some("the run has no tool_calls[2]: it made 2 calls".into()),
                ..broken(
                    "tool_calls[2].name",
                    json!({"not": {"contains": "refund"}}),
                    None,
                )
            };
            let long = broken(
                "final_response",
                json!({"all-of": [{"contains": "°C"}, {"length": {"lte": 200}}]}),
                Some(json!(format!(
                    "\u{1b}[31mIt is warm.\n{}",
                    "Very warm. ".repeat(5_000)
                ))),
            );
            test.runs = vec![
                run(1, &["get_weather"], good()),
                run(2, &["get_weather"], good()),
                run(
                    3,
                    &["search", "get_weather"],
                    vec![name, args, absent, long],
                ),
            ];
        },
    )
}

fn searches_the_docs() -> TestReport {
    test(
        "examples/invoices.yml",
        48,
        "searches the docs",
        Status::Failed,
        |test| {
            test.runs = vec![run(1, &["search", "open", "search", "search"], vec![])];
            let mut path = gate(
                "golden_path",
                Status::Failed,
                &[
                    ("golden_path.passed", whole(0)),
                    ("golden_path.penalty", ratio(1.0 / 3.0)),
                ],
            );
            path.expectations = vec![
                broken("golden_path.passed", json!({"gte": 1}), Some(json!(0))),
                held("golden_path.penalty", json!({"gte": 0.3}), json!(1.0 / 3.0)),
            ];
            path.explanation = (2..=8)
                .map(|call| Finding::new(Some(1), format!("call {call} `search` repeats call 1")))
                .collect();
            let mut order = gate(
                "trajectory",
                Status::Failed,
                &[
                    ("trajectory.mismatch_count", None),
                    ("trajectory.passed", whole(0)),
                ],
            );
            order.expectations = vec![broken("trajectory.mismatch_count", json!({"lte": 0}), None)];
            order.explanation = vec![Finding {
                diff: vec![diff("/q", json!("rust"), json!("rst"))],
                ..Finding::new(Some(1), "call 3 `search` has different arguments".into())
            }];
            test.gates = vec![path, order];
        },
    )
}

fn selects_the_tool() -> TestReport {
    test(
        "examples/selection.yml",
        5,
        "weather selection",
        Status::Passed,
        |test| {
            let wrong = broken(
                "tool_calls[0].name",
                json!({"exact": "get_weather"}),
                Some(json!("search")),
            );
            test.runs = (1..10)
                .map(|index| run(index, &["get_weather"], vec![]))
                .collect();
            test.runs.push(run(10, &["search"], vec![wrong]));
            let mut floor = gate(
                "tool_selection",
                Status::Passed,
                &[
                    ("tool_selection.passed", whole(1)),
                    ("tool_selection.selection_rate", ratio(0.9)),
                ],
            );
            floor.line = Some(
            "tool-selection floor [PASS] weather selection: selection 9/10 (90%), pass^k 90%, max tokens 1840".into(),
        );
            test.gates = vec![floor];
        },
    )
}

/// A report with the string in every field that can hold one.
pub(crate) fn everywhere(nasty: &str) -> Report {
    let value = json!({nasty: [nasty, {nasty: nasty}]});
    let assertion = || Expectation {
        diff: vec![diff(nasty, value.clone(), json!(nasty))],
        message: Some(nasty.into()),
        reason: Some(nasty.into()),
        ..broken(
            nasty,
            json!({nasty: nasty, "regex": nasty, "not": {nasty: value}}),
            Some(json!(nasty)),
        )
    };
    let reason = Reason::new(ReasonKind::RunError, nasty)
        .details(vec![nasty.into()])
        .help(nasty);
    Report::new(
        [
            Status::Passed,
            Status::Failed,
            Status::Error,
            Status::Skipped,
        ]
        .into_iter()
        .map(|status| {
            test(nasty, 1, nasty, status, |test| {
                test.model = Some(nasty.into());
                test.has_several_models = true;
                test.reason = (status != Status::Failed).then(|| reason.clone());
                test.notes = vec![nasty.into()];
                test.advice = vec![Advice {
                    key: nasty.into(),
                    ..advice(nasty, nasty)
                }];
                test.tags = vec![nasty.into()];
                test.runs = vec![
                    run(1, &[nasty], vec![assertion()]),
                    run(2, &[nasty], vec![]),
                ];
                test.runs[1].reason = Some(reason.clone());
                let mut own = gate(nasty, status, &[(nasty, None)]);
                own.not_exercised = Some(nasty.into());
                own.expectations = vec![assertion()];
                let diff = vec![diff(nasty, json!(nasty), value.clone())];
                own.explanation = vec![Finding {
                    diff,
                    ..Finding::new(Some(2), nasty.into())
                }];
                let call = json!({"number": 1, "tool": nasty, "args": {nasty: nasty}});
                let rows = json!([{"how": "changed", "expected": call, "recorded": call}]);
                let table =
                    json!({"mode": nasty, "summary": nasty, "rows": rows, "notes": [nasty]});
                own.tables = vec![serde_json::from_value(table).unwrap()];
                let mut lined = own.clone();
                lined.line = Some(nasty.into());
                test.gates = vec![own, lined];
            })
        })
        .collect(),
        GATES,
    )
}

/// Texts in which control characters, direction marks and XML syntax are as likely as other
/// characters.
pub(crate) fn nasty() -> impl Strategy<Value = String> {
    let special: Vec<char> =
        "\0\u{1b}[m\u{7f}\u{85}\u{9b}\u{202e}\u{2028}\u{fffe}\u{ffff}\r\n\t ]]><&'\"天"
            .chars()
            .collect();
    let character = prop_oneof![any::<char>(), proptest::sample::select(special)];
    proptest::collection::vec(character, 0..30).prop_map(String::from_iter)
}
