//! Does a live agent act on the world that judges it, with a new state for each run, recorded in
//! the cassette?

use crate::bench::LiveFolder;
use crate::sealed::run_sealed;
use serde_json::{Value, json};

const SUITE: &str = "
servers:
  bank: { mock: manifest.yml }
  depot: { mock: depot.yml }
agents:
  - name: clerk
    model: claude-sonnet-4-5
    servers: [bank, depot]
    prompt: Sell me the lamp.
    runs: 2
    cassette: clerk.jsonl
    expect: [{ target: stop_reason, matcher: { exact: end_turn } }]
scenarios:
  - name: paid, then sent
    agent: clerk
    seed: { account: 50, orders: { lamp: { price: 30, sent: false } } }
    transitions:
      - tool: bank.pay
        when: { account: { min: '{amount}' } }
        effect: { dec: { account: '{amount}' }, set: { orders.lamp.paid: true } }
      - tool: send
        when: { 'orders.{item}.paid': true }
        effect: { set: { 'orders.{item}.sent': true } }
    golden:
      calls: [{ tool: pay, args: { amount: 30 } }, { tool: send, args: { item: lamp } }]
";

const BANK: &str = "
mock_server:
  tools: [{ name: pay, response: 'left: ${state.account}' }]
";

const DEPOT: &str = "
mock_server:
  store: { orders: { seed: [{ id: chair, sent: false }] } }
  tools:
    - { name: send, response: { read: orders, key: '${args.item}', text: 'sent: ${record.sent}' } }
    - { name: note, response: { update: orders, key: '${args.item}', record: { note: fragile } } }
";

fn bench(calls: &[Value]) -> LiveFolder {
    let mut steps: Vec<Value> = calls
        .iter()
        .map(|call| json!({ "calls": [call] }))
        .collect();
    steps.push(json!({ "text": "{{last_result}}" }));
    let when = json!({ "prompt": "Sell" });
    let runs = (0..2)
        .map(|run| json!({ "when": { "prompt": when["prompt"], "run": run }, "steps": steps }));
    let bench = LiveFolder::with(
        SUITE,
        &json!({ "rules": runs.collect::<Vec<_>>() }).to_string(),
        BANK,
    );
    bench.write("depot.yml", DEPOT);
    bench
}

fn call(tool: &str, args: &Value) -> Value {
    json!({ "name": tool, "args": args })
}

/// The runs of the cassette.
fn runs(bench: &LiveFolder) -> Vec<Value> {
    let text = bench.read("clerk.jsonl");
    text.lines()
        .skip(1)
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["trace"].clone())
        .collect()
}

#[test]
fn two_mocks_share_a_world_that_each_run_begins_anew_and_replay_comes_to_the_same() {
    let send = || call("send", &json!({ "item": "lamp" }));
    let bench = bench(&[send(), call("pay", &json!({ "amount": 30 })), send()]);
    let words = ["scenario", "run", "suite.yml", "-v"];
    let recorded = bench.run(&[&words[..], &["--record", "--quiet"]].concat());
    assert_eq!(
        recorded.exit,
        Some(0),
        "{}{}",
        recorded.stdout,
        recorded.stderr
    );
    for run in runs(&bench) {
        let lamp = json!({ "price": 30, "paid": true, "sent": true });
        assert_eq!(
            run["final_state"],
            json!({ "account": 20, "orders": { "lamp": lamp } })
        );
        let said = |at: usize| {
            run["tool_results"][at]["content"][0]["text"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        assert_eq!(run["tool_results"][0]["is_error"], true);
        assert!(
            said(0).contains("`orders.lamp.paid` is not there, and must be true"),
            "{}",
            said(0)
        );
        assert_eq!(
            (said(1), said(2)),
            ("left: 20".to_owned(), "sent: true".to_owned())
        );
    }
    bench.remove("manifest.yml");
    let replayed = run_sealed(&bench, &words);
    assert_eq!(
        replayed.exit,
        Some(0),
        "{}{}",
        replayed.stdout,
        replayed.stderr
    );
    let scenario = |text: &str| {
        text[text.find("paid, then sent").unwrap()..]
            .lines()
            .take(4)
            .collect::<String>()
    };
    assert_eq!(scenario(&replayed.stdout), scenario(&recorded.stdout));
}

#[test]
fn another_seed_makes_the_recording_stale_and_another_golden_path_does_not() {
    let bench = bench(&[call("pay", &json!({ "amount": 30 }))]);
    bench.run(&["run", "suite.yml", "--record", "--quiet"]);
    let judge = |suite: String| {
        bench.write("suite.yml", &suite);
        bench.run(&["run", "suite.yml"])
    };
    let paid = SUITE.replace(", { tool: send, args: { item: lamp } }]", "]");
    assert_eq!(judge(paid.clone()).exit, Some(0));
    let stale = judge(paid.replace("account: 50", "account: 60"));
    assert_eq!(stale.exit, Some(2));
    assert!(
        stale
            .stdout
            .contains("servers.bank.world: it changed after the recording"),
        "{}",
        stale.stdout
    );
}

#[test]
fn what_the_manifest_writes_is_in_the_same_state_and_replay_says_that_no_transition_did_it() {
    let bench = bench(&[
        call("pay", &json!({ "amount": 30 })),
        call("note", &json!({ "item": "lamp" })),
    ]);
    let recorded = bench.run(&["run", "suite.yml", "--record", "--quiet"]);
    assert_eq!(
        runs(&bench)[0]["final_state"]["orders"]["lamp"]["note"],
        "fragile"
    );
    assert_eq!(recorded.exit, Some(1));
    let why = "the recorded final state differs from the state that the recorded calls lead to";
    assert!(recorded.stdout.contains(why), "{}", recorded.stdout);
    assert!(
        recorded
            .stdout
            .contains("/orders/lamp/note: expected \"fragile\""),
        "{}",
        recorded.stdout
    );
}
