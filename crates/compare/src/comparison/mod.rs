//! Two sets of runs side by side: which rows do both sides have, and which of them can be compared?
//!
//! `compare`, `model-baseline diff` and the gate `model_compat:` all use a `Comparison`. A report
//! has the outcomes of runs, but neither the arguments of calls nor the agent's words. A baseline
//! has both, but omits runs that ended in errors. Therefore `compare` compares pass rates
//! (`pass_rate`), and `model-baseline diff` compares facts that held in every run
//! (`crate::behaviour`) and the numbers of gates (`number`). Both get their verdicts from
//! `mcptest_core::report::leaderboard::change`.

pub mod number;
pub mod pass_rate;
pub mod support;
#[cfg(test)]
mod tests;

use mcptest_core::change::pair_items;
use mcptest_core::suite::Variant;
use mcptest_stats::Tally;

/// A row of one side: a test with its runs.
pub trait ComparedRow {
    /// The identity for finding the row on the other side.
    fn identity(&self) -> RowIdentity<'_>;

    /// Its name for people.
    fn in_words(&self) -> String;

    /// The number of its passed runs.
    fn tally(&self) -> Tally;

    /// Why it cannot be compared with the row of the later side; `None` if it can.
    fn why_not_compared(&self, later: &Self) -> Option<String>;
}

/// The identity of a row among the rows of its side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowIdentity<'r> {
    /// The file of its suite.
    pub suite: &'r str,
    /// The name of its test.
    pub name: &'r str,
    /// Its model, if models distinguish rows.
    pub model: Option<&'r str>,
    /// Its variant.
    pub variant: Option<Variant>,
}

impl RowIdentity<'_> {
    /// Returns true if the rows differ only in the file of their suite, which may have moved.
    fn is_moved(&self, other: &Self) -> bool {
        (self.name, self.model, self.variant) == (other.name, other.model, other.variant)
    }
}

/// Two sides of rows.
#[derive(Debug)]
pub struct Comparison<'r, R> {
    /// The rows of both sides, in the order of the earlier side.
    pub rows: Vec<RowPair<'r, R>>,
    /// The rows that only the earlier side has.
    pub only_before: Vec<&'r R>,
    /// The rows that only the later side has.
    pub only_after: Vec<&'r R>,
}

/// A row of both sides.
#[derive(Debug)]
pub struct RowPair<'r, R> {
    /// The row on the earlier side.
    pub before: &'r R,
    /// The row on the later side.
    pub after: &'r R,
    /// Why the two cannot be compared.
    pub not_compared: Option<String>,
}

impl<'r, R: ComparedRow> Comparison<'r, R> {
    /// Pairs the rows of two sides. A row in a moved suite is matched if no other row has its name.
    pub fn new(before: &'r [R], after: &'r [R]) -> Self {
        let pairs = pair_items(before, after, R::identity, |one, other| {
            one.identity().is_moved(&other.identity())
        });
        Self {
            rows: pairs
                .both()
                .map(|(before, after)| RowPair::new(before, after))
                .collect(),
            only_before: pairs.only_before().collect(),
            only_after: pairs.only_after,
        }
    }

    /// Compares one row with its earlier runs, whatever its names.
    pub fn of_row(before: &'r R, after: &'r R) -> Self {
        Self {
            rows: vec![RowPair::new(before, after)],
            only_before: Vec::new(),
            only_after: Vec::new(),
        }
    }

    /// The rows that can be compared.
    pub fn comparable(&self) -> impl Iterator<Item = &RowPair<'r, R>> {
        self.rows.iter().filter(|row| row.not_compared.is_none())
    }

    /// The pair of a row of the earlier side, if the later side has the row too.
    pub fn pair_of(&self, before: &R) -> Option<&RowPair<'r, R>> {
        self.rows
            .iter()
            .find(|row| std::ptr::eq(row.before, before))
    }

    /// The passed runs of each row on each side; empty tallies for rows that cannot be compared.
    pub fn tallies(&self) -> Vec<(Tally, Tally)> {
        self.rows.iter().map(RowPair::tallies).collect()
    }
}

impl<'r, R: ComparedRow> RowPair<'r, R> {
    fn new(before: &'r R, after: &'r R) -> Self {
        Self {
            before,
            after,
            not_compared: before.why_not_compared(after),
        }
    }

    fn tallies(&self) -> (Tally, Tally) {
        match self.not_compared {
            None => (self.before.tally(), self.after.tally()),
            Some(_) => (Tally::default(), Tally::default()),
        }
    }
}

/// The names of rows that only one side has.
pub(crate) fn names<R: ComparedRow>(rows: &[&R]) -> Vec<String> {
    rows.iter().map(|row| row.in_words()).collect()
}
