//! Do a conversation's calls survive in every format: count, order, names, arguments, ids, answers?

use crate::written::{Conversation, conversation, lines};
use crate::written_by_libraries::printed;
use mcptest_import::import;
use mcptest_replay::{cassette::parse, clean};
use proptest::prelude::*;
use serde_json::{Value, json};

/// True if the format can mark an answer as an error.
const MARKS: bool = true;
const MARKS_NOT: bool = false;

fn assert_comes_back(text: &str, expected: &[&Conversation], format: &str, marks_errors: bool) {
    let imported = import(text.as_bytes(), None).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let told = imported.fidelity().to_string();
    assert!(told.starts_with(format), "{told}\n{text}");
    let cassette = imported.into_cassette("a", &clean);
    let cassette = parse(cassette.as_bytes()).unwrap();
    assert_eq!(cassette.runs.len(), expected.len(), "{told}\n{text}");
    for (run, expected) in cassette.runs.iter().zip(expected) {
        let trace = run.trace.as_ref().unwrap();
        let results = trace.results_by_call();
        let calls = expected.calls();
        assert_eq!(trace.tool_calls.len(), calls.len(), "{told}\n{text}");
        for (at, (turn, id, call)) in calls.iter().enumerate() {
            let found = &trace.tool_calls[at];
            assert_eq!(
                (found.name.as_ref(), found.id.as_deref()),
                (call.name.as_str(), Some(id.as_str()))
            );
            assert_eq!(
                found.args.unwrap().get(),
                call.args.to_string(),
                "byte for byte"
            );
            assert_eq!(found.turn, Some(*turn as u64));
            let content = results[at].map(|result| {
                let content: Value = serde_json::from_str(result.content.unwrap().get()).unwrap();
                (
                    content[0]["text"].as_str().unwrap().to_owned(),
                    result.is_error,
                )
            });
            let told = |result: &String| (result.clone(), call.is_error && marks_errors);
            assert_eq!(content, call.result.as_ref().map(told), "{text}");
        }
        assert_eq!(
            trace.final_response.as_deref(),
            Some(expected.answer.as_str())
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn openai_chat_in_every_shape(one in conversation(), other in conversation()) {
        let (first, second) = (one.openai_chat(), other.openai_chat());
        let both = [&one, &other];
        let pretty = format!("{:#}", json!({ "model": "m", "messages": first }));
        assert_comes_back(&pretty, &[&one], "openai chat", MARKS_NOT);
        assert_comes_back(&json!(first).to_string(), &[&one], "openai chat", MARKS_NOT);
        assert_comes_back(&lines(&first), &[&one], "openai chat", MARKS_NOT);
        assert_comes_back(&lines(&[json!(first), json!(second)]), &both, "openai chat", MARKS_NOT);
        assert_comes_back(&json!([{ "messages": first }, { "messages": second }]).to_string(), &both, "openai chat", MARKS_NOT);
    }

    #[test]
    fn a_log_of_every_request_counts_no_call_twice(one in conversation()) {
        assert_comes_back(&lines(&one.openai_chat_log()), &[&one], "openai chat", MARKS_NOT);
    }

    #[test]
    fn openai_responses_in_every_shape(one in conversation(), other in conversation()) {
        let (first, second) = (one.openai_responses(), other.openai_responses());
        let request = |items: &[Value]| json!({ "model": "m", "input": items });
        assert_comes_back(&format!("{:#}", json!(first)), &[&one], "openai responses", MARKS_NOT);
        assert_comes_back(&request(&first).to_string(), &[&one], "openai responses", MARKS_NOT);
        // What is repeated from an earlier response would be taken for the same conversation.
        let text = json!([first, second]).to_string();
        assert_comes_back(&text, &[&one, &other], "openai responses", MARKS_NOT);
    }

    #[test]
    fn anthropic_in_every_shape(one in conversation(), other in conversation()) {
        let (first, second) = (one.anthropic(), other.anthropic());
        let request = |messages: &[Value]| json!({ "model": "m", "system": "s", "messages": messages });
        assert_comes_back(&request(&first).to_string(), &[&one], "anthropic", MARKS);
        assert_comes_back(&lines(&[request(&first), request(&second)]), &[&one, &other], "anthropic", MARKS);
        if !one.turns.is_empty() {
            assert_comes_back(&format!("{:#}", json!(first)), &[&one], "anthropic", MARKS);
        }
    }

    #[test]
    fn langchain_in_every_shape(one in conversation(), other in conversation(), shape in 0..3_usize) {
        let (first, second) = (one.langchain(shape), other.langchain(shape));
        assert_comes_back(&json!(first).to_string(), &[&one], "langchain", MARKS);
        assert_comes_back(&lines(&[json!(first), json!(second)]), &[&one, &other], "langchain", MARKS);
        let run = |id: &str, messages: &[Value]| {
            let (given, gave) = messages.split_at(1);
            json!({ "id": id, "run_type": "chain", "inputs": { "messages": given }, "outputs": { "messages": gave } })
        };
        assert_comes_back(&lines(&[run("1", &first), run("2", &second)]), &[&one, &other], "langchain", MARKS);
    }

    #[test]
    fn otel_in_any_order_of_its_spans(one in conversation(), other in conversation(), order in 0..50_usize) {
        let export = |spans: &[Value]| json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans }] }] });
        let (first, second) = (one.otel(0, order), other.otel(1, order));
        assert_comes_back(&lines(&[export(&first)]), &[&one], "otel genai", MARKS);
        let mixed: Vec<Value> = second.iter().chain(&first).map(|span| export(std::slice::from_ref(span))).collect();
        assert_comes_back(&lines(&mixed), &[&one, &other], "otel genai", MARKS);
    }

    #[test]
    fn ai_sdk_in_every_shape(one in conversation(), other in conversation()) {
        let (first, second) = (one.ai_sdk(), other.ai_sdk());
        let chat = |messages: &[Value]| json!({ "id": "c", "messages": messages });
        if !one.turns.is_empty() && !other.turns.is_empty() {
            assert_comes_back(&json!(first).to_string(), &[&one], "ai sdk", MARKS);
            assert_comes_back(&lines(&[chat(&first), chat(&second)]), &[&one, &other], "ai sdk", MARKS);
        }
        assert_comes_back(&format!("{:#}", json!(one.ai_sdk_ui())), &[&one], "ai sdk", MARKS);
        let text = lines(&[chat(&one.ai_sdk_ui()), chat(&other.ai_sdk_ui())]);
        assert_comes_back(&text, &[&one, &other], "ai sdk", MARKS);
    }

    #[test]
    fn gemini_in_every_shape(one in conversation(), other in conversation(), is_python in any::<bool>()) {
        let (first, second) = (one.gemini(is_python), other.gemini(is_python));
        assert_comes_back(&json!(first).to_string(), &[&one], "gemini", MARKS);
        let request = |contents: &[Value]| json!({ "model": "m", "contents": contents });
        assert_comes_back(&lines(&[request(&first), request(&second)]), &[&one, &other], "gemini", MARKS);
        let log: Vec<Value> = (0..first.len()).filter(|at| first[*at]["role"] == "model").map(|at| {
            json!({ "request": { "contents": first[..at] }, "response": { "candidates": [{ "content": first[at] }] } })
        }).collect();
        assert_comes_back(&lines(&log), &[&one], "gemini", MARKS);
    }

    #[test]
    fn pydantic_ai_in_every_shape(one in conversation(), other in conversation()) {
        let (first, second) = (one.pydantic_ai(), other.pydantic_ai());
        assert_comes_back(&format!("{:#}", json!(first)), &[&one], "pydantic ai", MARKS);
        assert_comes_back(&lines(&[json!(first), json!(second)]), &[&one, &other], "pydantic ai", MARKS);
        assert_comes_back(&lines(&first), &[&one], "pydantic ai", MARKS);
    }

    #[test]
    fn atif_in_every_shape(one in conversation(), other in conversation()) {
        let (first, second) = (one.atif(), other.atif());
        assert_comes_back(&format!("{first:#}"), &[&one], "atif", MARKS);
        assert_comes_back(&lines(&[first.clone(), second.clone()]), &[&one, &other], "atif", MARKS);
        assert_comes_back(&json!([first, second]).to_string(), &[&one, &other], "atif", MARKS);
    }

    #[test]
    fn rollouts_of_codex_with_ends_before_and_after_outputs(one in conversation(), other in conversation(), is_end_first in any::<bool>()) {
        let mut both = one.codex(is_end_first);
        assert_comes_back(&lines(&both), &[&one], "codex", MARKS);
        if one.prompt != other.prompt {
            both.extend(other.codex(is_end_first));
            assert_comes_back(&lines(&both), &[&one, &other], "codex", MARKS);
        }
    }

    #[test]
    fn logs_of_inspect_whole_and_unpacked(one in conversation(), other in conversation()) {
        let (first, second) = (one.inspect(1), other.inspect(2));
        let eval = json!({ "model": "m" });
        let whole = json!({ "version": 2, "eval": eval, "samples": [first, second] });
        assert_comes_back(&format!("{whole:#}"), &[&one, &other], "inspect", MARKS);
        let header = json!({ "version": 2, "eval": eval, "plan": { "name": "p" } });
        assert_comes_back(&lines(&[header, first, second]), &[&one, &other], "inspect", MARKS);
    }

    #[test]
    fn spans_as_python_prints_them(one in conversation(), order in 0..50_usize) {
        let printed: Vec<String> = one.otel(0, order).iter().map(printed).collect();
        assert_comes_back(&printed.join("\n"), &[&one], "otel genai", MARKS);
    }

    #[test]
    fn openinference_in_any_order_of_its_spans(one in conversation(), other in conversation(), order in 0..50_usize) {
        let (first, second) = (one.openinference(0, order), other.openinference(1, order));
        assert_comes_back(&json!(first).to_string(), &[&one], "openinference", MARKS);
        let mixed: Vec<Value> = second.into_iter().chain(first).collect();
        assert_comes_back(&lines(&mixed), &[&one, &other], "openinference", MARKS);
    }

    #[test]
    fn tau_bench_in_every_shape(one in conversation(), other in conversation()) {
        let both = [&one, &other];
        let text = json!([one.tau_bench(), other.tau_bench()]).to_string();
        assert_comes_back(&text, &both, "tau-bench", MARKS_NOT);
        let results = json!({ "info": {}, "tasks": [], "simulations": [one.tau2(), other.tau2()] });
        assert_comes_back(&format!("{results:#}"), &both, "tau-bench", MARKS);
        assert_comes_back(&lines(&[one.tau2(), other.tau2()]), &both, "tau-bench", MARKS);
    }

    #[test]
    fn agentdojo_in_every_shape(one in conversation(), other in conversation()) {
        let (first, second) = (one.agentdojo(), other.agentdojo());
        assert_comes_back(&format!("{first:#}"), &[&one], "agentdojo", MARKS);
        assert_comes_back(&lines(&[first, second]), &[&one, &other], "agentdojo", MARKS);
    }

    #[test]
    fn ag_ui_in_every_shape(one in conversation(), other in conversation()) {
        let (first, second) = (one.ag_ui("a"), other.ag_ui("b"));
        assert_comes_back(&json!(first).to_string(), &[&one], "ag-ui", MARKS_NOT);
        let both = [first.as_slice(), second.as_slice()].concat();
        assert_comes_back(&lines(&both), &[&one, &other], "ag-ui", MARKS_NOT);
        let stream: Vec<String> = first.iter().map(|event| format!("data: {event}\n\n")).collect();
        assert_comes_back(&stream.concat(), &[&one], "ag-ui", MARKS_NOT);
    }

    #[test]
    fn a_line_about_the_conversations_is_counted_and_the_others_are_read(one in conversation(), other in conversation()) {
        let about = json!({ "benchmark": "nightly", "temperature": 0.5 });
        let messages = lines(&one.openai_chat());
        assert_comes_back(&format!("{about}\n{messages}"), &[&one], "openai chat", MARKS_NOT);
        let both = lines(&[about.clone(), json!(one.openai_chat()), about, json!(other.openai_chat())]);
        assert_comes_back(&both, &[&one, &other], "openai chat", MARKS_NOT);
        assert!(import(both.as_bytes(), None).unwrap().fidelity().to_string().contains("dropped 2 lines without a message"));
    }
}
