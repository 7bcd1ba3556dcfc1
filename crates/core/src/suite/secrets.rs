//! Which values of a suite's environment must be written nowhere?

use super::Suite;
use super::server::{HeaderValue, Server};
use super::variables::{Environment, Scope};
use crate::provider;
use mcptest_redact::{is_secret_name, is_secret_value};
use std::collections::BTreeMap;

impl Suite {
    /// The values that must not be written anywhere, by their variable or key: every environment
    /// variable that the suite or an import names, the keys of model providers if an agent may use
    /// one, and the values under secret names for its servers and its own agents.
    ///
    /// Other literals are not secret: anyone who can read the suite can read them.
    pub fn secret_values(&self, environment: Environment<'_>) -> BTreeMap<String, String> {
        let has_model = self
            .agents
            .iter()
            .any(|agent| !agent.models.is_empty() || agent.own.is_some());
        let of_providers = provider::key_variables()
            .filter(|_| has_model)
            .map(|name| -> &str { name });
        let names = self.secret_names().chain(of_providers);
        let mut values: BTreeMap<String, String> = names
            .filter_map(|name| Some((name.to_owned(), environment(name)?)))
            .collect();
        let of_servers = self
            .servers
            .values()
            .flat_map(|server| given(server, environment));
        let own = self.agents.iter().filter_map(|agent| agent.own.as_ref());
        let of_agents = own.flat_map(|own| {
            let env = own.env.iter().map(|(name, text)| (name, text));
            under_secret_names(env, &own.scope, environment)
        });
        for (name, value) in of_servers.chain(of_agents) {
            values.entry(name).or_insert(value);
        }
        values.retain(|_, value| is_secret_value(value));
        values
    }

    /// The environment variables that the suite or an import names, possibly repeated.
    pub fn secret_names(&self) -> impl Iterator<Item = &str> {
        let servers = || self.servers.values();
        let of_headers = servers()
            .flat_map(|server| &server.headers)
            .filter_map(|(_, value)| match value {
                HeaderValue::Env(name) => Some(name),
                HeaderValue::Literal(_) => None,
            });
        let of_tokens = servers().filter_map(|server| server.bearer_token_env.as_ref());
        let of_providers = self
            .providers
            .values()
            .filter_map(|provider| provider.api_key_env.as_ref());
        self.named
            .iter()
            .chain(of_headers)
            .chain(of_tokens)
            .chain(of_providers)
            .map(String::as_str)
    }
}

fn given(server: &Server, environment: Environment<'_>) -> impl Iterator<Item = (String, String)> {
    let headers = server
        .headers
        .iter()
        .filter_map(|(name, value)| match value {
            HeaderValue::Literal(text) => Some((name, text)),
            HeaderValue::Env(_) => None,
        });
    let env = server.env.iter().map(|(name, text)| (name, text));
    under_secret_names(env.chain(headers), &server.scope, environment)
}

/// The values that a process or an address receives under a secret name, filled in as far as possible; of a header
/// without its scheme. For the `env:` and `headers:` of an entry.
pub(super) fn under_secret_names<'e>(
    entries: impl Iterator<Item = (&'e String, &'e String)>,
    scope: &Scope,
    environment: Environment<'_>,
) -> impl Iterator<Item = (String, String)> {
    entries
        .filter(|(name, _)| is_secret_name(name))
        .filter_map(move |(name, text)| {
            let value = scope.fill(text, environment).ok()?;
            let value = value
                .split_once(' ')
                .filter(|_| is_header(name))
                .map_or(&*value, |(_, rest)| rest);
            Some((name.clone(), value.trim().to_owned()))
        })
}

/// Returns true if a value under this name begins with its scheme, such as `Bearer`.
fn is_header(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with("authorization")
}
