//! `mcptest calibrate`: which gates separate good runs from bad ones, and which floors do the good
//! runs support?

use crate::calibration::Calibration;
use crate::show::calibration;
use clap::Args;
use mcptest_command::suites::{LoadedSuites, Suites};
use mcptest_command::{
    EXIT_BROKEN, EXIT_NOTHING_SELECTED, Failure, Group, Program, RunCommand, output, waiting,
};
use mcptest_core::words::count;
use mcptest_replay::{Filter, Selection};
use std::path::PathBuf;

/// Arguments of `calibrate`.
#[derive(Debug, Args)]
pub(crate) struct Calibrate {
    #[command(flatten)]
    suites: Suites,
    /// Measure the transcripts in a folder instead of the recorded runs, one row per subfolder or single file; without a
    /// suite, by the gates that need no configuration.
    #[arg(long, value_name = "DIR")]
    traces: Option<PathBuf>,
    /// Read which runs are good from FILE (JSON, JSON Lines or CSV) instead of from the labels in their traces and their
    /// `expect:`.
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Measure only tests whose name contains TEXT or matches PATTERN; repeat to require all.
    #[arg(long, value_name = "TEXT|re:PATTERN")]
    filter: Vec<Filter>,
    /// Print the measures as JSON (`mcptest schema --calibration`).
    #[arg(long)]
    json: bool,
    /// Print only the floors, as YAML for a suite.
    #[arg(long, conflicts_with = "json")]
    yaml: bool,
}

impl RunCommand for Calibrate {
    const NAME: &'static str = "calibrate";
    const GROUP: Group = Group::Compare;
    const SUMMARY: &'static str =
        "Measure which gates tell good runs from bad ones, and which floors the good runs support";
    const EXAMPLE: &'static str = "mcptest calibrate examples/";

    fn run(self, program: &Program) -> Result<u8, Failure> {
        let suites =
            LoadedSuites::load_or_bare(&self.suites, self.traces.as_deref(), program.gates)?;
        let plan = suites.plan(&Selection {
            filters: self.filter.clone(),
            ..Selection::default()
        });
        if plan.rows.is_empty() {
            return Err(Failure::ended(
                EXIT_NOTHING_SELECTED,
                "nothing was selected: no agent matches",
            ));
        }
        waiting::tell(&format!(
            "the measures of {}",
            count(plan.rows.len(), "row")
        ));
        let measured = crate::calibrate(&plan, self.labels.as_deref()).map_err(|mislabelled| {
            Failure::of_problems(&mislabelled.problems, &mislabelled.sources)
        })?;
        if measured.counts.good + measured.counts.bad == 0 && measured.left_out.is_empty() {
            return Err(no_labels(&measured));
        }
        output::stdout(&match (self.json, self.yaml) {
            (true, _) => calibration::json(&measured).into_bytes(),
            (_, true) => calibration::yaml(&measured).into_bytes(),
            _ => calibration::text(&measured, &output::report_options(self.suites.verbose)),
        })?;
        Ok(if measured.left_out.is_empty() {
            0
        } else {
            EXIT_BROKEN
        })
    }
}

fn no_labels(measured: &Calibration) -> Failure {
    let why = match measured.counts.unlabelled {
        0 => "no runs of agents found".to_owned(),
        1 => {
            "the run has no label: its trace has no `labels.reward`, and its agent has no `expect:`"
                .to_owned()
        }
        runs => format!(
            "none of the {runs} runs has a label: their traces have no `labels.reward`, and their agents have no \
            `expect:`"
        ),
    };
    let help = "define a good run under `expect:`, or name a file of labels with `--labels FILE`";
    Failure::with_help(why, help)
}
