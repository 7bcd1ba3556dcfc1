//! What does a mock server remember between calls?

use super::Manifest;
use super::store::{Memory, Records};
use mcptest_core::world::Running;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use std::cell::OnceCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The memory of one running server: how far each sequence is, and its state, in which the collections of the store
/// stand under their names. Threads share it as it is.
#[derive(Debug)]
pub struct State {
    positions: Vec<AtomicUsize>,
    collections: Vec<Mutex<Memory>>,
    world: Arc<Running>,
    /// What the suite calls the server, where it acts in a world.
    pub(super) server: String,
}

impl State {
    /// The state before the first call.
    pub fn new(manifest: &Manifest) -> Self {
        Self::of(manifest, None)
    }

    /// The same in a world, by the server's name: the world's seed takes the place of the store's.
    pub fn of(manifest: &Manifest, world: Option<(String, Arc<Running>)>) -> Self {
        let mut seed = Map::new();
        let mut collections = Vec::new();
        for collection in &manifest.store {
            let (memory, records) = Memory::of(collection);
            seed.insert(collection.name.clone(), Value::Object(records));
            collections.push(Mutex::new(memory));
        }
        let own = || (String::new(), Arc::new(Running::without_rules(Value::Object(seed))));
        let (server, world) = world.unwrap_or_else(own);
        let positions = (0..manifest.sequences).map(|_| AtomicUsize::new(0)).collect();
        Self { positions, collections, world, server }
    }

    /// The position of a sequence, which then is the next one.
    pub(super) fn step(&self, slot: usize) -> usize {
        self.positions.get(slot).map_or(0, |position| position.fetch_add(1, Ordering::Relaxed))
    }

    /// The state that calls change.
    pub(super) fn world(&self) -> &Running {
        &self.world
    }

    /// Does something with a collection while nobody else does; `None` where the state has something else in its place.
    pub(super) fn with_records<T>(&self, slot: usize, work: impl FnOnce(Records<'_>) -> T) -> Option<T> {
        let mut memory = self.collections.get(slot)?.lock();
        self.world.with(|state| {
            let name = memory.collection.name.clone();
            let stored = state.as_object_mut()?.entry(name).or_insert_with(|| Value::Object(Map::new()));
            Some(work(Records { stored: stored.as_object_mut()?, memory: &mut memory }))
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
