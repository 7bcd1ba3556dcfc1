//! `--group-by KEY`: which runs of a folder have the same value of a key in their traces?

use crate::cassette::{Cassette, CassetteRun, Recording};
use crate::traces::{TraceFilter, TracesError, transcripts_in};
use mcptest_core::json::type_word;
use mcptest_core::row::{GroupedRuns, PartOfFile, Reason, ReasonKind, Transcripts};
use mcptest_core::target;
use mcptest_core::trace::Trace;
use mcptest_core::words::count;
use mcptest_files as files;
use rayon::prelude::*;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A key of traces: a path such as `task_id`, `labels.task_id` or `conversation.model`.
struct Key<'k> {
    written: &'k str,
    /// The path as `expect:` has it, if the key is a field of the trace format.
    field: Option<target::Path>,
}

/// The runs of a file by the value of the key.
enum KeyedFile {
    /// It cannot be read: judging it reports the problem.
    Unreadable,
    /// All runs have one value.
    Whole(String),
    /// Runs of several values, and runs without a value.
    Parts {
        /// The values in the order in which they first appear.
        parts: Vec<(String, PartOfFile)>,
        /// Why runs have no value, with the lines of the runs.
        without: Option<Reason>,
    },
}

/// Why a run has no value of the key.
enum WithoutValue {
    Missing,
    /// The value is a list, an object or null.
    OfType(&'static str),
    /// The trace cannot be read.
    Unreadable(String),
}

/// The groups of a folder by a key of its traces, in the order in which the values first appear. A run without the key
/// is in no group: the group of its file is refused with the reason. Then the links to folders, which are not entered.
pub fn groups_by(
    folder: &Path,
    filter: &TraceFilter,
    key: &str,
) -> Result<(Vec<Transcripts>, Vec<PathBuf>), TracesError> {
    let (paths, linked) = transcripts_in(folder, filter)?;
    let key = Key {
        written: key,
        field: target::Path::into_trace(key).ok(),
    };
    let keyed: Vec<KeyedFile> = paths.par_iter().map(|path| key.file(path)).collect();
    let mut groups = Groups::default();
    for (path, file) in paths.into_iter().zip(keyed) {
        let named = path
            .strip_prefix(folder)
            .unwrap_or(&path)
            .display()
            .to_string();
        match file {
            KeyedFile::Unreadable => groups.alone.push(Transcripts {
                name: named,
                files: vec![path],
                ..Transcripts::default()
            }),
            KeyedFile::Whole(value) => groups.of(value).files.push(path),
            KeyedFile::Parts { parts, without } => {
                for (value, part) in parts {
                    let group = groups.of(value);
                    group.files.push(path.clone());
                    group.parts.insert(path.clone(), part);
                }
                groups.alone.extend(without.map(|reason| Transcripts {
                    name: format!("{named} without {}", key.written),
                    files: vec![path],
                    runs: GroupedRuns::Refused(reason),
                    ..Transcripts::default()
                }));
            }
        }
    }
    Ok((groups.into_transcripts(), linked))
}

/// The groups that were found so far.
#[derive(Default)]
struct Groups {
    of_values: Vec<GroupOfValue>,
    places: HashMap<String, usize>,
    /// Files without a value.
    alone: Vec<Transcripts>,
}

struct GroupOfValue {
    value: String,
    files: Vec<PathBuf>,
    parts: BTreeMap<PathBuf, PartOfFile>,
}

impl Groups {
    fn of(&mut self, value: String) -> &mut GroupOfValue {
        let next = self.of_values.len();
        let at = *self.places.entry(value.clone()).or_insert(next);
        if at == next {
            self.of_values.push(GroupOfValue {
                value,
                files: Vec::new(),
                parts: BTreeMap::new(),
            });
        }
        &mut self.of_values[at]
    }

    fn into_transcripts(self) -> Vec<Transcripts> {
        let of_values = self.of_values.into_iter().map(|group| Transcripts {
            name: group.value,
            files: group.files,
            runs: GroupedRuns::OfKey(Arc::new(group.parts)),
            ..Transcripts::default()
        });
        of_values.chain(self.alone).collect()
    }
}

impl Key<'_> {
    fn file(&self, path: &Path) -> KeyedFile {
        let Ok(recording) = Recording::open_transcript(path) else {
            return KeyedFile::Unreadable;
        };
        let Ok(cassette) = recording.cassette() else {
            return KeyedFile::Unreadable;
        };
        let values = self.values(path, &recording, &cassette);
        let mut found = values.iter().map(|value| value.as_ref().ok());
        match found.next().flatten() {
            Some(first) if found.all(|other| other == Some(first)) => {
                KeyedFile::Whole(first.clone())
            }
            _ => self.parts(&recording, &cassette, values),
        }
    }

    /// The value of each run.
    fn values(
        &self,
        path: &Path,
        recording: &Recording,
        cassette: &Cassette<'_>,
    ) -> Vec<Result<String, WithoutValue>> {
        let of_run = |run: &CassetteRun<'_>| match &run.trace {
            Ok(trace) => value_of(self.in_trace(trace)),
            Err(problem) => Err(WithoutValue::Unreadable(problem.fault.to_string())),
        };
        let mut values: Vec<Result<String, WithoutValue>> =
            cassette.runs.iter().map(of_run).collect();
        let lacks_value = |value: &Result<_, _>| matches!(value, Err(WithoutValue::Missing));
        if recording.fidelity().is_some() && values.iter().any(lacks_value) {
            let documents = documents(path);
            if documents.len() == values.len() {
                for (value, document) in values.iter_mut().zip(&documents) {
                    if lacks_value(value) {
                        *value = value_of(in_text(document, self.written));
                    }
                }
            }
        }
        values
    }

    fn in_trace(&self, trace: &Trace<'_>) -> Option<Value> {
        let field = self.field.as_ref().and_then(|field| field.resolve(trace));
        field.or_else(|| in_text(trace.text, self.written))
    }

    /// The lines of each value.
    fn parts(
        &self,
        recording: &Recording,
        cassette: &Cassette<'_>,
        values: Vec<Result<String, WithoutValue>>,
    ) -> KeyedFile {
        let text = String::from_utf8_lossy(recording.bytes());
        let lines: Vec<&str> = text.lines().collect();
        let line = |number: usize| {
            lines
                .get(number.wrapping_sub(1))
                .copied()
                .unwrap_or_default()
        };
        let header = cassette.header.as_ref().and_then(|_| {
            let first = lines.iter().find(|line| !line.trim().is_empty());
            first.map(|line| format!("{line}\n"))
        });
        let remark = recording
            .fidelity()
            .map(|fidelity| format!("imported from {fidelity}"));
        let mut parts: Vec<(String, PartOfFile)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut without: Vec<(usize, WithoutValue)> = Vec::new();
        for (run, value) in cassette.runs.iter().zip(values) {
            let value = match value {
                Ok(value) => value,
                Err(why) => {
                    without.push((run.line, why));
                    continue;
                }
            };
            let at = *places.entry(value.clone()).or_insert_with(|| {
                let part = PartOfFile {
                    text: header.clone().unwrap_or_default(),
                    lines: Vec::new(),
                    remark: remark.clone(),
                };
                parts.push((value, part));
                parts.len() - 1
            });
            let part = &mut parts[at].1;
            part.text.push_str(line(run.line));
            part.text.push('\n');
            part.lines.push(run.line);
        }
        KeyedFile::Parts {
            parts,
            without: self.refusal(&without, cassette.runs.len()),
        }
    }

    /// Why the runs at these lines are in no group.
    fn refusal(&self, without: &[(usize, WithoutValue)], runs: usize) -> Option<Reason> {
        let (_, first) = without.first()?;
        let key = self.written;
        let which = match without.len() {
            some if some == runs && runs == 1 => "the trace has".to_owned(),
            some => format!(
                "{some} of {} {}",
                count(runs, "trace"),
                if some == 1 { "has" } else { "have" }
            ),
        };
        let message = match first {
            _ if without.len() > 1 => format!("{which} no `{key}` to group by"),
            WithoutValue::Missing => format!("{which} no `{key}` to group by"),
            WithoutValue::OfType(word) => {
                format!("{which} a `{key}` that is not a text or a number: {word}")
            }
            WithoutValue::Unreadable(why) => format!("{which} no `{key}` that can be read: {why}"),
        };
        let place = |(line, why): &(usize, WithoutValue)| match why {
            WithoutValue::Missing => format!("line {line}: none"),
            WithoutValue::OfType(word) => format!("line {line}: {word}"),
            WithoutValue::Unreadable(why) => format!("line {line}: {why}"),
        };
        let details = if runs > 1 {
            without.iter().take(DETAILS).map(place).collect()
        } else {
            Vec::new()
        };
        let reason = Reason::new(ReasonKind::RecordingUnreadable, message).details(details);
        Some(reason.help("name a key that every trace has, such as `--group-by trace_id`"))
    }
}

/// The number of lines to name.
const DETAILS: usize = 10;

/// The value as the name of a group.
fn value_of(value: Option<Value>) -> Result<String, WithoutValue> {
    match value {
        None => Err(WithoutValue::Missing),
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text),
        Some(Value::String(_)) => Err(WithoutValue::OfType("an empty text")),
        Some(value @ (Value::Number(_) | Value::Bool(_))) => Ok(value.to_string()),
        Some(other) => Err(WithoutValue::OfType(type_word(&other))),
    }
}

/// The value at a path such as `labels.task_id`. A key may contain dots itself.
fn in_text(text: &str, path: &str) -> Option<Value> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    if let Some(value) = members.get(path) {
        return serde_json::from_str(value.get()).ok();
    }
    let dots = path.match_indices('.');
    let mut steps = dots.map(|(at, _)| (&path[..at], &path[at + 1..]));
    steps.find_map(|(key, rest)| in_text(members.get(key)?.get(), rest))
}

/// The conversations of another program's file as it has them: one document, the items of a list, or a line each.
fn documents(path: &Path) -> Vec<String> {
    let bytes = files::read(path, files::RECORDING).unwrap_or_default();
    let Ok(text) = String::from_utf8(bytes) else {
        return Vec::new();
    };
    if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(&text) {
        return items.iter().map(|item| item.get().to_owned()).collect();
    }
    if serde_json::from_str::<&RawValue>(&text).is_ok() {
        return vec![text];
    }
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    /// The name of each group, with the number of its files, or why it is refused.
    fn grouped(files: &[(&str, &str)], key: &str) -> Vec<(String, Result<usize, String>)> {
        let folder = folder(files);
        let (groups, _) = groups_by(folder.path(), &TraceFilter::default(), key).unwrap();
        let shown = |group: Transcripts| match group.refused() {
            Some(reason) => (group.name.clone(), Err(reason.message.clone())),
            None => (group.name, Ok(group.files.len())),
        };
        groups.into_iter().map(shown).collect()
    }

    const A: &str = r#"{"tool_calls": [], "labels": {"task_id": "a"}}"#;
    const B: &str = r#"{"tool_calls": [], "labels": {"task_id": 7}}"#;
    const NONE: &str = r#"{"tool_calls": [], "labels": {}}"#;

    #[test]
    fn runs_with_one_value_are_one_group_across_files_and_folders() {
        let both = format!("{A}\n{B}\n{A}\n");
        let found = grouped(
            &[("1.json", A), ("2.jsonl", &both), ("eu/3.json", B)],
            "labels.task_id",
        );
        assert_eq!(found, [("a".to_owned(), Ok(2)), ("7".to_owned(), Ok(2))]);
    }

    #[test]
    fn a_run_without_the_key_is_in_no_group() {
        let some = format!("{A}\n{NONE}\n{NONE}\n");
        let found = grouped(&[("1.json", NONE), ("2.jsonl", &some)], "labels.task_id");
        let why = |which: &str| Err(format!("{which} no `labels.task_id` to group by"));
        assert_eq!(
            found,
            [
                ("a".to_owned(), Ok(1)),
                (
                    "1.json without labels.task_id".to_owned(),
                    why("the trace has")
                ),
                (
                    "2.jsonl without labels.task_id".to_owned(),
                    why("2 of 3 traces have")
                ),
            ]
        );
        let found = grouped(&[("1.json", A)], "labels");
        assert_eq!(
            found[0].1,
            Err("the trace has a `labels` that is not a text or a number: object".to_owned())
        );
    }

    #[test]
    fn a_part_of_a_file_has_its_header_and_the_lines_of_its_runs() {
        let header = r#"{"format":"mcptest-cassette","version":1,"agent":"a"}"#;
        let run = |number: usize, trace: &str| format!("{{\"run\":{number},\"trace\":{trace}}}");
        let text = format!("{header}\n{}\n{}\n{}\n", run(1, A), run(2, B), run(3, A));
        let folder = folder(&[("runs.jsonl", &text)]);
        let (groups, _) =
            groups_by(folder.path(), &TraceFilter::default(), "labels.task_id").unwrap();
        let path = folder.path().join("runs.jsonl");
        let part = groups[0].part_of(&path).unwrap();
        assert_eq!(part.lines, [2, 4]);
        let recording = Recording::from_part(&path, part);
        let cassette = recording.cassette().unwrap();
        assert!(cassette.header.is_some());
        let lines: Vec<usize> = cassette.runs.iter().map(|run| run.line).collect();
        assert_eq!(lines, [2, 4]);
    }

    #[test]
    fn a_key_beside_the_messages_of_another_program_is_read_where_it_stands() {
        let chat = |task: &str| {
            format!(
                r#"{{"task": {{"id": "{task}"}}, "messages": [{{"role": "user", "content": "Hi"}}, {{"role": "assistant", "content": "Ho"}}]}}"#
            )
        };
        let lines = format!("{}\n{}\n", chat("a"), chat("b"));
        let found = grouped(&[("1.json", &chat("a")), ("2.jsonl", &lines)], "task.id");
        assert_eq!(found, [("a".to_owned(), Ok(2)), ("b".to_owned(), Ok(1))]);
    }
}
