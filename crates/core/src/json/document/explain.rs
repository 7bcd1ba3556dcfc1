//! What does an error of the JSON reader mean to a person?

use super::TextFault;
use crate::escape::clipped;
use crate::json::{JsonFault, MAX_DEPTH, check_within};
use serde_json::error::Category;
use std::fmt::{self, Write};

const REASON_LENGTH: usize = 160;

/// The kind of JSON value, if it is not an object.
pub(super) fn other_than_object(text: &str) -> Option<&'static str> {
    match text.as_bytes().first()? {
        b'[' => Some("an array"),
        b'"' => Some("a string"),
        b'-' | b'0'..=b'9' => Some("a number"),
        b't' | b'f' if matches!(text, "true" | "false") => Some("a truth value"),
        b'n' if text == "null" => Some("null"),
        _ => None,
    }
}

/// The meaning of an error of the JSON reader, with its offset in `text`.
pub(super) fn explain<F: From<TextFault>>(
    text: &str,
    error: &serde_json::Error,
    describe: impl Fn(String) -> F,
) -> (usize, F) {
    let offset = offset_in(text, error.line(), error.column());
    if let Err((earlier, fault)) = check_text(text, 0)
        && earlier <= offset
    {
        return (earlier, fault.into());
    }
    if let Some((start, word)) = not_a_number(text, offset) {
        return (start, TextFault::NotANumber { word }.into());
    }
    let mut start = Start {
        text: String::new(),
        limit: REASON_LENGTH,
    };
    let _ = write!(start, "{error}");
    let place = format!(" at line {} column {}", error.line(), error.column());
    let reason = start.text.strip_suffix(&place).unwrap_or(&start.text);
    let fault = match error.classify() {
        Category::Data => return (offset, describe(clipped(reason, REASON_LENGTH))),
        Category::Eof => TextFault::CutOff,
        _ if reason == "trailing characters" => TextFault::Scattered,
        _ if is_conflict(text) => TextFault::Conflict,
        _ => TextFault::NotJson {
            reason: clipped(reason, REASON_LENGTH),
        },
    };
    (offset, fault.into())
}

/// Returns true for a marker line of a merge conflict.
fn is_conflict(line: &str) -> bool {
    ["<<<<<<<", "|||||||", "=======", ">>>>>>>"]
        .iter()
        .any(|marker| line.starts_with(marker))
}

fn offset_in(text: &str, line: usize, column: usize) -> usize {
    let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(newline, _)| newline + 1));
    let start = starts.take(line).last().unwrap_or(0);
    (start + column.saturating_sub(1)).min(text.len())
}

fn not_a_number(text: &str, offset: usize) -> Option<(usize, &'static str)> {
    let words = ["-Infinity", "-NaN", "NaN", "nan", "Infinity", "inf"];
    let starts = [offset.checked_sub(1), Some(offset)];
    starts.into_iter().flatten().find_map(|start| {
        let rest = text.get(start..)?;
        words
            .into_iter()
            .find(|word| rest.starts_with(word))
            .map(|word| (start, word))
    })
}

/// Collects the start of a message, which may quote a value of any size.
struct Start {
    text: String,
    limit: usize,
}

impl Write for Start {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let left = (self.limit + 1).saturating_sub(self.text.chars().count());
        self.text.extend(part.chars().take(left));
        if left == 0 { Err(fmt::Error) } else { Ok(()) }
    }
}

/// Finds problems that the fast reader accepts and a later one refuses: half surrogate pairs, nesting that is too
/// deep, numbers beyond a double. The parser reports text that is not JSON.
pub(super) fn check_text(text: &str, open: usize) -> Result<(), (usize, TextFault)> {
    let Err(problem) = check_within(text, open) else {
        return Ok(());
    };
    let fault = match problem.fault {
        JsonFault::TooDeep => TextFault::TooDeep {
            limit: MAX_DEPTH - open,
        },
        JsonFault::NumberTooLarge => TextFault::NumberTooLarge,
        JsonFault::LoneSurrogate => {
            let escape = text
                .get(problem.offset..problem.offset + 6)
                .unwrap_or_default();
            TextFault::LoneSurrogate {
                escape: escape.to_owned(),
            }
        }
        JsonFault::InvalidEscape | JsonFault::ControlCharacter | JsonFault::UnclosedString => {
            return Ok(());
        }
    };
    Err((problem.offset, fault))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offset(text: &str) -> Option<usize> {
        check_text(text, 0).err().map(|(offset, _)| offset)
    }

    #[test]
    fn half_of_a_surrogate_pair_is_found_and_a_whole_one_is_not() {
        assert_eq!(offset(r#"["\ud83d\ude00", "\\ud800", "\u00e9"]"#), None);
        assert_eq!(offset(r#"["\ud83d"]"#), Some(2));
        assert_eq!(offset(r#"["a\ude00"]"#), Some(3));
        assert_eq!(offset(r#"["\ud83d\u0041"]"#), Some(2));
    }

    #[test]
    fn nesting_is_read_as_deep_as_a_value_can_be_and_no_deeper() {
        for depth in [MAX_DEPTH, MAX_DEPTH + 1] {
            let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            let readable = serde_json::from_str::<serde_json::Value>(&nested).is_ok();
            assert_eq!(check_text(&nested, 0).is_ok(), readable, "{depth}");
        }
        assert_eq!(
            offset(&format!("\"{}\"", "[".repeat(5000))),
            None,
            "brackets in a string are text"
        );
    }

    #[test]
    fn a_number_past_every_double_is_found() {
        assert_eq!(offset("[1e308, -1E+2, 0.5]"), None);
        assert_eq!(offset("[1, 1e400]"), Some(4));
        assert_eq!(offset(&"9".repeat(400)), Some(0));
    }
}
