//! A row's recorded runs, read from its cassettes: no process, no socket, no key.

use crate::advice;
use crate::cassette::{self, Cassette, Change, ReadError, ReadFault, Recording, Resolved};
use crate::conditions::{conditions_of, other_model, removed_faults, unknown_conditions};
use crate::grade;
use crate::import::Fidelity;
use crate::secrets::{without_secret_names, without_tokens};
use crate::server::entry_of;
use crate::walk::not_entered;
use mcptest_agent::tool_schema::Offer;
use mcptest_core::digest::{digest, digest_of_value};
use mcptest_core::eval::{SideRuns, SideWords};
use mcptest_core::grade::Grades;
use mcptest_core::judge::{Recorded, RecordedMatrix, RecordedRun, RecordedRuns, is_read_only};
use mcptest_core::row::{AgentRow, Reason, ReasonKind, Row};
use mcptest_core::suite::{CassettePath, Graded, Server, Stale, Suite};
use mcptest_core::trace::{CatalogueTool, Header, Run, run_line, slips};
use rayon::prelude::*;
use serde_json::json;
use std::collections::BTreeSet;
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

/// The runs of these cassettes in their order. Only the header of a cassette that is alone makes its numbers count.
fn runs_of<'c>(
    opened: &'c [(&'c Path, Result<Cassette<'c>, Reason>)],
    is_kept: bool,
    reason: impl Fn(&ReadError) -> Reason,
) -> Vec<RecordedRun<'c>> {
    let mut runs = Vec::new();
    for (path, cassette) in opened {
        let source = is_kept.then_some(*path);
        match cassette {
            Ok(cassette) => runs.extend(cassette.runs.iter().map(|run| {
                RecordedRun {
                    number: run.number,
                    trace: run
                        .trace
                        .as_ref()
                        .map_err(|problem| reason(&ReadFault::Bad(problem.clone()).at(path))),
                    header: cassette.header.as_ref(),
                    line: is_kept.then_some(run.line),
                    source,
                }
            })),
            Err(reason) => {
                let trace = Err(reason.clone());
                runs.push(RecordedRun {
                    number: 0,
                    trace,
                    header: None,
                    line: None,
                    source,
                });
            }
        }
    }
    if !matches!(
        opened,
        [(
            _,
            Ok(Cassette {
                header: Some(_),
                ..
            })
        )]
    ) {
        runs.iter_mut()
            .zip(1..)
            .for_each(|(run, number)| run.number = number);
    }
    runs
}

/// What came over from transcripts of other programs, one line for each format.
fn imported(files: &[File]) -> Vec<String> {
    let opened = files.iter().filter_map(|(_, file)| file.as_ref().ok());
    let all = Fidelity::of_all(opened.filter_map(Recording::fidelity));
    all.iter()
        .map(|fidelity| format!("imported from {fidelity}"))
        .collect()
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

/// Where the recorded runs of an agent with one of its models, in one of its variants, are.
pub fn cassette_paths(of: AgentRow<'_>) -> Result<Vec<PathBuf>, cassette::ResolveError> {
    resolved(of).map(|resolved| resolved.files)
}

fn resolved(of: AgentRow<'_>) -> Result<Resolved, cassette::ResolveError> {
    let of = of.recorded_by();
    if let Some(CassettePath::ReadOnly(patterns) | CassettePath::Graded(Graded::Traces(patterns))) =
        &of.agent.cassette
    {
        let label = of.model_label();
        let of_model: Vec<String> = patterns
            .iter()
            .map(|pattern| cassette::with_model(pattern, label.as_deref()))
            .collect();
        return cassette::resolve(&of_model, of.suite.folder());
    }
    if of.agent.is_eval() {
        return Ok(Resolved::default());
    }
    Ok(Resolved {
        files: vec![recorded_path(of)],
        ..Resolved::default()
    })
}

/// Where the runs for one gate of an agent are: beside its other ones. `None` where there are none, or recordings are only read.
pub fn side_path(of: AgentRow<'_>) -> Option<PathBuf> {
    let side = SideRuns::of(of.agent, &[]).filter(|_| !of.agent.is_read_only())?;
    Some(cassette::beside(&recorded_path(of), side.words.file))
}

fn recorded_path(of: AgentRow<'_>) -> PathBuf {
    let AgentRow { suite, agent, .. } = of;
    let label = of.model_label();
    let path = if let Some(CassettePath::File(path)) = &agent.cassette {
        suite
            .folder()
            .join(cassette::with_model(path, label.as_deref()))
    } else {
        cassette::default_place(suite, &agent.name, label.as_deref())
    };
    match of.variant {
        Some(variant) => cassette::beside(&path, &variant.to_string().replace(' ', "-")),
        None => path,
    }
}

/// Compares what was recorded with what the suite would record now; the differences that are tolerated are notes.
fn freshness(
    row: &Row<'_>,
    of: AgentRow<'_>,
    expected: &Header,
    cassettes: &[(&Path, &Cassette<'_>)],
) -> Result<Vec<String>, Reason> {
    let mut notes = Vec::new();
    if row.transcripts.is_some() {
        return Ok(notes);
    }
    for (path, cassette) in cassettes {
        if let Some(misfit) = misfit(of, cassette, expected) {
            notes.push(misfit.tolerated(of.suite, path, row, is_read_only(of))?);
        }
    }
    Ok(notes)
}

/// What is noted of recordings that nothing is wrong with: what is not compared, and what no check reads.
fn remarks(
    row: &Row<'_>,
    of: AgentRow<'_>,
    expected: &Header,
    cassettes: &[(&Path, &Cassette<'_>)],
) -> Vec<String> {
    let is_compared = row.transcripts.is_none() && !of.agent.is_eval();
    let mut notes = Vec::new();
    for (path, cassette) in cassettes {
        if is_compared {
            notes.extend(unknown_conditions(path, cassette, expected));
            notes.extend(other_model(of, path, cassette));
        }
        if cassette.header.is_none() {
            notes.extend(slips_of(path, cassette));
        }
    }
    notes
}

/// The differences between the recordings of a row and the suite that are tolerated, or why they are not.
fn tolerated_differences(
    row: &Row<'_>,
    of: AgentRow<'_>,
    expected: &Header,
    cassettes: &[(&Path, &Cassette<'_>)],
) -> Result<Vec<String>, Reason> {
    let mut notes = freshness(row, of, expected, cassettes)?;
    notes.extend(without_faults(row, of, cassettes)?);
    Ok(notes)
}

/// Refuses runs that ran into faults which the suite does not inject any more; where that is tolerated, a note of each.
fn without_faults(
    row: &Row<'_>,
    of: AgentRow<'_>,
    cassettes: &[(&Path, &Cassette<'_>)],
) -> Result<Vec<String>, Reason> {
    if row.transcripts.is_some() || of.agent.is_eval() {
        return Ok(Vec::new());
    }
    let mut notes = Vec::new();
    for (path, cassette) in cassettes {
        if let Some(misfit) = Misfit::of(removed_faults(of, cassette), false) {
            notes.push(misfit.tolerated(of.suite, path, row, is_read_only(of))?);
        }
    }
    Ok(notes)
}

/// Fields of plain traces that nobody reads and that are close to one that is read, each once.
fn slips_of(path: &Path, cassette: &Cassette<'_>) -> BTreeSet<String> {
    let traces = cassette
        .runs
        .iter()
        .filter_map(|run| run.trace.as_ref().ok());
    traces
        .flat_map(|trace| slips(trace.text))
        .map(|slip| format!("{}: {slip}", path.display()))
        .collect()
}

/// Why a recording is not one of the suite as it is now.
pub(crate) struct Misfit {
    kind: ReasonKind,
    what: &'static str,
    details: Vec<String>,
}

impl Misfit {
    /// Somebody has changed the recording.
    pub(crate) fn edited(why: &str) -> Self {
        let (kind, what) = (
            ReasonKind::RecordingEdited,
            "was edited after it was recorded",
        );
        Self {
            kind,
            what,
            details: vec![why.to_owned()],
        }
    }

    /// Of a recording that differs in these from one that were made now, or whose header is not what was written.
    pub(crate) fn of(changes: Vec<String>, is_tampered: bool) -> Option<Self> {
        if changes.is_empty() {
            return is_tampered
                .then(|| Self::edited("the header does not fit its own fingerprint"));
        }
        let what = "is stale: the suite has changed since it was recorded";
        Some(Self {
            kind: ReasonKind::RecordingStale,
            what,
            details: changes,
        })
    }

    /// A note, where the suite lets it pass.
    pub(crate) fn tolerated(
        self,
        suite: &Suite,
        path: &Path,
        row: &Row<'_>,
        is_read_only: bool,
    ) -> Result<String, Reason> {
        let message = format!("{} {}", path.display(), self.what);
        match suite.run_options.stale {
            Stale::Error => {
                let reason = Reason::new(self.kind, message).details(self.details);
                Err(advice::stale(reason, row, is_read_only))
            }
            Stale::Warn => Ok(format!("{message} ({})", self.details.join("; "))),
        }
    }
}

/// Why a recording is not one of the suite as it is now, and where, when it is not.
pub(crate) fn misfit(
    of: AgentRow<'_>,
    cassette: &Cassette<'_>,
    expected: &Header,
) -> Option<Misfit> {
    let Some(header) = cassette
        .header
        .as_ref()
        .filter(|header| header.fingerprint.is_some())
    else {
        // Only where `cassette:` names it, a file may come from elsewhere.
        let is_own_place = of.agent.cassette.is_none();
        let why = "it has no header with a fingerprint, as every recording has; \
                   name a file from elsewhere with `cassette:`";
        return is_own_place.then(|| Misfit::edited(why));
    };
    // Traces that an eval names may come from anywhere: nothing here says how they were made.
    let changes = if of.agent.is_eval() {
        Vec::new()
    } else {
        cassette::staleness(header, expected)
    };
    Misfit::of(
        changes.iter().map(Change::to_string).collect(),
        cassette::is_tampered(header),
    )
}

/// What a recording made now would carry.
pub fn expected_header(of: AgentRow<'_>) -> Header {
    let agent = of.agent;
    let family = of.model.and_then(|model| of.suite.family_of(model));
    let as_offered = |mut offered: Vec<CatalogueTool>| {
        offered.extend(agent.injected_tools(of.variant, &offered));
        match family {
            Some(family) => Offer::of(offered, family, agent.tool_schemas()).catalogue,
            None => offered,
        }
    };
    let parameters = agent.parameters_of(of.model);
    let texts = agent.turns.iter().chain(&agent.system_prompt);
    let variables = texts.flat_map(|text| &text.variables);
    let world = of
        .suite
        .world_of(agent)
        .map(|world| digest_of_value(world.written()));
    let entry = |name: &String| {
        let mut entry = entry_of(of.suite, name);
        let is_mock = of.suite.servers.get(name).is_some_and(Server::is_mock);
        entry.extend(
            world
                .clone()
                .filter(|_| is_mock)
                .map(|world| ("world".to_owned(), world.into())),
        );
        (name.clone(), entry)
    };
    let servers = agent.servers.iter().map(entry).collect();
    Header {
        model: of.model_label(),
        prompt: agent
            .turns
            .iter()
            .map(|turn| without_tokens(&turn.template))
            .collect(),
        system_prompt: agent
            .system_prompt
            .as_ref()
            .map(|text| without_tokens(&text.template)),
        parameters: without_secret_names(&parameters).unwrap_or(parameters),
        conditions: Some(conditions_of(of)),
        variables: variables
            .map(|(name, value)| (name.clone(), digest(value.as_bytes())))
            .collect(),
        files: agent
            .own
            .as_ref()
            .map(|own| own.digests.clone())
            .unwrap_or_default(),
        servers: without_secret_names(&servers).unwrap_or(servers),
        catalogue: of.suite.known_catalogue(agent).map(as_offered),
        ..Header::of_agent(&agent.name)
    }
}
