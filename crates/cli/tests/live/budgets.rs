//! What recording may cost, and what is said when it costs more.

use crate::bench::Bench;

/// One message costs $0.0006 at the shipped price of the model, and 120 tokens.
fn suite(budget: &str, agents: &[&str]) -> String {
    let agent = |name: &&str| {
        format!(
            "  - name: {name}\n    model: claude-sonnet-4-5\n    prompt: Say {name}.\n    runs: 5\n    cassette: {name}.jsonl\n    expect: [{{ target: final_response, matcher: {{ exact: There. }} }}]\n"
        )
    };
    format!("{budget}agents:\n{}", agents.iter().map(agent).collect::<String>())
}

fn stopped(bench: &Bench, words: &[&str], asked: usize, why: &str) {
    let ran = bench.record(&[&["--record", "--jobs", "1"], words].concat(), 5);
    assert!(ran.stderr.contains(why), "{why:?} is not in {}", ran.stderr);
    assert_eq!(bench.stub.count(), asked, "{}{}", ran.stdout, ran.stderr);
}

const SAYS: &str = "steps: [{ text: There. }]";

#[test]
fn a_budget_of_a_test_ends_that_test_and_what_was_recorded_is_kept() {
    let bench = Bench::with(&suite("budget: { per_test_usd: 0.001 }\n", &["one", "two"]), SAYS, "");
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
    assert_eq!(bench.traces("one.jsonl").len(), 4, "each recording has the whole budget");
}

#[test]
fn a_budget_of_the_suite_and_one_of_the_command_line_hold_over_all_tests() {
    let bench = Bench::with(&suite("budget: { per_suite_usd: 0.004 }\n", &["one", "two"]), SAYS, "");
    stopped(&bench, &[], 7, "`budget: per_suite_usd` of $0.004 is used up: $0.0042 was spent");
    assert_eq!((bench.traces("one.jsonl").len(), bench.traces("two.jsonl").len()), (5, 2));
    let bench = Bench::with(&suite("", &["one", "two"]), SAYS, "");
    stopped(&bench, &["--max-cost", "0.0017"], 3, "--max-cost of $0.0017 is used up: $0.0018 was spent");
    bench.record(&["--record", "--max-cost", "1"], 0);
}

#[test]
fn a_run_over_its_tokens_is_stopped_before_the_next_call_and_not_recorded() {
    let text = suite("budget: { per_run_tokens: 240 }\n", &["one", "two"]);
    let script = "
rules: [{ when: { prompt: one }, then: repeat, steps: [{ calls: [{ name: nothing }] }] }]
steps: [{ text: There. }]
";
    let bench = Bench::with(&text, script, "");
    stopped(&bench, &[], 7, "`budget: per_run_tokens` of 240 is used up: this run used 240 tokens");
    assert!(!bench.path("one.jsonl").exists());
    assert_eq!(bench.traces("two.jsonl").len(), 5, "the other test goes on");
}

#[test]
fn a_budget_in_dollars_needs_a_price_and_that_of_a_gateway_is_not_guessed() {
    let own = "    token_efficiency: { classes: [{ name: c, members: [x] }], prices: { mine/gpt-5: { prompt_usd_per_million: 3, completion_usd_per_million: 15 } } }\n";
    let bench = Bench::new(SAYS);
    let text = format!(
        "providers:\n  mine: {{ type: openai, base_url: \"{}/v1\" }}\n{}",
        bench.stub.url(),
        suite("budget: { per_test_usd: 1 }\n", &["one"])
            .replace("model: claude-sonnet-4-5", "model: { provider: mine, id: gpt-5 }")
    );
    bench.write("suite.yml", &text);
    bench
        .record(&["--record"], 2)
        .says("there is no price for `mine/gpt-5`, so a budget in dollars cannot be held");
    assert_eq!(bench.stub.count(), 0);
    bench.record(&["--record", "--dry-run"], 0).says("there is no price for `mine/gpt-5`");
    bench.write("suite.yml", &text.replace("per_test_usd: 1", "per_run_tokens: 1000"));
    bench.record(&["--record", "--max-cost", "1"], 2).says("there is no price for `mine/gpt-5`");
    assert_eq!(bench.stub.count(), 0);
    bench.write("suite.yml", &(text.clone() + own));
    let ran = bench.run(&["run", "suite.yml", "--record"]);
    assert_eq!(bench.stub.count(), 5, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(bench.traces("one.jsonl")[0]["conversation"]["cost_usd"], 0.0006);
}
