//! What does a running mock server remember from one call to the next?

use super::Manifest;
use super::records::{Memory, Records};
use crate::running_world::RunningWorld;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use std::cell::OnceCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The state of one running server: the progress of each sequence, and a state that contains the
/// collections of the store by name. Threads share it.
#[derive(Debug)]
pub struct State {
    positions: Vec<AtomicUsize>,
    collections: Vec<Mutex<Memory>>,
    world: Arc<RunningWorld>,
    server: String,
}

/// The world that a server acts in.
#[derive(Debug)]
pub struct InWorld {
    /// The server's name there.
    pub server: String,
    /// The world.
    pub world: Arc<RunningWorld>,
}

impl State {
    /// The memory of a server that was just started. In a world, the world's seed replaces the store's.
    pub fn new(manifest: &Manifest, in_world: Option<InWorld>) -> Self {
        let mut seed = Map::new();
        let mut collections = Vec::new();
        for collection in &manifest.store {
            let (memory, records) = Memory::new(collection);
            seed.insert(collection.name.clone(), Value::Object(records));
            collections.push(Mutex::new(memory));
        }
        let InWorld { server, world } = in_world.unwrap_or_else(|| InWorld {
            server: String::new(),
            world: Arc::new(RunningWorld::without_rules(Value::Object(seed))),
        });
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
    pub(super) fn world(&self) -> &RunningWorld {
        &self.world
    }

    /// The name of the server in its world. Empty if it has a separate state.
    pub(super) fn server(&self) -> &str {
        &self.server
    }

    /// Returns the position of a sequence, and advances it.
    pub(super) fn step(&self, slot: usize) -> usize {
        self.positions
            .get(slot)
            .map_or(0, |position| position.fetch_add(1, Ordering::Relaxed))
    }

    /// Does work on a collection with exclusive access. `None` if the state has another value under its name.
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

/// The state at the time of the first access.
pub(super) struct StateNow<'s> {
    pub(super) state: &'s State,
    pub(super) found: OnceCell<Value>,
}

impl StateNow<'_> {
    pub(super) fn value(&self) -> &Value {
        self.found.get_or_init(|| self.state.world.state())
    }
}
