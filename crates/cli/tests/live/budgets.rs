//! Do budgets limit the cost of recording, and are they reported?

use crate::bench::LiveFolder;

/// One message costs $0.0006 at the built-in price of the model, and 120 tokens.
fn suite(budget: &str, agents: &[&str]) -> String {
    let agent = |name: &&str| {
        format!(
            "  - name: {name}\n    model: claude-sonnet-4-5\n    prompt: Say {name}.\n    runs: 5\n    cassette: {name}.jsonl\n    expect: [{{ target: final_response, matcher: {{ exact: There. }} }}]\n"
        )
    };
    format!(
        "{budget}agents:\n{}",
        agents.iter().map(agent).collect::<String>()
    )
}

fn stopped(bench: &LiveFolder, words: &[&str], asked: usize, why: &str) {
    let ran = bench.record(&[&["--record", "--jobs", "1"], words].concat(), 5);
    assert!(ran.stderr.contains(why), "{why:?} is not in {}", ran.stderr);
    assert_eq!(bench.stub.count(), asked, "{}{}", ran.stdout, ran.stderr);
}

const SAYS: &str = "steps: [{ text: There. }]";

#[test]
fn a_budget_of_a_test_ends_that_test_and_what_was_recorded_is_kept() {
    let bench = LiveFolder::with(
        &suite("budget: { per_test_usd: 0.001 }\n", &["one", "two"]),
        SAYS,
        "",
    );
    stopped(
        &bench,
        &[],
        4,
        "recording was stopped: `budget: per_test_usd` of $0.001 is used up: $0.0012 was spent ($0.0024 and 480 tokens in all)",
    );
    for name in ["one.jsonl", "two.jsonl"] {
        assert_eq!(bench.traces(name).len(), 2, "{name}");
    }
    bench.replay(2).says("2 of 5 runs are recorded");
    bench.record(&["--record=missing", "--jobs", "1"], 5);
    assert_eq!(
        bench.traces("one.jsonl").len(),
        4,
        "each recording has the whole budget"
    );
}

#[test]
fn a_budget_of_the_suite_and_one_of_the_command_line_hold_over_all_tests() {
    let bench = LiveFolder::with(
        &suite("budget: { per_suite_usd: 0.004 }\n", &["one", "two"]),
        SAYS,
        "",
    );
    stopped(
        &bench,
        &[],
        7,
        "`budget: per_suite_usd` of $0.004 is used up: $0.0042 was spent",
    );
    assert_eq!(
        (
            bench.traces("one.jsonl").len(),
            bench.traces("two.jsonl").len()
        ),
        (5, 2)
    );
    let bench = LiveFolder::with(&suite("", &["one", "two"]), SAYS, "");
    stopped(
        &bench,
        &["--max-cost", "0.0017"],
        3,
        "--max-cost of $0.0017 is used up: $0.0018 was spent",
    );
    bench.record(&["--record", "--max-cost", "1"], 0);
}

#[test]
fn a_run_over_its_tokens_is_stopped_before_the_next_call_and_not_recorded() {
    let text = suite("budget: { per_run_tokens: 240 }\n", &["one", "two"]);
    let script = "
rules: [{ when: { prompt: one }, then: repeat, steps: [{ calls: [{ name: nothing }] }] }]
steps: [{ text: There. }]
";
    let bench = LiveFolder::with(&text, script, "");
    stopped(
        &bench,
        &[],
        7,
        "`budget: per_run_tokens` of 240 is used up: this run used 240 tokens",
    );
    assert!(!bench.path("one.jsonl").exists());
    assert_eq!(bench.traces("two.jsonl").len(), 5, "the other test goes on");
}

#[test]
fn a_budget_in_dollars_needs_a_price_and_that_of_a_gateway_is_not_guessed() {
    let own = "    token_efficiency: { classes: [{ name: c, members: [x] }], prices: { mine/gpt-5: { prompt_usd_per_million: 3, completion_usd_per_million: 15 } } }\n";
    let bench = LiveFolder::new(SAYS);
    let text = format!(
        "providers:\n  mine: {{ type: openai, base_url: \"{}/v1\" }}\n{}",
        bench.stub.url(),
        suite("budget: { per_test_usd: 1 }\n", &["one"]).replace(
            "model: claude-sonnet-4-5",
            "model: { provider: mine, id: gpt-5 }"
        )
    );
    bench.write("suite.yml", &text);
    bench
        .record(&["--record"], 2)
        .says("no price is known for `mine/gpt-5`, so mcptest cannot enforce a dollar budget");
    assert_eq!(bench.stub.count(), 0);
    bench
        .record(&["--record", "--dry-run"], 0)
        .says("no price is known for `mine/gpt-5`");
    bench.write(
        "suite.yml",
        &text.replace("per_test_usd: 1", "per_run_tokens: 1000"),
    );
    bench
        .record(&["--record", "--max-cost", "1"], 2)
        .says("no price is known for `mine/gpt-5`");
    assert_eq!(bench.stub.count(), 0);
    bench.write("suite.yml", &(text.clone() + own));
    let ran = bench.run(&["run", "suite.yml", "--record"]);
    assert_eq!(bench.stub.count(), 5, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(
        bench.traces("one.jsonl")[0]["conversation"]["cost_usd"],
        0.0006
    );
}

#[test]
fn calls_that_are_under_way_at_once_pass_a_limit_by_one_call_at_most() {
    // Each answer takes a while, so that many would be under way, and costs $0.0006.
    let script = "steps: [{ text: There., delay_ms: 50 }]";
    for (budget, words) in [
        (
            "budget: { per_suite_usd: 0.0017 }\n",
            &["--record", "--jobs", "8"][..],
        ),
        ("", &["--record", "--jobs", "8", "--max-cost", "0.0017"]),
    ] {
        let bench = LiveFolder::with(&suite(budget, &["one", "two", "three"]), script, "");
        bench
            .record(words, 5)
            .says("of $0.0017 is used up: $0.0018 was spent");
        assert_eq!(bench.stub.count(), 3, "{words:?}");
    }
    // Where the limit is far away, they are.
    let bench = LiveFolder::with(
        &suite("", &["one", "two"]),
        "steps: [{ text: There., gather: 4 }]",
        "",
    );
    bench.record(&["--record", "--jobs", "4", "--max-cost", "5"], 0);
}

#[test]
fn a_provider_that_counts_nothing_is_held_to_an_estimate() {
    let uncounted = "steps: [{ text: There., uncounted: true }]";
    let bench = LiveFolder::with(&suite("", &["one", "two"]), uncounted, "");
    let ran = bench.record(&["--record", "--jobs", "1", "--max-cost", "0.0001"], 5);
    ran.says("--max-cost of $0.0001 is used up")
        .says("partly estimated because a provider reports no token counts");
    let trace = &bench.traces("one.jsonl")[0];
    assert!(
        trace["conversation"]["tokens"]["prompt"].is_null(),
        "an estimate is no count: {trace:#}"
    );
    let noted = trace["errors"][0]["message"].as_str().unwrap();
    assert_eq!(
        noted,
        "it reports no token counts, so mcptest enforces the budget with a tokenizer's estimate"
    );
    let bench = LiveFolder::with(
        &suite("budget: { per_run_tokens: 10 }\n", &["one"]),
        "then: repeat\nsteps: [{ calls: [{ name: nothing }], uncounted: true }]",
        "",
    );
    bench
        .record(&["--record", "--jobs", "1"], 5)
        .says("`budget: per_run_tokens` of 10 is used up");
}

#[test]
fn every_turn_has_its_tokens_its_cost_and_its_time() {
    let manifest = "mock_server: { tools: [{ name: look, response: Nothing. }] }";
    let text = "
servers:
  desk: { command: [./server, mock, --tools-from, manifest.yml] }
agents:
  - name: a
    models: [claude-sonnet-4-5, gpt-5, gemini-2.5-pro]
    servers: [desk]
    prompt: Look.
    cassette: 'r/{model}.jsonl'
    expect: [{ target: 'conversation.turns[1].tokens.cache_read', matcher: { exact: 800 } }]
";
    let script = "
steps:
  - { calls: [{ name: look }], usage: { prompt: 1000, cached: 800, completion: 100 } }
  - { text: There., usage: { prompt: 1200, cached: 1000, completion: 50, thoughts: 20 } }
";
    let bench = LiveFolder::with(text, script, manifest);
    bench.record(&["--record"], 0);
    // In millionths of a dollar: what is new, what is cached, what is written.
    for (model, first, second) in [
        (
            "claude-sonnet-4-5",
            200.0 * 3.0 + 800.0 * 0.3 + 100.0 * 15.0,
            200.0 * 3.0 + 1000.0 * 0.3 + 50.0 * 15.0,
        ),
        (
            "gpt-5",
            200.0 * 1.25 + 800.0 * 0.125 + 100.0 * 10.0,
            200.0 * 1.25 + 1000.0 * 0.125 + 50.0 * 10.0,
        ),
        (
            "gemini-2.5-pro",
            200.0 * 1.25 + 800.0 * 0.125 + 100.0 * 10.0,
            200.0 * 1.25 + 1000.0 * 0.125 + 50.0 * 10.0,
        ),
    ] {
        let trace = bench.trace(&format!("r/{model}.jsonl"));
        let conversation = &trace["conversation"];
        let turns = conversation["turns"].as_array().unwrap();
        let micro = |value: &serde_json::Value| (value.as_f64().unwrap() * 1e9).round() / 1e3;
        assert_eq!(
            [micro(&turns[1]["cost_usd"]), micro(&turns[2]["cost_usd"])],
            [first, second],
            "{model}"
        );
        assert_eq!(micro(&conversation["cost_usd"]), first + second, "{model}");
        assert_eq!(conversation["tokens"]["cache_read"], 1800, "{model}");
        let start = |value: &serde_json::Value| value["start_ms"].as_u64().unwrap();
        let call = &trace["tool_results"][0];
        assert!(
            turns[1]["duration_ms"].is_u64() && call["duration_ms"].is_u64(),
            "{trace:#}"
        );
        assert!(
            start(&turns[0]) <= start(&turns[1]) && start(&turns[1]) <= start(call),
            "{trace:#}"
        );
        assert!(start(call) <= start(&turns[2]), "{trace:#}");
    }
    bench.replay(0);
}
