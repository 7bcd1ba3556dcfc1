//! Has the pass rate changed, in each row and over all of them, and how many runs would show it?

use mcptest_core::report::leaderboard::Verdict;
use mcptest_core::report::leaderboard::change::{
    ChangeAnswer, LEVEL, RateChange, answer_together, change_of,
};
use mcptest_stats::{Detection, Tally, detectable_drop, runs_to_detect};

/// The required probability of finding an existing change, for runs to count as enough.
const POWER: f64 = 0.8;

/// The passed runs of a row on each side.
pub type Tallies = (Tally, Tally);

/// The pass rates of two sides.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PassRates {
    /// The change over all rows.
    pub change: Option<RateChange>,
    /// The answer of all rows together.
    pub answer: Option<ChangeAnswer>,
    /// The pass rate of each row.
    pub rows: Vec<RowPassRate>,
    /// The rows that have runs on both sides.
    with_runs: Vec<Tallies>,
    /// The number of sides compared with the first, which share the level.
    sides: usize,
}

/// The pass rate of one row on two sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowPassRate {
    /// Its change; `None` if a side has no runs.
    pub change: Option<RateChange>,
    /// The answer of its runs, with the p-value among all rows that could have shown a change.
    pub answer: Option<ChangeAnswer>,
}

/// Tests for changes of these rows' pass rates, together and in each row. A row without runs on a
/// side shows nothing.
pub fn pass_rates(rows: &[Tallies]) -> PassRates {
    pass_rates_of_sides(&[rows]).pop().unwrap_or_default()
}

/// Tests several sides, each against the first. The p-values are adjusted for all sides, and for
/// all rows of all sides.
pub fn pass_rates_of_sides(sides: &[&[Tallies]]) -> Vec<PassRates> {
    let with_runs: Vec<Vec<Tallies>> = sides.iter().map(|rows| with_runs(rows)).collect();
    let changes: Vec<Option<RateChange>> = with_runs.iter().map(|rows| change_of(rows)).collect();
    let questions: Vec<_> = changes
        .iter()
        .map(|change| change.map(|change| change.question(true)))
        .collect();
    let of_sides = changes.into_iter().zip(answer_together(&questions));
    let mut of_rows = row_pass_rates(sides.iter().flat_map(|rows| *rows)).into_iter();
    of_sides
        .zip(sides.iter().zip(with_runs))
        .map(|((change, answer), (rows, with_runs))| PassRates {
            change,
            answer,
            rows: of_rows.by_ref().take(rows.len()).collect(),
            with_runs,
            sides: sides.len(),
        })
        .collect()
}

/// The pass rates of rows, tested together.
fn row_pass_rates<'t>(rows: impl Iterator<Item = &'t Tallies>) -> Vec<RowPassRate> {
    let mut changes = Vec::new();
    let mut questions = Vec::new();
    for row in rows {
        let change = change_of(&[*row]);
        changes.push(change);
        questions.push(change.map(|change| change.question(can_show_a_change(*row))));
    }
    changes
        .into_iter()
        .zip(answer_together(&questions))
        .map(|(change, answer)| RowPassRate { change, answer })
        .collect()
}

/// Returns true if runs of these numbers could show the largest change, from all passed to none.
fn can_show_a_change((before, after): Tallies) -> bool {
    let all = Tally {
        passed: before.runs,
        ..before
    };
    let none = Tally { passed: 0, ..after };
    change_of(&[(all, none)]).is_some_and(|change| change.p <= LEVEL)
}

fn with_runs(rows: &[Tallies]) -> Vec<Tallies> {
    rows.iter()
        .filter(|(before, after)| before.runs > 0 && after.runs > 0)
        .copied()
        .collect()
}

impl PassRates {
    /// Worse if all rows together or any single row is worse; otherwise better by the same rule.
    /// `None` if chance explains every difference.
    pub fn shown(&self) -> Option<Verdict> {
        let shows = |wanted: Verdict| {
            let of_rows = self.rows.iter().map(|row| row.answer);
            let mut answers = of_rows.chain([self.answer]).flatten();
            answers.any(|answer| answer.verdict == wanted)
        };
        [Verdict::Worse, Verdict::Better]
            .into_iter()
            .find(|wanted| shows(*wanted))
    }

    /// Better or worse over all rows together; `None` if chance explains the difference.
    pub fn shown_together(&self) -> Option<Verdict> {
        let verdict = self.answer?.verdict;
        matches!(verdict, Verdict::Better | Verdict::Worse).then_some(verdict)
    }

    /// The p-value of the change over all rows, adjusted for all sides; `None` if only one side is
    /// compared.
    pub fn p_among_sides(&self) -> Option<f64> {
        self.answer.filter(|_| self.sides > 1)?.p
    }

    /// The changes that these numbers of runs can show; `None` if they can show none.
    pub fn reach(&self) -> Option<DetectableChange> {
        let change = self.change.as_ref()?;
        Some(DetectableChange::new(&self.with_runs, change, self.sides))
    }
}

/// The changes that the given number of runs can show.
#[derive(Debug, Clone, Copy)]
pub struct DetectableChange {
    /// The smallest drop that is shown four times in five.
    pub smallest_drop: Option<f64>,
    /// True if some change from this rate, to none or to all, is shown as often.
    pub could_show: bool,
    /// The number of further runs of each row on each side that would show this difference, or any at all.
    pub more_runs: Option<u64>,
}

impl DetectableChange {
    /// Counts all runs as if they were of one row, which is conservative: differences between rows sharpen the
    /// comparison. The sides share the level.
    fn new(rows: &[Tallies], change: &RateChange, sides: usize) -> Self {
        let detection = Detection {
            alpha: LEVEL / sides as f64,
            power: POWER,
        };
        let runs = |side: fn(&Tallies) -> Tally| rows.iter().map(|row| side(row).runs).sum::<u64>();
        let sizes = (runs(|row| row.0), runs(|row| row.1));
        let shown = |rate: f64| detectable_drop(rate, sizes, detection).ok().flatten();
        let smallest_drop = shown(change.rate_a);
        // A rise is a drop of what fails.
        let could_show = smallest_drop.is_some() || shown(1.0 - change.rate_a).is_some();
        let more_runs = wanted_drop(change, could_show).and_then(|(rate, drop)| {
            let needed = runs_to_detect(rate, drop, rows.len() as u64, detection);
            let missing = needed.ok().flatten()?.checked_sub(fewest_runs(rows))?;
            (missing > 0).then_some(missing)
        });
        Self {
            smallest_drop,
            could_show,
            more_runs,
        }
    }
}

/// The rate and the drop that further runs should show: this difference, or the largest one if nothing has changed and
/// the runs could not show that. `None` if the runs are enough.
fn wanted_drop(change: &RateChange, could_show: bool) -> Option<(f64, f64)> {
    let largest = change.rate_a.max(1.0 - change.rate_a);
    match change.difference {
        fall if fall < 0.0 => Some((change.rate_a, -fall)),
        rise if rise > 0.0 => Some((1.0 - change.rate_a, rise)),
        _ if could_show => None,
        _ => Some((largest, largest)),
    }
}

fn fewest_runs(rows: &[Tallies]) -> u64 {
    rows.iter()
        .map(|(before, after)| before.runs.min(after.runs))
        .min()
        .unwrap_or_default()
}
