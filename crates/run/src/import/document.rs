//! Which JSON values stand in this file: one document, one on each line, or one after the other?

use super::json::{Json, Misfit};
use super::problem::{ImportError, ImportFault};
use crate::cassette::Place;
use mcptest_core::json::check;
use serde_json::error::Category;
use serde_json::value::RawValue;

/// The deepest nesting that is read: a trace may have to hold a value a little deeper than its transcript does.
const DEEPEST: usize = 120;

/// A transcript's text with the values in it.
pub(super) struct Document<'a> {
    text: &'a str,
    /// The values at the top, in order.
    pub(super) values: Vec<Json<'a>>,
}

impl<'a> Document<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, ImportError> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let fault = if error.error_len().is_none() { ImportFault::CutOff } else { ImportFault::NotUtf8 };
            at(bytes, error.valid_up_to(), fault)
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim_ascii().is_empty() {
            return Err(ImportError { place: None, fault: ImportFault::Empty });
        }
        let values = values(text)?;
        if let Some(offset) = deeper_than(text, DEEPEST) {
            let reason = format!("lists and objects are nested more than {DEEPEST} deep");
            return Err(at(text.as_bytes(), offset, ImportFault::Unsafe { reason }));
        }
        check(text).map_err(|problem| {
            let fault = ImportFault::Unsafe { reason: problem.fault.to_string() };
            at(text.as_bytes(), problem.offset, fault)
        })?;
        Ok(Self { text, values })
    }

    /// What does not fit, with its place. JSON that stood in a string has the place of the file's start.
    pub(super) fn error(
        &self,
        format: &'static str,
        misfit: Misfit,
        looks_like: Option<&'static str>,
    ) -> ImportError {
        let offset = misfit.address.checked_sub(self.text.as_ptr() as usize);
        let offset = offset.filter(|offset| *offset < self.text.len()).unwrap_or(0);
        let fault = ImportFault::Misfit { format, message: misfit.message, looks_like };
        at(self.text.as_bytes(), offset, fault)
    }
}

fn at(bytes: &[u8], offset: usize, fault: ImportFault) -> ImportError {
    ImportError { place: Some(Place::at(bytes, offset)), fault }
}

/// Where a list or object opens that has this many around it.
fn deeper_than(text: &str, limit: usize) -> Option<usize> {
    let (mut depth, mut is_string, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => is_string = !is_string,
            _ if is_string => {}
            b'[' | b'{' if depth == limit => return Some(at),
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

fn values(text: &str) -> Result<Vec<Json<'_>>, ImportError> {
    let mut values = Vec::new();
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    loop {
        let start = stream.byte_offset();
        match stream.next() {
            None => return Ok(values),
            Some(Ok(value)) => values.push(Json::of(value)),
            Some(Err(_)) => return Err(explained(text, start, &values)),
        }
    }
}

/// Where values stand on lines of their own, the broken one ends with its line.
fn explained(text: &str, start: usize, before: &[Json<'_>]) -> ImportError {
    let start = start + (text[start..].len() - text[start..].trim_ascii_start().len());
    let is_lines = !before.is_empty() && before.iter().all(|value| !value.text().contains('\n'));
    let rest = &text[start..];
    let part = if is_lines { rest.lines().next().unwrap_or(rest) } else { rest };
    let Err(error) = serde_json::from_str::<&RawValue>(part) else {
        return at(text.as_bytes(), start, ImportFault::NotJson { reason: "text follows".to_owned() });
    };
    let lines = part.split_inclusive('\n').take(error.line().saturating_sub(1));
    let offset = lines.map(str::len).sum::<usize>() + error.column().saturating_sub(1);
    let mut offset = (start + offset).min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    // A string that runs into the last line's end was cut off too.
    let is_last_line = text[offset..].lines().skip(1).all(|line| line.trim_ascii().is_empty());
    let is_open_string = is_last_line && error.to_string().starts_with("control character");
    let fault = if error.classify() == Category::Eof || is_open_string {
        ImportFault::CutOff
    } else {
        let place = format!(" at line {} column {}", error.line(), error.column());
        let reason = error.to_string();
        ImportFault::NotJson { reason: reason.strip_suffix(&place).unwrap_or(&reason).to_owned() }
    };
    at(text.as_bytes(), offset, fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> usize {
        Document::read(text.as_bytes()).unwrap().values.len()
    }

    fn problem(text: &[u8]) -> String {
        Document::read(text).err().unwrap().to_string()
    }

    #[test]
    fn one_document_lines_and_documents_over_many_lines_are_read() {
        assert_eq!(count("\u{feff} [1,\n 2] \n"), 1);
        assert_eq!(count("{\"a\":1}\n\r\n{\"a\":2}\n"), 2);
        assert_eq!(count("{\n \"a\": 1\n}\n{\n \"a\": 2\n}"), 2);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, expected) in [
            ("", "the file is empty"),
            ("{\"a\": [1, 2", "line 1, column 11: the text ends in the middle"),
            ("{\"a\":1}\n{\"a\": tru}\n{\"a\":3}", "line 2, column 10: this is not JSON (expected ident)"),
            ("{\"a\":1}\n{\"a\":\n{\"a\":3}", "line 2, column 5: the text ends in the middle"),
            ("{\"a\": \"b\n", "line 1, column 8: the text ends in the middle"),
            ("hello", "line 1, column 1: this is not JSON (expected value)"),
            (
                "[\"\\ud800\"]",
                "line 1, column 3: a \\u escape is half of a surrogate pair; shorten or correct",
            ),
            ("[1e999]", "line 1, column 2: a number is too large"),
        ] {
            let found = problem(text.as_bytes());
            assert!(found.starts_with(expected), "{text}: {found}");
        }
        let deep = format!("[\n{}{}]", "[".repeat(100_000), "]".repeat(100_000));
        assert!(problem(deep.as_bytes()).starts_with("line 2, column 120: lists and objects are nested"));
        assert!(problem(b"[\"\xff\"]").starts_with("line 1, column 3: this byte is not UTF-8"));
        assert!(problem(b"[\"\xe2\x82").starts_with("line 1, column 3: the text ends"));
    }
}
