//! Does a page hold the report, and nothing that a browser would run?

use super::*;
use crate::{Clean, sample};
use mcptest_core::eval::GATES;
use mcptest_core::report::{RawTrace, Status};
use std::io::Read;

fn page(report: &Report, options: &Options) -> String {
    String::from_utf8(render(report, options)).unwrap()
}

/// The data in the block with that id.
fn unpacked(page: &str, id: &str) -> Value {
    let (_, rest) = page
        .split_once(&format!("<script type=\"text/plain\" id=\"{id}\">"))
        .unwrap();
    let bytes = STANDARD
        .decode(rest.split_once("</script>").unwrap().0)
        .unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(&*bytes)
        .read_to_string(&mut text)
        .unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_page_holds_the_whole_report_and_why_each_test_did_not_pass() {
    let report = sample::report();
    let mut held = unpacked(&page(&report, &Options::default()), "report");
    for test in held["tests"].as_array_mut().unwrap() {
        let causes = test.as_object_mut().unwrap().remove("causes");
        let is_bad = ["failed", "error"]
            .map(Value::from)
            .contains(&test["status"]);
        assert_eq!(causes.is_some(), is_bad, "{}", test["name"]);
    }
    assert_eq!(held, serde_json::to_value(&report).unwrap());
}

#[test]
fn the_pages_on_the_gates_of_the_report_stand_behind_the_program_and_no_others() {
    let kind = GATES.iter().next().unwrap();
    let test = sample::test("a.yml", 1, "finds", Status::Failed, |test| {
        test.gates = vec![sample::gate(kind.key, Status::Failed, &[])];
    });
    let options = Options {
        gates: GATES,
        ..Options::default()
    };
    let page = page(&Report::new(vec![test], GATES), &options);
    let pages = unpacked(&page, "docs");
    assert_eq!(pages, serde_json::json!({ kind.key: kind.doc }));
    assert!(page.find("id=\"docs\"") > page.find(PROGRAM));
}

#[test]
fn text_of_others_is_nowhere_in_the_page_but_packed() {
    let name = "</script><script>alert(1)</script>\u{202e}";
    let test = sample::test("a.yml", 1, name, Status::Failed, |_| {});
    let page = page(&Report::new(vec![test], GATES), &Options::default());
    assert!(!page.contains("alert(1)") && !page.contains('\u{202e}'));
    assert_eq!(unpacked(&page, "report")["tests"][0]["name"], name);
}

#[test]
fn traces_stand_behind_the_program_by_their_tests_and_runs() {
    let run = |index, trace: Option<&str>| {
        let mut run = sample::run(index, &[], Vec::new());
        run.trace = trace.and_then(RawTrace::new);
        run
    };
    let without = sample::test("a.yml", 1, "one", Status::Failed, |test| {
        test.runs = vec![run(1, None)];
    });
    let with = sample::test("a.yml", 2, "two", Status::Failed, |test| {
        test.runs = vec![
            run(1, Some(r#"{"a": 1}"#)),
            run(2, None),
            run(3, Some(r#"{"b": 2}"#)),
        ];
    });
    let options = Options {
        embed: Embed::All,
        ..Options::default()
    };
    let page = page(&Report::new(vec![without, with], GATES), &options);
    assert!(!page.contains("id=\"traces-0\""));
    assert_eq!(
        unpacked(&page, "traces-1"),
        serde_json::json!({"1": {"a": 1}, "3": {"b": 2}})
    );
    assert!(page.find("id=\"traces-1\"") > page.find(PROGRAM));
    assert_eq!(
        unpacked(&page, "report")["tests"][1]["runs"][0].get("trace"),
        None
    );
}

#[test]
fn what_must_not_leave_is_taken_out_before_it_is_packed() {
    let test = sample::test("a.yml", 1, "asks with hunter2", Status::Failed, |_| {});
    let clean: Clean = |text| Cow::Owned(text.replace("hunter2", "[hidden]"));
    let options = Options {
        clean: Some(clean),
        ..Options::default()
    };
    let held = unpacked(&page(&Report::new(vec![test], GATES), &options), "report");
    assert_eq!(held["tests"][0]["name"], "asks with [hidden]");
}

#[test]
fn the_program_and_the_style_cannot_end_their_elements() {
    assert!(!PROGRAM.contains("</script") && !PROGRAM.contains("<!--") && !STYLE.contains("</"));
    assert!(PROGRAM.is_ascii() && STYLE.is_ascii());
}
