//! What did a gate measure: its values, its findings, and did the runs exercise it?

use super::target::{Better, Fold, Target};
use crate::grade::Grade;
use crate::report::{AssertionDiff, CallTable, Finding, Number, Remark};
use crate::trace::Run;
use std::collections::{BTreeMap, BTreeSet};

const MOST_RUNS_NAMED: usize = 5;

/// A gate's numbers over all runs of a test.
#[derive(Debug, Clone, Default)]
pub struct Scores {
    /// Every target of the gate; `None` is not measured.
    pub values: BTreeMap<&'static str, Option<Number>>,
    /// The findings.
    pub findings: Vec<Finding>,
    /// The expected and recorded calls, a table for each failed run.
    pub tables: Vec<CallTable>,
    /// The reason that the gate measured nothing.
    pub not_exercised: Option<String>,
    /// The remarks of the row, independent of the verdict.
    pub(crate) remarks: Vec<Said>,
    /// The numbers in words, for gates whose numbers are clearer together.
    pub summary: Option<String>,
    /// True if the gate fails independent of the suite's assertions, because the runs refute a
    /// claim of the suite.
    pub is_refuted: bool,
    /// True if a run has no grade, so that no verdict is possible.
    pub is_ungraded: bool,
    /// The judges' grades of the runs.
    pub grades: Vec<Grade>,
    /// The numbers of the runs that the gate's own rule fails, for [`super::gate::RunFailsBy::Rule`].
    pub(crate) failed_runs: Vec<usize>,
    pub(crate) vacuous: BTreeMap<&'static str, String>,
    /// The numbers of each run without findings, if the gate scores run by run.
    pub(crate) by_run: Vec<RunScores>,
}

/// A remark, and its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) remark: Remark,
    /// If this target is asserted, the suite defines what is enough, so nothing is partial.
    pub(crate) about: &'static str,
}

/// A gate's numbers in one run.
#[derive(Debug, Clone, Default)]
pub struct RunScores {
    values: Vec<(Target, Number)>,
    findings: Vec<Finding>,
    table: Option<CallTable>,
    not_exercised: Option<String>,
    has_failed: bool,
    partial: Option<Partial>,
    vacuous: Vec<VacuousTarget>,
}

/// The amount that was judged only in part, in the unit of a target.
#[derive(Debug, Clone)]
struct Partial {
    about: Target,
    message: String,
}

/// A target for which a run had nothing to count.
#[derive(Debug, Clone, Copy)]
struct VacuousTarget {
    target: &'static str,
    why: &'static str,
}

impl RunScores {
    /// Sets a whole number.
    pub fn whole(&mut self, target: &Target, value: usize) -> &mut Self {
        self.values.push((*target, Number::Int(value as i64)));
        self
    }

    /// Sets a flag.
    pub fn flag(&mut self, target: &Target, value: bool) -> &mut Self {
        self.whole(target, usize::from(value))
    }

    /// Sets a ratio or amount.
    pub fn float(&mut self, target: &Target, value: f64) -> &mut Self {
        self.values.push((*target, Number::Float(value)));
        self
    }

    /// Sets a time, if it is known.
    pub fn milliseconds(&mut self, target: &Target, value: Option<u64>) -> &mut Self {
        let number = |value: u64| Number::Int(i64::try_from(value).unwrap_or(i64::MAX));
        self.values
            .extend(value.map(|value| (*target, number(value))));
        self
    }

    /// Adds something worth looking at.
    pub fn find(&mut self, message: impl Into<String>) -> &mut Self {
        self.find_about(&[], message)
    }

    /// Adds a finding to show if an assertion on these targets failed.
    pub fn find_about(&mut self, targets: &[Target], message: impl Into<String>) -> &mut Self {
        self.find_differences(targets, message, Vec::new())
    }

    /// Adds a finding with the differing values.
    pub fn find_differences(
        &mut self,
        targets: &[Target],
        message: impl Into<String>,
        diff: Vec<AssertionDiff>,
    ) -> &mut Self {
        self.findings.push(Finding {
            diff,
            ..Finding::new(None, message.into()).about(targets)
        });
        self
    }

    /// Sets the table of expected and recorded calls.
    pub fn table(&mut self, table: CallTable) -> &mut Self {
        self.table = Some(table);
        self
    }

    /// Adds something worth looking at that the table does not show.
    pub fn find_beside_table(&mut self, message: String) -> &mut Self {
        if let Some(table) = &mut self.table {
            table.notes.push(message.clone());
        }
        self.find(message)
    }

    /// Sets the reason why this run had nothing to count for one target. The reason matters if the target is
    /// asserted.
    pub fn nothing_counts(&mut self, target: &Target, why: &'static str) -> &mut Self {
        self.vacuous.push(VacuousTarget {
            target: target.name,
            why,
        });
        self
    }

    fn value(&self, target: &Target) -> Option<Number> {
        self.values
            .iter()
            .find(|(known, _)| known.name == target.name)
            .map(|(_, value)| *value)
    }

    fn why_vacuous(&self, target: &str) -> Option<&str> {
        let mut vacuous = self.vacuous.iter();
        vacuous
            .find(|vacuous| vacuous.target == target)
            .map(|vacuous| vacuous.why)
    }

    /// Marks this run as failed by the gate's own rule, for [`super::gate::RunFailsBy::Rule`].
    pub fn fail(&mut self) -> &mut Self {
        self.has_failed = true;
        self
    }

    /// Records how much of the block's subject was judged, in the unit of a target.
    /// `--deny-vacuous` fails the gate for it unless the suite asserts that target.
    pub fn partial(&mut self, about: &Target, message: impl Into<String>) -> &mut Self {
        self.partial = Some(Partial {
            about: *about,
            message: message.into(),
        });
        self
    }

    /// Records that this run had nothing to measure.
    pub fn not_exercised(&mut self, why: impl Into<String>) -> &mut Self {
        self.not_exercised = Some(why.into());
        self
    }
}

impl Scores {
    /// Combines the numbers of each run as each target defines. A target that one run lacks is not
    /// measured.
    pub fn from_runs(runs: &[Run<'_>], mut scored: Vec<RunScores>) -> Self {
        let no_measure = scored.iter().map(|run| run.not_exercised.as_deref());
        let mut scores = Self {
            values: fold_values(&scored),
            not_exercised: vacuous_runs(runs, no_measure),
            remarks: partial_runs(runs, &scored),
            vacuous: vacuous_targets(runs, &scored),
            ..Self::default()
        };
        for (run, scored) in runs.iter().zip(&mut scored) {
            scores.take_findings(run.number, scored);
        }
        scores.by_run = scored;
        scores
    }

    /// Moves the findings of a run here, with the run's number.
    fn take_findings(&mut self, number: usize, scored: &mut RunScores) {
        if scored.has_failed {
            self.failed_runs.push(number);
        }
        if let Some(mut table) = scored.table.take() {
            table.run = Some(number);
            self.tables.push(table);
        }
        for mut finding in scored.findings.drain(..) {
            finding.run = Some(number);
            self.findings.push(finding);
        }
    }

    /// Sets one target over all runs.
    pub fn set(&mut self, target: &Target, value: Option<Number>) -> &mut Self {
        self.values.insert(target.name, value);
        self
    }

    /// Adds a remark on a target to the row, independent of the verdict.
    pub fn remark(&mut self, about: &Target, message: impl Into<String>) -> &mut Self {
        let remark = Remark {
            message: message.into(),
            is_partial: false,
        };
        self.remarks.push(Said {
            remark,
            about: about.name,
        });
        self
    }

    /// Sets the reason why the runs had nothing to count for one target. The reason matters if the target is
    /// asserted.
    pub fn nothing_counts(&mut self, target: &Target, why: impl Into<String>) -> &mut Self {
        self.vacuous.insert(target.name, why.into());
        self
    }

    /// The reason that the runs had nothing to count for a target.
    pub(crate) fn why_vacuous(&self, target: &str) -> Option<String> {
        self.vacuous
            .get(target)
            .map(|why| format!("`{target}`: {why}"))
    }

    /// The value of a target.
    pub fn value(&self, target: &str) -> Option<Number> {
        self.values.get(target).copied().flatten()
    }
}

/// Every target that a run measured; `None` if another run did not.
fn fold_values(scored: &[RunScores]) -> BTreeMap<&'static str, Option<Number>> {
    let mut folded = BTreeMap::new();
    for (target, _) in scored.iter().flat_map(|run| &run.values) {
        folded.entry(target.name).or_insert_with(|| {
            let values: Option<Vec<Number>> = scored.iter().map(|run| run.value(target)).collect();
            fold(target, &values?)
        });
    }
    folded
}

/// Combines the values of a target. `None` without values.
fn fold(target: &Target, values: &[Number]) -> Option<Number> {
    let (first, rest) = values.split_first()?;
    Some(rest.iter().fold(*first, |folded, &value| {
        match (target.fold, target.better()) {
            (Fold::Worst, Better::High) if value.as_f64() < folded.as_f64() => value,
            (Fold::Worst, Better::Low) if value.as_f64() > folded.as_f64() => value,
            (Fold::Sum, _) => add(folded, value),
            _ => folded,
        }
    }))
}

fn add(a: Number, b: Number) -> Number {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => Number::Int(a + b),
        _ => Number::Float(a.as_f64() + b.as_f64()),
    }
}

/// The remarks about partial results, each message once with its runs.
fn partial_runs(runs: &[Run<'_>], scored: &[RunScores]) -> Vec<Said> {
    let mut distinct: Vec<&Partial> = Vec::new();
    for partial in scored.iter().filter_map(|run| run.partial.as_ref()) {
        if distinct
            .iter()
            .all(|known| known.message != partial.message)
        {
            distinct.push(partial);
        }
    }
    let say = |partial: &Partial| {
        let messages = scored.iter().map(|run| {
            let own = run.partial.as_ref()?.message.as_str();
            (own == partial.message).then_some(own)
        });
        let remark = Remark {
            message: vacuous_runs(runs, messages)?,
            is_partial: true,
        };
        Some(Said {
            remark,
            about: partial.about.name,
        })
    };
    distinct.into_iter().filter_map(say).collect()
}

/// The reason that each target had nothing to count, with the affected runs.
fn vacuous_targets(runs: &[Run<'_>], scored: &[RunScores]) -> BTreeMap<&'static str, String> {
    let targets: BTreeSet<&'static str> = scored
        .iter()
        .flat_map(|run| run.vacuous.iter().map(|vacuous| vacuous.target))
        .collect();
    targets
        .into_iter()
        .filter_map(|target| {
            let reasons = scored.iter().map(|run| run.why_vacuous(target));
            Some((target, vacuous_runs(runs, reasons)?))
        })
        .collect()
}

/// Why runs had nothing to measure, and which runs, if not all.
pub(crate) fn vacuous_runs<'a>(
    runs: &[Run<'_>],
    reasons: impl Iterator<Item = Option<&'a str>>,
) -> Option<String> {
    let vacuous: Vec<(usize, &str)> = runs
        .iter()
        .zip(reasons)
        .filter_map(|(run, why)| Some((run.number, why?)))
        .collect();
    let (_, why) = vacuous.first()?;
    if vacuous.len() == runs.len() {
        return Some((*why).to_owned());
    }
    let named: Vec<String> = vacuous
        .iter()
        .take(MOST_RUNS_NAMED)
        .map(|(run, _)| format!("#{run}"))
        .collect();
    let more = if vacuous.len() > MOST_RUNS_NAMED {
        ", …"
    } else {
        ""
    };
    Some(format!(
        "{why} (in {} of {} runs: {}{more})",
        vacuous.len(),
        runs.len(),
        named.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Trace;

    const GOOD: Target = Target::ratio("t.good", "");
    const WASTE: Target = Target::count("t.waste", "");
    const SOMETIMES: Target = Target::count("t.sometimes", "");

    #[test]
    fn the_worst_run_decides_and_a_target_absent_once_is_absent() {
        let short = Trace::read("{}").unwrap();
        let long = Trace::read(r#"{"tool_calls":[{"name":"a"}]}"#).unwrap();
        let runs = [
            Run::new(&short),
            Run {
                number: 2,
                ..Run::new(&long)
            },
        ];
        let score = |run: &Run<'_>| {
            let mut scores = RunScores::default();
            let calls = run.trace.tool_calls.len();
            scores
                .float(&GOOD, 1.0 / (1.0 + calls as f64))
                .whole(&WASTE, calls);
            if calls > 0 {
                scores.whole(&SOMETIMES, 1);
            } else {
                scores.not_exercised("no calls");
            }
            scores
        };
        let scores = Scores::from_runs(&runs, runs.iter().map(score).collect());
        assert_eq!(scores.value("t.good"), Some(Number::Float(0.5)));
        assert_eq!(scores.value("t.waste"), Some(Number::Int(1)));
        assert_eq!(scores.value("t.sometimes"), None);
        assert_eq!(
            scores.not_exercised.unwrap(),
            "no calls (in 1 of 2 runs: #1)"
        );
    }

    #[test]
    fn no_runs_measure_nothing() {
        let scores = Scores::from_runs(&[], Vec::new());
        assert_eq!(scores.value("t.good"), None);
    }
}
