//! Does this text have problems that a reader which skips values would miss?

use super::number::Canonical;
use mcptest_redact::scan::{Escape, escape, number_length, plain_prefix};
use thiserror::Error;

/// The maximum number of open lists and objects, as in `serde_json`.
pub const MAX_DEPTH: usize = 127;

/// The first part of a JSON text that would fail when its values are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{fault} at byte {offset}")]
pub struct JsonProblem {
    /// The byte of the problem, from 0.
    pub offset: usize,
    /// The problem.
    pub fault: JsonFault,
}

/// A problem of a JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum JsonFault {
    /// Deeper nesting than the limit.
    #[error("lists and objects are nested more than {MAX_DEPTH} deep")]
    TooDeep,
    /// Half of a surrogate pair, which is not a character.
    #[error("a \\u escape is half of a surrogate pair")]
    LoneSurrogate,
    /// A backslash that begins no escape.
    #[error("a backslash is not followed by a valid escape")]
    InvalidEscape,
    /// A control character that should have been escaped.
    #[error("a string contains an unescaped control character")]
    ControlCharacter,
    /// A string without its closing quote.
    #[error("a string has no end")]
    UnclosedString,
    /// A number beyond any double.
    #[error("a number is too large")]
    NumberTooLarge,
}

/// Checks a JSON text in one pass for problems that skipping readers miss: deep nesting, lone surrogates, bad
/// escapes, numbers beyond a double. The parser checks the order of brackets and commas.
pub fn check(text: &str) -> Result<(), JsonProblem> {
    check_within(text, 0)
}

/// Like [`check`], for a string inside this many lists and objects.
pub fn check_within(text: &str, open: usize) -> Result<(), JsonProblem> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut depth = open;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => at = check_string(bytes, at)?,
            b'{' | b'[' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(JsonProblem {
                        offset: at,
                        fault: JsonFault::TooDeep,
                    });
                }
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                at += 1;
            }
            b'0'..=b'9' | b'-' => at = check_number(text, at)?,
            _ => at += 1,
        }
    }
    Ok(())
}

/// Checks the string that opens at `opening`, and returns the place after its closing quote.
fn check_string(bytes: &[u8], opening: usize) -> Result<usize, JsonProblem> {
    let mut at = opening + 1;
    loop {
        at += plain_prefix(&bytes[at..]);
        let fault = match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => match escape(&bytes[at..]) {
                Some((Escape::Char(_), length)) => {
                    at += length;
                    continue;
                }
                Some((Escape::LoneSurrogate(_), _)) => JsonFault::LoneSurrogate,
                None => JsonFault::InvalidEscape,
            },
            Some(_) => JsonFault::ControlCharacter,
            None => {
                return Err(JsonProblem {
                    offset: opening,
                    fault: JsonFault::UnclosedString,
                });
            }
        };
        return Err(JsonProblem { offset: at, fault });
    }
}

/// Checks the number at `start`, and returns the place after it. Only long or scientific numbers
/// can be too large.
fn check_number(text: &str, start: usize) -> Result<usize, JsonProblem> {
    const SURELY_FINITE: usize = 300;
    let end = start + number_length(&text.as_bytes()[start..]);
    let literal = &text[start..end];
    let may_be_large = literal.len() > SURELY_FINITE || literal.contains(['e', 'E']);
    if may_be_large && Canonical::read(literal).is_none() && literal.parse::<f64>().is_ok() {
        return Err(JsonProblem {
            offset: start,
            fault: JsonFault::NumberTooLarge,
        });
    }
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::arbitrary::any_json;
    use proptest::prelude::*;
    use serde_json::Value;

    fn problem(text: &str) -> (usize, JsonFault) {
        let found = check(text).unwrap_err();
        (found.offset, found.fault)
    }

    #[test]
    fn each_problem_is_found_at_its_place() {
        assert_eq!(
            problem(r#"{"a":"x\ud800y"}"#),
            (7, JsonFault::LoneSurrogate)
        );
        assert_eq!(problem(r#"["\udc00"]"#), (2, JsonFault::LoneSurrogate));
        assert_eq!(problem(r#""\ud800\ud800""#), (1, JsonFault::LoneSurrogate));
        assert_eq!(problem(r#""abcdefghij\q""#), (11, JsonFault::InvalidEscape));
        assert_eq!(problem(r#""\u12""#), (1, JsonFault::InvalidEscape));
        assert_eq!(problem("\"a\nb\""), (2, JsonFault::ControlCharacter));
        assert_eq!(problem(r#"[1,"abc"#), (3, JsonFault::UnclosedString));
        assert_eq!(problem("[1,-1e999]"), (3, JsonFault::NumberTooLarge));
        assert_eq!(problem(&"9".repeat(400)), (0, JsonFault::NumberTooLarge));
    }

    #[test]
    fn good_text_passes() {
        for text in [
            "",
            "null",
            r#"{"\ud83d\ude00":["\\\"\/\b\f\n\r\t\u0000",1e308,-0,1e-999]}"#,
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
        assert_eq!(check(&format!("\"{}\"", "[".repeat(1000))), Ok(()));
        assert_eq!(check(&"[]".repeat(1000)), Ok(()));
    }

    #[test]
    fn nesting_is_bounded_where_the_parser_bounds_it() {
        let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(check(&nested(MAX_DEPTH)), Ok(()));
        assert!(serde_json::from_str::<Value>(&nested(MAX_DEPTH)).is_ok());
        assert!(serde_json::from_str::<Value>(&nested(MAX_DEPTH + 1)).is_err());
        for depth in [MAX_DEPTH + 1, 5_000, 1_000_000] {
            assert_eq!(problem(&nested(depth)), (MAX_DEPTH, JsonFault::TooDeep));
        }
    }

    #[test]
    fn the_message_says_what_and_where() {
        let message = check(r#"["\ud800"]"#).unwrap_err().to_string();
        assert_eq!(
            message,
            r"a \u escape is half of a surrogate pair at byte 2"
        );
    }

    proptest! {
        #[test]
        fn whatever_was_written_from_values_passes(value in any_json()) {
            prop_assert_eq!(check(&value.to_string()), Ok(()));
        }

        #[test]
        fn a_text_that_is_skipped_over_and_passes_can_be_read(
            content in r#"(\\ud[89cd][0-9]{2}|\\[nu"x]|[a-e]|é){0,6}"#,
            number in "-?[1-9](\\.[0-9])?([eE][+-]?[0-9]{1,3})?",
        ) {
            let text = format!("[\"{content}\",{number}]");
            if serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok() {
                prop_assert_eq!(check(&text).is_ok(), serde_json::from_str::<Value>(&text).is_ok());
            }
        }
    }
}
