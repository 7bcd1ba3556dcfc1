//! Which proper names stand around the verb of a claim: who was added, to whom was it sent?
//!
//! A capital letter is weak evidence. A name can only refute a claim, where a call that has it failed.

use super::identifier::{Identifier, IdentifierKind, Role};
use super::lexicon::Traits;
use super::message::{Message, Word, WordKind};
use crate::hashed::HashSet;

/// The maximum number of words from a verb to its last name.
const REACH: usize = 60;
/// The maximum number of words at the start of an item that name its thing.
const LONGEST_HEAD: usize = 4;

/// The proper names behind a verb, up to the next verb, contrast or condition.
pub(super) fn names_behind(words: &[Word<'_>], verb: usize) -> Vec<Identifier> {
    let mut names = Vec::new();
    let mut is_in_relative_clause = false;
    for word in words.iter().skip(verb + 1).take(REACH) {
        // "all users who were not there (Alice, Bob)"
        if is_in_relative_clause && word.kind != WordKind::Mark('(') {
            continue;
        }
        is_in_relative_clause = word.traits.has(Traits::RELATIVE);
        if !is_in_relative_clause && ends_names(word) {
            break;
        }
        names.extend(name_of(word));
    }
    names
}

/// The proper names before the auxiliary of a passive: "Alice and Bob have been added".
pub(super) fn names_before(words: &[Word<'_>], auxiliary: usize) -> Vec<Identifier> {
    let before = words[..auxiliary].iter().rev().take(REACH);
    let near = before.take_while(|word| !ends_names(word));
    let mut names: Vec<Identifier> = near.filter_map(name_of).collect();
    names.reverse();
    names
}

/// The proper names that an item of a list begins with, up to its first mark.
pub(super) fn names_at_start(words: &[Word<'_>]) -> Vec<Identifier> {
    let is_inside = |word: &&Word<'_>| !matches!(word.kind, WordKind::Mark(_)) && !ends_names(word);
    let first = words.iter().take(LONGEST_HEAD).take_while(is_inside);
    first.filter_map(name_of).collect()
}

/// The names in sentences that report a failure, in lower case.
pub(super) fn names_in_failures<'m>(message: &'m Message<'_>) -> HashSet<&'m str> {
    let sentences = message
        .sentences
        .iter()
        .map(|sentence| &message.words[sentence.words.clone()]);
    sentences
        .filter(|words| reports_failure(words))
        .flatten()
        .filter(|word| word.is_capitalised)
        .map(|word| &*word.text)
        .collect()
}

fn reports_failure(words: &[Word<'_>]) -> bool {
    const AUXILIARIES: [&str; 6] = ["can", "could", "did", "do", "has", "have"];
    words.iter().enumerate().any(|(at, word)| {
        let is_denied = || {
            let next = words.get(at + 1).map(|next| &*next.text);
            AUXILIARIES.contains(&&*word.text) && next == Some("not")
        };
        word.kind == WordKind::Word && (is_failure(&word.text) || is_denied())
    })
}

fn is_failure(word: &str) -> bool {
    matches!(
        word,
        "fail"
            | "failed"
            | "fails"
            | "failing"
            | "failure"
            | "error"
            | "errors"
            | "unable"
            | "unfortunately"
            | "unsuccessful"
            | "unsuccessfully"
            | "however"
            | "except"
            | "denied"
            | "rejected"
            | "pending"
            | "cannot"
            | "can't"
            | "couldn't"
            | "didn't"
            | "don't"
            | "hasn't"
            | "haven't"
            | "wasn't"
            | "weren't"
    )
}

/// Returns true if a word ends the names that belong to a verb.
fn ends_names(word: &Word<'_>) -> bool {
    const ENDS: Traits = Traits::NEGATION
        .and(Traits::SUBORDINATOR)
        .and(Traits::MODAL)
        .and(Traits::HISTORY);
    match word.kind {
        WordKind::Mark(mark) => !matches!(mark, ',' | '，' | '(' | ')' | '[' | ']' | ':' | '：'),
        WordKind::Number | WordKind::Held => false,
        WordKind::Word => {
            let is_verb = word.form.is_some_and(|form| form.is_past && !form.is_base);
            is_verb || (word.traits.has(ENDS) && &*word.text != "to") || turns_away(&word.text)
        }
    }
}

/// Returns true if the names behind a word are not those of what was done.
fn turns_away(word: &str) -> bool {
    matches!(
        word,
        "about"
            | "after"
            | "although"
            | "as"
            | "because"
            | "before"
            | "but"
            | "by"
            | "except"
            | "from"
            | "instead"
            | "like"
            | "per"
            | "regarding"
            | "since"
            | "so"
            | "than"
            | "then"
            | "though"
            | "unlike"
            | "until"
            | "via"
            | "while"
            | "without"
    )
}

fn name_of(word: &Word<'_>) -> Option<Identifier> {
    let is_name = word.kind == WordKind::Word
        && word.is_capitalised
        && word.form.is_none()
        && word.traits == Traits::default()
        && word.text.chars().nth(1).is_some();
    is_name.then(|| Identifier {
        text: word.text.to_string(),
        kind: IdentifierKind::Name,
        role: Role::Object,
    })
}
