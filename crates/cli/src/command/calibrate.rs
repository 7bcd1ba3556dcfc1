//! `mcptest calibrate`: which gates tell good runs from bad ones, and which floors do the good runs support?

use super::suites::LoadedSuites;
use crate::args::Calibrate;
use crate::output::{self, EXIT_BROKEN, EXIT_NOTHING_SELECTED, Failure};
use mcptest_core::calibrate::Calibration;
use mcptest_report::calibration;
use mcptest_run::Selection;

pub(super) fn run(args: &Calibrate) -> Result<u8, Failure> {
    let suites = LoadedSuites::load_or_bare(&args.suites, args.traces.as_deref())?;
    let plan = suites.plan(&Selection {
        filters: args.filter.clone(),
        ..Selection::default()
    });
    if plan.rows.is_empty() {
        return Err(Failure::ended(
            EXIT_NOTHING_SELECTED,
            "nothing was selected: no agent matches",
        ));
    }
    let measured = mcptest_run::calibrate(&plan, args.labels.as_deref())
        .map_err(|mislabelled| Failure::of_problems(&mislabelled.problems, &mislabelled.sources))?;
    if measured.counts.good + measured.counts.bad == 0 && measured.left_out.is_empty() {
        return Err(no_labels(&measured));
    }
    output::stdout(&match (args.json, args.yaml) {
        (true, _) => calibration::json(&measured).into_bytes(),
        (_, true) => calibration::yaml(&measured).into_bytes(),
        _ => calibration::text(&measured, &output::report_options(args.suites.verbose)),
    })?;
    Ok(if measured.left_out.is_empty() {
        0
    } else {
        EXIT_BROKEN
    })
}

fn no_labels(measured: &Calibration) -> Failure {
    let why = match measured.counts.unlabelled {
        0 => "there are no runs of agents here".to_owned(),
        1 => "the run has no label: its agent has no `expect:`".to_owned(),
        runs => format!("none of the {runs} runs has a label: their agents have no `expect:`"),
    };
    let help =
        "say under `expect:` what a good run does, or name a file of labels with `--labels FILE`";
    Failure::with_help(why, help)
}
