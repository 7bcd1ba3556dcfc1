//! Who chose what among the distractors, and what does that prove?

use super::*;
use crate::engine::trial::{findings, header, judged, loaded, problems, suite, value};
use crate::report::{GateReport, Status};
use crate::trace::Header;
use serde_json::{Value, json};

const BLOCK: &str = "prompt: go\nruns: 2\ndistractors:\n  count: 1\n  correct: [search]\n";

fn run(tools: &[&str]) -> Value {
    let calls: Vec<Value> = tools
        .iter()
        .map(|name| json!({ "name": name, "server": "docs" }))
        .collect();
    json!({ "tool_calls": calls })
}

fn crowd() -> Header {
    header(
        json!([{"name": "search", "server": "docs"}, {"name": "search_v2", "server": "docs", "distractor": true}]),
    )
}

fn five(report: &GateReport) -> [Option<f64>; 5] {
    [
        "accuracy",
        "certified_lower",
        "certified_lower_pct",
        "chose_correct",
        "chose_distractor",
    ]
    .map(|name| value(report, &format!("distractors.{name}")))
}

#[test]
fn a_run_is_correct_only_without_any_distractor() {
    let runs = [
        run(&["search"]),
        run(&["search", "search_v2"]),
        run(&["open_page"]),
        run(&["search"]),
    ];
    let report = judged(BLOCK, Some(&crowd()), &runs);
    assert_eq!(
        five(&report),
        [Some(66.0), Some(0.097_611), Some(9.0), Some(2.0), Some(1.0)]
    );
    assert_eq!(report.status, Status::Failed);
    assert_eq!(
        findings(&report),
        [
            "run 2: call 2 `search_v2` is a distractor",
            "run 3: no call to `search`"
        ]
    );
    assert_eq!(
        report.summary.unwrap(),
        "accuracy 66% (2 correct, 1 distracted, 1 neither), certified 0.097611, 1 from the catalogue"
    );
}

#[test]
fn perfect_runs_pass_and_certify_what_their_number_proves() {
    let runs: Vec<Value> = (0..10).map(|_| run(&["search"])).collect();
    let report = judged(BLOCK, Some(&crowd()), &runs);
    assert_eq!(
        five(&report),
        [
            Some(100.0),
            Some(0.741_134),
            Some(74.0),
            Some(10.0),
            Some(0.0)
        ]
    );
    assert_eq!(
        (report.status, report.not_exercised),
        (Status::Passed, None)
    );
}

#[test]
fn nothing_chosen_is_an_accuracy_of_0_and_no_runs_measure_nothing() {
    let report = judged(BLOCK, Some(&crowd()), &[run(&["open_page"])]);
    assert_eq!(
        five(&report),
        [Some(0.0), Some(0.0), Some(0.0), Some(0.0), Some(0.0)]
    );
    assert_eq!(five(&judged(BLOCK, Some(&crowd()), &[])), [None; 5]);
}

#[test]
fn runs_that_chose_neither_fail_the_default_gate_and_mark_an_asserted_accuracy() {
    let runs: Vec<Value> = (0..10)
        .map(|at| run(if at == 0 { &["search"] } else { &[] }))
        .collect();
    let report = judged(BLOCK, Some(&crowd()), &runs);
    assert_eq!(value(&report, "distractors.accuracy"), Some(100.0));
    assert_eq!(value(&report, "distractors.chose_neither"), Some(9.0));
    assert_eq!(report.status, Status::Failed);
    let asserting =
        format!("{BLOCK}  expect: [{{ target: distractors.accuracy, matcher: {{ gte: 90 }} }}]\n");
    let asserted = judged(&asserting, Some(&crowd()), &runs);
    assert_eq!(asserted.status, Status::Passed);
    let why = "`distractors.accuracy`: 9 of 10 runs called neither a correct tool nor a distractor";
    assert_eq!(asserted.not_exercised.unwrap(), why);
}

#[test]
fn a_call_may_be_marked_itself() {
    let call =
        json!({ "tool_calls": [{ "name": "search" }, { "name": "odd", "distractor": true }] });
    let report = judged(BLOCK, None, &[call]);
    assert_eq!(value(&report, "distractors.chose_distractor"), Some(1.0));
    assert_eq!(report.not_exercised, None);
}

#[test]
fn a_real_tool_with_a_distractors_name_on_another_server_is_no_distractor() {
    let twins = header(json!([
        {"name": "search", "server": "docs"},
        {"name": "search", "server": "files", "distractor": true},
    ]));
    let report = judged(BLOCK, Some(&twins), &[run(&["search"])]);
    assert_eq!(value(&report, "distractors.chose_correct"), Some(1.0));
    let unsaid = json!({ "tool_calls": [{ "name": "search" }] });
    assert_eq!(
        value(
            &judged(BLOCK, Some(&twins), &[unsaid]),
            "distractors.chose_correct"
        ),
        Some(1.0)
    );
    let other = json!({ "tool_calls": [{ "name": "search", "server": "files" }] });
    assert_eq!(
        value(
            &judged(BLOCK, Some(&twins), &[other]),
            "distractors.chose_distractor"
        ),
        Some(1.0)
    );
}

#[test]
fn a_recording_without_distractors_is_marked_and_another_number_is_said() {
    let clean = header(json!([{"name": "search", "server": "docs"}]));
    let report = judged(BLOCK, Some(&clean), &[run(&["search"])]);
    assert_eq!(
        report.not_exercised.as_deref(),
        Some("the recording has no injected distractors")
    );
    assert_eq!(report.status, Status::Passed);
    let more = BLOCK.replace("count: 1", "count: 20");
    let report = judged(&more, Some(&crowd()), &[run(&["search"])]);
    assert_eq!(
        findings(&report),
        ["the recording has 1 distractor, but `count` is 20: record it again"]
    );
}

fn expecting(runs: usize, target: &str, matcher: &str) -> Vec<String> {
    problems(&format!(
        "prompt: go\nruns: {runs}\ndistractors:\n  count: 1\n  correct: [search]\n  \
         expect:\n    - {{ target: distractors.{target}, matcher: {matcher} }}\n"
    ))
}

#[test]
fn a_floor_beyond_the_runs_is_refused_with_the_runs_it_takes() {
    for (floor, needed) in [("0.8", 14), ("0.9", 29), ("0.95", 59), ("0.99", 299)] {
        let matcher = format!("{{ gte: {floor} }}");
        let said = expecting(needed - 1, "certified_lower", &matcher);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(
            said[0].starts_with("error: `distractors.certified_lower` can never satisfy"),
            "{said:?}"
        );
        assert!(
            said[0].contains(&format!(
                "this floor takes {needed} perfect runs (`runs: {needed}`)"
            )),
            "{said:?}"
        );
        assert_eq!(expecting(needed, "certified_lower", &matcher), [""; 0]);
    }
    let said = expecting(10, "certified_lower_pct", "{ gte: 90 }");
    assert!(
        said[0].contains("10 runs can certify at most 0.741134"),
        "{said:?}"
    );
    assert!(
        said[0].contains("this floor takes 29 perfect runs"),
        "{said:?}"
    );
}

#[test]
fn what_no_number_of_runs_can_give_is_refused_too() {
    let said = expecting(10, "certified_lower", "{ gte: 1 }");
    assert!(
        said[0].starts_with("error:") && said[0].contains("its maximum is 0.741134"),
        "{said:?}"
    );
    assert!(expecting(10, "accuracy", "{ exact: 97 }")[0].starts_with("error:"));
    assert_eq!(expecting(10, "accuracy", "{ gte: 97 }"), [""; 0]);
    assert!(expecting(3, "chose_distractor", "{ lte: 3 }")[0].starts_with("warning:"));
}

#[test]
fn blocks_that_ask_for_what_there_is_not_are_refused() {
    let said = |block: &str| problems(&format!("prompt: go\ndistractors:\n  {block}\n"));
    assert!(
        said("{ count: 999, correct: [search] }")[0]
            .starts_with("error: the bundled catalogue has")
    );
    assert_eq!(
        said("{ count: 999, correct: [search], source: { from: near_duplicate } }"),
        [""; 0]
    );
    assert!(said("{ count: 0, correct: [search] }")[0].contains("from 1 to 1000"));
    assert!(said("{ count: 1, correct: [] }")[0].contains("without a correct tool"));
    assert!(
        said("{ count: 1, correct: [search], source: { from: catalog, of: search } }")[0]
            .contains("`of`")
    );
    assert!(said("{ count: 1, correct: [serch] }")[0].starts_with("warning:"));
}

fn injected_by(block: &str, offered: &[CatalogueTool]) -> Vec<CatalogueTool> {
    let loaded = loaded(&suite(&format!("prompt: go\ndistractors: {block}\n")));
    loaded.suite.unwrap().agents[0].injected_tools(None, offered)
}

#[test]
fn the_block_says_which_tools_to_inject() {
    let offered = header(json!([
        {"name": "search", "server": "docs", "description": "Finds pages."},
        {"name": "search_v2", "server": "docs"},
    ]));
    let offered = offered.catalogue.unwrap();
    let crowd = injected_by("{ count: 20, correct: [search] }", &offered);
    assert_eq!(crowd.len(), 20);
    assert!(
        crowd
            .iter()
            .all(|tool| tool.distractor && tool.name != "search")
    );
    let copies = injected_by(
        "{ count: 3, correct: [docs.search], source: { from: near_duplicate } }",
        &offered,
    );
    let names: Vec<&str> = copies.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["find", "query", "search_legacy"]);
    assert!(
        copies[0]
            .description
            .as_ref()
            .unwrap()
            .starts_with("Finds pages. ")
    );
}

#[test]
fn the_point_that_is_drawn_is_what_the_targets_say() {
    let runs = [
        run(&["search"]),
        run(&["search", "search_v2"]),
        run(&["open_page"]),
        run(&["search"]),
    ];
    let asking = format!(
        "{BLOCK}  expect: [{{ target: distractors.certified_lower_pct, matcher: {{ gte: 20 }} }}]\n"
    );
    let report = judged(&asking, Some(&crowd()), &runs);
    let Some(Evidence::Distractors {
        points,
        floor,
        asked_floor,
    }) = report.evidence.as_deref()
    else {
        panic!()
    };
    let [point] = &points[..] else {
        panic!("{points:?}")
    };
    let percent = point.accuracy.map(|share| (100.0 * share).floor());
    let drawn = [
        percent,
        *floor,
        floor.map(|floor| (100.0 * floor).floor()),
        Some(point.correct as f64),
    ];
    assert_eq!(drawn[..], five(&report)[..4]);
    assert_eq!((point.count, point.runs, *asked_floor), (1, 4, Some(0.2)));
    assert!(
        point.low < 0.5 && point.high > 0.5,
        "2 of 4 runs: {point:?}"
    );
}
