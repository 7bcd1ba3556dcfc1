//! What is viewed, and has one of its files changed?

use super::live::Live;
use mcptest_command::reports::saved;
use mcptest_command::{Failure, suites};
use mcptest_core::judge::Judging;
use mcptest_core::report::{Embed, Report};
use mcptest_core::suite::Loaded;
use mcptest_files as files;
use mcptest_replay::{JudgeOptions, Plan, Selection, Stamps, TraceFilter, Transcripts};
use std::path::{Path, PathBuf};

/// The source that the paths of the command line name.
pub(super) enum Source {
    /// A saved report.
    Report(PathBuf),
    /// Suites, judged by their recordings.
    Suites(Vec<PathBuf>),
    /// Recordings and transcripts without a suite.
    Transcripts(Vec<PathBuf>),
}

/// A report, the recordings in progress, and the files that it depends on.
pub(super) struct JudgedSource {
    pub(super) report: Report,
    pub(super) live: Option<Live>,
    stamps: Stamps,
}

impl JudgedSource {
    pub(super) fn is_current(&self) -> bool {
        self.stamps.now() == self.stamps
    }
}

impl Source {
    pub(super) fn from_paths(paths: &[PathBuf]) -> Result<Self, Failure> {
        if let [path] = paths
            && has_ending(path, &["json"])
            && files::read_named_text(path, files::RECORDING).is_ok_and(|text| is_report(&text))
        {
            return Ok(Self::Report(path.clone()));
        }
        let is_suite = |path: &PathBuf| has_ending(path, &["yml", "yaml"]);
        let is_transcripts = |path: &PathBuf| {
            if path.is_dir() {
                mcptest_replay::find(std::slice::from_ref(path), Path::new("")).is_err()
            } else {
                path.exists() && !is_suite(path)
            }
        };
        let transcripts = paths.iter().filter(|path| is_transcripts(path)).count();
        if transcripts > 0 && transcripts < paths.len() {
            let help = "pass only the suites; mcptest finds their recordings";
            return Err(Failure::with_help(
                "suites and recordings cannot be viewed together",
                help,
            ));
        }
        Ok(if transcripts > 0 {
            Self::Transcripts(paths.to_vec())
        } else {
            Self::Suites(paths.to_vec())
        })
    }

    pub(super) fn judge(&self) -> Result<JudgedSource, Failure> {
        match self {
            Self::Report(path) => {
                let stamps = Stamps::default().of([path.clone()]);
                Ok(JudgedSource {
                    report: saved(path)?,
                    live: None,
                    stamps,
                })
            }
            Self::Suites(paths) => {
                let found = mcptest_replay::find(paths, Path::new(""))?;
                let loaded = mcptest_replay::load_suites(&found.suites, crate::GATES);
                Ok(judged(&loaded, &Plan::new(&loaded, &Selection::default())))
            }
            Self::Transcripts(paths) => {
                let loaded = mcptest_replay::bare_suite(crate::GATES);
                let groups = groups(paths)?;
                let folder = paths.first().map_or(Path::new("."), PathBuf::as_path);
                Ok(judged(
                    &loaded,
                    &Plan::from_traces(&loaded, folder, &groups, &Selection::default()),
                ))
            }
        }
    }
}

/// Returns true if a JSON file is a report instead of a transcript.
fn is_report(text: &str) -> bool {
    text.contains("\"schema_version\"") && text.contains("\"tests\"")
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    path.extension()
        .is_some_and(|ending| endings.iter().any(|known| ending == *known))
}

/// Each file is a group. Folders are grouped as with `--traces`.
fn groups(paths: &[PathBuf]) -> Result<Vec<Transcripts>, Failure> {
    let mut groups = Vec::new();
    for path in paths {
        if path.is_dir() {
            groups.extend(mcptest_replay::groups(path, &TraceFilter::default())?.0);
        } else {
            let name = path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            groups.push(Transcripts {
                name,
                files: vec![path.clone()],
                ..Transcripts::default()
            });
        }
    }
    Ok(groups)
}

fn judged(loaded: &[(String, Loaded)], plan: &Plan<'_>) -> JudgedSource {
    let files: Vec<PathBuf> = plan.files().collect();
    let locks = files
        .iter()
        .map(|file| mcptest_replay::cassette::lock_of(file));
    // Taken before judging: a change meanwhile is seen at the next look.
    let stamps = Stamps::default().of(suites::inputs(loaded)
        .chain(files.iter().cloned())
        .chain(locks));
    let options = JudgeOptions {
        row: Judging {
            evidence: Some(Embed::All),
            ..Judging::default()
        },
        ..JudgeOptions::default()
    };
    let report = mcptest_replay::replay(plan, options);
    let live = Live::from_report(plan, &report);
    JudgedSource {
        report,
        live,
        stamps,
    }
}
