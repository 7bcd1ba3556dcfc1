//! How does output leave the program? Reports go to standard output or files, everything else to
//! standard error.

use crate::exit_code::EXIT_BROKEN;
use crate::failure::Failure;
use crate::waiting;
use clap::ValueEnum;
use mcptest_core::escape::{escape, escape_lines};
use mcptest_core::problem::{self, Problem, Sources};
use mcptest_report::pretty::page::Page;
use parking_lot::RwLock;
use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

/// When output is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

static COLOUR: RwLock<Colour> = RwLock::new(Colour::Auto);

/// Sets when output is coloured.
pub fn set_colour(colour: Colour) {
    *COLOUR.write() = colour;
}

/// A string for display: without secrets, and without parts that control a terminal or a CI runner, whatever its
/// source. Everything that this program prints passes through it.
pub fn shown<'t>(text: &'t str, stream: &impl IsTerminal) -> Cow<'t, str> {
    let is_coloured = is_coloured(stream);
    match mcptest_replay::clean(text) {
        Cow::Borrowed(clean) => escape_lines(clean, is_coloured),
        Cow::Owned(clean) => Cow::Owned(escape_lines(&clean, is_coloured).into_owned()),
    }
}

/// Writes a string to standard output, filtered by [`shown`].
pub fn stdout(bytes: &[u8]) -> Result<(), Failure> {
    // Whole text is by far the most common, and quicker to check than to mend.
    let text =
        std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
    own(&shown(&text, &std::io::stdout()))
}

/// Writes lines that are commands to a CI runner: [`shown`] keeps their first two characters.
pub fn commands(bytes: &[u8]) -> Result<(), Failure> {
    let stdout = std::io::stdout();
    let line = |line: &str| format!("::{}\n", shown(line.trim_start_matches(':'), &stdout));
    own(&String::from_utf8_lossy(bytes)
        .lines()
        .map(line)
        .collect::<Vec<_>>()
        .concat())
}

/// Writes a fixed string of ours verbatim. A closed reader is not an error, a full disk is.
pub fn own(text: &str) -> Result<(), Failure> {
    let written = waiting::beside(text, || {
        let mut out = std::io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush())
    });
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::cannot("write to standard output", &error))
        }
        _ => Ok(()),
    }
}

/// Is somebody reading standard output?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// Somebody is.
    There,
    /// The reader closed its end.
    Gone,
}

/// Writes rows of a stream to standard output. The caller has filtered them as [`shown`] does.
pub fn rows(text: &str) -> Result<Reader, Failure> {
    let written = waiting::beside(text, || {
        let mut out = std::io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush())
    });
    match written {
        Ok(()) => Ok(Reader::There),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Reader::Gone),
        Err(error) => Err(Failure::cannot("write to standard output", &error)),
    }
}

/// Writes a string to standard error, filtered by [`shown`].
pub fn stderr(text: &str) {
    if text.is_empty() {
        return;
    }
    let text = shown(text, &std::io::stderr());
    let _gone = waiting::beside(&text, || {
        let mut out = std::io::stderr().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush())
    });
}

/// Writes notes of ours to standard error, wrapped as a [`page`] is.
pub fn notes(text: &str) {
    let width = console::Term::stderr()
        .size_checked()
        .map(|(_, columns)| usize::from(columns));
    stderr(&wrapped_lines(text, width));
}

/// Writes problems of files to standard error.
pub fn problems(problems: &[Problem], sources: &Sources) {
    stderr(&problem::render(
        problems,
        sources,
        is_coloured(&std::io::stderr()),
    ));
}

/// Names the links to folders that a walk did not enter.
pub fn not_entered(linked: &[std::path::PathBuf]) {
    if let Some(note) = mcptest_replay::not_entered(linked) {
        stderr(&format!("note: {note}\n"));
    }
}

/// Prints the error, and returns its exit code.
pub fn failure(failure: &Failure) -> ExitCode {
    let error = if failure.is_error() { "error: " } else { "" };
    stderr(&format!("{error}{}\n", on_its_line(&failure.why)));
    ExitCode::from(failure.exit_code())
}

/// Keeps quoted words of the command line on one line each.
fn on_its_line(text: &str) -> String {
    let words: Vec<String> = std::env::args_os()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    // Of `--name=value` the name may be quoted alone.
    let parts = words
        .iter()
        .flat_map(|word| [word.as_str()].into_iter().chain(word.split('=')));
    let odd = parts.filter(|part| part.contains(char::is_control));
    odd.fold(text.to_owned(), |text, part| {
        text.replace(part, &escape(part))
    })
}

/// Prints clap's message. Help and version succeed; other messages are invalid invocations.
pub fn usage(error: &clap::Error) -> ExitCode {
    let text = error.render();
    if error.use_stderr() {
        stderr(&on_its_line(&text.to_string()));
        return ExitCode::from(EXIT_BROKEN);
    }
    own(&text.to_string()).map_or_else(|lost| failure(&lost), |()| ExitCode::SUCCESS)
}

/// Returns true if a stream uses colour.
pub fn is_coloured(stream: &impl IsTerminal) -> bool {
    match *COLOUR.read() {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => {
            let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
            stream.is_terminal() && !set("NO_COLOR") && !is_dumb()
        }
    }
}

/// The options for a report on standard output.
pub fn report_options(verbose: u8) -> mcptest_report::Options {
    mcptest_report::Options {
        colour: is_coloured(&std::io::stdout()),
        ascii: is_dumb(),
        width: width(),
        verbose,
        ..mcptest_report::Options::default()
    }
}

/// An empty page for standard output, with the width, the colours and the marks of a report.
pub fn new_page() -> Page {
    Page::new(&report_options(0))
}

/// Returns true if lines on standard error can be drawn again: a terminal that is neither dumb nor the log of a CI job.
pub fn can_redraw() -> bool {
    let is_set = |name: &str| {
        std::env::var_os(name)
            .is_some_and(|value| !value.is_empty() && value != "0" && value != "false")
    };
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    std::io::stderr().is_terminal() && (!is_dumb || cfg!(windows)) && !is_set("CI")
}

/// Returns true if the terminal shows only plain text.
pub fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// The width to wrap at: the terminal's, otherwise `COLUMNS`.
pub fn width() -> Option<usize> {
    match console::Term::stdout().size_checked() {
        Some((_, columns)) => Some(usize::from(columns)),
        None => std::env::var("COLUMNS").ok()?.parse().ok(),
    }
}

/// Writes lines to standard output, wrapped at the known width. A continued line is indented by two
/// columns, or by the last cell of its table.
pub fn page(text: &str) -> Result<(), Failure> {
    stdout(wrapped_lines(text, width()).as_bytes())
}

fn wrapped_lines(text: &str, width: Option<usize>) -> Cow<'_, str> {
    let Some(width) = width else {
        return Cow::Borrowed(text);
    };
    text.lines()
        .flat_map(|line| [wrapped(line, width.max(40)), "\n".to_owned()])
        .collect()
}

fn wrapped(line: &str, width: usize) -> String {
    if console::measure_text_width(line) <= width {
        return line.to_owned();
    }
    let plain = console::strip_ansi_codes(line);
    let indent = plain.len() - plain.trim_start().len();
    // The last cell begins after the last gap; where it would be narrow, the line goes on at its left.
    let cell = plain
        .trim_end()
        .rfind("  ")
        .map_or(0, |at| console::measure_text_width(&plain[..at + 2]));
    let hang = if cell > indent && cell <= width / 2 {
        cell
    } else {
        indent + 2
    };
    let (mut out, mut column) = (String::new(), 0);
    for word in line.split_inclusive(' ') {
        let wide = console::measure_text_width(word.trim_end());
        if column + wide > width && column > hang {
            out.truncate(out.trim_end().len());
            out.push_str(&format!("\n{}", " ".repeat(hang)));
            column = hang;
        }
        out.push_str(word);
        column += console::measure_text_width(word);
    }
    out
}

/// Colours, if enabled.
#[derive(Debug, Clone, Copy, Default)]
pub struct Paint {
    is_on: bool,
}

impl Paint {
    /// For standard output.
    pub fn stdout() -> Self {
        Self {
            is_on: is_coloured(&std::io::stdout()),
        }
    }

    /// For standard error.
    pub fn stderr() -> Self {
        Self {
            is_on: is_coloured(&std::io::stderr()),
        }
    }

    /// The text without colour.
    pub fn plain(self, text: &str) -> String {
        self.with("", text)
    }

    /// Bold text.
    pub fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    /// Faint text.
    pub fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// Cyan text.
    pub fn cyan(self, text: &str) -> String {
        self.with("36", text)
    }

    /// Green text.
    pub fn green(self, text: &str) -> String {
        self.with("32", text)
    }

    /// Bold red text.
    pub fn red(self, text: &str) -> String {
        self.with("1;31", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.is_on && !code.is_empty() && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn a_line_goes_on_further_in_or_under_its_last_cell() {
        let line = "  user        How many of the open invoices of last month are overdue by now?";
        let said = "  user        How many of the\n              open invoices of\n              last month are\n              \
                    overdue by now?";
        assert_eq!(wrapped(line, 32), said);
        assert_eq!(
            wrapped("  → search {\"q\": \"rust\"}", 16),
            "  → search {\"q\":\n    \"rust\"}"
        );
        let red = "\u{1b}[1;31m  ← error\u{1b}[0m no";
        assert_eq!(wrapped(red, 12), red, "colours take no room");
    }
}
