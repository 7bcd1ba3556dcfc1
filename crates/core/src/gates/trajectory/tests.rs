//! The modes in suites and in the library, the sentences of a failure, and laws that both keep.

use super::reference::MatchMode;
use super::*;
use crate::engine::Gates;
use crate::engine::scores::Scores;
use crate::problem::{Level, Problem};
use crate::report::{CallRow, CallShown, Finding};
use crate::suite::read::{Field, Reading};
use crate::suite::variables::Scope;
use crate::trace::Trace;
use proptest::prelude::*;
use serde_json::{Value, json};
use trace_validation::{ExpectedArgs, ExpectedCall, ExpectedTrace, validate_trace};

fn read(yaml: &str) -> Result<TrajectoryBlock, Vec<String>> {
    match read_leniently(yaml) {
        (block, problems) if problems.is_empty() => Ok(block),
        (_, problems) => Err(problems),
    }
}

fn read_leniently(yaml: &str) -> (TrajectoryBlock, Vec<String>) {
    let (block, problems) = read_with_problems(yaml);
    (
        block,
        problems
            .into_iter()
            .map(|problem| problem.message)
            .collect(),
    )
}

fn read_with_problems(yaml: &str) -> (TrajectoryBlock, Vec<Problem>) {
    let mut problems = Vec::new();
    let node = crate::yaml::parse(yaml, 0, &mut problems).unwrap();
    let reading = Reading::new(Scope::default(), &|_| None, Gates::default());
    let block = Field::new(&reading, &node)
        .block(TrajectoryBlock::read)
        .unwrap();
    (block, reading.into_problems())
}

/// Calls written as a name, or as `[name, args]`.
fn calls(written: &Value) -> Vec<Value> {
    let call = |call: &Value| match call {
        Value::Array(parts) => json!({ "name": parts[0], "args": parts[1] }),
        name => json!({ "name": name }),
    };
    written.as_array().unwrap().iter().map(call).collect()
}

fn run(block: &TrajectoryBlock, calls: &[Value]) -> Scores {
    let text = json!({ "tool_calls": calls }).to_string();
    let trace = Trace::read(&text).unwrap();
    block.score(&[Run::new(&trace)])
}

fn count(scores: &Scores) -> usize {
    let count = scores.value("trajectory.mismatch_count").unwrap().as_f64() as usize;
    assert_eq!(
        scores.value("trajectory.passed").unwrap().as_f64() > 0.5,
        count == 0
    );
    count
}

fn sentences(yaml: &str, written: &Value) -> Vec<String> {
    let scores = run(&read(yaml).unwrap(), &calls(written));
    scores
        .findings
        .into_iter()
        .map(|finding: Finding| finding.message)
        .collect()
}

#[test]
fn a_block_is_read_with_every_shape() {
    let block = read(
        "mode: exact-sequence\ncalls: [open, {name: a, args: ignore}, {name: b, args: {exact: {x: 1}}},\n\
         {name: c, args: {subset: {x: 1}}}, {name: d, args: {schema: {type: object}}},\n\
         {name: e, args: {one_of: [any, {exact: 1}]}}]",
    )
    .unwrap();
    assert_eq!(
        (block.reference.mode, block.reference.calls.len()),
        (MatchMode::Strict, 6)
    );
}

#[test]
fn what_is_wrong_with_a_block_is_said_together() {
    let problems = read(
        "mode: ordered\ncalls: [{name: a, args: {schema: {type: 12}, exact: 1}}, {args: all}, 7]",
    )
    .err()
    .unwrap()
    .join("\n");
    for part in [
        "`ordered` is not a mode",
        "not a JSON Schema",
        "cannot be used together",
        "`name` is missing",
        "`all`",
    ] {
        assert!(problems.contains(part), "{part}: {problems}");
    }
    assert_eq!(read("calls: []").err().unwrap(), ["`mode` is missing here"]);
    assert_eq!(
        read("mode: strict").err().unwrap(),
        ["`calls` is missing here"]
    );
    let empty = read("mode: strict\ncalls: [{name: a, args: {one_of: []}}, {name: b, args: {}}]");
    assert_eq!(
        empty.err().unwrap(),
        [
            "`one_of` needs at least one shape",
            "an argument shape is missing here"
        ]
    );
}

#[test]
fn every_key_is_described_for_editors() {
    let schema = Reading::new(Scope::default(), &|_| None, Gates::default())
        .describe(|field| field.block(TrajectoryBlock::read));
    assert_eq!(schema["required"], json!(["mode", "calls"]));
    let validator = crate::schema::JsonSchema::compile(&schema).unwrap();
    let with_args =
        |args: Value| json!({"mode": "subset", "calls": ["a", {"name": "b", "args": args}]});
    for args in [
        json!("any"),
        json!({"exact": null}),
        json!({"one_of": [{"subset": {}}, "ignore"]}),
    ] {
        assert!(validator.is_valid(&with_args(args.clone())), "{args}");
    }
    for args in [
        json!("all"),
        json!({}),
        json!({"one_of": []}),
        json!({"exact": 1, "subset": 1}),
    ] {
        assert!(!validator.is_valid(&with_args(args.clone())), "{args}");
    }
}

#[test]
fn an_empty_reference_accepts_anything_unless_it_is_an_upper_bound() {
    let facts = AgentFacts {
        runs: 1,
        ..AgentFacts::default()
    };
    for mode in ["strict", "subsequence", "unordered", "superset"] {
        let block = read(&format!("mode: {mode}\ncalls: []")).unwrap();
        let scores = run(&block, &calls(&json!(["a"])));
        assert_eq!(
            (count(&scores), scores.not_exercised.is_some()),
            (0, true),
            "{mode}"
        );
        assert_eq!(block.lint(&facts)[0].level, Level::Warning);
    }
    let (unreadable, problems) = read_leniently("mode: strict\ncalls: [{nam: a}]");
    assert_eq!((unreadable.lint(&facts).len(), problems.len()), (0, 1));
    let nothing_allowed = read("mode: subset\ncalls: []").unwrap();
    assert!(nothing_allowed.lint(&facts).is_empty());
    assert_eq!(count(&run(&nothing_allowed, &calls(&json!(["a"])))), 1);
    let quiet = run(&nothing_allowed, &[]);
    assert_eq!((count(&quiet), quiet.not_exercised), (0, None));
}

#[test]
fn a_run_without_calls_is_marked() {
    let scores = run(&read("mode: subset\ncalls: [a]").unwrap(), &[]);
    assert_eq!(
        (count(&scores), scores.not_exercised.unwrap().as_str()),
        (0, "the run made no calls")
    );
    assert!(
        run(&read("mode: strict\ncalls: [a]").unwrap(), &[])
            .not_exercised
            .is_some()
    );
}

#[test]
fn a_slip_in_among_is_marked_where_no_catalogue_tells_it() {
    let slip = "mode: strict\namong: [create_issue, delete_repos]\ncalls: [create_issue]";
    let scores = run(
        &read(slip).unwrap(),
        &calls(&json!(["create_issue", "delete_repo"])),
    );
    assert_eq!(count(&scores), 0);
    assert_eq!(
        scores.not_exercised.as_deref(),
        Some(
            "no call is to `delete_repos` of `among`, but call 2 is to `delete_repo`; did you mean this tool?"
        )
    );
    let both = "mode: strict\namong: [create_issue, create_issues]\ncalls: [create_issue]";
    for (among, called) in [(slip, "delete_branch"), (both, "create_issue")] {
        let made = json!(["create_issue", called]);
        let scores = run(&read(among).unwrap(), &calls(&made));
        assert_eq!(scores.not_exercised, None, "{among}: {called}");
    }
}

#[test]
fn tools_are_named_bare_or_with_their_server() {
    let recorded = [
        json!({"name": "find", "server": "docs"}),
        json!({"name": "find", "server": "web"}),
    ];
    let mismatches = |names: &str| {
        count(&run(
            &read(&format!("mode: unordered\ncalls: [{names}]")).unwrap(),
            &recorded,
        ))
    };
    assert_eq!(mismatches("find, docs.find"), 0);
    assert_eq!(mismatches("web__find, docs__find"), 0);
    assert_eq!(mismatches("web.find, web.find"), 1);
    assert_eq!(mismatches("mail.find"), 1);
    let strict = read("mode: strict\ncalls: [web.find, web.find]").unwrap();
    let findings = run(&strict, &recorded).findings;
    assert_eq!(
        findings[0].message,
        "call 1 is `docs.find`, expected `web.find`"
    );
    assert_eq!(findings[0].diff[0].pointer, "/name");
}

#[test]
fn arguments_that_are_not_json_satisfy_only_any() {
    let recorded = [
        json!({"name": "f", "args_text": "{x: "}),
        json!({"name": "f", "args": {"x": 1}}),
    ];
    for (shape, wanted) in [
        ("any", 0),
        ("{subset: {}}", 1),
        ("{schema: true}", 1),
        ("{one_of: [{exact: 1}, any]}", 0),
    ] {
        let block = read(&format!(
            "mode: strict\ncalls: [{{name: f, args: {shape}}}, f]"
        ))
        .unwrap();
        assert_eq!(count(&run(&block, &recorded)), wanted, "{shape}");
        let both = [recorded[1].clone(), recorded[0].clone()];
        let unordered = format!("mode: unordered\ncalls: [{{name: f, args: {shape}}}, f]");
        assert_eq!(count(&run(&read(&unordered).unwrap(), &both)), 0, "{shape}");
    }
}

#[test]
fn a_strict_failure_is_aligned() {
    let yaml =
        "mode: strict\ncalls: [login, open, {name: search, args: {subset: {q: rust}}}, close]";
    let recorded = json!(["login", ["search", {"q": "rst"}], "close", "log"]);
    assert_eq!(count(&run(&read(yaml).unwrap(), &calls(&recorded))), 3);
    assert_eq!(
        sentences(yaml, &recorded),
        [
            "expected call 2 `open` is missing",
            "call 2 `search` has `q: \"rst\"`, expected `rust` (expected call 3)",
            "call 4 `log` is extra",
        ]
    );
    assert_eq!(
        sentences("mode: strict\ncalls: [a]", &json!(["b"])),
        ["call 1 is `b`, expected `a`"]
    );
}

#[test]
fn a_failed_subsequence_says_what_is_missing_and_not_what_is_extra() {
    let yaml = "mode: subsequence\ncalls: [c, {name: a, args: {exact: {x: 1}}}, b]";
    assert_eq!(
        sentences(yaml, &json!(["z", ["a", {"x": 1}], "y", "b", "c"])),
        ["expected call 1 `c` is missing: call 5 `c` comes too late"]
    );
    assert_eq!(
        sentences(
            yaml,
            &json!(["c", ["a", {"x": 5, "y": 1}], ["a", {"x": 2}], "b"])
        ),
        ["call 3 `a` has `x: 2`, expected `1` (expected call 2)"]
    );
    assert_eq!(
        sentences(yaml, &json!([["a", {"x": 1}], "c", "b"])),
        ["expected call 2 `a` {x: 1} is missing: call 1 `a` comes too early"]
    );
    assert_eq!(
        sentences("mode: subsequence\ncalls: [a, a]", &json!(["a"])),
        ["expected call 2 `a` is missing"]
    );
}

#[test]
fn calls_that_need_the_same_call_are_named_together() {
    let yaml = "mode: unordered\ncalls: [f, {name: f, args: {exact: {x: 1}}}, g]";
    assert_eq!(
        sentences(yaml, &json!(["g", "z", ["f", {"x": 1}]])),
        ["expected calls 1 `f` and 2 `f` {x: 1} both need recorded call 3 `f`"]
    );
    let many = "mode: superset\ncalls: [f, f, f, g]";
    assert_eq!(
        sentences(many, &json!(["f", "g", "f"])),
        [
            "expected calls 1 `f`, 2 `f` and 3 `f` need 3 calls, but only 2 fit: recorded calls 1 `f` and 3 `f`"
        ]
    );
    assert_eq!(
        sentences("mode: subset\ncalls: [a]", &json!(["a", "a", "z"])),
        [
            "call 3 `z` is not among the expected calls",
            "calls 1 `a` and 2 `a` both need expected call 1 `a`"
        ]
    );
}

#[test]
fn an_unmatched_call_is_held_against_the_nearest_one() {
    let yaml = "mode: unordered\ncalls: [{name: s, args: {exact: {q: a, n: 1}}}, {name: s, args: {exact: {q: b, n: 2}}}]";
    let recorded = calls(
        &json!([["s", {"q": "x", "n": 9}], ["s", {"q": "b", "n": 3}], ["s", {"q": "a", "n": 1}]]),
    );
    let findings = run(&read(yaml).unwrap(), &recorded).findings;
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].message, "call 2 `s` has `n: 3`, expected `2`");
    assert_eq!(
        (
            findings[0].diff[0].pointer.as_str(),
            &findings[0].diff[0].actual
        ),
        ("/args/n", &json!(3))
    );
    assert_eq!(
        sentences(
            "mode: subset\ncalls: [z, {name: s, args: {subset: {q: a}}}]",
            &json!([["s", {"q": "b"}]])
        ),
        ["call 1 `s` has `q: \"b\"`, expected `a` (expected call 2)"]
    );
}

#[test]
fn long_explanations_end_with_how_much_is_left() {
    let names: Vec<String> = (0..50).map(|n| format!("t{n}")).collect();
    for mode in ["strict", "subsequence", "unordered"] {
        let said = sentences(
            &format!("mode: {mode}\ncalls: [{}]", names.join(", ")),
            &json!([]),
        );
        assert_eq!(
            (said.len(), said[20].as_str()),
            (21, "and 30 more"),
            "{mode}"
        );
    }
    let recorded: Vec<String> = (0..3000).map(|n| format!("r{n}")).collect();
    let expected: Vec<String> = (0..3000).map(|n| format!("e{n}")).collect();
    let said = sentences(
        &format!("mode: strict\ncalls: [{}]", expected.join(", ")),
        &json!(recorded),
    );
    assert_eq!(said[0], "call 1 is `r0`, expected `e0`");
    assert!(
        said[1].starts_with("expected calls 1 to 3000 and calls 1 to 3000 have too little"),
        "{said:?}"
    );
}

#[test]
fn the_library_names_both_indices() {
    let by_name = |names: &[&str]| {
        names
            .iter()
            .map(|name| ExpectedCall::by_name(*name))
            .collect::<Vec<_>>()
    };
    let strict = validate_trace(
        &calls(&json!(["a", "x"])),
        &ExpectedTrace::strict(by_name(&["a", "b", "c"])),
    );
    let mismatches = strict.unwrap().mismatches;
    assert_eq!(
        (mismatches[0].expected_index, mismatches[0].recorded_index),
        (1, Some(1))
    );
    assert_eq!(mismatches[0].diffs[0].pointer, "/name");
    assert_eq!(
        (mismatches[1].expected_index, mismatches[1].recorded_index),
        (2, None)
    );
    let extra = validate_trace(
        &calls(&json!(["a", "b"])),
        &ExpectedTrace::exact_sequence(by_name(&["a"])),
    );
    let mismatch = &extra.unwrap().mismatches[0];
    assert_eq!(
        (mismatch.expected_index, mismatch.recorded_index),
        (1, Some(1))
    );
    let over = validate_trace(
        &calls(&json!(["a", "a"])),
        &ExpectedTrace::subset(by_name(&["a"])),
    )
    .unwrap();
    assert_eq!(
        over.mismatches[0].reason,
        "call 2 `a` exceeds the number of expected calls"
    );
}

#[test]
fn a_malformed_schema_is_an_error_even_where_nothing_reaches_it() {
    let args = ExpectedArgs::OneOf(vec![
        ExpectedArgs::Any,
        ExpectedArgs::Schema(json!({"type": 12})),
    ]);
    let expected = vec![
        ExpectedCall::by_name("a"),
        ExpectedCall {
            name: "b".into(),
            args,
        },
    ];
    let problem = validate_trace(&[], &ExpectedTrace::subset(expected)).unwrap_err();
    assert_eq!(problem.expected_index, 1);
    assert!(
        problem
            .to_string()
            .starts_with("expected call 2 `b` has a malformed JSON Schema: ")
    );
}

#[test]
fn calls_are_found_in_cassettes_and_envelopes() {
    use trace_validation::tool_calls_from_envelope;
    let calls = json!([{"name": "a"}]);
    assert_eq!(
        tool_calls_from_envelope(&json!({"trace": {"tool_calls": calls}, "tool_calls": []})).len(),
        1
    );
    assert_eq!(
        tool_calls_from_envelope(&json!({"tool_calls": calls})).len(),
        1
    );
    assert!(tool_calls_from_envelope(&json!({"trace": {}})).is_empty());
}

fn any_args() -> impl Strategy<Value = Value> {
    (0_u8..3, 0_u8..3).prop_map(|(a, b)| json!({"a": a, "b": [b, {"c": a}]}))
}

fn any_shape() -> impl Strategy<Value = ExpectedArgs> {
    let leaf = prop_oneof![
        Just(ExpectedArgs::Any),
        Just(ExpectedArgs::Ignore),
        any_args().prop_map(ExpectedArgs::Exact),
        any_args().prop_map(ExpectedArgs::ExactBags),
        (0_u8..3).prop_map(|a| ExpectedArgs::Subset(json!({"a": a}))),
        (0_u8..3).prop_map(|b| ExpectedArgs::Subset(json!({"b": [b]}))),
        (0_u8..3).prop_map(|a| ExpectedArgs::Schema(json!({"properties": {"a": {"minimum": a}}}))),
    ];
    prop_oneof![4 => leaf.clone(), 1 => prop::collection::vec(leaf, 1..3).prop_map(ExpectedArgs::OneOf)]
}

fn any_reference() -> impl Strategy<Value = Vec<ExpectedCall>> {
    let call = ("[fg]", any_shape()).prop_map(|(name, args)| ExpectedCall { name, args });
    prop::collection::vec(call, 0..6)
}

fn any_run() -> impl Strategy<Value = Vec<Value>> {
    let call = ("[fgh]", any_args()).prop_map(|(name, args)| json!({"name": name, "args": args}));
    prop::collection::vec(call, 0..7)
}

fn any_mode() -> impl Strategy<Value = MatchMode> {
    prop_oneof![
        Just(MatchMode::Strict),
        Just(MatchMode::Subsequence),
        Just(MatchMode::Unordered),
        Just(MatchMode::Superset),
        Just(MatchMode::Subset),
        Just(MatchMode::Set),
    ]
}

fn mismatches(mode: MatchMode, reference: &[ExpectedCall], run: &[Value]) -> usize {
    let expected = ExpectedTrace {
        mode,
        calls: reference.to_vec(),
    };
    let validation = validate_trace(run, &expected).unwrap();
    assert_eq!(validation.passed, validation.mismatches.is_empty());
    validation.mismatches.len()
}

/// Returns true if one expected call matches one recorded call, tested only through the library's
/// strict mode.
fn fits(expected: &ExpectedCall, recorded: &Value) -> bool {
    mismatches(
        MatchMode::Strict,
        std::slice::from_ref(expected),
        std::slice::from_ref(recorded),
    ) == 0
}

/// The rules written out plainly.
fn mismatches_plainly(mode: MatchMode, reference: &[ExpectedCall], run: &[Value]) -> usize {
    if reference.is_empty() && !matches!(mode, MatchMode::Subset | MatchMode::Set) {
        return 0;
    }
    match mode {
        MatchMode::Strict => (0..reference.len().max(run.len()))
            .filter(|&at| {
                !reference
                    .get(at)
                    .zip(run.get(at))
                    .is_some_and(|(call, made)| fits(call, made))
            })
            .count(),
        MatchMode::Subsequence => reference.len() - longest_in_order(reference, run),
        MatchMode::Unordered | MatchMode::Superset => reference.len() - most_pairs(reference, run),
        MatchMode::Subset => run.len() - most_pairs(reference, run),
        MatchMode::Set => reference.len().max(run.len()) - most_pairs(reference, run),
    }
}

fn longest_in_order(reference: &[ExpectedCall], run: &[Value]) -> usize {
    let (Some((call, calls)), Some((made, later))) = (reference.split_first(), run.split_first())
    else {
        return 0;
    };
    let paired = if fits(call, made) {
        1 + longest_in_order(calls, later)
    } else {
        0
    };
    paired
        .max(longest_in_order(calls, run))
        .max(longest_in_order(reference, later))
}

fn most_pairs(reference: &[ExpectedCall], run: &[Value]) -> usize {
    let Some((call, calls)) = reference.split_first() else {
        return 0;
    };
    let with = (0..run.len()).filter(|&at| fits(call, &run[at])).map(|at| {
        let rest: Vec<Value> = [&run[..at], &run[at + 1..]].concat();
        1 + most_pairs(calls, &rest)
    });
    with.max().unwrap_or(0).max(most_pairs(calls, run))
}

/// The call with reordered keys and respelled numbers.
fn respelled(call: &Value) -> String {
    let args = &call["args"];
    let (a, b) = (&args["a"], &args["b"][0]);
    format!(
        r#"{{"args":{{"b":[{b}.0,{{"c":{a}e0}}],"a":{a}.00}},"name":{}}}"#,
        call["name"]
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn the_count_is_that_of_the_plain_rules(mode in any_mode(), reference in any_reference(), run in any_run()) {
        prop_assert_eq!(mismatches(mode, &reference, &run), mismatches_plainly(mode, &reference, &run));
    }

    #[test]
    fn the_order_of_an_unordered_reference_does_not_matter(
        reference in any_reference().prop_shuffle(), run in any_run(),
    ) {
        let mut sorted = reference.clone();
        sorted.sort_by_key(|call| format!("{call:?}"));
        for mode in
            [MatchMode::Unordered, MatchMode::Superset, MatchMode::Subset, MatchMode::Set]
        {
            prop_assert_eq!(mismatches(mode, &reference, &run), mismatches(mode, &sorted, &run));
        }
    }

    #[test]
    fn unordered_and_superset_agree(reference in any_reference(), run in any_run()) {
        prop_assert_eq!(
            mismatches(MatchMode::Unordered, &reference, &run),
            mismatches(MatchMode::Superset, &reference, &run)
        );
    }

    #[test]
    fn expecting_less_of_a_subsequence_never_fails_it(
        reference in any_reference(), run in any_run(), drop in any::<prop::sample::Index>(),
    ) {
        prop_assume!(!reference.is_empty());
        let mut less = reference.clone();
        less.remove(drop.index(reference.len()));
        let (before, after) =
            [&reference, &less].map(|calls| mismatches(MatchMode::Subsequence, calls, &run)).into();
        prop_assert!(after <= before);
    }

    #[test]
    fn both_doors_agree_and_the_spelling_of_arguments_does_not_matter(
        mode in any_mode(), reference in any_reference(), run in any_run(),
    ) {
        let text = format!(r#"{{"tool_calls":[{}]}}"#, run.iter().map(respelled).collect::<Vec<_>>().join(","));
        let trace = Trace::read(&text).unwrap();
        let compiled = trace_validation::compile(&ExpectedTrace { mode, calls: reference.clone() }).unwrap();
        let scores = TrajectoryBlock { reference: compiled, among: None, successful: None }
            .score(&[Run::new(&trace)]);
        let count = count(&scores);
        prop_assert_eq!(count, mismatches(mode, &reference, &run));
        prop_assert_eq!(count == 0, scores.findings.is_empty());
    }
}

/// The rows of a table, each as `how expected recorded`.
fn rows(yaml: &str, written: &Value) -> Vec<String> {
    let scores = run(&read(yaml).unwrap(), &calls(written));
    let call = |shown: &Option<CallShown>| {
        shown.as_ref().map_or("none".to_owned(), |call| {
            format!("{}{}", call.number, call.tool)
        })
    };
    let row = |row: &CallRow| match row.count {
        Some(count) => format!("{count} matched"),
        None => format!(
            "{:?} {} {}",
            row.how,
            call(&row.expected),
            call(&row.recorded)
        ),
    };
    scores
        .tables
        .iter()
        .flat_map(|table| &table.rows)
        .map(row)
        .collect()
}

#[test]
fn a_table_folds_what_matches_and_keeps_what_stands_beside_a_change() {
    let expected: Vec<String> = (0..12)
        .map(|_| "a".to_owned())
        .chain(["b".to_owned()])
        .collect();
    let yaml = format!("mode: strict\ncalls: [{}]", expected.join(", "));
    let mut recorded = expected;
    recorded[6] = "z".to_owned();
    recorded.pop();
    let folded = [
        "5 matched",
        "Matched 6a 6a",
        "Changed 7a 7z",
        "Matched 8a 8a",
        "3 matched",
        "Matched 12a 12a",
    ];
    let shown = rows(&yaml, &json!(recorded));
    assert_eq!(shown[..6], folded);
    assert_eq!(shown[6..], ["Missing 13b none"]);
}

#[test]
fn a_table_shows_calls_in_another_place() {
    let both = ["Swapped 1open 2open", "Swapped 2search 1search"];
    assert_eq!(
        rows(
            "mode: strict\ncalls: [open, search]",
            &json!(["search", "open"])
        ),
        both
    );
    let late = ["Matched 1search 2search", "Swapped 2open 1open"];
    assert_eq!(
        rows(
            "mode: subsequence\ncalls: [search, open]",
            &json!(["open", "search"])
        ),
        late
    );
    let more = ["Matched 1a 1a", "Extra none 2b"];
    assert_eq!(rows("mode: subset\ncalls: [a]", &json!(["a", "b"])), more);
}

#[test]
fn a_set_is_exactly_the_expected_calls_in_any_order() {
    let yaml = "mode: set\ncalls: [search, {name: open, args: {exact: {id: 1}}}]";
    for right in [
        json!(["search", ["open", {"id": 1}]]),
        json!([["open", {"id": 1}], "search"]),
    ] {
        assert_eq!(sentences(yaml, &right), Vec::<String>::new());
    }
    assert_eq!(
        sentences(yaml, &json!([["open", {"id": 1}], "search", "search"])),
        ["call 3 `search` is extra"]
    );
    assert_eq!(
        sentences(yaml, &json!([["open", {"id": 1}]])),
        ["expected call 1 `search` is missing"]
    );
    assert_eq!(
        sentences(yaml, &json!([["open", {"id": 2}], "search"])),
        ["call 1 `open` has `id: 2`, expected `1` (expected call 2)"]
    );
    assert_eq!(
        sentences(yaml, &json!([["open", {"id": 1}], "close"])),
        ["expected call 1 `search` is missing, and call 2 `close` is extra"]
    );
    assert_eq!(
        rows(yaml, &json!([["open", {"id": 2}], "close"])),
        [
            "Missing 1search none",
            "Changed 2open 1open",
            "Extra none 2close"
        ]
    );
}

#[test]
fn an_empty_set_allows_no_calls() {
    let none = read("mode: set\ncalls: []").unwrap();
    assert_eq!(
        sentences("mode: set\ncalls: []", &json!(["a"])),
        ["call 1 `a` is extra"]
    );
    let idle = run(&none, &calls(&json!([])));
    assert_eq!((count(&idle), idle.not_exercised), (0, None));
}

#[test]
fn exact_arguments_may_have_their_lists_in_any_order() {
    let yaml = "mode: set\ncalls: [{name: f, args: {exact: {ids: [1, 2, 2], in: [{a: [x, y]}]}, lists: any-order}}]";
    let found = |args: Value| sentences(yaml, &json!([["f", args]]));
    assert_eq!(
        found(json!({"ids": [2, 1, 2], "in": [{"a": ["y", "x"]}]})),
        Vec::<String>::new()
    );
    for wrong in [
        json!({"ids": [2, 1], "in": [{"a": ["y", "x"]}]}),
        json!({"ids": [2, 1, 1], "in": [{"a": ["y", "x"]}]}),
        json!({"ids": [2, 1, 2], "in": [{"a": ["y", "x"]}], "more": 1}),
    ] {
        assert_eq!(found(wrong.clone()).len(), 1, "{wrong}");
    }
    assert_eq!(
        found(json!({"ids": [2, 3, 1, 2], "in": [{"a": ["y", "x"]}]})),
        ["call 1 `f` has `ids[1]: 3`, expected none"]
    );
    let alone =
        read_leniently("mode: set\ncalls: [{name: f, args: {subset: {}, lists: any-order}}]").1;
    assert!(alone[0].contains("has no `exact`"), "{alone:?}");
}

#[test]
fn calls_that_compete_have_sentences_and_no_table() {
    assert!(rows("mode: unordered\ncalls: [f, f]", &json!(["f"])).is_empty());
}

#[test]
fn arguments_without_a_shape_are_answered_with_the_line_to_write() {
    let refused = |args: &str| {
        let yaml = format!("mode: strict\ncalls: [{{name: a, args: {args}}}]");
        let (_, problems) = read_with_problems(&yaml);
        problems
            .into_iter()
            .map(|problem| (problem.message, problem.help.unwrap_or_default()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        refused("{order_id: A-17, \"odd key\": [1]}"),
        [(
            "`args` does not say how to compare these arguments".to_owned(),
            "write `args: { subset: {\"odd key\": [1], order_id: \"A-17\"} }` to allow further arguments, or with `exact:` to allow \
             none"
                .to_owned()
        )]
    );
    let long = format!("{{text: {}}}", "x".repeat(500));
    assert!(
        refused(&long)[0]
            .1
            .starts_with("write them under `subset:`")
    );
    assert_eq!(refused("{subst: {a: 1}}")[0].0, "unknown key `subst`");
}
