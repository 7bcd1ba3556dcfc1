//! The panic of a Go program.

use super::library::is_library;
use super::{Frame, Order, Part, Report};

/// The last panic, with the stack of the goroutine that panicked.
pub(super) fn report<'a>(lines: &[&'a str]) -> Option<Report<'a>> {
    let stack = lines.iter().position(|line| is_goroutine(line))?;
    let is_panic = |line: &&str| line.starts_with("panic: ") || line.starts_with("fatal error: ");
    let panic = lines[..stack].iter().rposition(is_panic)?;
    let mut parts: Vec<Part<'a>> = lines[panic..=stack]
        .iter()
        .filter(|line| !line.is_empty())
        .map(|line| Part::Text(line))
        .collect();
    let mut at = stack + 1;
    while let Some([name, place]) = lines
        .get(at..at + 2)
        .filter(|pair| pair[1].starts_with('\t'))
    {
        parts.push(Part::Frame(Frame {
            lines: vec![name, place],
            is_of_a_library: is_library(place),
        }));
        at += 2;
    }
    Some(Report {
        cause: lines[panic].to_owned(),
        lines_before: panic,
        end: at,
        order: Order::CauseFirst,
        parts,
        ending: after_other_goroutines(&lines[at..]).to_vec(),
    })
}

/// `goroutine 1 [running]:`.
fn is_goroutine(line: &str) -> bool {
    line.starts_with("goroutine ") && line.ends_with("]:")
}

/// The lines after the stacks of the goroutines that did not panic.
fn after_other_goroutines<'a, 'l>(lines: &'l [&'a str]) -> &'l [&'a str] {
    let last_frame = lines.iter().rposition(|line| line.starts_with('\t'));
    &lines[last_frame.map_or(0, |at| at + 1)..]
}
