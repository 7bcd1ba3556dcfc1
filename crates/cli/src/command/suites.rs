//! Finding and loading the suites that a command names.

use crate::args::{Colour, Suites};
use crate::output::{self, Failure};
use mcptest_core::escape::escape_path;
use mcptest_core::problem::{self, Level};
use mcptest_core::suite::Loaded;
use mcptest_files as files;
use mcptest_run::Transcripts;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// How many files that are left out are named.
const SHOWN: usize = 10;

/// Every named suite with its file name; their problems go to standard error.
pub(super) fn load(suites: &Suites, colour: Colour) -> Result<Vec<(String, Loaded)>, Failure> {
    load_with(suites, colour, mcptest_run::load_suites)
}

/// The same, for suites that judge traces given from elsewhere.
pub(super) fn load_for_traces(suites: &Suites, colour: Colour) -> Result<Vec<(String, Loaded)>, Failure> {
    load_with(suites, colour, mcptest_run::load_suites_for_traces)
}

/// The same, for suites whose baselines are to be made.
pub(super) fn load_to_capture(suites: &Suites, colour: Colour) -> Result<Vec<(String, Loaded)>, Failure> {
    load_with(suites, colour, mcptest_run::load_suites_to_capture)
}

fn load_with(
    suites: &Suites,
    colour: Colour,
    load: fn(&[PathBuf]) -> Vec<(String, Loaded)>,
) -> Result<Vec<(String, Loaded)>, Failure> {
    let named: Vec<PathBuf> = suites.config.iter().chain(&suites.paths).cloned().collect();
    let found = mcptest_run::find(&named, Path::new(""))?;
    let loaded = load(&found.suites);
    let used: HashSet<_> = inputs(&loaded).filter_map(|path| files::identity(&path)).collect();
    let is_used = |path: &Path| files::identity(path).is_some_and(|one| used.contains(&one));
    let left_out: Vec<&PathBuf> = found.passed_over.iter().filter(|path| !is_used(path)).collect();
    if let Some(note) = left_out_note(&left_out, suites.verbose > 0) {
        output::stderr(&note);
    }
    output::not_entered(&found.linked);
    tell_problems(&loaded, colour, |text| text);
    Ok(loaded)
}

/// Writes the problems of suites to standard error, as `shown` has them.
pub(super) fn tell_problems(loaded: &[(String, Loaded)], colour: Colour, shown: impl Fn(String) -> String) {
    let coloured = output::is_coloured(colour, &std::io::stderr());
    for (_, loaded) in loaded {
        if !loaded.problems.is_empty() {
            output::stderr(&shown(problem::render(&loaded.problems, &loaded.sources, coloured)));
        }
    }
}

/// The files that suites were read from: their imports, manifests and baselines included.
pub(super) fn inputs(loaded: &[(String, Loaded)]) -> impl Iterator<Item = PathBuf> {
    let read = |(path, loaded): &(String, Loaded)| {
        loaded.files.iter().cloned().chain([PathBuf::from(path)]).collect::<Vec<_>>()
    };
    loaded.iter().flat_map(read).collect::<Vec<_>>().into_iter()
}

/// `note: no suites, and left out: a.yml, b.yml`; in a folder of many, the first of them.
fn left_out_note(left_out: &[&PathBuf], is_verbose: bool) -> Option<String> {
    let shown = if is_verbose { left_out.len() } else { left_out.len().min(SHOWN) };
    let names: Vec<String> = left_out[..shown].iter().map(|path| escape_path(path)).collect();
    let more = match left_out.len() - shown {
        0 => String::new(),
        more => format!(" and {more} more, which `--verbose` names"),
    };
    let what = if left_out.len() == 1 { "not a suite, and left out" } else { "not suites, and left out" };
    (!names.is_empty()).then(|| format!("note: {what}: {}{more}\n", names.join(", ")))
}

/// The groups of transcripts in the folder of `--traces`.
pub(super) fn groups(folder: Option<&Path>) -> Result<Option<Vec<Transcripts>>, Failure> {
    let Some(folder) = folder else { return Ok(None) };
    let (groups, linked) = mcptest_run::groups(folder)?;
    output::not_entered(&linked);
    Ok(Some(groups))
}

/// How many problems of a level there are.
pub(super) fn count(loaded: &[(String, Loaded)], level: Level) -> usize {
    loaded.iter().flat_map(|(_, loaded)| &loaded.problems).filter(|problem| problem.level == level).count()
}
