//! What can be wrong with the text of a JSON file, and how is it fixed?

/// A reader's words for its files in problems.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// The structure of the whole file, as a clause: `a cassette is one JSON object per line`.
    pub shape: &'static str,
    /// The way to get a valid file, such as "record it again with `--record`".
    pub again: &'static str,
}

/// A problem of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextFault {
    /// Only white space.
    Empty,
    /// A byte that is not UTF-8.
    NotUtf8 {
        /// The number of bytes before it.
        offset: usize,
    },
    /// The text ends before its JSON does.
    CutOff,
    /// JSON, but not an object.
    NotAnObject {
        /// The value instead of a number.
        found: &'static str,
    },
    /// Not JSON.
    NotJson {
        /// The parser's message.
        reason: String,
    },
    /// A marker of an unfinished merge.
    Conflict,
    /// `NaN` or an infinity.
    NotANumber {
        /// The word as written.
        word: &'static str,
    },
    /// A number beyond any double.
    NumberTooLarge,
    /// Half of a surrogate pair.
    LoneSurrogate {
        /// The escape as written.
        escape: String,
    },
    /// Brackets are nested too deeply.
    TooDeep {
        /// The deepest nesting that is read.
        limit: usize,
    },
    /// Several documents that are not on separate lines.
    Scattered,
    /// A header of a different format.
    WrongFormat {
        /// The format as written.
        found: String,
        /// The format that is read.
        expected: &'static str,
    },
    /// A file from the future.
    Newer {
        /// The version as written.
        version: u64,
        /// The newest that is read.
        newest: u64,
    },
    /// A version that never was.
    UnknownVersion {
        /// The version as written.
        found: String,
    },
}

impl TextFault {
    /// The problem and the fix, as one sentence.
    pub fn said(&self, words: &Words) -> String {
        let Words { shape, again } = words;
        match self {
            Self::Empty => format!("the file is empty; {again}"),
            Self::NotUtf8 { offset } => {
                format!("byte {offset} of the file is not UTF-8; save it as UTF-8, or {again}")
            }
            Self::CutOff => format!("the file was cut off in the middle of this line; {again}"),
            Self::NotAnObject { found } => format!("found {found} here; {shape}"),
            Self::NotJson { reason } => format!("this is not JSON ({reason}); restore the line, or {again}"),
            Self::Conflict => {
                format!("a merge left a conflict here; keep the lines of one side, or {again}")
            }
            Self::NotANumber { word } => {
                format!("`{word}` is not a JSON number; write null, or omit the field")
            }
            Self::NumberTooLarge => {
                "this number is too large to compare; write it as a string, or make it smaller".to_owned()
            }
            Self::LoneSurrogate { escape } => {
                format!("`{escape}` is half of a surrogate pair, not a character; write \\ufffd \
                instead")
            }
            Self::TooDeep { limit } => {
                format!("this is nested more than {limit} levels deep; shorten the value, or {again}")
            }
            Self::Scattered => {
                "a second JSON document begins here; put each on a separate line (`jq -c .` does that)"
                    .to_owned()
            }
            Self::WrongFormat { found, expected } => {
                format!("the format is {found}, not \"{expected}\"; is this another program's file?")
            }
            Self::Newer { version, newest } => format!(
                "this file has version {version}, but this mcptest reads only versions up to \
                {newest}; update mcptest"
            ),
            Self::UnknownVersion { found } => {
                format!("the version is {found}, which is not a version of the format; {again}")
            }
        }
    }

    /// Returns true if its sentence contains the way to get a valid file.
    pub fn asks_again(&self) -> bool {
        matches!(
            self,
            Self::Empty
                | Self::NotUtf8 { .. }
                | Self::CutOff
                | Self::NotJson { .. }
                | Self::Conflict
                | Self::TooDeep { .. }
                | Self::UnknownVersion { .. }
        )
    }
}
