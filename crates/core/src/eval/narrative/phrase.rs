//! What is an action done to: which nouns, names and numbers stand around its verb?

use super::lexicon::{LEXICON, Traits, noun_key};
use super::message::{Word, WordKind};
use std::ops::Range;

/// How many words of a phrase are looked at.
const LONGEST: usize = 16;

/// The object of an action.
#[derive(Debug, Clone, Default)]
pub(super) struct Phrase {
    /// Nouns up to the first preposition, as they are compared.
    pub(super) object: Vec<String>,
    /// All nouns.
    pub(super) around: Vec<String>,
    /// Quoted names, files, ids and numbers.
    pub(super) ids: Vec<String>,
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
    /// What stands behind a verb in its clause.
    pub(super) fn behind(words: &[Word<'_>], verb: usize) -> Self {
        let end = words.len().min(verb + 1 + LONGEST);
        let end = (verb + 1..end).find(|&at| ends(&words[at])).unwrap_or(end);
        let mut phrase = Self::of(words, verb + 1..end, true);
        // "Created folder: `reports`" names it behind the colon.
        if words
            .get(end)
            .is_some_and(|word| word.kind == WordKind::Mark(':'))
        {
            let named = words[end + 1..]
                .iter()
                .take_while(|word| matches!(word.kind, WordKind::Held | WordKind::Number));
            phrase
                .ids
                .extend(named.take(LONGEST).map(|word| word.text.to_string()));
        }
        phrase
    }

    /// What stands before the auxiliary of a passive: its clause, or more of the sentence when that says nothing.
    pub(super) fn before(words: &[Word<'_>], clause: Range<usize>) -> Self {
        let near = Self::of(
            words,
            clause.end.saturating_sub(LONGEST).max(clause.start)..clause.end,
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
        for word in &words[range.clone()] {
            match &*word.text {
                "any" | "anything" if word.kind == WordKind::Word => {
                    phrase.quantity = Quantity::Any;
                }
                "no" | "none" | "nothing" if word.kind == WordKind::Word => {
                    phrase.quantity = Quantity::None;
                }
                _ => {}
            }
            match word.kind {
                WordKind::Word if word.traits.has(Traits::PREPOSITION) => {
                    is_object = !is_behind && phrase.is_empty();
                }
                WordKind::Word
                    if !word.traits.has(NEVER)
                        && word.form.is_none_or(|form| form.is_base || !form.is_past) =>
                {
                    phrase.add(&word.text, is_object);
                }
                WordKind::Number | WordKind::Held if !word.text.is_empty() => {
                    phrase.ids.push(word.text.to_string());
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

    /// Takes in what stands behind the verb of a passive.
    pub(super) fn widen(&mut self, words: &[Word<'_>], verb: usize) {
        let behind = Self::behind(words, verb);
        self.around.extend(behind.around);
        self.ids.extend(behind.ids);
    }

    /// Whether it names nothing that could be looked up.
    pub(super) fn is_empty(&self) -> bool {
        self.object.is_empty() && self.ids.is_empty()
    }
}

/// Where the object of a verb ends.
fn ends(word: &Word<'_>) -> bool {
    matches!(word.kind, WordKind::Mark(mark) if mark != '(' && mark != ')' && mark != '|')
        || word.kind == WordKind::Word && matches!(&*word.text, "and" | "but" | "so" | "then")
}

fn is_file(text: &str) -> bool {
    let Some((name, extension)) = text.rsplit_once('.') else {
        return false;
    };
    !name.is_empty()
        && (1..=5).contains(&extension.len())
        && extension.chars().all(char::is_alphanumeric)
        && !text.contains('@')
}
