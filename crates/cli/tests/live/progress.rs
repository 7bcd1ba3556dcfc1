//! What is said while agents are recorded, and before?

use crate::bench::LiveFolder;

const SUITE: &str = "\
servers:
  weather: { command: [./server, mock, --tools-from, manifest.yml] }
agents:
  - name: asks
    model: claude-sonnet-4-5
    servers: [weather]
    prompt: Is it sunny in Oslo?
    runs: 2
    token_budget: 5000
    expect:
      - { target: final_response, matcher: { contains: sunny } }
";

const MANIFEST: &str = "\
mock_server:
  name: weather
  tools:
    - name: get_weather
      description: The weather of a city
      responses: [{ text: sunny }]
";

const SCRIPT: &str = "\
steps:
  - calls: [{ name: get_weather, args: { city: Oslo } }]
    usage: { prompt: 500, completion: 40 }
  - text: It is sunny.
    usage: { prompt: 600, completion: 60 }
";

/// The line without its time.
fn without_time(line: &str) -> &str {
    line.rsplit_once(", ")
        .filter(|(_, time)| time.ends_with(" s"))
        .map_or(line, |(rest, _)| rest)
}

#[test]
fn plain_lines_go_to_standard_error_and_the_report_alone_to_standard_output() {
    let bench = LiveFolder::with(SUITE, SCRIPT, MANIFEST);
    let ran = bench.record(&["--record", "--jobs", "1", "--reporter", "json"], 0);
    let lines: Vec<&str> = ran.stderr.lines().map(without_time).collect();
    assert_eq!(
        lines,
        [
            "recorded asks run 1 of 2: 1,200 tokens, $0.0048",
            "recorded asks run 2 of 2: 1,200 tokens, $0.0048",
            "recorded 2 runs: 2,400 tokens, about $0.0096"
        ]
    );
    assert!(
        serde_json::from_str::<serde_json::Value>(&ran.stdout).is_ok(),
        "{}",
        ran.stdout
    );
    let live = bench.record(&["--live", "--jobs", "1"], 0);
    assert!(
        live.stderr
            .ends_with("ran 2 runs: 2,400 tokens, about $0.0096\n"),
        "{}",
        live.stderr
    );
}

#[test]
fn quiet_says_nothing_while_it_records() {
    let bench = LiveFolder::with(SUITE, SCRIPT, MANIFEST);
    assert_eq!(bench.record(&["--record", "--quiet"], 0).stderr, "");
}

#[test]
fn a_failure_is_told_at_once_and_without_its_secrets() {
    let suite = SUITE.replace(
        "[./server, mock, --tools-from, manifest.yml]",
        "[./server, no-such-command, \"${WEATHER_KEY}\"]",
    );
    let bench = LiveFolder::with(&suite, SCRIPT, MANIFEST);
    let mut command = bench.command(&["run", "suite.yml", "--record", "--jobs", "1"]);
    let output = command
        .env("WEATHER_KEY", "correct-horse-battery")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.starts_with("failed asks run 1 of 2: server \"weather\": it exited with code 2"),
        "{said}"
    );
    assert!(
        said.lines()
            .next()
            .unwrap()
            .contains("it wrote to stderr: | error: unrecognized subcommand"),
        "{said}"
    );
    assert!(
        said.ends_with("recorded 0 of 2 runs: nothing was spent\n"),
        "{said}"
    );
    assert!(!said.contains("correct-horse-battery"), "{said}");
}

#[test]
fn a_dry_run_needs_no_key_starts_nothing_and_learns_from_what_is_recorded() {
    let bench = LiveFolder::with(SUITE, SCRIPT, MANIFEST);
    let dry = || {
        let ran = bench
            .command(&["run", "suite.yml", "--dry-run"])
            .env_clear()
            .output()
            .unwrap();
        assert_eq!(ran.status.code(), Some(0));
        String::from_utf8(ran.stdout).unwrap()
    };
    let before = dry();
    assert!(
        before
            .lines()
            .nth(1)
            .unwrap()
            .starts_with("asks     2                   50          10,000        ~"),
        "{before}"
    );
    assert!(bench.stub.log().is_empty() && !bench.path("cassettes").exists());
    bench.record(&["--record"], 0);
    let after = dry();
    assert_eq!(
        after.lines().nth(1).unwrap(),
        "asks     2                   50          10,000         2,400     $0.0096"
    );
}
