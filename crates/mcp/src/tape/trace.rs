//! A tape as runs for gates: each session is a run, with its calls.

use super::pair::{TapeRequest, requests};
use super::{Direction, Event, Tape};
use crate::wire::CallResult;
use mcptest_core::trace::{
    CatalogueTool, ConversationTrace, Header, RecordedCall, RecordedFailure, RecordedFault,
    RecordedResult, run_line,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Facts that a tape cannot contain.
#[derive(Debug, Clone, Default)]
pub struct TraceOptions {
    /// The agent's name in its suite.
    pub agent: Option<String>,
    /// The user's message.
    pub prompt: Option<String>,
    /// The agent's closing message.
    pub final_response: Option<String>,
}

/// The tape as the text of a cassette. Facts that a tape cannot contain are omitted, not invented.
pub fn to_cassette(tape: &Tape, options: &TraceOptions) -> String {
    let asked = requests(tape);
    let agent = options
        .agent
        .clone()
        .or_else(|| client_name(&asked))
        .unwrap_or_else(|| "recorded".to_owned());
    let header = Header {
        prompt: options.prompt.iter().cloned().collect(),
        catalogue: catalogue(tape, &asked),
        ..Header::new(agent)
    };
    let mut lines = vec![serde_json::to_string(&header).unwrap_or_default()];
    for (index, session) in sessions(tape).into_iter().enumerate() {
        let of_session: Vec<&TapeRequest<'_>> = asked
            .iter()
            .filter(|asked| asked.session == session)
            .collect();
        let mut trace = trace(tape, session, &of_session);
        trace.final_response.clone_from(&options.final_response);
        lines.push(run_line(index + 1, &trace.to_json()));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// The sessions in which a client sent something. If any exist, messages without a session are not a run.
pub(crate) fn sessions(tape: &Tape) -> BTreeSet<Option<u64>> {
    let from_client = tape
        .entries
        .iter()
        .filter(|entry| entry.from == Some(Direction::Client));
    let mut sessions: BTreeSet<Option<u64>> = from_client
        .filter(|entry| entry.message.is_some())
        .map(|entry| entry.session)
        .collect();
    if sessions.len() > 1 {
        sessions.remove(&None);
    }
    sessions
}

fn trace(tape: &Tape, session: Option<u64>, asked: &[&TapeRequest<'_>]) -> ConversationTrace {
    let mut trace = ConversationTrace::default();
    let mut waiting: BTreeMap<Cow<'_, str>, usize> = BTreeMap::new();
    for asked in asked.iter().filter(|asked| asked.from == Direction::Client) {
        let Some(call) = asked.call() else { continue };
        let continued = call
            .is_continued()
            .then(|| waiting.remove(&call.name))
            .flatten();
        let index = continued.unwrap_or(trace.tool_calls.len());
        let result = result(tape, asked, index);
        let needs_input =
            |result| CallResult::read(result).is_ok_and(|result| result.needs_input());
        if asked.result().is_some_and(needs_input) {
            waiting.insert(call.name.clone(), index);
        }
        if !asked.faults.is_empty() {
            let faults = recorded_faults(asked, index, &result);
            trace.faults.get_or_insert_default().extend(faults);
        }
        if continued.is_some() {
            trace.tool_results[index] = result;
        } else {
            trace.tool_calls.push(RecordedCall {
                name: call.name.into_owned(),
                server: tape.header.server.name.clone(),
                args: call.arguments.map(ToOwned::to_owned),
                id: Some(plain(asked)),
                ..RecordedCall::default()
            });
            trace.tool_results.push(result);
        }
    }
    trace.conversation.duration_ms = duration_ms(tape, session);
    trace
}

/// The faults that struck a call.
fn recorded_faults(
    asked: &TapeRequest<'_>,
    call_index: usize,
    result: &RecordedResult,
) -> Vec<RecordedFault> {
    let detected = result.is_error || result.error.is_some();
    asked
        .faults
        .iter()
        .map(|fault| RecordedFault {
            name: (*fault).to_owned(),
            kind: fault.split(':').next().unwrap_or(fault).to_owned(),
            call_index,
            virtual_ms: None,
            detected,
        })
        .collect()
}

/// The time from the first message of a session to its last.
fn duration_ms(tape: &Tape, session: Option<u64>) -> Option<u64> {
    let mut times = tape
        .entries
        .iter()
        .filter(|entry| entry.session == session && entry.from.is_some())
        .map(|entry| entry.at_us);
    let first = times.next()?;
    let last = times.next_back().unwrap_or(first);
    Some(last.saturating_sub(first) / 1000)
}

fn result(tape: &Tape, asked: &TapeRequest<'_>, call_index: usize) -> RecordedResult {
    let duration_ms = asked.duration_us().map(|us| us / 1000);
    let refused = |code, message| RecordedResult {
        call_index,
        is_error: true,
        error: Some(RecordedFailure { code, message }),
        duration_ms,
        ..RecordedResult::default()
    };
    match asked.answer.as_ref().map(|answer| &answer.outcome) {
        None => refused(None, why_unanswered(tape, asked)),
        Some(Err(error)) => refused(Some(error.code), error.message.clone()),
        Some(Ok(result)) => match CallResult::read(result) {
            Ok(answer) => RecordedResult {
                call_index,
                duration_ms,
                ..answer.to_recorded()
            },
            Err(error) => refused(None, format!("the answer is not a tool's result: {error}")),
        },
    }
}

fn why_unanswered(tape: &Tape, asked: &TapeRequest<'_>) -> String {
    if asked.is_cancelled {
        return "no answer arrived before the client cancelled the call".to_owned();
    }
    let later = tape.entries[asked.entry..].iter();
    let exit = later
        .filter_map(|entry| entry.event.as_ref())
        .find_map(|event| match event {
            Event::Exit { status } => Some(status),
            _ => None,
        });
    match exit {
        Some(status) => format!("no answer arrived before the server exited ({status})"),
        None => "no answer arrived before the recording ended".to_owned(),
    }
}

fn plain(asked: &TapeRequest<'_>) -> String {
    match &asked.id {
        crate::jsonrpc::Id::Number(number) => number.to_string(),
        crate::jsonrpc::Id::Text(text) => text.clone(),
    }
}

/// The client's own name.
fn client_name(asked: &[TapeRequest<'_>]) -> Option<String> {
    let params = asked
        .iter()
        .find(|asked| asked.method == "initialize")?
        .params?;
    let params: serde_json::Value = serde_json::from_str(params.get()).ok()?;
    params
        .pointer("/clientInfo/name")?
        .as_str()
        .map(str::to_owned)
}

#[derive(Deserialize)]
struct Listed<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct ListedTool<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(default)]
    description: serde_json::Value,
    #[serde(borrow, default, rename = "inputSchema")]
    input_schema: Option<&'a RawValue>,
}

/// The listed tools, the latest version of each name; `None` if they were never listed.
fn catalogue(tape: &Tape, asked: &[TapeRequest<'_>]) -> Option<Vec<CatalogueTool<Box<RawValue>>>> {
    let mut tools: Vec<CatalogueTool<Box<RawValue>>> = Vec::new();
    let mut is_listed = false;
    for asked in asked.iter().filter(|asked| asked.method == "tools/list") {
        let Some(result) = asked.result() else {
            continue;
        };
        let Ok(listed) = serde_json::from_str::<Listed<'_>>(result.get()) else {
            continue;
        };
        is_listed = true;
        for tool in listed.tools {
            let Ok(tool) = serde_json::from_str::<ListedTool<'_>>(tool.get()) else {
                continue;
            };
            let described = CatalogueTool {
                name: tool.name.into_owned(),
                server: tape.header.server.name.clone(),
                description: tool.description.as_str().map(str::to_owned),
                input_schema: tool.input_schema.map(ToOwned::to_owned),
                ..CatalogueTool::default()
            };
            match tools.iter_mut().find(|known| known.name == described.name) {
                Some(known) => *known = described,
                None => tools.push(described),
            }
        }
    }
    is_listed.then_some(tools)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn tape(lines: &[&str]) -> Tape {
        let header = r#"{"format":"mcptest-tape","version":1,"server":{"name":"docs"}}"#;
        Tape::read(&format!("{header}\n{}\n", lines.join("\n"))).unwrap()
    }

    fn runs(tape: &Tape) -> (Value, Vec<Value>) {
        let text = to_cassette(tape, &TraceOptions::default());
        let mut lines = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        (
            lines.next().unwrap(),
            lines.map(|run| run["trace"].clone()).collect(),
        )
    }

    #[test]
    fn calls_keep_their_order_and_arguments_and_each_has_one_result() {
        let (header, runs) = runs(&tape(&[
            r#"{"at_us":0,"from":"client","message":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"editor"}}}}"#,
            r#"{"at_us":1,"from":"client","message":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}"#,
            r#"{"at_us":2,"from":"server","message":{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}}"#,
            r#"{"at_us":1000,"from":"client","message":{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"a","arguments":{"q": 1.50}}}}"#,
            r#"{"at_us":1001,"from":"client","message":{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"b"}}}"#,
            r#"{"at_us":1002,"from":"client","message":{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"c"}}}"#,
            r#"{"at_us":2000,"from":"server","message":{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"no"}}}"#,
            r#"{"at_us":6000,"from":"server","message":{"jsonrpc":"2.0","id":"x","result":{"content":[],"isError":true}}}"#,
            r#"{"at_us":7000,"event":{"kind":"exit","status":"code 1"}}"#,
        ]));
        assert_eq!(header["agent"], "editor");
        assert_eq!(header["catalogue"][0]["server"], "docs");
        let trace = &runs[0];
        assert_eq!(trace["tool_calls"][0]["args"]["q"], 1.5);
        assert_eq!(trace["tool_results"][0]["is_error"], true);
        assert_eq!(trace["tool_results"][0]["duration_ms"], 5);
        assert_eq!(trace["tool_results"][1]["error"]["code"], -32602);
        let unanswered = trace["tool_results"][2]["error"]["message"]
            .as_str()
            .unwrap();
        assert_eq!(
            unanswered,
            "no answer arrived before the server exited (code 1)"
        );
        assert!(
            trace.get("final_response").is_none()
                && header["prompt"].as_array().unwrap().is_empty()
        );
    }

    #[test]
    fn a_schema_of_the_catalogue_is_written_as_it_was_listed() {
        let schema =
            r#"{"type":"object","properties":{"zebra":{"type":"number","maximum":1.50},"ant":{}}}"#;
        let listed = format!(
            r#"{{"at_us":2,"from":"server","message":{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{{"inputSchema":{schema},"name":"a"}}]}}}}}}"#
        );
        let asked = r#"{"at_us":1,"from":"client","message":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}"#;
        let text = to_cassette(&tape(&[asked, &listed]), &TraceOptions::default());
        assert!(text.contains(schema), "{text}");
        let header: Header = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert_eq!(header.catalogue.unwrap()[0].name, "a");
    }

    #[test]
    fn a_call_that_needed_more_input_is_one_call() {
        let (_, runs) = runs(&tape(&[
            r#"{"at_us":1,"from":"client","message":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"book","arguments":{}}}}"#,
            r#"{"at_us":2,"from":"server","message":{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s"}}}"#,
            r#"{"at_us":3,"from":"client","message":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"book","arguments":{},"requestState":"s","inputResponses":{}}}}"#,
            r#"{"at_us":4,"from":"server","message":{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"done"}]}}}"#,
        ]));
        assert_eq!(runs[0]["tool_calls"].as_array().unwrap().len(), 1);
        assert_eq!(runs[0]["tool_results"][0]["content"][0]["text"], "done");
    }

    #[test]
    fn each_session_is_a_run_and_an_injected_fault_is_told() {
        let call = |session: u64, tool: &str| {
            format!(
                r#"{{"at_us":1,"session":{session},"exchange":{session},"from":"client","message":{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}"}}}}}}"#
            )
        };
        let fault =
            r#"{"at_us":2,"session":2,"exchange":2,"event":{"kind":"fault","fault":"slow:50"}}"#;
        let stray = call(3, "c").replace("\"session\":3,", "");
        let (_, runs) = runs(&tape(&[&call(1, "a"), &call(2, "b"), fault, &stray]));
        assert_eq!(runs.len(), 2);
        assert_eq!(runs[1]["tool_calls"][0]["name"], "b");
        assert_eq!(runs[1]["faults"][0]["kind"], "slow");
        assert!(runs[0].get("faults").is_none());
    }
}
