//! `store:` collections of records, so that what was created can be read back.

use super::fields::any_json;
use super::json::Json;
use super::path::Values;
use super::scope::Scope;
use mcptest_core::json::values_equal;
use mcptest_core::problem::Problem;
use mcptest_core::suite::read::Field;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// A record.
pub(super) type Record = Map<String, Value>;

/// A collection as the manifest has it.
#[derive(Debug)]
pub(super) struct Collection {
    pub(super) name: String,
    /// The field by which records are found.
    pub(super) key: String,
    id: Json,
    seed: Vec<Record>,
}

impl Collection {
    pub(super) fn read(name: &str, field: &mut Field<'_>) -> Option<Self> {
        field.block(|block| {
            let key = block
                .optional("key", "The field by which records are found: `id` when left out", |f| f.name())
                .unwrap_or_else(|| "id".to_owned());
            let id = block.optional(
                "id",
                "The key of a record that is created without one; `${next}` is 1, then 2, …",
                read_id,
            );
            let mut seen = BTreeSet::new();
            let seed = block.optional("seed", "The records that are there from the start", |f| {
                f.list(|f| read_seed(f, &key, &mut seen))
            });
            let id = id.unwrap_or_else(|| Json::value_of("next", &["next"]));
            Self { name: name.to_owned(), key, id, seed: seed.unwrap_or_default() }
        })
    }
}

/// Ids must differ, so that a second record can be created.
fn read_id(field: &mut Field<'_>) -> Option<Json> {
    let id = any_json(field, &Scope::new(&["next"]))?;
    if id.paths().is_empty() && !field.is_describing() {
        let problem =
            Problem::error("every record would get this same key, and only one of them can have it");
        field.report(problem.help("write `${next}` into it, as `T-${next}`"));
        return None;
    }
    Some(id)
}

fn read_seed(field: &mut Field<'_>, key: &str, seen: &mut BTreeSet<String>) -> Option<Record> {
    let value = field.value();
    field.amend_schema("type", json!("object"));
    let problem = match value? {
        Value::Object(record) => match record.get(key).and_then(key_text) {
            Some(text) if seen.insert(text.clone()) => return Some(record),
            Some(text) => Problem::error(format!("another record has the {key} `{text}`")),
            None => Problem::error(format!("this record has no `{key}`, by which it would be found")),
        },
        _ => Problem::error("a record is a map"),
    };
    field.report(problem);
    None
}

/// A key as records are found by it: `1` and `"1"` are the same.
fn key_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A collection as it is now.
#[derive(Debug)]
pub(super) struct Records {
    collection: Arc<Collection>,
    /// By the order in which they came.
    stored: BTreeMap<u64, Record>,
    by_key: HashMap<String, u64>,
    came: u64,
    ids: u64,
}

/// Why nothing was done: by the key that was meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    NotFound(String),
    Exists(String),
    /// An update would change the key.
    Fixed(String),
    /// The key is neither a text nor a number.
    NoKey,
}

impl Records {
    pub(super) fn new(collection: &Arc<Collection>) -> Self {
        let mut records = Self {
            collection: Arc::clone(collection),
            stored: BTreeMap::new(),
            by_key: HashMap::new(),
            came: 0,
            ids: 0,
        };
        for record in &collection.seed {
            if let Some(key) = record.get(&collection.key).and_then(key_text) {
                records.insert(key, record.clone());
            }
        }
        records
    }

    fn insert(&mut self, key: String, record: Record) {
        self.by_key.insert(key, self.came);
        self.stored.insert(self.came, record);
        self.came += 1;
    }

    /// Stores a record; one without a key gets the next free id.
    pub(super) fn create(&mut self, mut record: Record) -> Result<Record, Refusal> {
        let name = self.collection.key.clone();
        if record.get(&name).is_none_or(Value::is_null) {
            record.insert(name.clone(), self.free_id());
        }
        let key = record.get(&name).and_then(key_text).ok_or(Refusal::NoKey)?;
        if self.by_key.contains_key(&key) {
            return Err(Refusal::Exists(key));
        }
        self.insert(key, record.clone());
        Ok(record)
    }

    /// The next id that no record has; an id that does not count is returned as it is.
    fn free_id(&mut self) -> Value {
        let mut last = None;
        loop {
            self.ids += 1;
            let next = Value::from(self.ids);
            let rendered = self.collection.id.render(&Values::new([("next", &next)]));
            let id: Value = rendered.ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(next);
            let is_taken = key_text(&id).is_some_and(|key| self.by_key.contains_key(&key));
            if !is_taken || last.as_ref() == Some(&id) {
                return id;
            }
            last = Some(id);
        }
    }

    fn place(&self, key: &Value) -> Result<(String, u64), Refusal> {
        let key = key_text(key).ok_or(Refusal::NoKey)?;
        match self.by_key.get(&key) {
            Some(place) => Ok((key, *place)),
            None => Err(Refusal::NotFound(key)),
        }
    }

    pub(super) fn read(&self, key: &Value) -> Result<Record, Refusal> {
        let (key, place) = self.place(key)?;
        self.stored.get(&place).cloned().ok_or(Refusal::NotFound(key))
    }

    /// Sets these fields of a record; one that would change its key is refused.
    pub(super) fn update(&mut self, key: &Value, changes: Record) -> Result<Record, Refusal> {
        let (key, place) = self.place(key)?;
        let name = &self.collection.key;
        let other = changes.get(name).filter(|other| !other.is_null());
        if other.is_some_and(|other| key_text(other).as_ref() != Some(&key)) {
            return Err(Refusal::Fixed(key));
        }
        let record = self.stored.get_mut(&place).ok_or(Refusal::NotFound(key))?;
        record.extend(changes.into_iter().filter(|(field, _)| field != name));
        Ok(record.clone())
    }

    pub(super) fn delete(&mut self, key: &Value) -> Result<Record, Refusal> {
        let (key, place) = self.place(key)?;
        self.by_key.remove(&key);
        self.stored.remove(&place).ok_or(Refusal::NotFound(key))
    }

    /// The records whose fields have these values, in the order in which they came.
    pub(super) fn list(&self, filter: &Record) -> Vec<Value> {
        let fits = |record: &&Record| {
            filter
                .iter()
                .all(|(field, wanted)| record.get(field).is_some_and(|value| values_equal(value, wanted)))
        };
        self.stored.values().filter(fits).cloned().map(Value::Object).collect()
    }
}
