//! Which parts of a string are removed, and what replaces them?

use super::placeholder;
use std::ops::Range;

/// The knowledge about a found secret, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// It matches a pattern of the suite.
    Pattern,
    /// It is the value of a secret name.
    Key,
    /// It has the shape of a known kind of token.
    Shape,
    /// It is the value of a named variable.
    Named,
}

/// A part of a string that is secret.
#[derive(Debug, Clone)]
pub(super) struct Span<'r> {
    pub(super) at: Range<usize>,
    pub(super) rank: Rank,
    pub(super) what: &'r str,
    pub(super) is_hashed: bool,
}

/// A part of a string and its replacement.
#[derive(Debug)]
pub(super) struct Edit<'r> {
    pub(super) at: Range<usize>,
    pub(super) what: &'r str,
    pub(super) with: String,
}

/// Joins overlapping spans, skips `protected` ranges, and writes the placeholders.
pub(super) fn resolve<'r>(
    text: &str,
    mut spans: Vec<Span<'r>>,
    protected: &[Range<usize>],
) -> Vec<Edit<'r>> {
    spans.sort_by_key(|span| span.at.start);
    let mut edits = Vec::new();
    let mut spans = spans.into_iter().peekable();
    let mut protected = protected;
    while let Some(mut best) = spans.next() {
        let mut whole = best.at.clone();
        while let Some(next) = spans.next_if(|next| joins(&best, &whole, next)) {
            whole.end = whole.end.max(next.at.end);
            if (next.at.len(), next.rank) > (best.at.len(), best.rank) {
                best = next;
            }
        }
        let secret = &text[best.at.clone()];
        let with = if best.is_hashed {
            placeholder::hashed(best.what, secret.as_bytes())
        } else {
            placeholder::plain(best.what)
        };
        let passed = protected.partition_point(|kept| kept.end <= whole.start);
        protected = &protected[passed..];
        for at in without(whole, protected) {
            edits.push(Edit {
                at,
                what: best.what,
                with: with.clone(),
            });
        }
    }
    edits
}

/// Overlapping spans are joined, and so are adjacent matches of one pattern: otherwise `.` would
/// become a thousand placeholders.
fn joins(best: &Span<'_>, whole: &Range<usize>, next: &Span<'_>) -> bool {
    let continues =
        next.rank == Rank::Pattern && best.rank == Rank::Pattern && best.what == next.what;
    next.at.start < whole.end || (continues && next.at.start == whole.end)
}

/// The parts of a range outside the protected ranges, which are in order.
fn without(range: Range<usize>, protected: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut rest = Vec::new();
    let mut start = range.start;
    for kept in protected.iter().take_while(|kept| kept.start < range.end) {
        if start < kept.start {
            rest.push(start..kept.start);
        }
        start = start.max(kept.end);
    }
    if start < range.end {
        rest.push(start..range.end);
    }
    rest
}

/// Applies edits to the text. They are in order and do not overlap.
pub(super) fn apply(text: &str, edits: &[Edit<'_>]) -> String {
    let mut result = String::with_capacity(text.len() + 16 * edits.len());
    let mut at = 0;
    for edit in edits {
        result.push_str(&text[at..edit.at.start]);
        result.push_str(&edit.with);
        at = edit.at.end;
    }
    result.push_str(&text[at..]);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(at: Range<usize>, rank: Rank, what: &str) -> Span<'_> {
        Span {
            at,
            rank,
            what,
            is_hashed: false,
        }
    }

    fn resolved(text: &str, spans: Vec<Span<'_>>, protected: &[Range<usize>]) -> String {
        apply(text, &resolve(text, spans, protected))
    }

    #[test]
    fn overlapping_finds_go_as_one_under_the_name_of_the_longest() {
        let spans = vec![span(2..5, Rank::Named, "A"), span(0..4, Rank::Shape, "b")];
        assert_eq!(resolved("0123456", spans, &[]), "[redacted:b]56");
    }

    #[test]
    fn of_equal_finds_the_one_that_knows_most_names_it() {
        let spans = vec![
            span(1..4, Rank::Key, "key"),
            span(1..4, Rank::Named, "A"),
            span(1..4, Rank::Shape, "b"),
        ];
        assert_eq!(resolved("01234", spans, &[]), "0[redacted:A]4");
    }

    #[test]
    fn neighbours_stay_two() {
        let spans = vec![span(0..2, Rank::Named, "A"), span(2..4, Rank::Named, "A")];
        assert_eq!(resolved("0123", spans, &[]), "[redacted:A][redacted:A]");
    }

    #[test]
    fn touching_matches_of_one_pattern_become_one() {
        let spans = (0..4)
            .map(|at| span(at..at + 1, Rank::Pattern, "p"))
            .collect();
        assert_eq!(resolved("0123", spans, &[]), "[redacted:p]");
    }

    #[test]
    fn what_is_protected_stays() {
        let spans = vec![span(0..8, Rank::Pattern, "p")];
        let kept = [2..4, 5..6];
        assert_eq!(
            resolved("01(3)(67", spans, &kept),
            "[redacted:p](3[redacted:p]([redacted:p]"
        );
        assert_eq!(
            resolved("01(3)(67", vec![span(2..4, Rank::Named, "A")], &kept),
            "01(3)(67"
        );
    }
}
