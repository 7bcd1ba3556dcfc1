//! Which differences of two baselines are reported?

use super::*;
use mcptest_core::gates::GATES;
use mcptest_core::trace::{Run, Trace};
use serde_json::json;

fn runs(envelopes: &[Value]) -> Vec<RunBaseline> {
    let texts: Vec<String> = envelopes.iter().map(Value::to_string).collect();
    let traces: Vec<Trace<'_>> = texts
        .iter()
        .map(|text| Trace::read(text).unwrap())
        .collect();
    Run::all(&traces).iter().map(RunBaseline::of).collect()
}

fn test(envelopes: &[Value]) -> TestBaseline {
    TestBaseline {
        name: "t".to_owned(),
        runs: runs(envelopes),
        ..TestBaseline::default()
    }
}

/// The differences between three runs like `before` and three like `after`, the worst first: `FAIL
/// tool: …`.
fn told_of_three(before: &Value, after: &Value) -> Vec<String> {
    told(&vec![before.clone(); 3], &vec![after.clone(); 3])
}

/// The differences, the worst first: `FAIL tool: …`.
fn told(before: &[Value], after: &[Value]) -> Vec<String> {
    let found = compare_test(&test(before), &test(after), GATES);
    let one = |one: &Difference| format!("{} {}: {}", one.class.word(), one.kind, one.message);
    found.tests[0].differences.iter().map(one).collect()
}

fn calls(calls: &[(&str, Value)]) -> Value {
    let calls: Vec<Value> = (1..)
        .zip(calls)
        .map(|(turn, (name, args))| json!({"name": name, "server": "desk", "args": args, "turn": turn}))
        .collect();
    json!({"tool_calls": calls, "final_response": "Done.", "stop_reason": "end_turn"})
}

fn look() -> (&'static str, Value) {
    ("search", json!({"q": "lifetimes"}))
}

fn open() -> (&'static str, Value) {
    ("open", json!({"page": "lifetimes.md"}))
}

#[test]
fn a_tool_that_is_gone_is_broken_in_three_runs_of_each_side() {
    let both = calls(&[look(), open()]);
    assert_eq!(
        told_of_three(&both, &calls(&[open()])),
        ["FAIL tool: `desk.search` is no longer called"]
    );
    assert_eq!(told_of_three(&both, &both), [""; 0]);
}

#[test]
fn below_three_runs_on_a_side_nothing_is_broken_and_the_missing_runs_are_counted() {
    let (with, without) = (calls(&[look(), open()]), calls(&[open()]));
    for (before, now, needed) in [
        (1, 1, "2 more runs on each side"),
        (2, 2, "1 more run on each side"),
        (5, 1, "2 more runs now"),
        (2, 9, "1 more run before"),
        (1, 2, "2 more runs before and 1 now"),
    ] {
        let (before, after) = (vec![with.clone(); before], vec![without.clone(); now]);
        let found = compare_test(&test(&before), &test(&after), GATES);
        assert_eq!(
            (found.verdict, found.exit_code()),
            (DifferenceClass::Undecided, 0)
        );
        let said = found.tests[0].differences[0].support_in_words().unwrap();
        assert!(
            said.ends_with(&format!("; to decide, it takes {needed}")),
            "{said}"
        );
    }
    let (three, now) = (vec![with; 3], vec![without; 3]);
    let found = compare_test(&test(&three), &test(&now), GATES);
    assert_eq!(found.tests[0].differences[0].missing_runs, None);
}

#[test]
fn a_further_tool_is_broken_when_three_runs_agree() {
    let one = calls(&[open()]);
    for tool in ["search", "delete_page"] {
        let two = calls(&[open(), (tool, json!({}))]);
        let new = format!("tool: `desk.{tool}` is now called; it was not called before");
        assert_eq!(told_of_three(&one, &two), [format!("FAIL {new}")]);
        assert_eq!(
            told(&vec![one.clone(); 3], &[two]),
            [format!("UNDECIDED {new}")]
        );
    }
}

#[test]
fn an_order_that_is_turned_round_is_broken_and_calls_of_one_turn_have_none() {
    let (there, back) = (calls(&[look(), open()]), calls(&[open(), look()]));
    assert_eq!(
        told_of_three(&there, &back),
        ["FAIL order: `desk.open` is now called before `desk.search`"]
    );
    let mut together = back;
    for call in together["tool_calls"].as_array_mut().unwrap() {
        call["turn"] = json!(1);
    }
    assert_eq!(told_of_three(&there, &together), [""; 0]);
    assert_eq!(told_of_three(&together, &there), [""; 0]);
}

/// A run that calls these tools, each in its turn.
fn in_turns(tools: &[(&str, usize)]) -> Value {
    let calls: Vec<Value> = tools
        .iter()
        .map(|(tool, turn)| json!({"name": tool, "server": "shop", "turn": turn}))
        .collect();
    json!({"tool_calls": calls, "final_response": "Done.", "stop_reason": "end_turn"})
}

#[test]
fn an_order_after_parallel_calls_is_an_invariant() {
    let before = in_turns(&[("auth", 0), ("search", 0), ("charge", 1)]);
    let now = in_turns(&[("search", 0), ("charge", 1), ("auth", 2)]);
    assert_eq!(
        told_of_three(&before, &now),
        ["FAIL order: `shop.charge` is now called before `shop.auth`"]
    );
}

#[test]
fn an_order_across_a_tool_of_varying_place_is_an_invariant() {
    let before = [
        in_turns(&[("auth", 0), ("search", 1), ("charge", 2)]),
        in_turns(&[("search", 0), ("auth", 1), ("charge", 2)]),
        in_turns(&[("auth", 0), ("charge", 1), ("search", 2)]),
    ];
    let now = vec![in_turns(&[("charge", 0), ("auth", 1), ("search", 2)]); 3];
    assert_eq!(
        told(&before, &now),
        ["FAIL order: `shop.charge` is now called before `shop.auth`"]
    );
}

#[test]
fn a_tool_that_moves_across_others_is_one_difference() {
    let before = in_turns(&[("a", 0), ("b", 1), ("c", 2), ("d", 3), ("e", 4)]);
    let to_the_front = in_turns(&[("e", 0), ("a", 1), ("b", 2), ("c", 3), ("d", 4)]);
    assert_eq!(
        told_of_three(&before, &to_the_front),
        ["FAIL order: `shop.e` is now called before `shop.d`"]
    );
    let reversed = in_turns(&[("e", 0), ("d", 1), ("c", 2), ("b", 3), ("a", 4)]);
    assert_eq!(told_of_three(&before, &reversed).len(), 4);
}

#[test]
fn any_pair_of_tools_that_is_always_ordered_before_is_missed_when_it_is_turned() {
    let tools = ["a", "b", "c", "d"];
    // Every assignment of four tools to three turns, against the one with the two tools exchanged.
    for places in 0..81_usize {
        let turn = |at: usize| places / 3_usize.pow(at as u32) % 3;
        let run = |turns: &[usize]| {
            let mut calls: Vec<(&str, usize)> =
                tools.into_iter().zip(turns.iter().copied()).collect();
            calls.sort_by_key(|(_, turn)| *turn);
            in_turns(&calls)
        };
        let turns: Vec<usize> = (0..4).map(turn).collect();
        for (one, other) in [(0, 1), (0, 3), (1, 2)] {
            let mut exchanged = turns.clone();
            exchanged.swap(one, other);
            let said = told_of_three(&run(&turns), &run(&exchanged));
            assert_eq!(
                said.iter().any(|one| one.starts_with("FAIL order")),
                turns[one] != turns[other],
                "{turns:?} {exchanged:?}: {said:?}"
            );
        }
    }
}

#[test]
fn a_name_without_a_server_is_the_tool_of_the_only_server_that_has_it() {
    let with = |tools: &[(&str, Option<&str>)]| {
        let calls: Vec<Value> = tools
            .iter()
            .map(|(name, server)| json!({"name": name, "server": server, "args": {"amount": 3}}))
            .collect();
        json!({"tool_calls": calls, "final_response": "Done.", "stop_reason": "end_turn"})
    };
    let full = with(&[("charge", Some("shop"))]);
    for other in ["charge", "shop__charge", "mcp__shop__charge"] {
        let bare = with(&[(other, None)]);
        assert_eq!(told_of_three(&full, &bare), [""; 0], "{other}");
        assert_eq!(told_of_three(&bare, &full), [""; 0], "{other}");
    }
    let of_two = with(&[("charge", Some("shop")), ("charge", Some("bank"))]);
    assert_eq!(
        told_of_three(&of_two, &with(&[("charge", None)])),
        [
            "FAIL tool: `bank.charge` is no longer called",
            "FAIL tool: `shop.charge` is no longer called",
            "FAIL tool: `charge` is now called; it was not called before",
        ]
    );
}

#[test]
fn arguments_are_compared_by_value_whatever_their_case_space_and_order() {
    let with = |args: Value| calls(&[("book", args)]);
    let before = with(json!({"city": "New York", "nights": 2, "note": "a quiet room please"}));
    let after = |args: Value| told_of_three(&before, &with(args));
    assert_eq!(
        after(json!({"city": "Boston", "nights": 2.0, "note": "a quiet room please"})),
        ["FAIL arguments: `desk.book`: `city` is no longer \"New York\", but \"Boston\""]
    );
    assert_eq!(
        after(json!({"nights": "2", "note": "a quiet room please"})),
        [
            "FAIL arguments: `desk.book`: `city` is no longer given",
            "FAIL arguments: `desk.book`: `nights` is now string, not number",
        ]
    );
    assert_eq!(
        after(
            json!({"vip": true, "note": "somewhere quiet, if you can", "nights": 2, "city": " new  york"})
        ),
        [
            "PASS arguments: `desk.book`: `city` is now written \" new  york\"; it was \"New York\"",
            "PASS arguments: `desk.book`: `note` is worded differently",
            "PASS arguments: `desk.book`: `vip` is given now",
        ]
    );
}

#[test]
fn the_response_keeps_its_shape_and_may_change_its_words() {
    let say = |text: &str| json!({"final_response": text, "stop_reason": "end_turn"});
    let before = say(r#"{"total": 3, "items": [{"sku": "a"}]}"#);
    let after = |text: &str| told_of_three(&before, &say(text));
    let reworded = "PASS response: the text of the response differs";
    assert_eq!(
        after(
            "Here it is:\n```json\n{\"items\": [{\"sku\": \"b\", \"size\": 1}], \"total\": 4.5}\n```"
        ),
        [
            "PASS response: `.items[].size` of the response is new",
            reworded
        ]
    );
    assert_eq!(
        after(r#"{"total": "3"}"#),
        [
            "FAIL response: `.items` of the response is gone",
            "FAIL response: `.total` of the response is now string, not number",
            reworded
        ]
    );
    assert_eq!(
        after("There are three."),
        ["FAIL response: the response is no longer JSON", reworded]
    );
    assert_eq!(after(" ")[0], "FAIL response: the response is empty now");
}

#[test]
fn the_reason_for_the_end_and_the_verdict_are_invariants() {
    let mut stopped = calls(&[open()]);
    stopped["stop_reason"] = json!("max_turns");
    assert_eq!(
        told_of_three(&calls(&[open()]), &stopped),
        ["FAIL finish: the run ends with max_turns, not end_turn"]
    );
    let steady = vec![calls(&[open()]); 3];
    let (before, mut after) = (test(&steady), test(&steady));
    after.runs.iter_mut().for_each(|run| run.passed = false);
    let found = compare_test(&before, &after, GATES);
    assert_eq!(
        found.tests[0].differences[0].message,
        "`expect:` no longer holds"
    );
    after.expect = "another".to_owned();
    assert_eq!(
        compare_test(&before, &after, GATES).counts.fail,
        0,
        "what is expected now is something else"
    );
}

#[test]
fn what_varied_before_is_no_invariant_and_a_part_of_the_runs_is_not_enough() {
    let (with, without) = (calls(&[look(), open()]), calls(&[open()]));
    let mixed = [with.clone(), without.clone(), with.clone()];
    assert_eq!(told(&mixed, &[without.clone(), without.clone()]), [""; 0]);
    let steady = vec![with.clone(); 3];
    assert_eq!(
        told(&steady, &[with.clone(), without.clone(), without.clone()]),
        ["UNDECIDED tool: in 2 of 3 runs `desk.search` is no longer called"]
    );
    let few: Vec<Value> = (0..12)
        .map(|at| {
            if at < 3 {
                with.clone()
            } else {
                without.clone()
            }
        })
        .collect();
    assert_eq!(
        told(&vec![with; 12], &few),
        ["FAIL tool: in 9 of 12 runs `desk.search` is no longer called"]
    );
}

#[test]
fn one_run_among_several_that_has_a_say_is_not_enough() {
    let steady = vec![calls(&[look(), open()]); 3];
    let mut now = vec![calls(&[open()]); 2];
    now.push(calls(&[open(), look()]));
    assert_eq!(
        told(&steady, &now),
        [
            "UNDECIDED tool: in 2 of 3 runs `desk.search` is no longer called",
            "UNDECIDED order: `desk.open` is now called before `desk.search`",
        ]
    );
}

/// A test with numbers of a gate in each run.
fn measured(values: &[f64]) -> TestBaseline {
    let mut test = test(&vec![calls(&[open()]); values.len()]);
    test.gates
        .insert("golden_path".to_owned(), GateBaseline::default());
    let numbers = |value: f64| {
        BTreeMap::from([(
            "golden_path.extra_steps".to_owned(),
            Some(Number::Float(value)),
        )])
    };
    test.gates.get_mut("golden_path").unwrap().numbers = numbers(0.0);
    for (run, value) in test.runs.iter_mut().zip(values) {
        run.numbers
            .insert("golden_path".to_owned(), numbers(*value));
    }
    test
}

#[test]
fn a_number_drifts_when_enough_runs_support_it() {
    let penalty = |before: &TestBaseline, after: &TestBaseline| {
        let found = compare_test(before, after, GATES);
        (
            found.exit_code(),
            found
                .numbers
                .iter()
                .find(|one| one.gate == "golden_path")
                .unwrap()
                .clone(),
        )
    };
    let (exit, number) = penalty(&measured(&[0.0; 6]), &measured(&[2.0; 6]));
    assert_eq!(
        (exit, number.class, number.is_worse()),
        (6, DifferenceClass::Drift, true)
    );
    assert_eq!(
        number.in_words(),
        "DRIFT: golden_path.extra_steps went from 0 to 2, for the worse (p = 0.002165)"
    );
    let (exit, number) = penalty(&measured(&[2.0; 6]), &measured(&[0.0; 6]));
    assert_eq!((exit, number.is_worse()), (6, false));
    let (exit, number) = penalty(&measured(&[0.0; 3]), &measured(&[2.0; 3]));
    assert_eq!(
        (exit, number.class, number.adjusted_p),
        (0, DifferenceClass::Undecided, None)
    );
    let mut other = measured(&[2.0; 6]);
    other.gates.get_mut("golden_path").unwrap().block = "another".to_owned();
    let found = compare_test(&measured(&[0.0; 6]), &other, GATES);
    assert!(
        found.numbers.iter().all(|one| one.gate == "expect"),
        "{found:?}"
    );
}

#[test]
fn a_p_value_from_a_sample_of_the_rearrangements_is_named_as_one() {
    let drawn = |runs: usize| {
        // No two sums are equal, so that they cannot be counted together.
        let values = |from: f64| -> Vec<f64> {
            (0..runs)
                .map(|at| from + (at as f64 + from).sqrt())
                .collect()
        };
        let found = compare_test(&measured(&values(0.3)), &measured(&values(9.7)), GATES);
        let number = found
            .numbers
            .into_iter()
            .find(|one| one.gate == "golden_path");
        let number = number.unwrap();
        (number.p_is_drawn, number.in_words())
    };
    let (is_drawn, words) = drawn(3);
    assert!(!is_drawn && !words.contains("drawn"), "{words}");
    let (is_drawn, words) = drawn(40);
    assert!(is_drawn, "{words}");
    assert!(
        words.contains(" from 19999 drawn rearrangements)"),
        "{words}"
    );
}

#[test]
fn tests_pair_up_over_a_whole_baseline() {
    let of = |value: f64| {
        let named = |at: usize| TestBaseline {
            name: format!("t{at}"),
            ..measured(&[value])
        };
        let (format, model) = (FORMAT.to_owned(), None);
        Baseline {
            format,
            version: VERSION,
            model,
            tests: (0..8).map(named).collect(),
        }
    };
    let found = compare((&of(0.0), "a"), (&of(1.0), "b"), GATES);
    let penalty = found
        .numbers
        .iter()
        .find(|one| one.gate == "golden_path")
        .unwrap();
    assert_eq!(
        (penalty.class, penalty.tests, penalty.values),
        (DifferenceClass::Drift, 8, 16),
        "{penalty:?}"
    );
    let mut fewer = of(0.0);
    fewer.tests.truncate(7);
    assert_eq!(
        compare((&of(0.0), "a"), (&fewer, "b"), GATES).only_before,
        [" · t7"]
    );
}

#[test]
fn another_question_is_not_compared() {
    let other = TestBaseline {
        question: "another".to_owned(),
        ..measured(&[0.0])
    };
    let found = compare_test(&measured(&[0.0]), &other, GATES);
    assert_eq!(
        (
            found.exit_code(),
            found.counts.not_compared,
            found.numbers.len()
        ),
        (2, 1, 0)
    );
}

#[test]
fn a_baseline_is_read_back_to_the_byte_and_anything_else_is_refused() {
    let tests = vec![measured(&[0.5, 1.0])];
    let baseline = Baseline {
        format: FORMAT.to_owned(),
        version: VERSION,
        model: Some("m".to_owned()),
        tests,
    };
    let text = baseline.to_text();
    assert_eq!(Baseline::read(text.as_bytes()).unwrap().to_text(), text);
    assert!(Baseline::is_one(text.as_bytes()) && !Baseline::is_one(b"{}"));
    let refused = |text: &str| Baseline::read(text.as_bytes()).unwrap_err().to_string();
    assert!(refused(&text.replace("\"version\": 1", "\"version\": 2")).contains("has version 2"));
    assert!(
        refused(&text.replace("\"version\": 1", "\"version\": \"1\""))
            .contains("has version \"1\"")
    );
    assert!(refused(&text[..text.len() / 2]).contains("cut off"));
    assert!(refused(&text.replace("\"passed\"", "\"past\"")).contains("is broken"));
    assert!(refused("{\"format\": \"other\"}").contains("another program's file"));
    assert!(refused("").contains("empty"));
}
