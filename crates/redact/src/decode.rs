//! What is the content of an escaped text, and where is each part of it?

use super::scan::{Escape, escape};
use std::ops::Range;

/// A string without its escapes, with the mapping back.
pub(super) struct Decoded<T> {
    pub(super) content: T,
    escapes: Vec<Escaped>,
}

/// One escape: its end and its length in the raw text and in the content.
struct Escaped {
    raw_end: usize,
    end: usize,
    raw_length: u8,
    length: u8,
}

impl<T> Decoded<T> {
    /// Returns true if the text had any escape.
    pub(super) fn is_changed(&self) -> bool {
        !self.escapes.is_empty()
    }

    /// The place in the raw text of a part of the content. An escape that is cut in half counts whole.
    pub(super) fn raw(&self, part: &Range<usize>) -> Range<usize> {
        let last = self
            .escapes
            .partition_point(|escaped| escaped.end - usize::from(escaped.length) < part.end);
        let end = match self.escapes[..last].last() {
            Some(escaped) if part.end <= escaped.end => escaped.raw_end,
            Some(escaped) => escaped.raw_end + (part.end - escaped.end),
            None => part.end,
        };
        let next = self
            .escapes
            .partition_point(|escaped| escaped.end <= part.start);
        let before = self.escapes[..next].last();
        let plain_start = before.map_or(part.start, |escaped| {
            escaped.raw_end + (part.start - escaped.end)
        });
        let start = match self.escapes.get(next) {
            Some(escaped) if escaped.end - usize::from(escaped.length) < part.start => {
                escaped.raw_end - usize::from(escaped.raw_length)
            }
            _ => plain_start,
        };
        start..end
    }

    fn note(&mut self, raw_end: usize, raw_length: usize, end: usize, length: usize) {
        let (raw_length, length) = (raw_length as u8, length as u8);
        self.escapes.push(Escaped {
            raw_end,
            end,
            raw_length,
            length,
        });
    }
}

/// Decodes the escapes of a JSON string. Text that is not an escape is kept.
pub(super) fn json(text: &str) -> Decoded<String> {
    let mut decoded = Decoded {
        content: String::with_capacity(text.len()),
        escapes: Vec::new(),
    };
    let mut at = 0;
    while let Some(plain) = text[at..].find('\\') {
        decoded.content.push_str(&text[at..at + plain]);
        at += plain;
        let Some((escape, length)) = escape(&text.as_bytes()[at..]) else {
            decoded.content.push('\\');
            at += 1;
            continue;
        };
        let character = match escape {
            Escape::Char(character) => character,
            Escape::LoneSurrogate(_) => char::REPLACEMENT_CHARACTER,
        };
        decoded.content.push(character);
        at += length;
        let end = decoded.content.len();
        decoded.note(at, length, end, character.len_utf8());
    }
    decoded.content.push_str(&text[at..]);
    decoded
}

/// Decodes every `%2F` to its byte.
pub(super) fn percent(text: &str) -> Decoded<Vec<u8>> {
    let bytes = text.as_bytes();
    let mut decoded = Decoded {
        content: Vec::with_capacity(text.len()),
        escapes: Vec::new(),
    };
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let encoded = percent_byte(&bytes[at..]);
        decoded.content.push(encoded.unwrap_or(byte));
        at += if encoded.is_some() { 3 } else { 1 };
        if encoded.is_some() {
            let end = decoded.content.len();
            decoded.note(at, 3, end, 1);
        }
    }
    decoded
}

/// The byte that a `%2F` at the start encodes.
pub(super) fn percent_byte(bytes: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = bytes else {
        return None;
    };
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    Some((digit(high)? << 4 | digit(low)?) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back<T>(decoded: &Decoded<T>, raw: &'static str, part: Range<usize>) -> &'static str {
        &raw[decoded.raw(&part)]
    }

    #[test]
    fn every_part_of_a_json_string_is_found_again() {
        let raw = r#"a\u00e9b\"\ud83d\ude00z"#;
        let decoded = json(raw);
        assert_eq!(decoded.content, "aéb\"😀z");
        assert_eq!(back(&decoded, raw, 0..1), "a");
        assert_eq!(back(&decoded, raw, 1..3), r"\u00e9");
        assert_eq!(back(&decoded, raw, 3..4), "b");
        assert_eq!(back(&decoded, raw, 3..5), r#"b\""#);
        assert_eq!(back(&decoded, raw, 5..9), r"\ud83d\ude00");
        assert_eq!(back(&decoded, raw, 9..10), "z");
        assert_eq!(back(&decoded, raw, 0..10), raw);
    }

    #[test]
    fn half_an_escape_counts_whole() {
        let raw = r"\u00e9";
        let decoded = json(raw);
        assert_eq!(back(&decoded, raw, 1..2), raw);
        assert_eq!(back(&decoded, raw, 0..1), raw);
    }

    #[test]
    fn a_backslash_that_begins_no_escape_is_one() {
        assert_eq!(json(r"C:\dir\x\").content, r"C:\dir\x\");
        assert!(!json(r"C:\dir").is_changed());
        assert_eq!(json(r"\ud800").content, "\u{fffd}");
    }

    #[test]
    fn percent_signs_are_read_in_either_case() {
        let raw = "a%2Fb%c3%A9%zz%4";
        let decoded = percent(raw);
        assert_eq!(decoded.content, "a/bé%zz%4".as_bytes());
        assert_eq!(back(&decoded, raw, 1..2), "%2F");
        assert_eq!(back(&decoded, raw, 3..5), "%c3%A9");
        assert_eq!(back(&decoded, raw, 5..6), "%");
        assert_eq!(back(&decoded, raw, 0..3), "a%2Fb");
    }
}
