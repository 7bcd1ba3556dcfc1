//! The panic of a Rust program.

use super::library::is_library;
use super::{Frame, Order, Part, Report};

/// The last panic.
pub(super) fn report<'a>(lines: &[&'a str]) -> Option<Report<'a>> {
    let panic = lines
        .iter()
        .rposition(|line| line.starts_with("thread '") && line.contains(" panicked at "))?;
    let (_, place) = lines[panic].split_once(" panicked at ")?;
    // Before Rust 1.73 the message was on the same line.
    let cause = match place.strip_suffix(':') {
        Some(place) => format!("{} (panicked at {place})", lines.get(panic + 1)?),
        None => format!("panicked at {place}"),
    };
    let mut parts = vec![Part::Text(lines[panic])];
    let mut end = panic + 1;
    for line in &lines[end..] {
        if is_name(line) {
            parts.push(Part::Frame(Frame {
                lines: vec![line],
                is_of_a_library: is_in_std(line),
            }));
        } else if line.trim_start().starts_with("at ") && line.starts_with("     ") {
            if let Some(Part::Frame(frame)) = parts.last_mut() {
                frame.lines.push(line);
                frame.is_of_a_library = is_library(line);
            }
        } else if !is_advice(line) {
            // Text after the frames is not part of the panic.
            if matches!(parts.last(), Some(Part::Frame(_))) {
                break;
            }
            parts.push(Part::Text(line));
        }
        end += 1;
    }
    Some(Report {
        cause,
        lines_before: panic,
        end,
        order: Order::CauseFirst,
        parts,
        ending: lines[end..].to_vec(),
    })
}

/// `   3: agent::price_of`.
fn is_name(line: &str) -> bool {
    line.starts_with(' ')
        && line
            .trim_start()
            .split_once(": ")
            .is_some_and(|(number, _)| {
                !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
            })
}

/// Returns true for a frame without a file that belongs to the standard library.
fn is_in_std(line: &str) -> bool {
    const STARTS: &[&str] = &["std::", "core::", "alloc::", "rust_", "__rust", "<"];
    let name = line.split_once(": ").map_or("", |(_, name)| name);
    STARTS.iter().any(|start| name.starts_with(start))
}

/// `note: run with RUST_BACKTRACE=1`.
fn is_advice(line: &str) -> bool {
    line.starts_with("note: ") && line.contains("RUST_BACKTRACE")
}
