//! `mcptest schema`: JSON Schemas for editors and for readers of reports.

use clap::Args;
use mcptest_command::{Failure, Group, Program, RunCommand, output};

/// Arguments of `schema`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each names another schema")]
pub(crate) struct Schema {
    /// Print the schema of the JSON report.
    #[arg(long)]
    report: bool,
    /// Print the schema of mock server manifests.
    #[arg(long, conflicts_with = "report")]
    manifest: bool,
    /// Print the schema of what `calibrate --json` prints.
    #[arg(long, conflicts_with_all = ["report", "manifest"])]
    calibration: bool,
    /// Print the schema of what `model-baseline diff --reporter json` prints.
    #[arg(long, conflicts_with_all = ["report", "manifest", "calibration"])]
    baseline_diff: bool,
    /// Print the schema of what `compare --reporter json` prints.
    #[arg(long, conflicts_with_all = ["report", "manifest", "calibration", "baseline_diff"])]
    compare: bool,
    /// Print the schema of each line that `score` prints.
    #[arg(long, conflicts_with_all = ["report", "manifest", "calibration", "baseline_diff", "compare"])]
    verdicts: bool,
}

impl RunCommand for Schema {
    const NAME: &'static str = "schema";
    const GROUP: Group = Group::Document;
    const SUMMARY: &'static str = "Print the JSON Schema of suites, manifests, reports, verdicts, calibrations or comparisons";
    const EXAMPLE: &'static str = "mcptest schema > suite.schema.json";

    fn run(self, _program: &Program) -> Result<u8, Failure> {
        let text = if self.report {
            mcptest_report::json::SCHEMA.to_owned()
        } else if self.calibration {
            mcptest_grade::show::calibration::SCHEMA.to_owned()
        } else if self.baseline_diff {
            mcptest_compare::show::baseline::SCHEMA.to_owned()
        } else if self.compare {
            mcptest_compare::show::reports::SCHEMA.to_owned()
        } else if self.verdicts {
            mcptest_report::verdicts::SCHEMA.to_owned()
        } else if self.manifest {
            format!("{:#}\n", mcptest_mock::manifest::json_schema())
        } else {
            format!("{:#}\n", mcptest_core::suite::json_schema(crate::GATES))
        };
        output::own(&text)?;
        Ok(0)
    }
}
