//! Which gates may suites use?

use super::gate::GateKind;
use super::target::Target;
use crate::suite::read::is_same_key;
use std::iter::{Copied, Flatten};
use std::slice::Iter;

/// The gates that suites may use: lists of entries, in the order of reports and documentation.
#[derive(Debug, Clone, Copy, Default)]
pub struct Gates(&'static [&'static [GateKind]]);

impl Gates {
    /// Joins these lists in order. Two entries with the same key do not compile in a `const` or a `static`, and panic
    /// elsewhere.
    pub const fn new(lists: &'static [&'static [GateKind]]) -> Self {
        let mut list = 0;
        while list < lists.len() {
            let mut entry = 0;
            while entry < lists[list].len() {
                let key = lists[list][entry].key;
                assert!(count(lists, key) == 1, "two gates have the same key");
                entry += 1;
            }
            list += 1;
        }
        Self(lists)
    }

    /// Every entry, in order.
    pub fn iter(self) -> Entries {
        self.0.iter().copied().flatten()
    }

    /// The entry with this key.
    pub fn find(self, key: &str) -> Option<&'static GateKind> {
        self.iter().find(|kind| kind.key == key)
    }

    /// The target with this name. Gates that share a target mean the same by it.
    pub fn target(self, name: &str) -> Option<&'static Target> {
        let mut targets = self.iter().flat_map(|kind| kind.targets);
        targets.find(|target| target.name == name)
    }
}

/// The entries of several lists, in order.
type Entries = Flatten<Copied<Iter<'static, &'static [GateKind]>>>;

impl IntoIterator for Gates {
    type Item = &'static GateKind;
    type IntoIter = Entries;

    fn into_iter(self) -> Entries {
        self.iter()
    }
}

/// Counts the entries with this key.
const fn count(lists: &[&[GateKind]], key: &str) -> usize {
    let mut found = 0;
    let mut list = 0;
    while list < lists.len() {
        let mut entry = 0;
        while entry < lists[list].len() {
            if is_same_key(lists[list][entry].key, key) {
                found += 1;
            }
            entry += 1;
        }
        list += 1;
    }
    found
}
