//! What do gates say of the recorded runs that went right, and of those that went wrong?

mod label_file;
mod labels;

pub(crate) use labels::Labels;

use crate::plan::Plan;
use crate::replay;
use crate::secrets::Secrets;
use mcptest_core::calibrate::{Calibration, Calibrator, Defaults, LabelledRun, LeftOut};
use mcptest_core::judge::{MeasurableRun, Recorded, measurable_runs};
use mcptest_core::problem::{Problem, Sources};
use mcptest_core::row::{AgentRow, Row, Subject};
use std::path::Path;

/// Why labels are of no use, with the text that they point into.
#[derive(Debug)]
pub struct Mislabelled {
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// The file of the labels.
    pub sources: Sources,
}

/// Measures the labelled runs of a plan: by the file of labels, else by each run's own `expect:`.
pub fn calibrate(plan: &Plan<'_>, labels: Option<&Path>) -> Result<Calibration, Mislabelled> {
    let mut labels = labels.map(Labels::read).transpose()?;
    let secrets = Secrets::default();
    let defaults = Defaults::new();
    let mut measured =
        Measured { calibrator: Calibrator::new(&defaults), left_out: Vec::new(), unlabelled: 0 };
    for row in plan.rows.iter().filter(|row| row.skip.is_none()) {
        let left_out = measured.left_out.len();
        match row.subject {
            Subject::Agent(of) => replay::with_runs(row, of, None, |recorded| {
                measured.add(row, of, recorded, labels.as_mut());
            }),
            Subject::Refused(loaded) => measured.leave_out(row, &loaded.refusal().message),
            Subject::Tool(_) => {}
        }
        for one in &mut measured.left_out[left_out..] {
            one.reason = match row.suite() {
                Some(suite) => secrets.of(suite).hidden_in(&one.reason),
                None => crate::clean(&one.reason).to_string(),
            };
        }
    }
    let from = labels.as_ref().map_or_else(|| "expect".to_owned(), Labels::path);
    if let Some(labels) = labels {
        labels.finish()?;
    }
    Ok(measured.calibrator.finish(from, measured.left_out, measured.unlabelled))
}

struct Measured<'d> {
    calibrator: Calibrator<'d>,
    left_out: Vec<LeftOut>,
    unlabelled: usize,
}

impl Measured<'_> {
    fn leave_out(&mut self, row: &Row<'_>, reason: &str) {
        self.left_out.push(LeftOut { row: row.name.clone(), reason: reason.to_owned() });
    }

    fn add(
        &mut self,
        row: &Row<'_>,
        of: AgentRow<'_>,
        recorded: &Recorded<'_>,
        mut labels: Option<&mut Labels>,
    ) {
        let recorded = match recorded {
            Recorded::Runs(runs) => runs,
            Recorded::Nothing(reason) => {
                self.leave_out(row, &reason.message);
                let files = row.transcripts.iter().flat_map(|group| &group.files);
                return labels.into_iter().for_each(|labels| labels.excuse(&row.name, files.clone()));
            }
            _ => return,
        };
        let broken = measurable_runs(of, recorded, |runs| {
            let labelled = label(row, runs, labels.as_deref_mut());
            self.unlabelled += runs.len() - labelled.len();
            if !labelled.is_empty() {
                self.calibrator.add(of, &labelled);
            }
        });
        let broken = broken.unwrap_or_else(|reason| vec![reason]);
        for reason in &broken {
            self.leave_out(row, &reason.message);
        }
        if let Some(labels) = labels.filter(|_| !broken.is_empty()) {
            labels.excuse(&row.name, recorded.runs.iter().filter_map(|run| run.source));
        }
    }
}

/// The runs of a row that have a label.
pub(crate) fn label<'r>(
    row: &Row<'_>,
    runs: &[MeasurableRun<'r>],
    labels: Option<&mut Labels>,
) -> Vec<LabelledRun<'r>> {
    let with =
        |run: &MeasurableRun<'r>, label: Option<bool>| Some(LabelledRun { run: run.run, is_good: label? });
    match labels {
        Some(labels) => runs.iter().filter_map(|run| with(run, labels.of(&row.name, run))).collect(),
        None => runs.iter().filter_map(|run| with(run, run.expected)).collect(),
    }
}
