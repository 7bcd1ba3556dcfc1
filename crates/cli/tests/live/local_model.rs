//! A real model on this machine, behind llama.cpp's server: are its answers in three dialects
//! recorded, and replayed without it?

use crate::bench::LiveFolder;
use crate::sealed::run_sealed;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

struct LocalModel {
    server: Child,
    address: String,
}

impl LocalModel {
    fn start() -> Self {
        let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers/model");
        let model = model
            .canonicalize()
            .expect("no model in target/peers: run tests/peers/install --model");
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let mut server = Command::new(model.join("llama-server"))
            .arg("--model")
            .arg(model.join("model.gguf"))
            .args([
                "--host",
                "127.0.0.1",
                "--port",
                &port.to_string(),
                "--jinja",
                "--ctx-size",
                "8192",
            ])
            .args(["--temp", "0"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(server.stderr.take().unwrap()).lines();
        let is_ready = lines
            .by_ref()
            .map_while(Result::ok)
            .any(|line| line.contains("listening on http://"));
        assert!(is_ready, "llama-server ended before it listened");
        // The pipe is read to its end, or the server would wait for room in it.
        std::thread::spawn(move || lines.for_each(drop));
        Self {
            server,
            address: format!("http://127.0.0.1:{port}"),
        }
    }
}

impl Drop for LocalModel {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

const SUITE: &str = "
providers:
  chat: { type: openai, base_url: 'ADDRESS/v1' }
  responses: { type: openai-responses, base_url: 'ADDRESS/v1' }
  messages: { type: anthropic, base_url: 'ADDRESS' }
servers:
  weather: { command: [./server, mock, --tools-from, manifest.yml] }
agents:
  - name: a small model answers
    models:
      - { provider: chat, id: smollm2 }
      - { provider: responses, id: smollm2 }
      - { provider: messages, id: smollm2 }
    servers: [weather]
    prompt: How is the weather in Oslo? Call get_weather.
    max_turns: 3
    max_tokens: 40
    runs: 1
    expect:
      - { target: conversation.tokens.prompt, matcher: { schema: { minimum: 20 } } }
      - { target: conversation.tokens.completion, matcher: { schema: { minimum: 1 } } }
      - { target: 'conversation.turns[-1].role', matcher: { exact: assistant } }
";

#[test]
#[ignore = "needs tests/peers/install --model"]
fn a_real_model_is_recorded_in_three_dialects_and_replayed_when_it_is_gone() {
    let model = LocalModel::start();
    let bench = LiveFolder::with(
        &SUITE.replace("ADDRESS", &model.address),
        "steps: []",
        "mock_server: { tools: [{ name: get_weather, description: The weather of a city, inputSchema: { type: object, properties: { city: { type: string } }, required: [city] }, response: 'Rain in ${args.city}.' }] }",
    );
    let words = [
        "run",
        "suite.yml",
        "--record",
        "--reporter",
        "pretty",
        "--reporter",
        "json=recorded.json",
    ];
    let recorded = bench.run(&words);
    assert_eq!(
        recorded.exit,
        Some(0),
        "{}{}",
        recorded.stdout,
        recorded.stderr
    );
    drop(model);
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
