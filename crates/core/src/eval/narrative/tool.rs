//! What does a tool's name say that the tool does?

use super::claim::Claim;
use super::token::{Token, name_parts};
use super::verbs::Vocabulary;
use super::words::{noun_key, singular};
use std::collections::{HashMap, HashSet};

const SALIENT_LENGTH: usize = 3;

/// Whether a name has one of the verbs, uninflected, as a whole word.
pub(super) fn names_a_verb(name: &str, vocabulary: &Vocabulary) -> bool {
    name_parts(name).iter().any(|part| vocabulary.is_base(part))
}

/// The words of a tool's name.
#[derive(Debug)]
pub(super) struct ToolName {
    /// As they are compared.
    keys: Vec<String>,
    /// Those that a text must have to mention the tool, as they are read and as they are compared.
    salient: Vec<(String, String)>,
}

impl ToolName {
    pub(super) fn of(name: &str) -> Self {
        let parts = name_parts(name);
        let keyed = |part: &String| (singular(part).to_owned(), noun_key(part).into_owned());
        Self {
            keys: parts.iter().map(|part| noun_key(part).into_owned()).collect(),
            salient: parts
                .iter()
                .map(keyed)
                .filter(|(word, _)| word.chars().count() >= SALIENT_LENGTH)
                .collect(),
        }
    }

    /// The salient words that a text does not have.
    pub(super) fn missing_from(&self, words: &Words) -> Vec<&str> {
        let is_missing = |(_, key): &&(String, String)| !words.0.contains(key.as_str());
        self.salient.iter().filter(is_missing).map(|(word, _)| word.as_str()).collect()
    }

    /// Whether verb and object of a claim are both in the name, in whatever form the verb stands there.
    pub(super) fn covers(&self, claim: &Claim, vocabulary: &Vocabulary) -> bool {
        let is_verb = |key: &String| {
            *key == *noun_key(&claim.verb)
                || vocabulary.form(key).is_some_and(|form| vocabulary.base(form) == claim.verb)
        };
        self.keys.iter().any(is_verb) && self.keys.contains(&claim.object)
    }
}

/// The words that occur in a text, as they are compared: as written, with verbs uninflected and camelCase words whole.
#[derive(Debug)]
pub(super) struct Words(HashSet<String>);

impl Words {
    pub(super) fn of(text: &str, tokens: &[Token<'_>], vocabulary: &Vocabulary) -> Self {
        let mut words = HashSet::new();
        let mut add = |key: &str| {
            if !words.contains(key) {
                words.insert(key.to_owned());
            }
        };
        for token in tokens {
            add(&noun_key(&token.word));
            if let Some(form) = token.form {
                add(&noun_key(vocabulary.base(form)));
            }
            if let Some(whole) = &token.whole {
                add(&noun_key(&text[whole.clone()].to_lowercase()));
            }
        }
        Self(words)
    }
}

/// The first call for each verb and object that the tools of a run have in their names.
#[derive(Debug, Default)]
pub(super) struct Actions<'n> {
    by_verb: HashMap<&'n str, HashMap<&'n str, usize>>,
}

impl<'n> Actions<'n> {
    /// Adds the tool of a call.
    pub(super) fn add(&mut self, tool: &'n ToolName, call: usize, verb_keys: &HashSet<String>) {
        for verb in tool.keys.iter().filter(|key| verb_keys.contains(*key)) {
            let objects = self.by_verb.entry(verb).or_default();
            for object in &tool.keys {
                objects.entry(object).or_insert(call);
            }
        }
    }

    /// The first call that a claim or denial speaks of.
    pub(super) fn find(&self, claim: &Claim) -> Option<usize> {
        let objects = self.by_verb.get(&*noun_key(&claim.verb))?;
        if claim.any_object {
            objects.values().min().copied()
        } else {
            objects.get(claim.object.as_str()).copied()
        }
    }
}
