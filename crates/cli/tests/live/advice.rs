//! Is a judge's advice shown next to the verdict in every report, without changing it?

use crate::bench::LiveFolder;
use serde_json::Value;

fn suite(narrative: &str) -> String {
    format!(
        "judge: {{ model: claude-sonnet-4-5 }}
servers:
  desk: {{ command: [./server, mock, --tools-from, manifest.yml] }}
agents:
  - name: clerk
    model: claude-haiku-4-5
    servers: [desk]
    prompt: Refund invoice 42.
    cassette: clerk.jsonl
    narrative: {narrative}
    expect:
      - {{ target: 'tool_calls[0].name', matcher: {{ exact: refund }} }}
"
    )
}

const SCRIPT: &str = r#"
rules:
  - when: { model: sonnet }
    then: repeat
    steps: [{ text: '{"c1": {"reason": "The message keeps quiet about the fee.", "answer": "no"}}' }]
steps:
  - calls: [{ name: refund, args: { invoice: 42 } }]
  - text: I refunded invoice 42.
"#;

const MANIFEST: &str =
    "mock_server: { tools: [{ name: refund, response: 'Refunded, less a fee of 5.' }] }";

/// The parts of the report that decide the row, as JSON.
fn verdict(report: &Value) -> String {
    let test = &report["tests"][0];
    [&test["status"], &test["gates"], &test["runs"]]
        .map(Value::to_string)
        .join("\n")
}

#[test]
fn advice_is_in_every_report_and_the_verdict_has_the_same_bytes_without_it() {
    let bench = LiveFolder::with(&suite("{ llm_assisted: true }"), SCRIPT, MANIFEST);
    let words = [
        "--record",
        "--reporter",
        "pretty",
        "--reporter",
        "json=advised.json",
    ];
    bench.record(&words, 0).says("1 piece of advice");
    let advised = bench.report("advised.json");
    let advice = &advised["tests"][0]["advice"][0];
    assert_eq!(advice["key"], "narrative");
    assert_eq!(advice["run"], 1);
    assert_eq!(advice["model"], "claude-sonnet-4-5");
    assert_eq!(advice["message"], "The message keeps quiet about the fee.");
    let told = "narrative, by claude-sonnet-4-5: The message keeps quiet about the fee.";
    bench.run(&["run", "suite.yml", "-v"]).says(told);
    bench
        .run(&["run", "suite.yml", "--reporter", "junit"])
        .says(told);

    let without = bench.path("clerk.grades.json");
    std::fs::remove_file(&without).unwrap();
    let unadvised = bench.run(&["run", "suite.yml", "--reporter", "json"]);
    assert_eq!(unadvised.exit, Some(0), "{unadvised:?}");
    let unadvised: Value = serde_json::from_str(&unadvised.stdout).unwrap();
    assert_eq!(
        verdict(&unadvised),
        verdict(&advised),
        "advice that is missing changes nothing"
    );
    let note = unadvised["tests"][0]["notes"][0].as_str().unwrap();
    assert!(
        note.starts_with("advice: run 1 has no grade for `narrative`; `mcptest eval suite.yml"),
        "{note}"
    );

    bench.write("suite.yml", &suite("{}"));
    let unasked = bench.run(&["run", "suite.yml", "--reporter", "json"]);
    let unasked: Value = serde_json::from_str(&unasked.stdout).unwrap();
    assert_eq!(
        verdict(&unasked),
        verdict(&advised),
        "and so does advice that nobody asks for"
    );
}

#[test]
fn a_judge_that_gives_no_advice_fails_nothing() {
    let garbage = SCRIPT.replace(r#"{"c1": "#, "It is fine. ");
    let bench = LiveFolder::with(&suite("{ llm_assisted: true }"), &garbage, MANIFEST);
    bench.record(&["--record"], 0);
    bench.replay(0);
}

#[test]
fn a_suite_that_asks_for_advice_names_its_judge() {
    let bench = LiveFolder::with(
        &suite("{ llm_assisted: true }").replace("judge: { model: claude-sonnet-4-5 }\n", ""),
        SCRIPT,
        MANIFEST,
    );
    let refused = bench.run(&["validate", "suite.yml"]);
    assert_eq!(refused.exit, Some(2));
    let said = format!("{}{}", refused.stdout, refused.stderr);
    assert!(said.contains("no judge is given for this"), "{said}");
}
