//! A recorded server, served again: which recorded answer does a request get?

use super::catalog::Identity;
use super::recorded::RecordedRequest;
use super::tape_index;
use mcptest_mcp::jsonrpc::{RpcError, RpcResult, code, excerpt};
use mcptest_mcp::tape::Tape;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The answers of a tape.
#[derive(Debug)]
pub(super) struct TapeSource {
    pub(super) identity: Identity,
    methods: BTreeMap<String, Vec<Group>>,
}

/// The recordings of one request, in order.
#[derive(Debug)]
struct Group {
    hash: u128,
    recorded: Vec<Arc<RecordedRequest>>,
    next: AtomicUsize,
}

impl TapeSource {
    pub(super) fn new(tape: &Tape) -> Self {
        let index = tape_index::read(tape);
        let mut methods: BTreeMap<String, Vec<Group>> = BTreeMap::new();
        for recorded in index.recorded {
            let groups = methods.entry(recorded.method.clone()).or_default();
            let hash = mcptest_core::json::hash(&recorded.params);
            match groups.iter_mut().find(|group| group.hash == hash) {
                Some(group) => group.recorded.push(Arc::new(recorded)),
                None => groups.push(Group {
                    hash,
                    recorded: vec![Arc::new(recorded)],
                    next: AtomicUsize::new(0),
                }),
            }
        }
        let identity = index.identity.unwrap_or_else(|| unknown(tape, &methods));
        Self { identity, methods }
    }

    /// The next recording of a request, or its last one repeatedly; or the one that `fingerprint`
    /// names.
    pub(super) fn find(
        &self,
        method: &str,
        params: Option<&RawValue>,
        fingerprint: Option<&str>,
    ) -> RpcResult<Arc<RecordedRequest>> {
        let Some(groups) = self.methods.get(method) else {
            let known: Vec<&str> = self.methods.keys().map(String::as_str).collect();
            let message = format!("the tape has no `{method}`; it has {}", known.join(", "));
            return Err(RpcError::new(code::METHOD_NOT_FOUND, message));
        };
        let params = comparable(method, params.map(RawValue::get));
        let hash = mcptest_core::json::hash(&params);
        let Some(group) = groups.iter().find(|group| group.hash == hash) else {
            return Err(nothing_recorded(method, &params, groups));
        };
        let named = fingerprint.and_then(|wanted| {
            group
                .recorded
                .iter()
                .find(|recorded| recorded.fingerprint == wanted)
        });
        let step = || {
            let at = group
                .next
                .fetch_add(1, Ordering::Relaxed)
                .min(group.recorded.len() - 1);
            &group.recorded[at]
        };
        Ok(Arc::clone(named.unwrap_or_else(step)))
    }
}

fn nothing_recorded(method: &str, params: &str, groups: &[Group]) -> RpcError {
    let likeness = |group: &&Group| {
        let theirs = &group.recorded[0].params;
        let same_name = name_of(theirs).is_some() && name_of(theirs) == name_of(params);
        let near = strsim::jaro(&excerpt(theirs), &excerpt(params));
        (u8::from(same_name), (near * 1e6) as u64)
    };
    let nearest = groups
        .iter()
        .max_by_key(likeness)
        .map(|group| excerpt(&group.recorded[0].params));
    let nearest = nearest
        .map(|nearest| format!("; the nearest is `{method}` {nearest}"))
        .unwrap_or_default();
    let message = format!(
        "the tape has no `{method}` with {}{nearest}",
        excerpt(params)
    );
    RpcError::new(code::INVALID_PARAMS, message)
}

fn name_of(params: &str) -> Option<String> {
    let params: BTreeMap<String, &RawValue> = serde_json::from_str(params).ok()?;
    let name = params.get("name").or_else(|| params.get("uri"))?;
    serde_json::from_str(name.get()).ok()
}

/// The parameters that decide the answer, as JSON text: without metadata and answers to questions.
pub(super) fn comparable(method: &str, params: Option<&str>) -> String {
    let params = params.unwrap_or("{}");
    let Ok(mut members) = serde_json::from_str::<BTreeMap<String, &RawValue>>(params) else {
        return "{}".to_owned();
    };
    for key in ["_meta", "inputResponses", "requestState"] {
        members.remove(key);
    }
    if matches!(method, "tools/call" | "prompts/get")
        && members
            .get("arguments")
            .is_some_and(|arguments| matches!(arguments.get(), "{}" | "null"))
    {
        members.remove("arguments");
    }
    serde_json::to_string(&members).unwrap_or_default()
}

/// The identity of a server whose handshake is not on the tape.
fn unknown(tape: &Tape, methods: &BTreeMap<String, Vec<Group>>) -> Identity {
    let name = tape.header.server.name.as_deref().unwrap_or("tape");
    let mut capabilities = Vec::new();
    for kind in ["tools", "prompts", "resources"] {
        if methods
            .keys()
            .any(|method| method.split('/').next() == Some(kind))
        {
            capabilities.push(format!(r#""{kind}":{{}}"#));
        }
    }
    Identity {
        info: format!(
            r#"{{"name":{},"version":"0.0.0"}}"#,
            mcptest_mcp::jsonrpc::write_text(name)
        ),
        capabilities: format!("{{{}}}", capabilities.join(",")),
        instructions: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tape(lines: &[&str]) -> TapeSource {
        let header = r#"{"format":"mcptest-tape","version":1,"server":{"command":["srv"]}}"#;
        let mut text = format!("{header}\n");
        for (at, line) in lines.iter().enumerate() {
            let (from, message) = line.split_once(' ').unwrap();
            text.push_str(&format!(
                "{{\"at_us\":{at},\"from\":\"{from}\",\"message\":{message}}}\n"
            ));
        }
        TapeSource::new(&Tape::read(&text).unwrap())
    }

    fn found(source: &TapeSource, method: &str, params: &str) -> Result<String, String> {
        let raw = RawValue::from_string(params.to_owned()).unwrap();
        let recorded = source
            .find(method, Some(&raw), None)
            .map_err(|error| error.message)?;
        recorded
            .answer()
            .map(|answer| answer.into_owned())
            .map_err(|error| error.message)
    }

    fn twice() -> TapeSource {
        tape(&[
            r#"client {"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#,
            r#"server {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"srv","version":"3"},"instructions":"Be kind."}}"#,
            r#"client {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count","arguments":{"a":1,"b":2},"_meta":{"progressToken":9}}}"#,
            r#"server {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":9,"progress":1,"total":2}}"#,
            r#"server {"jsonrpc":"2.0","id":1,"result":{"n":1}}"#,
            r#"client {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"count","arguments":{"b":2,"a":1.0}}}"#,
            r#"server {"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"full"}}"#,
        ])
    }

    #[test]
    fn repeated_calls_step_through_the_recorded_ones_and_the_last_repeats() {
        let tape = twice();
        let call =
            r#"{"arguments":{"b":2,"a":1},"name":"count","_meta":{"progressToken":"other"}}"#;
        assert_eq!(found(&tape, "tools/call", call), Ok(r#"{"n":1}"#.into()));
        assert_eq!(found(&tape, "tools/call", call), Err("full".into()));
        assert_eq!(found(&tape, "tools/call", call), Err("full".into()));
    }

    #[test]
    fn a_call_that_was_not_recorded_names_the_nearest() {
        let tape = twice();
        let refused = found(
            &tape,
            "tools/call",
            r#"{"name":"count","arguments":{"a":7}}"#,
        )
        .unwrap_err();
        assert!(
            refused.contains(
                r#"the tape has no `tools/call` with {"arguments":{"a":7},"name":"count"}"#
            )
        );
        assert!(
            refused.contains(
                r#"the nearest is `tools/call` {"arguments":{"a":1,"b":2},"name":"count"}"#
            )
        );
        let refused = found(&tape, "prompts/list", "{}").unwrap_err();
        assert_eq!(refused, "the tape has no `prompts/list`; it has tools/call");
    }

    #[test]
    fn the_handshake_and_the_notifications_of_a_call_are_kept() {
        let tape = twice();
        assert_eq!(tape.identity.info, r#"{"name":"srv","version":"3"}"#);
        assert_eq!(tape.identity.instructions.as_deref(), Some("Be kind."));
        let raw = RawValue::from_string(r#"{"name":"count","arguments":{"a":1,"b":2}}"#.to_owned())
            .unwrap();
        assert_eq!(
            tape.find("tools/call", Some(&raw), None)
                .unwrap()
                .notices
                .len(),
            1
        );
    }

    #[test]
    fn rounds_of_questions_and_their_answer_are_one_recording() {
        let tape = tape(&[
            r#"client {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet"}}"#,
            r#"server {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"Who?"}}},"requestState":"s"}}"#,
            r#"client {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"greet","requestState":"s","inputResponses":{"who":{"action":"accept"}}}}"#,
            r#"server {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[]}}"#,
        ]);
        let raw = RawValue::from_string(r#"{"name":"greet","arguments":{}}"#.to_owned()).unwrap();
        let recorded = tape.find("tools/call", Some(&raw), None).unwrap();
        assert_eq!(recorded.rounds.len(), 1);
        assert_eq!(recorded.rounds[0][0].params, r#"{"message":"Who?"}"#);
        assert!(recorded.answer().unwrap().contains("complete"));
    }

    #[test]
    fn questions_of_one_round_keep_the_order_in_which_they_were_asked() {
        let tape = tape(&[
            r#"client {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet"}}"#,
            r#"server {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"zeta":{"method":"roots/list"},"alpha":{"method":"elicitation/create","params":{}}}}}"#,
            r#"client {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"greet","inputResponses":{}}}"#,
            r#"server {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[]}}"#,
        ]);
        let raw = RawValue::from_string(r#"{"name":"greet"}"#.to_owned()).unwrap();
        let recorded = tape.find("tools/call", Some(&raw), None).unwrap();
        let names: Vec<&str> = recorded.rounds[0]
            .iter()
            .map(|ask| ask.name.as_str())
            .collect();
        assert_eq!(names, ["zeta", "alpha"]);
    }

    #[test]
    fn what_a_server_asks_for_itself_is_not_asked_by_a_list() {
        let tape = tape(&[
            r#"client {"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            r#"server {"jsonrpc":"2.0","id":7,"method":"roots/list"}"#,
            r#"server {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#,
            r#"client {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"look"}}"#,
            r#"server {"jsonrpc":"2.0","id":8,"method":"roots/list"}"#,
            r#"server {"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#,
        ]);
        assert!(
            tape.find("tools/list", None, None)
                .unwrap()
                .rounds
                .is_empty()
        );
        let call = RawValue::from_string(r#"{"name":"look"}"#.to_owned()).unwrap();
        assert_eq!(
            tape.find("tools/call", Some(&call), None)
                .unwrap()
                .rounds
                .len(),
            1
        );
    }
}
