//! `mcptest validate`: the rules of `run`, nothing judged.

use super::suites;
use crate::args::{Colour, Validate};
use crate::output::{self, Failure};
use mcptest_core::escape::escape;
use mcptest_core::problem::Level;
use mcptest_run::{Plan, Selection};
use std::process::ExitCode;

pub(super) fn run(args: &Validate, colour: Colour) -> Result<ExitCode, Failure> {
    let groups = suites::groups(args.traces.as_deref())?;
    let loaded = match &args.traces {
        Some(_) => suites::load_for_traces(&args.suites, colour)?,
        None => suites::load(&args.suites, colour)?,
    };
    let (errors, warnings) = (suites::count(&loaded, Level::Error), suites::count(&loaded, Level::Warning));
    let tests: usize = loaded
        .iter()
        .filter_map(|(_, loaded)| loaded.suite.as_ref())
        .map(|suite| suite.agents.len() + suite.tools.len())
        .sum();
    let groups = groups.map(|groups| format!("{}, ", counted(groups.len(), "group"))).unwrap_or_default();
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

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
