//! Does a text of a tool hide something, or speak to the model of anything but the tool?

use super::look::{Look, PlacedText};
use super::rules::Spot;
use mcptest_core::escape::is_hidden;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

pub(super) fn is_hidden_in(look: &Look<'_>, _: &[Look<'_>]) -> Vec<Spot> {
    let mut spots = Vec::new();
    for PlacedText { place, text } in &look.texts {
        let hidden: Vec<String> = hidden_characters(text).into_iter().collect();
        if !hidden.is_empty() {
            let what = format!("it contains hidden characters: {}", hidden.join(", "));
            spots.push(Spot::new(place.clone(), what));
        }
    }
    spots
}

/// The characters, each once, as `U+200B`.
fn hidden_characters(text: &str) -> BTreeSet<String> {
    let characters: Vec<char> = text.chars().collect();
    characters
        .iter()
        .enumerate()
        .filter(|(at, character)| is_hidden(**character) || is_joiner_in_latin(&characters, *at))
        .map(|(_, character)| format!("U+{:04X}", u32::from(*character)))
        .collect()
}

/// Joiners have their place in emoji and in scripts that join; between plain letters they only hide.
fn is_joiner_in_latin(characters: &[char], at: usize) -> bool {
    let is_plain = |at: Option<usize>| {
        at.and_then(|at| characters.get(at))
            .is_none_or(char::is_ascii)
    };
    matches!(characters[at], '\u{200c}' | '\u{200d}')
        && is_plain(at.checked_sub(1))
        && is_plain(Some(at + 1))
}

/// A phrase that texts must not contain.
struct Phrase {
    pattern: &'static str,
    /// A text with the phrase does this.
    what: &'static str,
}

type Phrases = &'static [Phrase];

const INSTRUCTIONS: Phrases = &[
    Phrase {
        pattern: r"(?i)\b(?:ignore|disregard|forget)\b (?:\w+ ){0,3}(?:previous|prior|above|earlier|preceding|other|system|your)\b (?:\w+ ){0,2}(?:instructions?|prompts?|guidelines?|directions?)\b",
        what: "it tells the model to ignore its instructions",
    },
    Phrase {
        pattern: r"(?i)\b(?:do not|don't|never|must not|should not) (?:tell|inform|notify|alert) the user(?: (?:about|that|of|what|this|you)\b|\s*[.!,;]|$)",
        what: "it tells the model to hide something from the user",
    },
    Phrase {
        pattern: r"(?i)\b(?:do not|don't|never|must not|should not) (?:mention|reveal|disclose) (?:this|that|it|these|any of this)\b",
        what: "it tells the model to hide something from the user",
    },
    Phrase {
        pattern: r"(?i)\bwithout (?:the user'?s? (?:knowledge|knowing)|(?:telling|informing|notifying|alerting) the user)\b|\b(?:hide|conceal) (?:this|it|these|the \w+) from the user\b",
        what: "it tells the model to hide something from the user",
    },
    Phrase {
        pattern: r"(?i)</?(?:system|important|secret|hidden|admin)>|\[/?INST\]|<\|(?:im_start|im_end|system|user|assistant)\|>|<<SYS>>",
        what: "it contains the marks of another speaker",
    },
    Phrase {
        pattern: r"(?i)\b(?:must|first|always|before|please|need to|should)\b[^.]{0,80}\b(?:read|open|cat|load|send|pass|include|attach|provide|upload|append|copy)\b[^.]{0,80}(?:~/\.ssh|\bid_rsa\b|/etc/(?:passwd|shadow)|~/\.aws|\bmcp\.json)",
        what: "it asks for a file with secrets",
    },
    Phrase {
        pattern: r"(?i)\byour (?:new|real|true|actual) (?:task|instructions?|goal|purpose|role) (?:is|are)\b",
        what: "it gives the model a different task",
    },
];

const OF_OTHERS: Phrases = &[
    Phrase {
        pattern: r"(?i)\b(?:before|after|when|whenever|while|instead of)\b (?:you )?(?:\w+ )?(?:use|using|call|calling|invoke|invoking|run|running) (?:any|every|all|another|other)\b (?:\w+ )?tools?\b",
        what: "it gives instructions for calls to other tools",
    },
    Phrase {
        pattern: r"(?i)\b(?:do not|don't|never) (?:use|call|invoke) (?:any |the )?other tools?\b",
        what: "it forbids other tools",
    },
];

struct CompiledPhrase {
    pattern: Regex,
    what: &'static str,
}

fn compile(phrases: Phrases) -> Vec<CompiledPhrase> {
    phrases
        .iter()
        .filter_map(|phrase| {
            Some(CompiledPhrase {
                pattern: Regex::new(phrase.pattern).ok()?,
                what: phrase.what,
            })
        })
        .collect()
}

/// The text on one line and without hidden characters, so that neither breaks a phrase.
fn plain(text: &str) -> String {
    let shown: String = text
        .chars()
        .filter(|c| c.is_whitespace() || !is_hidden(*c))
        .collect();
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first of these phrases in each text.
fn find_phrases(look: &Look<'_>, phrases: &[CompiledPhrase]) -> Vec<Spot> {
    let mut spots = Vec::new();
    for PlacedText { place, text } in &look.texts {
        let text = plain(text);
        let found = phrases
            .iter()
            .find_map(|phrase| Some((phrase.pattern.find(&text)?.as_str(), phrase.what)));
        if let Some((words, what)) = found {
            spots.push(Spot::new(place.clone(), format!("{what}: {words:?}")));
        }
    }
    spots
}

pub(super) fn is_instruction(look: &Look<'_>, _: &[Look<'_>]) -> Vec<Spot> {
    static COMPILED: LazyLock<Vec<CompiledPhrase>> = LazyLock::new(|| compile(INSTRUCTIONS));
    find_phrases(look, &COMPILED)
}

pub(super) fn is_of_other_tools(look: &Look<'_>, _: &[Look<'_>]) -> Vec<Spot> {
    static COMPILED: LazyLock<Vec<CompiledPhrase>> = LazyLock::new(|| compile(OF_OTHERS));
    let mut spots = find_phrases(look, &COMPILED);
    for PlacedText { place, text } in &look.texts {
        if let Some(name) = unknown_tool(look, text) {
            let what = format!("it names a tool `{name}` that its server does not have");
            spots.push(Spot::new(place.clone(), what));
        }
    }
    spots
}

/// The first tool name in a text that no server here has.
fn unknown_tool<'t>(look: &Look<'_>, text: &'t str) -> Option<&'t str> {
    static NAMED: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\b([a-z][a-z0-9]*(?:_[a-z0-9]+)+)[`'\x22]? tool\b").ok());
    NAMED
        .as_ref()?
        .captures_iter(text)
        .filter_map(|found| Some(found.get(1)?.as_str()))
        .find(|name| !look.own.contains(name) && !look.foreign.contains(name))
}

/// Finds names of tools of other servers. Names of one word are skipped: they are too often plain
/// words.
pub(super) fn is_of_another_server(look: &Look<'_>, _: &[Look<'_>]) -> Vec<Spot> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let mut spots = Vec::new();
    for PlacedText { place, text } in &look.texts {
        if place == "/name" {
            continue;
        }
        let mut words = text
            .split(|c| !is_word(c))
            .filter(|word| word.contains(['_', '-']));
        if let Some(name) = words.find(|word| look.foreign.contains(word)) {
            let what = format!("it names `{name}`, a tool of another server");
            spots.push(Spot::new(place.clone(), what));
        }
    }
    spots
}
