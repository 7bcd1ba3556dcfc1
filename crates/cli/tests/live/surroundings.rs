//! What does each run have to itself, what is shared, and how many run concurrently?

use crate::bench::{LiveFolder, Ran};
use serde_json::Value;
use std::collections::BTreeSet;

/// Answers each call with the number of calls so far.
const COUNTING: &str = "
mock_server:
  tools:
    - name: count
      response: { sequence: ['1', '2', '3', '4', '5', '6', '7', '8'], then: error }
";

fn counted(trace: &Value) -> u32 {
    let text = trace["tool_results"][0]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("{trace:#}"));
    text.parse().unwrap()
}

#[test]
fn every_run_has_a_server_of_its_own_unless_the_suite_shares_it() {
    for server in [
        "command: [./server, mock, --tools-from, manifest.yml]",
        "mock: manifest.yml",
    ] {
        for (shared, expected) in [("false", vec![1; 6]), ("true", vec![1, 2, 3, 4, 5, 6])] {
            let suite = format!(
                "servers:\n  desk: {{ {server}, shared: {shared} }}\nagents:\n  - name: a\n    models: [claude-sonnet-4-5, gpt-5]\n    servers: [desk]\n    prompt: Count.\n    runs: 3\n    cassette: 'r/{{model}}.jsonl'\n    expect: [{{ target: tool_calls.length, matcher: {{ exact: 1 }} }}]\n"
            );
            let bench = LiveFolder::with(&suite, "steps: [{ calls: [{ name: count }] }]", COUNTING);
            bench.record(&["--record", "--jobs", "4"], 0);
            let traces =
                ["r/claude-sonnet-4-5.jsonl", "r/gpt-5.jsonl"].map(|name| bench.traces(name));
            let mut counts: Vec<u32> = traces.iter().flatten().map(counted).collect();
            counts.sort_unstable();
            assert_eq!(counts, expected, "{server}, shared: {shared}");
            bench.replay(0);
        }
    }
}

#[test]
fn setup_and_teardown_stand_around_every_run_also_when_it_fails() {
    let suite = "
variables: { log: done.log }
servers:
  desk: { command: [./server, mock, --tools-from, manifest.yml] }
agents:
  - name: works
    model: claude-sonnet-4-5
    servers: [desk]
    prompt: Count.
    runs: 2
    setup: [sh, -c, 'echo setup >> ${log}']
    teardown: [sh, -c, 'echo teardown >> ${log}']
    cassette: works.jsonl
    expect: [{ target: tool_calls.length, matcher: { exact: 1 } }]
  - name: is refused
    model: claude-sonnet-4-5
    servers: [desk]
    prompt: Fail.
    setup: [sh, -c, 'echo setup >> ${log}']
    teardown: [sh, -c, 'echo teardown >> ${log}']
    cassette: refused.jsonl
    expect: [{ target: tool_calls.length, matcher: { exact: 1 } }]
  - name: cannot be set up
    model: claude-sonnet-4-5
    servers: [desk]
    prompt: Never said.
    runs: 3
    setup: [sh, -c, 'echo no disk >&2; exit 3']
    cassette: never.jsonl
    expect: [{ target: tool_calls.length, matcher: { exact: 1 } }]
";
    let script = "
rules: [{ when: { prompt: Fail }, steps: [{ status: 401 }] }]
steps: [{ calls: [{ name: count }] }]
";
    let bench = LiveFolder::with(suite, script, COUNTING);
    let ran = bench.record(&["--record", "--jobs", "1"], 2);
    ran.says("run 1 was not recorded: `setup:` ended with code 3; it wrote to stderr: no disk");
    ran.says("anthropic answered 401");
    let log = bench.read("done.log");
    let steps: Vec<&str> = log.lines().collect();
    assert_eq!(steps, ["setup", "teardown"].repeat(3));
    assert!(
        !bench
            .stub
            .log()
            .iter()
            .any(|asked| asked.body.to_string().contains("Never said."))
    );
    assert!(!bench.path("never.jsonl").exists() && !bench.path("refused.jsonl").exists());
}

#[test]
fn a_provider_is_never_asked_for_more_runs_at_once_than_its_jobs_say() {
    let suite = |limit: &str, url: &str| {
        format!(
            "providers:\n  mine: {{ type: openai, base_url: \"{url}/v1\"{limit} }}\nagents:\n  - name: a\n    model: {{ provider: mine, id: m }}\n    prompt: Go.\n    runs: 12\n    cassette: a.jsonl\n    expect: [{{ target: final_response, matcher: {{ exact: There. }} }}]\n"
        )
    };
    for (limit, expected) in [(", jobs: 2", 2..=2), ("", 3..=8)] {
        let bench = LiveFolder::new("steps: [{ text: There., delay_ms: 300 }]");
        bench.write("suite.yml", &suite(limit, &bench.stub.url()));
        bench.record(&["--record", "--jobs", "8"], 0);
        let most = bench.stub.most_under_way();
        assert!(
            bench.stub.count() == 12 && expected.contains(&most),
            "{limit}: {most}"
        );
    }
}

#[test]
fn the_verdict_does_not_depend_on_how_many_runs_go_on_at_once() {
    let suite = "
servers:
  desk: { command: [./server, mock, --tools-from, manifest.yml] }
agents:
  - name: counts
    models: [claude-sonnet-4-5, gpt-5]
    servers: [desk]
    prompt: Count.
    runs: 8
    expect: [{ target: tool_names, matcher: { exact: [count, count] } }]
    reliability: { k: 2, expect: [{ target: reliability.pass_rate, matcher: { gte: 0.75 } }] }
    tool_selection: { expected_tool: count, min_selection_rate: 0.9 }
";
    let script = "
rules: [{ when: { run: 3, every: 4 }, steps: [{ calls: [{ name: count }] }] }]
steps: [{ calls: [{ name: count }] }, { calls: [{ name: count }] }, { text: There. }]
";
    let mut seen = BTreeSet::new();
    for jobs in ["1", "8"] {
        let bench = LiveFolder::with(suite, script, COUNTING);
        bench.record(
            &["--record", "--jobs", jobs, "--reporter", "json=report.json"],
            0,
        );
        let report = bench.report("report.json");
        let gates: Vec<Value> = report["tests"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|test| test["gates"].as_array().unwrap())
            // Which of the runs failed is what the order decides.
            .map(|gate| {
                serde_json::json!([
                    gate["key"],
                    gate["status"],
                    gate["targets"]["reliability.pass_rate"],
                    gate["targets"]["tool_selection.selection_rate"]
                ])
            })
            .collect();
        seen.insert(serde_json::json!([report["summary"], gates]).to_string());
    }
    assert_eq!(seen.len(), 1, "{seen:#?}");
}

/// The environment that a process wrote, by name.
fn environment(bench: &LiveFolder, name: &str) -> BTreeSet<String> {
    let text = bench.read(name);
    text.lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, _)| name.to_owned())
        .collect()
}

#[test]
fn a_server_gets_no_key_that_its_entry_does_not_name() {
    let suite = "
servers:
  desk:
    command: [sh, -c, 'env > server.env; exec ./server mock --tools-from manifest.yml']
    env: { GIVEN: '${PLANTED_TOKEN}' }
agents:
  - name: of a model
    model: claude-sonnet-4-5
    servers: [desk]
    prompt: Count.
    setup: [sh, -c, 'env > setup.env']
    cassette: model.jsonl
    expect: [{ target: tool_calls.length, matcher: { exact: 1 } }]
  - name: of one's own
    agent: { command: [sh, -c, 'env > agent.env; echo done'] }
    servers: [desk]
    prompt: Count.
    cassette: own.jsonl
    expect: [{ target: final_response, matcher: { exact: done } }]
";
    let bench = LiveFolder::with(suite, "steps: [{ calls: [{ name: count }] }]", COUNTING);
    let with_secrets = |words: &[&str]| {
        let mut command = bench.command(words);
        command
            .env("PLANTED_TOKEN", "a-long-planted-value")
            .env("GITHUB_TOKEN", "another-long-value");
        let home = bench.folder().to_owned();
        let ran = Ran::of(
            &command
                .env("HOME", home)
                .env("LC_ALL", "C")
                .output()
                .unwrap(),
        );
        assert_eq!(ran.exit, Some(0), "{words:?}: {}{}", ran.stdout, ran.stderr);
    };
    // What the shell adds of its own is no leak.
    let is_ours = |name: &&String| !["PWD", "OLDPWD", "SHLVL", "_"].contains(&name.as_str());
    let of_server = ["GIVEN", "HOME", "LC_ALL", "MCPTEST_SERVER_ID", "PATH"];
    let direct = [
        "sh",
        "-c",
        "env > server.env; exec ./server mock --tools-from manifest.yml",
    ];
    for words in [
        vec!["run", "--record", "--filter", "of a model", "suite.yml"],
        vec!["run", "--record", "--filter", "one's own", "suite.yml"],
        vec!["tools", "desk", "--config", "suite.yml"],
        [
            vec!["call", "count", "--env", "GIVEN=x", "--"],
            direct.to_vec(),
        ]
        .concat(),
        [
            vec!["init", "-o", "drafted.yml", "--env", "GIVEN=x", "--"],
            direct.to_vec(),
        ]
        .concat(),
    ] {
        with_secrets(&words);
        let got = environment(&bench, "server.env");
        assert_eq!(
            got.iter().filter(is_ours).collect::<Vec<_>>(),
            of_server,
            "{words:?}"
        );
        bench.remove("server.env");
    }
    for name in ["setup.env", "agent.env"] {
        let got = environment(&bench, name);
        assert!(
            got.contains("ANTHROPIC_API_KEY") && got.contains("GITHUB_TOKEN"),
            "{name}: {got:?}"
        );
    }
}

#[test]
fn a_server_that_misses_a_variable_is_told_how_to_get_it() {
    let bench = LiveFolder::new("steps: [{ text: hi }]");
    let words = [
        "tools",
        "--",
        "sh",
        "-c",
        "echo 'GITHUB_TOKEN is not set' >&2; exit 1",
    ];
    let ran = Ran::of(
        &bench
            .command(&words)
            .env("GITHUB_TOKEN", "a-long-planted-value")
            .output()
            .unwrap(),
    );
    ran.says(
        "GITHUB_TOKEN is set here, so write `env: { GITHUB_TOKEN: \"${GITHUB_TOKEN}\" }` into its entry",
    );
    assert_eq!(ran.exit, Some(2), "{ran:?}");
    let without = bench.run(&words);
    assert!(!without.stderr.contains("is set here"), "{without:?}");
}
