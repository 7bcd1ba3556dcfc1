//! How are suites read from the disk, with the environment of this process?

use crate::{cassette, redaction};
use mcptest_core::eval::{GATES, Gates};
use mcptest_core::problem::Problem;
use mcptest_core::suite::{
    Host, Loaded, load, load_for_traces, load_to_capture, load_traces_to_capture,
};
use mcptest_files::{self as files, reason};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// The files and environment of this process, with the gates that core ships.
pub fn host() -> Host<'static> {
    Host {
        read: &|path: &Path| files::read(path, files::TEXT).map_err(|error| reason(&error)),
        environment: &redaction::environment,
        mock: &mcptest_mock::manifest::catalogue,
        gates: GATES,
        list: &|folder, path| {
            cassette::resolve(&[path], folder)
                .map(|resolved| resolved.files)
                .map_err(|error| match error {
                    cassette::ResolveError::NoMatch { .. } => "no file matches it".to_owned(),
                    error => error.to_string(),
                })
        },
    }
}

/// Loads suites of these gates from disk with the process's environment.
pub fn load_suites(paths: &[PathBuf], gates: Gates) -> Vec<(String, Loaded)> {
    load_each(paths, gates, load)
}

/// Loads suites that judge given traces.
pub fn load_suites_for_traces(paths: &[PathBuf], gates: Gates) -> Vec<(String, Loaded)> {
    load_each(paths, gates, load_for_traces)
}

/// Loads suites below a folder that replaces the current one. A file that it lacks is read here.
pub fn load_suites_in(folder: &Path, paths: &[PathBuf], gates: Gates) -> Vec<(String, Loaded)> {
    let load_one = |path: &PathBuf| {
        let read = |path: &Path| {
            let here = path.strip_prefix(folder).ok().filter(|_| !path.exists());
            files::read(here.unwrap_or(path), files::TEXT).map_err(|error| reason(&error))
        };
        named(
            path,
            load(
                path,
                &Host {
                    read: &read,
                    gates,
                    ..host()
                },
            ),
        )
    };
    paths.iter().map(load_one).collect()
}

/// A suite with its file name. Its secrets are hidden from now on.
fn named(path: &Path, loaded: Loaded) -> (String, Loaded) {
    loaded.suite.iter().for_each(redaction::remember_suite);
    (path.display().to_string(), loaded)
}

/// Loads suites to make the baselines that their gates name.
pub fn load_suites_to_capture(paths: &[PathBuf], gates: Gates) -> Vec<(String, Loaded)> {
    load_each(paths, gates, load_to_capture)
}

/// A suite with one agent without a question, for measuring transcripts.
pub fn bare_suite(gates: Gates) -> Vec<(String, Loaded)> {
    let read = |_: &Path| Ok(b"agents:\n  - name: agent\n".to_vec());
    vec![(
        "(no suite)".to_owned(),
        load_for_traces(
            Path::new("mcptest.yml"),
            &Host {
                read: &read,
                gates,
                ..host()
            },
        ),
    )]
}

/// Loads suites to make the baselines that their gates name from given traces.
pub fn load_suites_to_capture_traces(paths: &[PathBuf], gates: Gates) -> Vec<(String, Loaded)> {
    load_each(paths, gates, load_traces_to_capture)
}

fn load_each(
    paths: &[PathBuf],
    gates: Gates,
    load: fn(&Path, &Host<'_>) -> Loaded,
) -> Vec<(String, Loaded)> {
    let load_one = |path: &PathBuf| {
        let read = files::reading(path);
        named(
            path,
            load(
                path,
                &Host {
                    read: &read,
                    gates,
                    ..host()
                },
            ),
        )
    };
    if paths.len() == 1 {
        paths.iter().map(load_one).collect()
    } else {
        paths.par_iter().map(load_one).collect()
    }
}

/// Checks a suite again after its runs or models were replaced. Returns new problems, and refuses
/// the suite if necessary.
pub fn check_again(loaded: &mut Loaded) -> Vec<Problem> {
    let found = loaded
        .suite
        .as_ref()
        .map(|suite| suite.lint())
        .unwrap_or_default();
    let new: Vec<Problem> = found
        .into_iter()
        .filter(|problem| !loaded.problems.contains(problem))
        .collect();
    loaded.problems.extend(new.iter().cloned());
    if loaded.is_refused() {
        loaded.suite = None;
    }
    new
}
