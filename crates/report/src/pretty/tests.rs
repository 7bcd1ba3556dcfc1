//! Does a person see what happened, and only text?

use super::*;
use crate::sample::{self, broken, everywhere, run, test};
use mcptest_core::eval::GATES;
use mcptest_core::report::{Probe, Reason, ReasonKind, Status, TestReport};
use mcptest_core::suite::Variant;
use proptest::prelude::*;
use serde_json::json;

fn shown(report: &Report, options: Options) -> String {
    String::from_utf8(render(report, &options)).unwrap()
}

#[test]
fn the_sample_in_a_log() {
    insta::assert_snapshot!(shown(&sample::report(), Options::default()));
}

#[test]
fn the_sample_in_full() {
    insta::assert_snapshot!(shown(
        &sample::report(),
        Options {
            verbose: 2,
            ..Options::default()
        }
    ));
}

#[test]
fn the_sample_on_a_narrow_terminal() {
    insta::assert_snapshot!(shown(
        &sample::report(),
        Options {
            width: Some(60),
            ..Options::default()
        }
    ));
}

#[test]
fn the_sample_in_colour() {
    let text = shown(
        &sample::report(),
        Options {
            colour: true,
            ..Options::default()
        },
    );
    insta::assert_snapshot!(text.replace('\u{1b}', "␛"));
}

#[test]
fn colour_changes_no_word() {
    let plain = shown(&sample::report(), Options::default());
    let coloured = shown(
        &sample::report(),
        Options {
            colour: true,
            ..Options::default()
        },
    );
    let mut bare = String::new();
    for (number, part) in coloured.split('\u{1b}').enumerate() {
        bare.push_str(if number == 0 {
            part
        } else {
            part.split_once('m').unwrap().1
        });
    }
    assert_eq!(bare, plain);
}

#[test]
fn the_time_stands_at_the_end_where_it_is_asked_for() {
    let elapsed = Some(std::time::Duration::from_millis(1234));
    let ascii = shown(
        &sample::report(),
        Options {
            elapsed,
            ascii: true,
            ..Options::default()
        },
    );
    assert!(ascii.ends_with(" | 1.23 s\n"), "{ascii}");
    assert!(!ascii.contains(['✓', '✗', '·']), "{ascii}");
    assert!(!shown(&sample::report(), Options::default()).contains(" s\n"));
}

#[test]
fn the_slowest_rows_are_named_where_the_time_is_asked_for() {
    use std::time::Duration;
    let mut report = sample::report();
    for (test, seconds) in report.tests.iter_mut().zip([1, 9, 2, 8, 3, 7, 100]) {
        test.elapsed = Some(Duration::from_secs(seconds));
    }
    let elapsed = Some(Duration::from_secs(2));
    let text = shown(
        &report,
        Options {
            elapsed,
            verbose: 1,
            ..Options::default()
        },
    );
    let (_, slowest) = text.split_once("slowest:\n").unwrap();
    assert!(
        slowest.starts_with("  1 min 40 s  weather selection\n    9.00 s  says hello\n"),
        "{slowest}"
    );
    assert_eq!(slowest.lines().count(), 5);
    for quiet in [
        Options {
            elapsed,
            ..Options::default()
        },
        Options {
            verbose: 1,
            ..Options::default()
        },
    ] {
        assert!(!shown(&report, quiet).contains("9.00 s"));
    }
}

#[test]
fn a_gates_own_line_is_printed_to_the_letter_at_any_width() {
    let line = "tool-selection floor [PASS] weather selection: selection 9/10 (90%), pass^k 90%, max tokens 1840";
    for width in [None, Some(40), Some(80)] {
        let text = shown(
            &sample::report(),
            Options {
                width,
                colour: true,
                verbose: 2,
                ..Options::default()
            },
        );
        assert!(text.lines().any(|shown| shown == line), "{text}");
    }
}

#[test]
fn only_what_can_be_copied_is_wider_than_the_terminal() {
    use unicode_width::UnicodeWidthStr;
    let text = shown(
        &sample::report(),
        Options {
            width: Some(60),
            ..Options::default()
        },
    );
    for line in text.lines().filter(|line| line.width() > 60) {
        let is_meant = [
            "  $ ",
            "  help: ",
            "tool-selection floor",
            "tests:",
            ".yml:",
        ]
        .iter()
        .any(|word| line.contains(word));
        assert!(is_meant, "{line}");
    }
}

#[test]
fn a_long_answer_does_not_flood_the_terminal() {
    let report = Report::new(
        vec![test("a.yml", 1, "long", Status::Failed, |test| {
            let answer = "word ".repeat(10_000);
            test.runs = vec![run(
                1,
                &[],
                vec![broken(
                    "final_response",
                    json!({"exact": answer}),
                    Some(json!(answer)),
                )],
            )];
        })],
        GATES,
    );
    assert!(shown(&report, Options::default()).len() < 1_000);
}

#[test]
fn many_failed_runs_are_cut_short() {
    let report = Report::new(
        vec![test("a.yml", 1, "flaky", Status::Failed, |test| {
            let wrong = || vec![broken("tool_names", json!({"length": 1}), Some(json!([])))];
            test.runs = (1..=100).map(|index| run(index, &[], wrong())).collect();
        })],
        GATES,
    );
    let text = shown(&report, Options::default());
    assert!(
        text.contains("flaky  100 runs, 0 passed") && text.contains("✗ runs 1-100\n"),
        "{text}"
    );
    assert_eq!(text.matches("tool_names must match").count(), 1, "{text}");
}

#[test]
fn many_runs_that_fail_in_their_own_way_are_cut_short() {
    let report = Report::new(
        vec![test("a.yml", 1, "flaky", Status::Failed, |test| {
            let wrong = |index: usize| {
                vec![broken(
                    "tool_names",
                    json!({"length": 1}),
                    Some(json!([index])),
                )]
            };
            test.runs = (1..=100)
                .map(|index| run(index, &[], wrong(index)))
                .collect();
        })],
        GATES,
    );
    let text = shown(&report, Options::default());
    assert!(
        text.contains("✗ run 10\n") && !text.contains("✗ run 11\n"),
        "{text}"
    );
    assert!(text.contains("and 90 more (see --reporter json)"), "{text}");
}

#[test]
fn rows_with_the_same_error_are_told_once() {
    let row = |name: &str, message: &str| {
        test("a.yml", 1, name, Status::Error, |test| {
            test.reason = Some(Reason::new(ReasonKind::ProviderUnusable, message));
        })
    };
    let key = "the model needs ANTHROPIC_API_KEY";
    let text = shown(
        &Report::new(vec![row("a", key), row("b", "else"), row("c", key)], GATES),
        Options::default(),
    );
    assert!(
        text.contains(
            "! 2 rows: the model needs ANTHROPIC_API_KEY\n    a  a.yml:1\n    c  a.yml:1\n"
        ),
        "{text}"
    );
    assert_eq!(text.matches(key).count(), 1, "{text}");
}

/// A row with this number of passed runs, of three.
fn with_model(name: &str, model: &str, passed: usize) -> mcptest_core::report::TestReport {
    let status = if passed == 3 {
        Status::Passed
    } else {
        Status::Failed
    };
    test("a.yml", 1, name, status, |test| {
        test.model = Some(model.into());
        test.has_several_models = true;
        let wrong = || vec![broken("tool_names", json!({"length": 1}), Some(json!([])))];
        test.runs = (1..=3)
            .map(|index| run(index, &[], if index > passed { wrong() } else { vec![] }))
            .collect();
    })
}

/// The part of the report between the rows and the totals.
fn overview_of(tests: Vec<mcptest_core::report::TestReport>) -> String {
    let text = shown(&Report::new(tests, GATES), Options::default());
    let start = ["Models", "Accuracy"]
        .iter()
        .filter_map(|head| text.find(head))
        .min();
    start.map_or_else(String::new, |start| text[start..].to_owned())
}

#[test]
fn tests_with_several_models_end_in_a_table() {
    let mut tests: Vec<_> = ["claude-sonnet-4-5", "gpt-5", "gemini-3-pro"]
        .iter()
        .flat_map(|model| {
            [
                with_model("books the flight", model, 3),
                with_model("finds the cheapest", model, model.len() % 4),
            ]
        })
        .collect();
    tests[1].status = Status::Error;
    tests.push(with_model("only ever with one", "gpt-5", 3));
    insta::assert_snapshot!(overview_of(tests));
    assert_eq!(
        overview_of(vec![with_model("a", "gpt-5", 3)]),
        "",
        "one model is not compared"
    );
}

#[test]
fn a_sweep_ends_in_its_curve() {
    let row = |name: &str, model: &str, count: usize, accuracy: Option<i64>| {
        let mut row = with_model(name, model, 3);
        row.has_several_models = model != "m";
        row.variant = Some(Variant::Distractors(count));
        let accuracy = accuracy.map(mcptest_core::report::Number::Int);
        row.gates = vec![sample::gate(
            "distractors",
            Status::Passed,
            &[("distractors.accuracy", accuracy)],
        )];
        row
    };
    let mut tests = vec![
        row("keeps its head", "m", 0, Some(100)),
        row("keeps its head", "m", 1, Some(90)),
        row("keeps its head", "m", 16, None),
    ];
    tests.extend((0..14).map(|step| {
        row(
            "天気を調べるエージェント with a name that goes on",
            "gpt-5",
            10 * step,
            Some(50),
        )
    }));
    insta::assert_snapshot!(overview_of(tests));
    assert_eq!(
        overview_of(vec![row("keeps its head", "m", 0, Some(100))]),
        "",
        "one point is no curve"
    );
}

#[test]
fn the_overview_fits_80_columns_whatever_is_in_it() {
    use unicode_width::UnicodeWidthStr;
    let models: Vec<String> = (0..9)
        .map(|at| format!("organisation/a-model-with-a-long-name-{at}"))
        .collect();
    let mut tests: Vec<_> = models
        .iter()
        .map(|model| with_model(&"天".repeat(60), model, 2))
        .collect();
    for (at, model) in models.iter().enumerate() {
        let mut row = with_model(&"x".repeat(90), model, 1);
        row.variant = Some(Variant::Distractors(at));
        tests.push(row.clone());
        row.variant = Some(Variant::Distractors(at + 100));
        tests.push(row);
    }
    let overview = overview_of(tests);
    let overview = overview.rsplit_once("\n\n").unwrap().0;
    assert!(overview.contains("Models") && overview.contains("Accuracy"));
    // The leaderboard is as wide as the page.
    let (overview, board) = overview.split_once("\nLeaderboard").unwrap();
    assert!(board.lines().all(|line| line.width() <= 100), "{board}");
    for line in overview.lines() {
        assert!(line.width() <= 80, "{} {line}", line.width());
        assert_eq!(line.trim_end(), line, "no blanks at the end");
    }
}

#[test]
fn model_text_cannot_forge_a_row() {
    let forged = "x\n  ✓ forged\r\u{1b}[2K";
    let report = Report::new(
        vec![test("a.yml", 1, "honest", Status::Failed, |test| {
            test.runs = vec![run(
                1,
                &[forged],
                vec![broken(
                    "final_response",
                    json!({"exact": 1}),
                    Some(json!(forged)),
                )],
            )];
        })],
        GATES,
    );
    let text = shown(&report, Options::default());
    assert!(
        !text
            .lines()
            .any(|line| line.trim_start().starts_with("✓ forged")),
        "{text}"
    );
}

proptest! {
    #[test]
    fn no_text_anywhere_reaches_the_terminal_raw(nasty in sample::nasty(), width in proptest::option::of(0_usize..120)) {
        for verbose in [0, 2] {
            let text = shown(&everywhere(&nasty), Options { width, verbose, ..Options::default() });
            let raw = text.chars().find(|one| (one.is_control() && *one != '\n') || matches!(one, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'));
            prop_assert_eq!(raw, None);
        }
    }
}

#[test]
fn calls_stand_beside_each_other_at_any_width() {
    use unicode_width::UnicodeWidthStr;
    let call =
        |number: usize, q: &str| json!({"number": number, "tool": "search", "args": {"q": q}});
    let table = |run: usize| {
        let long = "the page about how to rotate an API ";
        json!({"run": run, "mode": "strict", "summary": "1 call differs, 1 is missing", "rows": [
            {"how": "matched", "count": 7},
            {"how": "changed", "expected": call(8, &format!("{long}key")), "recorded": call(8, &format!("{long}kye"))},
            {"how": "missing", "expected": {"number": 9, "tool": "open"}},
        ]})
    };
    let report = Report::new(
        vec![test("a.yml", 1, "row", Status::Failed, |test| {
            test.runs = (1..=3).map(|index| run(index, &[], vec![])).collect();
            let gate = json!({"key": "trajectory", "status": "failed", "targets": {}, "expectations": [],
            "explanation": [{"run": 1, "message": "said by the table"}], "tables": [table(1), table(2)]});
            test.gates = vec![serde_json::from_value(gate).unwrap()];
        })],
        GATES,
    );
    insta::assert_snapshot!(shown(&report, Options { ascii: true, ..Options::default() }), @r#"
    a.yml
      x row  3 runs  trajectory

    x row                                                                                        a.yml:1
      trajectory (strict): runs 1-2: 1 call differs, 1 is missing
          expected                               recorded
          ... 7 calls as expected
          8 search {q: "...ate an API key"}  !=  8 search {q: "...ate an API kye"}
          9 open                             -   missing
      $ mcptest run a.yml --filter 'row'

    1 test: 1 failed | 3 runs
    "#);
    for width in [40, 60, 80] {
        let text = shown(
            &report,
            Options {
                width: Some(width),
                ..Options::default()
            },
        );
        assert!(
            text.lines()
                .all(|line| line.width() <= width || line.contains("$ ")),
            "{text}"
        );
    }
}

/// A row of `mcptest check`.
fn probe(id: &str, status: Status, reason: Option<Reason>) -> TestReport {
    let probe = Probe {
        id: id.to_owned(),
        family: "EDGE".to_owned(),
        title: "every call is answered in time".to_owned(),
        ..Probe::default()
    };
    TestReport::from_probe("shop", probe, status, reason, "mcptest check".to_owned())
}

#[test]
fn probes_with_one_reason_to_be_skipped_share_a_line() {
    let skipped = |id, why: &str| {
        let reason = Reason::new(ReasonKind::ProbeNotSent, why);
        probe(id, Status::Skipped, Some(reason))
    };
    let report = Report::new(
        vec![
            skipped("EDGE-a", "for servers on HTTP only"),
            probe("EDGE-b", Status::Passed, None),
            skipped("EDGE-c", "the server has no tools"),
            skipped("EDGE-d", "for servers on HTTP only"),
        ],
        GATES,
    );
    let text = shown(&report, Options::default());
    assert!(
        text.contains("- for servers on HTTP only: EDGE-a, EDGE-d\n"),
        "{text}"
    );
    assert!(
        text.contains("- the server has no tools: EDGE-c\n"),
        "{text}"
    );
    assert!(text.contains("4 tests: 1 passed, 3 skipped"), "{text}");
    let listed = Options {
        verbose: 1,
        ..Options::default()
    };
    assert!(shown(&report, listed).contains("- EDGE-d  for servers on HTTP only\n"));
}

#[test]
fn a_probe_that_is_not_finished_has_its_own_mark_and_count() {
    let reason = Reason::new(ReasonKind::ProbeNotFinished, "the probe did not finish");
    let report = Report::new(
        vec![
            probe("EDGE-a", Status::Error, Some(reason)),
            probe("EDGE-b", Status::Passed, None),
        ],
        GATES,
    );
    let text = shown(&report, Options::default());
    assert!(
        text.contains("  … EDGE-a  not finished: every call"),
        "{text}"
    );
    assert!(text.contains("2 tests: 1 passed, 1 not finished"), "{text}");
    assert!(!text.contains('✗') && !text.contains("error"), "{text}");
    let ascii = Options {
        ascii: true,
        ..Options::default()
    };
    assert!(shown(&report, ascii).contains("  ? EDGE-a"));
}
