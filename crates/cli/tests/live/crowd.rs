//! Distractors: who sees them, what does a call of one get, and what is recorded?

use crate::bench::LiveFolder;
use serde_json::Value;

const DESK: &str = "
mock_server:
  tools:
    - name: get_weather
      description: The weather of a city.
      input_schema:
        type: object
        required: [city]
        properties:
          city: { type: string, description: As api_key=abc is written. }
          password: { type: string, default: hunter2hunter2 }
      response: It is sunny.
    - { name: get_forecast, description: Tomorrow. }
";

const SCRIPT: &str = "
rules:
  - when: { prompt: fooled }
    steps: [{ calls: [{ name: fetch_weather, args: { city: Oslo } }] }, { calls: [{ name: desk__get_weather, args: { city: Oslo } }] }]
steps: [{ calls: [{ name: desk__get_weather, args: { city: Oslo } }] }]
";

fn suite(server: &str, block: &str) -> String {
    format!(
        "servers:\n  desk: {{ {server} }}\nagents:\n  - name: asks\n    model: claude-sonnet-4-5\n    servers: [desk]\n    prompt: Weather in Oslo?\n    cassette: a.jsonl\n    distractors: {{ {block}, correct: [get_weather] }}\n"
    )
}

const SERVERS: [&str; 2] = [
    "mock: manifest.yml",
    "command: [./server, mock, --tools-from, manifest.yml]",
];

fn offered(body: &Value) -> usize {
    body["tools"].as_array().unwrap().len()
}

#[test]
fn a_crowd_is_seen_by_the_model_recorded_as_a_crowd_and_not_stale_the_moment_it_is_recorded() {
    for server in SERVERS {
        for block in ["count: 6", "count: 4, source: { from: near_duplicate }"] {
            let bench = LiveFolder::with(&suite(server, block), SCRIPT, DESK);
            let recorded = bench.record(&["--record"], 0);
            let replayed = bench.replay(0);
            assert_eq!(replayed.stdout, recorded.stdout, "{server} {block}");
            let (header, _) = bench.cassette("a.jsonl");
            let catalogue = header["catalogue"].as_array().unwrap();
            let crowd = catalogue
                .iter()
                .filter(|tool| tool["distractor"] == true)
                .count();
            assert_eq!(catalogue.len(), crowd + 2);
            assert_eq!(offered(&bench.stub.log()[0].body), catalogue.len());
            let asked = bench.stub.count();
            for which in ["--record=stale", "--record=missing", "--record=failed"] {
                bench.record(&[which], 0);
            }
            assert_eq!(
                bench.stub.count(),
                asked,
                "{server} {block}: there was nothing to record"
            );
        }
    }
}

#[test]
fn a_mock_whose_tools_changed_makes_its_recording_stale() {
    let bench = LiveFolder::with(&suite(SERVERS[0], "count: 6"), SCRIPT, DESK);
    bench.record(&["--record"], 0);
    bench.write(
        "manifest.yml",
        &DESK.replace("Tomorrow.", "Tomorrow's weather."),
    );
    bench
        .replay(2)
        .says("a.jsonl is stale")
        .says("get_forecast");
    bench.record(&["--record=stale"], 0);
    bench.replay(0);
    bench.write("suite.yml", &suite(SERVERS[0], "count: 7"));
    bench.replay(2).says("a.jsonl is stale");
}

#[test]
fn calling_a_distractor_is_answered_as_an_unknown_tool_and_recorded_as_one() {
    let text = suite(SERVERS[1], "count: 5, source: { from: near_duplicate }")
        .replace("Weather in", "Be fooled in");
    let bench = LiveFolder::with(&text, SCRIPT, DESK);
    bench
        .record(&["--record"], 1)
        .says("call 1 `fetch_weather` is a distractor");
    let trace = bench.trace("a.jsonl");
    assert_eq!(trace["tool_calls"][0]["distractor"], true);
    assert_eq!(trace["tool_calls"][1]["distractor"], Value::Null);
    assert_eq!(
        trace["tool_results"][0]["error"]["message"],
        "unknown tool \"fetch_weather\""
    );
    assert!(
        bench.stub.log()[1]
            .body
            .to_string()
            .contains("unknown tool")
    );
    bench.replay(1);
}

#[test]
fn a_sweep_records_the_curve_in_rows_of_their_own() {
    for server in SERVERS {
        let script = "
rules: [{ when: { run: 2 }, steps: [{ calls: [{ name: fetch_weather, args: { city: Oslo } }] }] }]
steps: [{ calls: [{ name: desk__get_weather, args: { city: Oslo } }] }]
";
        let text = suite(
            server,
            "sweep: [0, 4, 16], source: { from: near_duplicate }",
        );
        let bench = LiveFolder::with(&text, script, DESK);
        let recorded = bench.record(&["--record", "--jobs", "1"], 1);
        for (row, status) in [
            ("0 distractors", "✓"),
            ("4 distractors", "✓"),
            ("16 distractors", "✗"),
        ] {
            recorded.says(&format!("{status} asks [{row}]"));
            let (header, runs) = bench.cassette(&format!("a.{}.jsonl", row.replace(' ', "-")));
            let crowd = header["catalogue"].as_array().unwrap().len() - 2;
            assert_eq!(
                (runs.len(), format!("{crowd} distractors")),
                (1, row.to_owned())
            );
        }
        let log = bench.stub.log();
        let seen: Vec<usize> = log
            .iter()
            .step_by(2)
            .map(|asked| offered(&asked.body))
            .collect();
        assert_eq!(seen, [2, 6, 18], "{server}");
        assert_eq!(bench.replay(1).stdout, recorded.stdout);
        bench
            .record(&["--record=failed"], 0)
            .says("✓ asks [16 distractors]");
        assert_eq!(
            bench.stub.count(),
            8,
            "only the row that failed is recorded again"
        );
    }
}
