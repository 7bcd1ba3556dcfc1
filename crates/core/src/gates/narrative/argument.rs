//! Which argument values does a text state, and do the calls have them?

use super::lexicon::{Traits, noun_key, traits};
use super::stated::{Stated, comparable, stated_value};
use super::token::{Token, name_parts};
use super::tool::Words;
use crate::hashed::{HashMap, HashSet};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

const LONGEST_KEY: usize = 6;

/// The scalar arguments of all calls, by the words of their key, as far as a text can state them.
#[derive(Debug)]
pub(super) struct Arguments<'w> {
    words: &'w Words,
    /// For each key in the text, the index of the recorded key.
    keys: HashMap<String, Option<usize>>,
    recorded: Vec<Recorded>,
    by_words: HashMap<String, usize>,
    first_words: HashSet<String>,
}

/// The values of the calls under one key.
#[derive(Debug, Default)]
struct Recorded {
    values: HashSet<String>,
    key: String,
    /// The call to report for a difference: the first that writes, otherwise the first.
    call: usize,
    is_mutating: bool,
    value: Value,
    /// True if only "key: value" and "key = value" state it.
    needs_mark: bool,
}

/// A stated value that no call has.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mismatch {
    /// The argument's key.
    pub(super) key: String,
    /// The value in the text.
    pub(super) stated: String,
    /// The call, and its value.
    pub(super) call: usize,
    pub(super) recorded: Value,
    pub(super) is_mutating: bool,
    /// The place of key and value, in bytes.
    pub(super) place: Range<usize>,
}

impl<'w> Arguments<'w> {
    /// None yet; the keys of the calls are looked for among these words.
    pub(super) fn from_keys_in(words: &'w Words) -> Self {
        let (keys, by_words) = (HashMap::default(), HashMap::default());
        Self {
            words,
            keys,
            recorded: Vec::new(),
            by_words,
            first_words: HashSet::default(),
        }
    }

    /// Adds the arguments of a call, an object as JSON.
    pub(super) fn read(&mut self, call: usize, is_mutating: bool, json: &str) {
        let mut reader = serde_json::Deserializer::from_str(json);
        let stated = Stateable(self).deserialize(&mut reader);
        let Ok(stated) = stated.and_then(|stated| reader.end().map(|()| stated)) else {
            return;
        };
        for (key, (at, value)) in stated {
            self.add(&key, at, value, (call, is_mutating));
        }
    }

    fn add(&mut self, key: &str, at: usize, value: &RawValue, (call, is_mutating): (usize, bool)) {
        if value.get().starts_with(['{', '[']) {
            return;
        }
        let Ok(value) = serde_json::from_str::<Value>(value.get()) else {
            return;
        };
        let Some(shown) = comparable(&value) else {
            return;
        };
        let recorded = &mut self.recorded[at];
        if recorded.values.is_empty() || (is_mutating && !recorded.is_mutating) {
            let (values, needs_mark) = (std::mem::take(&mut recorded.values), key_needs_mark(key));
            *recorded = Recorded {
                values,
                key: key.to_owned(),
                call,
                is_mutating,
                value,
                needs_mark,
            };
        }
        recorded.values.insert(shown);
    }

    /// The index of a key's values, if the text can state the key. Keys that are only grammar occur
    /// in any sentence, so they are ignored. "to" and "from" count if a mark follows them, as in
    /// "To: …".
    fn place_of(&mut self, key: &str) -> Option<usize> {
        if let Some(&known) = self.keys.get(key) {
            return known;
        }
        let parts = name_parts(key);
        let is_grammar = parts.iter().all(|part| traits(part).has(Traits::STOPWORD));
        let parts: Vec<Cow<'_, str>> = parts.iter().map(|part| noun_key(part)).collect();
        let can_be_stated = (!is_grammar || key_needs_mark(key))
            && parts.len() <= LONGEST_KEY
            && parts.iter().all(|part| self.words.has(part));
        let place = can_be_stated.then(|| {
            self.first_words
                .extend(parts.first().map(|first| first.clone().into_owned()));
            *self.by_words.entry(parts.join(" ")).or_insert_with(|| {
                self.recorded.push(Recorded::default());
                self.recorded.len() - 1
            })
        });
        self.keys.insert(key.to_owned(), place);
        place
    }

    /// Every distinct value that the text states under a key and no call has.
    pub(super) fn mismatches(&self, text: &str, tokens: &[Token<'_>]) -> Vec<Mismatch> {
        let mut found = Vec::new();
        let mut seen = HashSet::default();
        let mut at = 0;
        while at < tokens.len() {
            let Some((recorded, length, stated)) = self.statement(text, tokens, at) else {
                at += 1;
                continue;
            };
            let place = tokens[at].place.start..stated.end;
            at += length;
            let shown = &text[stated.value.clone()];
            if !stated.is_one_of(shown, &recorded.values)
                && seen.insert((recorded.key.as_str(), shown))
            {
                found.push(Mismatch {
                    key: recorded.key.clone(),
                    stated: shown.to_owned(),
                    call: recorded.call,
                    recorded: recorded.value.clone(),
                    is_mutating: recorded.is_mutating,
                    place,
                });
            }
        }
        found
    }

    /// The longest key that begins at a token and is followed by a value.
    fn statement(
        &self,
        text: &str,
        tokens: &[Token<'_>],
        at: usize,
    ) -> Option<(&Recorded, usize, Stated)> {
        let first = noun_key(&tokens[at].word);
        if !self.first_words.contains(&*first) {
            return None;
        }
        let mut key = first.into_owned();
        let mut longest = None;
        for length in 1..=LONGEST_KEY {
            let last = tokens.get(at + length - 1)?;
            if length > 1 {
                let gap = &text[tokens[at + length - 2].place.end..last.place.start];
                if !gap.chars().all(|mark| matches!(mark, ' ' | '_' | '-')) {
                    break;
                }
                key.push(' ');
                key.push_str(&noun_key(&last.word));
            }
            let recorded = self.by_words.get(&key).map(|&at| &self.recorded[at]);
            if let Some(recorded) = recorded.filter(|recorded| !recorded.values.is_empty()) {
                let before = text[..tokens[at].place.start].chars().next_back();
                let is_marked =
                    |stated: &Stated| text[last.place.end..stated.value.start].contains([':', '=']);
                let stated = stated_value(text, last.place.end, before);
                if let Some(stated) =
                    stated.filter(|stated| !recorded.needs_mark || is_marked(stated))
                {
                    longest = Some((recorded, length, stated));
                }
            }
            if at + length >= tokens.len() {
                break;
            }
        }
        longest
    }
}

fn key_needs_mark(key: &str) -> bool {
    matches!(key, "to" | "from")
}

/// The scalar arguments of one call that the text can state, by their keys; of a key written twice, the last.
struct Stateable<'a, 'w>(&'a mut Arguments<'w>);

impl<'de> DeserializeSeed<'de> for Stateable<'_, '_> {
    type Value = BTreeMap<Cow<'de, str>, (usize, &'de RawValue)>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Stateable<'_, '_> {
    type Value = BTreeMap<Cow<'de, str>, (usize, &'de RawValue)>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut stated = BTreeMap::new();
        while let Some(Key(key)) = map.next_key()? {
            match self.0.place_of(&key) {
                Some(place) => {
                    stated.insert(key, (place, map.next_value()?));
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(stated)
    }
}

/// A key, borrowed if it has no escapes.
#[derive(Deserialize)]
struct Key<'k>(#[serde(borrow)] Cow<'k, str>);
