//! `stop: decided`: when does recording end early, and is that still right later?

use crate::bench::LiveFolder;

const SUITE: &str = "
agents:
  - name: says yes
    model: claude-sonnet-4-5
    prompt: Yes?
    runs: 10
    stop: decided
    cassette: a.jsonl
    expect: [{ target: final_response, matcher: { exact: Yes. } }]
    reliability:
      expect: [{ target: reliability.pass_rate, matcher: { gte: 0.5 } }]
";

const YES: &str = "steps: [{ text: Yes. }]";

#[test]
fn recording_ends_when_the_rest_can_change_nothing_and_says_what_that_saved() {
    let bench = LiveFolder::with(SUITE, YES, "");
    let recorded = bench.record(&["--record", "--jobs", "1", "-v"], 0);
    recorded.says("stopped after 5 of 10 runs: the verdict was decided (5 runs saved)");
    assert_eq!((bench.stub.count(), bench.traces("a.jsonl").len()), (5, 5));
    let text = bench.read("a.jsonl");
    assert_eq!(
        text.lines().last().unwrap(),
        r#"{"stopped":{"after":5,"of":10}}"#
    );
    assert_eq!(
        bench.run(&["run", "suite.yml", "-v"]).stdout,
        recorded.stdout
    );
    bench.record(&["--record=missing"], 0);
    assert_eq!(
        (bench.stub.count(), bench.read("a.jsonl")),
        (5, text),
        "nothing is missing"
    );
}

#[test]
fn a_failure_that_nothing_can_undo_ends_it_too() {
    let script = "rules: [{ when: { run: 1 }, steps: [{ text: No. }] }]\nsteps: [{ text: Yes. }]";
    let suite = SUITE.replace("gte: 0.5", "gte: 1");
    let bench = LiveFolder::with(&suite, script, "");
    bench
        .record(&["--record", "--jobs", "1", "-v"], 1)
        .says("stopped after 2 of 10 runs");
    assert_eq!(bench.stub.count(), 2);
    bench.replay(1);
}

#[test]
fn a_gate_that_no_longer_holds_for_the_runs_there_are_refuses_them_and_says_how_to_go_on() {
    let bench = LiveFolder::with(SUITE, YES, "");
    bench.record(&["--record", "--jobs", "1"], 0);
    let half = bench.read("a.jsonl");
    bench.write("suite.yml", &SUITE.replace("gte: 0.5", "gte: 0.9"));
    let refused = bench.replay(2);
    refused.says("5 of 10 runs are recorded: recording stopped early, and with the current suite, the remaining runs could change the verdict");
    refused.says("mcptest run suite.yml --record=missing --filter 'says yes'");
    bench.write("suite.yml", &SUITE.replace("    stop: decided\n", ""));
    bench
        .replay(2)
        .says("the suite does not set `stop: decided`");
    bench.write("suite.yml", &SUITE.replace("runs: 10", "runs: 11"));
    bench.replay(2).says("5 of 11 runs are recorded");
    bench.write("suite.yml", &SUITE.replace("gte: 0.5", "gte: 0.4"));
    bench.replay(0);

    bench.write("suite.yml", &SUITE.replace("gte: 0.5", "gte: 0.9"));
    bench
        .record(&["--record=missing", "--jobs", "1", "-v"], 0)
        .says("stopped after 9 of 10 runs");
    assert_eq!(bench.stub.count(), 9);
    let kept: Vec<&str> = half.lines().take(6).collect();
    let text = bench.read("a.jsonl");
    assert_eq!(text.lines().take(6).collect::<Vec<_>>(), kept);
    assert_eq!(
        text.lines().last().unwrap(),
        r#"{"stopped":{"after":9,"of":10}}"#
    );
    assert_eq!(text.matches("stopped").count(), 1, "{text}");
    bench.replay(0);
    bench.write("suite.yml", &SUITE.replace("    stop: decided\n", ""));
    bench.record(&["--record=missing"], 0);
    assert!(
        !bench.read("a.jsonl").contains("stopped"),
        "all runs are there now"
    );
    bench.replay(0);
}

#[test]
fn several_at_once_stop_early_as_well_and_the_recording_holds() {
    let script = "rules: [{ when: { run: 2, every: 3 }, steps: [{ text: No., delay_ms: 50 }] }]\nsteps: [{ text: Yes., delay_ms: 50 }]";
    for jobs in ["2", "8"] {
        let bench = LiveFolder::with(&SUITE.replace("runs: 10", "runs: 60"), script, "");
        let recorded = bench.record(&["--record", "--jobs", jobs, "-v"], 0);
        let runs = bench.traces("a.jsonl").len();
        assert!((30..60).contains(&runs), "{jobs} jobs: {runs} runs");
        assert_eq!(bench.stub.count(), runs);
        recorded.says(&format!("stopped after {runs} of 60 runs"));
        assert_eq!(
            bench.run(&["run", "suite.yml", "-v"]).stdout,
            recorded.stdout
        );
    }
}

#[test]
fn numbers_that_every_run_moves_are_never_decided_early() {
    let suite = SUITE.replace(
        "    reliability:\n      expect: [{ target: reliability.pass_rate, matcher: { gte: 0.5 } }]\n",
        "    stability:\n      expect: [{ target: stability.variance, matcher: { lte: 0.5 } }]\n",
    );
    let bench = LiveFolder::with(&suite, YES, "");
    bench.record(&["--record"], 0);
    assert_eq!(bench.traces("a.jsonl").len(), 10);
}
