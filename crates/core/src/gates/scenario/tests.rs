//! Runs that lead a library to the expected state, and runs that do not.

use crate::engine::trial::{findings, header, judged, problems, value};
use crate::report::{Evidence, Status};
use serde_json::{Value, json};

/// A library of pages: a page can be opened, and an open page deleted.
const WORLD: &str = "
scenario:
  seed: { pages: { a: shut, b: shut, c: locked } }
  transitions:
    - tool: open_page
      when: { 'pages.{id}': shut }
      effect: { set: { 'pages.{id}': open } }
    - tool: delete_page
      when: { 'pages.{id}': open }
      effect: { unset: ['pages.{id}'] }
";

fn block(more: &str) -> String {
    format!("prompt: p{WORLD}  {}", more.trim().replace('\n', "\n  "))
}

fn call(tool: &str, id: &str) -> Value {
    json!({"name": tool, "server": "docs", "args": {"id": id}})
}

fn run(calls: &[Value], failed: &[usize]) -> Value {
    let results =
        (0..calls.len()).map(|at| json!({"call_index": at, "is_error": failed.contains(&at)}));
    json!({"tool_calls": calls, "tool_results": results.collect::<Vec<_>>(), "final_response": "Done."})
}

const GOLDEN: &str = "
golden:
  calls:
    - search
    - { tool: docs.open_page, args: { id: a } }
    - { tool: open_page, args: { id: b } }
    - { tool: delete_page, args: { id: b } }
  alternates:
    - [{ tool: open_page, args: { id: a } }]
";

#[test]
fn the_state_decides_and_not_the_order_of_calls() {
    let right = [
        call("open_page", "b"),
        call("search", "x"),
        call("delete_page", "b"),
        call("open_page", "a"),
    ];
    let report = judged(
        &block(GOLDEN),
        None,
        &[run(&right, &[]), run(&right[3..], &[])],
    );
    assert_eq!(value(&report, "scenario.passed"), Some(1.0));
    assert_eq!(value(&report, "scenario.diverged_at"), Some(0.0));
    assert_eq!(value(&report, "scenario.escalations"), None);
    let report = judged(&block(GOLDEN), None, &[run(&right[..2], &[])]);
    assert_eq!(
        value(&report, "scenario.state_differences"),
        Some(2.0),
        "a is shut, and b is not gone"
    );
    assert_eq!(
        value(&report, "scenario.diverged_at"),
        Some(0.0),
        "it stopped on the path"
    );
    let golden_none = block("golden: { calls: [] }");
    assert!(
        judged(&golden_none, None, &[run(&[], &[])])
            .not_exercised
            .is_some()
    );
}

#[test]
fn a_failed_call_changes_nothing_and_an_invalid_one_is_counted() {
    let calls = [
        call("open_page", "c"),
        call("open_page", "a"),
        call("open_page", "a"),
    ];
    let report = judged(&block(GOLDEN), None, &[run(&calls, &[0, 1])]);
    assert_eq!(value(&report, "scenario.passed"), Some(1.0));
    assert_eq!(value(&report, "scenario.invalid_actions"), Some(1.0));
    assert_eq!(value(&report, "scenario.recovery_attempts"), Some(2.0));
    assert_eq!(
        findings(&report),
        [
            "run 1: the world does not allow call 1 `open_page`: `pages.c` is \"locked\", and must be \"shut\""
        ]
    );
}

#[test]
fn a_transition_whose_effects_name_no_argument_of_the_call_is_not_made() {
    let slip = "prompt: p
scenario:
  seed: { orders: { a: { status: open } } }
  transitions:
    - tool: open_page
      when: { 'orders.{id}.status': open }
      effect: { set: { 'orders.{oid}.status': shut } }
  golden: { calls: [] }
";
    let done = run(&[call("open_page", "a")], &[]);
    let report = judged(slip, None, &[done]);
    assert_eq!(report.status, Status::Failed, "{:?}", findings(&report));
    assert!(
        findings(&report)[0]
            .contains("the call lacks an argument that the place of each effect names"),
        "{:?}",
        findings(&report)
    );
}

#[test]
fn an_argument_that_no_recorded_parameter_has_is_marked() {
    let slip = "prompt: p
scenario:
  forbidden: [{ tool: open_page, when: { args.page: { exists: true } }, reason: no }]
";
    let schema = json!({"type": "object", "properties": {"id": {"type": "string"}}});
    let recorded = header(json!([{"name": "open_page", "input_schema": schema}]));
    let report = judged(
        slip,
        Some(&recorded),
        &[run(&[call("open_page", "a")], &[])],
    );
    assert_eq!(report.status, Status::Passed);
    assert_eq!(
        report.not_exercised.as_deref(),
        Some("`open_page` has no parameter `page`, so this can never apply")
    );
}

#[test]
fn a_call_that_the_world_refuses_and_the_server_did_contradicts_the_recording() {
    let nothing = block("golden: { calls: [] }");
    let mut done = run(&[call("open_page", "c")], &[]);
    done["tool_results"][0]["content"] = json!([{"type": "text", "text": "opened"}]);
    let report = judged(&nothing, None, &[done.clone()]);
    assert_eq!(report.status, Status::Failed);
    assert_eq!(
        findings(&report),
        [
            "run 1: the recording contradicts the world: the world does not allow call 1 `open_page` \
             (`pages.c` is \"locked\", and must be \"shut\"), but the server did it (it answered `opened`); \
             correct the transition, or define with `successful:` which results are refusals"
        ]
    );
    done["tool_results"][0]["content"] = json!([{"type": "text", "text": "Error: it is locked"}]);
    let refused = judged(&nothing, None, &[done.clone()]);
    assert_eq!(refused.status, Status::Passed, "{:?}", findings(&refused));
    done["tool_results"] = json!([]);
    let unknown = judged(&nothing, None, &[done]);
    assert_eq!(
        unknown.status,
        Status::Passed,
        "nothing says what the server did"
    );
    assert_eq!(
        unknown.not_exercised.as_deref(),
        Some(
            "the world does not allow call 1 `open_page` (`pages.c` is \"locked\", and must be \"shut\"), and the \
             run has no results that show whether it was made"
        )
    );
}

#[test]
fn arguments_that_were_encoded_twice_are_those_of_the_call() {
    let twice = json!({"name": "open_page", "server": "docs", "args": "{\"id\": \"a\"}"});
    let report = judged(&block("golden: { calls: [] }"), None, &[run(&[twice], &[])]);
    assert_eq!(value(&report, "scenario.state_matched"), Some(0.0));
    let forbidden = "prompt: p\nscenario: { forbidden: [{ tool: delete_page, when: { args.id: a }, reason: no }] }";
    let twice = json!({"name": "delete_page", "server": "docs", "args": "{\"id\": \"a\"}"});
    assert_eq!(
        judged(forbidden, None, &[run(&[twice], &[])]).status,
        Status::Failed
    );
}

#[test]
fn a_forbidden_call_is_met_where_there_is_doubt() {
    let met = |when: &str, args: Value| {
        let agent = format!(
            "prompt: p\nscenario: {{ forbidden: [{{ tool: delete_page, when: {when}, reason: no }}] }}"
        );
        let call = json!({"name": "delete_page", "server": "docs", "args": args});
        value(
            &judged(&agent, None, &[run(&[call], &[])]),
            "scenario.forbidden_transitions",
        )
    };
    for amount in [
        json!(900),
        json!("900"),
        json!("$900"),
        json!("1,000"),
        json!(500),
    ] {
        assert_eq!(
            met("{ args.amount: { min: 500 } }", json!({"amount": amount})),
            Some(1.0),
            "{amount}"
        );
    }
    assert_eq!(
        met("{ args.amount: { min: 500 } }", json!({"amount": "499.99"})),
        Some(0.0)
    );
    assert_eq!(met("{ args.amount: { min: 500 } }", json!({})), Some(0.0));
    assert_eq!(
        met("{ args.confirmed: { ne: true } }", json!({})),
        Some(1.0)
    );
    assert_eq!(
        met(
            "{ args.confirmed: { ne: true } }",
            json!({"confirmed": false})
        ),
        Some(1.0)
    );
    assert_eq!(
        met(
            "{ args.confirmed: { ne: true } }",
            json!({"confirmed": true})
        ),
        Some(0.0)
    );
    assert_eq!(
        met("{ args.force: true }", json!({"force": "true"})),
        Some(1.0)
    );
}

#[test]
fn an_escalation_needs_an_answer_and_an_attempt_is_one_too_many() {
    let expected = "prompt: p\nscenario: { escalation: { tool: delete_page } }";
    let call = call("delete_page", "a");
    let mut unanswered = run(&[call.clone(), call.clone()], &[0]);
    unanswered["tool_results"] = json!([{"call_index": 0, "is_error": true}]);
    assert_eq!(judged(expected, None, &[unanswered]).status, Status::Failed);
    let answered = run(std::slice::from_ref(&call), &[]);
    assert_eq!(judged(expected, None, &[answered]).status, Status::Passed);
    let unexpected = "prompt: p\nscenario: { escalation: { tool: delete_page, expected: false } }";
    assert_eq!(
        judged(unexpected, None, &[run(&[call], &[0])]).status,
        Status::Failed
    );
}

#[test]
fn an_argument_that_no_parameter_of_the_tool_has_is_refused() {
    let said = problems(
        "prompt: p\nscenario:\n  expect_state: { a: 1 }\n  transitions:\n    \
         - { tool: search, when: { 'pages.{query}': x, args.page: 1 }, effect: { set: { a: '{q}' } } }",
    );
    assert_eq!(
        said,
        [
            "error: `search` has no parameter `page`, so this can never apply (its parameters are q)",
            "error: `search` has no parameter `query`, so this can never apply (its parameters are q)",
        ]
    );
    let said = problems(
        "prompt: p\nscenario: { forbidden: [{ tool: search, when: { args.qq: x }, reason: no }] }",
    );
    assert_eq!(
        said,
        ["error: `search` has no parameter `qq`, so this can never apply (did you mean `q`?)"]
    );
    let said = problems(
        "prompt: p\nscenario: { forbidden: [{ tool: open_page, when: { args.z: x }, reason: no }] }",
    );
    assert_eq!(said, Vec::<String>::new(), "its schema is not known");
}

const BASKET: &str = "prompt: p
scenario:
  seed: { baskets: { b: { items: [] } }, total: 0 }
  transitions:
    - tool: search
      effect: { append: { 'baskets.{q}.items': '{item}' }, inc: { total: '{price}' } }
  golden:
    calls:
      - { tool: search, args: { q: b, item: pen, price: 10.10 } }
      - { tool: search, args: { q: b, item: ink, price: 20.20 } }
";

fn basket(items: &[(&str, f64)]) -> Value {
    let calls: Vec<Value> = items
        .iter()
        .map(|(item, price)| {
            json!({"name": "search", "server": "docs", "args": {"q": "b", "item": item, "price": price}})
        })
        .collect();
    run(&calls, &[])
}

#[test]
fn lists_may_be_compared_as_bags() {
    // The mock's `search` has one parameter, so that the schema is left out here.
    let plain = BASKET.replace("search", "open_page");
    let bags = format!("{plain}  unordered: [baskets.*.items]\n");
    let basket = |items: &[(&str, f64)]| {
        let text = basket(items).to_string().replace("search", "open_page");
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let turned = basket(&[("ink", 20.20), ("pen", 10.10)]);
    assert_eq!(
        judged(&plain, None, std::slice::from_ref(&turned)).status,
        Status::Failed
    );
    let report = judged(&bags, None, &[turned]);
    assert_eq!(report.status, Status::Passed, "{:?}", findings(&report));
    assert_eq!(value(&report, "scenario.diverged_at"), Some(0.0));
    let other = basket(&[("ink", 20.20), ("pencil", 10.10)]);
    let report = judged(&bags, None, &[other]);
    assert_eq!(report.status, Status::Failed);
    assert_eq!(
        report.explanation.last().unwrap().diff[0].pointer,
        "/baskets/b/items/1"
    );
    let said = problems(&format!("{plain}  unordered: [basket.*.items]\n"));
    assert!(
        said[0].starts_with("warning: `basket.*.items` is not a list"),
        "{said:?}"
    );
}

#[test]
fn money_is_added_in_decimal() {
    let agent = "prompt: p
scenario:
  seed: { refunded: 0 }
  transitions: [{ tool: open_page, effect: { inc: { refunded: '{amount}' } } }]
  golden: { calls: [{ tool: open_page, args: { amount: 30.30 } }] }
";
    let refund =
        |amount: f64| json!({"name": "open_page", "server": "docs", "args": {"amount": amount}});
    let report = judged(agent, None, &[run(&[refund(10.10), refund(20.20)], &[])]);
    assert_eq!(report.status, Status::Passed, "{:?}", findings(&report));
}

#[test]
fn the_call_that_leaves_every_golden_path_is_named_unless_the_state_comes_back() {
    let wrong = [
        call("open_page", "b"),
        call("open_page", "a"),
        call("delete_page", "a"),
    ];
    let report = judged(&block(GOLDEN), None, &[run(&wrong, &[])]);
    assert_eq!(value(&report, "scenario.diverged_at"), Some(3.0));
    assert_eq!(
        findings(&report),
        [
            "run 1: call 3 `delete_page` leaves every golden path",
            "run 1: the run did not end in the expected state"
        ]
    );
    assert_eq!(report.explanation[1].diff[0].pointer, "/pages/a");
    assert_eq!(
        report.explanation[1].diff.len(),
        2,
        "a is gone, and b is still there"
    );
}

#[test]
fn a_forbidden_call_fails_the_run_whatever_it_leads_to() {
    let policy = format!(
        "{GOLDEN}forbidden:\n  - tool: delete_page\n    when: {{ args.id: b, pages.a: shut }}\n    reason: a goes first\n"
    );
    // The golden path itself opens a first.
    let right = [
        call("open_page", "a"),
        call("open_page", "b"),
        call("delete_page", "b"),
    ];
    assert_eq!(
        value(
            &judged(&block(&policy), None, &[run(&right, &[])]),
            "scenario.passed"
        ),
        Some(1.0)
    );
    let wrong = [
        call("open_page", "b"),
        call("docs__delete_page", "b"),
        call("open_page", "a"),
    ];
    let report = judged(&block(&policy), None, &[run(&wrong, &[])]);
    assert_eq!(value(&report, "scenario.state_matched"), Some(1.0));
    assert_eq!(value(&report, "scenario.passed"), Some(0.0));
    assert_eq!(
        findings(&report),
        ["run 1: call 2 `delete_page` is forbidden: a goes first"]
    );
}

#[test]
fn refusals_and_escalations_are_held_to_what_is_expected() {
    let idle = run(&[call("search", "x")], &[]);
    let acts = run(&[call("open_page", "c")], &[0]);
    let passed = |block_of: &str, run: &Value| {
        value(
            &judged(&block(block_of), None, std::slice::from_ref(run)),
            "scenario.passed",
        ) == Some(1.0)
    };
    assert!(passed("refusal: true", &idle) && !passed("refusal: true", &acts));
    assert!(
        !passed("refusal: true", &json!({"tool_calls": []})),
        "it said nothing"
    );
    assert!(!passed("refusal: false", &idle) && passed("refusal: false", &acts));
    let hands_over = "escalation: { tool: search }";
    assert!(passed(hands_over, &idle) && !passed(hands_over, &acts));
    assert!(!passed(
        "escalation: { tool: search, expected: false }",
        &idle
    ));
    let report = judged(&block(hands_over), None, std::slice::from_ref(&idle));
    assert_eq!(report.not_exercised, None, "handing over is an act");
}

#[test]
fn guards_on_the_final_state_take_the_place_of_the_golden_state() {
    let expected =
        "expect_state: { pages.a: open, pages.b: { exists: true }, pages.c: { ne: open } }";
    let report = judged(
        &block(expected),
        None,
        &[run(&[call("open_page", "a")], &[])],
    );
    assert_eq!(value(&report, "scenario.passed"), Some(1.0));
    let report = judged(
        &block(expected),
        None,
        &[run(&[call("open_page", "b")], &[])],
    );
    assert_eq!(value(&report, "scenario.state_differences"), Some(1.0));
    assert_eq!(report.explanation[0].diff[0].pointer, "/pages/a");
}

#[test]
fn a_recorded_state_that_the_calls_do_not_lead_to_fails_the_run() {
    let mut recorded = run(&[call("open_page", "a")], &[]);
    recorded["final_state"] = json!({"pages": {"a": "open", "b": "shut", "c": "locked"}});
    assert_eq!(
        value(
            &judged(&block(GOLDEN), None, &[recorded.clone()]),
            "scenario.passed"
        ),
        Some(1.0)
    );
    recorded["final_state"]["pages"]["b"] = json!("open");
    let report = judged(&block(GOLDEN), None, &[recorded]);
    assert_eq!(value(&report, "scenario.passed"), Some(0.0));
    assert_eq!(
        findings(&report),
        ["run 1: the recorded final state differs from the state that the recorded calls lead to"]
    );
}

#[test]
fn a_golden_path_that_the_world_does_not_allow_is_refused_and_so_is_a_block_that_judges_nothing() {
    let first = |more: &str| {
        problems(&block(more))
            .into_iter()
            .next()
            .unwrap_or_default()
    };
    assert_eq!(
        first(""),
        "error: nothing defines a correct run, so no run could fail (write `expect_state:` or `golden:`)"
    );
    assert_eq!(
        first("golden: { calls: [{ tool: delete_page, args: { id: a } }] }"),
        "error: call 1 of this golden path, `delete_page`, cannot be made: `pages.a` is \"shut\", and must be \"open\""
    );
    assert_eq!(
        first(
            "forbidden: [{ tool: open_page, reason: no }]\ngolden: { calls: [{ tool: open_page, args: { id: a } }] }"
        ),
        "error: call 1 of this golden path, `open_page`, is forbidden: no"
    );
    assert!(
        first("expect_state: { 'pages.{id}': open }").contains("no argument can be named here")
    );
}

#[test]
fn the_states_that_are_drawn_differ_as_often_as_the_target_says() {
    let wrong = [
        call("open_page", "b"),
        call("open_page", "a"),
        call("delete_page", "a"),
    ];
    let report = judged(&block(GOLDEN), None, &[run(&wrong, &[])]);
    let Some(Evidence::Scenario { runs, left_out: 0 }) = report.evidence.as_deref() else {
        panic!()
    };
    let run = &runs[0];
    assert_eq!(
        Some(run.differences.len() as f64),
        value(&report, "scenario.state_differences")
    );
    assert_eq!(
        run.left_at_call.map(|call| call as f64),
        value(&report, "scenario.diverged_at")
    );
    assert_eq!(run.before["pages"]["a"], "shut");
    assert_eq!(run.after["pages"], json!({ "b": "open", "c": "locked" }));
    for one in &run.differences {
        let at = |state: &Value| state.pointer(&one.pointer).cloned().unwrap_or_default();
        assert_eq!(
            (at(run.expected.as_ref().unwrap()), at(&run.after)),
            (one.expected.clone(), one.actual.clone())
        );
    }
}

#[test]
fn a_call_whose_arguments_cannot_be_read_may_be_forbidden() {
    let status = |when: &str, args_text: &str| {
        let agent = format!(
            "prompt: p\nscenario: {{ seed: {{ a: 1 }}, forbidden: [{{ tool: delete_page, when: {when}, reason: no }}] }}"
        );
        let call = json!({"name": "delete_page", "server": "docs", "args_text": args_text});
        judged(&agent, None, &[run(&[call], &[])]).status
    };
    let cut_off = "{\"amount\": 900";
    assert_eq!(
        status("{ args.amount: { min: 500 } }", cut_off),
        Status::Failed
    );
    assert_eq!(status("{ 'pages.{id}': open }", cut_off), Status::Failed);
    assert_eq!(
        status("{ a: 2 }", cut_off),
        Status::Passed,
        "no argument decides"
    );
    assert_eq!(status("{ a: 1 }", cut_off), Status::Failed);
}

#[test]
fn a_call_that_a_rule_allows_exercises_the_rule() {
    let agent = "prompt: p
scenario:
  forbidden: [{ tool: delete_page, when: { args.amount: { min: 500 } }, reason: no }]
";
    let marked = |tool: &str| {
        let call = json!({"name": tool, "server": "docs", "args": {"amount": 100}});
        judged(agent, None, &[run(&[call], &[])]).not_exercised
    };
    assert_eq!(marked("delete_page"), None);
    assert_eq!(
        marked("search").as_deref(),
        Some("the run called no tool of the world")
    );
}
