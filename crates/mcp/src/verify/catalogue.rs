//! Do the tools, resources and prompts still exist, with compatible inputs and outputs?

use super::drift::{Findings, Subject, Tier};
use super::schema::{self, SchemaSide};
use super::value::{self, brief, changed};
use mcptest_core::change::{
    CatalogueChange, CatalogueItem, Change, ItemPart, PlacedChange, compare_catalogues,
    compare_parts,
};
use serde_json::Value;
use std::borrow::Cow;

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
    let old: Vec<CatalogueItem<'_>> = old.iter().map(|item| catalogue_item(kind, item)).collect();
    let new: Vec<CatalogueItem<'_>> = new.iter().map(|item| catalogue_item(kind, item)).collect();
    for change in compare_catalogues(&old, &new, |old, new| old == new) {
        let name = change.item().name;
        let text = format!("{} `{name}`", kind.noun);
        let mut subject = findings.of(name, &text);
        match change {
            CatalogueChange::Removed(_) => subject.add(Tier::Breaking, "", "is gone"),
            CatalogueChange::Changed { part, .. } => add_part(&mut subject, &part),
            CatalogueChange::Added(_) if is_whole => subject.add(Tier::Added, "", "is new"),
            CatalogueChange::Added(_) => {}
        }
    }
}

fn catalogue_item<'v>(kind: &ListKind, item: &'v Value) -> CatalogueItem<'v> {
    let parts = item.as_object().into_iter().flatten();
    CatalogueItem {
        server: None,
        name: text_at(item, kind.key),
        parts: parts
            .map(|(key, value)| ItemPart {
                key,
                value: Cow::Borrowed(value),
            })
            .collect(),
    }
}

fn text_at<'v>(item: &'v Value, key: &str) -> &'v str {
    item.get(key).and_then(Value::as_str).unwrap_or("?")
}

fn add_part(subject: &mut Subject<'_>, part: &PlacedChange<&str, &Value>) {
    let key = part.place;
    match (key, part.change) {
        ("inputSchema", Change::Changed { before, after }) => {
            schema::compare(subject, SchemaSide::Input, key, before, after);
        }
        ("outputSchema", Change::Changed { before, after }) => {
            schema::compare(subject, SchemaSide::Output, key, before, after);
        }
        ("outputSchema", Change::Removed(_)) => {
            let what = "is gone: the output is no longer promised";
            subject.add(Tier::Breaking, key, what);
        }
        ("arguments", Change::Changed { before, after }) => arguments(subject, before, after),
        ("arguments", Change::Added(after)) => arguments(subject, &Value::Null, after),
        (_, Change::Changed { before, after }) => {
            subject.add(Tier::Changed, key, changed(before, after));
        }
        (_, Change::Removed(before)) => {
            let what = format!("was {} and is gone", brief(before));
            subject.add(Tier::Changed, key, what);
        }
        (_, Change::Added(_)) => subject.add(Tier::Added, key, "is new"),
    }
}

/// Compares the arguments of a prompt, which have no schema.
fn arguments(subject: &mut Subject<'_>, old: &Value, new: &Value) {
    let is_required = |argument: &Value| {
        argument
            .get("required")
            .and_then(Value::as_bool)
            .unwrap_or_default()
    };
    for argument in compare_parts(by_name(old), by_name(new), |old, new| old == new) {
        let at = format!("arguments.{}", argument.place);
        match argument.change {
            Change::Removed(_) => subject.add(Tier::Breaking, &at, "is gone"),
            Change::Changed { before, after } if is_required(after) && !is_required(before) => {
                subject.add(Tier::Breaking, &at, "is now required");
            }
            Change::Changed { before, after } => {
                subject.add(Tier::Changed, &at, changed(before, after));
            }
            Change::Added(after) if is_required(after) => {
                subject.add(Tier::Breaking, &at, "is new and required");
            }
            Change::Added(_) => subject.add(Tier::Added, &at, "is new"),
        }
    }
}

fn by_name(arguments: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let arguments = arguments.as_array().into_iter().flatten();
    arguments.map(|argument| (text_at(argument, "name"), argument))
}

/// Compares the server's description of itself.
pub(super) fn server(findings: &mut Findings, old: &Value, new: &Value) {
    let mut subject = findings.of("server", "the server");
    let none = Value::Null;
    let of = |value: &'_ Value, key: &str| value.get(key).cloned().unwrap_or(Value::Null);
    if let (Value::Object(before), Value::Object(after)) =
        (of(old, "capabilities"), of(new, "capabilities"))
    {
        for capability in compare_parts(&before, &after, |old, new| old == new) {
            let at = format!("capabilities.{}", capability.place);
            match capability.change {
                Change::Changed { before, after } => {
                    value::compare(&mut subject, &at, before, after);
                }
                Change::Removed(_) => subject.add(Tier::Breaking, &at, "is gone"),
                Change::Added(_) => subject.add(Tier::Added, &at, "is new"),
            }
        }
    }
    for key in ["instructions", "protocolVersion", "serverInfo"] {
        let (old, new) = (old.get(key).unwrap_or(&none), new.get(key).unwrap_or(&none));
        if old != new {
            subject.add(Tier::Changed, key, changed(old, new));
        }
    }
}
