//! Which calls carry the names and numbers that claims speak of?

use super::claim::Claim;
use super::identifier::{Identifier, IdentifierKind, Kinds, kind_of};
use super::mention::{each_plain_part, each_word, words_of};
use crate::hashed::HashMap;

/// The maximum number of calls to remember for one name.
const MOST_CALLS: usize = 1000;

/// The identifiers that claims ask for, with the calls that have them.
#[derive(Debug, Default)]
pub(super) struct Carried {
    by_identifier: HashMap<String, Vec<usize>>,
    /// The words of names.
    by_word: HashMap<String, Vec<usize>>,
}

impl Carried {
    pub(super) fn asked_by(claims: &[Claim]) -> Self {
        let mut carried = Self::default();
        for id in claims.iter().flat_map(Claim::names) {
            match id.kind {
                IdentifierKind::Amount => {}
                IdentifierKind::Name => {
                    let words = words_of(&id.text).into_iter();
                    carried.by_word.extend(words.map(|word| (word, Vec::new())));
                }
                _ => {
                    carried.by_identifier.insert(id.text.clone(), Vec::new());
                }
            }
        }
        carried
    }

    /// Returns true if no claim names an identifier.
    pub(super) fn is_empty(&self) -> bool {
        self.by_identifier.is_empty() && self.by_word.is_empty()
    }

    /// Notes the identifiers in the JSON text of a call, and returns their kinds.
    pub(super) fn read(&mut self, call: usize, json: &str, head: Option<&str>) -> Kinds {
        let mut kinds = Kinds::default();
        if self.is_empty() {
            return kinds;
        }
        let mut key = String::new();
        each_identifier(json, |text| {
            if let Some(calls) = self.by_identifier.get_mut(text) {
                note(calls, call);
            }
            if let Some(kind) = kind_of(text) {
                kinds.add(kind);
            } else if text.bytes().all(|byte| byte.is_ascii_digit()) {
                if is_key_of_number(&key, head) {
                    kinds.add(IdentifierKind::Number);
                }
                return;
            }
            key.clear();
            key.push_str(text);
        });
        if !self.by_word.is_empty() {
            each_word(json, |word| {
                if let Some(calls) = self.by_word.get_mut(word) {
                    note(calls, call);
                }
            });
        }
        kinds
    }

    /// Returns true if a call carries a name that a claim speaks of and that another call does not carry.
    pub(super) fn names_more(&self, call: usize, other: usize) -> bool {
        let mut lists = self.by_word.values().chain(self.by_identifier.values());
        lists
            .any(|calls| calls.binary_search(&call).is_ok() && calls.binary_search(&other).is_err())
    }

    /// The calls that carry an identifier, in order.
    pub(super) fn calls(&self, id: &Identifier) -> Vec<usize> {
        if id.kind != IdentifierKind::Name {
            return self
                .by_identifier
                .get(&id.text)
                .cloned()
                .unwrap_or_default();
        }
        let mut words = words_of(&id.text).into_iter();
        let of = |word: String| self.by_word.get(&word).map_or(&[][..], Vec::as_slice);
        let mut calls = words.next().map(of).unwrap_or_default().to_vec();
        for word in words {
            let others = of(word);
            calls.retain(|call| others.binary_search(call).is_ok());
        }
        calls
    }
}

fn note(calls: &mut Vec<usize>, call: usize) {
    if calls.last() != Some(&call) && calls.len() < MOST_CALLS {
        calls.push(call);
    }
}

/// Returns true if a number under this key identifies a thing: `issue_number`, `id`, `issue` of `close_issue`.
fn is_key_of_number(key: &str, head: Option<&str>) -> bool {
    let last = key.rsplit(['_', '-', '.']).next().unwrap_or_default();
    matches!(
        last,
        "id" | "ids" | "number" | "numbers" | "no" | "num" | "key" | "ref" | "index"
    ) || key.ends_with("id")
        || key.ends_with("number")
        || head.is_some_and(|head| super::lexicon::noun_key(last) == head)
}

/// Every name, address and number of a JSON text, in lower case, without the folders of a path.
fn each_identifier(json: &str, mut visit: impl FnMut(&str)) {
    each_plain_part(json, |plain| {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '@' | '-' | '+');
        for text in plain.split(|c: char| !is_part(c)) {
            let text = text.trim_matches(['.', '_', '-', '+']);
            if text
                .bytes()
                .any(|byte| byte.is_ascii_uppercase() || byte >= 0x80)
            {
                visit(&text.to_lowercase());
            } else if !text.is_empty() {
                visit(text);
            }
        }
    });
}
