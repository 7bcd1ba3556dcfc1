//! Why did a run fail, in the fewest sentences? By alignment where order counts, by competition where it does not.

use super::comparison::Comparison;
use super::mismatch::mismatches;
use super::reference::MatchMode;
use super::trace_validation::TraceMismatch;
use super::verdict::{Assignment, Verdict};
use super::wording::list;
use crate::eval::alignment::{Alignment, Step, align};
use crate::eval::assertion::plural;
use crate::eval::assignment::{Competition, Groups, competition, smallest_competition};
use crate::eval::scores::RunScores;
use crate::report::AssertionDiff;

const MOST_FINDINGS: usize = 20;
const MOST_COMPETITIONS: usize = 5;
const MOST_LOOKS: usize = 100;

/// One sentence, where the values differ, and how many mismatches it accounts for.
struct Finding {
    message: String,
    diffs: Vec<AssertionDiff>,
    accounts_for: usize,
}

impl From<TraceMismatch> for Finding {
    fn from(mismatch: TraceMismatch) -> Self {
        Self { message: mismatch.reason, diffs: mismatch.diffs, accounts_for: 1 }
    }
}

/// Adds the findings behind a verdict, and how many are left unsaid.
pub(super) fn explain(comparison: &Comparison<'_>, verdict: &Verdict, scores: &mut RunScores) {
    let (findings, all) = match verdict {
        Verdict::InStep(positions) if positions.is_empty() => return,
        Verdict::InStep(_) => align_in_step(comparison),
        Verdict::InOrder(_) => {
            let said = mismatches(comparison, verdict, MOST_LOOKS).take(MOST_FINDINGS);
            (said.map(Finding::from).collect(), verdict.mismatch_count())
        }
        Verdict::Matched(assignment) => {
            (explain_assignment(comparison, assignment), verdict.mismatch_count())
        }
    };
    let said: usize = findings.iter().map(|finding| finding.accounts_for).sum();
    for finding in findings {
        scores.find(finding.message, finding.diffs);
    }
    if all > said {
        scores.find(format!("and {} more", all - said), Vec::new());
    }
}

/// The changes that turn the expected calls into the recorded ones, and how many there are.
fn align_in_step(comparison: &Comparison<'_>) -> (Vec<Finding>, usize) {
    let alignment = best_alignment(comparison);
    let mut changes = alignment.steps.iter().filter_map(|step| match *step {
        Step::Match(..) => None,
        Step::Substitute(expected, recorded) => Some((expected, Some(recorded))),
        Step::Missing(expected) => Some((expected, None)),
        Step::Extra(recorded) => Some((comparison.reference.calls.len(), Some(recorded))),
    });
    let mut findings: Vec<Finding> = changes
        .by_ref()
        .take(MOST_FINDINGS)
        .map(|(expected, recorded)| match recorded {
            None => comparison.missing(expected).into(),
            Some(call) if expected == comparison.reference.calls.len() => comparison.extra(call).into(),
            Some(call) => comparison.differs(expected, call).into(),
        })
        .collect();
    if let Some((expected, recorded)) = alignment.unaligned {
        let first = comparison.differs(expected.start, recorded.start);
        findings.insert(0, first.into());
        let message = format!(
            "expected calls {} to {} and calls {} to {} have too little in common to be told apart one by one",
            expected.start + 1,
            expected.end,
            recorded.start + 1,
            recorded.end
        );
        findings.insert(1, Finding { message, diffs: Vec::new(), accounts_for: 1 });
    }
    let all = findings.len() + changes.count();
    (findings, all)
}

/// An alignment with the fewest changes; where calls to the same tool can be kept together at no cost, they are.
fn best_alignment(comparison: &Comparison<'_>) -> Alignment {
    let (expected, recorded) = (comparison.reference.calls.len(), comparison.calls.len());
    let candidates = comparison.candidates();
    let fits = |expected: usize, recorded: usize| {
        let fitting = &candidates[comparison.reference.groups.group_of(expected)];
        fitting.binary_search(&comparison.recorded.group_of(recorded)).is_ok()
    };
    let by_call = align(expected, recorded, fits);
    let mut by_tool = align(expected, recorded, |expected, recorded| comparison.is_to(expected, recorded));
    for step in &mut by_tool.steps {
        match *step {
            Step::Match(expected, recorded) if !fits(expected, recorded) => {
                *step = Step::Substitute(expected, recorded);
            }
            _ => {}
        }
    }
    let cost = |alignment: &Alignment| {
        let other_tool = |step: &&Step| match **step {
            Step::Substitute(expected, recorded) => !comparison.is_to(expected, recorded),
            _ => false,
        };
        (alignment.distance().unwrap_or(usize::MAX), alignment.steps.iter().filter(other_tool).count())
    };
    if cost(&by_tool) < cost(&by_call) { by_tool } else { by_call }
}

fn explain_assignment(comparison: &Comparison<'_>, assignment: &Assignment) -> Vec<Finding> {
    let alone = comparison.without_partner(assignment, MOST_LOOKS);
    let mut findings: Vec<Finding> = alone
        .filter(|(has_rivals, _)| !has_rivals)
        .take(MOST_FINDINGS)
        .map(|(_, mismatch)| mismatch.into())
        .collect();
    let room = MOST_COMPETITIONS.min(MOST_FINDINGS - findings.len());
    findings.extend(competitions(comparison, assignment, room));
    findings
}

/// Sets of calls that need the same too few calls, the smallest first.
fn competitions(comparison: &Comparison<'_>, assignment: &Assignment, most: usize) -> Vec<Finding> {
    let edges = |group: usize| assignment.edges[group].as_slice();
    let mut open = assignment.matching.clone();
    for (group, unmatched) in open.unmatched_left.iter_mut().enumerate() {
        if edges(group).is_empty() {
            *unmatched = 0;
        }
    }
    let mut next = smallest_competition(&open, edges);
    let mut findings = Vec::new();
    while let (Some(found), true) = (&next, findings.len() < most) {
        let left = found.left.iter();
        let accounts_for = left.map(|&group| std::mem::take(&mut open.unmatched_left[group])).sum();
        let message = say_competition(comparison, found);
        findings.push(Finding { message, diffs: Vec::new(), accounts_for });
        let start = open.unmatched_left.iter().position(|&unmatched| unmatched > 0);
        next = start.map(|group| competition(&open, group, edges));
    }
    findings
}

fn say_competition(comparison: &Comparison<'_>, found: &Competition) -> String {
    let members = |groups: &Groups, of: &[usize]| {
        let mut calls: Vec<usize> = of.iter().flat_map(|&group| groups.members(group)).copied().collect();
        calls.sort_unstable();
        calls
    };
    let (expected, recorded) = (&comparison.reference.groups, &comparison.recorded);
    let is_subset = comparison.reference.mode == MatchMode::Subset;
    let (left, right) = if is_subset {
        (members(recorded, &found.left), members(expected, &found.right))
    } else {
        (members(expected, &found.left), members(recorded, &found.right))
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
        (say_expected(&left), format!("recorded {}", say_recorded(&right)))
    };
    match (left.len(), right.len()) {
        (2, 1) => format!("{rivals} both need {prize}"),
        (_, 1) => format!("{rivals} all need {prize}"),
        (wanted, there) => format!("{rivals} need {wanted} calls, and only {there} fit: {prize}"),
    }
}
