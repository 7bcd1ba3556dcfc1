//! Which verdicts did one gate give on every run?

use super::floor::floor;
use super::model::{GateCalibration, JudgedUnit, Separated, TargetCalibration, Verdicts};
use super::{FEWEST_TO_COMPARE, LabelledRun};
use mcptest_core::gates::{Better, GateBlock, Target};
use mcptest_core::report::{GateReport, Number, Status};
use mcptest_core::suite::Variant;
use mcptest_core::trace::Run;
use mcptest_stats::{CONFIDENCE, separation, six_decimals};

/// The reports of one gate on labelled runs or rows, and on the runs that floors must hold for.
pub(super) struct Samples {
    gate: &'static str,
    targets: &'static [Target],
    unit: JudgedUnit,
    pub(super) is_written: bool,
    units: Vec<JudgedSample>,
    /// Its reports on the good runs of each row together.
    pub(super) good_rows: Vec<GateReport>,
}

/// One run, or one row.
struct JudgedSample {
    is_good: bool,
    passed: Option<bool>,
    report: GateReport,
}

impl Samples {
    fn of(gate: &GateBlock) -> Self {
        let unit = if gate.compares_runs() {
            JudgedUnit::Row
        } else {
            JudgedUnit::Run
        };
        Self {
            gate: gate.key(),
            targets: gate.targets(),
            unit,
            is_written: false,
            units: Vec::new(),
            good_rows: Vec::new(),
        }
    }

    /// Measures the labelled runs of a row with a gate.
    pub(super) fn measure(
        gate: &GateBlock,
        is_written: bool,
        variant: Option<Variant>,
        runs: &[LabelledRun<'_>],
    ) -> Self {
        let mut samples = Self::of(gate);
        samples.is_written = is_written;
        samples.judge(gate, variant, runs);
        samples
    }

    /// Adds the gate's verdicts on another row.
    pub(super) fn append(&mut self, other: Self) {
        self.is_written |= other.is_written;
        self.units.extend(other.units);
        self.good_rows.extend(other.good_rows);
    }

    fn judge(&mut self, gate: &GateBlock, variant: Option<Variant>, runs: &[LabelledRun<'_>]) {
        let judge = |runs: &[Run<'_>]| {
            // Only numbers are kept: findings quote the runs.
            let mut report = gate.judge_variant(variant, "", runs);
            report.explanation.clear();
            report
        };
        match self.unit {
            JudgedUnit::Row if runs.len() > 1 => self.judge_row(judge, runs),
            JudgedUnit::Row => {}
            JudgedUnit::Run => self.judge_runs(judge, gate.judges_one_run(), runs),
        }
    }

    /// Adds the verdict on a row, which is good if all its runs are good.
    fn judge_row(&mut self, judge: impl Fn(&[Run<'_>]) -> GateReport, runs: &[LabelledRun<'_>]) {
        let all: Vec<Run<'_>> = runs.iter().map(|run| run.run).collect();
        let report = judge(&all);
        let is_good = runs.iter().all(|run| run.is_good);
        self.good_rows.extend(is_good.then(|| report.clone()));
        self.units.push(JudgedSample {
            is_good,
            passed: Some(report.status == Status::Passed),
            report,
        });
    }

    /// Adds the numbers of each run, with its verdict if the gate judges single runs, and of all good runs together.
    fn judge_runs(
        &mut self,
        judge: impl Fn(&[Run<'_>]) -> GateReport,
        judges_one_run: bool,
        runs: &[LabelledRun<'_>],
    ) {
        for run in runs {
            let report = judge(std::slice::from_ref(&run.run));
            self.units.push(JudgedSample {
                is_good: run.is_good,
                passed: judges_one_run.then_some(report.status == Status::Passed),
                report,
            });
        }
        let good = runs.iter().filter(|run| run.is_good);
        let good: Vec<Run<'_>> = good.map(|run| run.run).collect();
        if !good.is_empty() {
            self.good_rows.push(judge(&good));
        }
    }

    /// The reason that the gate measured nothing.
    pub(super) fn why_unmeasured(&self) -> Option<String> {
        let Some(first) = self.units.first() else {
            return Some(
                "it compares the runs of a row, but no row has two labelled runs".to_owned(),
            );
        };
        let is_vacuous = self
            .units
            .iter()
            .all(|unit| unit.report.not_exercised.is_some());
        let why = first.report.not_exercised.as_ref().filter(|_| is_vacuous)?;
        Some(format!("it had nothing to measure: {why}"))
    }

    pub(super) fn calibrate(&self) -> GateCalibration {
        let verdicts = |is_good: bool| {
            let units = self.units.iter().filter(|unit| unit.is_good == is_good);
            Verdicts::count(units.map(|unit| (unit.passed, unit.report.not_exercised.is_some())))
        };
        let targets = self.targets.iter().filter(|target| !target.is_pass_rate());
        GateCalibration {
            gate: self.gate.to_owned(),
            is_written: self.is_written,
            unit: self.unit,
            good: verdicts(true),
            bad: verdicts(false),
            targets: targets.filter_map(|target| self.target(target)).collect(),
        }
    }

    /// One of its targets, if it was measured.
    fn target(&self, target: &Target) -> Option<TargetCalibration> {
        let (good, bad) = (self.values(target, true), self.values(target, false));
        if good.is_empty() && bad.is_empty() {
            return None;
        }
        let separated = separated(target, &good, &bad);
        Some(TargetCalibration {
            target: target.name.to_owned(),
            better: target.better(),
            good: good.len(),
            bad: bad.len(),
            floor: floor(self, target, separated.as_ref()),
            separated,
        })
    }

    /// The values of a target in good or bad samples.
    fn values(&self, target: &Target, is_good: bool) -> Vec<f64> {
        self.numbers(target, is_good)
            .flatten()
            .map(Number::as_f64)
            .collect()
    }

    pub(super) fn numbers(
        &self,
        target: &Target,
        is_good: bool,
    ) -> impl Iterator<Item = Option<Number>> {
        let units = self
            .units
            .iter()
            .filter(move |unit| unit.is_good == is_good);
        let name = target.name;
        units.map(move |unit| unit.report.targets.get(name).copied().flatten())
    }

    /// The number of bad samples that miss the block's bound on a target.
    pub(super) fn failed(&self, target: &Target) -> usize {
        let fails = |unit: &&JudgedSample| {
            unit.report
                .expectations
                .iter()
                .any(|one| one.target == target.name && !one.passed)
        };
        self.units
            .iter()
            .filter(|unit| !unit.is_good)
            .filter(fails)
            .count()
    }
}

fn separated(target: &Target, good: &[f64], bad: &[f64]) -> Option<Separated> {
    if good.len().min(bad.len()) < FEWEST_TO_COMPARE {
        return None;
    }
    let sign = if target.better() == Better::High {
        1.0
    } else {
        -1.0
    };
    let turned = |values: &[f64]| {
        values
            .iter()
            .map(|value| sign * value)
            .collect::<Vec<f64>>()
    };
    let found = separation(&turned(good), &turned(bad), CONFIDENCE).ok()?;
    Some(Separated {
        auc: six_decimals(found.auc),
        lower: six_decimals(found.interval.lower),
        upper: six_decimals(found.interval.upper),
        best: found.threshold.map(|best| {
            target
                .bound(target.outward(sign * best.at, 6))
                .written()
                .as_ref()
                .clone()
        }),
        kept: found.threshold.map_or(0, |best| best.kept as usize),
        caught: found.threshold.map_or(0, |best| best.caught as usize),
    })
}
