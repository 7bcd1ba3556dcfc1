//! Two sets of runs side by side: which rows do both sides have, and which of these can be compared?
//!
//! `compare`, `model-baseline diff` and the gate `model_compat:` begin with a [`Comparison`] and ask it their questions.
//! A report knows how runs ended, but neither the arguments of calls nor what the agent said. A baseline knows both, but
//! leaves out runs that ended in errors. Therefore `compare` asks about pass rates ([`pass_rate`]), and
//! `model-baseline diff` about what held in every run ([`crate::behaviour`]) and about the numbers of gates
//! ([`number`]). Both get their verdicts from `mcptest_core::report::leaderboard::change`.

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
    /// What makes it the same row as one of the other side.
    fn identity(&self) -> RowIdentity<'_>;

    /// Its name for people.
    fn in_words(&self) -> String;

    /// How many of its runs passed.
    fn tally(&self) -> Tally;

    /// Why its runs say nothing about the runs of the same row on the later side; `None` if they can be compared.
    fn why_not_compared(&self, later: &Self) -> Option<String>;
}

/// The identity of a row among the rows of its side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowIdentity<'r> {
    /// The file of its suite.
    pub suite: &'r str,
    /// The name of its test.
    pub name: &'r str,
    /// Its model, if that tells rows apart.
    pub model: Option<&'r str>,
    /// Its variant.
    pub variant: Option<Variant>,
}

impl RowIdentity<'_> {
    /// Returns true if the rows differ in nothing but the file of their suite, which may have been moved.
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
    /// Pairs the rows of two sides. A row whose suite was moved is the same row if no other row has its name.
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

    /// Compares one row with what its runs did before, whatever the row is called on each side.
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

    /// How many runs of each row passed on each side: none of no runs where the two cannot be compared.
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

/// The names of rows, for lists of what one side alone has.
pub(crate) fn names<R: ComparedRow>(rows: &[&R]) -> Vec<String> {
    rows.iter().map(|row| row.in_words()).collect()
}
