//! `create:`, `read:`, `update:`, `delete:` and `list:` an answer made of the store.

use super::answer::{Call, Plan, ToolReply, text_result};
use super::json::Json;
use super::store::{Collection, Record, Records, Refusal};
use crate::jsonrpc::{RpcError, code};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// What is done to a collection, and how that is answered.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) verb: Verb,
    pub(super) slot: usize,
    pub(super) collection: Arc<Collection>,
    /// Which record.
    pub(super) key: Json,
    /// The fields to write or to list by; all arguments when nothing is said.
    pub(super) fields: Option<Vec<(String, Json)>>,
    pub(super) reply: Json,
    pub(super) not_found: Option<Box<Plan>>,
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Create,
    Read,
    Update,
    Delete,
    List,
}

impl Verb {
    pub(super) const ALL: [(&'static str, Self, &'static str); 5] = [
        ("create", Self::Create, "Stores a record in this collection of the `store`"),
        ("read", Self::Read, "Finds a record in this collection by its key"),
        ("update", Self::Update, "Changes fields of a record in this collection"),
        ("delete", Self::Delete, "Takes a record out of this collection"),
        ("list", Self::List, "The records of this collection, or those that `where` fits"),
    ];

    /// The name that the answer's texts know the outcome by.
    pub(super) fn outcome(self) -> &'static str {
        if self == Self::List { "records" } else { "record" }
    }
}

impl Operation {
    pub(super) fn answer<'m>(&'m self, call: &Call<'_>) -> Result<ToolReply<'m>, RpcError> {
        let missing = |missing| RpcError::missing(call.who, &missing);
        let key = match self.verb {
            Verb::Read | Verb::Update | Verb::Delete => {
                value(&self.key.render(&call.values).map_err(missing)?)
            }
            Verb::Create | Verb::List => Value::Null,
        };
        let fields = self.fields(call);
        let outcome = call.state.with_records(self.slot, |records| self.run(records, &key, fields));
        match outcome {
            Some(Ok(outcome)) => {
                let count = Value::from(outcome.as_array().map_or(1, Vec::len));
                let values = call.values.with(self.verb.outcome(), &outcome).with("count", &count);
                Ok(Cow::<str>::Owned(self.reply.render(&values).map_err(missing)?.into_owned()).into())
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

    /// The fields with their values; one whose argument is missing is left out.
    fn fields(&self, call: &Call<'_>) -> Record {
        let Some(fields) = &self.fields else {
            let own = matches!(self.verb, Verb::Create | Verb::Update);
            return call.arguments.as_object().filter(|_| own).cloned().unwrap_or_default();
        };
        let given = fields.iter().filter_map(|(name, json)| {
            let text = json.render(&call.values).ok()?;
            Some((name.clone(), value(&text)))
        });
        given.collect()
    }

    fn refuse<'m>(&'m self, refusal: &Refusal, call: &Call<'_>) -> Result<ToolReply<'m>, RpcError> {
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
                format!("there is no {key} in {name}")
            }
            Refusal::Exists(key) => format!("{key} is in {name} already"),
            Refusal::Fixed(key) => {
                format!("{key} in {name} keeps its {}: an update cannot change it", self.collection.key)
            }
            Refusal::NoKey => {
                format!("the {} of a record in {name} is a string or a number", self.collection.key)
            }
        };
        Ok(Cow::<str>::Owned(text_result(&said, true)).into())
    }
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}
