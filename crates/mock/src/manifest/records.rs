//! The records of a collection while the server runs: how are they created, found, changed and listed?

use super::path::Values;
use super::store::{Collection, Record, key_text};
use mcptest_core::json::values_equal;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// The facts about a collection besides its records, which are in the state under its name.
#[derive(Debug)]
pub(super) struct Memory {
    pub(super) collection: Arc<Collection>,
    /// The order of creation of each record, by its key; initial records come first.
    came: HashMap<String, usize>,
    next: usize,
    ids: u64,
}

impl Memory {
    /// A collection, with its records in the current state.
    pub(super) fn new(collection: &Arc<Collection>) -> (Self, Record) {
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

/// The current records of a collection.
pub(super) struct Records<'s> {
    pub(super) stored: &'s mut Record,
    pub(super) memory: &'s mut Memory,
}

/// Why nothing was done, with the key.
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
    /// Creates a record; one without a key gets the next free id.
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

    /// The next free id. A fixed id is returned unchanged.
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

    /// Sets these fields of a record. Refuses a change of its key.
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

    /// The records whose fields have these values, in order of creation.
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
