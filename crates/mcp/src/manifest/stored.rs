//! The keys of an answer that is made of the store: what is done, to which record, with which fields.

use super::answer::Plan;
use super::fields::{any_json, template};
use super::json::{Json, list};
use super::operation::{Operation, Verb};
use super::response::Answers;
use super::store::Collection;
use mcptest_core::problem::{Problem, Span};
use mcptest_core::suite::read::{Block, Field};
use std::sync::Arc;

/// An answer made of the store, but for its reply.
pub(super) struct Stored {
    pub(super) verb: Verb,
    slot: usize,
    collection: Arc<Collection>,
    key: Json,
    fields: Option<Vec<(String, Json)>>,
    not_found: Option<Plan>,
}

/// Which keys go with which verbs.
const COMPANIONS: &[(&str, &[&str])] = &[
    ("key", &["read", "update", "delete"]),
    ("record", &["create", "update"]),
    ("where", &["list"]),
    ("not_found", &["read", "update", "delete"]),
];

impl Stored {
    pub(super) fn read(block: &mut Block<'_>, answers: Answers<'_>) -> Option<Self> {
        let mut found = None;
        for (key, verb, doc) in Verb::ALL {
            let collection = block.optional(key, doc, |f| answers.context.collection(f));
            found = found.or(collection.map(|(slot, collection)| (verb, slot, collection)));
        }
        let key = block.optional(
            "key",
            "Which record: the argument that is called as the collection's key when left out",
            |f| any_json(f, answers.scope),
        );
        let record = block.optional(
            "record",
            "The fields to write, all arguments when left out; one whose argument is missing is not written",
            |f| f.entries(|_, span, f| any_json(f, answers.scope).map(|json| (span, json))),
        );
        let filter = block.optional(
            "where",
            "The values that fields must have to be listed; one whose argument is missing does not count",
            |f| f.entries(|_, _, f| any_json(f, answers.scope)),
        );
        let not_found = block.optional(
            "not_found",
            "The answer when there is no such record; a string is an error result, and `${key}` is the key",
            |f| read_not_found(f, answers),
        );
        check(block);
        let (verb, slot, collection) = found?;
        let default = || Json::value_of(&format!("args[{}]", super::json::quote(&collection.key)), &["args"]);
        let key = key.unwrap_or_else(default);
        if let (Verb::Update, Some(record)) = (verb, &record) {
            check_key_stays(block, record, &collection, &key);
        }
        let record = record.map(|record| record.into_iter().map(|(name, (_, json))| (name, json)).collect());
        let fields = if verb == Verb::List { Some(filter.unwrap_or_default()) } else { record };
        Some(Self { verb, slot, collection, key, fields, not_found })
    }

    /// The structured content that shows the outcome.
    pub(super) fn shown(&self) -> Json {
        let outcome = Json::value_of(self.verb.outcome(), &[self.verb.outcome()]);
        if self.verb != Verb::List {
            return outcome;
        }
        Json::object([(self.collection.name.as_str(), Some(outcome))])
    }

    pub(super) fn plan(self, reply: Json) -> Plan {
        Plan::Store(Box::new(Operation {
            verb: self.verb,
            slot: self.slot,
            collection: self.collection,
            key: self.key,
            fields: self.fields,
            reply,
            not_found: self.not_found.map(Box::new),
        }))
    }
}

fn check(block: &Block<'_>) {
    for (key, verbs) in COMPANIONS {
        let Some(span) = block.key_span(key).filter(|_| !verbs.iter().any(|verb| block.has(verb))) else {
            continue;
        };
        let verbs: Vec<String> = verbs.iter().map(|verb| format!("`{verb}`")).collect();
        block.report(Problem::error(format!("`{key}` belongs to {}", verbs.join(", "))).at(span));
    }
}

fn check_key_stays(
    block: &Block<'_>,
    record: &[(String, (Span, Json))],
    collection: &Collection,
    key: &Json,
) {
    let Some((name, (span, json))) = record.iter().find(|(name, _)| *name == collection.key) else { return };
    if json == key || json.is_same_hole(key) {
        return;
    }
    let message = format!("`{name}` is the key of `{}`, which an update cannot change", collection.name);
    let help = "leave it out of `record`; which record is meant is said by `key`";
    block.report(Problem::error(message).at(*span).help(help));
}

fn read_not_found(field: &mut Field<'_>, answers: Answers<'_>) -> Option<Plan> {
    let scope = answers.scope.with(["key"]);
    field.shapes("a string or an answer", |shapes| {
        shapes.scalar(|field| {
            let text = template(field, &scope)?;
            let content = list([super::content::text_block(Json::text(text))]);
            let result = [("content", Some(content)), ("isError", Some(Json::raw("true")))];
            Some(Plan::Result(Json::object(result)))
        });
        shapes.map(|field| Answers { scope: &scope, ..answers }.read(field));
    })
}
