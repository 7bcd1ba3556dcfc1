//! `servers:` and `providers:`, read in full; their variables are resolved only when something starts.

use super::read::{Block, Field};
use crate::problem::{Problem, Span};

/// How to reach one MCP server. Texts are templates: `${NAME}` is filled in when the server is started.
#[derive(Debug, Clone, Default)]
pub struct Server {
    /// Where it is.
    pub endpoint: Endpoint,
    /// Environment variables for its process.
    pub env: Vec<(String, String)>,
    /// The folder its process starts in.
    pub cwd: Option<String>,
    /// HTTP headers.
    pub headers: Vec<(String, HeaderValue)>,
    /// The environment variable that holds a bearer token.
    pub bearer_token_env: Option<String>,
    /// Which protocol era to speak.
    pub era: Era,
    /// How long a call may take.
    pub timeout_ms: Option<u64>,
    /// How long connecting may take.
    pub connect_timeout_ms: Option<u64>,
    /// The largest message to accept.
    pub max_message_bytes: Option<u64>,
}

/// Where a server is.
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

/// The protocol era of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Era {
    /// Find out.
    #[default]
    Auto,
    /// With `initialize` and sessions.
    Legacy,
    /// Stateless.
    Modern,
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
}

const PROVIDER_KINDS: &[(&str, &str)] = &[
    ("openai", "openai"),
    ("openai-responses", "openai-responses"),
    ("anthropic", "anthropic"),
    ("gemini", "gemini"),
    ("mistral", "mistral"),
];

impl Server {
    pub(super) fn read(field: &mut Field<'_>) -> Option<(Span, Self)> {
        let span = field.span();
        field.define("server", |field| field.block(|block| (span, Self::read_block(block))))
    }

    fn read_block(block: &mut Block<'_>) -> Self {
        let command = block.optional(
            "command",
            "The program to start: a list of words, or a program with `args`",
            |f| {
                f.shapes("a list of words or one program", |shapes| {
                    shapes.list(|f| f.list(|f| f.template()));
                    shapes.text(|f| f.template().map(|program| vec![program]));
                })
            },
        );
        let args = block
            .optional("args", "Arguments of a `command` given as one text", |f| f.list(|f| f.template()));
        let url = block.optional("url", "The address of a streamable HTTP server", |f| f.template());
        let mock = block.optional(
            "mock",
            "A mock server's manifest, or a saved tools list, relative to the suite",
            |f| f.template(),
        );
        let server = Self {
            endpoint: Endpoint::default(),
            env: block
                .optional("env", "Environment variables for the server's process", |f| {
                    f.entries(|_, _, f| f.template())
                })
                .unwrap_or_default(),
            cwd: block
                .optional("cwd", "The folder the server starts in, relative to the suite", |f| f.template()),
            headers: block
                .optional("headers", "HTTP headers: a text, or {env: NAME}", |f| {
                    f.entries(|_, _, f| read_header(f))
                })
                .unwrap_or_default(),
            bearer_token_env: block
                .optional("auth", "How to authenticate", |f| {
                    f.block(|b| {
                        b.optional(
                            "bearer_token_env",
                            "The environment variable that holds a bearer token",
                            |f| f.name(),
                        )
                    })
                })
                .flatten(),
            era: block
                .optional("era", "The protocol era: found out by default", |f| {
                    f.choice(
                        "an era",
                        &[("auto", Era::Auto), ("legacy", Era::Legacy), ("modern", Era::Modern)],
                    )
                })
                .unwrap_or_default(),
            timeout_ms: block.optional("timeout", "How long a call may take, as `30s`", |f| f.duration_ms()),
            connect_timeout_ms: block.optional(
                "connect_timeout",
                "How long connecting may take, as `10s`",
                |f| f.duration_ms(),
            ),
            max_message_bytes: block.optional(
                "max_message_bytes",
                "The largest message to accept, in bytes",
                |f| f.whole(1..=u64::MAX),
            ),
        };
        Self { endpoint: endpoint(block, command, args, url, mock), ..server }
    }
}

fn endpoint(
    block: &Block<'_>,
    command: Option<Vec<String>>,
    args: Option<Vec<String>>,
    url: Option<String>,
    mock: Option<String>,
) -> Endpoint {
    let endpoints = ["command", "url", "mock"];
    block.at_most_one_of(&endpoints);
    if !endpoints.iter().any(|key| block.has(key)) && !block.has_slip_of(&endpoints) {
        block.report(
            Problem::error("a server needs `command`, `url` or `mock`")
                .help("as `command: [npx, my-server]`"),
        );
    }
    if command.as_ref().is_some_and(Vec::is_empty) {
        let problem = Problem::error("`command` is empty").help("as `command: [npx, my-server]`");
        block.report(problem.at(block.key_span("command").unwrap_or_default()));
    }
    if let Some(span) = block.key_span("args").filter(|_| !block.has("command")) {
        block.report(Problem::error("`args` belongs to a `command`").at(span));
    }
    for key in ["headers", "auth"] {
        if let Some(span) = block.key_span(key).filter(|_| !block.has("url")) {
            block.report(Problem::error(format!("`{key}` belongs to a `url`")).at(span));
        }
    }
    for key in ["env", "cwd"] {
        if let Some(span) = block.key_span(key).filter(|_| block.has("url") || block.has("mock")) {
            block.report(Problem::error(format!("`{key}` belongs to a `command`")).at(span));
        }
    }
    match (url, mock) {
        (Some(url), _) => Endpoint::Url(url),
        (None, Some(mock)) => Endpoint::Mock(mock),
        (None, None) => {
            Endpoint::Command(command.into_iter().flatten().chain(args.into_iter().flatten()).collect())
        }
    }
}

fn read_header(field: &mut Field<'_>) -> Option<HeaderValue> {
    field.shapes("a text or {env: NAME}", |shapes| {
        shapes.scalar(|f| f.template().map(HeaderValue::Literal));
        shapes.block(|b| {
            b.required("env", "The environment variable that holds the value", |f| f.name())
                .map(HeaderValue::Env)
        });
    })
}

impl Provider {
    pub(super) fn read(field: &mut Field<'_>) -> Option<(Span, Self)> {
        let span = field.span();
        field
            .block(|block| {
                let kind = block.required(
                    "type",
                    "The dialect: openai, openai-responses, anthropic, gemini or mistral",
                    |f| f.choice("a provider type", PROVIDER_KINDS),
                );
                let base_url =
                    block.optional("base_url", "The address to send requests to", |f| f.template());
                let api_key_env =
                    block
                        .optional("api_key_env", "The environment variable that holds the key", |f| f.name());
                Some((span, Self { kind: kind?, base_url, api_key_env }))
            })
            .flatten()
    }
}
