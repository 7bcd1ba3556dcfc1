//! `mcptest validate`: the rules of `run`, nothing judged.

use super::suites::{LoadedSuites, count};
use crate::args::Validate;
use crate::output::{self, Failure, counted};
use mcptest_core::escape::escape;
use mcptest_core::problem::Level;
use mcptest_run::{Plan, Selection};
use std::process::ExitCode;

pub(super) fn run(args: &Validate) -> Result<ExitCode, Failure> {
    let suites = LoadedSuites::load(&args.suites, args.traces.as_deref())?;
    let (groups, loaded) = (suites.groups(), suites.loaded);
    let (errors, warnings) = (count(&loaded, Level::Error), count(&loaded, Level::Warning));
    let tests: usize = loaded
        .iter()
        .filter_map(|(_, loaded)| loaded.suite.as_ref())
        .map(|suite| suite.agents.len() + suite.tools.len())
        .sum();
    let groups = groups.map(|groups| format!("{}, ", counted(groups, "group"))).unwrap_or_default();
    let plan = Plan::new(&loaded, &Selection::default());
    for line in mcptest_run::refused_tools(&plan) {
        output::stderr(&format!("note: {}\n", escape(&line)));
    }
    let line = format!(
        "{}: {}, {groups}{}, {}\n",
        counted(loaded.len(), "suite"),
        counted(tests, "test"),
        counted(errors, "error"),
        counted(warnings, "warning")
    );
    output::stdout(line.as_bytes())?;
    Ok(ExitCode::from(if errors > 0 || (args.deny_warnings && warnings > 0) {
        output::EXIT_BROKEN
    } else {
        0
    }))
}
