//! `store:` collections of records, so that what was created can be read back.

use super::Manifest;
use super::context::Scope;
use super::fields::any_json;
use super::json::Json;
use super::path::Values;
use crate::running_world::Running;
use mcptest_core::json::values_equal;
use mcptest_core::problem::Problem;
use mcptest_core::suite::read::Field;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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
                .optional(
                    "key",
                    "The field by which records are found: `id` when left out",
                    |f| f.name(),
                )
                .unwrap_or_else(|| "id".to_owned());
            let id = block.optional(
                "id",
                "The key of a record that is created without one; `${next}` is 1, then 2, …",
                read_id,
            );
            let mut seen = BTreeSet::new();
            let seed = block.list("seed", "The records that are there from the start", |f| {
                read_seed(f, &key, &mut seen)
            });
            let id = id.unwrap_or_else(|| Json::value_of("next", &["next"]));
            Self {
                name: name.to_owned(),
                key,
                id,
                seed,
            }
        })
    }
}

/// Ids must differ, so that a second record can be created.
fn read_id(field: &mut Field<'_>) -> Option<Json> {
    let id = any_json(field, &Scope::new(&["next"]))?;
    if id.paths().is_empty() && !field.is_describing() {
        let problem = Problem::error(
            "every record would get this same key, and only one of them can have it",
        );
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
            None => Problem::error(format!(
                "this record has no `{key}`, by which it would be found"
            )),
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

/// What is remembered of a collection beside its records, which are in the state under its name.
#[derive(Debug)]
pub(super) struct Memory {
    pub(super) collection: Arc<Collection>,
    /// When each record came, by its key; others come after these.
    came: HashMap<String, usize>,
    next: usize,
    ids: u64,
}

impl Memory {
    /// Of a collection before the first call, and its records as the state has them.
    pub(super) fn of(collection: &Arc<Collection>) -> (Self, Record) {
        let keyed = |record: &Record| {
            Some((
                record.get(&collection.key).and_then(key_text)?,
                record.clone(),
            ))
        };
        let seed: Vec<(String, Record)> = collection.seed.iter().filter_map(keyed).collect();
        let came = seed
            .iter()
            .enumerate()
            .map(|(at, (key, _))| (key.clone(), at))
            .collect();
        let memory = Self {
            collection: Arc::clone(collection),
            came,
            next: seed.len(),
            ids: 0,
        };
        (
            memory,
            seed.into_iter()
                .map(|(key, record)| (key, Value::Object(record)))
                .collect(),
        )
    }
}

/// A collection as it is now.
pub(super) struct Records<'s> {
    pub(super) stored: &'s mut Record,
    pub(super) memory: &'s mut Memory,
}

/// Why nothing was done: by the key that was meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    NotFound(String),
    Exists(String),
    /// An update would change the key.
    Fixed(String),
    /// The key is neither a string nor a number.
    NoKey,
}

impl Records<'_> {
    /// Stores a record; one without a key gets the next free id.
    pub(super) fn create(&mut self, mut record: Record) -> Result<Record, Refusal> {
        let name = self.memory.collection.key.clone();
        if record.get(&name).is_none_or(Value::is_null) {
            record.insert(name.clone(), self.free_id());
        }
        let key = record.get(&name).and_then(key_text).ok_or(Refusal::NoKey)?;
        if self.stored.contains_key(&key) {
            return Err(Refusal::Exists(key));
        }
        self.memory.came.insert(key.clone(), self.memory.next);
        self.memory.next += 1;
        self.stored.insert(key, Value::Object(record.clone()));
        Ok(record)
    }

    /// The next id that no record has; an id that does not count is returned as it is.
    fn free_id(&mut self) -> Value {
        let mut last = None;
        loop {
            self.memory.ids += 1;
            let next = Value::from(self.memory.ids);
            let rendered = self
                .memory
                .collection
                .id
                .render(&Values::new([("next", &next)]));
            let id: Value = rendered
                .ok()
                .and_then(|text| serde_json::from_str(&text).ok())
                .unwrap_or(next);
            let is_taken = key_text(&id).is_some_and(|key| self.stored.contains_key(&key));
            if !is_taken || last.as_ref() == Some(&id) {
                return id;
            }
            last = Some(id);
        }
    }

    fn find(&mut self, key: &Value) -> Result<(String, &mut Record), Refusal> {
        let key = key_text(key).ok_or(Refusal::NoKey)?;
        match self.stored.get_mut(&key).and_then(Value::as_object_mut) {
            Some(record) => Ok((key, record)),
            None => Err(Refusal::NotFound(key)),
        }
    }

    pub(super) fn read(&mut self, key: &Value) -> Result<Record, Refusal> {
        self.find(key).map(|(_, record)| record.clone())
    }

    /// Sets these fields of a record; one that would change its key is refused.
    pub(super) fn update(&mut self, key: &Value, changes: Record) -> Result<Record, Refusal> {
        let name = self.memory.collection.key.clone();
        let (key, record) = self.find(key)?;
        let other = changes.get(&name).filter(|other| !other.is_null());
        if other.is_some_and(|other| key_text(other).as_ref() != Some(&key)) {
            return Err(Refusal::Fixed(key));
        }
        record.extend(changes.into_iter().filter(|(field, _)| *field != name));
        Ok(record.clone())
    }

    pub(super) fn delete(&mut self, key: &Value) -> Result<Record, Refusal> {
        let (key, record) = self.find(key)?;
        let record = std::mem::take(record);
        self.stored.remove(&key);
        self.memory.came.remove(&key);
        Ok(record)
    }

    /// The records whose fields have these values, in the order in which they came.
    pub(super) fn list(&self, filter: &Record) -> Vec<Value> {
        let fits = |record: &Value| {
            filter.iter().all(|(field, wanted)| {
                record
                    .get(field)
                    .is_some_and(|value| values_equal(value, wanted))
            })
        };
        let mut found: Vec<(&String, &Value)> = self
            .stored
            .iter()
            .filter(|(_, record)| fits(record))
            .collect();
        found.sort_by_key(|(key, _)| self.memory.came.get(*key).copied().unwrap_or(usize::MAX));
        found
            .into_iter()
            .map(|(_, record)| record.clone())
            .collect()
    }
}

/// The memory of one running server: how far each sequence is, and its state, in which the collections of the store
/// stand under their names. Threads share it as it is.
#[derive(Debug)]
pub struct State {
    positions: Vec<AtomicUsize>,
    collections: Vec<Mutex<Memory>>,
    world: Arc<Running>,
    server: String,
}

impl State {
    /// The same in a world, by the server's name: the world's seed takes the place of the store's.
    pub fn of(manifest: &Manifest, world: Option<(String, Arc<Running>)>) -> Self {
        let mut seed = Map::new();
        let mut collections = Vec::new();
        for collection in &manifest.store {
            let (memory, records) = Memory::of(collection);
            seed.insert(collection.name.clone(), Value::Object(records));
            collections.push(Mutex::new(memory));
        }
        let own = || {
            (
                String::new(),
                Arc::new(Running::without_rules(Value::Object(seed))),
            )
        };
        let (server, world) = world.unwrap_or_else(own);
        let positions = (0..manifest.sequences)
            .map(|_| AtomicUsize::new(0))
            .collect();
        Self {
            positions,
            collections,
            world,
            server,
        }
    }

    /// The state that calls change.
    pub(super) fn world(&self) -> &Running {
        &self.world
    }

    /// The name of the server in its world; empty when it has a state of its own.
    pub(super) fn server(&self) -> &str {
        &self.server
    }

    /// The position of a sequence, which then is the next one.
    pub(super) fn step(&self, slot: usize) -> usize {
        self.positions
            .get(slot)
            .map_or(0, |position| position.fetch_add(1, Ordering::Relaxed))
    }

    /// Does something with a collection while nobody else does; `None` where the state has something else in its place.
    pub(super) fn with_records<T>(
        &self,
        slot: usize,
        work: impl FnOnce(Records<'_>) -> T,
    ) -> Option<T> {
        let mut memory = self.collections.get(slot)?.lock();
        self.world.with(|state| {
            let name = memory.collection.name.clone();
            let stored = state
                .as_object_mut()?
                .entry(name)
                .or_insert_with(|| Value::Object(Map::new()));
            Some(work(Records {
                stored: stored.as_object_mut()?,
                memory: &mut memory,
            }))
        })
    }
}

/// The state as it is when it is first asked for.
pub(super) struct StateNow<'s> {
    pub(super) state: &'s State,
    pub(super) found: OnceCell<Value>,
}

impl StateNow<'_> {
    pub(super) fn value(&self) -> &Value {
        self.found.get_or_init(|| self.state.world.state())
    }
}
