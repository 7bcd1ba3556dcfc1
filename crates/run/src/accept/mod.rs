//! Which changes to the suite would make the recorded runs pass?

mod list;

use list::with_items;
use mcptest_core::escape::escape_path;
use mcptest_core::eval::{
    GateBlock, Proposal, ProposedChange, ProposedItem, ProposedPlace, WriteInFile,
};
use mcptest_core::guard::guarded;
use mcptest_core::judge::MeasurableRun;
use mcptest_core::problem::Span;
use mcptest_core::report::{Report, Status};
use mcptest_core::row::{AgentRow, Row, RowOfAgent};
use mcptest_core::suite::{Host, Loaded, Suite, load};
use mcptest_core::trace::Run;
use mcptest_files as files;
use mcptest_replay::judged_runs::{judged_runs, plain, settled_runs};
use mcptest_replay::{LeftOut, OpenedRow, Plan};
use mcptest_replay::{Secrets, SuiteSecrets, cassette, host};
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The changes that can be accepted, and the tests whose failures cannot.
#[derive(Debug, Default)]
pub struct Changes {
    /// The files that would change.
    pub files: Vec<FileChange>,
    /// Tests whose failures cannot be accepted, with the reason.
    pub left_out: Vec<LeftOut>,
}

/// A file that would change.
#[derive(Debug)]
pub struct FileChange {
    /// The file.
    pub path: PathBuf,
    /// Its current text; empty if the file does not exist.
    pub before: String,
    /// Its new text.
    pub after: String,
    is_recording: bool,
}

/// The reason that a change could not be written.
#[derive(Debug, Error)]
pub enum WriteChangeError {
    /// Another program wrote the file.
    #[error("{} changed while this command ran; run it again", escape_path(.path))]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be written.
    #[error("cannot write {}: {}", escape_path(.path), files::reason(.source))]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The recording cannot be written.
    #[error(transparent)]
    Recording(#[from] cassette::WriteError),
}

impl FileChange {
    /// Writes it, unless the file has changed since it was read.
    pub fn write(&self) -> Result<(), WriteChangeError> {
        let now = text_of(&self.path).unwrap_or_default();
        if now != self.before {
            return Err(WriteChangeError::Changed {
                path: self.path.clone(),
            });
        }
        if self.is_recording {
            return Ok(cassette::write_whole(&self.path, &self.after)?);
        }
        mcptest_replay::write_back(&self.path, &self.after).map_err(|source| {
            WriteChangeError::Unwritable {
                path: self.path.clone(),
                source,
            }
        })
    }

    /// Both texts for the comparison: a recording without the duration of the call.
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

/// The change that a row needs.
struct Wish {
    row: String,
    /// True if the row is selected and fails.
    is_asked: bool,
    place: EditPlace,
    change: Result<Option<ProposedChange>, String>,
}

/// A list with its new items, and the row that proposes them.
struct Edit<'w> {
    list: Span,
    items: &'w [ProposedItem],
    row: &'w str,
}

/// A place with one identity across suites.
#[derive(Debug, Clone, PartialEq, Eq)]
enum EditPlace {
    List { path: PathBuf, span: Span },
    File { path: PathBuf },
    Test { path: PathBuf, name: String },
}

/// The changed recordings of tool tests that were called now.
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

/// The changes that would make the failed gates of a report pass. All rows that a change affects
/// must propose the same change.
pub fn changes(loaded: &[(String, Loaded)], plan: &Plan<'_>, report: &Report) -> Changes {
    let secrets = Secrets::default();
    let mut wishes = Vec::new();
    for (_, one) in loaded {
        let Some(suite) = &one.suite else { continue };
        let failed = failed_gates(suite, plan, report);
        let keys: BTreeSet<&str> = failed.iter().map(|gate| gate.key).collect();
        if keys.is_empty() {
            continue;
        }
        let secrets = secrets.of(suite);
        for row in suite.rows().iter().filter(|row| row.skip.is_none()) {
            for (key, proposal) in proposals(row, &keys, &secrets) {
                let gate = RowGate {
                    row: &row.name,
                    key,
                };
                wishes.push(Wish {
                    row: row.name.clone(),
                    is_asked: failed.contains(&gate),
                    place: place(proposal.place, one, suite.folder()),
                    change: proposal.change,
                });
            }
        }
    }
    Changes::from_wishes(&wishes, loaded)
}

/// A gate of a row.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct RowGate<'r> {
    row: &'r str,
    key: &'r str,
}

/// The gates of a suite that failed.
fn failed_gates<'r>(
    suite: &Suite,
    plan: &'r Plan<'_>,
    report: &'r Report,
) -> BTreeSet<RowGate<'r>> {
    let mut failed = BTreeSet::new();
    for (row, test) in plan.rows.iter().zip(&report.tests) {
        if !row.suite().is_some_and(|of| std::ptr::eq(of, suite)) {
            continue;
        }
        let gates = test.gates.iter();
        let failed_here = gates.filter(|gate| gate.status == Status::Failed);
        failed.extend(failed_here.map(|gate| RowGate {
            row: &row.name,
            key: &gate.key,
        }));
    }
    failed
}

fn place(proposed: ProposedPlace, loaded: &Loaded, folder: &Path) -> EditPlace {
    match proposed {
        ProposedPlace::List(span) => EditPlace::List {
            path: PathBuf::from(&loaded.sources.file(span.file).path),
            span,
        },
        ProposedPlace::File(file) => EditPlace::File {
            path: folder.join(file),
        },
        ProposedPlace::Test { file, test } => EditPlace::Test {
            path: folder.join(file),
            name: test,
        },
    }
}

/// The changes that the gates with these keys propose for the runs of a row.
fn proposals<'r>(
    row: &'r Row<'r>,
    keys: &BTreeSet<&str>,
    secrets: &SuiteSecrets,
) -> Vec<(&'r str, Proposal)> {
    let Some(row) = row.of_agent() else {
        return Vec::new();
    };
    let of = row.of;
    let gates: Vec<&GateBlock> = of
        .agent
        .gates
        .iter()
        .filter(|gate| keys.contains(gate.key()))
        .collect();
    if gates.is_empty() {
        return Vec::new();
    }
    guarded(|| proposals_of_runs(row, &gates, secrets))
        .unwrap_or_else(|panic| Err(panic.to_string()))
        .unwrap_or_else(|reason| {
            let mut proposals = propose(of, &gates, &[]);
            for (_, proposal) in &mut proposals {
                proposal.change = Err(reason.clone());
            }
            proposals
        })
}

/// The changes that these gates propose, or why the recorded runs cannot be judged.
fn proposals_of_runs<'r>(
    RowOfAgent { row, of }: RowOfAgent<'r>,
    gates: &[&'r GateBlock],
    secrets: &SuiteSecrets,
) -> Result<Vec<(&'r str, Proposal)>, String> {
    let opened = OpenedRow::open(row, None);
    let parsed = opened.parse();
    let recorded = parsed.recorded();
    let settled = settled_runs(of, &recorded)?;
    let runs = judged_runs(of, &settled)?;
    let failed = failed_in_words(&runs);
    let mut proposals = propose(of, gates, &plain(&runs));
    for (_, proposal) in &mut proposals {
        refuse_failed_runs(proposal, failed.as_deref());
        refuse_secrets(proposal, secrets);
    }
    Ok(proposals)
}

fn propose<'r>(
    of: AgentRow<'r>,
    gates: &[&'r GateBlock],
    runs: &[Run<'_>],
) -> Vec<(&'r str, Proposal)> {
    gates
        .iter()
        .filter_map(|gate| Some((gate.key(), gate.propose(of, runs)?)))
        .collect()
}

/// The runs that fail their `expect:`, or crashed: their behaviour must not become the expectation.
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

/// Refuses to accept the behaviour of runs if one of them failed. The list of a server's tools does
/// not depend on runs.
fn refuse_failed_runs(proposal: &mut Proposal, failed: Option<&str>) {
    let tells_of_runs = matches!(
        proposal.place,
        ProposedPlace::List(_) | ProposedPlace::Test { .. }
    );
    if let Some(why) = failed
        && tells_of_runs
        && matches!(proposal.change, Ok(Some(_)))
    {
        proposal.change = Err(why.to_owned());
    }
}

/// Removes the secrets of a baseline, and refuses calls that have one.
fn refuse_secrets(proposal: &mut Proposal, secrets: &SuiteSecrets) {
    // What servers list is pinned as it is.
    let has_runs = matches!(proposal.place, ProposedPlace::Test { .. });
    match &mut proposal.change {
        Ok(Some(ProposedChange::InFile { value, .. })) if has_runs => {
            match without_secrets(value, secrets) {
                Ok(clean) => *value = clean,
                Err(why) => proposal.change = Err(why),
            }
        }
        Ok(Some(ProposedChange::Items(items)))
            if items.iter().any(|item| has_secret(item, secrets)) =>
        {
            let why = "its calls contain a secret, which must not be written into a suite";
            proposal.change = Err(why.to_owned());
        }
        _ => {}
    }
}

fn without_secrets(value: &Value, secrets: &SuiteSecrets) -> Result<Value, String> {
    let redactor = secrets.redactor().map_err(|reason| reason.message)?;
    let text = value.to_string();
    serde_json::from_str(&redactor.document(&text)).map_err(|error| error.to_string())
}

fn has_secret(item: &ProposedItem, secrets: &SuiteSecrets) -> bool {
    let ProposedItem::New(value) = item else {
        return false;
    };
    let text = value.to_string();
    secrets.hidden_in(&text) != text || mcptest_replay::clean(&text) != text
}

impl Changes {
    fn from_wishes(wishes: &[Wish], loaded: &[(String, Loaded)]) -> Self {
        let mut changes = Self::default();
        let mut lists: BTreeMap<PathBuf, Vec<Edit<'_>>> = BTreeMap::new();
        for wish in first_of_each_place(wishes) {
            let change = match agreed(wish, wishes) {
                Ok(Some(change)) => change,
                Ok(None) => continue,
                Err(reason) => {
                    changes.leave_out(&wish.row, reason);
                    continue;
                }
            };
            match (&wish.place, change) {
                (EditPlace::List { path, span }, ProposedChange::Items(items)) => {
                    lists.entry(path.clone()).or_default().push(Edit {
                        list: *span,
                        items,
                        row: &wish.row,
                    });
                }
                (
                    EditPlace::File { path } | EditPlace::Test { path, .. },
                    ProposedChange::InFile { value, write },
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

    /// Edits lists of one suite, the last first, so that earlier places stay valid.
    fn edit(&mut self, path: &Path, mut edits: Vec<Edit<'_>>, loaded: &[(String, Loaded)]) {
        let Ok(before) = text_of(path) else { return };
        edits.sort_by_key(|edit| Reverse(edit.list.start));
        let mut after = before;
        for edit in edits {
            let changed = with_items(&after, edit.list, edit.items)
                .map_err(|error| error.to_string())
                .and_then(|text| still_loads(path, text, loaded));
            match changed {
                Ok(text) => after = text,
                Err(reason) => self.leave_out(edit.row, reason),
            }
        }
        self.set(path, after);
    }

    /// Sets a value in a file, and keeps the rest.
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

/// The first wish for each place among the failed rows.
fn first_of_each_place(wishes: &[Wish]) -> Vec<&Wish> {
    let mut first: Vec<&Wish> = Vec::new();
    for wish in wishes.iter().filter(|wish| wish.is_asked) {
        if first.iter().all(|known| known.place != wish.place) {
            first.push(wish);
        }
    }
    first
}

/// The change that all rows of a place agree on, or why they disagree.
fn agreed<'w>(asked: &'w Wish, wishes: &'w [Wish]) -> Result<Option<&'w ProposedChange>, String> {
    let shared = wishes.iter().filter(|other| other.place == asked.place);
    let change = asked.change.as_ref().map_err(Clone::clone)?;
    for other in shared {
        match &other.change {
            Ok(change_of_other) if change_of_other == change => {}
            Ok(_) => {
                return Err(format!(
                    "`{}` has the same expectation but different calls",
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
            return Err(format!("mcptest would refuse the suite with it: {why}"));
        }
    }
    Ok(text)
}
