//! Which JSON values does this file contain: one document, one on each line, or several in sequence?

use crate::json::{Json, Misfit};
use crate::problem::{ImportError, ImportFault};
use mcptest_core::json::document::{Source, TextFault};
use mcptest_core::json::{MAX_DEPTH, check_within};
use serde_json::value::RawValue;

/// The deepest nesting to read. A trace may nest a value a little deeper than its transcript does.
const DEEPEST: usize = 120;

/// Returns true if nothing in the text is nested too deeply for a trace, or could not be read again.
pub(crate) fn can_be_kept(text: &str) -> bool {
    check_within(text, MAX_DEPTH - DEEPEST).is_ok()
}

/// A transcript's text with the values in it.
pub(crate) struct Document<'a> {
    source: Source<'a>,
    text: &'a str,
    /// The values at the top, in order.
    pub(crate) values: Vec<Json<'a>>,
}

impl<'a> Document<'a> {
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, ImportError> {
        let source = Source::new(bytes);
        let text = source.text()?;
        if text.is_empty() {
            return Err(ImportError::nowhere(TextFault::Empty));
        }
        let values = values(source, text)?;
        source.check_within(text, MAX_DEPTH - DEEPEST)?;
        Ok(Self {
            source,
            text,
            values,
        })
    }

    /// Removes the lines without a conversation, and returns their number. A file of no other
    /// lines keeps them.
    pub(crate) fn set_aside(&mut self, is_about: fn(Json<'_>) -> bool) -> usize {
        let count = self.values.len();
        if count < 2 {
            return 0;
        }
        let (about, of_conversations): (Vec<_>, Vec<_>) = self
            .values
            .iter()
            .copied()
            .partition(|value| is_about(*value));
        if of_conversations.is_empty() {
            return 0;
        }
        self.values = of_conversations;
        about.len()
    }

    /// An error with the place of the wrong value. JSON inside a string has the place of the file's start.
    pub(crate) fn error(
        &self,
        format: &'static str,
        misfit: Misfit,
        looks_like: Option<&'static str>,
    ) -> ImportError {
        let offset = misfit.address.checked_sub(self.text.as_ptr() as usize);
        let part = offset
            .and_then(|offset| self.text.get(offset..))
            .unwrap_or(self.text);
        self.source.fault(
            part,
            ImportFault::Misfit {
                format,
                message: misfit.message,
                looks_like,
            },
        )
    }
}

fn values<'a>(source: Source<'a>, text: &'a str) -> Result<Vec<Json<'a>>, ImportError> {
    let mut values = Vec::new();
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    loop {
        let rest = text[stream.byte_offset()..].trim_ascii_start();
        match stream.next() {
            None => return Ok(values),
            Some(Ok(value)) => values.push(Json::new(value)),
            Some(Err(_)) => return Err(explained(source, rest, &values)),
        }
    }
}

/// If values have separate lines, a broken value ends with its line.
fn explained(source: Source<'_>, rest: &str, before: &[Json<'_>]) -> ImportError {
    let is_lines = !before.is_empty() && before.iter().all(|value| !value.text().contains('\n'));
    let part = if is_lines {
        rest.lines().next().unwrap_or(rest)
    } else {
        rest
    };
    let not_json = |reason: String| TextFault::NotJson { reason }.into();
    match serde_json::from_str::<&RawValue>(part) {
        Err(error) => source.explained(part, &error, not_json),
        Ok(_) => source.fault(part, not_json("text follows".to_owned())),
    }
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
            (
                "{\"a\": [1, 2",
                "line 1, column 11: the file was cut off in the middle",
            ),
            (
                "{\"a\":1}\n{\"a\": tru}\n{\"a\":3}",
                "line 2, column 10: this is not JSON (expected ident)",
            ),
            (
                "{\"a\":1}\n{\"a\":\n{\"a\":3}",
                "line 2, column 5: the file was cut off in the middle",
            ),
            (
                "{\"a\": \"b\n",
                "line 1, column 8: the file was cut off in the middle",
            ),
            (
                "hello",
                "line 1, column 1: this is not JSON (expected value)",
            ),
            (
                "[\"\\ud800\"]",
                "line 1, column 3: `\\ud800` is half of a surrogate pair",
            ),
            ("[1e999]", "line 1, column 2: this number is too large"),
        ] {
            let found = problem(text.as_bytes());
            assert!(found.starts_with(expected), "{text}: {found}");
        }
        let deep = format!("[\n{}{}]", "[".repeat(100_000), "]".repeat(100_000));
        assert!(
            problem(deep.as_bytes())
                .starts_with("line 2, column 120: this is nested more than 120 levels")
        );
        assert!(
            problem(b"[\"\xff\"]").starts_with("line 1, column 3: byte 2 of the file is not UTF-8")
        );
        assert!(problem(b"[\"\xe2\x82").starts_with("line 1, column 3: the file was cut off"));
    }
}
