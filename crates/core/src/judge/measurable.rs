//! Which runs of a row can be measured, and what does the agent's own `expect:` say of each?

use super::one_run::judge_run;
use super::recorded::{RecordedRuns, with_known_tools};
use crate::eval::Assertion;
use crate::row::{AgentRow, Reason};
use crate::trace::Run;
use std::path::Path;

/// A run that can be measured.
#[derive(Debug, Clone, Copy)]
pub struct MeasurableRun<'r> {
    /// The run.
    pub run: Run<'r>,
    /// The file it is in, where it is in one.
    pub source: Option<&'r Path>,
    /// Its number among the runs of that file, from 1.
    pub in_source: usize,
    /// Whether the agent's `expect:` holds in it; `None` where the agent expects nothing.
    pub expected: Option<bool>,
}

impl MeasurableRun<'_> {
    /// The `trace_id` that the trace has among its own fields.
    pub fn trace_id(&self) -> Option<String> {
        self.run.trace.trace_id.as_deref().map(str::to_owned)
    }
}

/// Gives the runs of a row to `measure`, all that are recorded, with their tools as the suite knows them. What cannot be
/// read or judged is told of; a row whose recording does not fit the suite has no runs.
pub fn measurable_runs(
    of: AgentRow<'_>,
    recorded: &RecordedRuns<'_>,
    measure: impl FnOnce(&[MeasurableRun<'_>]),
) -> Result<Vec<Reason>, Reason> {
    if let Some(reason) = &recorded.stale {
        return Err(reason.clone());
    }
    let settled = with_known_tools(of, &recorded.runs);
    let (mut runs, mut broken) = (Vec::new(), Vec::new());
    let (mut source, mut in_source) = (None, 0);
    for ((number, run), settled) in (1..).zip(&recorded.runs).zip(&settled) {
        in_source = if run.source == source {
            in_source + 1
        } else {
            1
        };
        source = run.source;
        let trace = match &run.trace {
            Ok(trace) => settled.as_ref().unwrap_or(trace),
            Err(reason) => {
                broken.push(reason.clone());
                continue;
            }
        };
        let judged = judge_run(of.agent, number, trace, &[]);
        let Some(passed) = judged.passed else {
            broken.extend(judged.report.reason);
            continue;
        };
        // What judges say is no label for what judges say.
        let is_observed = of.agent.expect.iter().any(Assertion::is_observable);
        let expected = (is_observed || !passed).then_some(passed);
        let run = MeasurableRun {
            run: Run {
                number,
                header: run.header,
                as_expected: passed,
                passed,
                ..Run::of(trace)
            },
            source,
            in_source,
            expected,
        };
        runs.push(run);
    }
    measure(&runs);
    Ok(broken)
}
