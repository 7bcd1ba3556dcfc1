//! What did the recorded client ask, see and answer?

use super::catalogue::ListKind;
use crate::client::{Responses, Scripted};
use crate::era::{Era, meta};
use crate::jsonrpc::RpcError;
use crate::tape::{Direction, TapeRequest};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// The answer to a recorded request.
pub(super) type RecordedAnswer<'a> = Result<&'a RawValue, RpcError>;

/// The recorded protocol, so that equal protocols are compared.
pub(super) fn era_of(asked: &[TapeRequest<'_>]) -> Option<Era> {
    let of_client = |method: &str| {
        asked.iter().any(|asked| {
            asked.method == method
                && asked
                    .answer
                    .as_ref()
                    .is_some_and(|answer| answer.outcome.is_ok())
        })
    };
    match (of_client("initialize"), of_client("server/discover")) {
        (true, false) => Some(Era::Legacy),
        (false, true) => Some(Era::Modern),
        _ => None,
    }
}

/// The capabilities that the recorded client declared, if the tape has its handshake or a modern request.
pub(super) fn client_capabilities(asked: &[TapeRequest<'_>]) -> Option<Value> {
    asked
        .iter()
        .filter(|asked| asked.from == Direction::Client)
        .find_map(|asked| {
            let params = read(asked.params?);
            let declared = if asked.method == "initialize" {
                params.get("capabilities")
            } else {
                params.get("_meta")?.get(meta::CLIENT_CAPABILITIES)
            };
            declared.filter(|declared| declared.is_object()).cloned()
        })
}

pub(super) fn read(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// A list that the recorded client received.
pub(super) struct RecordedList {
    /// The latest of each name.
    pub(super) items: Vec<Value>,
    /// False if the client never requested the last page: the remaining items are unknown.
    pub(super) is_whole: bool,
}

/// All listed items; `None` if no list was received.
pub(super) fn recorded_items(kind: &ListKind, asked: &[TapeRequest<'_>]) -> Option<RecordedList> {
    let pages: Vec<Value> = asked
        .iter()
        .filter(|asked| asked.method == kind.method && asked.faults.is_empty())
        .filter_map(|asked| asked.result().map(read))
        .collect();
    if pages.is_empty() {
        return None;
    }
    let has_next = |page: &Value| page.get("nextCursor").is_some_and(Value::is_string);
    let mut items: Vec<Value> = Vec::new();
    for item in pages.iter().flat_map(|page| items_of(page, kind)) {
        let same = items
            .iter_mut()
            .find(|known| known.get(kind.key) == item.get(kind.key));
        match same {
            Some(known) => *known = item.clone(),
            None => items.push(item.clone()),
        }
    }
    Some(RecordedList {
        items,
        is_whole: pages.iter().any(|page| !has_next(page)),
    })
}

/// The items of a page.
pub(super) fn items_of<'p>(page: &'p Value, kind: &ListKind) -> impl Iterator<Item = &'p Value> {
    page.get(kind.items)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

/// The answer to a request, or to the last of the requests that carried it on.
pub(super) fn final_answer<'t, 'a>(
    asked: &'t [TapeRequest<'a>],
    one: &'t TapeRequest<'a>,
) -> Option<&'t RecordedAnswer<'a>> {
    let answer = &one.answer.as_ref()?.outcome;
    let needs_input = matches!(answer, Ok(result) if read(result).get("resultType") == Some(&json!("input_required")));
    if !needs_input {
        return Some(answer);
    }
    let call = one.call()?;
    let next = asked.iter().find(|later| {
        later.entry > one.entry
            && later.session == one.session
            && later
                .call()
                .is_some_and(|later| later.is_continued() && later.name == call.name)
    });
    next.and_then(|next| final_answer(asked, next))
}

pub(super) fn why_left_out(
    asked: &TapeRequest<'_>,
    answer: Option<&RecordedAnswer<'_>>,
) -> Option<&'static str> {
    if !asked.faults.is_empty() {
        return Some("a fault was injected into it");
    }
    if asked.is_cancelled {
        return Some("it was cancelled");
    }
    if answer.is_none() {
        return Some("it has no answer on the tape");
    }
    let is_hidden = asked
        .params
        .is_some_and(|params| mcptest_redact::has_placeholder(params.get()));
    is_hidden.then_some("an argument is hidden on the tape")
}

/// The entries of `_meta` about the client, not the request.
const OF_CLIENT: [&str; 4] = [
    meta::PROTOCOL_VERSION,
    meta::CLIENT_CAPABILITIES,
    meta::CLIENT_INFO,
    "progressToken",
];

/// The parameters without the recorded client's `_meta`.
pub(super) fn without_meta(params: Option<&RawValue>) -> Option<Value> {
    let mut params = read(params?);
    let Some(object) = params.as_object_mut() else {
        return Some(params);
    };
    let meta = object.get_mut("_meta").and_then(Value::as_object_mut);
    let is_empty = meta.is_some_and(|meta| {
        meta.retain(|key, _| !OF_CLIENT.contains(&key.as_str()));
        meta.is_empty()
    });
    if is_empty {
        object.remove("_meta");
    }
    Some(params)
}

/// The recorded client's answers to the server's requests.
pub(super) fn responses(asked: &[TapeRequest<'_>]) -> Responses {
    let mut responses = Responses::default();
    for one in asked.iter().filter(|asked| asked.from == Direction::Server) {
        if let Some(answer) = &one.answer {
            let answer = answer.outcome.clone().map(read);
            add_response(&mut responses, &one.method, one.params.map(read), answer);
        }
    }
    for (at, one) in asked.iter().enumerate() {
        add_inputs(&mut responses, one, &asked[at + 1..]);
    }
    responses
}

/// Adds the answers to requested input, which a later request contained.
fn add_inputs(responses: &mut Responses, one: &TapeRequest<'_>, later: &[TapeRequest<'_>]) {
    let wanted = one
        .result()
        .and_then(|result| read(result).get("inputRequests").cloned());
    let Some(Value::Object(wanted)) = wanted else {
        return;
    };
    let given = later
        .iter()
        .filter_map(|later| later.params.map(read))
        .find_map(|params| params.get("inputResponses")?.as_object().cloned())
        .unwrap_or_default();
    for (key, request) in wanted {
        let method = request.get("method").and_then(Value::as_str);
        if let (Some(answer), Some(method)) = (given.get(&key), method) {
            let params = request.get("params").cloned();
            add_response(responses, method, params, Ok(answer.clone()));
        }
    }
}

fn add_response(
    responses: &mut Responses,
    method: &str,
    params: Option<Value>,
    answer: Result<Value, RpcError>,
) {
    let when = params
        .map(without_progress)
        .filter(|params| params != &Value::Object(Map::new()));
    responses
        .scripted
        .entry(method.to_owned())
        .or_default()
        .push(Scripted { when, answer });
}

fn without_progress(mut params: Value) -> Value {
    if let Some(object) = params.as_object_mut() {
        object.remove("_meta");
    }
    params
}
