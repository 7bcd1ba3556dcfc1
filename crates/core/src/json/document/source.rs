//! Which part of a file is read, and what are its line and column?

use super::explain::{check_text, explain, other_than_object};
use super::format::NamedFormat;
use super::{Place, Placed, TextFault};
use crate::escape::clipped;
use memchr::memchr;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A file after its byte order mark, or one line of it.
///
/// Places are counted from the source's own start, so a bad line costs no more than a good one.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    bytes: &'a [u8],
    /// The bytes of the file before these.
    skipped: usize,
    /// The number of the first line here.
    line: usize,
}

impl<'a> Source<'a> {
    /// The whole file.
    pub fn new(bytes: &'a [u8]) -> Self {
        let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        Self {
            bytes: text,
            skipped: bytes.len() - text.len(),
            line: 1,
        }
    }

    /// The lines that are not blank.
    pub fn lines(self) -> impl Iterator<Item = Source<'a>> {
        let mut rest = Some(self.bytes);
        let lines = std::iter::from_fn(move || {
            let bytes = rest?;
            let end = memchr(b'\n', bytes);
            rest = end.map(|end| &bytes[end + 1..]);
            Some(&bytes[..end.unwrap_or(bytes.len())])
        });
        let lines = lines.enumerate();
        lines
            .filter(|(_, bytes)| !bytes.trim_ascii_start().is_empty())
            .map(move |(index, bytes)| Self {
                bytes,
                skipped: self.skipped + self.offset_of(bytes),
                line: self.line + index,
            })
    }

    /// The bytes without surrounding white space.
    pub fn content(self) -> &'a [u8] {
        self.bytes.trim_ascii()
    }

    /// The text without white space around it; a character that the end cuts in two makes it a cut.
    pub fn text<F: From<TextFault>>(self) -> Result<&'a str, Placed<F>> {
        let content = self.content();
        std::str::from_utf8(content).map_err(|error| {
            let offset = self.offset_of(content) + error.valid_up_to();
            let fault = match error.error_len() {
                None => TextFault::CutOff,
                Some(_) => TextFault::NotUtf8 {
                    offset: self.skipped + offset,
                },
            };
            self.fault_at(offset, fault.into())
        })
    }

    /// Reads a part that is one JSON object. `describe` names fields that do not fit `T`.
    pub fn object<T: Deserialize<'a>, F: From<TextFault>>(
        self,
        part: &'a str,
        describe: impl Fn(String) -> F,
    ) -> Result<T, Placed<F>> {
        if let Some(found) = other_than_object(part) {
            return Err(self.fault(part, TextFault::NotAnObject { found }.into()));
        }
        serde_json::from_str(part).map_err(|error| self.explained(part, &error, describe))
    }

    /// The meaning of an error of the JSON reader in a part.
    pub fn explained<F: From<TextFault>>(
        self,
        part: &str,
        error: &serde_json::Error,
        describe: impl Fn(String) -> F,
    ) -> Placed<F> {
        let (offset, fault) = explain(part, error, describe);
        self.fault_at(self.offset_of(part.as_bytes()) + offset, fault)
    }

    /// The whole file, if it is not empty and begins like [`Self::header`] requires.
    pub fn whole<T: Deserialize<'a>, F: From<TextFault>>(
        self,
        format: (&'static str, u64),
        describe: impl Fn(String) -> F,
    ) -> Result<T, Placed<F>> {
        if self.content().is_empty() {
            return Err(Placed::nowhere(TextFault::Empty));
        }
        self.header(format, describe)
    }

    /// Reads the header of a file of mcptest, if it has this format and a supported version.
    pub fn header<T: Deserialize<'a>, F: From<TextFault>>(
        self,
        (format, newest): (&'static str, u64),
        describe: impl Fn(String) -> F,
    ) -> Result<T, Placed<F>> {
        let text = self.text()?;
        self.check(text)?;
        let named: NamedFormat<'_> = self.object(text, &describe)?;
        if !named.is(format) {
            let found = named.format.map_or("missing", RawValue::get);
            let fault = TextFault::WrongFormat {
                found: clipped(found, 60),
                expected: format,
            };
            return Err(self.fault_here(fault.into()));
        }
        self.version(named.version, newest)?;
        self.object(text, describe)
    }

    /// Refuses a version that this build does not read.
    pub fn version<F: From<TextFault>>(
        self,
        found: Option<&RawValue>,
        newest: u64,
    ) -> Result<(), Placed<F>> {
        let found = found.map_or("missing", RawValue::get);
        let fault = match found.parse::<u64>() {
            Ok(version) if version == newest => return Ok(()),
            Ok(version) if version > newest => TextFault::Newer { version, newest },
            _ => TextFault::UnknownVersion {
                found: clipped(found, 60),
            },
        };
        Err(self.fault_here(fault.into()))
    }

    /// Refuses a part that is JSON but cannot be read into a value later.
    pub fn check<F: From<TextFault>>(self, part: &str) -> Result<(), Placed<F>> {
        self.check_within(part, 0)
    }

    /// Like [`Source::check`], for a part inside this many lists and objects.
    pub fn check_within<F: From<TextFault>>(
        self,
        part: &str,
        open: usize,
    ) -> Result<(), Placed<F>> {
        check_text(part, open).map_err(|(offset, fault)| {
            self.fault_at(self.offset_of(part.as_bytes()) + offset, fault.into())
        })
    }

    /// A fault at the start of this part.
    pub fn fault<F>(self, part: &str, fault: F) -> Placed<F> {
        self.fault_at(self.offset_of(part.as_bytes()), fault)
    }

    /// A fault of the whole.
    pub fn fault_here<F>(self, fault: F) -> Placed<F> {
        Placed {
            place: Some(self.start()),
            fault,
        }
    }

    /// The place of the first character that is not white space.
    pub fn start(self) -> Place {
        self.place(self.offset_of(self.content()))
    }

    fn fault_at<F>(self, offset: usize, fault: F) -> Placed<F> {
        Placed {
            place: Some(self.place(offset)),
            fault,
        }
    }

    fn place(self, offset: usize) -> Place {
        let Place { line, column } = Place::at(self.bytes, offset);
        Place {
            line: self.line + line - 1,
            column,
        }
    }

    fn offset_of(self, part: &[u8]) -> usize {
        (part.as_ptr() as usize).saturating_sub(self.bytes.as_ptr() as usize)
    }
}
