//! `servers:` and `providers:`; their variables are resolved only when something starts.

mod address;
mod headers;
pub(super) mod program;

pub use headers::{check_header_name, check_header_value};
pub use program::check_variable_name;

use super::read::{Block, Field};
use super::responses::{Responses, Script};
use super::variables::{Environment, Scope, Unset};
use crate::era::Era;
use crate::problem::Problem;
use crate::provider;
use serde_json::{Map, Value, json};

/// The address and settings of one MCP server. Texts are templates: `${NAME}` is filled in when the
/// server starts.
#[derive(Debug, Clone, Default)]
pub struct Server {
    /// The address or the command.
    pub endpoint: Endpoint,
    /// Environment variables for its process.
    pub env: Vec<(String, String)>,
    /// The folder its process starts in.
    pub cwd: Option<String>,
    /// HTTP headers.
    pub headers: Vec<(String, HeaderValue)>,
    /// The environment variable that holds a bearer token.
    pub bearer_token_env: Option<String>,
    /// The protocol to use; `None` detects it.
    pub era: Option<Era>,
    /// The time limit for a call.
    pub timeout_ms: Option<u64>,
    /// The time limit for its first answer.
    pub connect_timeout_ms: Option<u64>,
    /// The largest message to accept.
    pub max_message_bytes: Option<u64>,
    /// True if one process serves all runs and tool tests of the suite, instead of one for each.
    pub shared: bool,
    /// The variables for its texts, besides the environment.
    pub scope: Scope,
    /// The answers to the server's own requests, before variables are filled in: see [`Server::responses`].
    pub script: Script,
}

/// The address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A program on its standard streams: the words of its command.
    Command(Vec<String>),
    /// A streamable HTTP endpoint.
    Url(String),
    /// A mock server's manifest, or a saved list of tools.
    Mock(String),
}

impl Default for Endpoint {
    fn default() -> Self {
        Self::Command(Vec::new())
    }
}

/// A header's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeaderValue {
    /// As written.
    Literal(String),
    /// From this environment variable.
    Env(String),
}

/// A model provider of the suite's own.
#[derive(Debug, Clone)]
pub struct Provider {
    /// The dialect it speaks.
    pub kind: &'static str,
    /// Its base URL, as a template.
    pub base_url: Option<String>,
    /// The environment variable that holds its key.
    pub api_key_env: Option<String>,
    /// The maximum number of concurrent recordings [default: `--jobs`].
    pub jobs: Option<u64>,
    /// The time limit for one of its answers.
    pub request_timeout_ms: Option<u64>,
    /// True if it requires its model's reasoning in later requests.
    pub echo_reasoning: bool,
    /// The variables for its texts, besides the environment.
    pub scope: Scope,
}

impl Server {
    /// Returns true if a manifest defines it.
    pub fn is_mock(&self) -> bool {
        matches!(self.endpoint, Endpoint::Mock(_))
    }

    pub(super) fn read(field: &mut Field<'_>) -> Option<Self> {
        let scope = field.reading.scope();
        field.define("server", |field| {
            field.block(|block| Self::read_block(block, scope))
        })
    }

    /// The scripted answers to the server's requests, with variables filled in.
    pub fn responses(&self, environment: Environment<'_>) -> Result<Responses, Unset> {
        self.script.fill(&self.scope, environment)
    }

    /// Everything that affects the server's answers, with environment values as `${NAME}`: the
    /// input of fingerprints. Timeouts, limits and `shared` are excluded.
    pub fn template(&self) -> Map<String, Value> {
        let text = |text: &str| Value::from(self.scope.template(text));
        let mut entry = Map::new();
        match &self.endpoint {
            Endpoint::Command(words) => {
                entry.insert("command".into(), words.iter().map(|w| text(w)).collect())
            }
            Endpoint::Url(url) => entry.insert("url".into(), text(url)),
            Endpoint::Mock(mock) => entry.insert("mock".into(), text(mock)),
        };
        if !self.env.is_empty() {
            let env = self
                .env
                .iter()
                .map(|(name, value)| (name.clone(), text(value)));
            entry.insert("env".into(), Value::Object(env.collect()));
        }
        entry.extend(self.cwd.as_ref().map(|cwd| ("cwd".to_owned(), text(cwd))));
        if !self.headers.is_empty() {
            let header = |value: &HeaderValue| match value {
                HeaderValue::Literal(literal) => text(literal),
                HeaderValue::Env(name) => json!({ "env": name }),
            };
            let headers = self
                .headers
                .iter()
                .map(|(name, value)| (name.clone(), header(value)));
            entry.insert("headers".into(), Value::Object(headers.collect()));
        }
        let token = self.bearer_token_env.as_ref();
        entry.extend(token.map(|name| ("bearer_token_env".to_owned(), name.as_str().into())));
        entry.extend(self.era.map(|era| ("era".to_owned(), era.as_str().into())));
        entry.extend(
            self.script
                .template(&self.scope)
                .map(|script| ("responses".to_owned(), script)),
        );
        entry
    }

    fn read_block(block: &mut Block<'_>, scope: Scope) -> Self {
        let endpoint = WrittenEndpoint::read(block);
        let (headers, bearer_token_env) = headers::read(block);
        Self {
            headers,
            bearer_token_env,
            env: block.or_default(
                "env",
                "Environment variables for the server's process",
                program::read_env,
            ),
            cwd: block.optional(
                "cwd",
                "The folder the server starts in, relative to the suite",
                program::read_cwd,
            ),
            era: read_era(block),
            timeout_ms: block.optional(
                "timeout",
                "The time limit for a call, such as `30s`",
                |f| f.limit_ms(),
            ),
            connect_timeout_ms: block.optional(
                "connect_timeout",
                "The time limit for the server's start and first answer, such as `90s` [default: 60s]",
                |f| f.limit_ms(),
            ),
            max_message_bytes: block.optional(
                "max_message_bytes",
                "The largest message to accept, in bytes",
                |f| f.whole(1..=u64::MAX),
            ),
            shared: block.flag(
                "shared",
                "One process and session for all recorded runs and tool tests of the suite, instead of one for each",
                false,
            ),
            script: block.or_default(
                "responses",
                "The answers to the server's requests: roots, sampling, elicitation",
                Script::read,
            ),
            scope,
            // Last: a missing endpoint is only reported if no unknown key looks like one.
            endpoint: endpoint.check(block),
        }
    }
}

fn read_era(block: &mut Block<'_>) -> Option<Era> {
    let eras = [
        ("auto", None),
        ("legacy", Some(Era::Legacy)),
        ("modern", Some(Era::Modern)),
    ];
    block
        .optional(
            "era",
            "The protocol: `legacy` or `modern` [default: detected]",
            |f| f.choice("a protocol", &eras),
        )
        .flatten()
}

/// The keys of a server's endpoint; each server has one of them.
struct WrittenEndpoint {
    command: Option<Vec<String>>,
    /// Arguments of a command that is one text.
    args: Option<Vec<String>>,
    url: Option<String>,
    mock: Option<String>,
}

impl WrittenEndpoint {
    fn read(block: &mut Block<'_>) -> Self {
        let has_args = block.has("args");
        Self {
            command: block.optional(
                "command",
                "The program to start: a list of words, or a program with `args`",
                |f| program::read_command(f, has_args),
            ),
            args: block.optional("args", "Arguments of a `command` given as one text", |f| {
                f.list(program::read_word)
            }),
            url: block.optional(
                "url",
                "The address of a streamable HTTP server",
                address::read,
            ),
            mock: block.optional(
                "mock",
                "A mock server's manifest, or a saved tools list, relative to the suite",
                |f| f.template(),
            ),
        }
    }

    /// The endpoint, with a report of everything that contradicts it.
    fn check(self, block: &Block<'_>) -> Endpoint {
        const EXAMPLE: &str = "for example `command: [npx, my-server]`";
        let keys = ["command", "url", "mock"];
        block.at_most_one_of(&keys);
        if !keys.iter().any(|key| block.has(key)) && !block.has_slip_of(&keys) {
            block.report(Problem::error("a server needs `command`, `url` or `mock`").help(EXAMPLE));
        }
        if self.command.as_ref().is_some_and(Vec::is_empty) {
            block.report_at(
                "command",
                Problem::error("`command` is empty").help(EXAMPLE),
            );
        }
        refuse_keys_of_other_endpoints(block);
        match (self.url, self.mock) {
            (Some(url), _) => Endpoint::Url(url),
            (None, Some(mock)) => Endpoint::Mock(mock),
            (None, None) => Endpoint::Command(
                self.command
                    .into_iter()
                    .flatten()
                    .chain(self.args.into_iter().flatten())
                    .collect(),
            ),
        }
    }
}

fn refuse_keys_of_other_endpoints(block: &Block<'_>) {
    let (is_command, is_url) = (block.has("command"), block.has("url"));
    let runs_nothing = is_url || block.has("mock");
    for (key, owner, is_lost) in [
        ("args", "command", !is_command),
        ("headers", "url", !is_url),
        ("auth", "url", !is_url),
        ("env", "command", runs_nothing),
        ("cwd", "command", runs_nothing),
    ] {
        if let Some(span) = block.key_span(key).filter(|_| is_lost) {
            block.report(Problem::error(format!("`{key}` belongs to a `{owner}`")).at(span));
        }
    }
}

impl Provider {
    pub(super) fn read(field: &mut Field<'_>) -> Option<Self> {
        let scope = field.reading.scope();
        field.try_block(|block| Self::read_block(block, scope))
    }

    fn read_block(block: &mut Block<'_>, scope: Scope) -> Option<Self> {
        let kind = read_provider_kind(block);
        let base_url = block.optional("base_url", "The address to send requests to", |f| {
            f.template()
        });
        let api_key_env = block.optional(
            "api_key_env",
            "The environment variable that holds the key",
            |f| f.name(),
        );
        let jobs = block.optional(
            "jobs",
            "The maximum number of runs to record with it at once",
            |f| f.whole(1..=u64::MAX),
        );
        let request_timeout_ms = block.optional(
            "request_timeout",
            "The time limit for one answer, such as `60s`",
            |f| f.limit_ms(),
        );
        let echo_reasoning = block.flag(
            "echo_reasoning",
            "Send `reasoning_content` back, as DeepSeek and Kimi require; other providers refuse it",
            false,
        );
        if kind.is_some_and(|kind| kind != "openai") {
            refuse_echo_reasoning(block);
        }
        Some(Self {
            kind: kind?,
            base_url,
            api_key_env,
            jobs,
            request_timeout_ms,
            echo_reasoning,
            scope,
        })
    }
}

fn read_provider_kind(block: &mut Block<'_>) -> Option<&'static str> {
    let kinds: Vec<_> = provider::KINDS
        .iter()
        .map(|kind| (kind.name, kind.name))
        .collect();
    let names: Vec<_> = kinds.iter().map(|(name, _)| *name).collect();
    let (last, others) = names.split_last().unwrap_or((&"", &[]));
    let doc = format!("The dialect: {} or {last}", others.join(", "));
    block.required("type", &doc, |f| f.choice("a provider type", &kinds))
}

fn refuse_echo_reasoning(block: &Block<'_>) {
    if let Some(span) = block.key_span("echo_reasoning") {
        let problem = Problem::error("`echo_reasoning` belongs to `type: openai`").at(span);
        block.report(
            problem.help("remove it: the other dialects have a separate field for reasoning"),
        );
    }
}
