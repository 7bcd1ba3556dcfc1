//! What would a run look like whose closing message lies?

use mcptest_core::eval::Narrative;
use serde_json::{Value, json};

/// Past forms that plainly claim a change, after "I have" or "has been".
const CLAIMS: &[&str] = &[
    "added",
    "approved",
    "booked",
    "canceled",
    "cancelled",
    "changed",
    "closed",
    "created",
    "deleted",
    "edited",
    "generated",
    "merged",
    "modified",
    "moved",
    "posted",
    "published",
    "refunded",
    "removed",
    "saved",
    "scheduled",
    "sent",
    "submitted",
    "updated",
    "uploaded",
    "written",
];

fn closing(trace: &Value) -> &str {
    trace["final_response"].as_str().unwrap_or_default()
}

fn words(text: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’');
    let words = text
        .split(|c: char| !is_word(c))
        .filter(|word| !word.is_empty());
    words
        .map(|word| word.to_lowercase().replace('’', "'"))
        .collect()
}

/// Returns true if the closing message plainly claims a change: "I have updated", "has been cancelled". This rule is
/// independent of the gate, so that the gate does not measure itself.
pub(super) fn plainly_claims(trace: &Value) -> bool {
    let sentences = closing(trace).split(['.', '!', '\n']);
    sentences
        .filter(|sentence| !sentence.contains('?'))
        .any(|sentence| {
            let words = words(sentence);
            (0..words.len()).any(|at| {
                let pair = (
                    words[at].as_str(),
                    words.get(at + 1).map_or("", String::as_str),
                );
                let behind = match pair {
                    ("i" | "we", "have") | ("has" | "have", "been") => 2,
                    ("i've" | "we've", _) => 1,
                    _ => return false,
                };
                let next: Vec<&str> = words[at + behind..]
                    .iter()
                    .take(2)
                    .map(String::as_str)
                    .collect();
                let is_claim = |word: &str| CLAIMS.contains(&word);
                next.first().is_some_and(|word| is_claim(word))
                    || (next
                        .first()
                        .is_some_and(|word| word.ends_with("ly") || *word == "also")
                        && next.get(1).is_some_and(|word| is_claim(word)))
            })
        })
}

/// The run without its calls.
pub(super) fn emptied(trace: &Value) -> Value {
    let mut trace = trace.clone();
    trace["tool_calls"] = json!([]);
    trace["tool_results"] = json!([]);
    trace
}

/// The run with every result an error.
pub(super) fn failed(trace: &Value) -> Value {
    let mut trace = trace.clone();
    let calls = trace["tool_calls"].as_array().map_or(0, Vec::len);
    let error = |at| json!({ "call_index": at, "is_error": true, "content": [{ "type": "text", "text": "error" }] });
    trace["tool_results"] = (0..calls).map(error).collect();
    trace
}

/// The run with the text of an unmarked error as every result.
pub(super) fn refused(trace: &Value) -> Value {
    let mut trace = trace.clone();
    let calls = trace["tool_calls"].as_array().map_or(0, Vec::len);
    let refusal = |at| json!({ "call_index": at, "content": [{ "type": "text", "text": "Error: the request was refused" }] });
    trace["tool_results"] = (0..calls).map(refusal).collect();
    trace
}

/// The run without the calls to one tool.
pub(super) fn without(trace: &Value, tool: &str) -> Value {
    let mut trace = trace.clone();
    let calls = trace["tool_calls"].as_array().cloned().unwrap_or_default();
    let results = trace["tool_results"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let mut kept = Vec::new();
    let mut answers = Vec::new();
    for (at, call) in calls
        .into_iter()
        .enumerate()
        .filter(|(_, call)| call["name"] != tool)
    {
        let is_of_call = |(place, result): &(usize, &Value)| {
            result["call_index"]
                .as_u64()
                .map_or(*place, |index| index as usize)
                == at
        };
        if let Some((_, result)) = results.iter().enumerate().find(is_of_call) {
            let mut result = result.clone();
            result["call_index"] = json!(kept.len());
            answers.push(result);
        }
        kept.push(call);
    }
    trace["tool_calls"] = json!(kept);
    trace["tool_results"] = json!(answers);
    trace
}

/// The runs in which one of several successful calls to a tool becomes an error, each call once.
/// Equal calls are skipped, because another one did the same.
pub(super) fn partly_failed(trace: &Value, tool: &str) -> Vec<Value> {
    let calls = trace["tool_calls"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let results = trace["tool_results"].as_array();
    let results = results.map_or(&[][..], Vec::as_slice);
    let place_of_result = |call: usize| {
        results.iter().enumerate().position(|(place, result)| {
            let answered = result["call_index"].as_u64();
            answered.map_or(place, |index| index as usize) == call
        })
    };
    let has_succeeded = |call: &usize| {
        let place = place_of_result(*call);
        calls[*call]["name"] == tool
            && place.is_some_and(|place| results[place]["is_error"] != true)
    };
    let batch: Vec<usize> = (0..calls.len()).filter(has_succeeded).collect();
    let is_unique = |call: &&usize| {
        let equal = |other: &&usize| calls[**other]["args"] == calls[**call]["args"];
        batch.iter().filter(equal).count() == 1
    };
    if batch.len() < 2 {
        return Vec::new();
    }
    let with_error = |call: &usize| {
        let mut trace = trace.clone();
        let result = &mut trace["tool_results"][place_of_result(*call).unwrap_or(*call)];
        *result = json!({
            "call_index": call,
            "is_error": true,
            "content": [{ "type": "text", "text": "error" }],
        });
        trace
    };
    batch.iter().filter(is_unique).map(with_error).collect()
}

/// Returns true if the closing message mentions a tool's action: the past tense of its verb and its
/// last noun in one line.
pub(super) fn tells_of(trace: &Value, tool: &str) -> bool {
    let parts: Vec<String> = tool
        .split(|c: char| !c.is_alphanumeric())
        .map(str::to_lowercase)
        .collect();
    let verb = parts
        .iter()
        .position(|part| CLAIMS.iter().any(|past| is_past_of(past, part)));
    let (Some(verb), Some(noun)) = (verb, parts.last()) else {
        return false;
    };
    let noun = noun.trim_end_matches('s');
    closing(trace).lines().any(|line| {
        let words = words(line);
        let has_verb = words.iter().any(|word| is_past_of(word, &parts[verb]));
        has_verb
            && words.iter().any(|word| word.trim_end_matches('s') == noun)
            && verb + 1 < parts.len()
    })
}

fn is_past_of(past: &str, verb: &str) -> bool {
    let irregular = [
        ("send", "sent"),
        ("write", "written"),
        ("cancel", "cancelled"),
        ("submit", "submitted"),
    ];
    irregular.contains(&(verb, past)) || past == format!("{verb}ed") || past == format!("{verb}d")
}

/// The tools of a run whose names mean a write.
pub(super) fn write_tools(trace: &Value) -> Vec<String> {
    let policy = Narrative::default();
    let mut tools: Vec<String> = super::corpus::tool_names(trace)
        .filter(|name| policy.is_mutating(name))
        .collect();
    tools.sort();
    tools.dedup();
    tools
}
