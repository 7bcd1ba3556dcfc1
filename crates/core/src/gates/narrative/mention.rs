//! Do the values of a call carry what a claim speaks of?

use super::claim::Claim;
use super::identifier::{Identifier, IdentifierKind};
use super::lexicon::{LEXICON, Traits, noun_key, traits};
use super::tool::{Effect, ToolName};
use crate::hashed::HashMap;

/// The length from which a number identifies a thing.
const TELLING_ID: usize = 4;
/// The maximum number of mentions of one call to remember until its verbs are known.
const MOST_NOUNS: usize = 10_000;

/// The place of a word.
#[derive(Debug, Default, Clone, Copy)]
struct Mention {
    /// In a call that can have done anything, by the families of the adjacent verbs.
    beside: u64,
    /// In such a call, next to any word.
    anywhere: bool,
    /// In a statement of SQL.
    in_sql: bool,
    /// In the content of a file, page or record, by the families of the verb.
    carried: u64,
    /// In a call that makes or changes content.
    in_content: bool,
    /// The first of these calls.
    call: Option<usize>,
}

impl Mention {
    /// The mention of any word of a successful call.
    fn in_call(call: usize, tool: &ToolName, effect: Effect) -> Self {
        let verb = tool.verb.as_deref().unwrap_or_default();
        let is_carrier = tool
            .head
            .as_ref()
            .is_some_and(|head| traits(head).has(Traits::CARRIER));
        Self {
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
        }
    }

    fn is_anywhere(&self) -> bool {
        self.may_support() || self.in_content
    }

    /// Returns true if the call may have done the claimed action to the word.
    fn may_support(&self) -> bool {
        self.anywhere || self.in_sql || self.carried != 0
    }

    fn add(&mut self, here: Self) {
        self.anywhere |= here.anywhere;
        self.in_sql |= here.in_sql;
        self.carried |= here.carried;
        self.in_content |= here.in_content;
        if here.may_support() {
            self.call = self.call.or(here.call);
        }
    }
}

/// The words in claims, and the calls that contain them.
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
        let here = Mention::in_call(call, tool, effect);
        if self.found.is_empty() || !here.is_anywhere() {
            return;
        }
        if !here.anywhere {
            each_word(json, |word| {
                if let Some(found) = self.found.get_mut(word) {
                    found.add(here);
                }
            });
            return;
        }
        let mut nouns: Vec<String> = Vec::new();
        let mut verbs = 0;
        each_word(json, |word| {
            let Some(found) = self.found.get_mut(word) else {
                verbs |= LEXICON.families_in_code(word);
                return;
            };
            found.add(here);
            if nouns.last().is_none_or(|last| last != word) && nouns.len() < MOST_NOUNS {
                nouns.push(word.to_owned());
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

    /// Returns true if the claim names a file that a content-producing call received.
    pub(super) fn has_file(&self, claim: &Claim) -> bool {
        let is_file = |id: &&Identifier| id.kind == IdentifierKind::File;
        LEXICON.is_content(&claim.verb)
            && claim
                .ids
                .iter()
                .filter(is_file)
                .any(|id| self.all(&id.text, |found| found.in_content))
    }

    /// The call that may have made the claimed change: one that can do anything and mentions the
    /// object, or, with `fills`, one that fills a container with it.
    pub(super) fn could_have(&self, claim: &Claim, fills: bool) -> Option<usize> {
        let families = LEXICON.families(&claim.verb);
        let filled = if fills && LEXICON.is_content(&claim.verb) {
            families
        } else {
            0
        };
        let fits_sql = LEXICON.fits_sql(&claim.verb);
        let holds = |found: &Mention| (fits_sql && found.in_sql) || found.carried & filled != 0;
        let is_there = |id: &str| self.all(id, |found| holds(found) || found.anywhere);
        let by_noun = claim
            .object
            .iter()
            .filter_map(|noun| self.found.get(noun))
            .find(|found| holds(found) || found.beside & families != 0);
        if let Some(found) = by_noun.filter(|_| !sends_elsewhere(claim, is_there)) {
            return found.call;
        }
        let id = claim
            .ids
            .iter()
            .map(|id| id.text.as_str())
            .filter(|id| id.len() >= TELLING_ID || id.contains(char::is_alphabetic))
            .find(|id| is_there(id))?;
        self.found.get(words_of(id).first()?)?.call
    }
}

/// Returns true if a claim names addresses and the call has none of them: a script that sends to an
/// address contains it.
fn sends_elsewhere(claim: &Claim, is_there: impl Fn(&str) -> bool) -> bool {
    let mut addresses = claim
        .ids
        .iter()
        .filter(|id| id.kind == IdentifierKind::Address)
        .peekable();
    addresses.peek().is_some() && !addresses.any(|id| is_there(&id.text))
}

pub(super) fn words_of(id: &str) -> Vec<String> {
    let words = id
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words
        .map(|word| noun_key(&word.to_lowercase()).into_owned())
        .collect()
}

/// Passes every word of a JSON text to `visit`, in the form for comparing nouns. Escapes are
/// skipped.
pub(super) fn each_word(json: &str, mut visit: impl FnMut(&str)) {
    each_plain_part(json, |plain| {
        for word in plain
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
        {
            visit_word(word, &mut visit);
        }
    });
}

/// Every part of a JSON text between escapes.
pub(super) fn each_plain_part(json: &str, mut visit: impl FnMut(&str)) {
    let mut rest = json;
    loop {
        let (plain, escaped) = rest
            .split_once('\\')
            .map_or((rest, None), |(a, b)| (a, Some(b)));
        visit(plain);
        let Some(escaped) = escaped else { return };
        let escape = if escaped.starts_with('u') { 5 } else { 1 };
        rest = escaped
            .char_indices()
            .nth(escape)
            .map_or("", |(at, _)| &escaped[at..]);
    }
}

fn visit_word(word: &str, visit: &mut impl FnMut(&str)) {
    if word
        .bytes()
        .any(|byte| byte.is_ascii_uppercase() || byte >= 0x80)
    {
        visit(&noun_key(&word.to_lowercase()));
    } else {
        visit(&noun_key(word));
    }
}
