//! What does an error of the JSON reader mean to a person?

use super::check::check_json;
use super::problem::Fault;
use super::text::clipped;
use serde_json::error::Category;
use std::fmt::{self, Write};

const REASON_LENGTH: usize = 160;

/// What stands here, if it is JSON but no object.
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

/// What an error of the JSON reader means, and at which offset of `text`.
pub(super) fn explain(
    text: &str,
    error: &serde_json::Error,
    describe: impl Fn(String) -> Fault,
) -> (usize, Fault) {
    let offset = offset_in(text, error.line(), error.column());
    if let Err((earlier, fault)) = check_json(text)
        && earlier <= offset
    {
        return (earlier, fault);
    }
    if let Some((start, word)) = not_a_number(text, offset) {
        return (start, Fault::NotANumber { word });
    }
    let mut start = Start { text: String::new(), limit: REASON_LENGTH };
    let _ = write!(start, "{error}");
    let place = format!(" at line {} column {}", error.line(), error.column());
    let reason = start.text.strip_suffix(&place).unwrap_or(&start.text);
    let fault = match error.classify() {
        Category::Eof => Fault::CutOff,
        Category::Data => describe(clipped(reason, REASON_LENGTH)),
        _ if reason == "trailing characters" => Fault::Scattered,
        _ if is_conflict(text) => Fault::Conflict,
        _ => Fault::NotJson { reason: clipped(reason, REASON_LENGTH) },
    };
    (offset, fault)
}

/// Whether this is one of the lines that a merge leaves around what it could not merge.
fn is_conflict(line: &str) -> bool {
    ["<<<<<<<", "|||||||", "=======", ">>>>>>>"].iter().any(|marker| line.starts_with(marker))
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
        words.into_iter().find(|word| rest.starts_with(word)).map(|word| (start, word))
    })
}

/// Takes the start of a message, which may quote a value of any size, and little more than the limit.
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
