//! What is a side of a comparison, and what are the results of its runs?

use mcptest_command::reports::saved;
use mcptest_command::suites::{TraceFiles, TracesFolder};
use mcptest_command::{Failure, suites};
use mcptest_core::escape::{escape, escape_path};
use mcptest_core::eval::Gates;
use mcptest_core::report::Report;
use mcptest_core::suite::Loaded;
use mcptest_replay::cassette::is_recording;
use mcptest_replay::{JudgeOptions, Plan, Revision, Selection, Transcripts, is_revision};
use std::path::{Component, Path, PathBuf};

/// One side, judged.
pub(super) struct JudgedSide {
    /// Its name on the command line.
    pub(super) name: String,
    /// Its tests.
    pub(super) report: Report,
    /// The files that were read for it.
    pub(super) inputs: Vec<PathBuf>,
    /// True if suites judged it just now.
    pub(super) by_suites: bool,
}

impl JudgedSide {
    /// `NAME=SIDE`, unless all of that is a file, a folder or a revision.
    pub(super) fn new(written: &Path, suites: &[PathBuf], gates: Gates) -> Result<Self, Failure> {
        let named = written.to_str().and_then(|text| text.split_once('='));
        match named.filter(|(name, side)| !name.is_empty() && !side.is_empty()) {
            Some((name, side))
                if !written.exists() && !is_revision(&written.display().to_string()) =>
            {
                Ok(Self {
                    name: name.to_owned(),
                    ..Self::unnamed(Path::new(side), suites, gates)?
                })
            }
            _ => Self::unnamed(written, suites, gates),
        }
    }

    /// A file is a report or a cassette, a folder has suites and recordings, and anything else is a git revision.
    fn unnamed(side: &Path, suites: &[PathBuf], gates: Gates) -> Result<Self, Failure> {
        let name = side.display().to_string();
        let shown = escape(&name).into_owned();
        // What is written as a path is one.
        let is_word = matches!(
            side.components().collect::<Vec<_>>()[..],
            [Component::Normal(_)]
        );
        let is_there = side.exists();
        let is_revision = (is_word || !is_there) && is_revision(&name);
        match (is_there, is_revision) {
            (true, true) => Err(ambiguous(side, &shown)),
            (true, false) if side.is_dir() => {
                let folder = mcptest_replay::plain(side);
                SideFolder {
                    name: &name,
                    folder: &folder,
                    is_laid_out: false,
                }
                .judge(suites, gates)
            }
            (true, false) if is_recording(side) => of_cassette(side, name, suites, gates),
            (true, false) => Ok(Self {
                name,
                report: saved(side)?,
                inputs: vec![side.to_owned()],
                by_suites: false,
            }),
            (false, true) => of_revision(&name, suites, gates),
            (false, false) => {
                let help = "name a JSON report (`mcptest run --reporter json=FILE`), a cassette, a folder or a revision";
                Err(Failure::with_help(
                    format!("no such file, folder or git revision: `{shown}`"),
                    help,
                ))
            }
        }
    }
}

/// The transcripts of a folder, judged by the agents of suites.
pub(super) struct TracesSide<'a> {
    /// The folder, or `NAME=DIR`.
    pub(super) written: &'a Path,
    pub(super) group_by: Option<&'a str>,
    pub(super) files: &'a TraceFiles,
    pub(super) suites: &'a [PathBuf],
}

impl TracesSide<'_> {
    /// Judges them. Without suites, the suite of the current folder judges.
    pub(super) fn judge(&self, gates: Gates) -> Result<JudgedSide, Failure> {
        let named = self.written.to_str().and_then(|text| text.split_once('='));
        let named = named.filter(|(name, side)| !name.is_empty() && !side.is_empty());
        let (name, folder) = match named.filter(|_| !self.written.exists()) {
            Some((name, folder)) => (name.to_owned(), Path::new(folder)),
            None => (self.written.display().to_string(), self.written),
        };
        let groups = suites::groups(TracesFolder {
            folder,
            group_by: self.group_by,
            files: self.files,
        })?;
        of_transcripts(name, folder, &groups, self.suites, gates)
    }
}

/// The error for a word that names both a file or folder and a revision.
fn ambiguous(side: &Path, shown: &str) -> Failure {
    let what = if side.is_dir() { "folder" } else { "file" };
    let help = format!("write `./{shown}` for the {what}, or `refs/heads/{shown}` for the branch");
    Failure::with_help(format!("`{shown}` is a {what} and a git revision"), help)
}

fn of_revision(name: &str, suites: &[PathBuf], gates: Gates) -> Result<JudgedSide, Failure> {
    let named = |error| Failure::new(format!("{}: {error}", escape(name)));
    let revision = Revision::open(name).map_err(named)?;
    SideFolder {
        name,
        folder: revision.folder(),
        is_laid_out: true,
    }
    .judge(suites, gates)
}

/// The runs of one file, for every agent of the suites. The agents' own recordings are ignored.
fn of_cassette(
    file: &Path,
    name: String,
    named: &[PathBuf],
    gates: Gates,
) -> Result<JudgedSide, Failure> {
    if named.is_empty() {
        let why = format!(
            "{} is a recording, but no suite judges it",
            escape_path(file)
        );
        return Err(Failure::with_help(
            why,
            "name the suite that judges it with `--suite PATH`",
        ));
    }
    let groups = [Transcripts {
        name: "recording".to_owned(),
        files: vec![file.to_owned()],
        ..Transcripts::default()
    }];
    let folder = file.parent().unwrap_or(Path::new(""));
    of_transcripts(name, folder, &groups, named, gates)
}

fn of_transcripts(
    name: String,
    folder: &Path,
    groups: &[Transcripts],
    named: &[PathBuf],
    gates: Gates,
) -> Result<JudgedSide, Failure> {
    let found = mcptest_replay::find(named, Path::new(""))?;
    let loaded = mcptest_replay::load_suites_for_traces(&found.suites, gates);
    suites::tell_problems(&loaded, |text| text);
    let plan = Plan::from_traces(&loaded, folder, groups, &Selection::default());
    let report = mcptest_replay::replay(&plan, JudgeOptions::default());
    Ok(JudgedSide {
        name,
        report,
        inputs: inputs(&loaded, &plan),
        by_suites: true,
    })
}

/// A folder that replaces the current one.
struct SideFolder<'p> {
    name: &'p str,
    folder: &'p Path,
    /// True if it contains the files of a revision. Its path then means nothing to the user.
    is_laid_out: bool,
}

impl SideFolder<'_> {
    fn judge(&self, named: &[PathBuf], gates: Gates) -> Result<JudgedSide, Failure> {
        let found = if named.is_empty() {
            mcptest_replay::find(&[self.folder.to_owned()], Path::new(""))
                .map_err(|error| Failure::new(self.shown(error.to_string())))?
        } else {
            mcptest_replay::find_in(self.folder, named)?
        };
        let loaded = mcptest_replay::load_suites_in(self.folder, &found.suites, gates);
        suites::tell_problems(&loaded, |text| self.shown(text));
        let plan = Plan::new(&loaded, &Selection::default());
        let mut report = mcptest_replay::replay(&plan, JudgeOptions::default());
        for test in &mut report.tests {
            let file = Path::new(test.file_here());
            test.suite.file =
                mcptest_replay::named_from_root(file.strip_prefix(self.folder).unwrap_or(file));
            if let Some(reason) = &mut test.reason {
                reason.message = self.shown(std::mem::take(&mut reason.message));
            }
        }
        let inputs = if self.is_laid_out {
            Vec::new()
        } else {
            inputs(&loaded, &plan)
        };
        Ok(JudgedSide {
            name: self.name.to_owned(),
            report,
            inputs,
            by_suites: true,
        })
    }

    /// Shows paths as the user writes them: `HEAD~1:suites/a.yml`.
    fn shown(&self, text: String) -> String {
        if !self.is_laid_out {
            return text;
        }
        let folder = self.folder.display().to_string();
        let below = format!("{folder}{}", std::path::MAIN_SEPARATOR);
        text.replace(&below, &format!("{}:", self.name))
            .replace(&folder, self.name)
    }
}

fn inputs(loaded: &[(String, Loaded)], plan: &Plan<'_>) -> Vec<PathBuf> {
    suites::inputs(loaded).chain(plan.files()).collect()
}
