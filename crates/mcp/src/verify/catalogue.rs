//! Are the tools, resources and prompts still there, and do they still ask for and promise the same?

use super::drift::{Findings, Subject, Tier};
use super::schema::{self, SchemaSide};
use super::value::{self, brief, changed};
use serde_json::Value;

/// One kind of list.
pub(super) struct ListKind {
    pub(super) method: &'static str,
    /// The key of the items in the result.
    pub(super) items: &'static str,
    /// The key that names an item.
    pub(super) key: &'static str,
    /// The noun for an item.
    pub(super) noun: &'static str,
}

/// The lists of the protocol.
pub(super) const KINDS: &[ListKind] = &[
    ListKind {
        method: "tools/list",
        items: "tools",
        key: "name",
        noun: "tool",
    },
    ListKind {
        method: "resources/list",
        items: "resources",
        key: "uri",
        noun: "resource",
    },
    ListKind {
        method: "resources/templates/list",
        items: "resourceTemplates",
        key: "uriTemplate",
        noun: "resource template",
    },
    ListKind {
        method: "prompts/list",
        items: "prompts",
        key: "name",
        noun: "prompt",
    },
];

/// Compares two lists of one kind. An item that the old list lacks is new only if that list was complete.
pub(super) fn compare(
    findings: &mut Findings,
    kind: &ListKind,
    old: &[Value],
    new: &[Value],
    is_whole: bool,
) {
    let name = |item: &Value| {
        item.get(kind.key)
            .and_then(Value::as_str)
            .unwrap_or("?")
            .to_owned()
    };
    for old in old {
        let named = name(old);
        let text = format!("{} `{named}`", kind.noun);
        let mut subject = findings.of(&named, &text);
        match new.iter().find(|item| name(item) == named) {
            Some(new) => item(&mut subject, old, new),
            None => subject.add(Tier::Breaking, "", "is gone"),
        }
    }
    for new in new.iter().filter(|_| is_whole) {
        let named = name(new);
        if !old.iter().any(|item| name(item) == named) {
            let text = format!("{} `{named}`", kind.noun);
            findings.of(&named, &text).add(Tier::Added, "", "is new");
        }
    }
}

fn item(subject: &mut Subject<'_>, old: &Value, new: &Value) {
    let (Some(before), Some(after)) = (old.as_object(), new.as_object()) else {
        return;
    };
    for (key, old) in before {
        match (key.as_str(), after.get(key)) {
            (_, Some(new)) if new == old => {}
            ("inputSchema", Some(new)) => {
                schema::compare(subject, SchemaSide::Input, key, old, new);
            }
            ("outputSchema", Some(new)) => {
                schema::compare(subject, SchemaSide::Output, key, old, new);
            }
            ("arguments", Some(new)) => arguments(subject, old, new),
            ("outputSchema", None) => {
                subject.add(
                    Tier::Breaking,
                    key,
                    "is gone: the output is not promised any more",
                );
            }
            (_, Some(new)) => subject.add(Tier::Changed, key, changed(old, new)),
            (_, None) => subject.add(
                Tier::Changed,
                key,
                format!("was {} and is gone", brief(old)),
            ),
        }
    }
    for key in after.keys().filter(|key| !before.contains_key(*key)) {
        if key == "arguments" {
            arguments(subject, &Value::Array(Vec::new()), &after[key]);
        } else {
            subject.add(Tier::Added, key, "is new");
        }
    }
}

/// The arguments of a prompt, which have no schema.
fn arguments(subject: &mut Subject<'_>, old: &Value, new: &Value) {
    let none = Vec::new();
    let (old, new) = (
        old.as_array().unwrap_or(&none),
        new.as_array().unwrap_or(&none),
    );
    let name = |argument: &Value| {
        argument
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or("?")
            .to_owned()
    };
    let is_required = |argument: &Value| {
        argument
            .get("required")
            .and_then(Value::as_bool)
            .unwrap_or_default()
    };
    for before in old {
        let at = format!("arguments.{}", name(before));
        match new.iter().find(|argument| name(argument) == name(before)) {
            None => subject.add(Tier::Breaking, &at, "is gone"),
            Some(after) if is_required(after) && !is_required(before) => {
                subject.add(Tier::Breaking, &at, "is required now");
            }
            Some(after) if before != after => {
                subject.add(Tier::Changed, &at, changed(before, after));
            }
            Some(_) => {}
        }
    }
    for after in new
        .iter()
        .filter(|argument| !old.iter().any(|before| name(before) == name(argument)))
    {
        let at = format!("arguments.{}", name(after));
        let (tier, message) = if is_required(after) {
            (Tier::Breaking, "is new and required")
        } else {
            (Tier::Added, "is new")
        };
        subject.add(tier, &at, message);
    }
}

/// Compares what the server says about itself.
pub(super) fn server(findings: &mut Findings, old: &Value, new: &Value) {
    let mut subject = findings.of("server", "the server");
    let none = Value::Null;
    let of = |value: &'_ Value, key: &str| value.get(key).cloned().unwrap_or(Value::Null);
    if let (Value::Object(before), Value::Object(after)) =
        (of(old, "capabilities"), of(new, "capabilities"))
    {
        for (name, old) in &before {
            match after.get(name) {
                Some(new) => {
                    value::compare(&mut subject, &format!("capabilities.{name}"), old, new);
                }
                None => subject.add(Tier::Breaking, &format!("capabilities.{name}"), "is gone"),
            }
        }
        for name in after.keys().filter(|name| !before.contains_key(*name)) {
            subject.add(Tier::Added, &format!("capabilities.{name}"), "is new");
        }
    }
    for key in ["instructions", "protocolVersion", "serverInfo"] {
        let (old, new) = (old.get(key).unwrap_or(&none), new.get(key).unwrap_or(&none));
        if old != new {
            subject.add(Tier::Changed, key, changed(old, new));
        }
    }
}
