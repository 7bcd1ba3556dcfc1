//! Where in a string is a secret, in words that can be shown?

use super::Redactor;
use super::place::pointers_at;
use super::span::{Edit, apply};
use super::structure::Depth;

/// The number of characters to show on either side.
const CONTEXT: usize = 30;

/// A secret in a string, described without revealing it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// The name that its placeholder would have.
    pub what: String,
    /// The byte of its start, from 0.
    pub at: usize,
    /// The JSON Pointer of the value that contains it. For a secret in a key, the pointer of the object. `None` if
    /// the text is not JSON.
    pub pointer: Option<String>,
    /// The text around it, with placeholders for this secret and its neighbours.
    pub excerpt: String,
}

impl Redactor {
    /// The secrets in a string or JSON text, in order; empty for a redacted one.
    pub fn sightings(&self, text: &str) -> Vec<Sighting> {
        let edits = self.scan(text, Depth::default(), false);
        if edits.is_empty() {
            return Vec::new();
        }
        let is_json = matches!(text.trim_start().as_bytes().first(), Some(b'{' | b'['))
            && self.structured(text, Depth::default(), false).is_some();
        let starts: Vec<usize> = edits.iter().map(|edit| edit.at.start).collect();
        let mut pointers = if is_json {
            pointers_at(text, &starts)
        } else {
            Vec::new()
        }
        .into_iter();
        let clean = apply(text, &edits);
        // What a replacement reveals stands right beside it.
        let context = if self.scan(&clean, Depth::default(), false).is_empty() {
            CONTEXT
        } else {
            0
        };
        let mut grown = 0_isize;
        let sighting = |edit: &Edit<'_>| {
            let start = edit.at.start.saturating_add_signed(grown);
            grown += edit.with.len().cast_signed() - edit.at.len().cast_signed();
            Sighting {
                what: edit.what.to_owned(),
                at: edit.at.start,
                pointer: pointers
                    .next()
                    .map(|pointer| self.text(&pointer).into_owned()),
                excerpt: excerpt(&clean, start, start + edit.with.len(), context),
            }
        };
        edits.iter().map(sighting).collect()
    }
}

fn excerpt(text: &str, start: usize, end: usize, context: usize) -> String {
    let from = text[..start]
        .char_indices()
        .rev()
        .take(context)
        .last()
        .map_or(start, |(at, _)| at);
    let to = text[end..]
        .char_indices()
        .nth(context)
        .map_or(text.len(), |(at, _)| end + at);
    let to = if context == 0 { end } else { to };
    let before = if from == 0 { "" } else { "…" };
    let after = if to == text.len() { "" } else { "…" };
    format!("{before}{}{after}", &text[from..to])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor() -> Redactor {
        Redactor::builder()
            .value("API_KEY", "planted-value")
            .named_pattern("card", "4[0-9]{15}")
            .build()
            .unwrap()
    }

    #[test]
    fn a_secret_is_told_by_its_kind_and_place_and_never_shown() {
        let text = r#"{"run":1,"trace":{"tool_results":[{"content":[{"text":"the key is planted-value, keep it"}],"structured":{"card":4111111111111111,"password":"hunter2"}}]}}"#;
        let seen = redactor().sightings(text);
        let places: Vec<_> = seen
            .iter()
            .map(|one| (&*one.what, one.pointer.as_deref().unwrap()))
            .collect();
        assert_eq!(
            places,
            [
                ("API_KEY", "/trace/tool_results/0/content/0/text"),
                ("card", "/trace/tool_results/0/structured/card"),
                ("password", "/trace/tool_results/0/structured/password"),
            ]
        );
        assert_eq!(
            seen[0].excerpt,
            "…content\":[{\"text\":\"the key is [redacted:API_KEY], keep it\"}],\"structured\":{\"ca…"
        );
        for one in seen {
            for secret in ["planted-value", "hunter2", "4111111111111111"] {
                assert!(!format!("{one:?}").contains(secret), "{one:?}");
            }
        }
    }

    #[test]
    fn a_secret_in_a_key_is_in_neither_the_pointer_nor_the_excerpt() {
        let seen = redactor().sightings(r#"{"a":{"planted-value":{"token":"abc"}}}"#);
        assert_eq!(seen[0].pointer.as_deref(), Some("/a"));
        assert_eq!(
            seen[1].pointer.as_deref(),
            Some("/a/[redacted:API_KEY]/token")
        );
        assert!(!format!("{seen:?}").contains("planted-value"));
    }

    #[test]
    fn prose_has_no_pointer_and_a_redacted_text_no_sighting() {
        let text = "GET /?token=abc HTTP";
        assert_eq!(redactor().sightings(text)[0].pointer, None);
        assert_eq!(redactor().sightings(&redactor().text(text)), []);
    }
}
