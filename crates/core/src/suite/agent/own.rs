//! `agent:` which program runs instead of a model?

use super::{request, view};
use crate::problem::{Problem, Span};
use crate::suite::read::Block;
use crate::suite::server::program;
use crate::suite::variables::{Environment, Scope, Unset};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A program of the user: an agent that receives the prompt instead of a model, or a scorer. Its
/// texts are templates: `${NAME}` is replaced when it starts.
#[derive(Debug, Clone, Default)]
pub struct OwnAgent {
    /// The words of its command.
    pub command: Vec<String>,
    /// Environment variables for its process.
    pub env: Vec<(String, String)>,
    /// The folder in which its process starts [default: the suite's folder].
    pub cwd: Option<String>,
    /// Its files, as paths and patterns [default: the files that `command` names].
    pub(in crate::suite) files: Option<Vec<(String, Span)>>,
    /// A digest of each file when the suite was loaded.
    pub digests: BTreeMap<String, String>,
    /// The values for its texts, besides the environment.
    pub scope: Scope,
}

/// A program ready to start.
#[derive(Debug)]
pub struct Filled {
    /// The words of its command.
    pub command: Vec<String>,
    /// Environment variables for its process, besides mcptest's own.
    pub env: Vec<(String, String)>,
    /// The folder it starts in.
    pub cwd: PathBuf,
}

/// Keys that only a model loop of ours can heed.
const OF_MODELS: [&str; 6] = [
    "system_prompt",
    "max_turns",
    "max_tokens",
    "max_tool_calls",
    "token_budget",
    "request_timeout",
];

impl OwnAgent {
    /// The `agent:` of an entry of `agents:`.
    pub(super) fn read(block: &mut Block<'_>, scope: &Scope) -> Option<Self> {
        let doc = "Your own program, which receives the prompt, instead of a model";
        let own = block.optional("agent", doc, |field| {
            field.try_block(|block| Self::read_block(block, scope))
        });
        if block.has("agent") {
            refuse_keys_of_models(block);
        }
        own
    }

    /// The keys of a program.
    pub(crate) fn read_block(block: &mut Block<'_>, scope: &Scope) -> Option<Self> {
        let command = block.required(
            "command",
            "The program to start, as a list of words",
            |field| program::read_command(field, false),
        );
        if command.as_ref().is_some_and(Vec::is_empty) {
            let problem = Problem::error("`command` is empty")
                .help("for example `command: [python, program.py]`");
            block.report_at("command", problem);
        }
        let env = block.optional(
            "env",
            "Environment variables for its process",
            program::read_env,
        );
        let cwd = block.optional(
            "cwd",
            "The folder it starts in, relative to the suite",
            program::read_cwd,
        );
        let doc = "The files whose changes make a recording stale: paths and patterns, relative to the suite \
                   [default: the text files that `command` names]";
        let files = block.optional("files", doc, |field| {
            field.list(|field| field.placed_name())
        });
        Some(Self {
            command: command?,
            env: env.unwrap_or_default(),
            cwd,
            files,
            scope: scope.clone(),
            ..Self::default()
        })
    }
    /// The program with its variables replaced. Paths are relative to this folder.
    pub fn filled(&self, folder: &Path, environment: Environment<'_>) -> Result<Filled, Unset> {
        let fill = |text: &String| self.scope.fill(text, environment);
        let env = self
            .env
            .iter()
            .map(|(name, value)| Ok((name.clone(), fill(value)?)));
        Ok(Filled {
            command: self.command.iter().map(fill).collect::<Result<_, _>>()?,
            env: env.collect::<Result<_, _>>()?,
            cwd: match &self.cwd {
                Some(cwd) => folder.join(fill(cwd)?),
                None if folder.as_os_str().is_empty() => PathBuf::from("."),
                None => folder.to_owned(),
            },
        })
    }

    /// Everything that it is started with, environment values as `${NAME}`: a change makes
    /// recordings stale.
    pub fn template(&self) -> Value {
        let text = |text: &String| Value::from(self.scope.template(text));
        let mut entry = Map::new();
        entry.insert("command".into(), self.command.iter().map(text).collect());
        if !self.env.is_empty() {
            let env = self
                .env
                .iter()
                .map(|(name, value)| (name.clone(), text(value)));
            entry.insert("env".into(), Value::Object(env.collect()));
        }
        entry.extend(self.cwd.as_ref().map(|cwd| ("cwd".to_owned(), text(cwd))));
        Value::Object(entry)
    }
}

fn refuse_keys_of_models(block: &Block<'_>) {
    for key in OF_MODELS.into_iter().chain(request::KEYS).chain(view::KEYS) {
        if let Some(span) = block.key_span(key) {
            let message = format!(
                "`{key}` applies to a model that mcptest calls; your own agent calls its model \
                itself"
            );
            block.report(
                Problem::error(message)
                    .at(span)
                    .help("remove it, or pass it under `agent: {env}`"),
            );
        }
    }
}
