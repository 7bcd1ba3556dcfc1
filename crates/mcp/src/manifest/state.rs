//! What does a mock server remember between calls?

use super::Manifest;
use super::store::Records;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The memory of one running server: how far each sequence is, and the records of the store. Threads share it as it is.
#[derive(Debug)]
pub struct State {
    positions: Vec<AtomicUsize>,
    records: Vec<Mutex<Records>>,
}

impl State {
    /// The state before the first call.
    pub fn new(manifest: &Manifest) -> Self {
        Self {
            positions: (0..manifest.sequences).map(|_| AtomicUsize::new(0)).collect(),
            records: manifest.store.iter().map(|collection| Mutex::new(Records::new(collection))).collect(),
        }
    }

    /// The position of a sequence, which then is the next one.
    pub(super) fn step(&self, slot: usize) -> usize {
        self.positions.get(slot).map_or(0, |position| position.fetch_add(1, Ordering::Relaxed))
    }

    /// Does something with a collection while nobody else does.
    pub(super) fn with_records<T>(&self, slot: usize, work: impl FnOnce(&mut Records) -> T) -> Option<T> {
        let records = self.records.get(slot)?;
        Some(work(&mut records.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}
