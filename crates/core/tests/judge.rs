//! Can a host judge what it has in memory, without a file?

use mcptest_core::{
    Host, Reason, ReasonKind, Recorded, Report, RowId, Status, Suite, ToolOutcome, Trace, judge,
    load,
};
use serde_json::value::RawValue;
use std::path::Path;

const SUITE: &str = "
servers: { weather: { command: [weather-server] } }
agents:
  - name: forecast
    models: [gpt-5, claude-x]
    prompt: Rain in Oslo?
    runs: 2
    expect: [{ target: 'tool_names[0]', matcher: { exact: get_weather } }]
    golden_path: { calls: [get_weather] }
tools:
  - name: oslo
    server: weather
    tool: get_weather
    expect: [{ target: result.isError, matcher: { exact: false } }]
";

fn suite() -> Suite {
    let read = |_: &Path| Ok(SUITE.as_bytes().to_vec());
    let host = Host::new(&read, &|_| None);
    let loaded = load(Path::new("memory.yml"), &host);
    loaded
        .suite
        .unwrap_or_else(|| panic!("{:?}", loaded.problems))
}

fn statuses(report: &Report) -> Vec<(String, Status)> {
    report
        .tests
        .iter()
        .map(|test| (test.row_name(), test.status))
        .collect()
}

fn kind(report: &Report, row: usize) -> ReasonKind {
    report.tests[row]
        .reason
        .as_ref()
        .map_or(ReasonKind::Unspecified, |reason: &Reason| reason.kind)
}

#[test]
fn every_row_of_a_suite_is_judged_by_the_runs_under_its_id() {
    let suite = suite();
    let good = r#"{"tool_calls":[{"name":"get_weather"}],"final_response":"Rain."}"#;
    let bad = r#"{"tool_calls":[{"name":"get_time"}]}"#;
    let good = [Trace::read(good).unwrap(), Trace::read(good).unwrap()];
    let mixed = [good[0].clone(), Trace::read(bad).unwrap()];
    let result = RawValue::from_string("{\"content\":[]}".to_owned()).unwrap();
    let called = Recorded::from_call(ToolOutcome {
        result: Some(&result),
        ..ToolOutcome::default()
    });
    let report = judge(
        &suite,
        &[
            (
                RowId::new("forecast").with_model("gpt-5"),
                Recorded::from_traces(&good),
            ),
            (
                RowId::new("forecast").with_model("claude-x"),
                Recorded::from_traces(&mixed),
            ),
            (RowId::new("oslo"), called),
        ],
    );
    let expected = [
        ("forecast [gpt-5]", Status::Passed),
        ("forecast [claude-x]", Status::Failed),
        ("oslo", Status::Passed),
    ];
    assert_eq!(
        statuses(&report),
        expected.map(|(name, status)| (name.to_owned(), status))
    );
    assert_eq!(
        report.tests[1]
            .runs
            .iter()
            .filter(|run| run.status == Status::Failed)
            .count(),
        1
    );
    assert_eq!(report.tests[1].gates[0].key, "golden_path");
    assert_eq!(
        (
            report.tests[0].suite.file.as_str(),
            report.tests[0].suite.line
        ),
        ("memory.yml", 4)
    );
    assert_eq!(report.exit_code(), 1);
}

#[test]
fn what_is_missing_or_wrong_is_told_by_its_kind() {
    let suite = suite();
    let ended = r#"{"tool_calls":[],"errors":[{"message":"no answer"}],"stop_reason":"error"}"#;
    let one = [Trace::read(r#"{"tool_calls":[]}"#).unwrap()];
    let broken = [one[0].clone(), Trace::read(ended).unwrap()];
    let report = judge(
        &suite,
        &[
            (
                RowId::new("forecast").with_model("gpt-5"),
                Recorded::from_traces(&one),
            ),
            (
                RowId::new("forecast").with_model("claude-x"),
                Recorded::from_traces(&broken),
            ),
            (
                RowId::new("forecast").with_model("gpt5"),
                Recorded::from_traces(&one),
            ),
        ],
    );
    let kinds: Vec<ReasonKind> = (0..report.tests.len())
        .map(|row| kind(&report, row))
        .collect();
    let expected = [
        ReasonKind::RunsMissing,
        ReasonKind::RunError,
        ReasonKind::RecordingMissing,
        ReasonKind::RowUnknown,
    ];
    assert_eq!(kinds, expected, "{report:#?}");
    let unknown = report.tests[3].reason.as_ref().unwrap();
    assert_eq!(
        unknown.help.as_deref(),
        Some("did you mean `forecast [gpt-5]`?")
    );
    assert_eq!(report.exit_code(), 2);
}

#[test]
fn a_model_may_be_left_out_where_the_agent_has_one() {
    let text = SUITE.replace("models: [gpt-5, claude-x]", "model: gpt-5");
    let read = |_: &Path| Ok(text.as_bytes().to_vec());
    let loaded = load(Path::new("memory.yml"), &Host::new(&read, &|_| None));
    let suite = loaded
        .into_result()
        .unwrap_or_else(|refused| panic!("{refused}"));
    let good = r#"{"tool_calls":[{"name":"get_weather"}]}"#;
    let good = [Trace::read(good).unwrap(), Trace::read(good).unwrap()];
    for (id, is_known) in [
        (RowId::new("forecast"), true),
        (RowId::new("forecast").with_model("gpt-5"), true),
        (RowId::new("forecast").with_model("claude-x"), false),
    ] {
        let report = judge(&suite, &[(id, Recorded::from_traces(&good))]);
        assert_eq!(report.tests[0].status == Status::Passed, is_known);
    }
}

#[test]
fn a_call_is_no_run_and_runs_are_no_call() {
    let suite = suite();
    let runs = [Trace::read("{}").unwrap()];
    let report = judge(
        &suite,
        &[
            (RowId::new("oslo"), Recorded::from_traces(&runs)),
            (
                RowId::new("forecast").with_model("gpt-5"),
                Recorded::from_call(ToolOutcome::default()),
            ),
        ],
    );
    assert_eq!(kind(&report, 0), ReasonKind::RecordingUnreadable);
    assert_eq!(kind(&report, 2), ReasonKind::RecordingUnreadable);
}
