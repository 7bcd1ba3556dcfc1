//! How does text become lines: escaped, coloured, and wrapped if the width is known?

use crate::Options;
use crate::words::escape;
use anstyle::{AnsiColor, Style};
use mcptest_core::report::{Pairing, Status, TestReport};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The few styles of the report.
pub mod style {
    use super::{AnsiColor, Style};

    pub const PLAIN: Style = Style::new();
    pub const BOLD: Style = Style::new().bold();
    pub const DIM: Style = Style::new().dimmed();
    pub const GREEN: Style = AnsiColor::Green.on_default();
    pub const RED: Style = AnsiColor::Red.on_default().bold();
    pub const YELLOW: Style = AnsiColor::Yellow.on_default();
    pub const MAGENTA: Style = AnsiColor::Magenta.on_default().bold();
}

/// One line of the report before wrapping. All text is escaped when it is added.
pub struct Line {
    indent: usize,
    /// The column in which the line continues.
    hang: usize,
    spans: Vec<StyledText>,
    wraps: bool,
}

struct StyledText {
    style: Style,
    text: String,
    is_glued: bool,
}

impl Line {
    /// An empty line that starts this many columns in and continues two further in.
    pub fn at(indent: usize) -> Self {
        Self {
            indent,
            hang: indent + 2,
            spans: Vec::new(),
            wraps: true,
        }
    }

    /// Continues in this column where the line is wrapped.
    #[must_use]
    pub fn hanging_at(mut self, column: usize) -> Self {
        self.hang = column;
        self
    }

    /// With more text.
    #[must_use]
    pub fn plain(self, text: impl AsRef<str>) -> Self {
        self.styled(style::PLAIN, text)
    }

    /// With more text in this style.
    #[must_use]
    pub fn styled(mut self, style: Style, text: impl AsRef<str>) -> Self {
        self.spans.push(StyledText {
            style,
            text: escape(text.as_ref()).into_owned(),
            is_glued: false,
        });
        self
    }

    /// Adds text in this style without breaks at its spaces.
    #[must_use]
    pub fn glued(mut self, style: Style, text: impl AsRef<str>) -> Self {
        self.spans.push(StyledText {
            style,
            text: escape(text.as_ref()).into_owned(),
            is_glued: true,
        });
        self
    }

    /// Keeps the line unwrapped at any width, so that it can be copied.
    #[must_use]
    pub fn unwrapped(mut self) -> Self {
        self.wraps = false;
        self
    }
}

/// The text of a table cell, and its width in columns.
pub type Cell = (Style, String, usize);

/// The columns that a text takes.
pub fn columns(text: &str) -> usize {
    escape(text).width()
}

/// The text, filled up with blanks to this number of columns.
pub fn padded(text: &str, wide: usize) -> String {
    let missing = wide.saturating_sub(columns(text));
    format!("{text}{}", " ".repeat(missing))
}

/// The report so far.
pub struct Page {
    out: String,
    colour: bool,
    ascii: bool,
    /// The columns of the page.
    pub width: usize,
    style: Style,
    column: usize,
}

impl Page {
    pub fn new(options: &Options) -> Self {
        const NARROWEST: usize = 40;
        let width = options.width.unwrap_or(100).max(NARROWEST);
        let (colour, ascii) = (options.colour, options.ascii);
        Self {
            out: String::new(),
            colour,
            ascii,
            width,
            style: style::PLAIN,
            column: 0,
        }
    }

    /// A line that starts with the mark of this status.
    pub fn marked(&self, indent: usize, status: Status) -> Line {
        let (mark, style) = match (status, self.ascii) {
            (Status::Passed, false) => ("✓", style::GREEN),
            (Status::Passed, true) => ("+", style::GREEN),
            (Status::Failed, false) => ("✗", style::RED),
            (Status::Failed, true) => ("x", style::RED),
            (Status::Error, _) => ("!", style::MAGENTA),
            (Status::Skipped, _) => ("-", style::YELLOW),
        };
        Line::at(indent).styled(style, mark).plain(" ")
    }

    /// A line that starts with the mark of this row, which says more than its status.
    pub fn marked_as(&self, indent: usize, test: &TestReport) -> Line {
        if test.warning().is_some() {
            return self.warned(indent);
        }
        if test.is_not_finished() {
            let mark = if self.ascii { "?" } else { "…" };
            return Line::at(indent).styled(style::YELLOW, mark).plain(" ");
        }
        self.marked(indent, test.status)
    }

    /// A line that starts with the mark of a warning.
    pub fn warned(&self, indent: usize) -> Line {
        let mark = if self.ascii { "~" } else { "▲" };
        Line::at(indent).styled(style::YELLOW, mark).plain(" ")
    }

    /// The mark and the style for a pairing of two calls.
    pub fn pairing(&self, how: Pairing) -> (&'static str, Style) {
        let (sign, plain, style) = match how {
            Pairing::Matched => ("=", "=", style::DIM),
            Pairing::Changed => ("≠", "!=", style::RED),
            Pairing::Missing => ("−", "-", style::RED),
            Pairing::Extra => ("+", "+", style::RED),
            Pairing::Swapped => ("↕", "<>", style::RED),
        };
        (if self.ascii { plain } else { sign }, style)
    }

    /// The mark for omitted text.
    pub fn ellipsis(&self) -> &'static str {
        if self.ascii { "..." } else { "…" }
    }

    /// The text in exactly this number of columns: padded, or cut with an ellipsis.
    pub fn fixed(&self, text: &str, columns: usize) -> String {
        let text = self.letters(text);
        if text.width() <= columns {
            return format!("{text}{}", " ".repeat(columns - text.width()));
        }
        let mut cut = String::new();
        for character in text.chars() {
            if cut.width() + character.width().unwrap_or(0) + self.ellipsis().width() > columns {
                break;
            }
            cut.push(character);
        }
        cut.push_str(self.ellipsis());
        let rest = columns.saturating_sub(cut.width());
        cut + &" ".repeat(rest)
    }

    /// A line of texts, each with its number of columns, without wrapping.
    pub fn cells(&mut self, indent: usize, cells: impl IntoIterator<Item = Cell>) {
        let line = cells
            .into_iter()
            .fold(Line::at(indent), |line, (style, text, columns)| {
                line.glued(style, self.fixed(&text, columns)).plain("  ")
            });
        self.line(&line.unwrapped());
    }

    /// The text for printing: escaped, and with ASCII marks if the terminal has no others.
    pub fn letters(&self, text: &str) -> String {
        let text = escape(text);
        if self.ascii {
            let text = text.replace('…', self.ellipsis());
            text.chars().map(plain_bar).collect()
        } else {
            text.into_owned()
        }
    }

    /// The separator between the parts of a line.
    pub fn dot(&self) -> &'static str {
        if self.ascii { "|" } else { "·" }
    }

    /// The line, with a dim text at the right edge, or on a separate line if they do not fit.
    pub fn line_with_end(&mut self, line: Line, end: &str) {
        let used: usize = line.indent
            + line
                .spans
                .iter()
                .map(|span| span.text.width())
                .sum::<usize>();
        let gap = self
            .width
            .min(100)
            .saturating_sub(used + escape(end).width())
            .max(2);
        let line = line.plain(" ".repeat(gap)).glued(style::DIM, end);
        self.line(&line.unwrapped());
    }

    pub fn blank(&mut self) {
        self.out.push('\n');
    }

    /// The escaped text, neither indented nor wrapped.
    pub fn verbatim(&mut self, text: &str) {
        self.out.push_str(&escape(text));
        self.out.push('\n');
    }

    /// The line, wrapped at its spaces.
    pub fn line(&mut self, line: &Line) {
        let width = if line.wraps { self.width } else { usize::MAX };
        let hang = line.hang;
        self.indent(line.indent);
        let mut spaces = 0;
        let spans: Vec<StyledText> = line
            .spans
            .iter()
            .map(|span| StyledText {
                text: self.letters(&span.text),
                ..*span
            })
            .collect();
        for word in words(&spans) {
            let wide: usize = word.pieces.iter().map(|(_, text)| text.width()).sum();
            if self.column > line.indent && self.column + spaces + wide > width {
                self.break_line(hang);
            } else {
                self.out.push_str(&" ".repeat(spaces));
                self.column += spaces;
            }
            for (style, text) in word.pieces {
                self.put(style, text, width, hang);
            }
            spaces = word.spaces;
        }
        self.restyle(style::PLAIN);
        self.out.push('\n');
        self.column = 0;
    }

    fn indent(&mut self, columns: usize) {
        self.out.push_str(&" ".repeat(columns));
        self.column = columns;
    }

    fn break_line(&mut self, indent: usize) {
        self.restyle(style::PLAIN);
        self.out.push('\n');
        self.indent(indent);
    }

    /// Writes the text, broken inside a word only if the word is wider than the line.
    fn put(&mut self, style: Style, text: &str, width: usize, hang: usize) {
        if self.column + text.width() <= width {
            self.restyle(style);
            self.out.push_str(text);
            self.column += text.width();
            return;
        }
        for character in text.chars() {
            let wide = character.width().unwrap_or(0);
            if self.column + wide > width {
                self.break_line(hang);
            }
            self.restyle(style);
            self.out.push(character);
            self.column += wide;
        }
    }

    fn restyle(&mut self, style: Style) {
        if !self.colour || style == self.style {
            return;
        }
        if self.style != style::PLAIN {
            self.out.push_str(&self.style.render_reset().to_string());
        }
        self.out.push_str(&style.render().to_string());
        self.style = style;
    }

    pub fn finish(self) -> Vec<u8> {
        self.out.into_bytes()
    }
}

/// A bar of a small picture in ASCII; other characters unchanged.
fn plain_bar(character: char) -> char {
    const BARS: [(char, char); 8] = [
        ('▁', '_'),
        ('▂', '.'),
        ('▃', ':'),
        ('▄', '-'),
        ('▅', '='),
        ('▆', '+'),
        ('▇', '*'),
        ('█', '#'),
    ];
    let plain = BARS.iter().find(|(bar, _)| *bar == character);
    plain.map_or(character, |(_, plain)| *plain)
}

/// A part that must stay together, and the spaces after it.
struct Word<'a> {
    pieces: Vec<(Style, &'a str)>,
    spaces: usize,
}

fn words(spans: &[StyledText]) -> Vec<Word<'_>> {
    let mut words: Vec<Word<'_>> = Vec::new();
    for span in spans {
        let parts: Vec<&str> = if span.is_glued {
            vec![span.text.as_str()]
        } else {
            span.text.split_inclusive(' ').collect()
        };
        for part in parts {
            let letters = part.trim_end_matches(' ');
            let spaces = part.len() - letters.len();
            match words.last_mut() {
                Some(last) if letters.is_empty() => last.spaces += spaces,
                Some(last) if last.spaces == 0 => {
                    last.pieces.push((span.style, letters));
                    last.spaces = spaces;
                }
                _ => words.push(Word {
                    pieces: vec![(span.style, letters)],
                    spaces,
                }),
            }
        }
    }
    words
}
