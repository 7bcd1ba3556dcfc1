//! How do several sides do on the tests that all of them have?

use super::join::{Joined, join};
use super::model::Comparison;
use super::{Named, in_words};
use mcptest_core::report::leaderboard::change::direction;
use mcptest_core::report::leaderboard::{
    JudgedGroup, JudgedTest, Leaderboard, ModelDifference, Verdict, board,
};
use mcptest_core::report::{TestReport, checks};

/// The sides under their names over the tests that all of them have, and what was found of those beside the first; none
/// where the first has no runs.
pub(super) fn leaderboard_of_sides(
    sides: &[Named<'_>],
    found: &[Comparison],
    most_k: u64,
) -> Option<Leaderboard> {
    let [first, others @ ..] = sides else {
        return None;
    };
    let judged: Vec<&Named<'_>> = others
        .iter()
        .zip(found)
        .filter(|(_, found)| found.b.runs > 0)
        .map(|(side, _)| side)
        .collect();
    let joined: Vec<Joined<'_>> = judged
        .iter()
        .map(|side| join(&first.0.tests, &side.0.tests))
        .collect();
    let mut pairs: Vec<_> = joined
        .iter()
        .map(|joined| joined.pairs.iter().peekable())
        .collect();
    let mut groups: Vec<JudgedGroup<'_>> = std::iter::once(first)
        .chain(judged)
        .map(|(_, name)| JudgedGroup {
            name,
            tests: Vec::new(),
        })
        .collect();
    let mut left_out: Vec<String> = joined
        .iter()
        .flat_map(|joined| &joined.only_b)
        .map(|test| in_words(test))
        .collect();
    for of_first in &first.0.tests {
        // The pairs of each side are in the order of the first.
        let same: Vec<Option<&TestReport>> = pairs
            .iter_mut()
            .map(|pairs| {
                let pair = pairs.next_if(|(paired, _)| std::ptr::eq(*paired, of_first))?;
                Some(pair.1)
            })
            .collect();
        let row: Option<Vec<&TestReport>> = std::iter::once(Some(of_first)).chain(same).collect();
        let is_comparable =
            |test: &&TestReport| test.tally().runs > 0 && checks::changed(of_first, test).is_none();
        match row.filter(|row| row.iter().all(is_comparable)) {
            Some(row) => {
                for (group, test) in groups.iter_mut().zip(row) {
                    group.tests.push(JudgedTest::new(test));
                }
            }
            None => left_out.push(in_words(of_first)),
        }
    }
    left_out.sort();
    left_out.dedup();
    let differences = found.iter().filter(|side| side.b.runs > 0).map(|side| {
        let (change, p) = (side.change?, side.p_holm?);
        let verdict = direction(Some(p), change.difference).unwrap_or(match side.verdict {
            Verdict::NotEnoughRuns => Verdict::NotEnoughRuns,
            _ => Verdict::NoEvidence,
        });
        Some(ModelDifference::of(change, p, verdict))
    });
    let board = board(&groups, differences, most_k)?;
    Some(Leaderboard {
        tests_left_out: left_out,
        ..board
    })
}
