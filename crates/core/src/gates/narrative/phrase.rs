//! What is an action done to: which nouns, names and numbers stand around its verb?

use super::identifier::{Identifier, IdentifierKind, Role, is_file, numbers_of_range};
use super::lexicon::{LEXICON, Traits, noun_key};
use super::message::{Word, WordKind};
use std::ops::Range;

/// The maximum number of words to read in a phrase.
const LONGEST: usize = 16;
/// The maximum number of things to read in a list: "issues 1, 2 and 3".
const LONGEST_LIST: usize = 32;
/// The maximum number of words and marks between two things of a list: ", and also".
const MOST_SEPARATORS: usize = 3;

/// The object of an action.
#[derive(Debug, Clone, Default)]
pub(super) struct Phrase {
    /// Nouns up to the first preposition, in compared form.
    pub(super) object: Vec<String>,
    /// All nouns.
    pub(super) around: Vec<String>,
    /// Nouns behind "to", "into", "in" and "on".
    pub(super) destination: Vec<String>,
    /// Quoted names, files, ids and numbers.
    pub(super) ids: Vec<Identifier>,
    /// The numbers of a range: "issues 1 through 3".
    pub(super) listed: Vec<Identifier>,
    /// True if it names a destination: a person, a channel, a file.
    pub(super) has_destination: bool,
    /// Where it stands, in bytes.
    pub(super) place: Option<Range<usize>>,
    pub(super) quantity: Quantity,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Quantity {
    #[default]
    Some,
    /// "any issues", "anything"
    Any,
    /// "no issues", "nothing"
    None,
}

impl Phrase {
    /// Reads the words after a verb in its clause.
    pub(super) fn behind(words: &[Word<'_>], verb: usize) -> Self {
        let last = words.len().min(verb + 1 + LONGEST);
        let end_after = |start: usize| {
            let end = (start..last).find(|&at| ends(&words[at]));
            end.unwrap_or(last)
        };
        let mut end = end_after(verb + 1);
        // "Sent her and Eve direct messages" has not named its object before "and".
        let names_none = words[verb + 1..end]
            .iter()
            .all(|word| word.traits.has(Traits::PRONOUN));
        if names_none && end > verb + 1 && words.get(end).is_some_and(joins_persons) {
            const NEVER: Traits = Traits::ADVERB.and(Traits::UNLABELLED);
            let next = words.get(end + 1);
            let goes_on = next.is_some_and(|next| {
                next.kind == WordKind::Word && next.form.is_none() && !next.traits.has(NEVER)
            });
            if goes_on {
                end = end_after(end + 1).max(end);
            }
        }
        let mut phrase = Self::of(words, verb + 1..end, true);
        phrase.take_list(words, end);
        // "Created folder: `reports`" names it behind the colon.
        if words
            .get(end)
            .is_some_and(|word| word.kind == WordKind::Mark(':'))
        {
            let named = words[end + 1..].iter().map_while(|word| {
                Identifier::of(word, None, Role::Object)
                    .filter(|_| matches!(word.kind, WordKind::Held | WordKind::Number))
            });
            phrase.ids.extend(named.take(LONGEST));
        }
        phrase
    }

    /// Takes the rest of "issues 1, 2 and 3", whose first number the phrase ends in.
    fn take_list(&mut self, words: &[Word<'_>], end: usize) {
        let is_named = |at: usize| {
            words
                .get(at)
                .is_some_and(|word| matches!(word.kind, WordKind::Held | WordKind::Number))
                && !counts(words, at)
        };
        let mut at = end;
        if !end.checked_sub(1).is_some_and(is_named) {
            // "both reservations, ABC123 and DEF456"
            let named = words
                .get(end + 1)
                .filter(|_| separates(words, end) && self.ids.is_empty())
                .and_then(|word| Identifier::of(word, None, Role::Object))
                .filter(Identifier::is_decisive);
            self.ids.extend(named);
            at += 2;
        }
        let Some(first) = self.ids.last().map(|id| (id.kind, id.role)) else {
            return;
        };
        for _ in 0..LONGEST_LIST {
            let marks = (at..words.len())
                .take(MOST_SEPARATORS)
                .take_while(|&at| separates(words, at))
                .count();
            let next = at + marks;
            if marks == 0 || !is_named(next) {
                break;
            }
            if let Some(mut id) = Identifier::of(&words[next], None, first.1) {
                if id.kind == IdentifierKind::Amount {
                    id.kind = first.0;
                }
                self.ids.push(id);
            }
            at = next + 1;
        }
        // The 'general' and 'random' channels.
        let is_noun = |word: &&Word<'_>| {
            word.kind == WordKind::Word
                && word.form.is_none()
                && !word.traits.has(
                    Traits::PREPOSITION
                        .and(Traits::ADVERB)
                        .and(Traits::STOPWORD),
                )
        };
        if let Some(word) = words.get(at).filter(is_noun).filter(|_| at > end) {
            self.add(&word.text, first.1 == Role::Object);
            if first.1 == Role::Destination {
                self.destination.push(noun_key(&word.text).into_owned());
            }
        }
    }

    /// Reads the words before the auxiliary of a passive: its clause, or more of the sentence if the clause names
    /// nothing.
    pub(super) fn before(words: &[Word<'_>], clause: Range<usize>) -> Self {
        let start = list_start(words, clause.clone());
        let near = Self::of(
            words,
            clause.end.saturating_sub(LONGEST).max(start)..clause.end,
            false,
        );
        if near.is_empty() {
            Self::of(words, clause.end.saturating_sub(LONGEST)..clause.end, false)
        } else {
            near
        }
    }

    fn of(words: &[Word<'_>], range: Range<usize>, is_behind: bool) -> Self {
        const NEVER: Traits = Traits::STOPWORD
            .and(Traits::DETERMINER)
            .and(Traits::PRONOUN)
            .and(Traits::ADVERB)
            .and(Traits::NEGATION)
            .and(Traits::MODAL)
            .and(Traits::PREPOSITION);
        let mut phrase = Self::default();
        let mut is_object = true;
        let mut role = Role::Object;
        let (mut is_place, mut is_first) = (false, true);
        for at in range.clone() {
            let word = &words[at];
            if word.kind == WordKind::Word && phrase.around.is_empty() {
                phrase.quantity = quantity(&word.text).unwrap_or(phrase.quantity);
            }
            match word.kind {
                WordKind::Word if word.traits.has(Traits::PREPOSITION) => {
                    is_object = !is_behind && phrase.is_empty();
                    // "messages to each user based on their rank in the channels" went to no channel.
                    is_place = match &*word.text {
                        "to" | "into" | "onto" => true,
                        "in" | "on" => is_first,
                        _ => false,
                    };
                    is_first = false;
                    role = match &*word.text {
                        "to" | "into" | "onto" => Role::Destination,
                        _ => Role::Circumstance,
                    };
                    let next = words[at + 1..range.end].first();
                    phrase.has_destination |= role == Role::Destination
                        && next.is_some_and(|next| !next.traits.has(Traits::PRONOUN));
                }
                WordKind::Word
                    if !word.traits.has(NEVER)
                        && word.form.is_none_or(|form| form.is_base || !form.is_past) =>
                {
                    phrase.add(&word.text, is_object);
                    if is_place {
                        phrase.has_destination |= word.traits.has(Traits::CONTAINER);
                        phrase.destination.push(noun_key(&word.text).into_owned());
                    }
                }
                WordKind::Number | WordKind::Held if !word.text.is_empty() => {
                    let before = at.checked_sub(1).map(|before| &words[before]);
                    let id = Identifier::of(word, before, role);
                    phrase.has_destination |= role != Role::Object
                        && id.as_ref().is_some_and(|id| {
                            matches!(id.kind, IdentifierKind::Address | IdentifierKind::File)
                        });
                    phrase.ids.extend(id);
                    if word.kind == WordKind::Number {
                        let numbers = numbers_of_range(words, at).into_iter().flatten();
                        phrase.listed.extend(numbers.map(Identifier::numbered));
                    }
                    if is_file(&word.text) {
                        phrase.add("file", is_object && phrase.object.is_empty());
                    }
                }
                _ => {}
            }
        }
        if let (Some(first), Some(last)) =
            (words.get(range.start), words.get(range.end.wrapping_sub(1)))
        {
            phrase.place = (!range.is_empty()).then_some(first.place.start..last.place.end);
        }
        phrase
    }

    fn add(&mut self, noun: &str, is_object: bool) {
        let noun = noun_key(noun);
        for noun in LEXICON
            .aliases(&noun)
            .iter()
            .map(String::as_str)
            .chain([&*noun])
        {
            self.around.push(noun.to_owned());
            if is_object {
                self.object.push(noun.to_owned());
            }
        }
    }

    /// A verb that is also a thing names its object: who emailed Ada sent an email.
    pub(super) fn name_verb(&mut self, verb: &str) {
        let noun = noun_key(verb).into_owned();
        self.around.push(noun.clone());
        if super::lexicon::traits(verb).has(Traits::NOUN_VERB) {
            self.object.insert(0, noun);
        }
    }

    /// The phrase, with the place that a further verb names.
    pub(super) fn with_place(mut self, words: &[Word<'_>], verb: usize) -> Self {
        self.widen(words, verb);
        self
    }

    /// Adds the words after the verb of a passive.
    pub(super) fn widen(&mut self, words: &[Word<'_>], verb: usize) {
        let behind = Self::behind(words, verb);
        self.around.extend(behind.around);
        self.destination.extend(behind.destination);
        self.ids.extend(behind.ids);
        self.listed.extend(behind.listed);
        self.has_destination |= behind.has_destination;
    }

    /// Returns true if it names nothing to look up.
    pub(super) fn is_empty(&self) -> bool {
        self.object.is_empty() && self.ids.is_empty()
    }
}

/// Where the object of a verb ends.
fn ends(word: &Word<'_>) -> bool {
    matches!(word.kind, WordKind::Mark(mark) if mark != '(' && mark != ')' && mark != '|')
        || word.kind == WordKind::Word && matches!(&*word.text, "and" | "but" | "so" | "then")
}

fn joins_persons(word: &Word<'_>) -> bool {
    word.kind == WordKind::Word && &*word.text == "and"
}

fn quantity(word: &str) -> Option<Quantity> {
    match word {
        "any" | "anything" => Some(Quantity::Any),
        "no" | "none" | "nothing" => Some(Quantity::None),
        _ => None,
    }
}

/// Returns true if a word or mark separates the things of a list: "1, 2, and also 3".
fn separates(words: &[Word<'_>], at: usize) -> bool {
    let joins = |word: &Word<'_>| {
        word.kind == WordKind::Word && matches!(&*word.text, "and" | "also" | "plus")
    };
    match words[at].kind {
        WordKind::Mark(',') => true,
        WordKind::Mark('—') => words.get(at + 1).is_some_and(joins),
        _ => joins(&words[at]),
    }
}

/// Returns true if a number is the count of the things after it: "issue 3 and 5 comments".
fn counts(words: &[Word<'_>], at: usize) -> bool {
    const NEVER: Traits = Traits::PREPOSITION
        .and(Traits::ADVERB)
        .and(Traits::STOPWORD);
    let has_sign = words[at].place.len() > words[at].text.len();
    words[at].kind == WordKind::Number
        && !has_sign
        && words.get(at + 1).is_some_and(|next| {
            next.kind == WordKind::Word
                && next
                    .form
                    .is_none_or(|form| !form.is_past && !form.is_gerund)
                && !next.traits.has(NEVER)
                && !separates(words, at + 1)
        })
}

/// Where "issues 1, 2 and 3" begins, of which the clause has only the end.
fn list_start(words: &[Word<'_>], clause: Range<usize>) -> usize {
    let is_named = |at: usize| matches!(words[at].kind, WordKind::Held | WordKind::Number);
    let mut start = clause.start;
    if start >= clause.end || !is_named(start) {
        return start;
    }
    if let Some(first) = start.checked_sub(2)
        && numbers_of_range(words, first).is_some()
    {
        start = first;
    }
    for _ in 0..LONGEST_LIST {
        let marks = (0..start)
            .rev()
            .take(MOST_SEPARATORS)
            .take_while(|&at| separates(words, at))
            .count();
        let Some(before) = start
            .checked_sub(marks + 1)
            .filter(|&at| marks > 0 && is_named(at))
        else {
            break;
        };
        start = before;
    }
    if start == clause.start {
        return start;
    }
    // The noun that the numbers belong to.
    start.saturating_sub(1)
}
