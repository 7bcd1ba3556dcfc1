//! Which JSON values stand in this file: one document, one on each line, or one after the other?

use super::json::{Json, Misfit};
use super::problem::{ImportError, ImportFault};
use crate::cassette::Place;
use mcptest_core::json::check;
use serde_json::error::Category;
use serde_json::value::RawValue;

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
        check(text).map_err(|problem| {
            let fault = ImportFault::Unsafe { reason: problem.fault.to_string() };
            at(text.as_bytes(), problem.offset, fault)
        })?;
        Ok(Self { text, values })
    }

    /// What does not fit, with its place. JSON that stood in a string has the place of the file's start.
    pub(super) fn error(&self, format: &'static str, misfit: Misfit) -> ImportError {
        let offset = misfit.address.checked_sub(self.text.as_ptr() as usize);
        let offset = offset.filter(|offset| *offset < self.text.len()).unwrap_or(0);
        at(self.text.as_bytes(), offset, ImportFault::Misfit { format, message: misfit.message })
    }
}

fn at(bytes: &[u8], offset: usize, fault: ImportFault) -> ImportError {
    ImportError { place: Some(Place::at(bytes, offset)), fault }
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
    let fault = if error.classify() == Category::Eof {
        offset = offset.max(start);
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
        assert!(problem(deep.as_bytes()).starts_with("line 2, column 127: lists and objects are nested"));
        assert!(problem(b"[\"\xff\"]").starts_with("line 1, column 3: this byte is not UTF-8"));
        assert!(problem(b"[\"\xe2\x82").starts_with("line 1, column 3: the text ends"));
    }
}
