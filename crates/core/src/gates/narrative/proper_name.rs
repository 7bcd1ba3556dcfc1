//! Which proper names are around the verb of a claim: who was added, to whom was it sent?
//!
//! A capital letter is weak evidence. A name can only refute a claim, if a call with the name
//! failed.

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
    let end = words.len().min(verb + 1 + REACH);
    let mut list = NamesOfVerb::default();
    let mut at = verb + 1;
    while at < end {
        let word = &words[at];
        if word.kind == WordKind::Mark('(') {
            let close = end_of_aside(words, at);
            list.add_aside(&words[at + 1..close]);
            at = close;
        } else if word.traits.has(Traits::RELATIVE) {
            // "all users who were not there (Alice, Bob)"
            let is_aside = |at: &usize| words[*at].kind == WordKind::Mark('(');
            at = (at..end).find(is_aside).unwrap_or(end);
            continue;
        } else if begins_clause_of_name(words, at) {
            list.drop_clause();
            break;
        } else if ends_names(word) {
            break;
        } else {
            list.add(word);
        }
        at += 1;
    }
    list.names
}

/// The names of a verb that are read so far.
#[derive(Default)]
struct NamesOfVerb {
    names: Vec<Identifier>,
    /// The number of names before the last comma, and before the last "and".
    before_comma: Option<usize>,
    before_and: usize,
}

impl NamesOfVerb {
    fn add(&mut self, word: &Word<'_>) {
        match word.kind {
            WordKind::Mark(',' | '，') => self.before_comma = Some(self.names.len()),
            WordKind::Word if &*word.text == "and" => self.before_and = self.names.len(),
            _ => self.names.extend(name_of(word)),
        }
    }

    /// Adds the names of "(Alice, Bob and Charlie)". Any other aside has its own meaning.
    fn add_aside(&mut self, words: &[Word<'_>]) {
        let is_of_list = |word: &Word<'_>| {
            matches!(word.kind, WordKind::Mark(',' | '，'))
                || &*word.text == "and"
                || name_of(word).is_some()
        };
        if words.iter().all(is_of_list) {
            self.names.extend(words.iter().filter_map(name_of));
        }
    }

    /// Drops the subject of a new clause: Bob of "I added Alice, Bob was there before".
    fn drop_clause(&mut self) {
        let first = self.before_comma.unwrap_or(self.before_and);
        self.names.truncate(first);
    }
}

/// Where an aside closes, or the end of the words.
fn end_of_aside(words: &[Word<'_>], open: usize) -> usize {
    let is_close = |at: &usize| words[*at].kind == WordKind::Mark(')');
    (open..words.len()).find(is_close).unwrap_or(words.len())
}

/// Returns true if a word makes a name before it the subject of a clause: "Bob was there before", "Bob declined". A past
/// before a name does as well: "and tried Bob".
fn begins_clause_of_name(words: &[Word<'_>], at: usize) -> bool {
    let word = &words[at];
    let is_name = |at: Option<usize>| {
        at.and_then(|at| words.get(at))
            .is_some_and(|word| name_of(word).is_some())
    };
    let is_past = word.kind == WordKind::Word && word.text.len() > 4 && word.text.ends_with("ed");
    let is_beside_name = is_name(at.checked_sub(1)) || is_name(Some(at + 1));
    word.traits.has(Traits::PREDICATE) || (is_past && is_beside_name)
}

/// The proper names before the auxiliary of a passive: "Alice and Bob have been added".
pub(super) fn names_before(words: &[Word<'_>], auxiliary: usize) -> Vec<Identifier> {
    let before = words[..auxiliary].iter().rev().take(REACH);
    let near = before.take_while(|word| !word.traits.has(Traits::PREDICATE) && !ends_names(word));
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

/// Returns true if a sentence of a message reports a failure.
pub(super) fn admits_failure(message: &Message<'_>) -> bool {
    let mut sentences = message.sentences.iter();
    sentences.any(|sentence| reports_failure(&message.words[sentence.words.clone()]))
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
            | "blocked"
            | "bounced"
            | "denied"
            | "invalid"
            | "refused"
            | "rejected"
            | "skipped"
            | "unavailable"
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

/// Returns true if the names behind a word are not part of the action.
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
