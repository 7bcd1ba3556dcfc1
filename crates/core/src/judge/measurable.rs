//! Which runs of a row can be measured, and does the agent's `expect:` hold in each?

use super::one_run::judge_run;
use super::recorded::{RecordedRun, RecordedRuns, with_known_tools};
use crate::engine::Assertion;
use crate::row::{AgentRow, Reason};
use crate::suite::Agent;
use crate::trace::{Run, Trace};
use std::path::Path;

/// A run that can be measured.
#[derive(Debug, Clone, Copy)]
pub struct MeasurableRun<'r> {
    /// The run.
    pub run: Run<'r>,
    /// Its file, if it has one.
    pub source: Option<&'r Path>,
    /// Its number among the runs of that file, from 1.
    pub in_source: usize,
    /// True if the agent's `expect:` holds in it. `None` without expectations.
    pub expected: Option<bool>,
}

impl MeasurableRun<'_> {
    /// Returns whether the labels in the trace call the run good. `None` if they do not say.
    pub fn is_labelled_good(&self) -> Option<bool> {
        self.run.trace.is_labelled_good()
    }

    /// The `trace_id` of the trace.
    pub fn trace_id(&self) -> Option<String> {
        self.run.trace.trace_id.as_deref().map(str::to_owned)
    }
}

/// The measurable runs of a row, all recorded runs, and the reasons of the others.
#[derive(Debug, Default)]
pub struct MeasurableRuns<'r> {
    /// The measurable runs.
    pub runs: Vec<MeasurableRun<'r>>,
    /// The runs that cannot be read or judged.
    pub broken: Vec<Reason>,
}

/// The recorded runs of a row, with tools resolved by the suite.
#[derive(Debug)]
pub struct SettledRuns<'r> {
    agent: &'r Agent,
    runs: &'r [RecordedRun<'r>],
    /// For each run, its trace with resolved tools, if they differ.
    settled: Vec<Option<Trace<'r>>>,
}

impl<'r> SettledRuns<'r> {
    /// The runs of a row; empty if its recording does not fit the suite.
    pub fn new(of: AgentRow<'r>, recorded: &'r RecordedRuns<'r>) -> Result<Self, Reason> {
        if let Some(reason) = &recorded.stale {
            return Err(reason.clone());
        }
        Ok(Self {
            agent: of.agent,
            runs: &recorded.runs,
            settled: with_known_tools(of, &recorded.runs),
        })
    }

    /// The runs with the result of the agent's `expect:` in each.
    pub fn measurable(&self) -> MeasurableRuns<'_> {
        let mut measurable = MeasurableRuns::default();
        let (mut source, mut in_source) = (None, 0);
        for ((number, run), settled) in (1..).zip(self.runs).zip(&self.settled) {
            in_source = if run.source == source {
                in_source + 1
            } else {
                1
            };
            source = run.source;
            let trace = match &run.trace {
                Ok(trace) => settled.as_ref().unwrap_or(trace),
                Err(reason) => {
                    measurable.broken.push(reason.clone());
                    continue;
                }
            };
            let judged = judge_run(self.agent, number, trace, &[]);
            let Some(passed) = judged.passed else {
                measurable.broken.extend(judged.report.reason);
                continue;
            };
            // What judges say is no label for what judges say.
            let is_observed = self.agent.expect.iter().any(Assertion::is_observable);
            let expected = (is_observed || !passed).then_some(passed);
            measurable.runs.push(MeasurableRun {
                run: Run {
                    number,
                    header: run.header,
                    as_expected: passed,
                    passed,
                    ..Run::new(trace)
                },
                source,
                in_source,
                expected,
            });
        }
        measurable
    }
}
