//! What does a gate of a suite say about these traces?

use mcptest_core::load;
use mcptest_core::report::{GateReport, Status};
use mcptest_core::suite::{Host, Suite};
use mcptest_core::trace::{CatalogueTool, Header, Run, Trace};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// An agent with some gates, loaded as from a user's file.
pub(super) struct Gates(Suite);

impl Gates {
    /// Loads the blocks of an agent.
    pub(super) fn of(blocks: &str, runs: usize) -> Result<Self, String> {
        let text =
            format!("agents:\n  - name: measured\n    model: m\n    prompt: p\n    runs: {runs}\n{blocks}\n");
        let read = |_: &Path| Ok(text.clone().into_bytes());
        let loaded = load(Path::new("calibrate.yml"), &Host::new(&read, &|_| None));
        let problems: Vec<String> = loaded.problems.iter().map(|problem| problem.message.clone()).collect();
        loaded.suite.map(Self).ok_or_else(|| problems.join("; "))
    }

    /// The reports of the gates over the runs of one test.
    pub(super) fn judge(
        &self,
        traces: &[&Value],
        catalogue: Option<&BTreeSet<String>>,
    ) -> Result<Vec<GateReport>, String> {
        let texts: Vec<String> = traces.iter().map(|trace| trace.to_string()).collect();
        let traces = texts.iter().map(|text| Trace::read(text)).collect::<Result<Vec<_>, _>>();
        let traces = traces.map_err(|error| error.to_string())?;
        let tool = |name: &String| CatalogueTool { name: name.clone(), ..CatalogueTool::default() };
        let header = catalogue.map(|tools| Header {
            catalogue: Some(tools.iter().map(tool).collect()),
            ..Header::of_agent("measured")
        });
        let runs: Vec<Run<'_>> =
            Run::all(&traces).into_iter().map(|run| Run { header: header.as_ref(), ..run }).collect();
        Ok(self.0.agents[0].gates.iter().map(|gate| gate.judge("measured", &runs)).collect())
    }

    /// Whether all gates pass.
    pub(super) fn pass(
        &self,
        traces: &[&Value],
        catalogue: Option<&BTreeSet<String>>,
    ) -> Result<bool, String> {
        Ok(self.judge(traces, catalogue)?.iter().all(|report| report.status == Status::Passed))
    }
}
