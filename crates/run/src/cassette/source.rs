//! Where in a file does a piece of JSON stand, and what is wrong with it there?

use super::check::check_json;
use super::explain::{explain, other_than_object};
use super::problem::{Fault, Place, Problem};
use serde::Deserialize;

/// A file after its byte order mark, or one line of it.
///
/// Places are counted from the source's own start, so that many bad lines cost no more than good ones.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    bytes: &'a [u8],
    /// The bytes of the file before these.
    skipped: usize,
    /// The number of the first line here.
    line: usize,
}

impl<'a> Source<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        Self { bytes: text, skipped: bytes.len() - text.len(), line: 1 }
    }

    /// The lines that are not blank.
    pub(crate) fn lines(self) -> impl Iterator<Item = Source<'a>> {
        let lines = self.bytes.split(|byte| *byte == b'\n').enumerate();
        lines.filter(|(_, bytes)| !bytes.trim_ascii_start().is_empty()).map(move |(index, bytes)| Self {
            bytes,
            skipped: self.skipped + self.offset_of(bytes),
            line: self.line + index,
        })
    }

    /// The bytes without white space around them.
    pub(crate) fn content(self) -> &'a [u8] {
        self.bytes.trim_ascii()
    }

    /// The text without white space around it; a character that the end cuts in two makes it a cut.
    pub(crate) fn text(self) -> Result<&'a str, Problem> {
        let content = self.content();
        std::str::from_utf8(content).map_err(|error| {
            let offset = self.offset_of(content) + error.valid_up_to();
            let fault = match error.error_len() {
                None => Fault::CutOff,
                Some(_) => Fault::NotUtf8 { offset: self.skipped + offset },
            };
            self.problem_at(offset, fault)
        })
    }

    /// Reads a part that is one JSON object; `describe` names what does not fit into `T`.
    pub(crate) fn object<T: Deserialize<'a>>(
        self,
        part: &'a str,
        describe: impl Fn(String) -> Fault,
    ) -> Result<T, Problem> {
        if let Some(found) = other_than_object(part) {
            return Err(self.problem(part, Fault::NotAnObject { found }));
        }
        serde_json::from_str(part).map_err(|error| {
            let (offset, fault) = explain(part, &error, describe);
            self.problem_at(self.offset_of(part.as_bytes()) + offset, fault)
        })
    }

    /// Refuses a part that is JSON but cannot be read into a value later.
    pub(crate) fn check(self, part: &str) -> Result<(), Problem> {
        check_json(part)
            .map_err(|(offset, fault)| self.problem_at(self.offset_of(part.as_bytes()) + offset, fault))
    }

    /// A problem where this part begins.
    pub(crate) fn problem(self, part: &str, fault: Fault) -> Problem {
        self.problem_at(self.offset_of(part.as_bytes()), fault)
    }

    /// A problem of the whole.
    pub(crate) fn problem_here(self, fault: Fault) -> Problem {
        Problem { place: Some(self.start()), fault }
    }

    /// Where the first character that is not white space stands.
    pub(crate) fn start(self) -> Place {
        self.place(self.offset_of(self.content()))
    }

    fn problem_at(self, offset: usize, fault: Fault) -> Problem {
        Problem { place: Some(self.place(offset)), fault }
    }

    fn place(self, offset: usize) -> Place {
        let Place { line, column } = Place::at(self.bytes, offset);
        Place { line: self.line + line - 1, column }
    }

    fn offset_of(self, part: &[u8]) -> usize {
        (part.as_ptr() as usize).saturating_sub(self.bytes.as_ptr() as usize)
    }
}
