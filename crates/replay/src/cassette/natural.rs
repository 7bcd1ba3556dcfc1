//! In which order would a person list these files?

use std::cmp::Ordering;
use std::path::Path;

/// Orders paths part by part, with numbers by their value: `run-2` before `run-10`.
pub(crate) fn by_path(one: &Path, other: &Path) -> Ordering {
    let parts = |path: &Path| -> Vec<String> {
        path.components()
            .map(|part| part.as_os_str().to_string_lossy().into_owned())
            .collect()
    };
    let (one_parts, other_parts) = (parts(one), parts(other));
    let mut pairs = one_parts.iter().zip(&other_parts);
    pairs
        .find_map(|(one, other)| Some(by_text(one, other)).filter(|order| order.is_ne()))
        .unwrap_or_else(|| one_parts.len().cmp(&other_parts.len()))
        .then_with(|| one.cmp(other))
}

fn by_text(one: &str, other: &str) -> Ordering {
    let (mut one_rest, mut other_rest) = (one, other);
    while !one_rest.is_empty() && !other_rest.is_empty() {
        let (one_chunk, other_chunk) = (chunk(&mut one_rest), chunk(&mut other_rest));
        let order = match (number(one_chunk), number(other_chunk)) {
            (Some(one), Some(other)) => (one.len(), one).cmp(&(other.len(), other)),
            _ => one_chunk.cmp(other_chunk),
        };
        if order.is_ne() {
            return order;
        }
    }
    one_rest
        .len()
        .cmp(&other_rest.len())
        .then_with(|| one.cmp(other))
}

/// Removes the leading digits, or the characters up to the next digit, and returns them.
fn chunk<'a>(text: &mut &'a str) -> &'a str {
    let is_number = text.starts_with(|first: char| first.is_ascii_digit());
    let end = text
        .find(|next: char| next.is_ascii_digit() != is_number)
        .unwrap_or(text.len());
    let (chunk, rest) = text.split_at(end);
    *text = rest;
    chunk
}

/// The digits without leading zeros: the longer one is the larger number.
fn number(chunk: &str) -> Option<&str> {
    chunk
        .starts_with(|first: char| first.is_ascii_digit())
        .then(|| chunk.trim_start_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_ordered_by_value_and_folders_before_names() {
        let mut paths = [
            "b/run-1", "a/run-10", "a/run-2", "a/run-02", "a/run", "a10/x", "a2/x", "a/run-2b",
        ];
        paths.sort_by(|one, other| by_path(Path::new(one), Path::new(other)));
        assert_eq!(
            paths,
            [
                "a/run", "a/run-02", "a/run-2", "a/run-2b", "a/run-10", "a2/x", "a10/x", "b/run-1"
            ]
        );
    }

    #[test]
    fn a_number_longer_than_any_integer_is_still_a_number() {
        let huge = format!("run-{}", "9".repeat(50));
        assert_eq!(by_text("run-10", &huge), Ordering::Less);
    }
}
