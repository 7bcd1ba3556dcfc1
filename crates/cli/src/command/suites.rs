//! Finding and loading the suites that a command names.

use crate::args::Suites;
use crate::output::{self, Failure};
use mcptest_core::escape::escape_path;
use mcptest_core::problem::{self, Level};
use mcptest_core::suite::Loaded;
use mcptest_files as files;
use mcptest_run::{FindError, Plan, Selection, Transcripts};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// How many files that are left out are named.
const SHOWN: usize = 10;

/// The suites that a command names, and what they judge.
pub(super) struct LoadedSuites {
    pub(super) loaded: Vec<(String, Loaded)>,
    /// The folder of `--traces`, and the groups of transcripts in it.
    traces: Option<(PathBuf, Vec<Transcripts>)>,
}

impl LoadedSuites {
    /// Loads suites that judge their recordings, or the transcripts in a folder.
    pub(super) fn load(suites: &Suites, traces: Option<&Path>) -> Result<Self, Failure> {
        Self::load_or(traces, |load| load_with(suites, load))
    }

    /// The same, where no suite is needed to judge transcripts.
    pub(super) fn load_or_bare(suites: &Suites, traces: Option<&Path>) -> Result<Self, Failure> {
        let is_named = !suites.paths.is_empty() || !suites.config.is_empty();
        let has_none = || matches!(mcptest_run::find(&[], Path::new("")), Err(FindError::NoDefault));
        let is_bare = traces.is_some() && !is_named && has_none();
        Self::load_or(
            traces,
            |load| if is_bare { Ok(mcptest_run::bare_suite()) } else { load_with(suites, load) },
        )
    }

    fn load_or(
        traces: Option<&Path>,
        load: impl FnOnce(LoadSuites) -> Result<Vec<(String, Loaded)>, Failure>,
    ) -> Result<Self, Failure> {
        let Some(folder) = traces else {
            return Ok(Self { loaded: load(mcptest_run::load_suites)?, traces: None });
        };
        let (groups, linked) = mcptest_run::groups(folder)?;
        output::not_entered(&linked);
        let loaded = load(mcptest_run::load_suites_for_traces)?;
        Ok(Self { loaded, traces: Some((folder.to_owned(), groups)) })
    }

    /// How many groups of transcripts there are.
    pub(super) fn groups(&self) -> Option<usize> {
        self.traces.as_ref().map(|(_, groups)| groups.len())
    }

    /// The selected rows.
    pub(super) fn plan(&self, selection: &Selection) -> Plan<'_> {
        match &self.traces {
            Some((folder, groups)) => Plan::of_traces(&self.loaded, folder, groups, selection),
            None => Plan::new(&self.loaded, selection),
        }
    }
}

/// Reads suites from files.
type LoadSuites = fn(&[PathBuf]) -> Vec<(String, Loaded)>;

/// Every named suite with its file name; their problems go to standard error.
pub(super) fn load(suites: &Suites) -> Result<Vec<(String, Loaded)>, Failure> {
    load_with(suites, mcptest_run::load_suites)
}

/// The same, for suites whose baselines are to be made.
pub(super) fn load_to_capture(suites: &Suites) -> Result<Vec<(String, Loaded)>, Failure> {
    load_with(suites, mcptest_run::load_suites_to_capture)
}

fn load_with(suites: &Suites, load: LoadSuites) -> Result<Vec<(String, Loaded)>, Failure> {
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
    tell_problems(&loaded, |text| text);
    Ok(loaded)
}

/// Writes the problems of suites to standard error, as `shown` has them.
pub(super) fn tell_problems(loaded: &[(String, Loaded)], shown: impl Fn(String) -> String) {
    let coloured = output::is_coloured(&std::io::stderr());
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

/// How many problems of a level there are.
pub(super) fn count(loaded: &[(String, Loaded)], level: Level) -> usize {
    loaded.iter().flat_map(|(_, loaded)| &loaded.problems).filter(|problem| problem.level == level).count()
}
