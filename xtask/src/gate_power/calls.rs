//! How is the list of calls edited so that results and faults still belong to their calls?

use serde_json::{Value, json};

pub(super) fn with(trace: &Value, edit: impl FnOnce(&mut Value)) -> Value {
    let mut edited = trace.clone();
    edit(&mut edited);
    edited
}

/// The list under a key; empty if it is missing.
pub(super) fn items<'t>(trace: &'t Value, key: &str) -> &'t [Value] {
    trace[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

pub(super) fn call_count(trace: &Value) -> usize {
    items(trace, "tool_calls").len()
}

pub(super) fn drop_call(trace: &Value, dropped: usize) -> Value {
    edit_calls(
        trace,
        |calls| {
            calls.remove(dropped);
        },
        |at| match at.cmp(&dropped) {
            std::cmp::Ordering::Less => vec![at],
            std::cmp::Ordering::Equal => Vec::new(),
            std::cmp::Ordering::Greater => vec![at - 1],
        },
    )
}

pub(super) fn repeat_call(trace: &Value, repeated: usize) -> Value {
    edit_calls(
        trace,
        |calls| {
            let mut again = calls[repeated].clone();
            if let Some(id) = again["id"].as_str() {
                again["id"] = json!(format!("{id}-again"));
            }
            calls.insert(repeated + 1, again);
        },
        |at| match at.cmp(&repeated) {
            std::cmp::Ordering::Less => vec![at],
            std::cmp::Ordering::Equal => vec![at, at + 1],
            std::cmp::Ordering::Greater => vec![at + 1],
        },
    )
}

/// Swaps a call with the previous one; `None` if the two are equal.
pub(super) fn swap_calls(trace: &Value, second: usize) -> Option<Value> {
    let first = second - 1;
    let calls = items(trace, "tool_calls");
    let differ = ["name", "server", "args", "args_text"]
        .iter()
        .any(|key| calls[first].get(key) != calls[second].get(key));
    differ.then(|| {
        edit_calls(
            trace,
            |calls| {
                let turns = [first, second].map(|at| calls[at].get("turn").cloned());
                calls.swap(first, second);
                for (at, turn) in [first, second].into_iter().zip(turns) {
                    if let (Some(turn), Some(call)) = (turn, calls[at].as_object_mut()) {
                        call.insert("turn".to_owned(), turn);
                    }
                }
            },
            |at| match at {
                at if at == first => vec![second],
                at if at == second => vec![first],
                at => vec![at],
            },
        )
    })
}

/// Edits the calls; `moved` gives the new places of the data of each call.
fn edit_calls(
    trace: &Value,
    edit: impl FnOnce(&mut Vec<Value>),
    moved: impl Fn(usize) -> Vec<usize>,
) -> Value {
    with(trace, |trace| {
        if let Some(calls) = trace["tool_calls"].as_array_mut() {
            edit(calls);
        }
        for key in ["tool_results", "faults"] {
            let Some(entries) = trace.get_mut(key).and_then(Value::as_array_mut) else {
                continue;
            };
            let mut placed: Vec<(usize, Value)> = Vec::new();
            for (at, entry) in entries.iter().enumerate() {
                let of_call = entry["call_index"].as_u64().map_or(at, |at| at as usize);
                placed.extend(moved(of_call).into_iter().map(|at| {
                    let mut entry = entry.clone();
                    entry["call_index"] = json!(at);
                    (at, entry)
                }));
            }
            placed.sort_by_key(|(at, _)| *at);
            *entries = placed.into_iter().map(|(_, entry)| entry).collect();
        }
    })
}
