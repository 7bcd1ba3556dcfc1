//! Which runs and messages does a folder contain, and what were their outcomes?

use super::agentdojo;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// One recorded run with its verified outcome.
pub(super) struct LabelledRun {
    pub(super) task: String,
    /// The agent of the trial: trials of one agent are compared with each other.
    pub(super) agent: String,
    /// A key for runs with equal tools: a task, or a suite of tasks.
    pub(super) tools_of: String,
    pub(super) part: Part,
    /// True if the outcome was verified as right.
    pub(super) is_good: bool,
    /// The trace envelope.
    pub(super) trace: Value,
    /// The calls that the task needs, if the corpus has them.
    pub(super) actions: Option<Vec<Value>>,
}

/// The use of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Rules were chosen on it.
    TunedOn,
    /// No rule was chosen on it.
    KeptAside,
}

/// A closing message with its calls.
pub(super) struct LabelledMessage {
    pub(super) text: String,
    pub(super) calls: Vec<Value>,
    pub(super) is_honest: bool,
}

/// The contents of a folder or a file.
#[derive(Default)]
pub(super) struct Corpus {
    pub(super) name: String,
    pub(super) runs: Vec<LabelledRun>,
    pub(super) messages: Vec<LabelledMessage>,
    /// The models of AgentDojo that were read.
    models: usize,
}

impl Corpus {
    /// Reads every `.json` (runs) and `.jsonl` (labelled messages) of a folder, or one such file.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let mut files = Vec::new();
        collect(path, &mut files)?;
        files.sort();
        let name = path
            .file_stem()
            .unwrap_or(path.as_os_str())
            .to_string_lossy()
            .into_owned();
        let mut corpus = Self {
            name,
            ..Self::default()
        };
        for file in &files {
            let text = std::fs::read_to_string(file)
                .map_err(|error| format!("{}: {error}", file.display()))?;
            let of_file = |problem: String| format!("{}: {problem}", file.display());
            if file
                .extension()
                .is_some_and(|extension| extension == "jsonl")
            {
                corpus.read_lines(&text).map_err(of_file)?;
            } else {
                let stem = file.file_stem().unwrap_or_default().to_string_lossy();
                corpus.read_runs(&text, &stem).map_err(of_file)?;
            }
        }
        Ok(corpus)
    }

    /// Splits the runs into the part that rules were chosen on and the part that was kept aside.
    pub(super) fn parts(self) -> Vec<Self> {
        let (aside, tuned): (Vec<LabelledRun>, Vec<LabelledRun>) = self
            .runs
            .into_iter()
            .partition(|run| run.part == Part::KeptAside);
        if aside.is_empty() {
            return vec![Self {
                runs: tuned,
                ..self
            }];
        }
        let name = self.name;
        let tuned = Self {
            name: format!("{name}, tuned on"),
            runs: tuned,
            messages: self.messages,
            models: self.models,
        };
        let aside = Self {
            name: format!("{name}, kept aside"),
            runs: aside,
            ..Self::default()
        };
        vec![tuned, aside]
    }

    /// Returns true if no rule was chosen on its runs.
    pub(super) fn is_kept_aside(&self) -> bool {
        self.runs.iter().any(|run| run.part == Part::KeptAside)
    }

    fn read_lines(&mut self, text: &str) -> Result<(), String> {
        if !agentdojo::is_one(text) {
            return self.read_messages(text);
        }
        let part = if self.models.is_multiple_of(2) {
            Part::TunedOn
        } else {
            Part::KeptAside
        };
        self.models += 1;
        self.runs.extend(agentdojo::runs(text, part)?);
        Ok(())
    }

    fn read_messages(&mut self, text: &str) -> Result<(), String> {
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let message: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
            let field = |key: &str| {
                message[key]
                    .as_str()
                    .ok_or_else(|| format!("a line has no text `{key}`"))
            };
            let is_honest = match field("label")? {
                "honest" => true,
                "unsupported" => false,
                other => {
                    return Err(format!(
                        "`{other}` is not a label: write `honest` or `unsupported`"
                    ));
                }
            };
            let calls = message["calls"].as_array().cloned().unwrap_or_default();
            self.messages.push(LabelledMessage {
                text: field("text")?.to_owned(),
                calls,
                is_honest,
            });
        }
        Ok(())
    }

    fn read_runs(&mut self, text: &str, stem: &str) -> Result<(), String> {
        let document: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let records = match document {
            Value::Array(records) => records,
            record => vec![record],
        };
        for record in records {
            let messages = record.get("traj").or_else(|| record.get("messages"));
            let messages = messages.ok_or("a run has neither `messages` nor `traj`")?;
            let outcome = record["pass"]
                .as_bool()
                .or_else(|| record["reward"].as_f64().map(|reward| reward >= 1.0));
            let Some(is_good) = outcome else { continue };
            let (agent, task) = match &record["task_id"] {
                // Runs of one task by several agents are named `AGENT_TASK`.
                Value::Null => stem.split_once('_').unwrap_or(("", stem)),
                Value::String(task) => ("", task.as_str()),
                other => ("", &*other.to_string()),
            };
            let (agent, task) = (agent.to_owned(), task.to_owned());
            let actions = record
                .pointer("/info/task/actions")
                .and_then(Value::as_array)
                .cloned();
            self.runs.push(LabelledRun {
                tools_of: task.clone(),
                part: Part::TunedOn,
                task,
                agent,
                is_good,
                trace: trace(messages)?,
                actions,
            });
        }
        Ok(())
    }

    /// The called tools of each group of runs with the same tools.
    pub(super) fn catalogues(&self) -> BTreeMap<&str, BTreeSet<String>> {
        let mut catalogues: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for run in &self.runs {
            catalogues
                .entry(&run.tools_of)
                .or_default()
                .extend(tool_names(&run.trace));
        }
        catalogues
    }
}

pub(super) fn tool_names(trace: &Value) -> impl Iterator<Item = String> {
    let calls = trace["tool_calls"].as_array().into_iter().flatten();
    calls.filter_map(|call| call["name"].as_str().map(str::to_owned))
}

/// The trace of a conversation, from `mcptest import`.
fn trace(messages: &Value) -> Result<Value, String> {
    let bytes = json!({ "messages": messages }).to_string();
    let imported = mcptest_import::import(bytes.as_bytes(), mcptest_import::find("openai-chat"))
        .map_err(|error| error.to_string())?;
    let cassette = imported.into_cassette("calibrate", &mcptest_replay::clean);
    let run = cassette
        .lines()
        .nth(1)
        .ok_or("a conversation has nothing in it")?;
    let mut run: Value = serde_json::from_str(run).map_err(|error| error.to_string())?;
    Ok(run["trace"].take())
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let entries =
        std::fs::read_dir(path).map_err(|error| format!("{}: {error}", path.display()))?;
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        let is_data = path
            .extension()
            .is_some_and(|extension| extension == "json" || extension == "jsonl");
        if path.is_dir() || is_data {
            collect(&path, files)?;
        }
    }
    Ok(())
}
