//! How does a command find and load the suites that it names?

use crate::failure::Failure;
use crate::output;
use clap::Args;
use mcptest_core::escape::escape_path;
use mcptest_core::eval::Gates;
use mcptest_core::problem;
use mcptest_core::suite::Loaded;
use mcptest_files as files;
use mcptest_replay::{FindError, Plan, Selection, TraceFilter, Transcripts};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The number of skipped files to name.
const SHOWN: usize = 10;

/// Which suites.
#[derive(Debug, Args)]
pub struct Suites {
    /// Suite files or folders of suites [default: mcptest.yaml or mcptest.yml].
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Use this suite file, like PATH.
    #[arg(long, value_name = "FILE")]
    pub config: Vec<PathBuf>,
    /// Print more: skipped files, and the numbers that were asserted; twice, every number and every run.
    #[arg(long, short, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

impl Suites {
    /// The suites that the command line names.
    pub fn named(&self) -> impl Iterator<Item = PathBuf> {
        self.config.iter().chain(&self.paths).cloned()
    }
}

/// Which files of a folder are transcripts.
#[derive(Debug, Default, Args)]
pub struct TraceFiles {
    /// Take the files of DIR that match this pattern, such as `session*.json` or `eu/**/*.jsonl`, instead of every .json, .jsonl, .ndjson and .eval file.
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,
    /// Omit the files of DIR that match this pattern.
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
}

/// Every file with the ending of a transcript.
static USUAL_FILES: TraceFiles = TraceFiles {
    include: Vec::new(),
    exclude: Vec::new(),
};

impl TraceFiles {
    /// Refuses patterns without a folder whose files they choose.
    pub fn refuse_without_folder(&self, has_folder: bool) -> Result<(), Failure> {
        let has_patterns = !self.include.is_empty() || !self.exclude.is_empty();
        if has_patterns && !has_folder {
            return Err(Failure::with_help(
                "`--include` and `--exclude` choose files of a folder of traces",
                "name the folder with `--traces DIR`",
            ));
        }
        Ok(())
    }

    /// The filter of these patterns.
    pub fn filter(&self) -> Result<TraceFilter, Failure> {
        Ok(TraceFilter::new(&self.include, &self.exclude)?)
    }
}

/// The suites that a command names, and the runs that they judge.
pub struct LoadedSuites {
    /// Each suite with its file name.
    pub loaded: Vec<(String, Loaded)>,
    /// The folder of `--traces`, and the groups of transcripts in it.
    traces: Option<GroupedFolder>,
}

/// The transcripts of a folder, in their groups.
struct GroupedFolder {
    folder: PathBuf,
    group_by: Option<String>,
    groups: Vec<Transcripts>,
}

/// A folder of transcripts, and what makes their groups.
#[derive(Debug, Clone, Copy)]
pub struct TracesFolder<'a> {
    /// The folder.
    pub folder: &'a Path,
    /// The key of a trace that the runs of a group share. Without it, a subfolder or a file is a group.
    pub group_by: Option<&'a str>,
    /// Which of its files are transcripts.
    pub files: &'a TraceFiles,
}

impl<'a> From<&'a Path> for TracesFolder<'a> {
    fn from(folder: &'a Path) -> Self {
        Self {
            folder,
            group_by: None,
            files: &USUAL_FILES,
        }
    }
}

impl<'a> TracesFolder<'a> {
    /// The folder of `--traces`, if the command line names one.
    pub fn named(
        folder: Option<&'a Path>,
        group_by: Option<&'a str>,
        files: &'a TraceFiles,
    ) -> Result<Option<Self>, Failure> {
        files.refuse_without_folder(folder.is_some())?;
        Ok(folder.map(|folder| Self {
            folder,
            group_by,
            files,
        }))
    }
}

impl GroupedFolder {
    fn open(traces: TracesFolder<'_>) -> Result<Self, Failure> {
        Ok(Self {
            folder: traces.folder.to_owned(),
            group_by: traces.group_by.map(str::to_owned),
            groups: groups(traces)?,
        })
    }
}

/// The groups of transcripts in a folder.
pub fn groups(traces: TracesFolder<'_>) -> Result<Vec<Transcripts>, Failure> {
    let filter = traces.files.filter()?;
    let (groups, linked) = match traces.group_by {
        Some(key) => mcptest_replay::groups_by(traces.folder, &filter, key)?,
        None => mcptest_replay::groups(traces.folder, &filter)?,
    };
    output::not_entered(&linked);
    Ok(groups)
}

impl LoadedSuites {
    /// Loads suites that judge their recordings, or the transcripts in a folder.
    pub fn load<'a>(
        suites: &Suites,
        traces: Option<impl Into<TracesFolder<'a>>>,
        gates: Gates,
    ) -> Result<Self, Failure> {
        let readers = Readers {
            of_recordings: mcptest_replay::load_suites,
            of_traces: mcptest_replay::load_suites_for_traces,
        };
        Self::load_with(readers, suites, traces.map(Into::into), gates)
    }

    /// Loads suites to make the baselines that their gates name.
    pub fn load_to_capture(
        suites: &Suites,
        traces: Option<TracesFolder<'_>>,
        gates: Gates,
    ) -> Result<Self, Failure> {
        let readers = Readers {
            of_recordings: mcptest_replay::load_suites_to_capture,
            of_traces: mcptest_replay::load_suites_to_capture_traces,
        };
        Self::load_with(readers, suites, traces, gates)
    }

    fn load_with(
        readers: Readers,
        suites: &Suites,
        traces: Option<TracesFolder<'_>>,
        gates: Gates,
    ) -> Result<Self, Failure> {
        let traces = traces.map(GroupedFolder::open).transpose()?;
        let read = match &traces {
            Some(_) => readers.of_traces,
            None => readers.of_recordings,
        };
        Ok(Self {
            loaded: load(suites, gates, read)?,
            traces,
        })
    }

    /// Loads suites, or an empty suite if transcripts are judged without one.
    pub fn load_or_bare(
        suites: &Suites,
        traces: Option<&Path>,
        gates: Gates,
    ) -> Result<Self, Failure> {
        let is_named = !suites.paths.is_empty() || !suites.config.is_empty();
        let has_none = || {
            matches!(
                mcptest_replay::find(&[], Path::new("")),
                Err(FindError::NoDefault)
            )
        };
        match traces.filter(|_| !is_named && has_none()) {
            Some(folder) => {
                let traces = Some(GroupedFolder::open(folder.into())?);
                Ok(Self {
                    loaded: mcptest_replay::bare_suite(gates),
                    traces,
                })
            }
            None => Self::load(suites, traces, gates),
        }
    }

    /// Why files of the folder of `--traces` are not judged: they are not traces. An error if none
    /// is.
    pub fn other_files(&self) -> Result<Vec<String>, Failure> {
        let Some(traces) = &self.traces else {
            return Ok(Vec::new());
        };
        let (others, files) = mcptest_replay::other_files(&traces.groups);
        if others.len() == files {
            let folder = escape_path(&traces.folder);
            return Err(Failure::new(format!("no file in {folder} is a trace")));
        }
        Ok(others)
    }

    /// Refuses transcripts of which something would be dropped.
    pub fn refuse_drops(&mut self) {
        for group in self.traces.iter_mut().flat_map(|traces| &mut traces.groups) {
            group.is_strict = true;
        }
    }

    /// The number of groups of transcripts.
    pub fn groups(&self) -> Option<usize> {
        self.traces.as_ref().map(|traces| traces.groups.len())
    }

    /// The selected rows.
    pub fn plan(&self, selection: &Selection) -> Plan<'_> {
        match &self.traces {
            Some(traces) => {
                let mut plan =
                    Plan::from_traces(&self.loaded, &traces.folder, &traces.groups, selection);
                for row in &mut plan.rows {
                    row.rerun.group_by.clone_from(&traces.group_by);
                }
                plan
            }
            None => Plan::new(&self.loaded, selection),
        }
    }
}

/// The functions that read suites.
#[derive(Clone, Copy)]
struct Readers {
    of_recordings: LoadSuites,
    of_traces: LoadSuites,
}

/// Reads suites from these paths, each with its file name.
pub type LoadSuites = fn(&[PathBuf], Gates) -> Vec<(String, Loaded)>;

/// Every named suite with its file name, as `load` reads it. Their problems go to standard error.
pub fn load(
    suites: &Suites,
    gates: Gates,
    load: LoadSuites,
) -> Result<Vec<(String, Loaded)>, Failure> {
    let named: Vec<PathBuf> = suites.named().collect();
    let found = mcptest_replay::find(&named, Path::new(""))?;
    let loaded = load(&found.suites, gates);
    let used: HashSet<_> = inputs(&loaded)
        .filter_map(|path| files::identity(&path))
        .collect();
    let is_used = |path: &Path| files::identity(path).is_some_and(|one| used.contains(&one));
    let left_out: Vec<&PathBuf> = found
        .passed_over
        .iter()
        .filter(|path| !is_used(path))
        .collect();
    if let Some(note) = left_out_note(&left_out, suites.verbose > 0) {
        output::stderr(&note);
    }
    output::not_entered(&found.linked);
    tell_problems(&loaded, |text| text);
    Ok(loaded)
}

/// Writes the problems of suites to standard error, as `shown` has them.
pub fn tell_problems(loaded: &[(String, Loaded)], shown: impl Fn(String) -> String) {
    let coloured = output::is_coloured(&std::io::stderr());
    for (_, loaded) in loaded {
        if !loaded.problems.is_empty() {
            output::stderr(&shown(problem::render(
                &loaded.problems,
                &loaded.sources,
                coloured,
            )));
        }
    }
}

/// The files that suites were read from: their imports, manifests and baselines included.
pub fn inputs(loaded: &[(String, Loaded)]) -> impl Iterator<Item = PathBuf> {
    let read = |(path, loaded): &(String, Loaded)| {
        loaded
            .files
            .iter()
            .cloned()
            .chain([PathBuf::from(path)])
            .collect::<Vec<_>>()
    };
    loaded.iter().flat_map(read).collect::<Vec<_>>().into_iter()
}

/// `note: no suites, and left out: a.yml, b.yml`; only the first few in a large folder.
fn left_out_note(left_out: &[&PathBuf], is_verbose: bool) -> Option<String> {
    let shown = if is_verbose {
        left_out.len()
    } else {
        left_out.len().min(SHOWN)
    };
    let names: Vec<String> = left_out[..shown]
        .iter()
        .map(|path| escape_path(path))
        .collect();
    let more = match left_out.len() - shown {
        0 => String::new(),
        more => format!(" and {more} more, which `--verbose` names"),
    };
    let what = if left_out.len() == 1 {
        "not a suite, skipped"
    } else {
        "not suites, skipped"
    };
    (!names.is_empty()).then(|| format!("note: {what}: {}{more}\n", names.join(", ")))
}
