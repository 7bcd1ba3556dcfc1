//! Which problem does a suite have, where, and what is the fix?

mod render;
mod suggest;

pub use render::render;
pub(crate) use suggest::is_slip;
pub use suggest::{did_you_mean, nearest};

use crate::report::Place;

/// A stretch of one source file, in bytes.
///
/// ```
/// use mcptest_core::{Sources, Span};
///
/// let mut sources = Sources::default();
/// let file = sources.add("weather.yml", "agents:\n  - nam: x\n".to_owned());
/// let place = sources.file_and_line(Span { file, start: 12, end: 15 });
/// assert_eq!((place.file.as_str(), place.line), ("weather.yml", 2));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Span {
    /// The file, as an index into [`Sources`].
    pub file: usize,
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

/// The severity of a problem.
///
/// ```
/// use mcptest_core::{Level, Problem};
///
/// assert_eq!(Problem::warning("this block judges nothing").level, Level::Warning);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The suite is refused.
    Error,
    /// The suite runs, but probably not as its author intended.
    Warning,
}

/// One problem with its place.
///
/// ```
/// use mcptest_core::{Problem, Span};
///
/// let problem = Problem::error("unknown key `promt`").at(Span::default()).suggest("promt", ["prompt"]);
/// assert_eq!(problem.help.as_deref(), Some("did you mean `prompt`?"));
/// ```
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The severity: an error refuses the suite.
    pub level: Level,
    /// The problem.
    pub message: String,
    /// Its place.
    pub span: Option<Span>,
    /// A few words under the caret.
    pub label: Option<String>,
    /// Another relevant place, with its message.
    pub also: Option<(Span, String)>,
    /// The fix.
    pub help: Option<String>,
}

impl Problem {
    /// A problem that makes mcptest refuse the suite.
    pub fn error(message: impl Into<String>) -> Self {
        Self::new(Level::Error, message.into())
    }

    /// A problem worth saying that does not stop the suite.
    pub fn warning(message: impl Into<String>) -> Self {
        Self::new(Level::Warning, message.into())
    }

    fn new(level: Level, message: String) -> Self {
        Self {
            level,
            message,
            span: None,
            label: None,
            also: None,
            help: None,
        }
    }

    /// Puts problems into the order of their places.
    pub fn sort(problems: &mut [Self]) {
        problems.sort_by_key(|problem| problem.span);
    }

    /// Sets the place.
    pub fn at(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }

    /// With these words under the caret.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// With a second place.
    pub fn also(mut self, span: Span, label: impl Into<String>) -> Self {
        self.also = Some((span, label.into()));
        self
    }

    /// Adds advice.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds "did you mean" if a known word is similar.
    pub fn suggest<'k>(self, word: &str, known: impl IntoIterator<Item = &'k str>) -> Self {
        match nearest(word, known) {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None => self,
        }
    }
}

/// The texts that problems point into.
///
/// ```
/// use mcptest_core::Sources;
///
/// let mut sources = Sources::default();
/// sources.add("weather.yml", "agents: []\n".to_owned());
/// assert_eq!(sources.paths().collect::<Vec<_>>(), ["weather.yml"]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

/// One source text.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// The path in the user's spelling.
    pub path: String,
    /// Its text.
    pub text: String,
    line_starts: Vec<usize>,
}

/// A position in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position<'s> {
    /// The path of the text, as the user named it.
    pub path: &'s str,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// `suite.yml:3:7`.
impl std::fmt::Display for Position<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}:{}:{}", self.path, self.line, self.column)
    }
}

impl Sources {
    /// Adds a string and returns its index.
    pub fn add(&mut self, path: impl Into<String>, text: String) -> usize {
        let line_starts = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        self.files.push(SourceFile {
            path: path.into(),
            text,
            line_starts,
        });
        self.files.len() - 1
    }

    /// The paths of all texts, in the user's spelling.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.path.as_str())
    }

    /// All texts.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.text.as_str())
    }

    /// The file with this path.
    pub fn named(&self, path: &str) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The file with this index.
    pub fn file(&self, index: usize) -> &SourceFile {
        &self.files[index]
    }

    /// The position at which a span starts.
    pub fn position(&self, span: Span) -> Position<'_> {
        let file = self.file(span.file);
        let (line, column) = file.line_column(span.start);
        Position {
            path: &file.path,
            line,
            column,
        }
    }

    /// The file and line at which a span starts.
    pub fn file_and_line(&self, span: Span) -> Place {
        let position = self.position(span);
        Place {
            file: position.path.to_owned(),
            line: position.line,
        }
    }
}

impl SourceFile {
    /// The line and column of a byte, both from 1; the column counts characters.
    pub fn line_column(&self, byte: usize) -> (usize, usize) {
        let line = self
            .line_starts
            .partition_point(|&start| start <= byte)
            .max(1);
        let start = self.line_starts[line - 1];
        let upto = self.text.get(start..byte).unwrap_or_default();
        (line, upto.chars().count() + 1)
    }

    fn line_range(&self, line: usize) -> std::ops::Range<usize> {
        let start = self.line_starts[line - 1];
        start
            ..self
                .line_starts
                .get(line)
                .copied()
                .unwrap_or(self.text.len())
    }
}
