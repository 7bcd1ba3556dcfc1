//! What is a tool worth, by runs with it and without it?

use crate::engine::SideRuns;
use crate::engine::trial::{loaded, problems, suite};
use crate::report::{Evidence, GateReport};
use crate::trace::{Header, Run, Trace};
use serde_json::{Value, json};

const EXPECT: &str =
    "prompt: p\nruns: 2\nexpect: [{ target: final_response, matcher: { contains: done } }]\n";

fn header() -> Header {
    let catalogue = json!([{ "name": "search", "server": "s" }, { "name": "look", "server": "s" },
        { "name": "bait", "distractor": true }]);
    Header {
        catalogue: serde_json::from_value(catalogue).unwrap(),
        ..Header::default()
    }
}

fn run(is_done: bool, tools: &[&str], tokens: u64) -> Value {
    let calls: Vec<Value> = tools
        .iter()
        .map(|name| json!({ "name": name, "server": "s" }))
        .collect();
    json!({ "tool_calls": calls, "final_response": if is_done { "done" } else { "no" },
        "conversation": { "tokens": { "total": tokens } } })
}

fn with_runs<T>(runs: &[Value], judge: impl FnOnce(&[Run<'_>]) -> T) -> T {
    let texts: Vec<String> = runs.iter().map(Value::to_string).collect();
    let traces: Vec<Trace<'_>> = texts
        .iter()
        .map(|text| Trace::read(text).unwrap())
        .collect();
    let header = header();
    let is_done = |trace: &Trace<'_>| trace.final_response.as_deref() == Some("done");
    let run = |trace| Run {
        header: Some(&header),
        passed: is_done(trace),
        ..Run::new(trace)
    };
    judge(&traces.iter().map(run).collect::<Vec<_>>())
}

fn judged(block: &str, ordinary: &[Value], side: &[Value]) -> GateReport {
    let suite = loaded(&suite(&format!("{EXPECT}{block}"))).suite.unwrap();
    let gate = &suite.agents[0].gates[0];
    let judge = |ordinary: &[Run<'_>], side: &[Run<'_>]| {
        let report = gate.judge_side(None, "t", ordinary, side);
        GateReport {
            evidence: gate.evidence(None, ordinary, side, &report),
            ..report
        }
    };
    with_runs(ordinary, |ordinary| {
        with_runs(side, |side| judge(ordinary, side))
    })
}

fn asked(block: &str) -> Vec<String> {
    let suite = loaded(&suite(&format!("{EXPECT}{block}"))).suite.unwrap();
    let side = with_runs(&[run(true, &[], 1)], |runs| {
        SideRuns::wanted(&suite.agents[0], runs).unwrap()
    });
    side.runs.iter().map(ToString::to_string).collect()
}

#[test]
fn each_tool_is_removed_in_turn_or_the_written_sets_as_often_as_the_agent_runs() {
    let each = [
        "without s.search #1",
        "without s.search #2",
        "without s.look #1",
        "without s.look #2",
    ];
    assert_eq!(asked("ablate: true"), each);
    let sets = [
        "without search #1",
        "without search #2",
        "without look and search #1",
        "without look and search #2",
    ];
    assert_eq!(asked("ablate: [search, [search, look]]"), sets);
    assert_eq!(
        asked("ablate: { sets: [look], runs: 1 }"),
        ["without look #1"]
    );
    assert!(
        loaded(&suite("prompt: p\nablate: false"))
            .suite
            .unwrap()
            .agents[0]
            .gates
            .is_empty()
    );
}

#[test]
fn the_drop_the_calls_the_tokens_and_the_tool_in_its_place_are_told() {
    let ordinary = vec![run(true, &["search"], 100); 4];
    let mut side = vec![run(false, &["look", "look", "search"], 300); 4];
    side.extend(vec![run(true, &["search"], 100); 4]);
    let report = judged(
        "ablate: { sets: [search, look], runs: 4 }",
        &ordinary,
        &side,
    );
    let value =
        |name: &str| report.targets[&format!("ablation.{name}")].map(|number| number.to_string());
    let numbers = [
        "sets",
        "max_drop",
        "min_drop",
        "needed_tools",
        "useless_tools",
        "extra_calls",
        "extra_tokens",
    ];
    let expected = ["2", "100", "0", "1", "1", "2", "200"].map(|number| Some(number.to_owned()));
    assert_eq!(numbers.map(value), expected);
    assert_eq!(report.targets["ablation.extra_cost"], None);
    assert_eq!(
        report.explanation[0].message,
        "without search: 0 of 4 runs succeed, with it 4 of 4, a drop of 100 points (95% interval 31 to 100); a run goes \
         from 1 to 3 calls, 100 to 300 tokens; s.look is called instead (2 more a run); the agent still calls it \
         1 times a run"
    );
    assert!(
        report.explanation[1]
            .message
            .ends_with("; no tool is called instead")
    );
    let summary = "2 sets: 1 needed (search), 1 useless (look); the largest drop is 100 points";
    assert_eq!(report.line, Some(format!("    ablate: {summary}")));
}

#[test]
fn few_runs_prove_no_need_and_a_better_agent_is_a_drop_of_nothing() {
    let ordinary = [run(true, &[], 1), run(true, &[], 1), run(false, &[], 1)];
    let better = [run(true, &[], 1), run(true, &[], 1), run(true, &[], 1)];
    let report = judged("ablate: [look]", &ordinary, &better);
    let value = |name: &str| report.targets[name].unwrap().as_f64();
    assert_eq!(
        [value("ablation.max_drop"), value("ablation.useless_tools")],
        [0.0, 1.0]
    );
    assert!(
        report.explanation[0]
            .message
            .contains("a drop of -34 points"),
        "{:?}",
        report.explanation
    );
    let worse = [run(false, &[], 1), run(true, &[], 1), run(true, &[], 1)];
    let report = judged("ablate: [look]", &better, &worse);
    let value = |name: &str| report.targets[name].unwrap().as_f64();
    let numbers = [
        "ablation.max_drop",
        "ablation.needed_tools",
        "ablation.useless_tools",
    ]
    .map(value);
    assert_eq!(numbers, [33.0, 0.0, 0.0], "neither needed nor useless");
}

#[test]
fn without_runs_nothing_is_measured() {
    let report = judged("ablate: true", &[run(true, &[], 1)], &[]);
    assert_eq!(report.not_exercised.as_deref(), Some("no runs to compare"));
    assert_eq!(report.targets["ablation.max_drop"], None);
}

#[test]
fn where_no_ordinary_run_succeeds_no_tool_is_called_useless() {
    let failed = vec![run(false, &["search"], 100); 3];
    let report = judged("ablate: [look]", &failed, &failed);
    assert_eq!(
        report.not_exercised.as_deref(),
        Some("no ordinary run succeeded, so no tool can be missed")
    );
    assert_eq!(report.targets["ablation.useless_tools"], None);
    assert_eq!(report.targets["ablation.needed_tools"], None);
    assert_eq!(report.line, None);
}

#[test]
fn without_a_task_no_tool_is_called_useless() {
    let written = "prompt: p\ngolden_path: { calls: [search] }\nablate: [search]";
    assert!(problems(written)[0].starts_with("warning: without an observable `expect:`"));
    let suite = loaded(&suite(written)).suite.unwrap();
    let gate = suite.agents[0]
        .gates
        .iter()
        .find(|gate| gate.key() == "ablate")
        .unwrap();
    let runs = [run(true, &[], 1), run(true, &[], 1)];
    let report = with_runs(&runs, |ordinary| {
        with_runs(&runs, |side| gate.judge_side(None, "t", ordinary, side))
    });
    assert!(report.not_exercised.is_some(), "{report:?}");
}

#[test]
fn sets_that_remove_nothing_or_come_twice_are_refused() {
    let of = |block: &str| problems(&format!("{EXPECT}{block}"));
    assert_eq!(
        of("ablate: [[]]"),
        ["error: a set without tools removes nothing"]
    );
    assert_eq!(
        of("ablate: [search, [search]]"),
        ["error: the same set is listed twice"]
    );
    assert_eq!(
        of("ablate: []"),
        ["error: the list of sets is empty (write `ablate: true` for each tool in turn)"]
    );
    assert!(
        of("ablate: 3")[0].contains("expected `true`, `false`, a list or a map"),
        "{:?}",
        of("ablate: 3")
    );
    assert!(
        problems("prompt: p\nablate: true")[0]
            .starts_with("warning: without an observable `expect:`, every run succeeds")
    );
    let two = of("fault_matrix: true\nablate: true");
    assert!(two[0].contains("cannot be used together"), "{two:?}");
    assert!(of("ablate: { set: [search] }")[0].contains("did you mean `sets`?"));
}

#[test]
fn the_rows_that_are_drawn_are_what_the_targets_say() {
    let ordinary = vec![run(true, &["search"], 100); 4];
    let mut side = vec![run(true, &["look"], 300); 3];
    side.push(run(false, &["look"], 300));
    side.extend(vec![run(false, &[], 100); 4]);
    let report = judged(
        "ablate: { sets: [search, look], runs: 4 }",
        &ordinary,
        &side,
    );
    let Some(Evidence::Ablate { rows }) = report.evidence.as_deref() else {
        panic!()
    };
    let value =
        |name: &str| report.targets[&format!("ablation.{name}")].map(|number| number.as_f64());
    assert_eq!(value("sets"), Some(rows.len() as f64));
    assert_eq!(
        value("max_drop"),
        rows.iter().map(|row| row.drop as f64).reduce(f64::max)
    );
    assert_eq!(
        value("min_drop"),
        rows.iter().map(|row| row.drop as f64).reduce(f64::min)
    );
    assert_eq!(
        value("needed_tools"),
        Some(rows.iter().filter(|row| row.low > 0.0).count() as f64)
    );
    assert_eq!(
        value("extra_tokens"),
        rows.iter().filter_map(|row| row.tokens).reduce(f64::max)
    );
    assert_eq!(
        value("extra_calls"),
        rows.iter().filter_map(|row| row.calls).reduce(f64::max)
    );
    assert_eq!(
        (&*rows[0].tool, rows[0].passed, rows[0].runs),
        ("search", 3, 4)
    );
    assert_eq!(
        (rows[0].instead.as_deref(), rows[1].instead.as_deref()),
        (Some("s.look"), None)
    );
    assert!(judged("ablate: true", &ordinary, &[]).evidence.is_none());
}
