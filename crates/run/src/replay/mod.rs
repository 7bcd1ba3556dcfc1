//! A row's recorded runs, read from its cassettes: no process, no socket, no key.

mod freshness;
mod header;
mod numbering;
mod paths;
mod remarks;

pub(crate) use freshness::{Misfit, misfit};
pub(crate) use header::entry_of;
pub use header::expected_header;
pub use paths::{cassette_paths, side_path};

use crate::advice;
use crate::cassette::{self, Cassette, ReadError, ReadFault, Recording, Resolved};
use crate::grade;
use crate::walk::not_entered;
use freshness::{freshness, tolerated_differences};
use mcptest_core::eval::{SideRuns, SideWords};
use mcptest_core::grade::Grades;
use mcptest_core::judge::{Recorded, RecordedMatrix, RecordedRun, RecordedRuns, is_read_only};
use mcptest_core::row::{AgentRow, Reason, ReasonKind, Row};
use mcptest_core::suite::{CassettePath, Graded};
use mcptest_core::trace::{Run, run_line};
use numbering::runs_of;
use paths::resolved;
use rayon::prelude::*;
use remarks::{imported, remarks};
use serde_json::json;
use std::path::{Path, PathBuf};

/// The first run, if its trace can be read.
fn first_readable<'r>(runs: &'r [RecordedRun<'_>]) -> Option<Run<'r>> {
    let first = runs.first()?;
    let trace = first.trace.as_ref().ok()?;
    Some(Run {
        header: first.header,
        ..Run::of(trace)
    })
}

/// What was recorded just now and is on no disk.
#[derive(Clone, Copy)]
pub(crate) struct Live<'l> {
    /// The row's cassette.
    pub(crate) cassette: &'l str,
    /// That of the runs for one of its gates, when it has such.
    pub(crate) matrix: Option<&'l str>,
}

/// A recording of a row, or the reason why it cannot be opened.
type File = (PathBuf, Result<Recording, Reason>);

/// Why recordings and bare traces cannot be the runs of one row: the header of one says nothing of the other.
fn mixed(named: &[(&Path, &Cassette<'_>)]) -> Option<Reason> {
    let (recordings, traces): (Vec<_>, Vec<_>) = named
        .iter()
        .partition(|(_, cassette)| cassette.header.is_some());
    let ((recording, _), (trace, _)) = (recordings.first()?, traces.first()?);
    let message = format!(
        "`{}` is a recording and `{}` is a trace without a header: one row cannot be judged by both",
        recording.display(),
        trace.display()
    );
    let help = "name the recordings and the traces under `cassette:` of separate agents";
    Some(Reason::new(ReasonKind::RecordingUnreadable, message).help(help))
}

/// Reads the recordings of a row, or the runs made just now, and gives them to `judge`.
pub(crate) fn with_runs<T>(
    row: &Row<'_>,
    of: AgentRow<'_>,
    live: Option<Live<'_>>,
    judge: impl FnOnce(&Recorded<'_>) -> T,
) -> T {
    let other = row.recorded_by();
    let (maker, made) = other
        .as_ref()
        .map_or((row, of), |other| (other, of.recorded_by()));
    let (files, linked) = match live.map_or_else(
        || open(maker, made),
        |live| Ok((made_just_now(live), Vec::new())),
    ) {
        Ok(opened) => opened,
        Err(reason) => return judge(&Recorded::Nothing(reason)),
    };
    let reason = |error: &ReadError| advice::unreadable(error, maker, is_read_only(made));
    let opened = files.iter().map(|(path, file)| {
        let file = file.as_ref().map_err(Clone::clone);
        (
            path.as_path(),
            file.and_then(|file| file.cassette().map_err(|error| reason(&error))),
        )
    });
    let opened: Vec<(&Path, Result<Cassette<'_>, Reason>)> = opened.collect();
    // One broken file of several is one broken run; a broken file alone is the row's own error.
    if let [(_, Err(reason))] = &opened[..] {
        return judge(&Recorded::Nothing(reason.clone()));
    }
    let named: Vec<(&Path, &Cassette<'_>)> = opened
        .iter()
        .filter_map(|(path, cassette)| Some((*path, cassette.as_ref().ok()?)))
        .collect();
    if let Some(reason) = mixed(&named) {
        return judge(&Recorded::Nothing(reason));
    }
    let alone = named
        .first()
        .filter(|_| opened.len() == 1)
        .map(|(_, cassette)| *cassette);
    let expected = expected_header(made);
    let (stale, mut notes) = match tolerated_differences(maker, made, &expected, &named) {
        Ok(notes) => (None, notes),
        Err(reason) => (Some(reason), Vec::new()),
    };
    let is_stale = !notes.is_empty();
    notes.extend(remarks(maker, made, &expected, &named));
    notes.extend(not_entered(&linked));
    notes.extend(imported(&files));
    let runs = runs_of(&opened, live.is_none(), reason);
    let first = first_readable(&runs);
    let side = SideRuns::of(of.agent, first.as_slice()).filter(|side| !side.runs.is_empty());
    let file = side
        .as_ref()
        .and_then(|side| open_matrix(row, of, side.words, live));
    let matrix: Option<Result<Cassette<'_>, Reason>> = file.as_ref().map(|(_, file)| {
        file.as_ref()
            .map_err(Clone::clone)?
            .cassette()
            .map_err(|error| reason(&error))
    });
    let matrix = file
        .as_ref()
        .zip(matrix)
        .map(|((path, _), cassette)| [(path.as_path(), cassette)]);
    let of_matrix = matrix
        .iter()
        .flatten()
        .filter_map(|(_, cassette)| cassette.as_ref().ok());
    let mut cassettes = named.iter().map(|(_, cassette)| *cassette).chain(of_matrix);
    let unpinned = cassettes.any(|cassette| !cassette.is_pinned());
    let matrix = matrix.as_ref().map(|opened| {
        let [(path, cassette)] = opened;
        let cassette = cassette.as_ref().map_err(Clone::clone)?;
        let mut expected = expected;
        if let Some(side) = &side {
            side.name_in(&mut expected);
        }
        let notes = freshness(row, of, &expected, &[(*path, cassette)])?;
        Ok(RecordedMatrix {
            runs: runs_of(opened, live.is_none(), reason),
            notes,
        })
    });
    judge(&Recorded::Runs(RecordedRuns {
        runs,
        headers: named
            .iter()
            .filter_map(|(_, cassette)| cassette.header.as_ref())
            .collect(),
        stopped_after: alone
            .and_then(|cassette| cassette.stopped)
            .map(|stopped| stopped.after),
        unpinned,
        stale,
        is_stale,
        notes,
        matrix,
        is_live: live.is_some(),
        grades: if live.is_none() {
            grade::read(row)
        } else {
            Grades::default()
        },
    }))
}

/// What was recorded just now and is on no disk.
fn made_just_now(live: Live<'_>) -> Vec<File> {
    let path = PathBuf::from("the runs made just now");
    vec![(path.clone(), Ok(Recording::of_text(path, live.cassette)))]
}

/// Opens the recording of runs that were made for one gate; `None` when there can be none.
fn open_matrix(
    row: &Row<'_>,
    of: AgentRow<'_>,
    words: SideWords,
    live: Option<Live<'_>>,
) -> Option<File> {
    if let Some(live) = live {
        let path = PathBuf::from("the matrix made just now");
        return live
            .matrix
            .map(|text| (path.clone(), Ok(Recording::of_text(path, text))));
    }
    let path = side_path(of)?;
    let opened = if path.exists() {
        Recording::open(&path).map_err(|error| advice::unreadable(&error, row, is_read_only(of)))
    } else {
        let message = format!(
            "{} has no recording: there is no {}",
            words.all,
            path.display()
        );
        let reason = Reason::new(ReasonKind::RecordingMissing, message).help("record the rest");
        Err(reason.command(row.rerun.recording("--record=missing")))
    };
    Some((path, opened))
}

/// Opens every recording of a row, and names the links to folders that were not entered.
fn open(row: &Row<'_>, of: AgentRow<'_>) -> Result<(Vec<File>, Vec<PathBuf>), Reason> {
    if let (Some(CassettePath::Graded(Graded::Texts(texts))), None) =
        (&of.agent.cassette, &row.transcripts)
    {
        return Ok((vec![written(of, texts)], Vec::new()));
    }
    let Resolved {
        files: paths,
        linked,
    } = match &row.transcripts {
        Some(group) => Resolved {
            files: group.files.clone(),
            ..Resolved::default()
        },
        None => resolved(of).map_err(|error| advice::unresolved(&error))?,
    };
    let open_one = |path: &PathBuf| {
        let is_transcript = row.transcripts.is_some();
        let opened = if is_transcript {
            Recording::open_transcript(path)
        } else {
            Recording::open(path)
        };
        opened.map_err(|error| match error.fault {
            ReadFault::Missing => {
                let message = format!("there is no recording at {}", path.display());
                advice::missing(Reason::new(ReasonKind::RecordingMissing, message), row, of)
            }
            _ => advice::unreadable(&error, row, is_read_only(of)),
        })
    };
    let with_path = |path: PathBuf| (path.clone(), open_one(&path));
    let files = match &paths[..] {
        [] | [_] => paths.into_iter().map(with_path).collect(),
        _ => paths.into_par_iter().map(with_path).collect(),
    };
    Ok((files, linked))
}

/// Texts that stand in the suite, as the closing messages of runs.
fn written(of: AgentRow<'_>, texts: &[String]) -> File {
    let header = cassette::sealed(&expected_header(of));
    let mut lines = vec![serde_json::to_string(&header).unwrap_or_default()];
    let trace = |text: &String| json!({ "tool_calls": [], "final_response": text }).to_string();
    lines.extend(
        (1..)
            .zip(texts)
            .map(|(number, text)| run_line(number, &trace(text))),
    );
    let path = of.suite.path.clone();
    (
        path.clone(),
        Ok(Recording::of_text(path, &(lines.join("\n") + "\n"))),
    )
}
