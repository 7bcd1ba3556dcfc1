//! Which values does a recording have under secret names, so that they are also found without their
//! names?
//!
//! In `{"api_key": "kk-7654321"}`, the name identifies the secret. An explanation may show the
//! value alone, or under another name.

use super::builder::Builder;
use super::decode;
use super::keys::KEYS;
use super::{Redactor, forms};
use regex::escape;
use std::collections::{BTreeMap, BTreeSet};

/// Shorter values are found under their names only: they would be found in every text.
const SHORTEST: usize = 4;
/// Shorter numbers are found under their names only: they would be found among the counts of every report.
const SHORTEST_NUMBER: usize = 6;
/// Shorter words are found under their names only: they would garble every sentence.
const SHORTEST_WORD: usize = 16;
/// The number of short values that one pattern searches for.
const MOST_IN_A_PATTERN: usize = 200;

/// The values under secret names in recordings, each with the name of its placeholder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedSecrets {
    values: BTreeSet<(String, String)>,
}

impl NamedSecrets {
    /// Returns true if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

impl Redactor {
    /// Adds the values under secret names in a JSON text.
    pub fn collect_named(&self, text: &str, into: &mut NamedSecrets) {
        for (name, at) in self.find(text) {
            if !KEYS.iter().any(|rule| rule.name == name) {
                continue;
            }
            let raw = &text[at];
            // A string of JSON in a string of JSON has its escapes escaped.
            let once = decode::json(raw).content;
            let twice = decode::json(&once).content;
            for value in [raw, &once, &twice] {
                if is_telling(value) {
                    into.values.insert((name.clone(), value.to_owned()));
                }
            }
        }
    }
}

impl Builder {
    /// Adds values from under secret names: a long value is found in every form, a short value as a whole word.
    pub fn named_secrets(mut self, secrets: &NamedSecrets) -> Self {
        let mut short: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, value) in &secrets.values {
            if forms::is_secret_value(value) {
                self = self.value(name, value);
            } else {
                short.entry(name).or_default().push(value);
            }
        }
        for (name, values) in short {
            for some in values.chunks(MOST_IN_A_PATTERN) {
                let any: Vec<String> = some.iter().map(|value| escape(value)).collect();
                let group = name.replace('-', "_");
                let pattern = format!(
                    r"(?:^|[^\pL\pN])(?<{group}>{})(?:$|[^\pL\pN])",
                    any.join("|")
                );
                self = self.named_pattern(name, &pattern);
            }
        }
        self
    }
}

/// Returns true if a search for a value finds no other text by mistake.
fn is_telling(value: &str) -> bool {
    let length = value.chars().count();
    let is_number = value.parse::<f64>().is_ok();
    let is_word = value
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'-' | b'.' | b' '));
    let shortest = match (is_number, is_word) {
        (true, _) => SHORTEST_NUMBER,
        (_, true) => SHORTEST_WORD,
        _ => SHORTEST,
    };
    length >= shortest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor(recorded: &str) -> Redactor {
        let mut secrets = NamedSecrets::default();
        let bare = Redactor::builder().build().unwrap();
        bare.collect_named(recorded, &mut secrets);
        Redactor::builder().named_secrets(&secrets).build().unwrap()
    }

    #[test]
    fn what_stood_under_a_secret_name_is_found_without_it() {
        let recorded = r#"{"args":{"api_key":"kk-7654321","nested":{"client_secret":"s\"1122"},"passcode":471108,
            "password":"hunter2","body":"{\"password\":\"pass\\\\word-9\"}","cookies":["a=b; c"]}}"#;
        let redactor = redactor(recorded);
        for (text, shown) in [
            ("note: \"kk-7654321\"", "note: \"[redacted:api-key]\""),
            ("kk-76543… is long", "[redacted:api-key]… is long"),
            ("the secret s\"1122.", "the secret [redacted:secret]."),
            (
                "code 471108, twice 471108",
                "code [redacted:password], twice [redacted:password]",
            ),
            ("(hunter2)", "([redacted:password])"),
            (r"it is pass\word-9", "it is [redacted:password]"),
            ("sent a=b; c", "sent [redacted:cookie]"),
            ("hunter20 and 4711080 stay", "hunter20 and 4711080 stay"),
        ] {
            assert_eq!(redactor.text(text), shown);
        }
    }

    #[test]
    fn words_counts_and_placeholders_are_not_searched_for() {
        for recorded in [
            r#"{"password":"required","token":"none","api_key":"[redacted:api-key]","cookie":"","passcode":1234}"#,
            r#"{"tokens":"kk-7654321","note":"no secret here"}"#,
        ] {
            let mut secrets = NamedSecrets::default();
            let bare = Redactor::builder().build().unwrap();
            bare.collect_named(recorded, &mut secrets);
            assert!(secrets.is_empty(), "{secrets:?}");
        }
    }
}
