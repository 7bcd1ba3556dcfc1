//! Which completed changes does the agent claim, and which does it deny?

mod told;

use super::lexicon::{Traits, traits};
use super::message::{Message, Sentence, Word, WordKind};
use super::phrase::Phrase;
use super::verbs::Vocabulary;
use crate::hashed::HashSet;
use std::ops::Range;

/// How far behind a verb its author or its date may stand.
pub(super) const REACH: usize = 5;

/// One action that a text speaks of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Claim {
    /// The verb, uninflected.
    pub(super) verb: String,
    /// Verb and object as one stem, as `create_issue`.
    pub(super) name: String,
    /// The nouns of the object, as they are compared; none for "it" and "everything".
    pub(super) object: Vec<String>,
    /// All nouns of its phrase.
    pub(super) around: Vec<String>,
    /// Quoted names, files, ids and numbers in it.
    pub(super) ids: Vec<String>,
    /// Whether it is told without the one who did it: "was sent".
    pub(super) is_passive: bool,
    /// Whether the text says that it was not done.
    pub(super) is_denied: bool,
    /// Whether it says that nothing of the kind was done.
    pub(super) is_total: bool,
    /// Where the claim stands, in bytes.
    pub(super) place: Range<usize>,
    /// Where its sentence stands, in bytes.
    pub(super) sentence: Range<usize>,
}

/// Every distinct claim and denial, in order.
pub(super) fn claims(message: &Message<'_>, vocabulary: &Vocabulary) -> Vec<Claim> {
    let mut found = Vec::new();
    for sentence in message
        .sentences
        .iter()
        .filter(|sentence| !sentence.is_question)
    {
        let words = &message.words[sentence.words.clone()];
        let is_limited = words.iter().any(|word| word.traits.has(Traits::SCOPE));
        let clause = Clause::default();
        let scan = Scan {
            words,
            sentence,
            vocabulary,
            is_limited,
            clause,
            is_own: false,
            told: None,
        };
        found.extend(scan.claims());
    }
    let mut seen = HashSet::default();
    let is_change = |claim: &Claim| {
        claim.verb != "make"
            || claim
                .object
                .iter()
                .any(|noun| traits(noun).has(Traits::MADE))
    };
    found.retain(|claim: &Claim| {
        is_change(claim)
            && seen.insert((
                claim.is_denied,
                claim.verb.clone(),
                claim.object.clone(),
                claim.ids.clone(),
            ))
    });
    found
}

/// What the words between two marks say.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Clause {
    pub(super) start: usize,
    opening: Opening,
    /// What its words so far do.
    traits: Traits,
    /// Whether a condition, a time or a doubt begins it.
    is_hedged: bool,
    /// Whether "no" or "nothing" stands in it.
    has_none: bool,
    /// Whether "is" or the like stands in it.
    has_be: bool,
    /// Where "got" or "had" stands behind the agent: what follows was done for it.
    caused: Option<usize>,
}

/// What stands before a clause.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Opening {
    #[default]
    Sentence,
    Colon,
    Dash,
    Joined,
    Other,
}

/// The last action of the sentence: one that follows with "and" is told in the same way.
#[derive(Debug, Clone)]
struct Told {
    is_claimed: bool,
    is_passive: bool,
    phrase: Phrase,
}

/// One sentence on its way.
pub(super) struct Scan<'m, 't> {
    pub(super) words: &'m [Word<'t>],
    pub(super) sentence: &'m Sentence,
    vocabulary: &'m Vocabulary,
    /// Whether a word such as "other" or "yet" limits what the sentence denies.
    is_limited: bool,
    pub(super) clause: Clause,
    /// Whether the last subject was the agent.
    is_own: bool,
    told: Option<Told>,
}

impl Scan<'_, '_> {
    fn claims(mut self) -> Vec<Claim> {
        let mut found = Vec::new();
        for at in 0..self.words.len() {
            if let Some(opening) = self.opening(at) {
                let is_hedged = self.clause.is_hedged && matches!(self.text(at), "and" | "or");
                self.clause = Clause {
                    start: at + 1,
                    is_hedged,
                    opening,
                    ..Clause::default()
                };
                // What was not done ends at "but".
                self.told = self.told.take().filter(|_| self.text(at) != "but");
                continue;
            }
            let word = &self.words[at];
            found.extend(self.idiom(at));
            found.extend(word.form.and_then(|form| self.told_by(at, form)));
            self.clause.is_hedged |= word.traits.has(Traits::SUBORDINATOR);
            self.clause.traits = self.clause.traits.and(word.traits);
            match self.text(at) {
                "i" | "we" => self.is_own = true,
                "you" | "they" | "he" | "she" | "who" => self.is_own = false,
                "no" | "none" | "nothing" => self.clause.has_none = true,
                "is" | "are" | "'s" | "be" | "am" => self.clause.has_be = true,
                "got" | "had" if at > 0 && matches!(self.text(at - 1), "i" | "we" | "have") => {
                    self.clause.caused = Some(at);
                }
                _ => {}
            }
        }
        found
    }

    pub(super) fn text(&self, at: usize) -> &str {
        self.words
            .get(at)
            .filter(|word| word.kind == WordKind::Word)
            .map_or("", |word| &word.text)
    }

    pub(super) fn has(&self, at: usize, traits: Traits) -> bool {
        self.words
            .get(at)
            .is_some_and(|word| word.traits.has(traits))
    }

    fn any(&self, range: Range<usize>, traits: Traits) -> bool {
        self.words[range].iter().any(|word| word.traits.has(traits))
    }

    /// What the word or mark opens behind it, when a clause ends there.
    fn opening(&self, at: usize) -> Option<Opening> {
        match self.words[at].kind {
            WordKind::Mark(':' | '：') => Some(Opening::Colon),
            WordKind::Mark('—') => Some(Opening::Dash),
            WordKind::Mark(',' | ';' | '，' | '；') => Some(Opening::Joined),
            WordKind::Mark(_) => Some(Opening::Other),
            WordKind::Word if matches!(self.text(at), "and" | "or" | "but" | "so" | "then") => {
                // "and then" at the start of a sentence opens nothing new.
                Some(if at == 0 {
                    Opening::Sentence
                } else {
                    Opening::Joined
                })
            }
            _ => None,
        }
    }
}
