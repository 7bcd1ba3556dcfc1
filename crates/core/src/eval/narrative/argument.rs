//! Which argument values does a text state, and do the calls have them?

use super::lexicon::{Traits, noun_key, traits};
use super::stated::{Stated, comparable, stated_value};
use super::token::{Token, name_parts};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

const LONGEST_KEY: usize = 6;

/// The scalar arguments of all calls, by the words of their key.
#[derive(Debug, Default)]
pub(super) struct Arguments<'c> {
    by_key: HashMap<String, Recorded<'c>>,
    first_words: HashSet<String>,
}

/// What the calls have under one key.
#[derive(Debug)]
struct Recorded<'c> {
    values: HashSet<String>,
    key: &'c str,
    /// The call that a difference is reported of: the first that writes, else the first.
    call: usize,
    is_mutating: bool,
    value: &'c Value,
    /// Whether only "key: value" and "key = value" state it.
    needs_mark: bool,
}

/// A stated value that no call has.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mismatch {
    /// The argument's key.
    pub(super) key: String,
    /// What the text says.
    pub(super) stated: String,
    /// The call it concerns, and what that call has.
    pub(super) call: usize,
    pub(super) recorded: Value,
    pub(super) is_mutating: bool,
    /// Where key and value stand, in bytes.
    pub(super) place: Range<usize>,
}

impl<'c> Arguments<'c> {
    /// Adds one argument of a call. Keys that are mere grammar are stated by any sentence, so they are left out; "to"
    /// and "from" count where a mark stands behind them, as in "To: …".
    pub(super) fn add(&mut self, key: &'c str, value: &'c Value, call: usize, is_mutating: bool) {
        let parts = name_parts(key);
        let is_grammar = parts.iter().all(|part| traits(part).has(Traits::STOPWORD));
        let needs_mark = matches!(key, "to" | "from");
        let can_be_stated = (!is_grammar || needs_mark) && parts.len() <= LONGEST_KEY;
        let Some(shown) = comparable(value).filter(|_| can_be_stated) else {
            return;
        };
        let parts: Vec<String> = parts.iter().map(|part| noun_key(part).into_owned()).collect();
        self.first_words.extend(parts.first().cloned());
        let new = || Recorded { values: HashSet::new(), key, call, is_mutating, value, needs_mark };
        let recorded = self.by_key.entry(parts.join(" ")).or_insert_with(new);
        recorded.values.insert(shown);
        if is_mutating && !recorded.is_mutating {
            *recorded = Recorded { values: std::mem::take(&mut recorded.values), ..new() };
        }
    }

    /// Every distinct value that the text states under a key and no call has.
    pub(super) fn mismatches(&self, text: &str, tokens: &[Token<'_>]) -> Vec<Mismatch> {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        let mut at = 0;
        while at < tokens.len() {
            let Some((recorded, length, stated)) = self.statement(text, tokens, at) else {
                at += 1;
                continue;
            };
            let place = tokens[at].place.start..stated.end;
            at += length;
            let shown = &text[stated.value.clone()];
            if !stated.is_one_of(shown, &recorded.values) && seen.insert((recorded.key, shown)) {
                found.push(Mismatch {
                    key: recorded.key.to_owned(),
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
    ) -> Option<(&Recorded<'c>, usize, Stated)> {
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
            if let Some(recorded) = self.by_key.get(&key) {
                let before = text[..tokens[at].place.start].chars().next_back();
                let is_marked =
                    |stated: &Stated| text[last.place.end..stated.value.start].contains([':', '=']);
                let stated = stated_value(text, last.place.end, before);
                if let Some(stated) = stated.filter(|stated| !recorded.needs_mark || is_marked(stated)) {
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
