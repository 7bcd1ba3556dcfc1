//! Faults that are overcome, faults that are not, and faults that no call met.

use crate::engine::trial::{findings, judged, problems, value};
use crate::report::{Evidence, GateReport, Status};
use serde_json::{Value, json};

const AGENT: &str = "prompt: x
inject: [hung]
recovery:
  max_detection_ms: 3000
  max_recovery_ms: 5000
  require_clean_timeout: true
";

/// A run of steps `name`, `name!` (failed) and `name!hung` (failed by an injected fault), each a turn.
fn run(steps: &[&str]) -> Value {
    let (mut calls, mut results, mut faults) = (Vec::new(), Vec::new(), Vec::new());
    for (at, step) in steps.iter().enumerate() {
        let (name, fault) = step
            .split_once('!')
            .map_or((*step, None), |(name, fault)| (name, Some(fault)));
        calls.push(json!({"name": name, "server": "docs", "turn": at}));
        results.push(json!({"call_index": at, "is_error": fault.is_some()}));
        if let Some(fault) = fault.filter(|fault| !fault.is_empty()) {
            faults.push(json!({"name": fault, "kind": "hang", "call_index": at, "detected": true}));
        }
    }
    json!({"tool_calls": calls, "tool_results": results, "faults": faults})
}

fn with(mut run: Value, event: usize, field: &str, new: Value) -> Value {
    run["faults"][event][field] = new;
    run
}

fn judge(run: Value) -> GateReport {
    judged(AGENT, None, &[run])
}

fn times(report: &GateReport) -> [Option<f64>; 3] {
    [
        "time_to_detection_ms",
        "time_to_recovery_ms",
        "user_visible_hang_ms",
    ]
    .map(|target| value(report, &format!("recovery.{target}")))
}

#[test]
fn an_agent_that_routes_around_a_hang_passes() {
    let report = judge(run(&["search!hung", "open_page"]));
    assert_eq!(report.status, Status::Passed);
    assert_eq!(times(&report), [Some(3000.0); 3]);
    assert_eq!(value(&report, "recovery.exercised"), Some(1.0));
}

#[test]
fn a_refusal_in_the_text_of_a_result_overcomes_no_failure_where_the_suite_says_so() {
    let mut refused = run(&["search!hung", "open_page"]);
    refused["tool_results"][1]["content"] = json!([{"type": "text", "text": "Request denied."}]);
    assert_eq!(judge(refused.clone()).status, Status::Passed);
    let agent_wide = format!("successful: {{ not: {{ contains: denied }} }}\n{AGENT}");
    let report = judged(&agent_wide, None, &[refused]);
    assert_eq!(report.status, Status::Failed);
    assert_eq!(value(&report, "recovery.recovered"), Some(0.0));
    let mut opened = run(&["search!hung", "open_page"]);
    opened["tool_results"][1]["content"] = json!([{"type": "text", "text": "Page 7."}]);
    assert_eq!(judged(&agent_wide, None, &[opened]).status, Status::Passed);
}

#[test]
fn an_agent_that_crashes_after_the_fault_has_not_recovered() {
    let mut crashed = run(&["search!hung", "open_page"]);
    crashed["stop_reason"] = json!("error");
    crashed["errors"] = json!([{"kind": "agent", "message": "the agent ended with exit code 1"}]);
    let report = judge(crashed);
    assert_eq!(
        (report.status, value(&report, "recovery.recovered")),
        (Status::Failed, Some(0.0))
    );
    assert!(
        findings(&report)[0].contains("the agent crashed"),
        "{:?}",
        findings(&report)
    );
}

#[test]
fn each_timeout_uses_up_one_budget() {
    let report = judge(run(&["search!hung", "search!hung", "search"]));
    assert_eq!(report.status, Status::Failed);
    assert_eq!(times(&report), [Some(3000.0), Some(6000.0), Some(3000.0)]);
    assert_eq!(
        findings(&report),
        [
            "run 1: recovery_too_slow: call 3 `search` succeeded 6000 ms after call 1 `search` ran into `hung` \
          (2 failed calls); the limit is 5000 ms"
        ]
    );
}

#[test]
fn giving_up_is_not_recovery_and_neither_is_another_failure() {
    for steps in [
        &["search!hung"][..],
        &["open_page", "search!hung", "open_page!"],
    ] {
        let report = judge(run(steps));
        assert_eq!(value(&report, "recovery.recovered"), Some(0.0));
        assert_eq!(value(&report, "recovery.time_to_recovery_ms"), None);
        assert!(
            findings(&report)[0].contains("not_recovered: call"),
            "{:?}",
            findings(&report)
        );
    }
}

#[test]
fn a_success_in_the_same_turn_is_not_recovery() {
    let mut parallel = run(&["search!hung", "open_page"]);
    parallel["tool_calls"][1]["turn"] = json!(0);
    assert_eq!(judge(parallel.clone()).status, Status::Failed);
    parallel["tool_calls"][1]
        .as_object_mut()
        .unwrap()
        .remove("turn");
    assert_eq!(
        judge(parallel).status,
        Status::Passed,
        "a call without a turn is a turn of its own"
    );
}

#[test]
fn a_fault_that_nobody_met_fails_alone() {
    let report = judge(run(&["open_page"]));
    assert_eq!(report.status, Status::Failed);
    assert_eq!(value(&report, "recovery.exercised"), Some(0.0));
    assert_eq!(value(&report, "recovery.recovered"), None);
    assert_eq!(
        findings(&report),
        ["run 1: fault_not_exercised: no call ran into `hung`"]
    );
    assert_eq!(report.not_exercised.unwrap(), "no call ran into `hung`");
    let other = judge(with(
        run(&["search!hung", "open_page"]),
        0,
        "name",
        json!("another"),
    ));
    assert_eq!(
        other.status,
        Status::Failed,
        "a fault of another name is not this one"
    );
}

#[test]
fn every_injected_fault_must_be_met() {
    let agent = AGENT.replace("[hung]", "[hung, late]");
    let one = judged(&agent, None, &[run(&["search!hung", "open_page"])]);
    assert_eq!(
        findings(&one),
        ["run 1: fault_not_exercised: no call ran into `late`"]
    );
    let both = run(&["search!hung", "open_page!late", "search"]);
    let both = with(both, 1, "kind", json!("slow:9000"));
    let report = judged(&agent, None, &[both]);
    assert_eq!(times(&report), [Some(3000.0), Some(12000.0), Some(3000.0)]);
}

#[test]
fn refusals_are_noticed_at_once_and_cost_nothing() {
    for kind in [
        "error:-32603",
        "rate_limit",
        "malformed",
        "disconnect",
        "kind-of-another-tool",
    ] {
        let report = judge(with(
            run(&["search!hung", "open_page"]),
            0,
            "kind",
            json!(kind),
        ));
        assert_eq!(times(&report), [Some(0.0); 3], "{kind}");
    }
    let lost = judge(with(
        run(&["search!hung", "open_page"]),
        0,
        "kind",
        json!("lost-response"),
    ));
    assert_eq!(times(&lost)[0], Some(3000.0));
}

#[test]
fn a_delay_within_the_budget_fails_nothing_and_takes_its_time() {
    let mut slow = with(
        run(&["search!hung", "search!hung"]),
        1,
        "kind",
        json!("slow"),
    );
    slow["faults"][1]["virtual_ms"] = json!(500);
    slow["faults"][1]["detected"] = json!(false);
    slow["tool_results"][1]["is_error"] = json!(false);
    assert_eq!(
        times(&judge(slow)),
        [Some(3000.0), Some(3500.0), Some(3000.0)]
    );
    let alone = with(
        run(&["search!hung", "open_page"]),
        0,
        "kind",
        json!("slow:500"),
    );
    let report = judge(alone);
    assert_eq!(
        report.not_exercised.unwrap(),
        "`hung` (slow:500) reached call 1, but the call did not fail (its budget is 3000 ms)"
    );
}

#[test]
fn a_measured_time_beyond_the_budget_is_not_clean() {
    let late = with(
        run(&["search!hung", "open_page"]),
        0,
        "virtual_ms",
        json!(9000),
    );
    let report = judged(
        &AGENT.replace("max_recovery_ms: 5000", "x-note: 1"),
        None,
        &[late],
    );
    assert_eq!(value(&report, "recovery.clean_timeout"), Some(0.0));
    assert_eq!(
        findings(&report),
        [
            "run 1: unclean_timeout: call 1 `search` ran into `hung`, and the agent received the failure after 9000 ms; its budget is 3000 ms"
        ]
    );
    let untold = judge(with(
        run(&["search!hung", "open_page"]),
        0,
        "detected",
        json!(false),
    ));
    assert_eq!(value(&untold, "recovery.recovered"), Some(1.0));
    assert!(
        findings(&untold)[0]
            .contains("unclean_timeout: call 1 `search` ran into `hung`, but the agent never")
    );
}

#[test]
fn a_server_that_came_back_is_not_a_failure() {
    let mut back = run(&["search!hung", "search!hung"]);
    for event in 0..2 {
        back["faults"][event]["kind"] = json!("recover_after");
    }
    back["faults"][1]["detected"] = json!(false);
    back["tool_results"][1]["is_error"] = json!(false);
    let report = judge(back);
    assert_eq!(
        (report.status, times(&report)[1]),
        (Status::Passed, Some(3000.0))
    );
}

#[test]
fn the_limits_hold_beside_what_is_expected() {
    let expecting = |limits: &str| {
        let expect = "expect: [{ target: recovery.recovered, matcher: { exact: 1 } }]";
        format!(
            "prompt: x\ninject: [hung]\nrecovery: {{ max_detection_ms: 1000, {limits} {expect} }}"
        )
    };
    let retried = run(&["search!hung", "search!hung", "search"]);
    let report = judged(
        &expecting("max_recovery_ms: 1500,"),
        None,
        std::slice::from_ref(&retried),
    );
    assert_eq!(value(&report, "recovery.time_to_recovery_ms"), Some(2000.0));
    assert_eq!(report.status, Status::Failed);
    let late = with(
        run(&["search!hung", "open_page"]),
        0,
        "virtual_ms",
        json!(1001),
    );
    assert_eq!(
        judged(&expecting("require_clean_timeout: true,"), None, &[late]).status,
        Status::Failed
    );
    let report = judged(&expecting(""), None, &[retried]);
    assert_eq!(
        (report.status, report.expectations.len()),
        (Status::Passed, 1),
        "no limit is written"
    );
}

#[test]
fn a_fault_that_nobody_met_fails_whatever_is_expected() {
    let agent = "prompt: x\ninject: [hung, late]\nrecovery: { max_detection_ms: 3000, expect: [\
                 { target: recovery.recovered, matcher: { exact: 1 } }] }";
    let report = judged(agent, None, &[run(&["search!hung", "open_page"])]);
    assert!(
        report
            .expectations
            .iter()
            .all(|expectation| expectation.passed)
    );
    assert_eq!(report.status, Status::Failed);
    assert_eq!(
        findings(&report),
        ["run 1: fault_not_exercised: no call ran into `late`"]
    );
}

#[test]
fn a_fault_that_is_met_again_must_be_overcome_again() {
    let report = judge(run(&[
        "search!hung",
        "open_page",
        "search!hung",
        "search!hung",
    ]));
    assert_eq!(report.status, Status::Failed);
    assert_eq!(value(&report, "recovery.recovered"), Some(0.0));
    assert_eq!(value(&report, "recovery.time_to_recovery_ms"), None);
    assert_eq!(
        findings(&report),
        [
            "run 1: not_recovered: call 3 `search` ran into `hung`, but no call of a later turn succeeded"
        ]
    );
    let report = judge(run(&[
        "search!hung",
        "open_page",
        "search!hung",
        "search!hung",
        "open_page",
    ]));
    assert_eq!(
        times(&report),
        [Some(3000.0), Some(6000.0), Some(3000.0)],
        "the worst of both"
    );
    assert_eq!(value(&report, "recovery.recovered"), Some(1.0));
    assert!(
        findings(&report)[0].contains("after call 3 `search` ran into `hung` (2 failed calls)")
    );
    let report = judge(run(&[
        "search!hung",
        "open_page",
        "search!hung",
        "open_page",
    ]));
    assert_eq!(
        (report.status, times(&report)[1]),
        (Status::Passed, Some(3000.0))
    );
}

#[test]
fn a_retry_beside_the_call_that_recovers_is_the_same_encounter_in_either_order() {
    for steps in [
        ["search!hung", "search!hung", "open_page"],
        ["search!hung", "open_page", "search!hung"],
    ] {
        let mut hedged = run(&steps);
        hedged["tool_calls"][2]["turn"] = json!(1);
        let report = judged(
            &AGENT.replace("max_recovery_ms: 5000", "x-note: 1"),
            None,
            &[hedged],
        );
        assert_eq!(report.status, Status::Passed, "{steps:?}");
    }
}

#[test]
fn a_call_that_succeeded_was_not_hit() {
    for (kind, detected) in [
        ("hang", true),
        ("hang", false),
        ("error:-32603", false),
        ("slow:9000", true),
    ] {
        let mut odd = with(
            run(&["search!hung", "search!hung", "open_page"]),
            1,
            "kind",
            json!(kind),
        );
        odd["faults"][1]["detected"] = json!(detected);
        odd["tool_results"][1]["is_error"] = json!(false);
        let report = judge(odd.clone());
        assert_eq!(report.status, Status::Failed, "{kind}");
        assert_eq!(value(&report, "recovery.exercised"), None, "{kind}");
        let told = if detected {
            ", noticed by the agent"
        } else {
            ""
        };
        let said = format!("`hung` ({kind}) is recorded at call 2{told}, but the call succeeded");
        assert_eq!(
            findings(&report),
            [format!("run 1: nothing is measured: {said}")]
        );
        let limits = super::RecoveryLimits {
            max_detection_ms: 3000,
            ..super::RecoveryLimits::default()
        };
        let error = super::score_recovery_in_trace(&odd, &["hung"], &limits).unwrap_err();
        assert_eq!(error.to_string(), said);
    }
}

#[test]
fn a_late_answer_without_its_time_is_not_measured() {
    let late = with(run(&["search!hung", "open_page"]), 0, "kind", json!("slow"));
    let agent = "prompt: x\ninject: [hung]\nrecovery: { max_detection_ms: 3000, expect: [\
                 { target: recovery.exercised, matcher: { exact: 0 } }] }";
    let report = judged(agent, None, std::slice::from_ref(&late));
    assert_eq!(report.status, Status::Failed);
    assert_eq!(value(&report, "recovery.exercised"), None);
    assert_eq!(
        findings(&report),
        [
            "run 1: nothing is measured: `hung` (slow) reached call 1, but how late its answer was is not recorded"
        ]
    );
    assert_eq!(
        judge(with(late, 0, "virtual_ms", json!(4000))).status,
        Status::Passed
    );
}

#[test]
fn the_worst_run_decides() {
    let runs = [run(&["search!hung", "open_page"]), run(&["search!hung"])];
    let report = judged(AGENT, None, &runs);
    assert_eq!(report.status, Status::Failed);
    assert_eq!(value(&report, "recovery.recovered"), Some(0.0));
    assert_eq!(value(&report, "recovery.time_to_recovery_ms"), None);
}

#[test]
fn what_cannot_or_can_hardly_pass_is_said_at_load() {
    let agent =
        |inject: &str, limits: &str| format!("prompt: x\n{inject}\nrecovery: {{ {limits} }}");
    assert!(
        problems(&agent("tags: [a]", "max_detection_ms: 3000")).is_empty(),
        "measured failures are judged"
    );
    let said = problems(&agent("inject: [fine]", "max_detection_ms: 3000"));
    assert!(
        said[0].starts_with("error: `fine` makes no call fail"),
        "{said:?}"
    );
    let said = problems(&agent("inject: [late]", "max_detection_ms: 9000"));
    assert!(
        said[0].starts_with("warning: `late` (slow:9000) makes no call fail"),
        "{said:?}"
    );
    let said = problems(&agent(
        "inject: [hung]",
        "max_detection_ms: 3000, max_recovery_ms: 2999",
    ));
    assert!(
        said[0].starts_with("warning: recovery from `hung` takes at least 3000 ms"),
        "{said:?}"
    );
    assert!(
        problems(&agent(
            "inject: [hung]",
            "max_detection_ms: 3000, max_recovery_ms: 3000"
        ))
        .is_empty()
    );
    let said = problems(&agent("inject: [hung]", "max_recovery_ms: 1"));
    assert_eq!(said.len(), 1, "{said:?}");
}

#[test]
fn a_fault_that_no_tool_of_the_agent_can_have_is_refused_at_load() {
    let suite = crate::engine::trial::suite(AGENT).replace(
        "{ tool: search }, kind: hang",
        "{ tool: serach }, kind: hang",
    );
    let loaded = crate::engine::trial::loaded(&suite);
    assert!(loaded.is_refused());
    assert_eq!(
        loaded.problems[0].message,
        "`hung` can never take effect: no server has the tool `serach`"
    );
    assert_eq!(
        loaded.problems[0].help.as_deref(),
        Some("did you mean `search`?")
    );
}

#[test]
fn without_times_a_real_failure_is_judged_by_what_came_after_it() {
    let agent =
        "prompt: x\nrecovery: { max_detection_ms: 3000, max_recovery_ms: 10, failures: errors }";
    let report = judged(agent, None, &[run(&["search!", "search"])]);
    assert_eq!(
        (report.status, value(&report, "recovery.recovered")),
        (Status::Passed, Some(1.0))
    );
    assert_eq!(times(&report), [None; 3]);
    assert!(report.not_exercised.unwrap().contains("duration_ms"));
    assert_eq!(
        judged(agent, None, &[run(&["search!"])]).status,
        Status::Failed
    );
}

#[test]
fn an_answer_is_no_outage_unless_the_suite_counts_errors() {
    let found_nothing = json!({
        "tool_calls": [{ "name": "search", "turn": 0 }],
        "tool_results": [{
            "is_error": true,
            "content": [{ "type": "text", "text": "No emails found. Try with a different query." }],
        }],
    });
    let agent = |more: &str| format!("prompt: x\nrecovery: {{ max_detection_ms: 3000{more} }}");
    let report = judged(&agent(""), None, std::slice::from_ref(&found_nothing));
    assert_eq!(report.status, Status::Passed);
    assert_eq!(
        report.not_exercised.as_deref(),
        Some("no call met an outage; 1 result is an error, which `failures: errors` counts")
    );
    let counted = agent(", failures: errors");
    let report = judged(&counted, None, std::slice::from_ref(&found_nothing));
    assert_eq!(report.status, Status::Failed);
    let mut limited = found_nothing;
    limited["tool_results"][0]["content"][0]["text"] = json!("Too many requests");
    assert_eq!(judged(&agent(""), None, &[limited]).status, Status::Failed);
    let said = problems(&format!("inject: [hung]\n{counted}"));
    assert!(
        said[0].starts_with("warning: `failures` has no effect beside `inject:`"),
        "{said:?}"
    );
}

#[test]
fn giving_up_is_accepted_of_a_run_that_admits_it_only() {
    let agent = AGENT.replace("max_recovery_ms: 5000", "on_give_up: pass");
    let closing = |text: &str| {
        let mut stopped = run(&["send_email!hung"]);
        stopped["final_response"] = json!(text);
        judged(&agent, None, &[stopped]).status
    };
    assert_eq!(closing("I could not send the email."), Status::Passed);
    for lie in [
        "Done. The email has been delivered without any error.",
        "All done! There was no problem and nothing failed.",
        "I sent the email, although the first attempt failed.",
    ] {
        assert_eq!(closing(lie), Status::Failed, "{lie}");
    }
}

#[test]
fn the_failures_that_are_drawn_have_the_times_of_the_targets() {
    let report = judge(run(&["search!hung", "search!hung", "open_page"]));
    let Some(Evidence::Recovery { runs, left_out: 0 }) = report.evidence.as_deref() else {
        panic!()
    };
    let met = &runs[0].encounters[0];
    let drawn = [met.detected_ms, met.recovered_ms, Some(met.wait_ms)];
    assert_eq!(drawn.map(|ms| ms.map(|ms| ms as f64)), times(&report));
    assert_eq!(
        (met.call, met.recovered_by_call, met.detected),
        (1, Some(3), true)
    );
    assert_eq!(
        (met.limit_ms, &*met.outcome),
        (Some(5000), "recovery_too_slow")
    );
    let report = judge(run(&["search!hung"]));
    let Some(Evidence::Recovery { runs, .. }) = report.evidence.as_deref() else {
        panic!()
    };
    let met = &runs[0].encounters[0];
    assert_eq!((met.recovered_ms, &*met.outcome), (None, "not_recovered"));
    assert_eq!(value(&report, "recovery.recovered"), Some(0.0));
}
