//! `create:`, `read:`, `update:`, `delete:` and `list:` answers from the store.

use super::answer::{Call, Plan, Replied, error_of_missing, text_result};
use super::content::one_text;
use super::fields::{any_json, text};
use super::json::Json;
use super::records::{Records, Refusal};
use super::response::Answers;
use super::store::{Collection, Record};
use mcptest_core::problem::{Problem, Span};
use mcptest_core::suite::read::{Block, Field};
use mcptest_mcp::jsonrpc::{RpcError, code};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// An operation on a collection, and its answer.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) verb: Verb,
    pub(super) slot: usize,
    pub(super) collection: Arc<Collection>,
    /// The key of the record.
    pub(super) key: Json,
    /// The fields to write or to list by [default: all arguments].
    pub(super) fields: Option<Vec<(String, Json)>>,
    pub(super) reply: Json,
    pub(super) not_found: Option<Plan>,
}

/// The kind of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Create,
    Read,
    Update,
    Delete,
    List,
}

impl Verb {
    pub(super) const ALL: [Self; 5] = [
        Self::Create,
        Self::Read,
        Self::Update,
        Self::Delete,
        Self::List,
    ];

    /// The key of a manifest that names the collection.
    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Read => "read",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::List => "list",
        }
    }

    const fn doc(self) -> &'static str {
        match self {
            Self::Create => "Stores a record in this collection of the `store`",
            Self::Read => "Finds a record in this collection by its key",
            Self::Update => "Changes fields of a record in this collection",
            Self::Delete => "Removes a record from this collection",
            Self::List => "Lists the records of this collection, or the ones that match `where`",
        }
    }

    /// The name that the answer's texts know the outcome by.
    pub(super) fn outcome(self) -> &'static str {
        if self == Self::List {
            "records"
        } else {
            "record"
        }
    }
}

impl Operation {
    pub(super) fn answer<'m>(&'m self, call: &Call<'_>) -> Replied<'m> {
        let missing = |missing| error_of_missing(call.who, &missing);
        let key = match self.verb {
            Verb::Read | Verb::Update | Verb::Delete => {
                value(&self.key.render(&call.values).map_err(missing)?)
            }
            Verb::Create | Verb::List => Value::Null,
        };
        let fields = self.fields(call);
        let outcome = call
            .state
            .with_records(self.slot, |records| self.run(records, &key, fields));
        match outcome {
            Some(Ok(outcome)) => {
                let count = Value::from(outcome.as_array().map_or(1, Vec::len));
                let values = call
                    .values
                    .with(self.verb.outcome(), &outcome)
                    .with("count", &count);
                let text = self.reply.render(&values).map_err(missing)?.into_owned();
                Ok(Cow::<str>::Owned(text).into())
            }
            Some(Err(refusal)) => self.refuse(&refusal, call),
            None => {
                let message = format!("the state has no records at `{}`", self.collection.name);
                Err(RpcError::new(code::INTERNAL_ERROR, message))
            }
        }
    }

    fn run(&self, mut records: Records<'_>, key: &Value, fields: Record) -> Result<Value, Refusal> {
        match self.verb {
            Verb::Create => records.create(fields).map(Value::Object),
            Verb::Read => records.read(key).map(Value::Object),
            Verb::Update => records.update(key, fields).map(Value::Object),
            Verb::Delete => records.delete(key).map(Value::Object),
            Verb::List => Ok(Value::Array(records.list(&fields))),
        }
    }

    /// The fields with their values. Omits fields whose argument is missing.
    fn fields(&self, call: &Call<'_>) -> Record {
        let Some(fields) = &self.fields else {
            let own = matches!(self.verb, Verb::Create | Verb::Update);
            return call
                .arguments
                .as_object()
                .filter(|_| own)
                .cloned()
                .unwrap_or_default();
        };
        let given = fields.iter().filter_map(|(name, json)| {
            let text = json.render(&call.values).ok()?;
            Some((name.clone(), value(&text)))
        });
        given.collect()
    }

    fn refuse<'m>(&'m self, refusal: &Refusal, call: &Call<'_>) -> Replied<'m> {
        let name = &self.collection.name;
        let said = match refusal {
            Refusal::NotFound(key) => {
                if let Some(plan) = &self.not_found {
                    let key = Value::from(key.as_str());
                    let (who, arguments, state) = (call.who, call.arguments, call.state);
                    return plan.answer(&Call {
                        who,
                        arguments,
                        state,
                        values: call.values.with("key", &key),
                    });
                }
                format!("{name} has no {key}")
            }
            Refusal::Exists(key) => format!("{key} already exists in {name}"),
            Refusal::Fixed(key) => {
                format!(
                    "{key} in {name} keeps its {}: an update cannot change it",
                    self.collection.key
                )
            }
            Refusal::NoKey => {
                format!(
                    "the {} of a record in {name} must be a string or a number",
                    self.collection.key
                )
            }
        };
        Ok(Cow::<str>::Owned(text_result(&said, true)).into())
    }
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// The keys that each operation allows.
const COMPANIONS: &[(&str, &[&str])] = &[
    ("key", &["read", "update", "delete"]),
    ("record", &["create", "update"]),
    ("where", &["list"]),
    ("not_found", &["read", "update", "delete"]),
];

/// The operation and its collection.
struct CollectionOperation {
    verb: Verb,
    slot: usize,
    collection: Arc<Collection>,
}

impl CollectionOperation {
    fn read(block: &mut Block<'_>, answers: Answers<'_>) -> Option<Self> {
        let mut target = None;
        for verb in Verb::ALL {
            let collection =
                block.optional(verb.key(), verb.doc(), |f| answers.context.collection(f));
            target = target.or(collection.map(|(slot, collection)| Self {
                verb,
                slot,
                collection,
            }));
        }
        target
    }
}

/// The keys next to the verb.
struct OperationKeys {
    key: Option<Json>,
    record: Option<Vec<(String, (Span, Json))>>,
    filter: Option<Vec<(String, Json)>>,
    not_found: Option<Plan>,
}

impl OperationKeys {
    fn read(block: &mut Block<'_>, answers: Answers<'_>) -> Self {
        Self {
            key: block.optional(
                "key",
                "The key of the record [default: the argument named like the collection's key]",
                |f| any_json(f, answers.scope),
            ),
            record: block.optional(
                "record",
                "The fields to write [default: all arguments]; fields whose argument is missing are skipped",
                |f| f.entries(|_, span, f| any_json(f, answers.scope).map(|json| (span, json))),
            ),
            filter: block.optional(
                "where",
                "The field values to list by; a field whose argument is missing is ignored",
                |f| f.entries(|_, _, f| any_json(f, answers.scope)),
            ),
            not_found: block.optional(
                "not_found",
                "The answer for an unknown record; a string is an error result, in which `${key}` is the key",
                |f| read_not_found(f, answers),
            ),
        }
    }
}

fn without_places(record: Vec<(String, (Span, Json))>) -> Vec<(String, Json)> {
    record
        .into_iter()
        .map(|(name, (_, json))| (name, json))
        .collect()
}

/// The argument with the name of the collection's key.
fn argument_of(collection: &Collection) -> Json {
    let path = format!("args[{}]", super::json::quote(&collection.key));
    Json::value_of(&path, &["args"])
}

impl Operation {
    pub(super) fn read(block: &mut Block<'_>, answers: Answers<'_>) -> Option<Self> {
        let target = CollectionOperation::read(block, answers);
        let keys = OperationKeys::read(block, answers);
        check(block);
        let CollectionOperation {
            verb,
            slot,
            collection,
        } = target?;
        let key = keys.key.unwrap_or_else(|| argument_of(&collection));
        if let (Verb::Update, Some(record)) = (verb, &keys.record) {
            check_key_stays(block, record, &collection, &key);
        }
        let fields = if verb == Verb::List {
            Some(keys.filter.unwrap_or_default())
        } else {
            keys.record.map(without_places)
        };
        Some(Self {
            verb,
            slot,
            collection,
            key,
            fields,
            reply: Json::default(),
            not_found: keys.not_found,
        })
    }

    /// The structured content that shows the outcome.
    pub(super) fn shown(&self) -> Json {
        let outcome = Json::value_of(self.verb.outcome(), &[self.verb.outcome()]);
        if self.verb != Verb::List {
            return outcome;
        }
        Json::object([(self.collection.name.as_str(), Some(outcome))])
    }
}

fn check(block: &Block<'_>) {
    for (key, verbs) in COMPANIONS {
        let Some(span) = block
            .key_span(key)
            .filter(|_| !verbs.iter().any(|verb| block.has(verb)))
        else {
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
    let Some((name, (span, json))) = record.iter().find(|(name, _)| *name == collection.key) else {
        return;
    };
    if json == key || json.is_same_hole(key) {
        return;
    }
    let message = format!(
        "`{name}` is the key of `{}`, which an update cannot change",
        collection.name
    );
    let help = "remove it from `record`; `key` selects the record";
    block.report(Problem::error(message).at(*span).help(help));
}

fn read_not_found(field: &mut Field<'_>, answers: Answers<'_>) -> Option<Plan> {
    let scope = answers.scope.with(["key"]);
    field.shapes("a string or an answer", |shapes| {
        shapes.scalar(|field| {
            let content = one_text(text(field, &scope)?);
            let result = [
                ("content", Some(content)),
                ("isError", Some(Json::raw("true"))),
            ];
            Some(Plan::Result(Json::object(result)))
        });
        shapes.map(|field| {
            Answers {
                scope: &scope,
                ..answers
            }
            .read(field)
        });
    })
}
