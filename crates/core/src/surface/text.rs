//! Does a text of a tool hide something, or speak to the model of anything but the tool?

use super::look::Look;
use super::rules::Spots;
use crate::escape::is_hidden;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

pub(super) fn is_hidden_in(look: &Look<'_>, _: &[Look<'_>]) -> Spots {
    let hidden = |text: &str| -> BTreeSet<String> {
        let characters: Vec<char> = text.chars().collect();
        let is_one =
            |at: &usize| is_hidden(characters[*at]) || is_joiner_in_latin(&characters, *at);
        (0..characters.len())
            .filter(is_one)
            .map(|at| format!("U+{:04X}", u32::from(characters[at])))
            .collect()
    };
    let found = look
        .texts
        .iter()
        .map(|(place, text)| (place, hidden(text)))
        .filter(|(_, found)| !found.is_empty());
    let say = |found: BTreeSet<String>| {
        format!(
            "it has hidden characters: {}",
            found.into_iter().collect::<Vec<_>>().join(", ")
        )
    };
    found
        .map(|(place, found)| (place.clone(), say(found)))
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

/// What a text may not say, and what it does by it.
type Phrases = &'static [(&'static str, &'static str)];

const INSTRUCTIONS: Phrases = &[
    (
        r"(?i)\b(?:ignore|disregard|forget)\b (?:\w+ ){0,3}(?:previous|prior|above|earlier|preceding|other|system|your)\b (?:\w+ ){0,2}(?:instructions?|prompts?|guidelines?|directions?)\b",
        "it tells the model to set its instructions aside",
    ),
    (
        r"(?i)\b(?:do not|don't|never|must not|should not) (?:tell|inform|notify|alert) the user(?: (?:about|that|of|what|this|you)\b|\s*[.!,;]|$)",
        "it tells the model to keep something from the user",
    ),
    (
        r"(?i)\b(?:do not|don't|never|must not|should not) (?:mention|reveal|disclose) (?:this|that|it|these|any of this)\b",
        "it tells the model to keep something from the user",
    ),
    (
        r"(?i)\bwithout (?:the user'?s? (?:knowledge|knowing)|(?:telling|informing|notifying|alerting) the user)\b|\b(?:hide|conceal) (?:this|it|these|the \w+) from the user\b",
        "it tells the model to keep something from the user",
    ),
    (
        r"(?i)</?(?:system|important|secret|hidden|admin)>|\[/?INST\]|<\|(?:im_start|im_end|system|user|assistant)\|>|<<SYS>>",
        "it has the marks of another speaker",
    ),
    (
        r"(?i)\b(?:must|first|always|before|please|need to|should)\b[^.]{0,80}\b(?:read|open|cat|load|send|pass|include|attach|provide|upload|append|copy)\b[^.]{0,80}(?:~/\.ssh|\bid_rsa\b|/etc/(?:passwd|shadow)|~/\.aws|\bmcp\.json)",
        "it asks for a file with secrets",
    ),
    (
        r"(?i)\byour (?:new|real|true|actual) (?:task|instructions?|goal|purpose|role) (?:is|are)\b",
        "it gives the model another task",
    ),
];

const OF_OTHERS: Phrases = &[
    (
        r"(?i)\b(?:before|after|when|whenever|while|instead of)\b (?:you )?(?:\w+ )?(?:use|using|call|calling|invoke|invoking|run|running) (?:any|every|all|another|other)\b (?:\w+ )?tools?\b",
        "it says what to do when other tools are called",
    ),
    (
        r"(?i)\b(?:do not|don't|never) (?:use|call|invoke) (?:any |the )?other tools?\b",
        "it forbids other tools",
    ),
];

fn compiled(phrases: Phrases) -> Vec<(Regex, &'static str)> {
    phrases
        .iter()
        .filter_map(|(pattern, what)| Some((Regex::new(pattern).ok()?, *what)))
        .collect()
}

/// On one line and without what is hidden, so that neither breaks a phrase.
fn plain(text: &str) -> String {
    let shown: String = text
        .chars()
        .filter(|c| c.is_whitespace() || !is_hidden(*c))
        .collect();
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn said(look: &Look<'_>, phrases: &[(Regex, &'static str)]) -> Spots {
    let in_text = |(place, text): &(String, &str)| {
        let text = plain(text);
        let found = phrases
            .iter()
            .find_map(|(phrase, what)| Some((phrase.find(&text)?.as_str().to_owned(), what)));
        found.map(|(words, what)| (place.clone(), format!("{what}: {words:?}")))
    };
    look.texts.iter().filter_map(in_text).collect()
}

pub(super) fn is_instruction(look: &Look<'_>, _: &[Look<'_>]) -> Spots {
    static COMPILED: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| compiled(INSTRUCTIONS));
    said(look, &COMPILED)
}

pub(super) fn is_of_other_tools(look: &Look<'_>, _: &[Look<'_>]) -> Spots {
    static COMPILED: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| compiled(OF_OTHERS));
    static NAMED: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\b([a-z][a-z0-9]*(?:_[a-z0-9]+)+)[`'\x22]? tool\b").ok());
    let mut spots = said(look, &COMPILED);
    for (place, text) in &look.texts {
        let named = NAMED
            .iter()
            .flat_map(|named| named.captures_iter(text))
            .filter_map(|found| found.get(1));
        let unknown = named
            .map(|name| name.as_str())
            .find(|name| !look.own.contains(name) && !look.foreign.contains(name));
        spots.extend(unknown.map(|name| {
            (
                place.clone(),
                format!("it speaks of a tool `{name}` that its server does not have"),
            )
        }));
    }
    spots
}

/// Names of one word are plain words too often.
pub(super) fn is_of_another_server(look: &Look<'_>, _: &[Look<'_>]) -> Spots {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let in_text = |(place, text): &(String, &str)| {
        let mut named = text
            .split(|c| !is_word(c))
            .filter(|word| word.contains(['_', '-']));
        let name = named.find(|word| look.foreign.contains(word))?;
        Some((
            place.clone(),
            format!("it speaks of `{name}`, a tool of another server"),
        ))
    };
    look.texts
        .iter()
        .filter(|(place, _)| place != "/name")
        .filter_map(in_text)
        .collect()
}
