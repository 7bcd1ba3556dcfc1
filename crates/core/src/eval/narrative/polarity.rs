//! Does a sentence say that something was done, that it was not, or that it might be?

use super::clause::is_contrast;
use super::token::Token;
use super::verbs::Form;
use super::words::Traits;

const NEGATION_REACH: usize = 4;
const HEDGE_REACH: usize = 6;

/// What is said about an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Polarity {
    /// It was done.
    Claimed,
    /// It was not done.
    Denied,
    /// It is a plan, an offer, a wish or a condition.
    Hedged,
}

/// What a clause says about its verb at `verb`. A negation beats a hedge ("I could not delete it" denies), except
/// under a condition.
pub(super) fn polarity(clause: &[Token<'_>], verb: usize, form: Form) -> Polarity {
    let (mut negated, mut hedged, mut conditional) = (false, false, false);
    for at in (verb.saturating_sub(HEDGE_REACH)..verb).rev() {
        let token = &clause[at];
        if token.traits.has(Traits::SPEAKER) && !stands_behind_its_auxiliary(clause, at, form) {
            break;
        }
        negated |= verb - at <= NEGATION_REACH && negates(clause, at);
        hedged |= token.traits.has(Traits::HEDGE) || (token.word == "'d" && form.is_base);
        conditional |= token.word == "if";
    }
    match (negated, hedged) {
        (true, _) if !conditional => Polarity::Denied,
        (_, true) => Polarity::Hedged,
        _ => Polarity::Claimed,
    }
}

fn negates(clause: &[Token<'_>], at: usize) -> bool {
    let (token, next) = (&clause[at], clause.get(at + 1));
    let adds = || next.is_some_and(|next| matches!(&*next.word, "only" | "just" | "merely"));
    let is_not = token.word == "not" || token.word.ends_with("n't");
    (token.traits.has(Traits::NEGATION) && !(is_not && adds())) || is_contrast(token, next)
}

/// "Should I delete it", "nor did I delete it", "if I delete it": the words before the subject still govern the verb.
fn stands_behind_its_auxiliary(clause: &[Token<'_>], subject: usize, form: Form) -> bool {
    let Some(before) = subject.checked_sub(1).map(|at| &clause[at]) else { return false };
    match &*before.word {
        "if" => true,
        "have" | "has" | "had" | "haven't" | "hasn't" | "hadn't" => form.is_participle,
        "will" | "would" | "should" | "could" | "can" | "may" | "might" | "shall" | "do" | "does" | "did" => {
            form.is_base
        }
        other => other.ends_with("n't") && form.is_base,
    }
}
