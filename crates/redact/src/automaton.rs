//! How are many texts found in one pass?

use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError, FindOverlappingIter, MatchKind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// The number of searched bytes after which a full table is cheaper.
const WORTH_A_TABLE: usize = 512 << 10;
/// The longest text for a full table: a long repetitive value takes quadratic time.
const LONGEST_FOR_A_TABLE: usize = 4096;

/// Finds texts in others: at first with a table that is quick to build, and for much text with a
/// table that is quick to search.
#[derive(Clone)]
pub(crate) struct Automaton {
    compact: AhoCorasick,
    later: Option<Arc<Later>>,
}

struct Later {
    texts: Vec<Vec<u8>>,
    searched: AtomicUsize,
    table: OnceLock<Option<AhoCorasick>>,
}

impl Automaton {
    pub(crate) fn new(texts: Vec<&[u8]>) -> Result<Self, BuildError> {
        let compact = build(AhoCorasickKind::ContiguousNFA, &texts)?;
        let length: usize = texts.iter().map(|text| text.len()).sum();
        let later = (length <= LONGEST_FOR_A_TABLE).then(|| {
            let texts = texts.into_iter().map(<[u8]>::to_vec).collect();
            Arc::new(Later {
                texts,
                searched: AtomicUsize::new(0),
                table: OnceLock::new(),
            })
        });
        Ok(Self { compact, later })
    }

    pub(crate) fn find_overlapping_iter<'a, 'h>(
        &'a self,
        text: &'h (impl AsRef<[u8]> + ?Sized),
    ) -> FindOverlappingIter<'a, 'h> {
        let text = text.as_ref();
        let table = self
            .later
            .as_deref()
            .and_then(|later| later.table(text.len()));
        table.unwrap_or(&self.compact).find_overlapping_iter(text)
    }
}

impl Later {
    /// The full table, once it is cheaper.
    fn table(&self, length: usize) -> Option<&AhoCorasick> {
        if let Some(table) = self.table.get() {
            return table.as_ref();
        }
        let searched = self.searched.fetch_add(length, Ordering::Relaxed) + length;
        let make = || build(AhoCorasickKind::DFA, &self.texts).ok();
        if searched < WORTH_A_TABLE {
            None
        } else {
            self.table.get_or_init(make).as_ref()
        }
    }
}

fn build<T: AsRef<[u8]>>(kind: AhoCorasickKind, texts: &[T]) -> Result<AhoCorasick, BuildError> {
    AhoCorasick::builder()
        .match_kind(MatchKind::Standard)
        .kind(Some(kind))
        .build(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(automaton: &Automaton, text: &str) -> Vec<(usize, usize)> {
        automaton
            .find_overlapping_iter(text)
            .map(|found| (found.pattern().as_usize(), found.start()))
            .collect()
    }

    #[test]
    fn much_text_is_searched_with_a_full_table_that_finds_the_same() {
        let automaton = Automaton::new(vec![b"she", b"he", b"hers"]).unwrap();
        let before = found(&automaton, "ushers");
        assert!(automaton.later.as_ref().unwrap().table.get().is_none());
        assert_eq!(found(&automaton, &"x".repeat(WORTH_A_TABLE)), []);
        assert!(automaton.later.as_ref().unwrap().table.get().is_some());
        assert_eq!(found(&automaton, "ushers"), before);
        assert_eq!(before, [(0, 1), (1, 2), (2, 2)]);
    }

    #[test]
    fn no_full_table_is_made_of_long_texts() {
        let long = vec![b'a'; LONGEST_FOR_A_TABLE + 1];
        assert!(Automaton::new(vec![&long]).unwrap().later.is_none());
    }
}
