//! Which nouns, names and numbers around its verb are the object of an action?

use super::identifier::{Identifier, IdentifierKind, Role, is_file, numbers_of_range};
use super::lexicon::{LEXICON, Traits, noun_key};
use super::message::{Word, WordKind};
use super::proper_name::{names_before, names_behind};
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
    /// Proper names around the verb, also behind a comma: "Alice, Bob and Charlie".
    pub(super) proper_names: Vec<Identifier>,
    /// True if it names a destination: a person, a channel, a file.
    pub(super) has_destination: bool,
    /// Its place, in bytes.
    pub(super) place: Option<Range<usize>>,
    pub(super) quantity: Quantity,
    /// The number of things it speaks of: "both emails", "all three emails", "3 emails".
    pub(super) count: Option<usize>,
    /// True if it speaks of all things of a kind: "all issues", "every issue", "each of them".
    pub(super) is_of_all: bool,
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
        let end = end_of_object(words, verb);
        let mut phrase = Reader::read(words, verb + 1..end, Side::Behind);
        phrase.read_list(words, end);
        phrase.ids.extend(named_behind_colon(words, end));
        phrase.proper_names = names_behind(words, verb);
        phrase
    }

    /// Reads the rest of "issues 1, 2 and 3" after the phrase's first number.
    fn read_list(&mut self, words: &[Word<'_>], end: usize) {
        let ends_in_name = end.checked_sub(1).is_some_and(|at| is_name(words, at));
        let start = if ends_in_name {
            end
        } else {
            self.ids.extend(self.name_in_apposition(words, end));
            end + 2
        };
        let Some(first) = self.ids.last() else {
            return;
        };
        let (kind, role) = (first.kind, first.role);
        let after = self.read_names(words, start, kind, role);
        // The 'general' and 'random' channels.
        if let Some(word) = words.get(after).filter(|word| is_noun_of_list(word))
            && after > end
        {
            self.add(&word.text, role == Role::Object);
            if role == Role::Destination {
                self.destination.push(noun_key(&word.text).into_owned());
            }
        }
    }

    /// "both reservations, ABC123 and DEF456"
    fn name_in_apposition(&self, words: &[Word<'_>], comma: usize) -> Option<Identifier> {
        let word = words.get(comma + 1)?;
        if !self.ids.is_empty() || !separates(words, comma) {
            return None;
        }
        Identifier::from_word(word, None, Role::Object).filter(Identifier::is_decisive)
    }

    /// Reads ", 2 and 3". Returns the index behind it.
    fn read_names(
        &mut self,
        words: &[Word<'_>],
        start: usize,
        kind: IdentifierKind,
        role: Role,
    ) -> usize {
        let mut at = start;
        for _ in 0..LONGEST_LIST {
            let marks = (at..words.len())
                .take(MOST_SEPARATORS)
                .take_while(|&at| separates(words, at))
                .count();
            let next = at + marks;
            if marks == 0 || !is_name(words, next) {
                break;
            }
            if let Some(mut id) = Identifier::from_word(&words[next], None, role) {
                if id.kind == IdentifierKind::Amount {
                    id.kind = kind;
                }
                self.ids.push(id);
            }
            at = next + 1;
        }
        at
    }

    /// Reads the words before the auxiliary of a passive: its clause, or more of the sentence if the clause names
    /// nothing.
    pub(super) fn before(words: &[Word<'_>], clause: Range<usize>) -> Self {
        let reach = clause.end.saturating_sub(LONGEST);
        let start = list_start(words, clause.clone());
        let near = Reader::read(words, reach.max(start)..clause.end, Side::Before);
        let subject = if near.is_empty() {
            Reader::read(words, reach..clause.end, Side::Before)
        } else {
            near
        };
        Self {
            proper_names: names_before(words, clause.end),
            ..subject
        }
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
        self.proper_names.extend(behind.proper_names);
        self.has_destination |= behind.has_destination;
    }

    /// Returns true if it has nothing to look up.
    pub(super) fn is_empty(&self) -> bool {
        self.object.is_empty() && self.ids.is_empty()
    }
}

/// The position of a phrase: after its verb, as an object, or before it, as the subject of a
/// passive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Behind,
    Before,
}

/// A phrase that is read word by word.
struct Reader<'w, 't> {
    words: &'w [Word<'t>],
    range: Range<usize>,
    side: Side,
    phrase: Phrase,
    /// True if the next noun belongs to the object.
    is_object: bool,
    /// The role of the next name or number.
    role: Role,
    /// True if the next noun is a destination.
    is_place: bool,
    has_preposition: bool,
}

impl<'w, 't> Reader<'w, 't> {
    fn read(words: &'w [Word<'t>], range: Range<usize>, side: Side) -> Phrase {
        let mut reader = Self {
            words,
            range: range.clone(),
            side,
            phrase: Phrase::default(),
            is_object: true,
            role: Role::Object,
            is_place: false,
            has_preposition: false,
        };
        for at in range.clone() {
            reader.word(at);
        }
        Phrase {
            place: place_of(words, range),
            ..reader.phrase
        }
    }

    fn word(&mut self, at: usize) {
        let word = &self.words[at];
        if word.kind == WordKind::Word && self.phrase.around.is_empty() {
            self.phrase.quantity = quantity(&word.text).unwrap_or(self.phrase.quantity);
        }
        if self.is_object && self.phrase.around.is_empty() {
            self.phrase.count = counted(word).or(self.phrase.count);
            self.phrase.is_of_all |= is_of_all(word);
        }
        match word.kind {
            WordKind::Word if word.traits.has(Traits::PREPOSITION) => self.preposition(at),
            WordKind::Word if is_noun(word) => self.noun(word),
            WordKind::Number | WordKind::Held if !word.text.is_empty() => self.name(at),
            _ => {}
        }
    }

    fn preposition(&mut self, at: usize) {
        let text = &*self.words[at].text;
        let leads_to = matches!(text, "to" | "into" | "onto");
        self.is_object = self.side == Side::Before && self.phrase.is_empty();
        // "messages to each user based on their rank in the channels" went to no channel.
        self.is_place = leads_to || (matches!(text, "in" | "on") && !self.has_preposition);
        self.has_preposition = true;
        if !leads_to {
            self.role = Role::Circumstance;
            return;
        }
        self.role = Role::Destination;
        let next = self.words[at + 1..self.range.end].first();
        let names_place = next.is_some_and(|next| !next.traits.has(Traits::PRONOUN));
        self.phrase.has_destination |= names_place;
    }

    fn noun(&mut self, word: &Word<'_>) {
        self.phrase.add(&word.text, self.is_object);
        if self.is_place {
            self.phrase.has_destination |= word.traits.has(Traits::CONTAINER);
            let noun = noun_key(&word.text).into_owned();
            self.phrase.destination.push(noun);
        }
    }

    /// A quoted name, a file, an id or a number.
    fn name(&mut self, at: usize) {
        let word = &self.words[at];
        let before = at.checked_sub(1).map(|before| &self.words[before]);
        if let Some(id) = Identifier::from_word(word, before, self.role) {
            let is_place = matches!(id.kind, IdentifierKind::Address | IdentifierKind::File);
            self.phrase.has_destination |= self.role != Role::Object && is_place;
            self.phrase.ids.push(id);
        }
        if word.kind == WordKind::Number
            && let Some(numbers) = numbers_of_range(self.words, at)
        {
            self.phrase.listed.extend(numbers.map(Identifier::numbered));
        }
        if is_file(&word.text) {
            let is_object = self.is_object && self.phrase.object.is_empty();
            self.phrase.add("file", is_object);
        }
    }
}

fn is_noun(word: &Word<'_>) -> bool {
    const NEVER: Traits = Traits::STOPWORD
        .and(Traits::DETERMINER)
        .and(Traits::PRONOUN)
        .and(Traits::ADVERB)
        .and(Traits::NEGATION)
        .and(Traits::MODAL)
        .and(Traits::PREPOSITION);
    let is_verb = word.form.is_some_and(|form| form.is_past && !form.is_base);
    !word.traits.has(NEVER) && !is_verb
}

/// The place of these words in the message, in bytes.
fn place_of(words: &[Word<'_>], range: Range<usize>) -> Option<Range<usize>> {
    let words = words.get(range)?;
    let (first, last) = (words.first()?, words.last()?);
    Some(first.place.start..last.place.end)
}

/// The end of a verb's object.
fn end_of_object(words: &[Word<'_>], verb: usize) -> usize {
    const NEVER: Traits = Traits::ADVERB.and(Traits::UNLABELLED);
    let start = verb + 1;
    let last = words.len().min(start + LONGEST);
    let end_after = |start: usize| (start..last).find(|&at| ends(&words[at])).unwrap_or(last);
    let end = end_after(start);
    // "Sent her and Eve direct messages" has not named its object before "and".
    let names_persons = end > start
        && words[start..end]
            .iter()
            .all(|word| word.traits.has(Traits::PRONOUN))
        && words.get(end).is_some_and(joins_persons);
    let continues = words.get(end + 1).is_some_and(|next| {
        next.kind == WordKind::Word && next.form.is_none() && !next.traits.has(NEVER)
    });
    if names_persons && continues {
        end_after(end + 1).max(end)
    } else {
        end
    }
}

/// The names in "Created folder: `reports`", behind the colon.
fn named_behind_colon(words: &[Word<'_>], colon: usize) -> Vec<Identifier> {
    let has_colon = words
        .get(colon)
        .is_some_and(|word| word.kind == WordKind::Mark(':'));
    if !has_colon {
        return Vec::new();
    }
    words[colon + 1..]
        .iter()
        .take_while(|word| matches!(word.kind, WordKind::Held | WordKind::Number))
        .map_while(|word| Identifier::from_word(word, None, Role::Object))
        .take(LONGEST)
        .collect()
}

/// Returns true for a quoted name or an identifying number.
fn is_name(words: &[Word<'_>], at: usize) -> bool {
    words
        .get(at)
        .is_some_and(|word| matches!(word.kind, WordKind::Held | WordKind::Number))
        && !counts(words, at)
}

fn is_noun_of_list(word: &Word<'_>) -> bool {
    const NEVER: Traits = Traits::PREPOSITION
        .and(Traits::ADVERB)
        .and(Traits::STOPWORD);
    word.kind == WordKind::Word && word.form.is_none() && !word.traits.has(NEVER)
}

/// Returns true if the object of a verb ends before this word.
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

/// The number of things that a word counts: "both", "three", "3".
fn counted(word: &Word<'_>) -> Option<usize> {
    const WORDS: [&str; 10] = [
        "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    ];
    let place = || WORDS.iter().position(|one| *one == word.text);
    let count = match word.kind {
        WordKind::Number => word.text.parse().ok(),
        WordKind::Word if word.text == "both" => Some(2),
        WordKind::Word => place().map(|at| at + 2),
        WordKind::Held | WordKind::Mark(_) => None,
    };
    count.filter(|count| *count > 1)
}

fn is_of_all(word: &Word<'_>) -> bool {
    word.kind == WordKind::Word && matches!(&*word.text, "all" | "every" | "each" | "everything")
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

/// The start of "issues 1, 2 and 3", if the clause has only its end.
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
