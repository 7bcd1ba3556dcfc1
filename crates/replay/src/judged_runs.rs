//! Which recorded runs of a row are judged, and are they whole?

use mcptest_core::judge::{MeasurableRun, MeasurableRuns, Recorded, SettledRuns, with_outcome};
use mcptest_core::row::AgentRow;
use mcptest_core::trace::Run;

/// The runs without the files they are in.
pub fn plain<'r>(runs: &[MeasurableRun<'r>]) -> Vec<Run<'r>> {
    runs.iter().map(|run| run.run).collect()
}

/// The recorded runs of an agent's row, with tools resolved by the suite.
pub fn settled_runs<'r>(
    of: AgentRow<'r>,
    recorded: &'r Recorded<'r>,
) -> Result<SettledRuns<'r>, String> {
    match recorded {
        Recorded::Runs(runs) => SettledRuns::new(of, runs).map_err(|reason| reason.message),
        Recorded::Nothing(reason) => Err(reason.message.clone()),
        _ => Err("its recording is of a different test".to_owned()),
    }
}

/// The runs of a row that are judged, each with its outcome, or why they are not whole.
pub fn judged_runs<'r>(
    of: AgentRow<'_>,
    settled: &'r SettledRuns<'_>,
) -> Result<Vec<MeasurableRun<'r>>, String> {
    let MeasurableRuns { mut runs, broken } = settled.measurable();
    if let Some(reason) = broken.first() {
        return Err(reason.message.clone());
    }
    runs.truncate(of.agent.runs_to_judge(runs.len()));
    if runs.is_empty() {
        return Err("it has no recorded runs".to_owned());
    }
    for measurable in &mut runs {
        measurable.run = with_outcome(of.agent, measurable.run);
    }
    Ok(runs)
}
