//! What does a user read about an unreadable transcript? No input may do worse than fail.

use crate::fixtures;
use mcptest_import::{IMPORTERS, find, import};
use std::path::Path;

fn problem(text: &str) -> String {
    import(text.as_bytes(), None)
        .err()
        .unwrap_or_else(|| panic!("{text} was read"))
        .to_string()
}

/// A text, and its error.
const WRONG_TYPES: [(&str, &str); 14] = [
    (
        "{\n \"messages\": 7\n}",
        "line 2, column 14: read as openai chat: `messages` is a number, not a list",
    ),
    (
        "[{\"role\":\"user\",\"content\":\"a\"},\n 3]",
        "line 2, column 2: read as openai chat: a message is a number, not an object",
    ),
    (
        "[{\"role\":\"assistant\",\n\"tool_calls\":{}}]",
        "line 2, column 14: read as openai chat: `tool_calls` is an object, not a list",
    ),
    (
        "[{\"role\":\"assistant\",\"tool_calls\":[\n{\"id\":\"a\",\"function\":{}}]}]",
        "line 2, column 22: read as openai chat: a call has no `name`",
    ),
    (
        "[{\"role\":\"wizard\",\"content\":\"a\"}]",
        "line 1, column 2: read as openai chat: `role` is `wizard`; it is system, developer, user, assistant, tool or function",
    ),
    (
        "[{\"role\":\"user\",\"content\":{}}]",
        "line 1, column 27: read as openai chat: `content` is an object, not a string or a list of parts",
    ),
    (
        "{\"model\":\"m\",\"input\":7}",
        "line 1, column 22: read as openai responses: `input` is a number, not a list",
    ),
    (
        "[{\"type\":\"function_call\",\"call_id\":\"a\"}]",
        "line 1, column 2: read as openai responses: a call has no `name`",
    ),
    (
        "[{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":1,\"name\":\"a\"}]}]",
        "line 1, column 57: read as anthropic: `id` is a number, not a string",
    ),
    (
        "{\"messages\":[{\"role\":\"user\"}],\"system\":\"s\"}",
        "line 1, column 14: read as anthropic: a message has no `content`",
    ),
    (
        "[{\"type\":\"human\",\"content\":\"a\"},{\"type\":\"alien\"}]",
        "line 1, column 33: read as langchain: this is not a message: `type` is `alien`; valid types are human, ai, system and tool",
    ),
    (
        "{\"run_type\":\"llm\",\"inputs\":[]}",
        "line 1, column 28: read as langchain: `inputs` is a list, not an object",
    ),
    (
        "{\"resourceSpans\":{}}",
        "line 1, column 18: read as otel genai: `resourceSpans` is an object, not a list",
    ),
    (
        "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"traceId\":\"a\"}]}]}]}",
        "line 1, column 44: read as otel genai: a span has no `spanId`",
    ),
];

#[test]
fn a_wrong_type_is_told_with_its_place_and_what_belongs_there() {
    let mut wrong = Vec::new();
    for (text, expected) in WRONG_TYPES {
        let found = problem(text);
        if found != expected {
            wrong.push(format!("{text}\n  {found}\n  {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_nobody_knows_is_described_and_the_formats_are_named() {
    let told = problem(r#"{"customer":1,"items":[],"total":2,"paid":true,"due":null,"note":""}"#);
    let start = "an object with `customer`, `items`, `total`, `paid`, `due`, … is not a known transcript format";
    assert!(told.starts_with(start), "{told}");
    for importer in IMPORTERS {
        assert!(told.contains(importer.key), "{told}");
    }
    assert!(told.contains("--format"));
    assert!(problem("[]").starts_with("an empty list is not a known transcript"));
    assert!(problem("[[1]]").starts_with(
        "a list that begins with a list that begins with a number is not a known transcript"
    ));
    assert!(
        problem("3\n4").starts_with("a number on the first of 2 lines is not a known transcript")
    );
}

#[test]
fn a_format_that_is_named_says_what_it_misses() {
    let read = |key: &str, text: &str| import(text.as_bytes(), find(key)).unwrap_err().to_string();
    let told = read("openai-chat", r#"{"resourceSpans":[]}"#);
    assert_eq!(
        told,
        "line 1, column 1: read as openai chat: `messages` and `choices` are missing; it looks like otel"
    );
    let told = read("otel", r#"{"messages":[]}"#);
    assert_eq!(
        told,
        "line 1, column 1: read as otel genai: this is not an export or a span; it looks like openai-chat"
    );
    let told = read("otel", r#"{"resourceSpans":[]}"#);
    assert!(
        told.starts_with("read as otel genai: it contains no conversation (`resourceSpans`"),
        "{told}"
    );
    for importer in IMPORTERS {
        assert!(
            import(b"[]", Some(importer)).is_err() && import(b"7", Some(importer)).is_err(),
            "{}",
            importer.key
        );
    }
}

/// The places in the documents of an archive are not places in the file.
fn is_archive(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "eval")
}

#[test]
fn a_transcript_cut_off_anywhere_is_an_error_with_a_place_or_whole() {
    for (_, path) in fixtures::all() {
        let bytes = std::fs::read(&path).unwrap();
        let whole = import(&bytes, None).unwrap().conversations();
        for end in (0..bytes.len()).step_by(7) {
            match import(&bytes[..end], None) {
                Ok(imported) => assert!(
                    imported.conversations() <= whole,
                    "{} at {end}",
                    path.display()
                ),
                Err(error) => {
                    // A file may begin with lines about its conversations, which are no transcript alone.
                    let is_about = !error.fault.is_of_a_known_format()
                        || error.to_string().contains("it contains no conversation");
                    assert!(
                        error.place.is_some() || end < 4 || is_about || is_archive(&path),
                        "{} at {end}: {error}",
                        path.display()
                    );
                }
            }
        }
    }
}

#[test]
fn every_fixture_read_as_every_other_format_is_read_or_refused_in_words() {
    for (_, path) in fixtures::all() {
        let bytes = std::fs::read(&path).unwrap();
        for importer in IMPORTERS {
            if let Err(error) = import(&bytes, Some(importer)) {
                assert!(!error.to_string().is_empty());
            }
        }
    }
}

#[test]
fn deep_nesting_is_refused_and_large_transcripts_are_read() {
    let deep = format!(
        "[{{\"role\":\"user\",\"content\":{}{}}}]",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert!(problem(&deep).contains("this is nested more than 120 levels deep"));
    let long = format!(
        "[{{\"role\":\"user\",\"content\":\"{}\"}}]",
        "x".repeat(20_000_000)
    );
    assert_eq!(import(long.as_bytes(), None).unwrap().conversations(), 1);
    let call = |at: usize| {
        format!(
            r#"{{"role":"assistant","tool_calls":[{{"id":"c{at}","function":{{"name":"t","arguments":"{{}}"}}}}]}},{{"role":"tool","tool_call_id":"c{at}","content":"ok"}}"#
        )
    };
    let many: Vec<String> = (0..20_000).map(call).collect();
    let text = format!("[{}]", many.join(","));
    let told = import(text.as_bytes(), None)
        .unwrap()
        .fidelity()
        .to_string();
    assert!(
        told.starts_with("openai chat: 20000 calls, 20000 results"),
        "{told}"
    );
}
