//! Which recordings does each mode replace: all, missing, stale, failed or none?

use crate::bench::LiveFolder;
use std::process::Stdio;
use std::time::{Duration, Instant};

const MANIFEST: &str = "mock_server: { tools: [{ name: look, response: Nothing. }] }";

const TWO: &str = "
servers:
  desk: { command: [./server, mock, --tools-from, manifest.yml] }
agents:
  - name: first
    model: claude-sonnet-4-5
    servers: [desk]
    prompt: Look left.
    runs: 3
    cassette: first.jsonl
    expect: [{ target: tool_names, matcher: { contains: look } }]
  - name: second
    model: claude-sonnet-4-5
    servers: [desk]
    prompt: Look right.
    runs: 2
    cassette: second.jsonl
    expect: [{ target: tool_names, matcher: { contains: look } }]
";

const LOOKS: &str = "steps: [{ calls: [{ name: look }] }, { text: There. }]";

/// The number of runs that began with this prompt.
fn begun(bench: &LiveFolder, prompt: &str) -> usize {
    let is_opening = |body: &serde_json::Value| {
        body["messages"]
            .as_array()
            .is_some_and(|all| all.len() == 1)
    };
    let log = bench.stub.log();
    log.iter()
        .filter(|asked| is_opening(&asked.body) && asked.body.to_string().contains(prompt))
        .count()
}

#[test]
fn a_recording_that_was_killed_goes_on_where_it_was_and_records_nothing_twice() {
    // The third run of the first agent never ends.
    let script = format!(
        "rules: [{{ when: {{ prompt: left, run: 2 }}, steps: [{{ fault: hang }}, {{ calls: [{{ name: look }}] }}, {{ text: There. }}] }}]\n{LOOKS}"
    );
    let bench = LiveFolder::with(TWO, &script, MANIFEST);
    let mut killed = bench.command(&["run", "suite.yml", "--record", "--jobs", "1"]);
    let mut killed = killed
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let patience = Instant::now() + Duration::from_secs(60);
    while begun(&bench, "left") < 3 {
        assert!(Instant::now() < patience, "the third run was never begun");
        std::thread::sleep(Duration::from_millis(20));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let finished = bench.read("first.jsonl");
    assert_eq!(
        bench
            .cassette("first.jsonl")
            .1
            .keys()
            .copied()
            .collect::<Vec<_>>(),
        [1, 2]
    );
    bench
        .replay(2)
        .says("2 of 3 runs are recorded")
        .says("--record=missing");

    bench.record(&["--record=missing", "--jobs", "1"], 0);
    let whole = bench.read("first.jsonl");
    assert!(
        whole.starts_with(&finished),
        "what was recorded stays as it was"
    );
    assert_eq!(bench.cassette("first.jsonl").1.len(), 3);
    assert_eq!(whole.lines().count(), 4, "a header, and every run once");
    assert_eq!(bench.cassette("second.jsonl").1.len(), 2);
    assert_eq!((begun(&bench, "left"), begun(&bench, "right")), (4, 2));
    bench.replay(0);

    bench.record(&["--record=missing"], 0);
    assert_eq!(
        (begun(&bench, "left"), begun(&bench, "right")),
        (4, 2),
        "nothing is missing any more"
    );
    assert_eq!(bench.read("first.jsonl"), whole);
}

#[test]
fn a_missing_run_in_the_middle_is_the_only_one_that_is_recorded() {
    let bench = LiveFolder::with(TWO, LOOKS, MANIFEST);
    bench.record(&["--record"], 0);
    let text = bench.read("first.jsonl");
    let without: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("{\"run\":2,"))
        .collect();
    bench.write("first.jsonl", &(without.join("\n") + "\n"));
    bench.replay(2).says("run 2 of 3 is not recorded");
    let asked = bench.stub.count();
    bench.record(&["--record=missing"], 0);
    assert_eq!(bench.stub.count() - asked, 2, "one run of two messages");
    let again = bench.read("first.jsonl");
    let numbers: Vec<&str> = again.lines().skip(1).map(|line| &line[..8]).collect();
    assert_eq!(numbers, ["{\"run\":1", "{\"run\":2", "{\"run\":3"]);
    assert!(without.iter().all(|line| again.contains(line)));
}

#[test]
fn a_run_that_its_provider_breaks_off_is_missing_and_no_other_is_asked_again() {
    // Of the second run the second answer never comes.
    for broken in [
        "status: 500, retry_after_ms: 1, times: 5",
        "status: 429, retry_after_ms: 1, times: 5",
        "status: 401",
    ] {
        let script = format!(
            "rules: [{{ when: {{ prompt: left, run: 1 }}, steps: [{{ calls: [{{ name: look }}] }}, {{ {broken} }}] }}]\n{LOOKS}"
        );
        let bench = LiveFolder::with(TWO, &script, MANIFEST);
        let ran = bench.record(&["--record", "--jobs", "1"], 2);
        ran.says("run 2 was not recorded: anthropic answered")
            .says("2 other runs were recorded and kept");
        ran.says("120 tokens ($0.0006)").says("--record=missing");
        assert_eq!(
            bench
                .cassette("first.jsonl")
                .1
                .keys()
                .copied()
                .collect::<Vec<_>>(),
            [1, 3],
            "{broken}"
        );
        bench
            .replay(2)
            .says("run 2 of 3 is not recorded")
            .says("--record=missing");

        let asked = bench.stub.count();
        bench.record(&["--record=missing"], 0);
        assert_eq!(bench.stub.count() - asked, 2, "one run of two messages");
        assert_eq!(bench.cassette("first.jsonl").1.len(), 3);
        bench.replay(0);
    }
}

#[test]
fn only_what_is_stale_is_recorded_again() {
    let bench = LiveFolder::with(TWO, LOOKS, MANIFEST);
    bench.record(&["--record"], 0);
    let (first, second) = (bench.read("first.jsonl"), bench.read("second.jsonl"));
    bench.write("suite.yml", &TWO.replace("Look right.", "Look over right."));
    bench
        .replay(2)
        .says("second.jsonl is stale")
        .says("mcptest run suite.yml --record=stale --filter second");
    bench.record(&["--record=missing"], 2);
    assert_eq!(
        bench.read("second.jsonl"),
        second,
        "a stale recording is not missing"
    );
    bench.record(&["--record=stale"], 0);
    assert_eq!(bench.read("first.jsonl"), first);
    assert_ne!(bench.read("second.jsonl"), second);
    assert_eq!((begun(&bench, "left"), begun(&bench, "over right")), (3, 2));
    bench.replay(0);
}

#[test]
fn of_a_test_that_failed_all_runs_are_recorded_again_and_of_others_none() {
    let script = format!(
        "rules: [{{ when: {{ prompt: left, run: 1 }}, steps: [{{ text: No need. }}] }}]\n{LOOKS}"
    );
    let bench = LiveFolder::with(TWO, &script, MANIFEST);
    bench
        .record(&["--record", "--jobs", "1"], 1)
        .says("first 3 runs, 2 passed");
    let second = bench.read("second.jsonl");
    bench.record(&["--record=failed"], 0);
    assert_eq!((begun(&bench, "left"), begun(&bench, "right")), (6, 2));
    assert_eq!(bench.read("second.jsonl"), second);
    bench.record(&["--record=failed"], 0);
    assert_eq!(begun(&bench, "left"), 6, "nothing has failed any more");
}

#[test]
fn live_runs_are_judged_and_leave_nothing_behind() {
    let script = format!(
        "rules: [{{ when: {{ prompt: left, run: 1 }}, steps: [{{ text: No need. }}] }}]\n{LOOKS}"
    );
    let bench = LiveFolder::with(TWO, &script, MANIFEST);
    let before = bench.files();
    bench
        .record(&["--live", "--jobs", "1"], 1)
        .says("first 3 runs, 2 passed")
        .says("✓ second 2 runs");
    assert_eq!(bench.files(), before);
    assert_eq!(begun(&bench, "left"), 3);
    bench.record(&["--record"], 0);
    let recorded = bench.read("first.jsonl");
    bench.record(&["--live"], 0);
    assert_eq!(
        bench.read("first.jsonl"),
        recorded,
        "a recording that is there stays as it was"
    );
}

#[test]
fn more_runs_are_added_to_those_there_are_and_other_models_have_files_of_their_own() {
    let suite = TWO
        .replace("first.jsonl", "'first-{model}.jsonl'")
        .replace("second.jsonl", "'second-{model}.jsonl'");
    let bench = LiveFolder::with(&suite, LOOKS, MANIFEST);
    bench.record(&["--record", "--filter", "first"], 0);
    let three = bench.read("first-claude-sonnet-4-5.jsonl");
    bench
        .record(&["--record=missing", "--runs", "5", "--filter", "first"], 0)
        .says("first 5 runs");
    assert!(
        bench
            .read("first-claude-sonnet-4-5.jsonl")
            .starts_with(&three)
    );
    assert_eq!(begun(&bench, "left"), 5);
    bench
        .replay(2)
        .says("5 runs are recorded; only the first 3 are judged");

    let models = [
        "--record",
        "--models",
        "gpt-5,gemini-2.5-pro",
        "--runs",
        "1",
    ];
    bench
        .record(&models, 0)
        .says("first [gpt-5]")
        .says("second [gemini-2.5-pro]");
    for name in [
        "first-gpt-5",
        "second-gpt-5",
        "first-gemini-2.5-pro",
        "second-gemini-2.5-pro",
    ] {
        let (header, runs) = bench.cassette(&format!("{name}.jsonl"));
        assert!(
            runs.len() == 1 && name.ends_with(header["model"].as_str().unwrap()),
            "{name}"
        );
    }
    bench.write("suite.yml", TWO);
    bench
        .record(&models, 2)
        .says("they cannot share the cassette `first.jsonl`");
}

const A_TOOL_TEST: &str = "
tools:
  - { name: the tool, server: desk, tool: look, expect: [{ target: 'result.content[0].text', matcher: { contains: Something } }] }
";

#[test]
fn live_a_first_failure_ends_the_rest_and_nothing_is_judged_by_an_older_recording() {
    let script = format!(
        "rules: [{{ when: {{ prompt: left, run: 3 }}, steps: [{{ text: No need. }}] }}, {{ when: {{ prompt: left, run: 4 }}, steps: [{{ text: No need. }}] }}, {{ when: {{ prompt: left, run: 5 }}, steps: [{{ text: No need. }}] }}]\n{LOOKS}"
    );
    let bench = LiveFolder::with(TWO, &script, MANIFEST);
    bench.record(&["--record", "--jobs", "1"], 0);
    bench
        .record(&["--live", "--fail-fast"], 1)
        .says("✗ first 3 runs, 0 passed")
        .says("- second not judged: --fail-fast");
    assert_eq!(
        (begun(&bench, "left"), begun(&bench, "right")),
        (6, 2),
        "the second is not begun again"
    );
}

#[test]
fn a_tool_test_that_fails_ends_the_recording_of_agents_too() {
    let bench = LiveFolder::with(&format!("{TWO}{A_TOOL_TEST}"), LOOKS, MANIFEST);
    for mode in ["--record", "--live"] {
        bench
            .record(&[mode, "--fail-fast"], 1)
            .says("✗ the tool")
            .says("- first not run: --fail-fast")
            .says("- second not run: --fail-fast");
        assert_eq!(bench.stub.count(), 0, "no model is asked");
    }
}
