//! What a user wrote, or is judging, is not written over.

use super::*;

const MOCK: &str = "mock_server:\n  tools: [{ name: search }]\n";

/// A suite with an agent that is recorded.
fn recorded(cassette: &str, program: &str) -> String {
    format!(
        "servers:\n  s: {{ mock: m.yml }}\nagents:\n  - name: works\n    agent: {{ command: [sh, -c, '{program}'] }}\n    \
         servers: [s]\n    prompt: Work.\n    cassette: {cassette}\n    expect: [{{ target: final_response, matcher: \
         {{ contains: done }} }}]\n"
    )
}

#[test]
fn recording_replaces_an_empty_file_and_a_recording_and_nothing_else() {
    let here = folder(&[("m.yml", MOCK), ("empty.jsonl", ""), ("trace.jsonl", TRACE)]);
    let at = |name: &str| here.path().join(name);
    fs::write(at("notes.md"), "# Mine\n").unwrap();
    fs::write(at("package.json"), "{\"name\": \"mine\"}\n").unwrap();
    fs::write(at("log.jsonl"), "{\"level\": 1}\n{\"level\": 2}\n").unwrap();
    fs::write(
        at("tape.jsonl"),
        "{\"format\":\"mcptest-tape\",\"version\":1,\"server\":{\"command\":[\"x\"]}}\n",
    )
    .unwrap();
    for name in ["notes.md", "package.json", "log.jsonl", "tape.jsonl", "s.yml"] {
        fs::write(at("s.yml"), recorded(name, "echo done")).unwrap();
        let before = fs::read(at(name)).unwrap();
        let output = mcptest(here.path(), &["run", "s.yml", "--record"]);
        let why =
            format!("{name}: the file holds something that mcptest did not record, and is left as it is");
        assert_says(&output, 2, &[&why]);
        assert_eq!(fs::read(at(name)).unwrap(), before, "{name}");
    }
    for name in ["empty.jsonl", "trace.jsonl", "new/a.jsonl", "new/a.jsonl"] {
        fs::write(at("s.yml"), recorded(name, "echo done")).unwrap();
        assert_says(&mcptest(here.path(), &["run", "s.yml", "--record"]), 0, &["1 passed"]);
        assert!(fs::read_to_string(at(name)).unwrap().contains("mcptest-cassette"), "{name}");
    }
    let output = mcptest(here.path(), &["trace-from", "tape.jsonl", "-o", "notes.md"]);
    assert_says(&output, 2, &["notes.md: the file holds something that mcptest did not record"]);
    let output = mcptest(here.path(), &["trace-from", "tape.jsonl", "-o", "tape.jsonl"]);
    assert_says(&output, 2, &["tape.jsonl: the file holds something that mcptest did not record"]);
}

#[test]
fn usage_that_an_agent_reports_through_a_pipe_is_told_of_and_hangs_nothing() {
    let program = "rm -f \"$MCPTEST_USAGE\"; mkfifo \"$MCPTEST_USAGE\"; echo done";
    let here = folder(&[("m.yml", MOCK), ("s.yml", &recorded("c.jsonl", program))]);
    let output = mcptest(here.path(), &["run", "s.yml", "--record"]);
    assert_says(&output, 0, &["MCPTEST_USAGE cannot be used: it is a named pipe, not a file"]);
}
