//! What is never recorded over?

use crate::place::{Place, seen, stub};

const SUITE: &str = "
servers: { healthy: { mock: mock.yml } }
agents:
  - { name: a, cassette: a.jsonl, model: claude-a, servers: [healthy], prompt: go,
      expect: [{ target: final_response, matcher: { contains: hello } }] }
";

#[test]
fn what_a_newer_mcptest_recorded_stays_as_it_is_and_costs_nothing() {
    let place = Place::new(SUITE);
    let stub = stub("steps: [{ text: hello }]");
    let newer = "{\"format\":\"mcptest-cassette\",\"version\":99,\"agent\":\"a\"}\n{\"run\":1,\"trace\":{}}\n";
    place.write("a.jsonl", newer);
    for mode in [
        "--record",
        "--record=missing",
        "--record=stale",
        "--record=failed",
    ] {
        let output = place
            .asking(&stub, &["run", mode, "--quiet"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{mode}: {}", seen(&output));
        assert!(
            seen(&output).contains("this file has version 99"),
            "{mode}: {}",
            seen(&output)
        );
        assert_eq!(
            (place.read("a.jsonl").as_str(), stub.count()),
            (newer, 0),
            "{mode}"
        );
    }
    place.assert_clean();
}

#[test]
fn a_run_with_what_no_reader_could_read_again_is_kept_as_the_failure_that_it_is() {
    let place = Place::new(SUITE);
    let deep = format!("{}{}", "[".repeat(120), "]".repeat(120));
    let arguments = format!("{{\"x\":{deep}}}");
    let stub = stub(&format!(
        "steps: [{{ calls: [{{ name: echo, args_text: '{arguments}' }}, {{ name: echo, args_text: '{{\"n\":1e400}}' }}] }}, {{ text: hello }}]"
    ));
    let output = place
        .asking(
            &stub,
            &["run", "--record", "--quiet", "--reporter", "json=a.json"],
        )
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", seen(&output));
    let run: serde_json::Value =
        serde_json::from_str(place.read("a.jsonl").lines().nth(1).unwrap()).unwrap();
    for at in 0..2 {
        let said = run["trace"]["tool_results"][at]["error"]["message"]
            .as_str()
            .unwrap();
        assert!(
            said.starts_with("the arguments are not a JSON object, so the tool was not called: {"),
            "{said}"
        );
    }
    let replayed = place
        .command(&["run", "--reporter", "json=b.json"])
        .output()
        .unwrap();
    assert_eq!(replayed.status.code(), Some(0), "{}", seen(&replayed));
    assert!(place.read("a.json") == place.read("b.json"));
}
