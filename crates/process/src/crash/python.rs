//! The traceback of a Python program: exceptions, their chains and their groups.

use super::library::is_library;
use super::{Frame, Order, Part, Report};

const HEADER: &str = "Traceback (most recent call last):";
const GROUP_HEADER: &str = "Exception Group Traceback (most recent call last):";
const CAUSED: &str = "The above exception was the direct cause of the following exception:";
const HANDLING: &str = "During handling of the above exception, another exception occurred:";

/// Exceptions of a task that mean that another task failed.
const OF_ANOTHER_TASK: &[&str] = &[
    "CancelledError",
    "Cancelled",
    "BrokenResourceError",
    "ClosedResourceError",
];

/// The last exception in the text. For a group, the innermost one that no other task caused,
/// preferably one that passed through the user's code.
pub(super) fn report<'a>(lines: &[&'a str]) -> Option<Report<'a>> {
    let sections = sections(lines);
    let last = sections
        .iter()
        .rposition(|section| !section.tracebacks().is_empty())?;
    let after = |section: &Section<'a>| &lines[section.end()..];
    if sections[last].depth == 0 {
        let section = &sections[last];
        let traceback = section.tracebacks().pop()?;
        return Some(traceback.report(section, after(section), ""));
    }
    let first = sections[..last]
        .iter()
        .rposition(|section| section.depth == 0 && section.has_text())
        .map_or(0, |at| at + 1);
    let end = sections[last..]
        .iter()
        .position(|section| section.depth == 0)
        .map_or(sections.len(), |more| last + more);
    let group = &sections[first..end];
    let leaves: Vec<(&Section<'a>, Traceback<'a>)> = group
        .iter()
        .filter(|section| section.depth > 0 && section.has_text())
        .filter_map(|section| Some((section, section.leaf()?)))
        .collect();
    let is_first = |leaf: &Traceback<'_>| !leaf.came_of_another_task();
    let root = leaves
        .iter()
        .position(|(_, leaf)| is_first(leaf) && leaf.has_own_frames())
        .or_else(|| leaves.iter().position(|(_, leaf)| is_first(leaf)));
    let others = match leaves.len() {
        0 | 1 => String::new(),
        count => format!(" (one of {count} exceptions)"),
    };
    let (section, leaf) = leaves.into_iter().nth(root.unwrap_or_default())?;
    let after = group.last().map_or(&[][..], after);
    Some(leaf.report(section, after, &others))
}

/// Lines that follow each other within one exception of a group, or outside of all groups.
#[derive(Debug)]
struct Section<'a> {
    /// The column of the line that Python draws next to an exception of a group; 0 outside of
    /// groups.
    depth: usize,
    start: usize,
    /// Its lines, without that drawing.
    lines: Vec<&'a str>,
}

/// Python's drawing next to the exceptions of a group.
enum Drawn<'a> {
    /// `  | `, or the first line of a group.
    Beside {
        depth: usize,
        text: &'a str,
    },
    /// `  +-+---------------- 1 ----------------`.
    Between,
    Nothing,
}

fn drawn(line: &str) -> Drawn<'_> {
    let inner = line.trim_start();
    let depth = line.len() - inner.len();
    let is_header = inner
        .strip_prefix("+ ")
        .is_some_and(|text| text == GROUP_HEADER);
    if depth == 0 {
        Drawn::Nothing
    } else if is_header || inner.starts_with("| ") {
        Drawn::Beside {
            depth,
            text: &inner[2..],
        }
    } else if inner.trim_end() == "|" {
        Drawn::Beside { depth, text: "" }
    } else if inner.starts_with("+-") {
        Drawn::Between
    } else {
        Drawn::Nothing
    }
}

fn sections<'a>(lines: &[&'a str]) -> Vec<Section<'a>> {
    let mut sections: Vec<Section<'a>> = Vec::new();
    let mut is_new = true;
    let mut is_in_group = false;
    for (at, line) in lines.iter().enumerate() {
        let is_header = line.trim_start().strip_prefix("+ ") == Some(GROUP_HEADER);
        let drawn = if is_in_group || is_header {
            drawn(line)
        } else {
            Drawn::Nothing
        };
        is_in_group = !matches!(drawn, Drawn::Nothing);
        let (depth, text) = match drawn {
            Drawn::Between => {
                is_new = true;
                continue;
            }
            Drawn::Beside { depth, text } => (depth, text),
            Drawn::Nothing => (0, *line),
        };
        match sections.last_mut() {
            Some(section) if !is_new && section.depth == depth && !is_header => {
                section.lines.push(text);
            }
            _ => sections.push(Section {
                depth,
                start: at,
                lines: vec![text],
            }),
        }
        is_new = false;
    }
    sections
}

impl<'a> Section<'a> {
    fn end(&self) -> usize {
        self.start + self.lines.len()
    }

    fn has_text(&self) -> bool {
        self.lines.iter().any(|line| !line.trim().is_empty())
    }

    /// The exception of a group that is not a group itself. One that was never raised has no traceback.
    fn leaf(&self) -> Option<Traceback<'a>> {
        if self.lines.contains(&GROUP_HEADER) {
            return None;
        }
        let unraised = || {
            Some(Traceback {
                link: None,
                parts: vec![Part::Text(self.lines.first()?)],
                exception: self.lines.first()?,
                start: 0,
                line: 0,
            })
        };
        self.tracebacks().pop().or_else(unraised)
    }

    /// Its tracebacks with an exception. A chain is one traceback.
    fn tracebacks(&self) -> Vec<Traceback<'a>> {
        let mut tracebacks: Vec<Traceback<'a>> = Vec::new();
        let mut link = None;
        let mut at = 0;
        while at < self.lines.len() {
            let line = self.lines[at];
            if line == CAUSED || line == HANDLING {
                link = tracebacks.pop().map(|before| Link {
                    is_direct: line == CAUSED,
                    words: line,
                    before: Box::new(before),
                });
            } else if line == HEADER || line == GROUP_HEADER || is_frame(line) {
                let header = (!is_frame(line)).then_some(line);
                let start = at;
                let (parts, line) = stack(&self.lines, start, header);
                at = line;
                if let Some(exception) = self.lines.get(line) {
                    let link = link.take();
                    tracebacks.push(Traceback {
                        link,
                        parts,
                        exception,
                        start,
                        line,
                    });
                }
            }
            at += 1;
        }
        tracebacks
    }
}

/// `  File "agent.py", line 7, in main`.
fn is_frame(line: &str) -> bool {
    line.strip_prefix("  File \"")
        .is_some_and(|rest| rest.contains("\", line "))
}

/// The header and the frames from this line on, and the line after them.
fn stack<'a>(lines: &[&'a str], start: usize, header: Option<&'a str>) -> (Vec<Part<'a>>, usize) {
    let mut parts: Vec<Part<'a>> = header.map(Part::Text).into_iter().collect();
    let mut at = start + parts.len();
    while let Some(line) = lines.get(at).filter(|line| line.starts_with(' ')) {
        match parts.last_mut() {
            _ if is_frame(line) => parts.push(Part::Frame(Frame {
                lines: vec![line],
                is_of_a_library: is_library(path(line)),
            })),
            Some(Part::Frame(frame)) => frame.lines.push(line),
            _ => parts.push(Part::Text(line)),
        }
        at += 1;
    }
    (parts, at)
}

fn path(frame: &str) -> &str {
    frame.split('"').nth(1).unwrap_or_default()
}

/// `    +------------------------------------`, which ends a group.
fn is_border(line: &str) -> bool {
    let inner = line.trim();
    inner.starts_with("+---") && inner[1..].bytes().all(|byte| byte == b'-')
}

/// The path to an exception, and the exception.
#[derive(Debug)]
struct Traceback<'a> {
    link: Option<Link<'a>>,
    parts: Vec<Part<'a>>,
    exception: &'a str,
    /// Its first line in its section.
    start: usize,
    /// The line of the exception in its section.
    line: usize,
}

/// The exception before this one.
#[derive(Debug)]
struct Link<'a> {
    is_direct: bool,
    words: &'a str,
    before: Box<Traceback<'a>>,
}

impl<'a> Traceback<'a> {
    fn has_own_frames(&self) -> bool {
        let own = |part: &Part<'_>| matches!(part, Part::Frame(frame) if !frame.is_of_a_library);
        self.parts.iter().any(own)
            || self
                .link
                .as_ref()
                .is_some_and(|link| link.before.has_own_frames())
    }

    /// Returns true for an exception that a task raised only because another task failed.
    fn came_of_another_task(&self) -> bool {
        let name = self.exception.split(':').next().unwrap_or_default();
        let name = name.rsplit('.').next().unwrap_or_default();
        OF_ANOTHER_TASK.contains(&name)
            || self
                .link
                .as_ref()
                .is_some_and(|link| link.before.came_of_another_task())
    }

    /// The exception, and its causes.
    fn cause(&self) -> String {
        match &self.link {
            Some(link) if link.is_direct => {
                format!(
                    "{} (caused by {})",
                    self.exception,
                    link.before.root().exception
                )
            }
            // Code that tries twice raises one exception twice.
            Some(link) if link.before.exception == self.exception => self.exception.to_owned(),
            Some(link) => format!(
                "{} (while handling {})",
                self.exception, link.before.exception
            ),
            None => self.exception.to_owned(),
        }
    }

    /// The first exception of the chain of direct causes.
    fn root(&self) -> &Self {
        match &self.link {
            Some(link) if link.is_direct => link.before.root(),
            _ => self,
        }
    }

    fn first_of_chain(&self) -> &Self {
        self.link
            .as_ref()
            .map_or(self, |link| link.before.first_of_chain())
    }

    fn report(self, section: &Section<'a>, after: &[&'a str], others: &str) -> Report<'a> {
        let rest = &section.lines[self.line + 1..];
        let cause = self.cause() + others;
        let end = section.start + self.line + 1;
        let lines_before = section.start + self.first_of_chain().start;
        let mut parts = Vec::new();
        self.add_to(&mut parts);
        Report {
            cause,
            lines_before,
            end,
            order: Order::CauseLast,
            parts,
            ending: rest
                .iter()
                .chain(after)
                .copied()
                .filter(|line| !is_border(line))
                .collect(),
        }
    }

    /// Adds the chain of tracebacks, the first one first.
    fn add_to(self, parts: &mut Vec<Part<'a>>) {
        if let Some(link) = self.link {
            link.before.add_to(parts);
            parts.push(Part::Text(link.words));
        }
        let is_without_traceback =
            matches!(&self.parts[..], [Part::Text(text)] if *text == self.exception);
        parts.extend(self.parts);
        if !is_without_traceback {
            parts.push(Part::Text(self.exception));
        }
    }
}
