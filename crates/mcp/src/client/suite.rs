//! A server entry of a suite becomes a server that can be reached: variables, folders and secrets are filled in.

use super::spec::{Endpoint, ServerSpec};
use super::{Responses, Scripted};
use crate::jsonrpc::RpcError;
use mcptest_core::suite::{self, HeaderValue, Scope, Server, Unset};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;

/// Why a server entry cannot be used now. Messages never contain values.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SpecError {
    /// A `${NAME}` has no value.
    #[error(
        "server {server:?}: `{key}` needs the environment variable {variable}: set it, or write `${{{variable}:-a default}}`"
    )]
    UnsetVariable {
        /// The server.
        server: String,
        /// The key of the text.
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
    /// A mock has no address.
    #[error("server {server:?} is a mock inside mcptest; mcptest cannot connect to it this way")]
    Mock {
        /// The server.
        server: String,
    },
}

/// The values for the variables of an entry.
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
        match &server.endpoint {
            suite::Endpoint::Command(words) => Ok(Endpoint::Command {
                words: self.words(words)?,
                env: self.environment_of(server)?,
                cwd: self.cwd(server)?,
            }),
            suite::Endpoint::Url(url) => Ok(Endpoint::Url {
                url: self.text("url", url)?,
                headers: self.headers(server)?,
            }),
            suite::Endpoint::Mock(_) => Err(SpecError::Mock {
                server: self.server.to_owned(),
            }),
        }
    }

    fn words(&self, words: &[String]) -> Result<Vec<String>, SpecError> {
        words
            .iter()
            .map(|word| self.text("command", word))
            .collect()
    }

    fn environment_of(&self, server: &Server) -> Result<Vec<(String, String)>, SpecError> {
        let filled = server.env.iter().map(|(name, value)| {
            let value = self.text(&format!("env.{name}"), value)?;
            Ok((name.clone(), value))
        });
        filled.collect()
    }

    /// The folder to start in; `None` for that of this process.
    fn cwd(&self, server: &Server) -> Result<Option<PathBuf>, SpecError> {
        let cwd = match &server.cwd {
            Some(cwd) => self.folder.join(self.text("cwd", cwd)?),
            None => self.folder.to_owned(),
        };
        Ok(Some(cwd).filter(|cwd| !cwd.as_os_str().is_empty()))
    }
}

impl ServerSpec {
    /// The server in a suite. `folder` is the suite's folder, in which its program starts unless
    /// `cwd` is set.
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
