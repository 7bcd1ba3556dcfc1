//! Is it XML whatever was written, and is every number in it?

use super::*;
use crate::sample::{self, broken, everywhere, run, test};
use mcptest_core::eval::GATES;
use mcptest_core::report::{Reason, ReasonKind, Status};
use proptest::prelude::*;
use quick_xml::events::Event;
use serde_json::json;

fn text(report: &Report) -> String {
    String::from_utf8(render(report, &Options::default())).unwrap()
}

/// Reads the whole document strictly, and returns all attribute values and texts.
fn strings(xml: &str) -> Vec<String> {
    assert!(
        xml.chars().all(is_allowed),
        "a character that XML 1.0 forbids"
    );
    let mut reader = quick_xml::Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let (mut found, mut depth) = (Vec::new(), 0);
    loop {
        let event = reader.read_event().unwrap();
        match &event {
            Event::Start(tag) | Event::Empty(tag) => {
                for attribute in tag.attributes() {
                    let raw = attribute.unwrap().value;
                    found.push(
                        quick_xml::escape::unescape(std::str::from_utf8(&raw).unwrap())
                            .unwrap()
                            .into_owned(),
                    );
                }
                depth += i32::from(matches!(event, Event::Start(_)));
            }
            Event::Text(part) => {
                let raw = std::str::from_utf8(part).unwrap();
                assert!(!raw.contains("]]>"), "CDATA end in text");
                found.push(raw.to_owned());
            }
            Event::GeneralRef(entity) => {
                let name = std::str::from_utf8(entity).unwrap();
                assert!(
                    ["lt", "gt", "amp", "apos", "quot"].contains(&name) || name.starts_with('#'),
                    "&{name};"
                );
            }
            Event::End(_) => depth -= 1,
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0, "an element is not closed");
    found
}

fn is_allowed(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

const NASTY: &str = "a\u{0}\u{8}\u{b}\u{1b}[31m\u{1b}]0;title\u{7}\u{7f}\u{85}\u{9b}\u{fffe}\u{ffff}\u{1fffe}\u{202e}]]><![CDATA[&amp;&#0;<x a=\"'\">\r\n\t\u{2028}é天👩\u{200d}🚀";

#[test]
fn nasty_text_is_valid_xml_and_still_readable() {
    let all = strings(&text(&everywhere(NASTY))).join("");
    for shown in [
        "a\\u0000\\u0008\\u000b\\u001b[31m\\u001b]0;title\\u0007",
        "\\ufffe\\uffff",
        "\\u202e]]><![CDATA[&amp;&#0;<x",
        "é天👩",
    ] {
        assert!(all.contains(shown), "{shown}");
    }
}

#[test]
fn very_long_text_is_valid_and_short() {
    let megabytes = "]]>\u{1}&".repeat(1_000_000);
    let report = Report::new(
        vec![test("a.yml", 1, "long", Status::Failed, |test| {
            let answer = broken(
                "final_response",
                json!({"exact": megabytes}),
                Some(json!(megabytes)),
            );
            test.runs = vec![run(1, &[], vec![answer])];
        })],
        GATES,
    );
    let xml = text(&report);
    strings(&xml);
    assert!(xml.len() < 200_000, "{}", xml.len());
    assert!(xml.contains("more characters)"));
}

#[test]
fn every_target_and_every_mark_is_a_property() {
    let report = sample::report();
    let xml = text(&report);
    for gate in report.tests.iter().flat_map(|test| &test.gates) {
        for (name, value) in &gate.targets {
            let value = value.map_or("not measured".to_owned(), |number| number.to_string());
            assert!(
                xml.contains(&format!("<property name=\"{name}\" value=\"{value}\"/>")),
                "{name}"
            );
        }
        let mark = gate
            .not_exercised
            .iter()
            .all(|reason| xml.contains(&format!("name=\"not exercised\" value=\"{reason}\"")));
        assert!(mark, "{}", gate.key);
    }
}

#[test]
fn there_is_a_testcase_per_run_and_per_gate_and_per_row_without_any() {
    let report = sample::report();
    let rows = report
        .tests
        .iter()
        .filter(|test| test.runs.is_empty() && test.gates.is_empty())
        .count();
    let cases = text(&report).matches("<testcase ").count();
    assert_eq!(cases, report.summary.runs + report.summary.gates + rows);
}

#[test]
fn a_run_that_the_gates_tolerate_is_not_a_failure() {
    let only = Report::new(vec![sample::report().tests.pop().unwrap()], GATES);
    let xml = text(&only);
    assert!(
        xml.contains("failures=\"0\"")
            && xml.contains("<flakyFailure message=\"tool_calls[0].name must")
    );
}

#[test]
fn an_error_that_no_run_explains_has_a_testcase_of_its_own() {
    let report = Report::new(
        vec![test("a.yml", 1, "row", Status::Error, |test| {
            test.reason = Some(Reason::new(
                ReasonKind::RunsMissing,
                "1 of 3 runs is recorded",
            ));
            test.runs = vec![run(1, &[], vec![])];
        })],
        GATES,
    );
    let xml = text(&report);
    assert!(
        xml.contains("name=\"row · test\"")
            && xml.contains("<error message=\"1 of 3 runs is recorded\" type=\"row\">"),
        "{xml}"
    );
}

#[test]
fn the_sample_in_junit() {
    insta::assert_snapshot!(text(&sample::report()));
}

proptest! {
    #[test]
    fn any_text_anywhere_is_valid_xml(nasty in sample::nasty()) {
        strings(&text(&everywhere(&nasty)));
    }
}
