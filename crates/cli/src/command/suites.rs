//! Finding and loading the suites that a command names.

use crate::args::{Colour, Suites};
use crate::output::{self, Failure};
use mcptest_core::problem::{self, Level};
use mcptest_core::suite::Loaded;
use std::path::{Path, PathBuf};

/// Every named suite with its file name; their problems go to standard error.
pub(super) fn load(suites: &Suites, colour: Colour) -> Result<Vec<(String, Loaded)>, Failure> {
    load_with(suites, colour, mcptest_run::load_suites)
}

/// The same, for suites that judge traces given from elsewhere.
pub(super) fn load_for_traces(suites: &Suites, colour: Colour) -> Result<Vec<(String, Loaded)>, Failure> {
    load_with(suites, colour, mcptest_run::load_suites_for_traces)
}

fn load_with(
    suites: &Suites,
    colour: Colour,
    load: fn(&[PathBuf]) -> Vec<(String, Loaded)>,
) -> Result<Vec<(String, Loaded)>, Failure> {
    let named: Vec<PathBuf> = suites.config.iter().chain(&suites.paths).cloned().collect();
    let found = mcptest_run::find(&named, Path::new(""))?;
    if suites.verbose {
        for path in &found.passed_over {
            output::stderr(&format!(
                "note: {} is not a suite (no `servers:` or `agents:`)\n",
                path.display()
            ));
        }
    }
    let loaded = load(&found.suites);
    let coloured = output::is_coloured(colour, &std::io::stderr());
    for (_, loaded) in &loaded {
        if !loaded.problems.is_empty() {
            output::stderr(&problem::render(&loaded.problems, &loaded.sources, coloured));
        }
    }
    Ok(loaded)
}

/// How many problems of a level there are.
pub(super) fn count(loaded: &[(String, Loaded)], level: Level) -> usize {
    loaded.iter().flat_map(|(_, loaded)| &loaded.problems).filter(|problem| problem.level == level).count()
}
