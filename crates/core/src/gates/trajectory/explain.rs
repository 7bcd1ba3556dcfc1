//! Why did a run fail, in the fewest sentences? By alignment where order counts, by competition where it does not.

use super::comparison::Comparison;
use super::mismatch::mismatches;
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

/// One sentence, and where the values differ.
type Said = (String, Vec<AssertionDiff>);

fn said(mismatch: TraceMismatch) -> Said {
    (mismatch.reason, mismatch.diffs)
}

/// Adds the findings behind a verdict, how many are left unsaid, and the calls side by side where that says as much.
pub(super) fn explain(comparison: &Comparison<'_>, verdict: &TraceVerdict, scores: &mut RunScores) {
    if verdict.mismatch_count() == 0 {
        return;
    }
    let all = verdict.mismatch_count();
    let (findings, unsaid, pairs) = match verdict {
        TraceVerdict::InStep(_) => align_in_step(comparison),
        TraceVerdict::InOrder(partners) => {
            let found: Vec<_> = mismatches(comparison, verdict, MOST_LOOKS)
                .take(MOST_FINDINGS)
                .collect();
            let pairs = comparison.beside_in_order(partners, &found);
            let unsaid = all - found.len();
            (found.into_iter().map(said).collect(), unsaid, Some(pairs))
        }
        TraceVerdict::Matched(assignment) => {
            let alone: Vec<_> = comparison
                .without_partner(assignment, MOST_LOOKS)
                .take(MOST_FINDINGS)
                .collect();
            let pairs = comparison.beside_matched(assignment, &alone);
            let (findings, accounted) = explain_assignment(comparison, assignment);
            (findings, all.saturating_sub(accounted), pairs)
        }
        TraceVerdict::Whole { assignment, .. } => {
            let found = comparison.mismatches_of_whole(assignment, MOST_LOOKS);
            let pairs = comparison.beside_whole(assignment, &found);
            let unsaid = found.len().saturating_sub(MOST_FINDINGS);
            let findings = found.into_iter().take(MOST_FINDINGS).map(said).collect();
            (findings, unsaid, Some(pairs))
        }
    };
    if let Some(pairs) = pairs {
        let mut table = comparison.table(&pairs);
        if all > MOST_FINDINGS && !matches!(verdict, TraceVerdict::InStep(_)) {
            // Only the first were looked at closely.
            table.summary = format!("{all} calls are not as expected");
        }
        // One call that is missing or extra is said in a sentence.
        if table.rows.len() > 1 || table.rows.iter().any(|row| row.how == Pairing::Changed) {
            scores.table(table);
        }
    }
    for (message, diffs) in findings {
        scores.find_differences(&[], message, diffs);
    }
    if unsaid > 0 {
        scores.find(format!("and {unsaid} more"));
    }
}

/// The changes that turn the expected calls into the recorded ones, and how many are left unsaid.
fn align_in_step(comparison: &Comparison<'_>) -> (Vec<Said>, usize, Option<Vec<Beside>>) {
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
    let mut findings: Vec<Said> = changes
        .iter()
        .take(MOST_FINDINGS)
        .map(|change| {
            let Beside {
                expected, recorded, ..
            } = change[0];
            match (expected, recorded) {
                _ if change.len() > 1 => (swapped(comparison, change), Vec::new()),
                (Some(expected), Some(call)) => said(comparison.differs(expected, call)),
                (Some(expected), None) => said(comparison.missing(expected)),
                (None, call) => said(comparison.extra(call.unwrap_or_default())),
            }
        })
        .collect();
    let unsaid = changes.len() - findings.len();
    if let Some((expected, recorded)) = alignment.unaligned.clone() {
        findings.insert(0, said(comparison.differs(expected.start, recorded.start)));
        let message = format!(
            "expected calls {} to {} and calls {} to {} have too little in common to be told apart one by one",
            expected.start + 1,
            expected.end,
            recorded.start + 1,
            recorded.end
        );
        findings.insert(1, (message, Vec::new()));
    }
    let is_whole = alignment.unaligned.is_none();
    (
        findings,
        unsaid,
        is_whole.then(|| pairs.into_iter().flatten().collect()),
    )
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

/// The steps as pairs of calls. A call that is missing on one side of a match and extra on the other is swapped with
/// it: these two pairs stand together.
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

/// An alignment with the fewest changes, where another tool counts as two: a wrong argument says more than two renames.
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

/// What is said, and how many mismatches that accounts for.
fn explain_assignment(comparison: &Comparison<'_>, assignment: &Assignment) -> (Vec<Said>, usize) {
    let alone = comparison.without_partner(assignment, MOST_LOOKS);
    let alone = alone
        .filter(|(has_rivals, _)| !has_rivals)
        .take(MOST_FINDINGS);
    let mut findings: Vec<Said> = alone.map(|(_, mismatch)| said(mismatch)).collect();
    let mut accounted = findings.len();
    let room = MOST_COMPETITIONS.min(MOST_FINDINGS - findings.len());
    for (message, accounts_for) in competitions(comparison, assignment, room) {
        findings.push((message, Vec::new()));
        accounted += accounts_for;
    }
    (findings, accounted)
}

/// Sets of calls that need the same too few calls, the smallest first, and how many of them find none.
fn competitions(
    comparison: &Comparison<'_>,
    assignment: &Assignment,
    most: usize,
) -> Vec<(String, usize)> {
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
        let accounts_for = left
            .map(|&group| std::mem::take(&mut open.unmatched_left[group]))
            .sum();
        found.push((say_competition(comparison, competing), accounts_for));
        let start = open
            .unmatched_left
            .iter()
            .position(|&unmatched| unmatched > 0);
        next = start.map(|group| competition(&open, group, edges));
    }
    found
}

fn say_competition(comparison: &Comparison<'_>, found: &Competition) -> String {
    let members = |groups: &Groups, of: &[usize]| {
        let mut calls: Vec<usize> = of
            .iter()
            .flat_map(|&group| groups.members(group))
            .copied()
            .collect();
        calls.sort_unstable();
        calls
    };
    let (expected, recorded) = (&comparison.reference.groups, &comparison.recorded);
    let is_subset = comparison.reference.mode == MatchMode::Subset;
    let (left, right) = if is_subset {
        (
            members(recorded, &found.left),
            members(expected, &found.right),
        )
    } else {
        (
            members(expected, &found.left),
            members(recorded, &found.right),
        )
    };
    let say_expected = |calls: &[usize]| {
        let named = list(calls.iter().map(|&call| comparison.say_expected(call)));
        format!("expected call{} {named}", plural(calls.len()))
    };
    let say_recorded = |calls: &[usize]| {
        let named = list(calls.iter().map(|&call| comparison.say_recorded(call)));
        format!("call{} {named}", plural(calls.len()))
    };
    let (rivals, prize) = if is_subset {
        (say_recorded(&left), say_expected(&right))
    } else {
        (
            say_expected(&left),
            format!("recorded {}", say_recorded(&right)),
        )
    };
    match (left.len(), right.len()) {
        (2, 1) => format!("{rivals} both need {prize}"),
        (_, 1) => format!("{rivals} all need {prize}"),
        (wanted, there) => format!("{rivals} need {wanted} calls, and only {there} fit: {prize}"),
    }
}
