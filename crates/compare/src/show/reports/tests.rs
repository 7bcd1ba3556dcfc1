//! What is printed about two reports.

use super::*;
use crate::reports::{compare, compare_several};
use crate::show::sample;
use mcptest_core::eval::GATES;
use mcptest_core::report::leaderboard::USUAL_K;
use mcptest_core::report::{Report, RunReport, TestReport};
use mcptest_report::Options;
use serde_json::{Value, json};

fn run(index: usize, passed: bool, tools: &[&str]) -> RunReport {
    let status = if passed { "passed" } else { "failed" };
    let run = json!({ "index": index, "status": status, "tool_names": tools, "calls": tools.len(), "expectations": [] });
    serde_json::from_value(run).unwrap()
}

fn test(name: &str, model: &str, passed: usize, tools: &[&str]) -> TestReport {
    sample::test("a.yml", 1, name, Status::Passed, |test| {
        test.model = Some(model.to_owned());
        test.runs = (0..10).map(|at| run(at + 1, at < passed, tools)).collect();
    })
}

fn compared() -> Compared {
    let a = vec![
        test("a <b> | @c\u{1b}[31m", "one", 10, &["look"]),
        test("only", "one", 1, &[]),
        test("same", "two", 9, &[]),
    ];
    let b = vec![
        test("a <b> | @c\u{1b}[31m", "one", 2, &["delete"]),
        test("same", "two", 9, &[]),
    ];
    let two = compare(
        (&Report::new(a, GATES), "old.json"),
        (&Report::new(b, GATES), "new.json"),
        USUAL_K,
    );
    Compared::Two(Box::new(two))
}

/// Three sides. The last is worse and lacks a test.
fn several() -> Compared {
    let [a, b] = [1, 2].map(|_| {
        Report::new(
            vec![test("x", "one", 9, &[]), test("y", "one", 9, &[])],
            GATES,
        )
    });
    let c = Report::new(vec![test("x", "one", 0, &[])], GATES);
    Compared::Several(compare_several(
        (&a, "old"),
        &[(&b, "b | c"), (&c, "new")],
        USUAL_K,
    ))
}

fn rendered(key: &str, options: &Options) -> String {
    of(key, &compared(), options)
}

fn of(key: &str, compared: &Compared, options: &Options) -> String {
    sample::rendered(REPORTERS, key, compared, options)
}

fn fitting(compared: &Compared) -> Value {
    sample::fitting(SCHEMA, &of("json", compared, &Options::default()))
}

#[test]
fn the_json_fits_its_schema() {
    let shown = fitting(&compared());
    assert_eq!(shown["verdict"], "worse", "{shown:#}");
    assert_eq!(shown["tests"][0]["calls"][0]["tool"], "delete");
    assert_eq!(shown["only_a"][0], "a.yml · only");
    // The two models have no test in common, so they are not ranked beside each other.
    assert_eq!(shown["leaderboard"]["models"].as_array().unwrap().len(), 2);
    assert_eq!(
        shown["leaderboard"]["models_left_out"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let shown = fitting(&several());
    assert_eq!(
        (&shown["verdict"], &shown["first"]["name"]),
        (&json!("worse"), &json!("old"))
    );
    assert_eq!(shown["sides"][1]["only_a"][0], "a.yml · y");
    assert_eq!(shown["leaderboard"]["models"][2]["model"], "new");
}

#[test]
fn several_sides_have_a_row_and_a_sentence_each() {
    let (brief, verbose) = (
        Options::default(),
        Options {
            verbose: 1,
            ..Options::default()
        },
    );
    let md = of("md", &several(), &brief);
    assert!(
        md.starts_with("## worse: old, b \\| c, new\n\n- No evidence of change: 90% of"),
        "{md}"
    );
    assert!(
        md.contains("\n| new | 10 | 0% |")
            && md.contains("\nNote: 1 test of old or new not compared"),
        "{md}"
    );
    for (key, line) in [
        ("md", "Note: only in old: a.yml · y"),
        ("pretty", "note: only in old: a.yml · y"),
    ] {
        assert!(of(key, &several(), &verbose).contains(line), "{key}");
        assert!(!of(key, &several(), &brief).contains(line), "{key}");
    }
    let plain = of("pretty", &several(), &brief);
    assert!(
        plain.contains("\nnew is worse than old: 90% of the runs pass in old, 0% in new"),
        "{plain}"
    );
}

#[test]
fn what_others_wrote_is_no_markdown_of_ours() {
    let text = rendered("md", &Options::default());
    assert!(
        text.starts_with("## worse: old.json and new.json\n"),
        "{text}"
    );
    assert!(
        text.contains("| worse | a.yml · a &lt;b> \\| &#64;c"),
        "{text}"
    );
    assert!(
        !text.contains('\u{1b}') && !text.contains("· same "),
        "{text}"
    );
}

#[test]
fn a_person_reads_what_changed_and_with_v_every_test() {
    let plain = rendered("pretty", &Options::default());
    assert!(
        plain.contains("10 of 10 runs passed, now 2 of 10 (-80 points"),
        "{plain}"
    );
    assert!(
        plain.contains("look is no longer called (it was in 10 runs)"),
        "{plain}"
    );
    assert!(
        plain.contains("1 test did not change") && !plain.contains("· same"),
        "{plain}"
    );
    assert!(
        plain.contains("note: only in old.json: a.yml · only") && !plain.contains('\u{1b}'),
        "{plain}"
    );
    let verbose = rendered(
        "pretty",
        &Options {
            verbose: 1,
            ..Options::default()
        },
    );
    assert!(
        verbose.contains("· same: no evidence of change"),
        "{verbose}"
    );
}

#[test]
fn a_page_holds_both_sides_packed() {
    let page = rendered("html", &Options::default());
    assert!(page.contains("id=\"compare\"") && page.ends_with("</html>\n"));
    assert!(
        !page.contains("a <b>") && !page.contains("old.json"),
        "text of others only packed"
    );
}
