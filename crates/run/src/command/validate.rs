//! `mcptest validate`: check suites by the rules of `run`, without judging.

use clap::Args;
use mcptest_command::suites::{LoadedSuites, Suites, TraceFiles, TracesFolder};
use mcptest_command::{EXIT_BROKEN, Failure, Group, Program, RunCommand, output};
use mcptest_core::escape::escape;
use mcptest_core::problem::Level;
use mcptest_core::words::count;
use mcptest_replay::{Plan, Selection};
use std::path::PathBuf;

/// Arguments of `validate`.
#[derive(Debug, Args)]
pub(crate) struct Validate {
    #[command(flatten)]
    suites: Suites,
    /// Check the suites for `run --traces DIR`, and that DIR has transcripts.
    #[arg(long, value_name = "DIR")]
    traces: Option<PathBuf>,
    /// Check for `run --traces DIR --group-by KEY`.
    #[arg(long, value_name = "KEY", requires = "traces")]
    group_by: Option<String>,
    #[command(flatten)]
    trace_files: TraceFiles,
    /// Treat warnings as errors.
    #[arg(long)]
    deny_warnings: bool,
}

impl RunCommand for Validate {
    const NAME: &'static str = "validate";
    const GROUP: Group = Group::Test;
    const SUMMARY: &'static str = "Check suites without judging them";
    const EXAMPLE: &'static str = "mcptest validate examples/";

    fn run(self, program: &Program) -> Result<u8, Failure> {
        let (folder, group_by) = (self.traces.as_deref(), self.group_by.as_deref());
        let traces = TracesFolder::named(folder, group_by, &self.trace_files)?;
        let suites = LoadedSuites::load(&self.suites, traces, program.gates)?;
        for why in suites.other_files()? {
            output::stderr(&format!("note: skipped: {why}\n"));
        }
        let (groups, loaded) = (suites.groups(), suites.loaded);
        let problems = |level| {
            let all = loaded.iter().flat_map(|(_, loaded)| &loaded.problems);
            all.filter(|problem| problem.level == level).count()
        };
        let (errors, warnings) = (problems(Level::Error), problems(Level::Warning));
        let whole = loaded
            .iter()
            .filter_map(|(_, loaded)| loaded.suite.as_ref());
        let tests = whole
            .map(|suite| suite.agents.len() + suite.tools.len())
            .sum();
        let groups = groups
            .map(|groups| format!("{}, ", count(groups, "group")))
            .unwrap_or_default();
        let plan = Plan::new(&loaded, &Selection::default());
        for line in crate::refused_tools(&plan) {
            output::stderr(&format!("note: {}\n", escape(&line)));
        }
        let line = format!(
            "{}: {}, {groups}{}, {}\n",
            count(loaded.len(), "suite"),
            count(tests, "test"),
            count(errors, "error"),
            count(warnings, "warning")
        );
        output::stdout(line.as_bytes())?;
        Ok(if errors > 0 || (self.deny_warnings && warnings > 0) {
            EXIT_BROKEN
        } else {
            0
        })
    }
}
