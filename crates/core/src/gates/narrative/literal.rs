//! Which actions does a text name by the literal rule: a verb and the next noun of its clause?

use super::claim::Claim;
use super::evidence::Judgement;
use super::lexicon::{Traits, noun_key, singular, traits};
use super::score::JudgedClaim;
use super::token::Token;
use super::tool::ToolName;
use super::verbs::Vocabulary;
use crate::hashed::{HashMap, HashSet};
use crate::report::evidence::ClaimVerdict;

/// Every distinct verb with its noun, in the order of the verbs.
pub(super) fn claims(tokens: &[Token<'_>], vocabulary: &Vocabulary) -> Vec<Claim> {
    let nouns = nouns_behind(tokens, vocabulary);
    let mut seen = HashSet::default();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Some(form) = vocabulary
            .form(&token.word)
            .filter(|_| !is_noun(tokens, at, vocabulary))
        else {
            continue;
        };
        let Some(noun) = nouns[at].map(|noun| &tokens[noun]) else {
            continue;
        };
        let verb = vocabulary.base(form);
        let object = noun_key(&noun.word).into_owned();
        if seen.insert((form.verb, object.clone())) {
            let place = token.place.start..noun.place.end;
            let name = format!("{verb}_{}", singular(&noun.word));
            found.push(Claim {
                verb: verb.to_owned(),
                name,
                object: vec![object],
                sentence: place.clone(),
                place,
                ..Claim::default()
            });
        }
    }
    found
}

/// For each token, the next token of its clause that can be an object: not a stopword, a verb or a
/// number.
fn nouns_behind(tokens: &[Token<'_>], vocabulary: &Vocabulary) -> Vec<Option<usize>> {
    let mut behind = vec![None; tokens.len()];
    let mut next = None;
    for (at, token) in tokens.iter().enumerate().rev() {
        behind[at] = next;
        let is_number = token.word.bytes().all(|byte| byte.is_ascii_digit());
        let can_be = is_noun(tokens, at, vocabulary)
            || (vocabulary.form(&token.word).is_none()
                && !traits(&token.word).has(Traits::STOPWORD)
                && !is_number);
        if can_be {
            next = Some(at);
        }
        if token.begins_clause {
            next = None;
        }
    }
    behind
}

/// Returns true if the word is a verb that is used as a noun, as in "the post".
fn is_noun(tokens: &[Token<'_>], at: usize, vocabulary: &Vocabulary) -> bool {
    let is_base = vocabulary
        .form(&tokens[at].word)
        .is_some_and(|form| !form.is_past);
    let stands_before = |back: usize| {
        let clause = &tokens[at.saturating_sub(back - 1)..=at];
        let before = at.checked_sub(back).map(|before| &tokens[before]);
        !clause.iter().any(|token| token.begins_clause)
            && before.is_some_and(|token| traits(&token.word).has(Traits::DETERMINER))
    };
    is_base && (stands_before(1) || stands_before(2))
}

/// A claim holds if its verb and its noun are both in the name of a called tool.
pub(super) fn judge<'t>(
    claims: Vec<Claim>,
    tools: impl Iterator<Item = &'t ToolName>,
    vocabulary: &Vocabulary,
) -> Vec<JudgedClaim> {
    let called = words_beside_verbs(tools, vocabulary);
    let is_called = |claim: &Claim| {
        let words = called.get(&*noun_key(&claim.verb));
        words.is_some_and(|words| claim.object.iter().all(|noun| words.contains(&**noun)))
    };
    claims
        .into_iter()
        .map(|claim| {
            let judgement = Judgement {
                verdict: if is_called(&claim) {
                    ClaimVerdict::Supported
                } else {
                    ClaimVerdict::Absent
                },
                because: format!(
                    "no tool with these words in its name was called (`{}`)",
                    claim.name
                ),
                call: None,
            };
            JudgedClaim::new(claim, judgement)
        })
        .collect()
}

/// All words of the tools' names that contain a verb, by the verb.
fn words_beside_verbs<'t>(
    tools: impl Iterator<Item = &'t ToolName>,
    vocabulary: &Vocabulary,
) -> HashMap<&'t str, HashSet<&'t str>> {
    let verbs: HashSet<String> = vocabulary
        .bases()
        .map(|verb| noun_key(verb).into_owned())
        .collect();
    let mut called: HashMap<&str, HashSet<&str>> = HashMap::default();
    for tool in tools {
        for verb in tool.keys.iter().filter(|key| verbs.contains(key.as_str())) {
            called
                .entry(verb)
                .or_default()
                .extend(tool.keys.iter().map(String::as_str));
        }
    }
    called
}
