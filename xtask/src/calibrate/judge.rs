//! What does a gate of a suite say about these traces?

use mcptest_core::eval::GateBlock;
use mcptest_core::report::{GateReport, Status};
use mcptest_core::trace::{CatalogueTool, Header, Run, Trace};
use mcptest_grade::calibration::gates_of;
use serde_json::Value;
use std::collections::BTreeSet;

/// An agent with some gates, loaded as from a user's file.
pub(super) struct Gates(Vec<GateBlock>);

impl Gates {
    /// Loads the blocks of an agent.
    pub(super) fn of(blocks: &str, runs: usize) -> Result<Self, String> {
        match gates_of(mcptest::GATES, blocks, runs) {
            Ok((gates, _)) => Ok(Self(gates)),
            Err(problems) => {
                let problems: Vec<String> = problems
                    .into_iter()
                    .map(|problem| problem.message)
                    .collect();
                Err(problems.join("; "))
            }
        }
    }

    /// The reports of the gates over the runs of one test.
    pub(super) fn judge(
        &self,
        traces: &[&Value],
        catalogue: Option<&BTreeSet<String>>,
    ) -> Result<Vec<GateReport>, String> {
        let texts: Vec<String> = traces.iter().map(|trace| trace.to_string()).collect();
        let traces = texts
            .iter()
            .map(|text| Trace::read(text))
            .collect::<Result<Vec<_>, _>>();
        let traces = traces.map_err(|error| error.to_string())?;
        let tool = |name: &String| CatalogueTool {
            name: name.clone(),
            ..CatalogueTool::default()
        };
        let header = catalogue.map(|tools| Header {
            catalogue: Some(tools.iter().map(tool).collect()),
            ..Header::new("measured")
        });
        let runs: Vec<Run<'_>> = Run::all(&traces)
            .into_iter()
            .map(|run| Run {
                header: header.as_ref(),
                ..run
            })
            .collect();
        Ok(self
            .0
            .iter()
            .map(|gate| gate.judge("measured", &runs))
            .collect())
    }

    /// Returns true if all gates pass.
    pub(super) fn pass(
        &self,
        traces: &[&Value],
        catalogue: Option<&BTreeSet<String>>,
    ) -> Result<bool, String> {
        Ok(self
            .judge(traces, catalogue)?
            .iter()
            .all(|report| report.status == Status::Passed))
    }
}
