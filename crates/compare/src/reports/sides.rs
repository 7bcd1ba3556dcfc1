//! How do several sides do on the tests that all of them have?

use super::model::ReportDiff;
use super::{Named, ReportComparison};
use crate::comparison::names;
use mcptest_core::report::TestReport;
use mcptest_core::report::leaderboard::{
    JudgedGroup, JudgedTest, Leaderboard, ModelDifference, board,
};

/// A side compared with the first: its name, its rows, and the result.
struct SideBesideFirst<'s, 'r> {
    name: &'s str,
    comparison: &'s ReportComparison<'r>,
    found: &'s ReportDiff,
}

/// The sides as rows over their shared tests, with their change from the first; `None` if the first
/// has no runs.
pub(super) fn leaderboard_of_sides<'s>(
    first: Named<'s>,
    others: &'s [Named<'_>],
    comparisons: &'s [ReportComparison<'_>],
    found: &'s [ReportDiff],
    most_k: u64,
) -> Option<Leaderboard> {
    let sides: Vec<SideBesideFirst<'_, '_>> = others
        .iter()
        .zip(comparisons.iter().zip(found))
        .map(|((_, name), (comparison, found))| SideBesideFirst {
            name,
            comparison,
            found,
        })
        .filter(|side| side.found.b.runs > 0)
        .collect();
    let common = TestsOfAllSides::new(first, &sides);
    let differences = sides.iter().map(|side| difference(side.found));
    let board = board(&common.groups, differences, most_k)?;
    Some(Leaderboard {
        tests_left_out: common.left_out,
        ..board
    })
}

/// The tests that all sides have.
struct TestsOfAllSides<'s> {
    /// The sides, with their tests in one order.
    groups: Vec<JudgedGroup<'s>>,
    /// The names of the other tests.
    left_out: Vec<String>,
}

impl<'s> TestsOfAllSides<'s> {
    fn new((first, name): Named<'s>, sides: &[SideBesideFirst<'s, '_>]) -> Self {
        let group = |name: &'s str| JudgedGroup {
            name,
            tests: Vec::new(),
        };
        let mut groups: Vec<JudgedGroup<'s>> = vec![group(name)];
        groups.extend(sides.iter().map(|side| group(side.name)));
        let mut left_out: Vec<String> = sides
            .iter()
            .flat_map(|side| names(&side.comparison.only_after))
            .collect();
        for test in &first.tests {
            match tests_of_all(test, sides) {
                Some(tests) => {
                    for (group, test) in groups.iter_mut().zip(tests) {
                        group.tests.push(JudgedTest::new(test));
                    }
                }
                None => left_out.extend(names(&[test])),
            }
        }
        left_out.sort();
        left_out.dedup();
        Self { groups, left_out }
    }
}

/// A test of the first side and the same test of every other side; `None` if one of them cannot be
/// compared.
fn tests_of_all<'s>(
    test: &'s TestReport,
    sides: &[SideBesideFirst<'s, '_>],
) -> Option<Vec<&'s TestReport>> {
    let mut tests = vec![test];
    for side in sides {
        let row = side.comparison.pair_of(test)?;
        if row.not_compared.is_some() {
            return None;
        }
        tests.push(row.after);
    }
    (test.tally().runs > 0).then_some(tests)
}

/// The result of a side, for its row of the leaderboard.
fn difference(found: &ReportDiff) -> Option<ModelDifference> {
    Some(ModelDifference::new(
        found.change?,
        found.p_holm?,
        found.together,
    ))
}
