//! A server entry of a suite becomes a server that can be reached: variables, folders and secrets are filled in.

use super::{Responses, Scripted};
use crate::era::Era;
use crate::frame::DEFAULT_MAX_MESSAGE_BYTES;
use crate::jsonrpc::RpcError;
use mcptest_core::suite::{self, HeaderValue, Scope, Server, Unset};
use mcptest_process::{Child, StartError, start_server};
use serde_json::{Value, json};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};

/// Why a server entry cannot be used now. Values are never part of it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SpecError {
    /// A `${NAME}` has no value.
    #[error(
        "server {server:?}: `{key}` needs the environment variable {variable}: set it, or write `${{{variable}:-a default}}`"
    )]
    UnsetVariable {
        /// The server.
        server: String,
        /// The key that holds the text.
        key: String,
        /// The variable.
        variable: String,
    },
    /// A secret is not in the environment.
    #[error(
        "server {server:?}: `{key}` takes its value from the environment variable {variable}, which is not set"
    )]
    UnsetSecret {
        /// The server.
        server: String,
        /// The key that names the variable.
        key: String,
        /// The variable.
        variable: String,
    },
    /// A mock has no address of its own.
    #[error("server {0:?} is a mock, which runs inside mcptest and is not connected to this way")]
    Mock(String),
}

struct Filling<'a> {
    server: &'a str,
    scope: &'a Scope,
    folder: &'a Path,
    environment: &'a dyn Fn(&str) -> Option<String>,
}

impl Filling<'_> {
    fn text(&self, key: &str, template: &str) -> Result<String, SpecError> {
        self.scope
            .fill(template, self.environment)
            .map_err(|unset| self.unset(key, unset))
    }

    fn unset(&self, key: &str, Unset(variables): Unset) -> SpecError {
        SpecError::UnsetVariable {
            server: self.server.to_owned(),
            key: key.to_owned(),
            variable: variables.into_iter().next().unwrap_or_default(),
        }
    }

    fn responses(&self, server: &Server) -> Result<Responses, SpecError> {
        let filled = server
            .responses(self.environment)
            .map_err(|unset| self.unset("responses", unset))?;
        let scripted = |response: suite::Response| Scripted {
            when: Some(Value::Object(response.when)).filter(|when| *when != json!({})),
            answer: match response.answer {
                suite::Answer::Result(result) => Ok(result),
                suite::Answer::Error { code, message } => Err(RpcError::new(code, message)),
            },
        };
        let by_method = filled.into_iter().map(|(method, responses)| {
            (
                method.to_owned(),
                responses.into_iter().map(scripted).collect(),
            )
        });
        Ok(Responses {
            scripted: by_method.collect(),
        })
    }

    fn secret(&self, key: String, variable: &str) -> Result<String, SpecError> {
        (self.environment)(variable)
            .filter(|value| !value.is_empty())
            .ok_or_else(|| SpecError::UnsetSecret {
                server: self.server.to_owned(),
                key,
                variable: variable.to_owned(),
            })
    }

    fn headers(&self, server: &Server) -> Result<Vec<(String, String)>, SpecError> {
        let mut headers = Vec::new();
        for (name, value) in &server.headers {
            let key = format!("headers.{name}");
            let value = match value {
                HeaderValue::Literal(template) => self.text(&key, template)?,
                HeaderValue::Env(variable) => self.secret(key, variable)?,
            };
            headers.push((name.clone(), value));
        }
        if let Some(variable) = &server.bearer_token_env {
            let token = self.secret("auth.bearer_token_env".to_owned(), variable)?;
            headers.push((
                "Authorization".to_owned(),
                format!("Bearer {}", token.trim()),
            ));
        }
        Ok(headers)
    }

    fn endpoint(&self, server: &Server) -> Result<Endpoint, SpecError> {
        Ok(match &server.endpoint {
            suite::Endpoint::Command(words) => Endpoint::Command {
                words: words
                    .iter()
                    .map(|word| self.text("command", word))
                    .collect::<Result<_, _>>()?,
                env: server
                    .env
                    .iter()
                    .map(|(name, value)| {
                        Ok((name.clone(), self.text(&format!("env.{name}"), value)?))
                    })
                    .collect::<Result<_, SpecError>>()?,
                cwd: Some(match &server.cwd {
                    Some(cwd) => self.folder.join(self.text("cwd", cwd)?),
                    None => self.folder.to_owned(),
                })
                .filter(|cwd| !cwd.as_os_str().is_empty()),
            },
            suite::Endpoint::Url(url) => Endpoint::Url {
                url: self.text("url", url)?,
                headers: self.headers(server)?,
            },
            suite::Endpoint::Mock(_) => return Err(SpecError::Mock(self.server.to_owned())),
        })
    }
}

impl ServerSpec {
    /// The server as a suite describes it. `folder` is the suite's, where its program starts unless `cwd` says otherwise.
    pub fn of(
        name: &str,
        server: &Server,
        folder: &Path,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, SpecError> {
        let filling = Filling {
            server: name,
            scope: &server.scope,
            folder,
            environment,
        };
        let mut spec = Self::new(name, filling.endpoint(server)?);
        spec.responses = filling.responses(server)?;
        spec.era = server.era;
        if let Some(timeout_ms) = server.timeout_ms {
            spec.timeout = Duration::from_millis(timeout_ms);
        }
        if let Some(timeout_ms) = server.connect_timeout_ms {
            spec.connect_timeout = Duration::from_millis(timeout_ms);
        }
        if let Some(bytes) = server.max_message_bytes {
            spec.max_message_bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        }
        Ok(spec)
    }
}

/// How long a request may take unless a server says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a server may take to give its first answer unless it says otherwise: it may have to be downloaded first.
pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// One server, ready to connect to: every variable is filled in.
#[derive(Debug, Clone)]
pub struct ServerSpec {
    /// Its name in messages.
    pub name: String,
    /// Where it is.
    pub endpoint: Endpoint,
    /// Which protocol era to speak.
    pub era: Option<Era>,
    /// How long a request may take.
    pub timeout: Duration,
    /// How long it may take to start and to give its first answer.
    pub connect_timeout: Duration,
    /// What `timeout` limits.
    pub timeout_scope: TimeoutScope,
    /// The largest message to accept.
    pub max_message_bytes: usize,
    /// What to answer when the server asks.
    pub responses: Responses,
    /// Who is told when its first answer is late.
    pub on_late: OnLate,
}

/// What a time limit is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeoutScope {
    /// Each request by itself; the first answer has its own limit.
    EachRequest,
    /// The connection and all its requests together.
    WholeConnection,
}

/// Who is told, once for each connection, that a first answer is late: the server may be downloaded, or hang.
#[derive(Clone, Default)]
pub struct OnLate(pub Option<TellLate>);

/// What is called with a server that is late.
pub type TellLate = Arc<dyn Fn(&ServerSpec) + Send + Sync>;

impl fmt::Debug for OnLate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnLate")
    }
}

/// Where a server is.
#[derive(Clone)]
pub enum Endpoint {
    /// A program on its standard streams.
    Command {
        /// The program and its arguments.
        words: Vec<String>,
        /// Environment variables beside those of ours that every program needs.
        env: Vec<(String, String)>,
        /// The folder it starts in.
        cwd: Option<PathBuf>,
    },
    /// A streamable HTTP endpoint.
    Url {
        /// The address.
        url: String,
        /// Headers of every request. Their values are never shown.
        headers: Vec<(String, String)>,
    },
    /// A server in this process, over a byte pipe. Called once for each connection.
    Pipe(Pipe),
}

/// Opens a connection to a server in this process: the end to read from, and the end to write to.
pub type Pipe = Arc<dyn Fn() -> (BoxedReader, BoxedWriter) + Send + Sync>;
/// The end to read from.
pub type BoxedReader = Box<dyn AsyncRead + Send + Unpin>;
/// The end to write to.
pub type BoxedWriter = Box<dyn AsyncWrite + Send + Unpin>;

/// The ends of a connection, and the process behind it, if there is one.
pub(crate) type Opened = (BoxedReader, BoxedWriter, Option<Child>);

impl Endpoint {
    /// Starts the program, or opens the pipe; `None` for an address.
    pub(crate) fn open(&self) -> Result<Option<Opened>, StartError> {
        match self {
            Self::Command { words, env, cwd } => {
                let (child, started) = start_server(words, env, cwd.as_deref())?;
                Ok(Some((
                    Box::new(started.stdout),
                    Box::new(started.stdin),
                    Some(child),
                )))
            }
            Self::Pipe(open) => {
                let (reader, writer) = open();
                Ok(Some((reader, writer, None)))
            }
            Self::Url { .. } => Ok(None),
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command { words, cwd, .. } => f
                .debug_struct("Command")
                .field("words", words)
                .field("cwd", cwd)
                .finish_non_exhaustive(),
            Self::Url { url, .. } => f
                .debug_struct("Url")
                .field("url", url)
                .finish_non_exhaustive(),
            Self::Pipe(_) => f.write_str("Pipe"),
        }
    }
}

impl ServerSpec {
    /// A server with the default patience.
    pub fn new(name: impl Into<String>, endpoint: Endpoint) -> Self {
        Self {
            name: name.into(),
            endpoint,
            era: None,
            timeout: DEFAULT_TIMEOUT,
            connect_timeout: DEFAULT_CONNECT_TIMEOUT,
            timeout_scope: TimeoutScope::EachRequest,
            max_message_bytes: DEFAULT_MAX_MESSAGE_BYTES,
            responses: Responses::default(),
            on_late: OnLate::default(),
        }
    }

    /// A program on its standard streams.
    pub fn command(
        name: impl Into<String>,
        words: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let words = words.into_iter().map(Into::into).collect();
        Self::new(
            name,
            Endpoint::Command {
                words,
                env: Vec::new(),
                cwd: None,
            },
        )
    }

    /// A streamable HTTP endpoint.
    pub fn url(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(
            name,
            Endpoint::Url {
                url: url.into(),
                headers: Vec::new(),
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(name: &str) -> Option<String> {
        (name == "TOKEN").then(|| "s3cret\n".to_owned())
    }

    fn of(server: &Server) -> Result<ServerSpec, SpecError> {
        ServerSpec::of("weather", server, Path::new("/suites"), &environment)
    }

    #[test]
    fn variables_folders_and_secrets_are_filled_in() {
        let server = Server {
            endpoint: suite::Endpoint::Command(vec![
                "${CONFIG_DIR}/bin/server".into(),
                "${LEVEL:-info}".into(),
            ]),
            cwd: Some("data".into()),
            scope: Scope::new(std::collections::BTreeMap::new(), "/suites"),
            ..Server::default()
        };
        let Endpoint::Command { words, cwd, .. } = of(&server).unwrap().endpoint else {
            panic!()
        };
        assert_eq!(words, ["/suites/bin/server", "info"]);
        assert_eq!(cwd.unwrap(), Path::new("/suites/data"));
        let server = Server {
            endpoint: suite::Endpoint::Url("http://localhost/mcp".into()),
            bearer_token_env: Some("TOKEN".into()),
            ..Server::default()
        };
        let spec = of(&server).unwrap();
        assert!(
            !format!("{spec:?}").contains("s3cret"),
            "a secret must not be shown"
        );
        let Endpoint::Url { headers, .. } = spec.endpoint else {
            panic!()
        };
        assert_eq!(
            headers,
            [("Authorization".to_owned(), "Bearer s3cret".to_owned())]
        );
    }

    #[test]
    fn a_variable_without_a_value_is_named_with_its_place() {
        let server = Server {
            endpoint: suite::Endpoint::Url("${BASE}/mcp".into()),
            ..Server::default()
        };
        assert_eq!(
            of(&server).unwrap_err().to_string(),
            "server \"weather\": `url` needs the environment variable BASE: set it, or write `${BASE:-a default}`"
        );
        let server = Server {
            endpoint: suite::Endpoint::Url("http://localhost".into()),
            headers: vec![("X-Key".into(), HeaderValue::Env("KEY".into()))],
            ..Server::default()
        };
        assert_eq!(
            of(&server).unwrap_err().to_string(),
            "server \"weather\": `headers.X-Key` takes its value from the environment variable KEY, which is not set"
        );
    }
}
