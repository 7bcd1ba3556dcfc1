//! Why did a run fail, in the fewest sentences? By alignment if order counts, otherwise by
//! competition.

use super::comparison::Comparison;
use super::mismatch::{Unmatched, mismatches};
use super::reference::MatchMode;
use super::table::Beside;
use super::trace_validation::TraceMismatch;
use super::verdict::{Assignment, TraceVerdict};
use super::wording::list;
use crate::engine::scores::RunScores;
use crate::pairing::alignment::AlignmentStep::{self, Extra, Match, Missing, Substitute};
use crate::pairing::alignment::{Alignment, align_by};
use crate::pairing::assignment::{Competition, Groups, competition, smallest_competition};
use crate::report::{AssertionDiff, Pairing};
use crate::words::plural;

const MOST_FINDINGS: usize = 20;
const MOST_COMPETITIONS: usize = 5;
const MOST_LOOKS: usize = 100;

/// One sentence, and the differing values.
struct Sentence {
    text: String,
    differences: Vec<AssertionDiff>,
}

impl From<TraceMismatch> for Sentence {
    fn from(mismatch: TraceMismatch) -> Self {
        Self {
            text: mismatch.reason,
            differences: mismatch.diffs,
        }
    }
}

impl From<String> for Sentence {
    fn from(text: String) -> Self {
        Self {
            text,
            differences: Vec::new(),
        }
    }
}

/// Why a run failed.
struct Explanation {
    sentences: Vec<Sentence>,
    /// The number of mismatches that the sentences omit.
    unsaid: usize,
    /// The calls side by side, if that table shows the mismatch completely.
    pairs: Option<Vec<Beside>>,
}

/// Adds the findings behind a verdict, the number of omitted findings, and the calls side by side
/// if they show the same.
pub(super) fn explain(comparison: &Comparison<'_>, verdict: &TraceVerdict, scores: &mut RunScores) {
    let mismatched = verdict.mismatch_count();
    if mismatched == 0 {
        return;
    }
    let explanation = match verdict {
        TraceVerdict::InStep(_) => explain_in_step(comparison),
        TraceVerdict::InOrder(partners) => explain_in_order(comparison, verdict, partners),
        TraceVerdict::Matched(assignment) => explain_matched(comparison, assignment, mismatched),
        TraceVerdict::Whole { assignment, .. } => explain_whole(comparison, assignment),
    };
    if let Some(pairs) = explanation.pairs {
        let mut table = comparison.table(&pairs);
        if mismatched > MOST_FINDINGS && !matches!(verdict, TraceVerdict::InStep(_)) {
            // Only the first were looked at closely.
            table.summary = format!("{mismatched} calls are not as expected");
        }
        // One call that is missing or extra is said in a sentence.
        if table.rows.len() > 1 || table.rows.iter().any(|row| row.how == Pairing::Changed) {
            scores.table(table);
        }
    }
    for sentence in explanation.sentences {
        scores.find_differences(&[], sentence.text, sentence.differences);
    }
    if explanation.unsaid > 0 {
        scores.find(format!("and {} more", explanation.unsaid));
    }
}

fn explain_in_order(
    comparison: &Comparison<'_>,
    verdict: &TraceVerdict,
    partners: &[Option<usize>],
) -> Explanation {
    let found: Vec<TraceMismatch> = mismatches(comparison, verdict, MOST_LOOKS)
        .take(MOST_FINDINGS)
        .collect();
    Explanation {
        pairs: Some(comparison.beside_in_order(partners, &found)),
        unsaid: verdict.mismatch_count() - found.len(),
        sentences: found.into_iter().map(Sentence::from).collect(),
    }
}

fn explain_whole(comparison: &Comparison<'_>, assignment: &Assignment) -> Explanation {
    let found = comparison.mismatches_of_whole(assignment, MOST_LOOKS);
    let pairs = comparison.beside_whole(assignment, &found);
    let unsaid = found.len().saturating_sub(MOST_FINDINGS);
    let said = found.into_iter().take(MOST_FINDINGS);
    Explanation {
        sentences: said.map(Sentence::from).collect(),
        unsaid,
        pairs: Some(pairs),
    }
}

/// Explains calls that fit no other call, then calls that compete for the same calls.
fn explain_matched(
    comparison: &Comparison<'_>,
    assignment: &Assignment,
    mismatched: usize,
) -> Explanation {
    let alone: Vec<Unmatched> = comparison
        .without_partner(assignment, MOST_LOOKS)
        .take(MOST_FINDINGS)
        .collect();
    let pairs = comparison.beside_matched(assignment, &alone);
    let without_rivals = comparison
        .without_partner(assignment, MOST_LOOKS)
        .filter(|unmatched| !unmatched.has_rivals)
        .take(MOST_FINDINGS);
    let mut sentences: Vec<Sentence> = without_rivals
        .map(|unmatched| unmatched.mismatch.into())
        .collect();
    let mut accounted = sentences.len();
    let room = MOST_COMPETITIONS.min(MOST_FINDINGS - sentences.len());
    for shortage in shortages(comparison, assignment, room) {
        accounted += shortage.mismatches;
        sentences.push(shortage.text.into());
    }
    Explanation {
        sentences,
        unsaid: mismatched.saturating_sub(accounted),
        pairs,
    }
}

/// The changes that turn the expected calls into the recorded ones.
fn explain_in_step(comparison: &Comparison<'_>) -> Explanation {
    let candidates = comparison.candidates();
    let fits = |expected: usize, recorded: usize| {
        let fitting = &candidates[comparison.reference.groups.group_of(expected)];
        fitting
            .binary_search(&comparison.recorded.group_of(recorded))
            .is_ok()
    };
    let alignment = best_alignment(comparison, fits);
    let pairs = pairs(&alignment.steps, fits);
    let changes: Vec<&[Beside]> = pairs
        .iter()
        .map(Vec::as_slice)
        .filter(|pair| pair[0].how != Pairing::Matched)
        .collect();
    let mut sentences: Vec<Sentence> = changes
        .iter()
        .take(MOST_FINDINGS)
        .map(|change| describe_change(comparison, change))
        .collect();
    let unsaid = changes.len() - sentences.len();
    let is_whole = alignment.unaligned.is_none();
    if let Some((expected, recorded)) = alignment.unaligned {
        let first = comparison.differs(expected.start, recorded.start);
        sentences.insert(0, first.into());
        let text = format!(
            "expected calls {} to {} and calls {} to {} have too little in common to compare one \
            by one",
            expected.start + 1,
            expected.end,
            recorded.start + 1,
            recorded.end
        );
        sentences.insert(1, text.into());
    }
    Explanation {
        sentences,
        unsaid,
        pairs: is_whole.then(|| pairs.into_iter().flatten().collect()),
    }
}

/// Describes one pair of calls, or two swapped pairs.
fn describe_change(comparison: &Comparison<'_>, change: &[Beside]) -> Sentence {
    if change.len() > 1 {
        return swapped(comparison, change).into();
    }
    match (change[0].expected, change[0].recorded) {
        (Some(expected), Some(call)) => comparison.differs(expected, call).into(),
        (Some(expected), None) => comparison.missing(expected).into(),
        (None, call) => comparison.extra(call.unwrap_or_default()).into(),
    }
}

fn swapped(comparison: &Comparison<'_>, pairs: &[Beside]) -> String {
    let mut calls: Vec<usize> = pairs.iter().filter_map(|pair| pair.recorded).collect();
    calls.sort_unstable();
    let calls: Vec<String> = calls
        .into_iter()
        .map(|call| comparison.say_recorded(call))
        .collect();
    format!("calls {} are swapped", calls.join(" and "))
}

/// The steps as pairs of calls. A call that is missing on one side of a match and extra on the
/// other is swapped: the two pairs are adjacent.
fn pairs(steps: &[AlignmentStep], fits: impl Fn(usize, usize) -> bool) -> Vec<Vec<Beside>> {
    let mut pairs = Vec::new();
    let mut at = 0;
    while at < steps.len() {
        let swapped = match steps[at..] {
            [Missing(expected), Match(other, first), Extra(second), ..]
                if fits(expected, second) =>
            {
                Some([(expected, second), (other, first)])
            }
            [Extra(first), Match(other, second), Missing(expected), ..]
                if fits(expected, first) =>
            {
                Some([(other, second), (expected, first)])
            }
            _ => None,
        };
        if let Some(swapped) = swapped {
            let pair = |(expected, call)| Beside::new(Pairing::Swapped, Some(expected), Some(call));
            pairs.push(swapped.map(pair).to_vec());
            at += 3;
            continue;
        }
        pairs.push(vec![match steps[at] {
            Match(expected, call) => Beside::new(Pairing::Matched, Some(expected), Some(call)),
            Substitute(expected, call) => Beside::new(Pairing::Changed, Some(expected), Some(call)),
            Missing(expected) => Beside::new(Pairing::Missing, Some(expected), None),
            Extra(call) => Beside::new(Pairing::Extra, None, Some(call)),
        }]);
        at += 1;
    }
    pairs
}

/// An alignment with the fewest changes, where a different tool counts as two: one wrong argument
/// is likelier than two wrong tools.
fn best_alignment(comparison: &Comparison<'_>, fits: impl Fn(usize, usize) -> bool) -> Alignment {
    align_by(
        comparison.reference.calls.len(),
        comparison.calls.len(),
        |expected, recorded| match (
            fits(expected, recorded),
            comparison.is_to(expected, recorded),
        ) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 2,
        },
    )
}

/// Calls that compete for too few calls.
struct Shortage {
    text: String,
    /// The number of calls without a partner.
    mismatches: usize,
}

/// The smallest shortages first.
fn shortages(comparison: &Comparison<'_>, assignment: &Assignment, most: usize) -> Vec<Shortage> {
    let edges = &assignment.edges;
    let mut open = assignment.matching.clone();
    for (unmatched, partners) in open.unmatched_left.iter_mut().zip(edges) {
        if partners.is_empty() {
            *unmatched = 0;
        }
    }
    let mut next = smallest_competition(&open, edges);
    let mut found = Vec::new();
    while let (Some(competing), true) = (&next, found.len() < most) {
        let left = competing.left.iter();
        let unmatched = left.map(|&group| std::mem::take(&mut open.unmatched_left[group]));
        found.push(Shortage {
            mismatches: unmatched.sum(),
            text: describe_competition(comparison, competing),
        });
        let start = open
            .unmatched_left
            .iter()
            .position(|&unmatched| unmatched > 0);
        next = start.map(|group| competition(&open, group, edges));
    }
    found
}

fn describe_competition(comparison: &Comparison<'_>, found: &Competition) -> String {
    let (expected, recorded) = (&comparison.reference.groups, &comparison.recorded);
    let is_subset = comparison.reference.mode == MatchMode::Subset;
    let (groups_of_rivals, groups_of_prize) = if is_subset {
        (recorded, expected)
    } else {
        (expected, recorded)
    };
    let rivals = members(groups_of_rivals, &found.left);
    let prize = members(groups_of_prize, &found.right);
    let (wanted, there) = (rivals.len(), prize.len());
    let (rivals, prize) = if is_subset {
        (
            say_recorded(comparison, &rivals),
            say_expected(comparison, &prize),
        )
    } else {
        (
            say_expected(comparison, &rivals),
            format!("recorded {}", say_recorded(comparison, &prize)),
        )
    };
    match (wanted, there) {
        (2, 1) => format!("{rivals} both need {prize}"),
        (_, 1) => format!("{rivals} all need {prize}"),
        _ => format!("{rivals} need {wanted} calls, but only {there} fit: {prize}"),
    }
}

/// The calls of these groups, in order.
fn members(groups: &Groups, of: &[usize]) -> Vec<usize> {
    let mut calls: Vec<usize> = of
        .iter()
        .flat_map(|&group| groups.members(group))
        .copied()
        .collect();
    calls.sort_unstable();
    calls
}

fn say_expected(comparison: &Comparison<'_>, calls: &[usize]) -> String {
    let named = list(calls.iter().map(|&call| comparison.say_expected(call)));
    format!("expected call{} {named}", plural(calls.len()))
}

fn say_recorded(comparison: &Comparison<'_>, calls: &[usize]) -> String {
    let named = list(calls.iter().map(|&call| comparison.say_recorded(call)));
    format!("call{} {named}", plural(calls.len()))
}
