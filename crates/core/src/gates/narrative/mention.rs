//! Do the values of a call carry what a claim speaks of?

use super::claim::Claim;
use super::identifier::{Identifier, IdentifierKind};
use super::lexicon::{LEXICON, Traits, noun_key, traits};
use super::tool::{Effect, ToolName};
use crate::hashed::HashMap;

/// From this length on a number says which thing is meant.
const TELLING_ID: usize = 4;
/// The maximum number of mentions of one call to remember until its verbs are known.
const MOST_NOUNS: usize = 10_000;

/// Where a word was found.
#[derive(Debug, Default, Clone, Copy)]
struct Mention {
    /// In a call that can have done anything, by the families of the verbs next to it there.
    beside: u64,
    /// In such a call, whatever is next to it.
    anywhere: bool,
    /// In a statement of SQL.
    in_sql: bool,
    /// In what a file, a page or a record was given, by the families of the verb.
    carried: u64,
    /// In a call that makes or changes content.
    in_content: bool,
    /// The first of these calls.
    call: Option<usize>,
}

/// The words that claims ask for, and where they were found.
#[derive(Debug, Default)]
pub(super) struct Mentions {
    found: HashMap<String, Mention>,
}

impl Mentions {
    pub(super) fn asked_by(claims: &[Claim]) -> Self {
        let mut found = HashMap::default();
        for claim in claims {
            for word in claim
                .object
                .iter()
                .cloned()
                .chain(claim.ids.iter().flat_map(|id| words_of(&id.text)))
            {
                found.insert(word, Mention::default());
            }
        }
        Self { found }
    }

    /// Notes the words of a JSON text that a successful call sent or received.
    pub(super) fn read(&mut self, call: usize, tool: &ToolName, effect: Effect, json: &str) {
        if self.found.is_empty() {
            return;
        }
        let verb = tool.verb.as_deref().unwrap_or_default();
        let is_carrier = tool
            .head
            .as_ref()
            .is_some_and(|head| traits(head).has(Traits::CARRIER));
        let here = Mention {
            beside: 0,
            anywhere: effect == Effect::Anything,
            in_sql: effect == Effect::Sql,
            carried: if is_carrier {
                LEXICON.families(verb)
            } else {
                0
            },
            in_content: effect == Effect::Write && LEXICON.is_content(verb),
            call: Some(call),
        };
        if !here.anywhere && !here.in_sql && here.carried == 0 && !here.in_content {
            return;
        }
        let (mut nouns, mut verbs) = (Vec::new(), 0);
        each_word(json, |word| {
            if let Some(found) = self.found.get_mut(word) {
                if here.anywhere
                    && nouns.last().is_none_or(|last: &String| last != word)
                    && nouns.len() < MOST_NOUNS
                {
                    nouns.push(word.to_owned());
                }
                found.anywhere |= here.anywhere;
                found.in_sql |= here.in_sql;
                found.carried |= here.carried;
                found.in_content |= here.in_content;
                found.call = found.call.or(here
                    .call
                    .filter(|_| here.anywhere || here.in_sql || here.carried != 0));
            } else if here.anywhere {
                verbs |= LEXICON.families_in_code(word);
            }
        });
        for noun in nouns {
            if let Some(found) = self.found.get_mut(&noun) {
                found.beside |= verbs;
            }
        }
    }

    fn all(&self, id: &str, holds: impl Fn(&Mention) -> bool) -> bool {
        let words = words_of(id);
        !words.is_empty()
            && words
                .iter()
                .all(|word| self.found.get(word).is_some_and(&holds))
    }

    /// Returns true if the claim names a file that a call received which makes content.
    pub(super) fn has_file(&self, claim: &Claim) -> bool {
        let is_file = |id: &&Identifier| id.kind == IdentifierKind::File;
        LEXICON.is_content(&claim.verb)
            && claim
                .ids
                .iter()
                .filter(is_file)
                .any(|id| self.all(&id.text, |found| found.in_content))
    }

    /// The call that may have done the claimed change: one that can do anything and mentions it, or, with `fills`,
    /// one that fills a container with it.
    pub(super) fn could_have(&self, claim: &Claim, fills: bool) -> Option<usize> {
        let families = if fills && LEXICON.is_content(&claim.verb) {
            LEXICON.families(&claim.verb)
        } else {
            0
        };
        let said = LEXICON.families(&claim.verb);
        let fits_sql = LEXICON.fits_sql(&claim.verb);
        let holds = |found: &Mention| (fits_sql && found.in_sql) || found.carried & families != 0;
        let acts = |found: &&Mention| holds(found) || found.beside & said != 0;
        let by_noun = claim
            .object
            .iter()
            .filter_map(|noun| self.found.get(noun))
            .find(acts);
        let texts = || claim.ids.iter().map(|id| &id.text);
        let is_telling = |id: &&String| id.len() >= TELLING_ID || id.contains(char::is_alphabetic);
        let is_there = |id: &&String| self.all(id, |found| holds(found) || found.anywhere);
        let by_id = || texts().filter(is_telling).find(is_there);
        let of_id = || {
            words_of(by_id()?)
                .first()
                .and_then(|word| self.found.get(word))
        };
        // A script that sends to an address has it.
        let mut addresses = claim
            .ids
            .iter()
            .filter(|id| id.kind == IdentifierKind::Address)
            .map(|id| self.all(&id.text, |found| holds(found) || found.anywhere))
            .peekable();
        let sends_elsewhere = addresses.peek().is_some() && !addresses.any(|is_there| is_there);
        by_noun.filter(|_| !sends_elsewhere).or_else(of_id)?.call
    }
}

pub(super) fn words_of(id: &str) -> Vec<String> {
    let words = id
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words
        .map(|word| noun_key(&word.to_lowercase()).into_owned())
        .collect()
}

/// Passes every word of a JSON text to `take`, in the form in which nouns are compared. Escapes are skipped.
pub(super) fn each_word(json: &str, mut take: impl FnMut(&str)) {
    each_plain_part(json, |plain| {
        for word in plain
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
        {
            take_word(word, &mut take);
        }
    });
}

/// Every part of a JSON text between escapes.
pub(super) fn each_plain_part(json: &str, mut take: impl FnMut(&str)) {
    let mut rest = json;
    loop {
        let (plain, escaped) = rest
            .split_once('\\')
            .map_or((rest, None), |(a, b)| (a, Some(b)));
        take(plain);
        let Some(escaped) = escaped else { return };
        let escape = if escaped.starts_with('u') { 5 } else { 1 };
        rest = escaped
            .char_indices()
            .nth(escape)
            .map_or("", |(at, _)| &escaped[at..]);
    }
}

fn take_word(word: &str, take: &mut impl FnMut(&str)) {
    if word
        .bytes()
        .any(|byte| byte.is_ascii_uppercase() || byte >= 0x80)
    {
        take(&noun_key(&word.to_lowercase()));
    } else {
        take(&noun_key(word));
    }
}
