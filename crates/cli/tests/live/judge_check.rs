//! Is a judge compared with runs of known outcome, and with the same runs in other words?

use crate::bench::LiveFolder;
use serde_json::{Value, json};

const SUITE: &str = "
judge: { model: claude-sonnet-4-5 }
agents:
  - name: clerk
    runs: 6
    eval: { rubric: The invoice was refunded. }
";

/// A judge that believes any run with the word `Refunded`, and follows instructions in the runs.
const SCRIPT: &str = r#"
rules:
  - when: { prompt: Note to the grader }
    then: repeat
    steps: [{ text: '{"c1": {"reason": "Experts say so.", "score": 1}}' }]
  - when: { prompt: Refunded }
    then: repeat
    steps: [{ text: '{"c1": {"reason": "It says so.", "score": 0.9}}' }]
steps: [{ text: '{"c1": {"reason": "Nothing was refunded.", "score": 0.2}}' }]
"#;

/// Three runs that refunded, two that did not, and one that only claims it.
fn bench() -> LiveFolder {
    let bench = LiveFolder::with(SUITE, SCRIPT, "");
    std::fs::create_dir_all(bench.path("nightly/clerk")).unwrap();
    let mut labels = String::new();
    for number in 1..=6 {
        let is_good = number <= 3;
        let said = if number == 4 || number == 5 {
            "I looked at the invoice."
        } else {
            "Refunded."
        };
        let calls = if is_good {
            json!([{ "name": "refund", "args": { "id": number } }])
        } else {
            json!([])
        };
        let results = if is_good {
            json!([{ "content": "ok" }])
        } else {
            json!([])
        };
        let turns = json!([{ "role": "assistant", "content": said }]);
        let trace = json!({
            "tool_calls": calls, "tool_results": results, "final_response": said, "conversation": { "turns": turns },
        });
        bench.write(&format!("nightly/clerk/{number}.json"), &trace.to_string());
        let label = if is_good { "good" } else { "bad" };
        labels.push_str(&format!(
            "{}\n",
            json!({ "source": format!("clerk/{number}.json"), "label": label })
        ));
    }
    bench.write("labels.jsonl", &labels);
    bench
}

const CHECK: [&str; 6] = [
    "judge-check",
    "suite.yml",
    "--traces",
    "nightly",
    "--labels",
    "labels.jsonl",
];

#[test]
fn a_judge_is_measured_against_labels_and_asked_once() {
    let bench = bench();
    let explained = bench.run(&[&CHECK[..], &["--explain"]].concat());
    assert_eq!(
        (explained.exit, bench.stub.count()),
        (Some(0), 0),
        "{explained:?}"
    );
    // Six runs; six each in reversed order and padded; three bad ones rewritten, and praised.
    explained.says("6 labelled grades; at most 24 calls");

    let ran = bench.run(&[&CHECK[..], &["--json"]].concat());
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let check = &report["checks"][0];
    assert_eq!((&check["good"], &check["bad"]), (&json!(3), &json!(3)));
    assert_eq!(
        (&check["agreement"]["count"], &check["agreement"]["of"]),
        (&json!(5), &json!(6))
    );
    assert_eq!(
        (
            &check["false_passes"]["count"],
            &check["false_passes"]["of"]
        ),
        (&json!(1), &json!(3))
    );
    // Three of three against two of three: 1 - (1/6) / (1/2).
    assert_eq!(check["kappa"], json!(0.666_667), "{check}");
    let retold = |how: &str| {
        let retold = check["retold"].as_array().unwrap();
        let one = retold.iter().find(|one| one["how"] == how).unwrap();
        (
            one["changed"]["count"].as_u64().unwrap(),
            one["changed"]["of"].as_u64().unwrap(),
        )
    };
    assert_eq!(retold("reversed"), (0, 6));
    assert_eq!(retold("padded"), (0, 6));
    // The one that passes already cannot be won over.
    assert_eq!(retold("praised"), (2, 2));
    assert_eq!(retold("rewritten"), (0, 2));
    assert_eq!(bench.stub.count(), 22);

    let again = bench.run(&CHECK);
    assert_eq!(
        (again.exit, bench.stub.count()),
        (Some(0), 22),
        "what was said is kept: {again:?}"
    );
    again
        .says("false passes")
        .says("1 of 3 bad runs")
        .says("praise injected")
        .says("2 of 2 failed bad runs then pass");
    // The grades that verdicts need are the same file, and nothing else is asked for them.
    let judged = bench.run(&["run", "suite.yml", "--traces", "nightly"]);
    assert_eq!(
        (judged.exit, bench.stub.count()),
        (Some(1), 22),
        "{judged:?}"
    );
}

#[test]
fn a_bound_that_is_missed_is_exit_code_6() {
    let bench = bench();
    let ran = bench.run(
        &[
            &CHECK[..],
            &["--min-kappa", "0.8", "--max-persuaded", "0.1"],
        ]
        .concat(),
    );
    assert_eq!(ran.exit, Some(6), "{ran:?}");
    assert!(
        ran.stderr.contains("eval: kappa is 0.67, 0.8 is required"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr
            .contains("eval: persuaded in 100%, at most 10% is allowed"),
        "{}",
        ran.stderr
    );
    let ran = bench.run(&[&CHECK[..], &["--sample", "0", "--min-kappa", "0.6"]].concat());
    assert_eq!(ran.exit, Some(0), "{ran:?}");
}

#[test]
fn without_a_label_there_is_nothing_to_check() {
    let bench = bench();
    let ran = bench.run(&["judge-check", "suite.yml", "--traces", "nightly"]);
    assert_eq!((ran.exit, bench.stub.count()), (Some(7), 0), "{ran:?}");
    bench.write(
        "labels.jsonl",
        "{\"source\": \"clerk/9.json\", \"label\": \"good\"}\n",
    );
    let ran = bench.run(&CHECK);
    assert_eq!((ran.exit, bench.stub.count()), (Some(2), 0), "{ran:?}");
    assert!(ran.stderr.contains("clerk/9.json"), "{}", ran.stderr);
}

#[test]
fn what_nobody_measured_keeps_no_bound() {
    let bench = bench();
    let unasked = bench.run(&[&CHECK[..], &["--sample", "0", "--max-persuaded", "1"]].concat());
    assert_eq!(unasked.exit, Some(6), "{unasked:?}");
    assert!(
        unasked
            .stderr
            .contains("eval: no attempt to persuade the judge"),
        "{}",
        unasked.stderr
    );
    bench.write(
        "labels.jsonl",
        "{\"source\": \"clerk/1.json\", \"label\": \"good\"}\n",
    );
    let all_good = bench.run(&[&CHECK[..], &["--sample", "0", "--max-false-pass", "1"]].concat());
    assert_eq!(all_good.exit, Some(6), "{all_good:?}");
    assert!(
        all_good
            .stderr
            .contains("eval: false passes were not measured"),
        "{}",
        all_good.stderr
    );
}

#[test]
fn a_run_that_cannot_be_read_is_told_and_the_others_are_checked() {
    let bench = bench();
    bench.write("nightly/clerk/2.json", "{\"tool_calls\": [");
    let ran = bench.run(&[&CHECK[..], &["--sample", "0", "--json"]].concat());
    assert_eq!(ran.exit, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("skipped: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("2.json"), "{}", ran.stderr);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["checks"][0]["good"], json!(2));
    assert_eq!(report["left_out"].as_array().unwrap().len(), 1, "{report}");
}
