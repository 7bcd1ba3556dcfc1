//! Servers by other authors, driven by a scripted model: are their answers recorded, and replayed
//! without them?

use crate::bench::{LiveFolder, model_list};
use crate::sealed::run_sealed;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

fn peers() -> PathBuf {
    let place = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../target/peers")
        .canonicalize();
    place.expect("target/peers is missing: run tests/peers/install")
}

const SUITE: &str = "
servers:
  everything: { command: [./everything, stdio], env: { PATH: \"${PEERS}:/usr/bin:/bin\" } }
  memory: { command: [./memory], env: { PATH: \"${PEERS}:/usr/bin:/bin\", MEMORY_FILE_PATH: \"${PWD}/memory.json\" } }
agents:
  - name: gets along with both
    models: [MODELS]
    servers: [everything, memory]
    prompt: Go on.
    setup: [rm, -f, memory.json]
    cassette: 'r/{model}.jsonl'
    expect:
      - { target: 'tool_results[*].is_error', matcher: { exact: [false, false, false, true, false, false] } }
      - { target: 'tool_results[1].content[0].text', matcher: { exact: The sum of 2 and 3 is 5. } }
      - { target: 'tool_results[2].content[1].mimeType', matcher: { exact: image/png } }
      - { target: final_response, matcher: { contains: likes engines } }
    trajectory:
      mode: strict
      calls: [everything.echo, everything.get-sum, everything.get-tiny-image, everything.echo, memory.create_entities, memory.read_graph]
";

const SCRIPT: &str = "
steps:
  - calls:
      - { name: everything__echo, args: { message: hello } }
      - { name: everything__get-sum, args: { a: 2, b: 3 } }
      - { name: everything__get-tiny-image, args: {} }
      - { name: everything__echo, args: {} }
  - calls: [{ name: memory__create_entities, args: { entities: [{ name: Ada, entityType: person, observations: [likes engines] }] } }]
  - calls: [{ name: memory__read_graph, args: {} }]
  - text: '{{last_result}}'
";

#[test]
fn reference_servers_are_recorded_in_every_dialect_and_replayed_without_them() {
    let bench = LiveFolder::new(SCRIPT);
    let programs = peers().join("node_modules/.bin");
    for (name, program) in [
        ("everything", "mcp-server-everything"),
        ("memory", "mcp-server-memory"),
    ] {
        std::os::unix::fs::symlink(programs.join(program), bench.path(name)).unwrap();
    }
    bench.write("suite.yml", &SUITE.replace("MODELS", &model_list()));
    // One memory for all, so one run after the other.
    let words = [
        "run",
        "suite.yml",
        "--record",
        "--jobs",
        "1",
        "--reporter",
        "pretty",
        "--reporter",
        "json=recorded.json",
    ];
    let recorded = bench
        .command(&words)
        .env("PEERS", &programs)
        .output()
        .unwrap();
    let recorded = crate::bench::Ran::of(&recorded);
    assert_eq!(
        recorded.exit,
        Some(0),
        "{}{}",
        recorded.stdout,
        recorded.stderr
    );
    for gone in ["everything", "memory", "memory.json"] {
        bench.remove(gone);
    }
    let words = [
        "run",
        "suite.yml",
        "--reporter",
        "pretty",
        "--reporter",
        "json=replayed.json",
    ];
    let replayed = run_sealed(&bench, &words);
    assert_eq!(
        (replayed.exit, &replayed.stdout),
        (Some(0), &recorded.stdout),
        "{}",
        replayed.stderr
    );
    assert_eq!(bench.read("replayed.json"), bench.read("recorded.json"));
}

#[test]
fn a_server_behind_an_address_is_recorded_and_replayed_when_nobody_listens_there_any_more() {
    let bench = LiveFolder::new(
        "steps: [{ calls: [{ name: echo, args: { said: hello } }] }, { text: '{{last_result}}' }]",
    );
    bench.write(
        "manifest.yml",
        "mock_server: { tools: [{ name: echo, response: 'You said ${args.said}.' }] }",
    );
    let mut server = bench.command(&[
        "mock",
        "--tools-from",
        "manifest.yml",
        "--http",
        "127.0.0.1:0",
    ]);
    let mut server = server.stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(server.stderr.take().unwrap())
        .read_line(&mut first)
        .unwrap();
    let address = first
        .split_whitespace()
        .find(|word| word.starts_with("http://"))
        .unwrap()
        .to_owned();
    let suite = format!(
        "servers:\n  web: {{ url: \"{address}\" }}\nagents:\n  - name: a\n    model: gpt-5\n    servers: [web]\n    prompt: Go.\n    runs: 6\n    cassette: a.jsonl\n    expect: [{{ target: final_response, matcher: {{ exact: You said hello. }} }}]\n"
    );
    bench.write("suite.yml", &suite);
    let recorded = bench.run(&["run", "suite.yml", "--record", "--jobs", "3"]);
    server.kill().unwrap();
    server.wait().unwrap();
    assert_eq!(
        recorded.exit,
        Some(0),
        "{}{}",
        recorded.stdout,
        recorded.stderr
    );
    let replayed = run_sealed(&bench, &["run", "suite.yml"]);
    assert_eq!((replayed.exit, replayed.stdout), (Some(0), recorded.stdout));
    bench.record(&["--live"], 2);
}
