//! Is an action told in the passive, and of what?

use super::token::Token;
use super::words::{Traits, is_adverb};

const REACH: usize = 8;

/// Where the subject of a passive ends: the noun before that place is what the action was done to.
/// `None` when the participle at `verb` is not a passive, or has an object of its own ("was sent the report").
pub(super) fn subject_end(clause: &[Token<'_>], verb: usize) -> Option<usize> {
    if !clause[verb].verb()?.is_participle {
        return None;
    }
    after_be(clause, verb).or_else(|| headline(clause, verb))
}

/// "The issue was created", "has been created and closed".
fn after_be(clause: &[Token<'_>], verb: usize) -> Option<usize> {
    let has_object =
        clause.get(verb + 1).is_some_and(|next| next.traits.has(Traits::DETERMINER) && !next.after_comma);
    if has_object {
        return None;
    }
    let first = first_of_list(clause, verb);
    let auxiliary = (first.saturating_sub(REACH)..first)
        .rev()
        .find(|&at| !(clause[at].traits.has(Traits::ADVERB) || is_adverb(&clause[at].word)))?;
    clause[auxiliary].traits.has(Traits::BE).then_some(auxiliary)
}

/// "Issue created.", "Pull request merged, email sent to Bob": bare nouns, the participle, and no object.
fn headline(clause: &[Token<'_>], verb: usize) -> Option<usize> {
    let has_object = clause.get(verb + 1).is_some_and(|next| {
        let begins_phrase = next.traits.has(Traits::STOPWORD.and(Traits::BARRIER).and(Traits::ADVERB));
        let begins_noun = next.traits.has(Traits::DETERMINER.and(Traits::PRONOUN));
        !next.after_comma && (!begins_phrase || begins_noun)
    });
    if has_object {
        return None;
    }
    let first = first_of_list(clause, verb);
    let mut start = first;
    while start > 0 && first - start < REACH && !clause[start].after_comma {
        start -= 1;
    }
    let is_bare = |token: &Token<'_>| {
        let is_grammar = token.traits.has(Traits::STOPWORD.and(Traits::BARRIER).and(Traits::HEDGE));
        let is_count =
            matches!(&*token.word, "all" | "both" | "two" | "three" | "new" | "existing" | "requested");
        token.verb().is_none() && !is_adverb(&token.word) && (!is_grammar || is_count)
    };
    let is_whole = start == 0 || clause[start].after_comma;
    (is_whole && first > start && clause[start..first].iter().all(is_bare)).then_some(first)
}

/// The first participle of a list such as "created and closed".
fn first_of_list(clause: &[Token<'_>], verb: usize) -> usize {
    let mut first = verb;
    for _ in 0..REACH {
        let Some(before) = first.checked_sub(1) else { break };
        let is_joined = matches!(&*clause[before].word, "and" | "or");
        let candidate =
            if is_joined { before.checked_sub(1) } else { clause[first].after_comma.then_some(before) };
        match candidate {
            Some(at) if clause[at].verb().is_some_and(|form| form.is_participle) => first = at,
            _ => break,
        }
    }
    first
}
