//! Which parts of its own messages does a provider accept back? The trace keeps every message
//! verbatim.

use super::parameters::put;
use super::piece::Piece;
use super::{Answered, Ask, Message};
use mcptest_core::tool_schema::{fnv, lettered, untaken};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The parts of a message that one kind of provider accepts back. Paths of keys locate the parts of a call.
pub(super) struct Rules {
    /// The calls in a message.
    pub(super) calls: fn(&mut Value) -> Vec<&mut Value>,
    /// The path of a call's id.
    pub(super) id: &'static str,
    /// The path of its name.
    pub(super) name: &'static str,
    /// The path of its arguments.
    pub(super) arguments: &'static str,
    /// The accepted ids.
    pub(super) ids: Ids,
    /// The characters that a name may have besides letters, digits, `_` and `-`.
    pub(super) name_marks: &'static str,
    /// True if arguments are a string with JSON in it, not the JSON itself.
    pub(super) is_text: bool,
    /// Removes other refused parts. Returns false if nothing is left to send.
    pub(super) rest: fn(&mut Value, &Ask<'_>) -> bool,
}

/// The form of call ids that a provider accepts. Ids are unique in a conversation.
#[derive(Clone, Copy)]
pub(super) enum Ids {
    /// Letters, digits, `_` and `-`, up to this length.
    UpTo(usize),
    /// Nine letters and digits.
    Nine,
    /// Like 64 characters, or no id.
    OrNone,
}

/// One message of the conversation on the wire.
pub(super) enum Turn<'a> {
    User(&'a str),
    Model(Piece<'a>),
    Results(Vec<WireResult<'a>>),
}

/// A result, under the id and the name that its call has on the wire.
pub(super) struct WireResult<'a> {
    pub(super) id: Option<String>,
    pub(super) name: String,
    /// The caller, if generated code made the call.
    pub(super) caller: Option<Value>,
    pub(super) result: &'a Answered,
}

/// The conversation in the form that the provider accepts.
pub(super) fn conversation<'a>(ask: &Ask<'a>, rules: &Rules) -> Vec<Turn<'a>> {
    let (mut turns, mut taken, mut called) = (Vec::new(), BTreeSet::new(), Vec::new());
    for message in ask.messages {
        match message {
            Message::User(text) => turns.push(Turn::User(text)),
            Message::Assistant(raw) => {
                let piece;
                (piece, called) = sent_back(raw, ask, rules, &mut taken);
                turns.extend(piece.map(Turn::Model));
            }
            Message::Results(results) => {
                let mut called = std::mem::take(&mut called).into_iter();
                let told = results.iter().map(|result| {
                    let given = || Called {
                        id: Some(result.call_id.clone()),
                        name: result.name.clone(),
                        caller: None,
                    };
                    let Called { id, name, caller } = called.next().unwrap_or_else(given);
                    WireResult {
                        id,
                        name,
                        caller,
                        result,
                    }
                });
                turns.push(Turn::Results(told.collect()));
            }
        }
    }
    turns
}

struct Called {
    id: Option<String>,
    name: String,
    caller: Option<Value>,
}

fn sent_back<'a>(
    raw: &'a RawValue,
    ask: &Ask<'_>,
    rules: &Rules,
    taken: &mut BTreeSet<String>,
) -> (Option<Piece<'a>>, Vec<Called>) {
    let Ok(written) = serde_json::from_str::<Value>(raw.get()) else {
        return (Some(Piece::Echo(raw)), Vec::new());
    };
    let mut message = written.clone();
    let called = (rules.calls)(&mut message)
        .into_iter()
        .map(|call| mended(call, rules, taken))
        .collect();
    let piece = (rules.rest)(&mut message, ask).then(|| {
        if message == written {
            Piece::Echo(raw)
        } else {
            Piece::Ours(message)
        }
    });
    (piece, called)
}

fn mended(call: &mut Value, rules: &Rules, taken: &mut BTreeSet<String>) -> Called {
    let at = |path: &str| {
        path.split('.')
            .try_fold(&*call, |inner, key| inner.get(key))
    };
    let text = |path: &str| at(path).and_then(Value::as_str).unwrap_or_default();
    let id = rules.ids.choose(text(rules.id), taken);
    let name = lettered(text(rules.name), rules.name_marks);
    let arguments = arguments(at(rules.arguments), rules.is_text);
    if let Value::Object(call) = call {
        match &id {
            Some(id) => put(call, rules.id, json!(id)),
            None => drop(call.remove(rules.id)),
        }
        put(call, rules.name, json!(name));
        put(call, rules.arguments, arguments);
    }
    let caller = call
        .get("caller")
        .filter(|caller| caller.is_object() && caller["type"] != "direct");
    Called {
        id,
        name,
        caller: caller.cloned(),
    }
}

/// An object for any written arguments: the result reports the problem with them.
fn arguments(written: Option<&Value>, is_text: bool) -> Value {
    let object = match written {
        Some(Value::Object(object)) => Some(object.clone()),
        Some(Value::String(text)) => match serde_json::from_str::<Map<String, Value>>(text) {
            Ok(_) if is_text => return json!(text),
            object => object.ok(),
        },
        _ => None,
    };
    let object = Value::Object(object.unwrap_or_default());
    if is_text {
        json!(object.to_string())
    } else {
        object
    }
}

impl Ids {
    /// The given id, if it is accepted and unique, otherwise a new id.
    fn choose(self, given: &str, taken: &mut BTreeSet<String>) -> Option<String> {
        if given.is_empty() && matches!(self, Self::OrNone) {
            return None;
        }
        if self.takes(given) && taken.insert(given.to_owned()) {
            return Some(given.to_owned());
        }
        let start = if matches!(self, Self::Nine) {
            "c"
        } else {
            "call_"
        };
        let made = |salt: u32| {
            format!(
                "{start}{:08x}",
                fnv(&[given.as_bytes(), &salt.to_le_bytes()])
            )
        };
        Some(untaken(taken, made))
    }

    fn takes(self, id: &str) -> bool {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        match self {
            Self::UpTo(most) => (1..=most).contains(&id.len()) && id.chars().all(is_plain),
            Self::Nine => id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()),
            Self::OrNone => Self::UpTo(64).takes(id),
        }
    }
}

/// Returns true if a string is blank.
pub(super) fn is_blank(text: &Value) -> bool {
    text.as_str().is_none_or(|text| text.trim().is_empty())
}

/// The list under a key of a message. Empty if the key is missing.
pub(super) fn list<'v>(message: &'v mut Value, key: &str) -> &'v mut [Value] {
    message
        .get_mut(key)
        .and_then(Value::as_array_mut)
        .map(Vec::as_mut_slice)
        .unwrap_or_default()
}

/// The entries of a list that are of this kind.
pub(super) fn of_kind<'v>(list: &'v mut [Value], kind: &str) -> Vec<&'v mut Value> {
    list.iter_mut()
        .filter(|entry| entry["type"] == kind)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_kept_where_it_can_be_and_is_never_there_twice() {
        let mut taken = BTreeSet::new();
        let mut choose = |ids: Ids, given: &str| ids.choose(given, &mut taken);
        assert_eq!(choose(Ids::UpTo(40), "call_1").as_deref(), Some("call_1"));
        assert_ne!(choose(Ids::UpTo(40), "call_1").as_deref(), Some("call_1"));
        assert_eq!(choose(Ids::OrNone, ""), None);
        assert_eq!(choose(Ids::Nine, "D681PevKs").as_deref(), Some("D681PevKs"));
        let (one, other) = (
            choose(Ids::Nine, "call_abc").unwrap(),
            choose(Ids::Nine, "call_abc").unwrap(),
        );
        assert!(
            one != other && one.len() == 9 && other.len() == 9,
            "{one} {other}"
        );
    }

    #[test]
    fn arguments_are_an_object_whatever_was_written() {
        assert_eq!(
            arguments(Some(&json!("{\"a\": 1}")), true),
            json!("{\"a\": 1}")
        );
        assert_eq!(
            arguments(Some(&json!({ "a": 1 })), true),
            json!("{\"a\":1}")
        );
        assert_eq!(
            arguments(Some(&json!("{\"a\": 1}")), false),
            json!({ "a": 1 })
        );
        for written in [
            None,
            Some(json!("{\"a")),
            Some(json!("[1]")),
            Some(json!(7)),
            Some(Value::Null),
        ] {
            assert_eq!(arguments(written.as_ref(), true), json!("{}"));
            assert_eq!(arguments(written.as_ref(), false), json!({}));
        }
    }
}
