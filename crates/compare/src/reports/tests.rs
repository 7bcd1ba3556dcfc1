//! Which words compare two reports?

use super::*;
use mcptest_core::gates::GATES;
use mcptest_core::report::RunReport;
use mcptest_core::report::leaderboard::{USUAL_K, by_model};
use serde_json::json;

/// A run that passed or failed after these calls.
fn run(index: usize, passed: bool, tools: &[&str]) -> RunReport {
    let status = if passed { "passed" } else { "failed" };
    let run = json!({ "index": index, "status": status, "tool_names": tools, "calls": tools.len(), "expectations": [] });
    serde_json::from_value(run).unwrap()
}

/// A test with this number of passed runs.
fn test(suite: &str, name: &str, passed: usize, runs: usize) -> TestReport {
    let mut test: TestReport = serde_json::from_value(json!({
        "name": name, "suite": { "file": suite, "line": 1 }, "status": "passed", "rerun": "",
        "runs": [], "gates": [],
    }))
    .unwrap();
    test.runs = (0..runs)
        .map(|at| run(at + 1, at < passed, &["look", "open"]))
        .collect();
    test.status = if passed == runs {
        Status::Passed
    } else {
        Status::Failed
    };
    test
}

fn compared(a: Vec<TestReport>, b: Vec<TestReport>) -> ReportDiff {
    compare(
        (&Report::new(a, GATES), "old"),
        (&Report::new(b, GATES), "new"),
        USUAL_K,
    )
}

/// Tests, each with its passed runs and runs.
fn suite(counts: &[(usize, usize)]) -> Vec<TestReport> {
    counts
        .iter()
        .enumerate()
        .map(|(at, (passed, runs))| test("a.yml", &format!("t{at}"), *passed, *runs))
        .collect()
}

#[test]
fn the_same_report_shows_no_change() {
    let tests = suite(&[(9, 10), (10, 10), (4, 10)]);
    let found = compared(tests.clone(), tests);
    assert_eq!(found.verdict, Verdict::NoEvidence);
    assert_eq!(found.more_runs, None);
    assert!(
        found.sentence.starts_with("No evidence of change: "),
        "{}",
        found.sentence
    );
    assert!(
        found
            .tests
            .iter()
            .all(|test| test.calls.is_empty() && test.first_difference.is_none())
    );
}

#[test]
fn a_drop_of_every_test_is_seen_together_though_of_none_alone() {
    let found = compared(suite(&[(5, 5); 6]), suite(&[(3, 5); 6]));
    assert_eq!(found.verdict, Verdict::Worse, "{}", found.sentence);
    assert_eq!(found.count(Verdict::Worse), 0);
    assert!(found.change.unwrap().high < 0.0, "{:?}", found.change);
    let better = compared(suite(&[(3, 5); 6]), suite(&[(5, 5); 6]));
    assert_eq!(better.verdict, Verdict::Better);
}

#[test]
fn a_test_that_falls_while_another_rises_is_worse() {
    let found = compared(suite(&[(10, 10), (0, 10)]), suite(&[(0, 10), (10, 10)]));
    assert_eq!(found.verdict, Verdict::Worse);
    assert!(
        found
            .sentence
            .starts_with("new is worse than old in 1 of 2 tests; "),
        "{}",
        found.sentence
    );
}

#[test]
fn too_few_runs_say_how_many_more_there_should_be() {
    let found = compared(suite(&[(1, 1)]), suite(&[(1, 1)]));
    assert_eq!(
        (found.verdict, found.smallest_drop, found.more_runs),
        (Verdict::NotEnoughRuns, None, Some(2))
    );
    let found = compared(suite(&[(9, 10)]), suite(&[(7, 10)]));
    assert_eq!(found.verdict, Verdict::NoEvidence);
    assert!(
        found.more_runs.is_some_and(|more| (40..80).contains(&more)),
        "{:?}",
        found.more_runs
    );
}

#[test]
fn a_moved_suite_is_the_same_and_what_one_side_lacks_is_listed() {
    let a = vec![
        test("a.yml", "x", 3, 3),
        test("a.yml", "gone", 3, 3),
        test("a.yml", "twice", 1, 1),
    ];
    let b = vec![
        test("b.yml", "x", 3, 3),
        test("b.yml", "twice", 1, 1),
        test("c.yml", "twice", 1, 1),
    ];
    let found = compared(a, b);
    assert_eq!(found.tests.len(), 1);
    assert_eq!(found.only_a, ["a.yml · gone", "a.yml · twice"]);
    assert_eq!(found.only_b, ["b.yml · twice", "c.yml · twice"]);
}

#[test]
fn a_test_that_could_not_be_judged_is_not_compared() {
    let mut broken = test("a.yml", "t0", 0, 0);
    broken.status = Status::Error;
    let found = compared(
        suite(&[(5, 5), (5, 5)]),
        vec![broken, test("a.yml", "t1", 5, 5)],
    );
    assert_eq!(found.not_compared(), 1);
    assert_eq!(found.tests[0].verdict, None);
    assert_eq!(found.change.unwrap().rate_a.to_bits(), 1.0_f64.to_bits());
}

#[test]
fn calls_that_differ_are_named() {
    let mut now = test("a.yml", "t0", 3, 3);
    now.runs = (1..=3)
        .map(|at| run(at, true, &["look", "delete"]))
        .collect();
    let found = compared(suite(&[(3, 3)]), vec![now]);
    let tools: Vec<_> = found.tests[0]
        .calls
        .iter()
        .map(|one| (one.tool.as_str(), one.runs_a, one.runs_b))
        .collect();
    assert_eq!(tools, [("delete", 0, 3), ("open", 3, 0)]);
    let first = found.tests[0].first_difference.as_ref().unwrap();
    assert_eq!(
        (first.call, first.a.as_deref(), first.b.as_deref()),
        (2, Some("open"), Some("delete"))
    );
}

#[test]
fn models_stand_beside_the_first_one() {
    let of = |model: &str, counts: &[(usize, usize)]| {
        suite(counts)
            .into_iter()
            .map(move |test| of_model(test, model))
            .collect::<Vec<_>>()
    };
    let tests = [
        of("one", &[(4, 4); 8]),
        of("two", &[(1, 4); 8]),
        of("three", &[(4, 4); 8]),
    ]
    .concat();
    let board = leaderboard(&by_model(&tests), USUAL_K).unwrap();
    assert_eq!(board.k, 4);
    let said: Vec<_> = board
        .models
        .iter()
        .map(|row| row.difference.map(|one| one.verdict))
        .collect();
    assert_eq!(
        said,
        [None, Some(Verdict::Worse), Some(Verdict::NoEvidence)]
    );
    assert!((board.models[1].pass_1 - 0.25).abs() < 1e-9 && board.models[1].pass_k > 0.999);
    assert!(board.models[1].pass_hat_k < 1e-9 && board.models[0].low < 1.0);
    assert!(leaderboard(&by_model(&tests[..8]), USUAL_K).is_none());
}

#[test]
fn each_of_several_sides_is_compared_with_the_first_and_pays_for_the_others() {
    let [first, drop, same] =
        [vec![(9, 10)], vec![(4, 10)], vec![(9, 10)]].map(|one| Report::new(suite(&one), GATES));
    let alone = compare((&first, "old"), (&drop, "drop"), USUAL_K);
    assert_eq!(alone.verdict, Verdict::Worse, "{}", alone.sentence);
    let found = compare_several(
        (&first, "old"),
        &[(&same, "same"), (&drop, "drop")],
        USUAL_K,
    );
    let [beside, drop] = &found.sides[..] else {
        panic!("{found:?}")
    };
    // The same p-value, but two sides had the chance to show it.
    assert_eq!(
        (drop.change, drop.verdict),
        (alone.change, Verdict::NoEvidence),
        "{}",
        drop.sentence
    );
    assert!((drop.p_holm.unwrap() - 2.0 * alone.change.unwrap().p).abs() < 1e-5);
    assert!(drop.smallest_drop.unwrap() > alone.smallest_drop.unwrap());
    assert!(
        beside
            .sentence
            .contains("90% of the runs pass in old, 90% in same"),
        "{}",
        beside.sentence
    );
    assert_eq!(found.verdict, Verdict::NoEvidence);
    let board = found.leaderboard.unwrap();
    let rows: Vec<_> = board
        .models
        .iter()
        .map(|row| (row.model.as_str(), row.difference.map(|one| one.p)))
        .collect();
    assert_eq!(
        rows,
        [
            ("old", None),
            ("same", beside.p_holm),
            ("drop", drop.p_holm)
        ]
    );
}

#[test]
fn a_side_without_runs_has_no_row_and_takes_nobody_elses_difference() {
    let mut broken = test("a.yml", "t0", 0, 0);
    broken.status = Status::Error;
    let [good, bad] = [vec![(10, 10)], vec![(0, 10)]].map(|one| Report::new(suite(&one), GATES));
    let found = compare_several(
        (&good, "a"),
        &[(&Report::new(vec![broken], GATES), "b"), (&bad, "c")],
        USUAL_K,
    );
    assert_eq!(found.verdict, Verdict::Worse);
    assert_eq!(
        found.sides[0].sentence,
        "Nothing could be compared: no test has runs in both a and b."
    );
    let rows = found.leaderboard.unwrap().models;
    let rows: Vec<_> = rows
        .iter()
        .map(|row| (row.model.as_str(), row.difference.map(|one| one.verdict)))
        .collect();
    assert_eq!(rows, [("a", None), ("c", Some(Verdict::Worse))]);
}

#[test]
fn a_model_that_is_all_that_differs_is_what_is_compared() {
    let of = |model: &str| {
        let tests = suite(&[(3, 3)])
            .into_iter()
            .map(|test| of_model(test, model));
        Report::new(tests.collect(), GATES)
    };
    let models = |mut reports: Vec<Report>| -> Vec<Option<String>> {
        leave_models_out(&mut reports);
        reports
            .into_iter()
            .flat_map(|report| report.tests)
            .map(|test| test.model)
            .collect()
    };
    assert_eq!(models(vec![of("one"), of("two")]), [None, None]);
    assert_eq!(
        models(vec![of("one"), of("one")]),
        [Some("one".to_owned()), Some("one".to_owned())]
    );
    let both = Report::new([of("one").tests, of("two").tests].concat(), GATES);
    assert_eq!(models(vec![of("one"), both]).iter().flatten().count(), 3);
}

/// The test with these blocks, each with its digest.
fn held_to(mut test: TestReport, checks: &[(&str, &str)]) -> TestReport {
    test.checks = checks
        .iter()
        .map(|(key, digest)| ((*key).to_owned(), (*digest).to_owned()))
        .collect();
    test
}

/// The test as this model ran it.
fn of_model(mut test: TestReport, model: &str) -> TestReport {
    test.model = Some(model.to_owned());
    test
}

#[test]
fn a_run_that_ended_in_an_error_counts_as_not_passed() {
    let mut now = test("a.yml", "t0", 4, 4);
    now.runs.extend((5..=10).map(|at| {
        let mut run = run(at, false, &[]);
        run.status = Status::Error;
        run
    }));
    let found = compared(suite(&[(10, 10)]), vec![now]);
    let test = &found.tests[0];
    assert_eq!((test.passed_b, test.runs_b, test.broken_b), (4, 10, 6));
    assert_eq!(found.verdict, Verdict::Worse, "{}", found.sentence);
    assert!(
        found
            .sentence
            .ends_with(" 6 runs ended in errors and count as not passed."),
        "{}",
        found.sentence
    );
    assert!(test.calls.is_empty(), "nothing is known of their calls");
}

#[test]
fn tests_that_assert_something_else_are_not_compared() {
    let before = held_to(
        test("a.yml", "t0", 10, 10),
        &[("expect", "1"), ("stability", "1")],
    );
    let after = held_to(
        test("a.yml", "t0", 0, 10),
        &[("expect", "2"), ("narrative", "1")],
    );
    let found = compared(vec![before.clone()], vec![after]);
    let test = &found.tests[0];
    assert_eq!((test.verdict, test.has_regressed), (None, false));
    assert_eq!(
        test.not_compared.as_deref(),
        Some(
            "the two sides assert different things: `expect:` was changed, `narrative:` was added, \
             `stability:` was removed"
        )
    );
    assert_eq!(found.change, None);
    assert_eq!(
        found.sentence,
        "Nothing could be compared: no test has runs in both old and new and asserts the same."
    );
    assert!(found.leaderboard.is_none(), "{:?}", found.leaderboard);
    let same = compared(vec![before.clone()], vec![before]);
    assert_eq!(same.not_compared(), 0);
}

#[test]
fn a_test_that_passed_and_now_fails_is_told_whatever_the_rates_say() {
    let found = compared(suite(&[(10, 10), (5, 10)]), suite(&[(9, 10), (4, 10)]));
    assert_eq!(found.verdict, Verdict::NoEvidence);
    assert_eq!(found.regressed(), 1, "the other failed before");
    assert!(
        found.sentence.ends_with(" 1 test passed and now fails."),
        "{}",
        found.sentence
    );
}

#[test]
fn models_are_ranked_over_the_tests_that_all_have() {
    let of = |model: &str, tests: Vec<TestReport>| {
        let named = tests.into_iter().map(|test| of_model(test, model));
        named.collect::<Vec<_>>()
    };
    let counts = [(5, 5), (3, 5), (0, 5)];
    let all = [
        of("ma", suite(&counts)),
        of("mb", suite(&counts[..2])),
        of("elsewhere", vec![test("b.yml", "own", 5, 5)]),
    ]
    .concat();
    let board = leaderboard(&by_model(&all), USUAL_K).unwrap();
    let rows: Vec<_> = board
        .models
        .iter()
        .map(|row| (row.model.as_str(), row.tests, row.pass_1))
        .collect();
    assert_eq!(rows, [("ma", 2, 0.8), ("mb", 2, 0.8)]);
    assert_eq!(board.tests_left_out, ["t2"]);
    assert_eq!(board.models_left_out, ["elsewhere"]);
}

#[test]
fn tests_that_assert_something_else_are_not_ranked() {
    let of = |digest: &str, passed: usize| {
        let tests = suite(&[(5, 5), (passed, 5)]).into_iter().map(|test| {
            let digest = if test.name == "t1" { digest } else { "same" };
            of_model(held_to(test, &[("expect", digest)]), "m")
        });
        Report::new(tests.collect(), GATES)
    };
    let (before, after) = (of("1", 5), of("2", 0));
    let two = compare((&before, "a"), (&after, "b"), USUAL_K);
    let several = compare_several((&before, "a"), &[(&after, "b"), (&before, "c")], USUAL_K);
    for board in [two.leaderboard.unwrap(), several.leaderboard.unwrap()] {
        let rows: Vec<(u64, f64)> = board
            .models
            .iter()
            .map(|row| (row.tests as u64, row.pass_1))
            .collect();
        assert!(rows.iter().all(|row| *row == (1, 1.0)), "{rows:?}");
        assert_eq!(board.tests_left_out.len(), 1, "{:?}", board.tests_left_out);
    }
}

#[test]
fn sides_are_ranked_over_the_tests_that_all_have() {
    let of = |counts: &[(usize, usize)]| Report::new(suite(counts), GATES);
    let sides = [
        of(&[(5, 5), (3, 5), (0, 5)]),
        of(&[(5, 5), (3, 5)]),
        of(&[(5, 5), (3, 5), (5, 5)]),
    ];
    let others = [(&sides[1], "b"), (&sides[2], "c")];
    let board = compare_several((&sides[0], "a"), &others, USUAL_K)
        .leaderboard
        .unwrap();
    let rates: Vec<f64> = board.models.iter().map(|row| row.pass_1).collect();
    assert_eq!(rates, [0.8; 3]);
    assert_eq!(board.tests_left_out, ["a.yml · t2"]);
}
