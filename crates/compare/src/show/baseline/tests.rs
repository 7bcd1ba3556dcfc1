//! What is printed about two baselines.

use super::*;
use crate::baseline::{
    Baseline, CallBaseline, FORMAT, Length, RunBaseline, TestBaseline, VERSION, compare,
};
use crate::show::sample;
use mcptest_core::eval::GATES;
use mcptest_report::Options;

/// A baseline of one test with a run for each list of tools.
fn baseline(model: &str, runs: &[&[&str]]) -> Baseline {
    let call = |(turn, tool): (usize, &&str)| CallBaseline {
        tool: (*tool).to_owned(),
        turn,
        args: None,
    };
    let run = |(at, tools): (usize, &&[&str])| {
        let mut run = RunBaseline {
            run: at + 1,
            passed: true,
            ..RunBaseline::default()
        };
        run.calls = tools.iter().enumerate().map(call).collect();
        run.response.length = Length::Short;
        run.response.text = format!("{model} {at}");
        run
    };
    let runs = runs.iter().enumerate().map(run).collect();
    let test = TestBaseline {
        suite: "a.yml".to_owned(),
        name: "a <b> | @c".to_owned(),
        runs,
        ..TestBaseline::default()
    };
    let alone = TestBaseline {
        name: model.to_owned(),
        ..test.clone()
    };
    let (format, model) = (FORMAT.to_owned(), Some(model.to_owned()));
    Baseline {
        format,
        version: VERSION,
        model,
        tests: vec![test, alone],
    }
}

fn sample() -> BaselineDiff {
    let before = baseline(
        "old",
        &[&["look", "open"], &["look", "open"], &["look", "open"]],
    );
    let after = baseline("new_one", &[&["open"], &["open"], &["open", "look"]]);
    compare((&before, "old.json"), (&after, "new.json"), GATES)
}

fn rendered(key: &str, options: &Options) -> String {
    sample::rendered(REPORTERS, key, &sample(), options)
}

#[test]
fn the_json_fits_its_schema() {
    let shown = sample::fitting(SCHEMA, &rendered("json", &Options::default()));
    assert_eq!(
        shown["tests"][0]["differences"][0]["support"][1]["of"], 3,
        "{shown:#}"
    );
    assert_eq!(shown["only_before"][0], "a.yml · old");
}

#[test]
fn what_others_wrote_is_no_markdown_of_ours() {
    let text = rendered(
        "md",
        &Options {
            verbose: 1,
            ..Options::default()
        },
    );
    assert!(
        text.contains("UNDECIDED: a.yml · a &lt;b> \\| &#64;c"),
        "{text}"
    );
    assert!(text.contains("## UNDECIDED: old and new_one"), "{text}");
}

#[test]
fn a_person_reads_what_cannot_be_told_and_with_v_what_is_tolerated() {
    let plain = rendered("pretty", &Options::default());
    let verbose = rendered(
        "pretty",
        &Options {
            verbose: 1,
            ..Options::default()
        },
    );
    assert!(
        plain.contains("UNDECIDED in 2 of 3 runs `look` is no longer called"),
        "{plain}"
    );
    assert!(
        !plain.contains("the text of the response differs"),
        "{plain}"
    );
    assert!(
        verbose.contains("PASS the text of the response differs"),
        "{verbose}"
    );
    let narrow = rendered(
        "pretty",
        &Options {
            width: Some(50),
            ..Options::default()
        },
    );
    assert!(
        narrow.lines().all(|line| line.chars().count() <= 50),
        "{narrow}"
    );
}

#[test]
fn the_junit_is_xml_with_a_testcase_for_every_test_and_number() {
    let text = rendered("junit", &Options::default());
    let mut reader = quick_xml::Reader::from_str(&text);
    let mut cases = 0;
    loop {
        match reader.read_event().unwrap() {
            quick_xml::events::Event::Start(start) if start.name().as_ref() == b"testcase" => {
                cases += 1;
            }
            quick_xml::events::Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(
        cases,
        sample().tests.len() + sample().numbers.len(),
        "{text}"
    );
}
