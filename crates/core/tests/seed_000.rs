//! A walk through the document on reliability and trace metrics: its suites, its tables and its
//! numbers.
//!
//! Elsewhere: the two suites of stability are in `seed_002`, and the functions of trace validation
//! in `seed_003`. Commands (`mcptest mock --fault`, recording, the examples, the pages it refers
//! to, exit codes) are in `cli/tests/seeds.rs`.
//!
//! Not run: prose, links to papers and figures quoted from them. Differences from the document, as
//! documented on the gates' pages: the reliability summary is a block; `stability:` and
//! `narrative:` count by premises and by evidence (`premises: none` and `extraction: literal` are
//! the document's rules, and are tested here); arguments are equal by value.

mod walk;

use mcptest_core::eval::recovery::{RecoveryLimits, RecoveryMarks, score_recovery};
use mcptest_core::eval::reliability::{confidence_band, recommend_runs, summarize};
use mcptest_core::eval::{Extraction, Narrative, score_narrative};
use serde_json::{Value, json};

const PLAN: &str = "
agents:
  - name: trajectory pins the call plan
    model: claude-sonnet-4-5
    servers: [search]
    runs: 3
    prompt: What is the weather in Sacramento?
    trajectory:
      mode: subsequence
      calls:
        - name: get_weather
          args:
            subset: { city: Sacramento }
    golden_path:
      calls: [get_weather]
    trajectory_axes:
      # fetch_page must run after the search that produced its URL.
      dependencies:
        - producer: search
          consumer: fetch_page
      # authentication must precede any search.
      order:
        - first: authenticate
          second: search
";

#[test]
fn three_gates_judge_the_same_recorded_runs() {
    let suite = walk::suite(&["search"], PLAN);
    let weather = walk::trace(&[("get_weather", json!({"city": "Sacramento", "units": "F"}))]);
    let gates = walk::gates(&suite, &vec![weather.clone(); 3]);
    assert!(
        gates
            .iter()
            .all(|gate| gate.status == mcptest_core::report::Status::Passed)
    );
    let unauthenticated = walk::trace(&[
        ("get_weather", json!({"city": "Sacramento"})),
        ("search", json!({})),
        ("fetch_page", json!({})),
    ]);
    let gates = walk::gates(&suite, &[weather.clone(), weather, unauthenticated]);
    assert!(
        walk::passes(&gates, "trajectory"),
        "other calls may stand between"
    );
    assert!(
        !walk::passes(&gates, "golden_path"),
        "two calls beyond the path"
    );
    assert_eq!(walk::value(&gates, "trajectory.order_satisfaction"), 0.0);
    assert_eq!(
        walk::value(&gates, "trajectory.dependency_satisfaction"),
        100.0
    );
}

#[test]
fn an_empty_axis_scores_a_hundred() {
    let only_order = "
agents:
  - name: order only
    model: claude-sonnet-4-5
    servers: [search]
    prompt: Search.
    trajectory_axes:
      order: [{ first: authenticate, second: search }]
";
    let gates = walk::gates(
        &walk::suite(&["search"], only_order),
        &[walk::trace(&[("log", json!({}))])],
    );
    assert_eq!(
        walk::value(&gates, "trajectory.dependency_satisfaction"),
        100.0
    );
    assert!(walk::passes(&gates, "trajectory_axes"));
}

fn with_gate(gate: &str) -> String {
    let agent = "agents:\n  - { name: walk, model: claude-sonnet-4-5, servers: [search], prompt: Search., runs: 2,";
    format!("{agent} {gate} }}\n")
}

/// The gates of a block over two equal runs.
fn judged(gate: &str, trace: &Value) -> Vec<mcptest_core::report::GateReport> {
    walk::gates(
        &walk::suite(&["search"], &with_gate(gate)),
        &[trace.clone(), trace.clone()],
    )
}

fn named(names: &[&str]) -> Value {
    walk::trace(
        &names
            .iter()
            .map(|name| (*name, json!({})))
            .collect::<Vec<_>>(),
    )
}

#[test]
fn each_shape_of_arguments_is_what_its_row_of_the_table_says() {
    let given = json!({ "city": "Sacramento", "days": [1, 2, 3] });
    for (shape, holds) in [
        ("any", true),
        ("ignore", true),
        ("exact: { days: [1, 2, 3], city: Sacramento }", true),
        ("exact: { city: Sacramento }", false),
        ("subset: { days: [3, 1] }", true),
        ("subset: { days: [3, 3] }", false),
        ("schema: { required: [city] }", true),
        ("schema: { required: [country] }", false),
    ] {
        let args = if shape.contains(':') {
            format!("{{ {shape} }}")
        } else {
            shape.to_owned()
        };
        let gate = format!("trajectory: {{ mode: strict, calls: [{{ name: f, args: {args} }}] }}");
        let gates = judged(&gate, &walk::trace(&[("f", given.clone())]));
        assert_eq!(walk::passes(&gates, "trajectory"), holds, "{shape}");
        assert_eq!(
            walk::value(&gates, "trajectory.passed"),
            f64::from(u8::from(holds)),
            "{shape}"
        );
        assert_eq!(
            walk::value(&gates, "trajectory.mismatch_count") == 0.0,
            holds,
            "{shape}"
        );
    }
    let malformed = with_gate(
        "trajectory: { mode: strict, calls: [{ name: f, args: { schema: { type: 12 } } }] }",
    );
    let refused = walk::refused(&format!(
        "servers: {{ search: {{ command: [s] }} }}\n{malformed}"
    ));
    assert!(
        !refused.is_empty(),
        "a malformed schema is an error, not a silent pass"
    );
}

#[test]
fn a_call_is_named_without_the_prefix_of_its_server() {
    let mut call = named(&["get_weather"]);
    call["tool_calls"][0]["server"] = json!("search");
    let gate = |name: &str| format!("trajectory: {{ mode: strict, calls: [{name}] }}");
    assert!(walk::passes(
        &judged(&gate("get_weather"), &call),
        "trajectory"
    ));
}

#[test]
fn each_mode_is_what_the_list_says_and_only_subset_forbids_by_saying_nothing() {
    let recorded = named(&["a", "x", "b"]);
    for (mode, calls, holds) in [
        ("strict", "[a, x, b]", true),
        ("strict", "[a, x]", false),
        ("exact-sequence", "[a, x, b]", true),
        ("exact-sequence", "[b, x, a]", false),
        ("exact_sequence", "[a, b]", false),
        ("subsequence", "[a, b]", true),
        ("subsequence", "[b, a]", false),
        ("unordered", "[b, a]", true),
        ("unordered", "[a, a]", false),
        ("superset", "[b, a]", true),
        ("superset", "[a, c]", false),
        ("subset", "[b, x, a, more]", true),
        ("subset", "[a, b]", false),
        ("strict", "[]", true),
        ("subsequence", "[]", true),
        ("unordered", "[]", true),
        ("superset", "[]", true),
        ("subset", "[]", false),
    ] {
        let gates = judged(
            &format!("trajectory: {{ mode: {mode}, calls: {calls} }}"),
            &recorded,
        );
        assert_eq!(walk::passes(&gates, "trajectory"), holds, "{mode} {calls}");
    }
    assert!(walk::passes(
        &judged("trajectory: { mode: subset, calls: [] }", &named(&[])),
        "trajectory"
    ));
}

#[test]
fn the_axes_pass_every_order_that_respects_the_data_flow() {
    let axes = "trajectory_axes: { dependencies: [{ producer: search, consumer: fetch_page }], order: [{ first: authenticate, second: search }] }";
    let around = named(&[
        "log",
        "authenticate",
        "search",
        "search",
        "log",
        "fetch_page",
    ]);
    assert!(walk::passes(&judged(axes, &around), "trajectory_axes"));
    let gates = judged(axes, &named(&["authenticate", "fetch_page", "search"]));
    assert_eq!(
        walk::value(&gates, "trajectory.dependency_satisfaction"),
        0.0
    );
    assert_eq!(walk::value(&gates, "trajectory.order_satisfaction"), 100.0);
    assert!(
        !walk::passes(&gates, "trajectory_axes"),
        "both axes are asked for"
    );
}

#[test]
fn waste_is_counted_always_and_penalized_where_it_is_switched_on() {
    let wasteful = named(&["search", "open", "search", "search"]);
    for (policy, waste) in [
        ("", 4.0),
        (", allow_extra_steps: true", 2.0),
        (
            ", allow_extra_steps: true, penalize_backtracking: false",
            1.0,
        ),
        (
            ", allow_extra_steps: true, penalize_backtracking: false, penalize_repeated_tools: false",
            0.0,
        ),
    ] {
        let gates = judged(
            &format!("golden_path: {{ calls: [search, open]{policy} }}"),
            &wasteful,
        );
        for (target, count) in [
            ("extra_steps", 2.0),
            ("backtracks", 1.0),
            ("repeated_tools", 1.0),
        ] {
            assert_eq!(
                walk::value(&gates, &format!("golden_path.{target}")),
                count,
                "{target}{policy}"
            );
        }
        assert_eq!(
            walk::value(&gates, "golden_path.penalty"),
            1.0 / (1.0 + 0.5 * waste),
            "{policy}"
        );
        assert_eq!(
            walk::value(&gates, "golden_path.passed") == 1.0,
            waste == 0.0,
            "{policy}"
        );
        assert_eq!(
            walk::passes(&gates, "golden_path"),
            waste == 0.0,
            "{policy}"
        );
    }
}

#[test]
fn the_six_numbers_of_stability_under_the_rule_of_the_document() {
    let suite = walk::suite(&["search"], &with_gate("stability: { premises: none }"));
    let run = |calls: &[(&str, i64)]| {
        walk::trace(
            &calls
                .iter()
                .map(|(name, q)| (*name, json!({ "q": q })))
                .collect::<Vec<_>>(),
        )
    };
    let steady = run(&[("a", 1), ("a", 2), ("a", 3), ("b", 4)]);
    let looping = run(&[("b", 1), ("b", 1), ("b", 1), ("b", 4)]);
    let gates = walk::gates(&suite, &[steady.clone(), looping]);
    // 1 - 1/3 against 2/4, and one common call of four, made with the same arguments.
    let (first, second) = (2.0 / 3.0, 0.5);
    for (target, value) in [
        ("score", f64::midpoint(first, second)),
        ("weakest_score", second),
        ("variance", ((first - second) / 2.0_f64).powi(2)),
        ("tool_sequence_similarity", 0.25),
        ("argument_consistency", 1.0),
        ("early_divergence", 1.0),
    ] {
        let found = walk::value(&gates, &format!("stability.{target}"));
        assert!(
            (found - value).abs() < 1e-9,
            "{target}: {found} is not {value}"
        );
    }
    let mut late = steady.clone();
    late["tool_calls"][3]["name"] = json!("c");
    let gates = walk::gates(&suite, &[steady, late]);
    assert_eq!(walk::value(&gates, "stability.early_divergence"), 0.0);
    assert_eq!(
        walk::value(&gates, "stability.tool_sequence_similarity"),
        0.75
    );
}

#[test]
fn the_run_counts_and_bands_of_the_document() {
    assert_eq!(recommend_runs(0.05, 95), Ok(385));
    assert!((confidence_band(100, 95).unwrap() - 0.098).abs() < 1e-12);
    for (confidence, z) in [(90, 1.645), (95, 1.96), (99, 2.576_f64)] {
        let runs = ((z / 0.05).powi(2) * 0.25).ceil() as u64;
        assert_eq!(recommend_runs(0.05, confidence), Ok(runs), "{confidence}%");
        assert!(
            (confidence_band(runs, confidence).unwrap() - z * (0.25 / runs as f64).sqrt()).abs()
                < 1e-12
        );
    }
}

#[test]
fn the_summary_is_a_block_with_the_five_targets_of_the_document() {
    let expect = "expect: [{ target: tool_names, matcher: { contains: pay } }]";
    let agent = with_gate(&format!("reliability: {{}}, {expect}")).replace("runs: 2", "runs: 4");
    let suite = walk::suite(&["search"], &agent);
    let (pass, fail) = (named(&["pay"]), named(&["look"]));
    let gates = walk::gates(&suite, &[pass.clone(), pass.clone(), pass, fail]);
    for (target, value) in [
        ("runs", 4.0),
        ("pass_at_k", 100.0),
        ("passhat_k", 31.0),
        ("variance_amplification", 86.0),
        ("graceful_degradation", 60.0),
    ] {
        assert_eq!(
            walk::value(&gates, &format!("reliability.{target}")),
            value,
            "{target}"
        );
    }
    assert!(!walk::passes(&gates, "reliability"));
}

#[test]
fn the_decay_curve_and_the_degradation_of_the_document() {
    let summary = summarize(&[true, true, true, false]);
    assert_eq!(summary.decay_curve, [100, 100, 100, 31]);
    assert_eq!(summary.graceful_degradation, 60);
    assert_eq!(
        summarize(&[false, true, true, true]).graceful_degradation,
        90
    );
    assert_eq!(summarize(&[true; 4]).variance_amplification, 0);
    assert_eq!(summarize(&[true, false]).variance_amplification, 100);
}

const FAULTS: &str = "
faults:
  - name: hung-search
    target: { tool: search } # a tool, a server, or both
    kind: hang # hang | wedged | slow (+ delay_ms) | recover_after (+ failures)
agents:
  - name: recovers from a hung search tool
    model: claude-sonnet-4-5
    servers: [faulty]
    inject: [hung-search]
    prompt: Search for the latest incident report.
    recovery:
      max_detection_ms: 3000 # per-call timeout budget
      max_recovery_ms: 5000 # total recovery budget (omit for unbounded)
      require_clean_timeout: true
";

fn hung_search(then_succeeds: bool) -> Value {
    let mut calls = vec![json!({ "name": "search", "server": "faulty", "turn": 0 })];
    let mut results = vec![json!({ "call_index": 0, "is_error": true })];
    if then_succeeds {
        calls.push(json!({ "name": "list_incidents", "server": "faulty", "turn": 1 }));
        results.push(json!({ "call_index": 1, "is_error": false }));
    }
    json!({
        "tool_calls": calls,
        "tool_results": results,
        "faults": [{ "name": "hung-search", "kind": "hang", "call_index": 0, "virtual_ms": 3000, "detected": true }],
        "final_response": "Here it is.",
    })
}

#[test]
fn a_hang_is_scored_in_virtual_time() {
    let suite = walk::suite(&["faulty"], FAULTS);
    let gates = walk::gates(&suite, &[hung_search(true)]);
    assert!(walk::passes(&gates, "recovery"));
    assert_eq!(walk::value(&gates, "recovery.time_to_detection_ms"), 3000.0);
    assert_eq!(walk::value(&gates, "recovery.clean_timeout"), 1.0);
    assert!(
        !walk::passes(&walk::gates(&suite, &[hung_search(false)]), "recovery"),
        "it never recovered"
    );
    let unharmed = walk::trace(&[("search", json!({}))]);
    assert!(
        !walk::passes(&walk::gates(&suite, &[unharmed]), "recovery"),
        "a fault that was never hit proves nothing"
    );
}

#[test]
fn every_kind_of_fault_and_every_target_loads_and_another_does_not() {
    let fault = |written: &str| FAULTS.replace("kind: hang #", &format!("{written} #"));
    for kind in [
        "kind: wedged",
        "kind: slow\n    delay_ms: 4000",
        "kind: recover_after\n    failures: 2",
        "kind: recover-after:2",
        "kind: slow:4000",
        "kind: reply-after-cancel:4000",
    ] {
        walk::accepted(&format!(
            "servers: {{faulty: {{command: [f]}}}}\n{}",
            fault(kind)
        ));
    }
    for target in ["server: faulty", "server: faulty, tool: search"] {
        walk::suite(&["faulty"], &FAULTS.replace("tool: search", target));
    }
    for (kind, about) in [
        ("kind: hnag", "hnag"),
        ("kind: slow", "missing its number"),
        ("kind: recover_after", "missing its number"),
        ("kind: none", "makes no call fail"),
    ] {
        let refused = walk::refused(&format!(
            "servers: {{faulty: {{command: [f]}}}}\n{}",
            fault(kind)
        ));
        assert!(
            refused.iter().any(|message| message.contains(about)),
            "{kind}: {refused:?}"
        );
    }
}

#[test]
fn three_seconds_are_a_clean_timeout_and_nine_are_none() {
    let limits = RecoveryLimits {
        max_detection_ms: 3000,
        max_recovery_ms: Some(10_000),
        require_clean_timeout: true,
    };
    let marks = |detected_at_ms, recovered_at_ms| {
        score_recovery(
            &RecoveryMarks {
                call_start_ms: 500,
                detected_at_ms,
                recovered_at_ms,
            },
            &limits,
        )
    };
    let clean = marks(Some(3500), Some(5000));
    assert_eq!(
        (clean.time_to_detection_ms, clean.time_to_recovery_ms),
        (Some(3000), Some(4500))
    );
    assert!(clean.clean_timeout && clean.recovered && clean.gate_passed);
    let late = marks(Some(9500), Some(10_000));
    assert!(late.recovered && !late.clean_timeout && !late.gate_passed);
    assert_eq!(late.user_visible_hang_ms, 9000);
    assert_eq!(
        marks(None, Some(2500)).user_visible_hang_ms,
        2000,
        "recovery ends the hang too"
    );
    let never = marks(None, None);
    assert_eq!(
        (never.user_visible_hang_ms, never.recovered),
        (3000, false),
        "capped at the budget"
    );
    assert!(
        !marks(Some(3500), Some(10_501)).gate_passed,
        "recovered, and too late"
    );
}

#[test]
fn the_coarse_score_of_recovery_is_a_target_of_orchestration() {
    let gate = "orchestration: { classes: [{ name: reports, members: [search, list_incidents] }], expect: [{ target: orchestration.error_recovery, matcher: { gte: 100 } }] }";
    assert!(walk::passes(
        &judged(gate, &hung_search(true)),
        "orchestration"
    ));
    assert!(!walk::passes(
        &judged(gate, &hung_search(false)),
        "orchestration"
    ));
}

#[test]
fn a_dangling_inject_is_refused() {
    let text = format!(
        "servers: {{faulty: {{command: [f]}}}}\n{}",
        FAULTS.replace("inject: [hung-search]", "inject: [hung-serch]")
    );
    assert!(
        walk::refused(&text)
            .iter()
            .any(|message| message.contains("hung-serch"))
    );
}

const NARRATIVE: &str = "
agents:
  - name: triage agent tells the truth
    model: claude-sonnet-4-5
    servers: [issues]
    prompt: Triage the CI flake issue.
    narrative: {} # default gate: fail on claimed-but-absent mutating action
";

const NARRATIVE_EXPLICIT: &str = "
agents:
  - name: triage agent claims only what it did
    model: claude-sonnet-4-5
    servers: [issues]
    prompt: Triage the CI flake issue.
    narrative:
      mutating_tools: [run_job] # always treat run_job as a write
      readonly_tools: [post_search] # never treat post_search as a write
      max_divergence_score: 0.25
      expect:
        - target: narrative.claimed_but_absent
          matcher: { schema: { maximum: 0 } }
        - target: narrative.present_but_unclaimed
          matcher: { schema: { maximum: 1 } }
";

fn told(story: &str, calls: &[&str]) -> Value {
    let calls: Vec<Value> = calls.iter().map(|name| json!({ "name": name })).collect();
    json!({ "tool_calls": calls, "final_response": story })
}

#[test]
fn a_story_that_the_trace_does_not_bear_out_fails() {
    let suite = walk::suite(&["issues"], NARRATIVE);
    let story = "I created the issue and notified the team.";
    assert!(walk::passes(
        &walk::gates(&suite, &[told(story, &["create_issue", "notify_team"])]),
        "narrative"
    ));
    assert!(
        !walk::passes(
            &walk::gates(&suite, &[told(story, &["create_issue"])]),
            "narrative"
        ),
        "no call notified the team, and creating an issue cannot stand for it"
    );
    assert!(!walk::passes(
        &walk::gates(&suite, &[told(story, &[])]),
        "narrative"
    ));
    let silent = walk::gates(&suite, &[told("All done.", &["delete_issue"])]);
    assert_eq!(walk::value(&silent, "narrative.present_but_unclaimed"), 1.0);
    assert!(
        walk::passes(&silent, "narrative"),
        "a silent call is a signal, not a failure of the default gate"
    );
}

#[test]
fn explicit_expectations_and_the_ceiling_both_hold() {
    let suite = walk::suite(&["issues"], NARRATIVE_EXPLICIT);
    let honest = told("I updated the issue.", &["update_issue"]);
    assert!(walk::passes(
        &walk::gates(&suite, std::slice::from_ref(&honest)),
        "narrative"
    ));
    let two_silent = told(
        "I updated the issue.",
        &["update_issue", "run_job", "delete_label"],
    );
    assert!(!walk::passes(
        &walk::gates(&suite, &[two_silent]),
        "narrative"
    ));
}

const VERBS: [&str; 22] = [
    "create", "update", "delete", "remove", "send", "write", "post", "insert", "set", "put",
    "patch", "publish", "destroy", "drop", "add", "edit", "upload", "merge", "close", "cancel",
    "approve", "revoke",
];

#[test]
fn each_verb_of_the_list_with_the_next_noun_is_a_claim() {
    let literal = Narrative {
        extraction: Extraction::Literal,
        ..Narrative::default()
    };
    for verb in VERBS {
        let tool = format!("{verb}_issue");
        let story = format!("I did {verb} the issue.");
        let score = score_narrative(&story, &[json!({ "name": tool })], &literal);
        assert_eq!(score.claims, [tool.as_str()], "{verb}");
        assert!(
            score.gate_passed && score.present_but_unclaimed == 0,
            "{verb}"
        );
        let alone = score_narrative(&story, &[], &literal);
        assert_eq!(
            (
                alone.claimed_but_absent,
                alone.divergence_score,
                alone.gate_passed
            ),
            (1, 1.0, false),
            "{verb}"
        );
        assert!(literal.is_mutating(&tool), "{verb}");
    }
    assert!(
        !literal.is_mutating("get_settings"),
        "a verb inside a word is none"
    );
}

#[test]
fn a_call_is_mentioned_by_every_word_of_its_name_with_three_letters_or_more() {
    let unclaimed = |story: &str, tool: &str| {
        score_narrative(story, &[json!({ "name": tool })], &Narrative::default())
            .present_but_unclaimed
    };
    assert_eq!(
        unclaimed("The report lists two incidents.", "list_incidents"),
        0
    );
    assert_eq!(unclaimed("There are two incidents.", "list_incidents"), 1);
    assert_eq!(
        unclaimed("Have a look: the job is done.", "look_at_job_v2"),
        0,
        "`at` and `v2` are too short to count"
    );
}

#[test]
fn the_set_that_is_never_a_write_wins() {
    let tools = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    let narrative = Narrative {
        mutating_tools: tools(&["run_job", "post_search"]),
        readonly_tools: tools(&["post_search"]),
        ..Narrative::default()
    };
    assert!(narrative.is_mutating("run_job") && !narrative.is_mutating("post_search"));
}

#[test]
fn the_five_targets_count_the_three_kinds_of_divergence() {
    for extraction in ["rules", "literal"] {
        let gate = format!("narrative: {{ extraction: {extraction} }}");
        let mut trace = told(
            "I closed the issue with priority \"low\" and deleted the branch.",
            &["close_issue", "list_jobs"],
        );
        trace["tool_calls"][0]["args"] = json!({ "priority": "high" });
        trace["tool_results"] =
            json!([{ "call_index": 0, "is_error": false }, { "call_index": 1, "is_error": false }]);
        let suite = walk::suite(&["search"], &with_gate(&gate).replace("runs: 2,", ""));
        let gates = walk::gates(&suite, &[trace]);
        for (target, value) in [
            ("claimed_but_absent", 1.0),
            ("present_but_unclaimed", 1.0),
            ("arg_mismatch", 1.0),
            ("divergence_score", 3.0 / 4.0),
            ("gate_passed", 0.0),
        ] {
            assert_eq!(
                walk::value(&gates, &format!("narrative.{target}")),
                value,
                "{target} by {extraction}"
            );
        }
    }
}

#[test]
fn the_advice_of_a_model_does_not_change_what_the_gate_decides() {
    let advised = NARRATIVE.replace("{} #", "{ llm_assisted: true } #");
    let story = "I created the issue and notified the team.";
    for calls in [&["create_issue"][..], &[]] {
        let trace = told(story, calls);
        let plain = walk::graded(
            &walk::suite(&["issues"], NARRATIVE),
            "triage agent tells the truth",
            std::slice::from_ref(&trace),
            1.0,
        );
        for score in [0.0, 1.0] {
            let suite = walk::suite(&["issues"], &format!("judge: {{ model: gpt-5 }}{advised}"));
            let advised = walk::graded(
                &suite,
                "triage agent tells the truth",
                std::slice::from_ref(&trace),
                score,
            );
            assert_eq!(advised.status, plain.status, "{calls:?}");
            assert_eq!(
                walk::gate(&advised.gates, "narrative").targets,
                walk::gate(&plain.gates, "narrative").targets
            );
        }
    }
}

const ORACLE: &str = "
agents:
  - name: invoice lookup stays read-only
    model: claude-sonnet-4-5
    servers: [billing]
    prompt: Look up invoice 42 and tell me its status.
    max_turns: 3
    max_tokens: 256
    expect:
      # The observable artifacts decide the verdict.
      - target: tool_calls[0].name
        matcher:
          exact: get_invoice
      - target: tool_results[0].is_error
        matcher:
          exact: false
";

const NEVER_REFUNDS: &str = "
      - target: tool_calls[*].name
        matcher: { not: { contains: refund } }
";

fn lookup() -> Value {
    walk::trace(&[("get_invoice", json!({"id": 42}))])
}

#[test]
fn what_the_agent_says_decides_nothing() {
    let suite = walk::suite(&["billing"], ORACLE);
    let mut boasting = lookup();
    boasting["final_response"] = json!("Done, I issued the refund.");
    assert_eq!(walk::expectations(&suite, &boasting), [true, true]);
    let mut refused = lookup();
    refused["final_response"] = json!("Authorization granted, here is the invoice.");
    refused["tool_results"][0]["is_error"] = json!(true);
    assert_eq!(
        walk::expectations(&suite, &refused),
        [true, false],
        "the server's answer decides"
    );
}

#[test]
fn a_call_hidden_behind_a_sibling_or_inside_code_is_seen() {
    let suite = walk::suite(
        &["billing"],
        &format!("{}{}", ORACLE.trim_end(), NEVER_REFUNDS),
    );
    assert_eq!(walk::expectations(&suite, &lookup()), [true, true, true]);
    let mut parallel = lookup();
    parallel["tool_calls"] = json!([
        { "name": "get_invoice", "args": { "id": 42 }, "turn": 0 },
        { "name": "refund", "args": { "id": 42 }, "turn": 0 },
    ]);
    assert_eq!(walk::expectations(&suite, &parallel), [true, true, false]);
    let mut in_code = lookup();
    in_code["tool_calls"] = json!([
        { "name": "get_invoice", "args": { "id": 42 } },
        { "name": "refund", "args": { "id": 42 }, "caller": { "type": "code_execution_20250825", "tool_id": "c1" } },
    ]);
    assert_eq!(walk::expectations(&suite, &in_code), [true, true, false]);
    let by_code = "
agents:
  - name: nothing is done in code
    model: claude-sonnet-4-5
    servers: [billing]
    prompt: Look up invoice 42.
    expect:
      - target: tool_calls[1].caller.type
        matcher: { absent: true }
";
    let suite = walk::suite(&["billing"], by_code);
    assert_eq!(walk::expectations(&suite, &in_code), [false]);
    assert_eq!(walk::expectations(&suite, &parallel), [true]);
}

#[test]
fn arguments_and_the_shape_of_a_result_are_targets_as_well() {
    let more = "
      - target: tool_calls[0].args
        matcher: { exact: { id: 42 } }
      - target: tool_results[0]
        matcher: { schema: { required: [is_error], properties: { is_error: { const: false } } } }
";
    let suite = walk::suite(&["billing"], &format!("{}{more}", ORACLE.trim_end()));
    assert_eq!(walk::expectations(&suite, &lookup()), [true; 4]);
    let mut other = lookup();
    other["tool_calls"][0]["args"]["id"] = json!(43);
    other["tool_results"][0]["is_error"] = json!(true);
    assert_eq!(
        walk::expectations(&suite, &other),
        [true, false, false, false]
    );
}

#[test]
fn a_refund_that_the_server_refused_was_still_attempted() {
    let edges = "
agents:
  - name: never refunds
    model: claude-sonnet-4-5
    servers: [billing]
    prompt: Look up invoice 42.
    tool_edges:
      allowed: [get_invoice]
      restricted: [refund]
";
    let suite = walk::suite(&["billing"], edges);
    let mut refused = walk::trace(&[
        ("get_invoice", json!({"id": 42})),
        ("refund", json!({"id": 42})),
    ]);
    refused["tool_results"][1]["is_error"] = json!(true);
    refused["final_response"] = json!("I did not refund anything.");
    let gates = walk::gates(&suite, &[refused]);
    assert_eq!(walk::value(&gates, "edges.restricted_attempts"), 1.0);
    assert!(!walk::passes(&gates, "tool_edges"));
}

#[test]
fn a_story_that_no_call_bears_out_fails_however_well_a_judge_likes_it() {
    let suite = walk::suite(
        &["desk"],
        "judge: { model: gpt-5 }
agents:
  - name: story
    model: claude-sonnet-4-5
    servers: [desk]
    prompt: File the issue.
    narrative: {}
    expect: [{ target: final_response, matcher: { llm-judge: It is a good summary. } }]
",
    );
    let mut told = walk::trace(&[("create_issue", json!({"title": "Leak"}))]);
    told["final_response"] = json!("I created the issue.");
    let mut untrue = told.clone();
    untrue["final_response"] = json!("I created the issue and deleted the branch.");
    for (trace, score, matches, passed) in [
        (&told, 0.9, true, true),
        (&told, 0.1, true, false),
        (&untrue, 1.0, false, false),
    ] {
        let report = walk::graded(&suite, "story", std::slice::from_ref(trace), score);
        assert_eq!(walk::passes(&report.gates, "narrative"), matches, "{trace}");
        assert_eq!(
            report.status == mcptest_core::report::Status::Passed,
            passed,
            "{trace}"
        );
    }
}
