//! Which part of a crashed program's standard error names the cause?

mod go;
mod library;
mod node;
mod python;
mod rust;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;

/// The bytes of a cause to show.
const LONGEST_CAUSE: usize = 300;
/// The end of the standard error gets one line of an excerpt in three.
const ENDING_SHARE: usize = 3;

/// The cause of a program's end, according to its standard error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crash {
    /// The innermost exception or the panic, on one line. `None` if the runtime of no known language reported one.
    pub cause: Option<String>,
    /// The report of the cause without the frames of libraries, then the end of the standard error.
    pub excerpt: Vec<String>,
}

impl Crash {
    /// Reads a standard error. The excerpt has at most `most_lines` lines, not counting lines such as
    /// `… 12 library frames`.
    pub fn read(stderr: &str, most_lines: usize) -> Self {
        let lines: Vec<&str> = stderr.trim_end().lines().collect();
        let reports = [python::report, node::report, rust::report, go::report];
        let last = reports
            .iter()
            .filter_map(|report| report(&lines))
            // A part of a report may look like one of another language.
            .max_by_key(|report| (report.end, Reverse(report.lines_before)));
        match last {
            Some(report) => report.shown(most_lines),
            None => Self {
                cause: None,
                excerpt: ending(&lines, most_lines),
            },
        }
    }

    /// The words after `ended with code 1`.
    pub fn said(&self) -> String {
        match (&self.cause, &self.excerpt[..]) {
            (_, []) => " and wrote nothing to its standard error".to_owned(),
            (_, [line]) => format!(": {}", line.trim()),
            (Some(cause), lines) => {
                format!(
                    ": {cause}; its standard error ends with:\n{}",
                    lines.join("\n")
                )
            }
            (None, lines) => format!("; its standard error ends with:\n{}", lines.join("\n")),
        }
    }
}

/// The report that the runtime of a language writes when a program crashes.
#[derive(Debug)]
struct Report<'a> {
    /// The cause on one line.
    cause: String,
    /// The lines of the standard error before the report.
    lines_before: usize,
    /// The line of the standard error after the report.
    end: usize,
    order: Order,
    parts: Vec<Part<'a>>,
    /// The lines after the report.
    ending: Vec<&'a str>,
}

/// The order in which a language writes frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// The frames come first, the innermost last, then the cause.
    CauseLast,
    /// The cause comes first, then the frames, the innermost first.
    CauseFirst,
}

/// A part of a report.
#[derive(Debug)]
enum Part<'a> {
    Text(&'a str),
    Frame(Frame<'a>),
}

/// A call on the stack.
#[derive(Debug)]
struct Frame<'a> {
    lines: Vec<&'a str>,
    is_of_a_library: bool,
}

impl<'a> Report<'a> {
    fn shown(&self, most_lines: usize) -> Crash {
        let ending = ending(&self.ending, most_lines / ENDING_SHARE);
        let mut excerpt = Vec::new();
        excerpt.extend(left_out(self.lines_before, "line"));
        let most_of_report = most_lines.saturating_sub(ending.len()).max(1);
        excerpt.extend(self.cut(self.folded(), most_of_report));
        excerpt.extend(ending);
        Crash {
            cause: Some(shortened(&self.cause)),
            excerpt,
        }
    }

    fn frames(&self) -> impl DoubleEndedIterator<Item = &Frame<'a>> {
        self.parts.iter().filter_map(|part| match part {
            Part::Frame(frame) => Some(frame),
            Part::Text(_) => None,
        })
    }

    /// Its lines, with the frames of libraries counted. If all are of libraries, the innermost stays.
    fn folded(&self) -> Vec<String> {
        let has_own = self.frames().any(|frame| !frame.is_of_a_library);
        let innermost = match self.order {
            Order::CauseLast => self.frames().next_back(),
            Order::CauseFirst => self.frames().next(),
        };
        let stays = |frame: &Frame<'_>| {
            !frame.is_of_a_library
                || (!has_own && innermost.is_some_and(|one| std::ptr::eq(one, frame)))
        };
        let mut folded = Vec::new();
        let mut hidden = 0;
        for part in &self.parts {
            let lines: &[&str] = match part {
                Part::Frame(frame) if !stays(frame) => {
                    hidden += 1;
                    continue;
                }
                Part::Frame(frame) => &frame.lines,
                Part::Text(text) => std::slice::from_ref(text),
            };
            folded.extend(left_out(hidden, "library frame"));
            hidden = 0;
            folded.extend(lines.iter().map(|line| (*line).to_owned()));
        }
        folded.extend(left_out(hidden, "library frame"));
        folded
    }

    /// The lines next to the cause.
    fn cut(&self, lines: Vec<String>, most: usize) -> Vec<String> {
        let surplus = lines.len().saturating_sub(most);
        match self.order {
            _ if surplus == 0 => lines,
            Order::CauseLast => left_out(surplus, "line")
                .into_iter()
                .chain(lines.into_iter().skip(surplus))
                .collect(),
            Order::CauseFirst => lines
                .into_iter()
                .take(most)
                .chain(left_out(surplus, "line"))
                .collect(),
        }
    }
}

/// The last lines of a text.
fn ending(lines: &[&str], most: usize) -> Vec<String> {
    let first = lines
        .iter()
        .take_while(|line| line.trim().is_empty())
        .count();
    let lines = &lines[first..];
    let surplus = lines.len().saturating_sub(most);
    left_out(surplus, "line")
        .into_iter()
        .chain(lines[surplus..].iter().map(|line| (*line).to_owned()))
        .collect()
}

/// `  … 12 library frames`.
fn left_out(count: usize, what: &str) -> Option<String> {
    let s = if count == 1 { "" } else { "s" };
    (count > 0).then(|| format!("  … {count} {what}{s}"))
}

fn shortened(cause: &str) -> String {
    let cause = cause.trim();
    match cause.char_indices().nth(LONGEST_CAUSE) {
        Some((end, _)) => format!("{}…", &cause[..end]),
        None => cause.to_owned(),
    }
}
