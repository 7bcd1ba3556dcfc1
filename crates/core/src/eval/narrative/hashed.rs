//! The maps of words: every word of every message is looked up in several, and the hash of the standard library is slow.

use foldhash::fast::RandomState;

pub(super) type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;
pub(super) type HashSet<T> = std::collections::HashSet<T, RandomState>;
