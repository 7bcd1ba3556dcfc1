//! Was this group judged before?

use std::collections::hash_map::RandomState;
use std::collections::{HashSet, VecDeque};
use std::hash::BuildHasher;

/// The number of groups that are remembered, so that memory does not grow with the input.
const REMEMBERED: usize = 1 << 16;

/// The last groups that were closed.
#[derive(Default)]
pub(super) struct Groups {
    hasher: RandomState,
    known: HashSet<u64>,
    order: VecDeque<u64>,
}

/// How often was a group closed?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closed {
    /// Once.
    First,
    /// Other traces separate its traces.
    Again,
}

impl Groups {
    /// Closes a group.
    pub(super) fn close(&mut self, name: &str) -> Closed {
        let hash = self.hasher.hash_one(name);
        if !self.known.insert(hash) {
            return Closed::Again;
        }
        self.order.push_back(hash);
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        Closed::First
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_that_comes_again_is_noticed_within_the_bound() {
        let mut groups = Groups::default();
        assert_eq!(groups.close("a"), Closed::First);
        assert_eq!(groups.close("b"), Closed::First);
        assert_eq!(groups.close("a"), Closed::Again);
        for at in 0..REMEMBERED {
            assert_eq!(groups.close(&at.to_string()), Closed::First);
        }
        assert_eq!(groups.known.len(), REMEMBERED);
        assert_eq!(groups.close("a"), Closed::First);
    }
}
