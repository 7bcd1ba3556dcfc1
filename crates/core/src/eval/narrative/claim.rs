//! Which actions does a text claim or deny?

use super::Extraction;
use super::clause::clauses;
use super::passive::subject_end;
use super::polarity::{Polarity, polarity};
use super::token::Token;
use super::verbs::Vocabulary;
use super::words::{Traits, is_adverb, noun_key, singular};
use std::collections::HashSet;
use std::ops::Range;

const NONE_OF_REACH: usize = 3;

/// One action that a text speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Claim {
    /// The verb, uninflected.
    pub(super) verb: String,
    /// The object as it is compared.
    pub(super) object: String,
    /// Verb and object as one stem, as `create_issue`.
    pub(super) name: String,
    /// The same with the object in the text's own number.
    pub(super) written: String,
    /// Whether any object of the verb is meant.
    pub(super) any_object: bool,
    /// Whether the text says that it was not done.
    pub(super) is_denied: bool,
    /// Where verb and object stand, in bytes.
    pub(super) place: Range<usize>,
    /// Where the clause stands, in bytes.
    pub(super) clause: Range<usize>,
}

/// Every distinct claim and denial, in the order of the verbs.
pub(super) fn claims(
    tokens: &mut [Token<'_>],
    vocabulary: &Vocabulary,
    extraction: Extraction,
) -> Vec<Claim> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for clause in clauses(tokens) {
        for claim in claims_of(&tokens[clause], vocabulary, extraction) {
            if seen.insert((claim.is_denied, claim.verb.clone(), claim.object.clone())) {
                found.push(claim);
            }
        }
    }
    found
}

fn claims_of(clause: &[Token<'_>], vocabulary: &Vocabulary, extraction: Extraction) -> Vec<Claim> {
    let verbs: Vec<usize> = (0..clause.len()).filter(|&at| clause[at].verb().is_some()).collect();
    if verbs.is_empty() {
        return Vec::new();
    }
    let (behind, before) = (objects_behind(clause), nouns_before(clause));
    let whole = clause[0].place.start..clause[clause.len() - 1].place.end;
    let mut claims = Vec::new();
    for at in verbs {
        let Some(form) = clause[at].verb().filter(|_| !clause[at].is_quoted) else { continue };
        let (object, is_none) = match subject_end(clause, at) {
            Some(end) => (before[end], before[end].is_some_and(|noun| is_none_of(clause, noun))),
            None => behind[at].map_or((None, false), |object| (Some(object.at), object.is_none)),
        };
        let Some(object) = object else { continue };
        let polarity = match extraction {
            Extraction::Literal => Polarity::Claimed,
            Extraction::Rules if is_none || clause[object].word == "nothing" => Polarity::Denied,
            Extraction::Rules => polarity(clause, at, form),
        };
        if polarity == Polarity::Hedged {
            continue;
        }
        let (first, last) = (&clause[at.min(object)].place, &clause[at.max(object)].place);
        let (verb, word) = (vocabulary.base(form), &clause[object].word);
        claims.push(Claim {
            verb: verb.to_owned(),
            object: noun_key(word).into_owned(),
            name: format!("{verb}_{}", singular(word)),
            written: format!("{verb}_{word}"),
            any_object: clause[object].traits.has(Traits::ANY_OBJECT),
            is_denied: polarity == Polarity::Denied,
            place: first.start..last.end,
            clause: whole.clone(),
        });
    }
    claims
}

/// Whether "none of the" or the like stands before a noun.
fn is_none_of(clause: &[Token<'_>], noun: usize) -> bool {
    clause[noun.saturating_sub(NONE_OF_REACH)..noun].iter().any(|token| token.traits.has(Traits::NONE_OF))
}

/// The object that follows a place.
#[derive(Debug, Clone, Copy)]
struct Object {
    at: usize,
    /// Whether "no", "none" or "neither" stands before it.
    is_none: bool,
}

/// For each place the next word behind it that can be an object: no stopword, no verb, no number.
fn objects_behind(clause: &[Token<'_>]) -> Vec<Option<Object>> {
    let mut behind = vec![None; clause.len()];
    let mut next: Option<Object> = None;
    for at in (0..clause.len()).rev() {
        behind[at] = next;
        let token = &clause[at];
        let adverb = is_adverb(&token.word)
            && !token.traits.has(Traits::STOPWORD)
            && !at.checked_sub(1).is_some_and(|before| clause[before].traits.has(Traits::DETERMINER));
        if can_be_object(token) && !adverb {
            next = Some(Object { at, is_none: false });
        } else if adverb || token.traits.has(Traits::BARRIER) {
            next = None;
        } else if token.traits.has(Traits::NONE_OF) {
            next = next.map(|object| Object { is_none: true, ..object });
        }
    }
    behind
}

/// For each place the last word before it that can be an object.
fn nouns_before(clause: &[Token<'_>]) -> Vec<Option<usize>> {
    let mut last = None;
    let mut before = Vec::with_capacity(clause.len());
    for (at, token) in clause.iter().enumerate() {
        before.push(last);
        if can_be_object(token) && !is_adverb(&token.word) {
            last = Some(at);
        }
    }
    before
}

fn can_be_object(token: &Token<'_>) -> bool {
    const NEVER: Traits = Traits::STOPWORD
        .and(Traits::NEGATION)
        .and(Traits::AUXILIARY)
        .and(Traits::BE)
        .and(Traits::QUANTIFIER)
        .and(Traits::BARRIER);
    token.verb().is_none() && !token.traits.has(NEVER) && !token.is_number()
}
