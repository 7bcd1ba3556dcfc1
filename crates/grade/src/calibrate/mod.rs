//! Which verdicts do gates give on recorded runs with known outcomes?

mod label_file;
mod labels;

use crate::calibration::{Calibration, Calibrator, Defaults, LabelledRun};
use labels::Labels;
use mcptest_core::guard::guarded;
use mcptest_core::judge::{MeasurableRun, MeasurableRuns, Recorded, SettledRuns};
use mcptest_core::problem::{Problem, Sources};
use mcptest_core::row::{AgentRow, Row, RowOfAgent, Subject};
use mcptest_replay::{LeftOut, OpenedRow, Plan, Secrets};
use std::path::Path;

/// Why labels are of no use, with the text that they point into.
#[derive(Debug)]
pub struct Mislabelled {
    /// The problems.
    pub problems: Vec<Problem>,
    /// The file of the labels.
    pub sources: Sources,
}

/// Measures the labelled runs of a plan: by the file of labels, otherwise by the labels in each
/// trace, otherwise by each run's own `expect:`.
pub fn calibrate(plan: &Plan<'_>, labels: Option<&Path>) -> Result<Calibration, Mislabelled> {
    let defaults = Defaults::new(plan.gates());
    let mut calibrator = Calibrator::new(&defaults);
    let read = each_labelled(plan, labels, &Secrets::default(), |shown| {
        if !shown.runs.is_empty() {
            calibrator.add(shown.row, shown.runs);
        }
    })?;
    let left_out = read.left_out.into_iter().map(|row| row.left_out).collect();
    Ok(calibrator.finish(read.labels, left_out, read.unlabelled))
}

/// The labelled runs of an agent's row.
pub(crate) struct LabelledRow<'r, 'p> {
    /// Its place in the plan.
    pub(crate) index: usize,
    pub(crate) row: AgentRow<'p>,
    pub(crate) recorded: &'r Recorded<'r>,
    pub(crate) runs: &'r [LabelledRun<'r>],
}

/// The facts about a plan's runs besides the labelled ones.
pub(crate) struct Labelling {
    /// The source of the labels.
    pub(crate) labels: String,
    pub(crate) left_out: Vec<LeftOutRow>,
    /// Runs without a label.
    pub(crate) unlabelled: usize,
}

/// The unusable part of a row.
pub(crate) struct LeftOutRow {
    /// The row's place in the plan.
    pub(crate) index: usize,
    pub(crate) left_out: LeftOut,
}

/// Shows each agent's row with its labelled runs.
pub(crate) fn each_labelled<'p>(
    plan: &'p Plan<'p>,
    labels: Option<&Path>,
    secrets: &Secrets,
    mut visit: impl FnMut(&LabelledRow<'_, 'p>),
) -> Result<Labelling, Mislabelled> {
    let mut labeller = Labeller {
        labels: labels.map(Labels::read).transpose()?,
        ..Labeller::default()
    };
    let mut left_out_rows = Vec::new();
    let rows = plan.rows.iter().enumerate();
    for (index, row) in rows.filter(|(_, row)| row.skip.is_none()) {
        let unusable = match row.subject {
            Subject::Agent(of) => {
                labeller.show_guarded(RowOfAgent { row, of }, |recorded, runs| {
                    visit(&LabelledRow {
                        index,
                        row: of,
                        recorded,
                        runs,
                    });
                })
            }
            Subject::Refused(loaded) => vec![loaded.refusal().message.clone()],
            Subject::Tool(_) => Vec::new(),
        };
        for reason in unusable {
            let reason = without_secrets(&reason, row, secrets);
            let left_out = LeftOut {
                row: row.name.clone(),
                reason,
            };
            left_out_rows.push(LeftOutRow { index, left_out });
        }
    }
    let labels = labeller.source();
    labeller.labels.map_or(Ok(()), Labels::finish)?;
    Ok(Labelling {
        labels,
        left_out: left_out_rows,
        unlabelled: labeller.unlabelled,
    })
}

fn without_secrets(reason: &str, row: &Row<'_>, secrets: &Secrets) -> String {
    match row.suite() {
        Some(suite) => secrets.of(suite).hidden_in(reason),
        None => mcptest_replay::clean(reason).to_string(),
    }
}

#[derive(Default)]
struct Labeller {
    labels: Option<Labels>,
    unlabelled: usize,
    /// Runs whose traces have the label.
    by_trace: usize,
    by_expectations: usize,
}

impl Labeller {
    /// The source of the labels: a file, the traces, or `expect:`.
    fn source(&self) -> String {
        if let Some(labels) = &self.labels {
            return labels.path();
        }
        let source = match (self.by_trace, self.by_expectations) {
            (0, _) => "expect",
            (_, 0) => "traces",
            _ => "traces, expect",
        };
        source.to_owned()
    }

    /// Reads a row behind a guard.
    fn show_guarded(
        &mut self,
        row: RowOfAgent<'_>,
        visit: impl FnOnce(&Recorded<'_>, &[LabelledRun<'_>]),
    ) -> Vec<String> {
        guarded(|| self.show(row, visit)).unwrap_or_else(|panic| vec![panic.to_string()])
    }

    /// Adds the labelled runs of a row, and notes why others cannot be used.
    fn show(
        &mut self,
        RowOfAgent { row, of }: RowOfAgent<'_>,
        visit: impl FnOnce(&Recorded<'_>, &[LabelledRun<'_>]),
    ) -> Vec<String> {
        let opened = OpenedRow::open(row, None);
        let parsed = opened.parse();
        let recorded = parsed.recorded();
        let runs = match &recorded {
            Recorded::Runs(runs) => runs,
            Recorded::Nothing(reason) => {
                let files = row.transcripts.iter().flat_map(|group| &group.files);
                if let Some(labels) = &mut self.labels {
                    labels.excuse(&row.name, files);
                }
                return vec![reason.message.clone()];
            }
            _ => return Vec::new(),
        };
        let sources = || runs.runs.iter().filter_map(|run| run.source);
        let settled = match SettledRuns::new(of, runs) {
            Ok(settled) => settled,
            Err(reason) => {
                if let Some(labels) = &mut self.labels {
                    labels.excuse(&row.name, sources());
                }
                return vec![reason.message];
            }
        };
        let MeasurableRuns { runs, broken } = settled.measurable();
        let labelled = self.label(row, &runs);
        self.unlabelled += runs.len() - labelled.len();
        visit(&recorded, &labelled);
        if let Some(labels) = self.labels.as_mut().filter(|_| !broken.is_empty()) {
            labels.excuse(&row.name, sources());
        }
        broken.into_iter().map(|reason| reason.message).collect()
    }

    /// The runs of a row that have a label.
    fn label<'r>(&mut self, row: &Row<'_>, runs: &[MeasurableRun<'r>]) -> Vec<LabelledRun<'r>> {
        let mut labelled = Vec::new();
        for run in runs {
            if let Some(is_good) = self.label_of(row, run) {
                labelled.push(LabelledRun {
                    run: run.run,
                    is_good,
                });
            }
        }
        labelled
    }

    fn label_of(&mut self, row: &Row<'_>, run: &MeasurableRun<'_>) -> Option<bool> {
        if let Some(labels) = &mut self.labels {
            return labels.find(&row.name, run);
        }
        if let Some(is_good) = run.is_labelled_good() {
            self.by_trace += 1;
            return Some(is_good);
        }
        self.by_expectations += usize::from(run.expected.is_some());
        run.expected
    }
}
