//! The stack of an error in JavaScript, and of an exception in Java: lines that begin with `at`.

use super::library::is_library;
use super::{Frame, Order, Part, Report};

/// The number of lines above a stack in which its error may be.
const LONGEST_MESSAGE: usize = 12;

/// The last error with a stack, with its causes.
pub(super) fn report<'a>(lines: &[&'a str]) -> Option<Report<'a>> {
    let stacks = stacks(lines);
    let own = stacks.iter().rposition(|stack| !stack.is_cause)?;
    let (error, causes) = stacks[own..].split_first()?;
    let cause = match causes.last() {
        Some(root) => format!("{} (caused by {})", error.error, root.error),
        None => error.error.to_owned(),
    };
    let lines_before = source_excerpt(lines, error.error_line).unwrap_or(error.error_line);
    let end = causes.last().unwrap_or(error).end;
    let mut parts = Vec::new();
    for line in &lines[lines_before..end] {
        parts.push(if is_frame(line) {
            Part::Frame(Frame {
                lines: vec![line],
                is_of_a_library: is_frame_of_a_library(line),
            })
        } else {
            Part::Text(line)
        });
    }
    let is_said_of_node = |line: &&&str| !line.starts_with("Node.js v");
    Some(Report {
        cause,
        lines_before,
        end,
        order: Order::CauseFirst,
        parts,
        ending: lines[end..]
            .iter()
            .filter(is_said_of_node)
            .copied()
            .collect(),
    })
}

#[derive(Debug)]
struct Stack<'a> {
    error: &'a str,
    error_line: usize,
    /// The line belongs to the error above it.
    is_cause: bool,
    /// The line after its last frame.
    end: usize,
}

fn stacks<'a>(lines: &[&'a str]) -> Vec<Stack<'a>> {
    let mut stacks: Vec<Stack<'a>> = Vec::new();
    for at in (0..lines.len()).filter(|at| is_frame(lines[*at])) {
        match stacks.last_mut() {
            Some(stack) if stack.end == at => stack.end = at + 1,
            _ => {
                let begun = stacks.last().map_or(0, |stack| stack.end);
                if let Some(error_line) = error_line(&lines[begun..at]) {
                    let text = lines[begun + error_line].trim();
                    let cause = ["[cause]: ", "Caused by: "]
                        .iter()
                        .find_map(|mark| text.strip_prefix(mark));
                    stacks.push(Stack {
                        error: cause.unwrap_or(text),
                        error_line: begun + error_line,
                        is_cause: cause.is_some() && begun > 0,
                        end: at + 1,
                    });
                }
            }
        }
    }
    stacks
}

/// The line that names the error: the nearest that has the word, otherwise the last.
fn error_line(above: &[&str]) -> Option<usize> {
    let names = |line: &str| {
        ["Error", "Exception"]
            .iter()
            .any(|word| line.contains(word))
    };
    let nearest = above.iter().rposition(|line| names(line));
    let last = above.iter().rposition(|line| !line.trim().is_empty());
    nearest
        .filter(|at| above.len() - at <= LONGEST_MESSAGE)
        .or(last)
}

/// `    at priceOf (file:///agent.mjs:2:27)`.
fn is_frame(line: &str) -> bool {
    let inner = line.trim_start();
    let is_elided = inner.starts_with("... ") && inner.contains("stack trace");
    inner.len() < line.len() && (inner.starts_with("at ") || is_elided)
}

fn is_frame_of_a_library(line: &str) -> bool {
    const JAVA: &[&str] = &[
        "at java.",
        "at java.base/",
        "at javax.",
        "at jdk.",
        "at sun.",
    ];
    let inner = line.trim_start();
    is_library(inner)
        || inner.starts_with("... ")
        || inner.ends_with("(<anonymous>)")
        || JAVA.iter().any(|start| inner.starts_with(start))
}

/// The first line of the source that Node shows above an error, if it is the user's own.
fn source_excerpt(lines: &[&str], error_line: usize) -> Option<usize> {
    let caret = error_line.checked_sub(2)?;
    let marks = lines[caret].trim();
    let is_marked = !marks.is_empty() && marks.chars().all(|mark| mark == '^');
    let place = caret
        .checked_sub(2)
        .filter(|_| is_marked && lines[error_line - 1].is_empty())?;
    (!is_library(lines[place])).then_some(place)
}
