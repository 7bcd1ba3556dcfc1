//! Which results mean that a service was unavailable, and which are its answers?

use crate::trace::{Call, CallResult, CatalogueTool, Tool, Trace};

/// The real failures that are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failures {
    /// No answer, errors of the transport and the protocol, and rate limits.
    Outages,
    /// Results that are marked as errors too.
    Errors,
}

/// JSON-RPC codes that answer the call itself: the method or the tool does not exist, or the
/// arguments are invalid.
const ANSWERS: [i64; 2] = [-32601, -32602];

/// Words that mean an outage in a result that is marked as an error. Servers forward the errors of the services that
/// they call.
const TELLING: &[&str] = &[
    "bad gateway",
    "broken pipe",
    "connection closed",
    "connection error",
    "connection failed",
    "connection refused",
    "connection reset",
    "connection timeout",
    "connection was closed",
    "could not connect",
    "deadline exceeded",
    "econnrefused",
    "econnreset",
    "enotfound",
    "etimedout",
    "execution timeout",
    "failed to connect",
    "fetch failed",
    "gateway timeout",
    "internal server error",
    "network error",
    "no answer",
    "no response",
    "not responding",
    "overloaded",
    "quota exceeded",
    "rate limit",
    "rate limited",
    "rate-limit",
    "ratelimiterror",
    "request timeout",
    "server disconnected",
    "service unavailable",
    "socket hang up",
    "temporarily unavailable",
    "throttled",
    "timed out",
    "timeout error",
    "timeout exceeded",
    "timeouterror",
    "too many requests",
];

/// HTTP status codes that mean an outage after one of these words: `status code 503`, `HTTP 429`.
const STATES: [&str; 6] = ["408", "429", "500", "502", "503", "504"];
const BEFORE_A_STATE: [&str; 4] = ["status", "code", "http", "error"];

/// Error texts that mean that the tool does not exist.
const INVENTED: &[&str] = &[
    "unknown tool",
    "no such tool",
    "tool not found",
    "unknown function",
    "does not exist in the tool",
];

/// The number of characters to examine: an error is at the beginning of its text, and a quoted page
/// may contain anything.
const LOOKED_AT: usize = 300;

/// The failed calls of a run that the block judges, in order.
pub(super) fn failed_calls(
    trace: &Trace<'_>,
    catalogue: Option<&[CatalogueTool]>,
    judged: Failures,
) -> Vec<bool> {
    let results = trace.results_by_call();
    let last_answered = results.iter().rposition(Option::is_some);
    let calls = trace.tool_calls.iter().zip(&results).enumerate();
    calls
        .map(|(at, (call, result))| match result {
            // A run may end, or be cut off, with a call: only one that the run went on from got no answer.
            None => last_answered.is_some_and(|last| at < last),
            Some(result) => fails(call, result, catalogue, judged),
        })
        .collect()
}

fn fails(
    call: &Call<'_>,
    result: &CallResult<'_>,
    catalogue: Option<&[CatalogueTool]>,
    judged: Failures,
) -> bool {
    if !result.is_failure() || is_invented(call, result, catalogue) {
        return false;
    }
    match (judged, &result.error) {
        (Failures::Errors, _) => true,
        (Failures::Outages, Some(error)) => error.code.is_none_or(|code| !ANSWERS.contains(&code)),
        (Failures::Outages, None) => {
            tells_of(result, TELLING) || result.text().is_some_and(|text| tells_of_a_state(&text))
        }
    }
}

/// Returns true if the call is to a tool that no server offered.
fn is_invented(
    call: &Call<'_>,
    result: &CallResult<'_>,
    catalogue: Option<&[CatalogueTool]>,
) -> bool {
    let catalogue = catalogue.filter(|catalogue| !catalogue.is_empty());
    let is_offered = catalogue.map(|catalogue| {
        let mut offered = catalogue.iter();
        offered.any(|tool| Tool::from(tool).name == call.name)
    });
    is_offered == Some(false) || tells_of(result, INVENTED)
}

fn tells_of(result: &CallResult<'_>, words: &[&str]) -> bool {
    let message = result
        .error
        .as_ref()
        .and_then(|error| error.message.as_deref());
    let said = message.map(str::to_owned).into_iter().chain(result.text());
    let mut starts = said.map(|text| {
        let start: String = text.chars().take(LOOKED_AT).collect();
        start.to_lowercase()
    });
    starts.any(|start| words.iter().any(|word| holds_word(&start, word)))
}

/// Returns true if a text contains an HTTP status that means that the service was unavailable.
fn tells_of_a_state(text: &str) -> bool {
    let start: String = text.chars().take(LOOKED_AT).collect();
    let start = start.to_lowercase();
    let words = start.split(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let is_state = |two: &[&str]| BEFORE_A_STATE.contains(&two[0]) && STATES.contains(&two[1]);
    words.windows(2).any(is_state)
}

/// Returns true if a text contains these words as whole words: `429`, not `14290`.
fn holds_word(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        let is_part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        !is_part(before) && !is_part(after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn failed(results: &[Value], judged: Failures) -> Vec<bool> {
        let calls: Vec<Value> = results
            .iter()
            .map(|_| json!({ "name": "search" }))
            .collect();
        let envelope = json!({ "tool_calls": calls, "tool_results": results }).to_string();
        failed_calls(&Trace::read(&envelope).unwrap(), None, judged)
    }

    fn says(text: &str) -> Value {
        json!({ "is_error": true, "content": [{ "type": "text", "text": text }] })
    }

    #[test]
    fn outages_are_told_from_answers_and_from_invented_tools() {
        let outages = [
            json!({ "error": { "message": "no answer to tools/call" } }),
            json!({ "error": { "code": -32603, "message": "internal error" } }),
            json!({ "error": { "code": -32000, "message": "connection closed" } }),
            says("Error 429: try again in 20 s"),
            says("upstream timed out after 30 s"),
            says("ECONNREFUSED 127.0.0.1:5432"),
            says("the API answered with status code 503"),
        ];
        let answers = [
            says("No emails found. Try with a different query."),
            says("Error: order 14290 of room 503 cannot be cancelled"),
            says("Contact with name 'Olivia' not found."),
            json!({ "error": { "code": -32602, "message": "city is required" } }),
            json!({ "is_error": false }),
        ];
        assert_eq!(failed(&outages, Failures::Outages), [true; 7]);
        assert_eq!(failed(&answers, Failures::Outages), [false; 5]);
        assert_eq!(
            failed(&answers, Failures::Errors),
            [true, true, true, true, false]
        );
        let invented = [
            json!({ "error": { "code": -32602, "message": "unknown tool \"serach\"" } }),
            says("Unknown tool: serach"),
        ];
        for judged in [Failures::Outages, Failures::Errors] {
            assert_eq!(failed(&invented, judged), [false; 2], "{judged:?}");
        }
    }

    #[test]
    fn a_call_that_no_catalogue_has_is_invented_whatever_its_error_says() {
        let catalogue: Vec<CatalogueTool> =
            serde_json::from_value(json!([{ "name": "search", "server": "docs" }])).unwrap();
        let envelope = json!({
            "tool_calls": [{ "name": "serach" }, { "name": "search" }],
            "tool_results": [says("timed out"), says("timed out")],
        });
        let text = envelope.to_string();
        let trace = Trace::read(&text).unwrap();
        let failed = failed_calls(&trace, Some(&catalogue), Failures::Outages);
        assert_eq!(failed, [false, true]);
    }

    #[test]
    fn a_call_without_an_answer_failed_where_the_run_went_on() {
        let envelope = json!({
            "tool_calls": [{ "name": "a" }, { "name": "b" }, { "name": "c" }],
            "tool_results": [{ "call_index": 1, "is_error": false }],
        });
        let text = envelope.to_string();
        let trace = Trace::read(&text).unwrap();
        assert_eq!(
            failed_calls(&trace, None, Failures::Outages),
            [true, false, false]
        );
        let silent = json!({ "tool_calls": [{ "name": "a" }, { "name": "b" }] }).to_string();
        let trace = Trace::read(&silent).unwrap();
        assert_eq!(failed_calls(&trace, None, Failures::Outages), [false; 2]);
    }
}
