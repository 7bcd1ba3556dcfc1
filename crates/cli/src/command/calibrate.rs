//! `mcptest calibrate`: which gates tell good runs from bad ones, and which floors do the good runs support?

use super::suites;
use crate::args::{Calibrate, Colour, Suites};
use crate::output::{self, EXIT_BROKEN, EXIT_NOTHING_SELECTED, Failure};
use mcptest_core::calibrate::Calibration;
use mcptest_core::problem;
use mcptest_report::{Options, calibration};
use mcptest_run::{FindError, Plan, Selection};
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(args: &Calibrate, colour: Colour) -> Result<ExitCode, Failure> {
    let groups = suites::groups(args.traces.as_deref())?;
    let loaded = match &args.traces {
        Some(_) if has_no_suite(&args.suites) => mcptest_run::bare_suite(),
        Some(_) => suites::load_for_traces(&args.suites, colour)?,
        None => suites::load(&args.suites, colour)?,
    };
    let selection = Selection { filters: args.filter.clone(), ..Selection::default() };
    let plan = match (&args.traces, &groups) {
        (Some(folder), Some(groups)) => Plan::of_traces(&loaded, folder, groups, &selection),
        _ => Plan::new(&loaded, &selection),
    };
    if plan.rows.is_empty() {
        output::stderr("nothing was selected: no agent matches\n");
        return Ok(ExitCode::from(EXIT_NOTHING_SELECTED));
    }
    let measured = match mcptest_run::calibrate(&plan, args.labels.as_deref()) {
        Ok(measured) => measured,
        Err(mislabelled) => {
            let coloured = output::is_coloured(colour, &std::io::stderr());
            output::stderr(&problem::render(&mislabelled.problems, &mislabelled.sources, coloured));
            return Ok(ExitCode::from(EXIT_BROKEN));
        }
    };
    if measured.counts.good + measured.counts.bad == 0 && measured.left_out.is_empty() {
        return Err(no_labels(&measured));
    }
    if args.json {
        output::stdout(calibration::json(&measured).as_bytes())?;
    } else if args.yaml {
        output::stdout(calibration::yaml(&measured).as_bytes())?;
    } else {
        let coloured = output::is_coloured(colour, &std::io::stdout());
        let options = Options {
            colour: coloured,
            ascii: output::is_dumb(),
            width: output::width(),
            verbose: args.suites.verbose,
            ..Options::default()
        };
        output::stdout(&calibration::text(&measured, &options))?;
    }
    Ok(if measured.left_out.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_BROKEN) })
}

/// Transcripts can be measured without a suite; one that is named, or stands here, is used.
fn has_no_suite(suites: &Suites) -> bool {
    let is_named = !suites.paths.is_empty() || !suites.config.is_empty();
    !is_named && matches!(mcptest_run::find(&[], Path::new("")), Err(FindError::NoDefault))
}

fn no_labels(measured: &Calibration) -> Failure {
    let why = match measured.counts.unlabelled {
        0 => "there are no runs of agents here".to_owned(),
        1 => "the run has no label: its agent has no `expect:`".to_owned(),
        runs => format!("none of the {runs} runs has a label: their agents have no `expect:`"),
    };
    let help = "say under `expect:` what a good run does, or name a file of labels with `--labels FILE`";
    Failure(format!("{why}\n  help: {help}"))
}
