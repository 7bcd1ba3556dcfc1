//! Which small edits can be made to a recorded run?

use super::calls::{call_count, drop_call, items, repeat_call, swap_calls, with};
use mcptest_core::trace::CatalogueTool;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A run before an edit: its trace, and the model's tools.
#[derive(Clone, Copy)]
pub(super) struct Original<'a> {
    pub(super) trace: &'a Value,
    pub(super) catalogue: &'a [CatalogueTool],
}

/// A kind of edit.
pub(super) struct Edit {
    /// As the table and the pages of the gates call it.
    pub(super) name: &'static str,
    /// The effect of the edit, in a sentence without a full stop.
    pub(super) doc: &'static str,
    apply: fn(Original<'_>) -> Vec<Value>,
}

/// The maximum number of places to edit in one run.
pub(super) const MOST_PLACES: usize = 40;

impl Edit {
    /// The edited traces, one for each place in the run.
    pub(super) fn mutants(&self, original: Original<'_>) -> Vec<Value> {
        let mut mutants = (self.apply)(original);
        mutants.truncate(MOST_PLACES);
        mutants
    }
}

/// Every kind of edit, in the order of the table.
pub(super) const EDITS: &[Edit] = &[
    Edit {
        name: "drop a call",
        doc: "one call is gone, with its result",
        apply: |run| {
            (0..call_count(run.trace))
                .map(|at| drop_call(run.trace, at))
                .collect()
        },
    },
    Edit {
        name: "swap two calls",
        doc: "two neighbouring calls that differ change places, with their results; the turns stay",
        apply: |run| {
            (1..call_count(run.trace))
                .filter_map(|at| swap_calls(run.trace, at))
                .collect()
        },
    },
    Edit {
        name: "repeat a call",
        doc: "one call is made again in the same turn, with the same result",
        apply: |run| {
            (0..call_count(run.trace))
                .map(|at| repeat_call(run.trace, at))
                .collect()
        },
    },
    Edit {
        name: "rename a tool",
        doc: "one call goes to an unknown tool, `no_such_tool`",
        apply: |run| {
            let renamed = |at| {
                with(run.trace, |trace| {
                    trace["tool_calls"][at]["name"] = json!("no_such_tool");
                })
            };
            (0..call_count(run.trace)).map(renamed).collect()
        },
    },
    Edit {
        name: "call another tool",
        doc: "one call goes to another tool of the catalogue, with the arguments it had",
        apply: call_another_tool,
    },
    Edit {
        name: "change an argument",
        doc: "one value in the arguments of a call: a string gets a suffix, a number is one higher, a flag is turned over",
        apply: change_an_argument,
    },
    Edit {
        name: "blank the answer",
        doc: "the closing message is empty, and so is the assistant's last turn",
        apply: blank_the_answer,
    },
    Edit {
        name: "flip is_error",
        doc: "one failed call succeeds, or one that succeeded fails",
        apply: flip_is_error,
    },
    Edit {
        name: "ten times the tokens",
        doc: "the run took ten times the tokens, and cost ten times as much",
        apply: ten_times_the_tokens,
    },
    Edit {
        name: "name a tool in the prompt",
        doc: "the user's first message asks for one of the tools that were called",
        apply: name_a_tool_in_the_prompt,
    },
    Edit {
        name: "drop a hand-off",
        doc: "one recorded delegation is gone",
        apply: |run| without_each(run.trace, "delegations"),
    },
    Edit {
        name: "drop a fault",
        doc: "one call was not hit by the injected fault after all",
        apply: |run| without_each(run.trace, "faults"),
    },
];

fn call_another_tool(run: Original<'_>) -> Vec<Value> {
    let mut mutants = Vec::new();
    for (at, call) in items(run.trace, "tool_calls").iter().enumerate() {
        let is_this = |tool: &&CatalogueTool| {
            call["name"] == tool.name && call["server"].as_str() == tool.server.as_deref()
        };
        for tool in run.catalogue.iter().filter(|tool| !is_this(tool)) {
            mutants.push(with(run.trace, |trace| {
                let call = &mut trace["tool_calls"][at];
                call["name"] = json!(tool.name);
                call["server"] = json!(tool.server);
                call["distractor"] = json!(tool.distractor);
            }));
        }
    }
    mutants
}

fn change_an_argument(run: Original<'_>) -> Vec<Value> {
    let mut mutants = Vec::new();
    for (at, call) in items(run.trace, "tool_calls").iter().enumerate() {
        for key in ["args", "args_text"] {
            let Some(value) = call.get(key) else { continue };
            let mut places = Vec::new();
            scalars(value, &format!("/tool_calls/{at}/{key}"), &mut places);
            mutants.extend(places.into_iter().map(|(place, changed)| {
                with(run.trace, |trace| {
                    if let Some(value) = trace.pointer_mut(&place) {
                        *value = changed;
                    }
                })
            }));
        }
    }
    mutants
}

/// Every changeable value below this one, by its JSON pointer, with its new value.
fn scalars(value: &Value, place: &str, into: &mut Vec<(String, Value)>) {
    let changed = match value {
        Value::Object(map) => {
            for (key, value) in map {
                let key = key.replace('~', "~0").replace('/', "~1");
                scalars(value, &format!("{place}/{key}"), into);
            }
            return;
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                scalars(item, &format!("{place}/{at}"), into);
            }
            return;
        }
        Value::Null => return,
        Value::Bool(flag) => json!(!flag),
        Value::String(text) => json!(format!("{text} and more")),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => json!(whole.saturating_add(1)),
            None => json!(number.as_f64().unwrap_or_default() + 1.0),
        },
    };
    into.push((place.to_owned(), changed));
}

fn blank_the_answer(run: Original<'_>) -> Vec<Value> {
    if run.trace["final_response"]
        .as_str()
        .is_none_or(str::is_empty)
    {
        return Vec::new();
    }
    vec![with(run.trace, |trace| {
        trace["final_response"] = json!("");
        let turns = trace
            .pointer_mut("/conversation/turns")
            .and_then(Value::as_array_mut);
        let last =
            turns.and_then(|turns| turns.iter_mut().rfind(|turn| turn["role"] == "assistant"));
        if let Some(turn) = last {
            turn["content"] = json!("");
        }
    })]
}

fn flip_is_error(run: Original<'_>) -> Vec<Value> {
    let flipped = |at: usize| {
        with(run.trace, |trace| {
            let result = &mut trace["tool_results"][at];
            let failed = result["is_error"] == true || !result["error"].is_null();
            result["is_error"] = json!(!failed);
            if let Some(result) = result.as_object_mut() {
                result.remove("error");
            }
        })
    };
    (0..items(run.trace, "tool_results").len())
        .map(flipped)
        .collect()
}

fn ten_times_the_tokens(run: Original<'_>) -> Vec<Value> {
    let mut counted = false;
    let trace = with(run.trace, |trace| {
        for count in [
            "tokens/prompt",
            "tokens/completion",
            "tokens/total",
            "cost_usd",
        ] {
            let Some(value) = trace.pointer_mut(&format!("/conversation/{count}")) else {
                continue;
            };
            if let Some(whole) = value.as_u64() {
                *value = json!(whole * 10);
            } else if let Some(amount) = value.as_f64() {
                *value = json!(amount * 10.0);
            }
            counted |= value.is_number();
        }
    });
    counted.then_some(trace).into_iter().collect()
}

fn name_a_tool_in_the_prompt(run: Original<'_>) -> Vec<Value> {
    let turns = run
        .trace
        .pointer("/conversation/turns")
        .and_then(Value::as_array);
    let first = turns.and_then(|turns| turns.iter().position(|turn| turn["role"] == "user"));
    let Some(first) = first else {
        return Vec::new();
    };
    let place = format!("/conversation/turns/{first}/content");
    let Some(said) = run.trace.pointer(&place).and_then(Value::as_str) else {
        return Vec::new();
    };
    let called: BTreeSet<&str> = items(run.trace, "tool_calls")
        .iter()
        .filter_map(|call| call["name"].as_str())
        .collect();
    let asking = |tool: &str| {
        with(run.trace, |trace| {
            if let Some(content) = trace.pointer_mut(&place) {
                *content = json!(format!("{said} Use {tool}."));
            }
        })
    };
    called.into_iter().map(asking).collect()
}

fn without_each(trace: &Value, key: &str) -> Vec<Value> {
    let without = |at: usize| {
        with(trace, |trace| {
            if let Some(items) = trace[key].as_array_mut() {
                items.remove(at);
            }
        })
    };
    (0..items(trace, key).len()).map(without).collect()
}
