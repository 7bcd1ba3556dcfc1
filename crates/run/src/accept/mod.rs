//! What would have to be written for what the recorded runs did to be right?

mod list;

use list::with_items;
use mcptest_core::calibrate::LeftOut;
use mcptest_core::escape::escape_path;
use mcptest_core::eval::{
    GateBlock, Proposal, ProposedChange, ProposedItem, ProposedPlace, WriteInFile,
};
use mcptest_core::guard::guarded;
use mcptest_core::judge::MeasurableRun;
use mcptest_core::problem::Span;
use mcptest_core::report::{Report, Status};
use mcptest_core::row::{AgentRow, Row, RowOfAgent};
use mcptest_core::suite::{Host, Loaded, load};
use mcptest_files as files;
use mcptest_replay::OpenedRow;
use mcptest_replay::Plan;
use mcptest_replay::judged_runs::{judged_runs, plain, settled_runs};
use mcptest_replay::{Secrets, SuiteSecrets};
use mcptest_replay::{cassette, host};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What can be accepted, and what cannot.
#[derive(Debug, Default)]
pub struct Changes {
    /// The files that would change.
    pub files: Vec<FileChange>,
    /// Tests whose failure cannot be accepted, and why.
    pub left_out: Vec<LeftOut>,
}

/// A file that would change.
#[derive(Debug)]
pub struct FileChange {
    /// The file.
    pub path: PathBuf,
    /// What it says now; nothing where there is none.
    pub before: String,
    /// What it would say.
    pub after: String,
    is_recording: bool,
}

impl FileChange {
    /// Writes it, unless the file has changed since it was read.
    pub fn write(&self) -> Result<(), String> {
        let now = text_of(&self.path).unwrap_or_default();
        if now != self.before {
            return Err(format!(
                "{} changed while this command ran; run it again",
                escape_path(&self.path)
            ));
        }
        if self.is_recording {
            return cassette::write_whole(&self.path, &self.after)
                .map_err(|error| error.to_string());
        }
        mcptest_replay::write_back(&self.path, &self.after).map_err(|error| {
            format!(
                "cannot write {}: {}",
                escape_path(&self.path),
                files::reason(&error)
            )
        })
    }

    /// Both texts as they are compared: a recording without how long the call took.
    pub fn texts(&self) -> (String, String) {
        let text = |text: &str| {
            if self.is_recording {
                readable(text)
            } else {
                text.to_owned()
            }
        };
        (text(&self.before), text(&self.after))
    }
}

/// What a row would have changed.
struct Wish {
    row: String,
    /// Whether the row is among those that are judged, and fails.
    is_asked: bool,
    place: Place,
    change: Result<Option<ProposedChange>, String>,
}

/// A list with its new items, and the row that wants them.
type Edit<'w> = (Span, &'w [ProposedItem], &'w str);

/// A place that is the same for all suites.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    List(PathBuf, Span),
    File(PathBuf),
    /// A test of this name in the file.
    Test(PathBuf, String),
}

/// What tool tests that were called now came to, where their recordings say something else.
pub fn recorded_changes(called: Vec<(PathBuf, String)>) -> Changes {
    let change = |(path, after): (PathBuf, String)| {
        let before = text_of(&path).unwrap_or_default();
        FileChange {
            path,
            before,
            after,
            is_recording: true,
        }
    };
    let has_changed = |file: &FileChange| {
        let (before, after) = file.texts();
        before != after
    };
    let files = called.into_iter().map(change).filter(has_changed).collect();
    Changes {
        files,
        left_out: Vec::new(),
    }
}

/// What the failed gates of a report would have to say. All rows that a change touches must want the same one.
pub fn changes(loaded: &[(String, Loaded)], plan: &Plan<'_>, report: &Report) -> Changes {
    let secrets = Secrets::default();
    let mut wishes = Vec::new();
    for (_, one) in loaded {
        let Some(suite) = &one.suite else { continue };
        let failed: BTreeSet<(&str, &str)> = plan
            .rows
            .iter()
            .zip(&report.tests)
            .filter(|(row, _)| row.suite().is_some_and(|of| std::ptr::eq(of, suite)))
            .flat_map(|(row, test)| test.gates.iter().map(move |gate| (row, gate)))
            .filter(|(_, gate)| gate.status == Status::Failed)
            .map(|(row, gate)| (row.name.as_str(), gate.key.as_str()))
            .collect();
        let keys: BTreeSet<&str> = failed.iter().map(|(_, key)| *key).collect();
        for row in suite
            .rows()
            .iter()
            .filter(|row| row.skip.is_none() && !keys.is_empty())
        {
            let secrets = secrets.of(suite);
            let of_row = proposals(row, &keys, &secrets)
                .into_iter()
                .map(|(key, proposal)| Wish {
                    row: row.name.clone(),
                    is_asked: failed.contains(&(row.name.as_str(), key)),
                    place: place(proposal.place, one, suite.folder()),
                    change: proposal.change,
                });
            wishes.extend(of_row);
        }
    }
    Changes::of(&wishes, loaded)
}

fn place(proposed: ProposedPlace, loaded: &Loaded, folder: &Path) -> Place {
    match proposed {
        ProposedPlace::List(span) => {
            Place::List(PathBuf::from(&loaded.sources.file(span.file).path), span)
        }
        ProposedPlace::File(file) => Place::File(folder.join(file)),
        ProposedPlace::Test(file, test) => Place::Test(folder.join(file), test),
    }
}

/// What the gates with these keys propose for the runs of a row.
fn proposals<'r>(
    row: &'r Row<'r>,
    keys: &BTreeSet<&str>,
    secrets: &SuiteSecrets,
) -> Vec<(&'r str, Proposal)> {
    let Some(row) = row.of_agent() else {
        return Vec::new();
    };
    let of = row.of;
    let gates = || gates_with(of, keys);
    if gates().next().is_none() {
        return Vec::new();
    }
    let by_runs = guarded(|| proposals_of_runs(row, keys, secrets));
    by_runs
        .unwrap_or_else(|panic| Err(panic.to_string()))
        .unwrap_or_else(|reason| {
            let without_runs =
                gates().filter_map(|gate| Some((gate.key(), gate.propose(of, &[])?)));
            without_runs
                .map(|(key, proposal)| {
                    (
                        key,
                        Proposal {
                            change: Err(reason.clone()),
                            ..proposal
                        },
                    )
                })
                .collect()
        })
}

/// What the gates with these keys propose, or why the recorded runs cannot be judged.
fn proposals_of_runs<'r>(
    RowOfAgent { row, of }: RowOfAgent<'r>,
    keys: &BTreeSet<&str>,
    secrets: &SuiteSecrets,
) -> Result<Vec<(&'r str, Proposal)>, String> {
    let opened = OpenedRow::open(row, None);
    let parsed = opened.parse();
    let recorded = parsed.recorded();
    let settled = settled_runs(of, &recorded)?;
    let runs = judged_runs(of, &settled)?;
    let failed = failed_in_words(&runs);
    let runs = plain(&runs);
    let mut proposals = Vec::new();
    for gate in gates_with(of, keys) {
        if let Some(proposal) = gate.propose(of, &runs) {
            let proposal = of_passed_runs(proposal, failed.as_deref());
            proposals.push((gate.key(), clean(proposal, secrets)));
        }
    }
    Ok(proposals)
}

fn gates_with<'r>(of: AgentRow<'r>, keys: &BTreeSet<&str>) -> impl Iterator<Item = &'r GateBlock> {
    of.agent
        .gates
        .iter()
        .filter(|gate| keys.contains(gate.key()))
}

/// Which runs fail their `expect:`, or crashed: what they did is not right, whatever a gate would have to say for it.
fn failed_in_words(runs: &[MeasurableRun<'_>]) -> Option<String> {
    let failed = runs.iter().filter(|run| run.expected == Some(false));
    let failed: Vec<String> = failed.map(|run| run.run.number.to_string()).collect();
    let (runs, fail) = match failed.len() {
        0 => return None,
        1 => ("run", "fails its"),
        _ => ("runs", "fail their"),
    };
    Some(format!(
        "{runs} {} {fail} `expect:`; fix the agent and record it again, or change `expect:` first",
        failed.join(", ")
    ))
}

/// A proposal that writes down what runs did, refused where a run failed. The tools that a server lists are the same
/// whatever a run did.
fn of_passed_runs(proposal: Proposal, failed: Option<&str>) -> Proposal {
    match (failed, &proposal.place, &proposal.change) {
        (Some(why), ProposedPlace::List(_) | ProposedPlace::Test(..), Ok(Some(_))) => Proposal {
            change: Err(why.to_owned()),
            ..proposal
        },
        _ => proposal,
    }
}

/// A proposal with no secret in it.
fn clean(proposal: Proposal, secrets: &SuiteSecrets) -> Proposal {
    let has_runs = matches!(proposal.place, ProposedPlace::Test(..));
    let change = proposal.change.and_then(|change| match change {
        // What servers list is pinned as it is.
        Some(ProposedChange::InFile(value, write)) if has_runs => {
            let redactor = secrets.redactor().map_err(|reason| reason.message)?;
            let clean = serde_json::from_str(&redactor.document(&value.to_string()));
            let clean = clean.map_err(|error| error.to_string())?;
            Ok(Some(ProposedChange::InFile(clean, write)))
        }
        Some(ProposedChange::Items(items))
            if items.iter().any(|item| has_secret(item, secrets)) =>
        {
            Err(
                "its calls have a secret in them, which must not be written into a suite"
                    .to_owned(),
            )
        }
        other => Ok(other),
    });
    Proposal { change, ..proposal }
}

fn has_secret(item: &ProposedItem, secrets: &SuiteSecrets) -> bool {
    let ProposedItem::New(value) = item else {
        return false;
    };
    let text = value.to_string();
    secrets.hidden_in(&text) != text || mcptest_replay::clean(&text) != text
}

impl Changes {
    fn of(wishes: &[Wish], loaded: &[(String, Loaded)]) -> Self {
        let mut changes = Self::default();
        let mut lists: BTreeMap<PathBuf, Vec<Edit<'_>>> = BTreeMap::new();
        let mut done: Vec<&Place> = Vec::new();
        for wish in wishes.iter().filter(|wish| wish.is_asked) {
            if done.contains(&&wish.place) {
                continue;
            }
            done.push(&wish.place);
            let change = match agreed(wish, wishes) {
                Ok(Some(change)) => change,
                Ok(None) => continue,
                Err(reason) => {
                    changes.leave_out(&wish.row, reason);
                    continue;
                }
            };
            match (&wish.place, change) {
                (Place::List(path, span), ProposedChange::Items(items)) => {
                    lists
                        .entry(path.clone())
                        .or_default()
                        .push((*span, items, &wish.row));
                }
                (
                    Place::File(path) | Place::Test(path, _),
                    ProposedChange::InFile(value, write),
                ) => {
                    if let Err(reason) = changes.set_in_file(path, value, *write) {
                        changes.leave_out(&wish.row, reason);
                    }
                }
                _ => {}
            }
        }
        for (path, edits) in lists {
            changes.edit(&path, edits, loaded);
        }
        changes.files.retain(|file| file.before != file.after);
        changes
    }

    fn leave_out(&mut self, row: &str, reason: String) {
        self.left_out.push(LeftOut {
            row: row.to_owned(),
            reason,
        });
    }

    /// Changes lists of one suite, the last first so that the places of the others stay right.
    fn edit(&mut self, path: &Path, mut edits: Vec<Edit<'_>>, loaded: &[(String, Loaded)]) {
        let Ok(before) = text_of(path) else { return };
        edits.sort_by_key(|(span, ..)| std::cmp::Reverse(span.start));
        let mut after = before;
        for (span, items, row) in edits {
            let changed = with_items(&after, span, items);
            match changed.and_then(|text| still_loads(path, text, loaded)) {
                Ok(text) => after = text,
                Err(reason) => self.leave_out(row, reason),
            }
        }
        self.set(path, after);
    }

    /// A value in a file, beside what stays of it.
    fn set_in_file(
        &mut self,
        path: &Path,
        value: &Value,
        write: WriteInFile,
    ) -> Result<(), String> {
        let known = self
            .files
            .iter()
            .find(|file| file.path == path)
            .map(|file| file.after.clone());
        let now = known.map_or_else(|| text_of(path), Ok)?;
        let text = write(&now, value)?;
        self.set(path, mcptest_replay::clean(&text).into_owned());
        Ok(())
    }

    fn set(&mut self, path: &Path, after: String) {
        if let Some(file) = self.files.iter_mut().find(|file| file.path == path) {
            file.after = after;
            return;
        }
        let before = text_of(path).unwrap_or_default();
        self.files.push(FileChange {
            path: path.to_owned(),
            before,
            after,
            is_recording: false,
        });
    }
}

/// A recording on many lines.
fn readable(recording: &str) -> String {
    let line = |line: &str| match serde_json::from_str::<Value>(line) {
        Ok(mut value) => {
            value
                .as_object_mut()
                .map(|fields| fields.remove("duration_ms"));
            format!("{value:#}\n")
        }
        Err(_) => format!("{line}\n"),
    };
    recording.lines().map(line).collect::<Vec<_>>().concat()
}

fn text_of(path: &Path) -> Result<String, String> {
    files::read_named_text(path, files::RECORDING).map_err(|error| files::reason(&error))
}

/// The change that all rows want that share a place, or what keeps them apart.
fn agreed<'w>(asked: &'w Wish, wishes: &'w [Wish]) -> Result<Option<&'w ProposedChange>, String> {
    let shared = wishes.iter().filter(|other| other.place == asked.place);
    let change = asked.change.as_ref().map_err(Clone::clone)?;
    for other in shared {
        match &other.change {
            Ok(change_of_other) if change_of_other == change => {}
            Ok(_) => {
                return Err(format!(
                    "`{}` has the same expectation and does something else",
                    other.row
                ));
            }
            Err(reason) => {
                return Err(format!(
                    "`{}` has the same expectation: {reason}",
                    other.row
                ));
            }
        }
    }
    Ok(change.as_ref())
}

/// The text, if the suites that have it in them can still be read.
fn still_loads(path: &Path, text: String, loaded: &[(String, Loaded)]) -> Result<String, String> {
    let read = |file: &Path| {
        if file == path {
            Ok(text.clone().into_bytes())
        } else {
            (host().read)(file)
        }
    };
    let of_it = loaded
        .iter()
        .filter(|(_, one)| one.sources.paths().any(|known| Path::new(known) == path));
    for (suite, _) in of_it {
        let again = load(
            Path::new(suite),
            &Host {
                read: &read,
                ..host()
            },
        );
        if again.is_refused() {
            let why = again
                .refusal()
                .details
                .into_iter()
                .next()
                .unwrap_or_default();
            return Err(format!("the suite would be refused with it: {why}"));
        }
    }
    Ok(text)
}
