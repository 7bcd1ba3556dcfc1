//! Which functions take bytes from outside? None may panic, hang or break its law on any input.

mod gates;

pub use gates::gates;

use mcptest_core::suite::{Host, load};
use mcptest_mcp::frame::{Frame, Lines};
use mcptest_mcp::tape::Tape;
use mcptest_mcp::{jsonrpc, sse};
use std::path::Path;

/// A fuzz target.
pub type Target = fn(&[u8]);

/// Every target by the name of its corpus folder.
pub const TARGETS: &[(&str, Target)] = &[
    ("framing", framing),
    ("message", message),
    ("sse", events),
    ("tape", tape),
    ("suite", suite),
    ("rows", rows),
    ("manifest", manifest),
    ("cassette", cassette),
    ("import_ag_ui", import_ag_ui),
    ("import_agentdojo", import_agentdojo),
    ("import_ai_sdk", import_ai_sdk),
    ("import_anthropic", import_anthropic),
    ("import_gemini", import_gemini),
    ("import_langchain", import_langchain),
    ("import_openai_chat", import_openai_chat),
    ("import_openai_responses", import_openai_responses),
    ("import_openinference", import_openinference),
    ("import_otel", import_otel),
    ("import_pydantic_ai", import_pydantic_ai),
    ("import_atif", import_atif),
    ("import_codex", import_codex),
    ("import_inspect", import_inspect),
    ("import_copilot", import_copilot),
    ("import_tau_bench", import_tau_bench),
    ("reply", reply),
    ("gates", gates),
];

/// Replies of providers: no body makes a dialect panic, and a parsed message can be sent back.
pub fn reply(data: &[u8]) {
    use mcptest_agent::dialect::{Ask, DIALECTS, Message};
    let Ok(body) = std::str::from_utf8(data) else {
        return;
    };
    for dialect in DIALECTS {
        if let Ok(reply) = (dialect.read)(&Ask::new("m", &[]), body) {
            let messages = [
                Message::User("hi".to_owned()),
                Message::Assistant(reply.message),
            ];
            let sent = (dialect.body)(&Ask::new("m", &messages));
            assert!(
                serde_json::from_str::<serde_json::Value>(&sent).is_ok(),
                "{}: {sent}",
                dialect.name
            );
        }
    }
}

/// Lines: no byte of a line is lost, whatever the limit.
pub fn framing(data: &[u8]) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().build() else {
        return;
    };
    let (limit, bytes) = match data.split_first() {
        Some((limit, bytes)) => (usize::from(*limit), bytes),
        None => return,
    };
    let frames = runtime.block_on(async {
        let (mut lines, mut frames) = (Lines::new(bytes, limit), Vec::new());
        while let Ok(Some(frame)) = lines.next().await {
            frames.push(frame);
        }
        frames
    });
    let expected = bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .count();
    let too_long = frames
        .iter()
        .filter(|frame| matches!(frame, Frame::TooLong { .. }))
        .count();
    assert!(
        frames.len() <= expected + too_long,
        "more frames than lines"
    );
    for frame in frames {
        if let Frame::Line(line) = frame {
            assert!(!line.contains('\n'));
            message(line.as_bytes());
        }
    }
}

/// One JSON-RPC message.
pub fn message(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    match jsonrpc::parse(text) {
        Ok(message) => assert_eq!(message.raw, text),
        Err(malformed) => assert!(!malformed.to_string().is_empty()),
    }
}

/// Server-sent events: the result does not depend on how the bytes are split.
pub fn events(data: &[u8]) {
    let whole = sse::Parser::new(1 << 16).feed(data);
    let mut parser = sse::Parser::new(1 << 16);
    let pieces: Result<Vec<_>, _> = data.chunks(3).map(|piece| parser.feed(piece)).collect();
    if let (Ok(whole), Ok(pieces)) = (whole, pieces) {
        assert_eq!(whole, pieces.concat());
    }
}

/// A server tape.
pub fn tape(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Err(error) = Tape::read(text) {
        assert!(!error.to_string().is_empty());
    }
}

/// A suite, with every problem rendered.
pub fn suite(data: &[u8]) {
    let read = |path: &Path| match path.to_str() {
        Some("suite.yml") => Ok(data.to_vec()),
        _ => Err("no such file".to_owned()),
    };
    let loaded = load(Path::new("suite.yml"), &Host::new(&read, &|_| None));
    let text = mcptest_core::problem::render(&loaded.problems, &loaded.sources, false);
    assert!(
        loaded.problems.is_empty() || !text.is_empty(),
        "problems that say nothing"
    );
    assert!(
        loaded.suite.is_some() || !loaded.problems.is_empty(),
        "refused without a word"
    );
}

/// Rows of data: an accepted file makes a test for each of its lines, with the value of the line.
pub fn rows(data: &[u8]) {
    for name in ["rows.csv", "rows.jsonl"] {
        let suite = format!(
            "servers: {{ s: {{ command: [x] }} }}
tools: [{{ each: {name}, name: 'row ${{a}}', server: s, tool: t, args: {{ text: '${{a}}' }} }}]"
        );
        let read = |path: &Path| match path.to_str() {
            Some("suite.yml") => Ok(suite.clone().into_bytes()),
            _ => Ok(data.to_vec()),
        };
        let loaded = load(Path::new("suite.yml"), &Host::new(&read, &|_| None));
        let text = mcptest_core::problem::render(&loaded.problems, &loaded.sources, false);
        assert!(
            loaded.problems.is_empty() || !text.is_empty(),
            "problems that say nothing"
        );
        let Some(suite) = loaded.suite else {
            assert!(!loaded.problems.is_empty(), "refused without a word");
            continue;
        };
        assert!(!suite.tools.is_empty(), "a file without a row");
        for test in &suite.tools {
            let value = test.args.as_ref().map(|args| &args["text"]);
            let written = value.map(|value| match value {
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            });
            assert_eq!(written.as_deref(), test.name.strip_prefix("row "));
        }
    }
}

/// A mock server's manifest: an accepted manifest answers any arguments.
pub fn manifest(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let files = |_: &Path| Err("no such file".to_owned());
    let loaded =
        mcptest_mock::manifest::load_text(Path::new("mock.tools.yml"), text.to_owned(), &files);
    let rendered = mcptest_core::problem::render(&loaded.problems, &loaded.sources, false);
    assert!(
        loaded.problems.is_empty() || !rendered.is_empty(),
        "problems that say nothing"
    );
    let Some(manifest) = loaded.manifest else {
        return;
    };
    let state = mcptest_mock::manifest::State::new(&manifest, None);
    let arguments = serde_json::json!({ "id": "T-1", "city": "Paris", "days": 3 });
    for tool in &manifest.tools {
        let _ = tool.check(&arguments);
        let _ = tool.reply(
            &arguments,
            &state,
            &mcptest_mock::manifest::Inputs::default(),
        );
    }
}

/// A cassette with all its runs.
pub fn cassette(data: &[u8]) {
    match mcptest_replay::cassette::parse(data) {
        Ok(cassette) => assert!(cassette.runs.len() <= data.len()),
        Err(problem) => assert!(!problem.to_string().is_empty()),
    }
}

/// Events of AG-UI.
pub fn import_ag_ui(data: &[u8]) {
    imported("ag-ui", data);
}

/// Runs of `AgentDojo`.
pub fn import_agentdojo(data: &[u8]) {
    imported("agentdojo", data);
}

/// Messages of the Vercel AI SDK.
pub fn import_ai_sdk(data: &[u8]) {
    imported("ai-sdk", data);
}

/// Anthropic messages.
pub fn import_anthropic(data: &[u8]) {
    imported("anthropic", data);
}

/// Gemini contents.
pub fn import_gemini(data: &[u8]) {
    imported("gemini", data);
}

/// LangChain messages and LangSmith runs.
pub fn import_langchain(data: &[u8]) {
    imported("langchain", data);
}

/// OpenAI Chat Completions.
pub fn import_openai_chat(data: &[u8]) {
    imported("openai-chat", data);
}

/// OpenAI Responses.
pub fn import_openai_responses(data: &[u8]) {
    imported("openai-responses", data);
}

/// `OpenInference` spans.
pub fn import_openinference(data: &[u8]) {
    imported("openinference", data);
}

/// OpenTelemetry spans.
pub fn import_otel(data: &[u8]) {
    imported("otel", data);
}

/// Messages of Pydantic AI.
pub fn import_pydantic_ai(data: &[u8]) {
    imported("pydantic-ai", data);
}

/// ATIF trajectories.
pub fn import_atif(data: &[u8]) {
    imported("atif", data);
}

/// Rollouts of Codex.
pub fn import_codex(data: &[u8]) {
    imported("codex", data);
}

/// Logs of Inspect.
pub fn import_inspect(data: &[u8]) {
    imported("inspect", data);
}

/// Sessions of Copilot CLI.
pub fn import_copilot(data: &[u8]) {
    imported("copilot", data);
}

/// Results of tau-bench and tau2.
pub fn import_tau_bench(data: &[u8]) {
    imported("tau-bench", data);
}

/// A transcript: an accepted transcript becomes a cassette whose runs can all be read and whose results match their
/// calls.
fn imported(format: &str, data: &[u8]) {
    for format in [mcptest_import::find(format), None] {
        let imported = match mcptest_import::import(data, format) {
            Ok(imported) => imported,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                continue;
            }
        };
        assert!(!imported.fidelity().to_string().is_empty());
        let conversations = imported.conversations();
        let text = imported.into_cassette("fuzzed", &mcptest_replay::clean);
        let Ok(cassette) = mcptest_replay::cassette::parse(text.as_bytes()) else {
            panic!("no cassette: {text}")
        };
        assert_eq!(cassette.runs.len(), conversations);
        for run in &cassette.runs {
            let Ok(trace) = &run.trace else {
                panic!("a broken run: {text}")
            };
            let calls: Vec<_> = trace
                .tool_results
                .iter()
                .map(|result| result.call_index)
                .collect();
            assert!(
                calls.is_sorted()
                    && calls
                        .iter()
                        .all(|call| call.is_some_and(|at| at < trace.tool_calls.len()))
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_importer_is_a_target() {
        for importer in mcptest_import::IMPORTERS {
            let name = format!("import_{}", importer.key.replace('-', "_"));
            assert!(TARGETS.iter().any(|(target, _)| *target == name), "{name}");
        }
    }

    #[test]
    fn every_saved_input_is_taken_without_a_panic() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
        for (name, target) in TARGETS {
            let mut inputs = 0;
            for entry in std::fs::read_dir(corpus.join(name)).unwrap() {
                let path = entry.unwrap().path();
                let data = std::fs::read(&path).unwrap();
                std::panic::catch_unwind(|| target(&data))
                    .unwrap_or_else(|_| panic!("{}", path.display()));
                inputs += 1;
            }
            assert!(inputs >= 10, "{name} has a corpus of {inputs}");
        }
    }

    #[test]
    fn every_target_has_its_program() {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
        let mut found: Vec<String> = std::fs::read_dir(programs)
            .unwrap()
            .map(|entry| {
                entry
                    .unwrap()
                    .path()
                    .file_stem()
                    .unwrap()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        found.sort();
        let mut expected: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
}
