//! Which provider has this model, where is it, and with which key?

use super::family;
use super::{Key, Provider, RetryPolicy, Shared, address};
use crate::dialect::Dialect;
use mcptest_core::provider::Family;
use mcptest_core::suite::{Environment, Model, Provider as DeclaredProvider, Suite, Unset};
use parking_lot::Mutex;
use reqwest::Url;
use reqwest::header::HeaderValue;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// The time limit for a connection. After it, another try is better.
const CONNECT: Duration = Duration::from_secs(15);

/// Why mcptest cannot call a model. The messages never contain keys.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProviderError {
    /// The id has no known prefix, and no provider is named.
    #[error(
        "unknown model `{model}`: known ids begin with {prefixes}; for any other model, name its \
        provider:\nproviders:\n  local: {{type: openai, base_url: \
        \"http://localhost:11434/v1\"}}\nagents:\n  - model: {{provider: local, id: \"{model}\"}}"
    )]
    UnknownFamily {
        /// The model.
        model: String,
        /// The known prefixes.
        prefixes: String,
    },
    /// The suite does not declare the provider.
    #[error("the suite has no provider `{0}`: add it under `providers:`")]
    UnknownProvider(String),
    /// The key is missing.
    #[error(
        "the model `{model}` needs a key: set {variables} in the environment of mcptest, or name another variable as \
         `api_key_env` of a provider under `providers:`"
    )]
    NoKey {
        /// The model.
        model: String,
        /// The variables that may hold it.
        variables: String,
    },
    /// The suite names a variable that is not set.
    #[error(
        "the provider `{provider}` takes its key from {variable}, which is not set: set it in the environment of mcptest"
    )]
    NoOwnKey {
        /// The provider.
        provider: String,
        /// The variable.
        variable: String,
    },
    /// The value cannot be sent.
    #[error(
        "{0} is not a valid key: it contains line breaks or other characters that a header cannot contain"
    )]
    BadKey(String),
    /// A variable of the base URL has no value.
    #[error("`base_url` of the provider `{provider}`: {unset}")]
    UnsetVariable {
        /// The provider.
        provider: String,
        /// The unset variable.
        unset: Unset,
    },
    /// The base URL is not valid.
    #[error("the base URL of `{provider}` ({place}) is not a valid address: {why}")]
    BadBaseUrl {
        /// The provider.
        provider: String,
        /// The place of the value.
        place: String,
        /// The problem.
        why: String,
    },
    /// The system has no way to make connections.
    #[error("cannot set up a connection to `{provider}`: {why}")]
    NoClient {
        /// The provider.
        provider: String,
        /// The problem.
        why: String,
    },
}

/// The providers of a session, each set up once: models of one provider share its connections and pauses.
#[derive(Default)]
pub struct Providers(Mutex<BTreeMap<ProviderIdentity, Provider>>);

/// Two models with the same identity share a provider.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ProviderIdentity {
    name: String,
    dialect: &'static str,
    base: String,
    key: String,
}

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.0.lock();
        f.debug_list().entries(known.values()).finish()
    }
}

impl Providers {
    /// The provider of a model.
    pub fn resolve(
        &self,
        model: &Model,
        suite: &Suite,
        environment: Environment<'_>,
    ) -> Result<Provider, ProviderError> {
        let resolved = resolve(model, suite, environment)?;
        let key = resolved
            .key
            .as_ref()
            .map(|key| key.value.clone())
            .unwrap_or_default();
        let identity = ProviderIdentity {
            name: resolved.name.clone(),
            dialect: resolved.dialect.name,
            base: resolved.base.to_string(),
            key,
        };
        let mut known = self.0.lock();
        if let Some(provider) = known.get(&identity) {
            return Ok(provider.clone());
        }
        let provider = resolved.build()?;
        known.insert(identity, provider.clone());
        Ok(provider)
    }
}

/// A provider that is not set up yet.
struct Resolved {
    name: String,
    dialect: &'static Dialect,
    base: Url,
    key: Option<Key>,
    echo_reasoning: bool,
}

impl Resolved {
    fn build(self) -> Result<Provider, ProviderError> {
        let Self {
            name,
            dialect,
            base,
            key,
            echo_reasoning,
        } = self;
        let client = mcptest_http::client(&base, |builder| {
            builder
                .connect_timeout(CONNECT)
                .user_agent(mcptest_http::USER_AGENT)
        })
        .map_err(|error| ProviderError::NoClient {
            provider: name.clone(),
            why: error.to_string(),
        })?;
        let paused_until = Mutex::new(None);
        let shared = Arc::new(Shared {
            name,
            base,
            key,
            client,
            echo_reasoning,
            paused_until,
        });
        Ok(Provider {
            shared,
            dialect,
            retry: RetryPolicy::default(),
        })
    }
}

fn resolve(
    model: &Model,
    suite: &Suite,
    environment: Environment<'_>,
) -> Result<Resolved, ProviderError> {
    match &model.provider {
        Some(name) => from_suite(name, model, suite, environment),
        None => of_family(model, environment),
    }
}

fn of_family(model: &Model, environment: Environment<'_>) -> Result<Resolved, ProviderError> {
    let (dialect, family) =
        family::of_model(&model.id).ok_or_else(|| ProviderError::UnknownFamily {
            model: model.id.clone(),
            prefixes: family::prefixes(),
        })?;
    Ok(Resolved {
        name: family.name.to_owned(),
        dialect,
        base: base_of_family(family, family.name, environment)?,
        key: Some(key_of_family(family, model, environment)?),
        echo_reasoning: false,
    })
}

fn from_suite(
    name: &str,
    model: &Model,
    suite: &Suite,
    environment: Environment<'_>,
) -> Result<Resolved, ProviderError> {
    let declared = suite
        .providers
        .get(name)
        .ok_or_else(|| ProviderError::UnknownProvider(name.to_owned()))?;
    let (dialect, family) = family::of_type(declared.kind)
        .ok_or_else(|| ProviderError::UnknownProvider(name.to_owned()))?;
    let base = match &declared.base_url {
        Some(template) => declared_base(name, declared, template, environment)?,
        None => base_of_family(family, name, environment)?,
    };
    let key = match &declared.api_key_env {
        Some(variable) => Some(declared_key(name, variable, environment)?),
        // Somebody else's address is never given the key of the family.
        None if declared.base_url.is_some() => None,
        None => Some(key_of_family(family, model, environment)?),
    };
    Ok(Resolved {
        name: name.to_owned(),
        dialect,
        base,
        key,
        echo_reasoning: declared.echo_reasoning,
    })
}

/// The address under `base_url:`.
fn declared_base(
    name: &str,
    declared: &DeclaredProvider,
    template: &str,
    environment: Environment<'_>,
) -> Result<Url, ProviderError> {
    let filled = declared
        .scope
        .fill(template, environment)
        .map_err(|unset| ProviderError::UnsetVariable {
            provider: name.to_owned(),
            unset,
        })?;
    base_url(&filled, name, "`base_url`")
}

/// The key in the variable under `api_key_env:`.
fn declared_key(
    name: &str,
    variable: &str,
    environment: Environment<'_>,
) -> Result<Key, ProviderError> {
    key(variable, environment).ok_or_else(|| ProviderError::NoOwnKey {
        provider: name.to_owned(),
        variable: variable.to_owned(),
    })?
}

fn base_of_family(
    family: &Family,
    name: &str,
    environment: Environment<'_>,
) -> Result<Url, ProviderError> {
    let set = family
        .base_urls
        .iter()
        .find_map(|variable| Some((*variable, set(variable, environment)?)));
    match set {
        Some((variable, text)) => base_url(&text, name, variable),
        None => base_url(family.base_url, name, "built in"),
    }
}

fn base_url(text: &str, provider: &str, place: &str) -> Result<Url, ProviderError> {
    address::base(text).map_err(|why| ProviderError::BadBaseUrl {
        provider: provider.to_owned(),
        place: place.to_owned(),
        why: why.to_string(),
    })
}

fn key_of_family(
    family: &Family,
    model: &Model,
    environment: Environment<'_>,
) -> Result<Key, ProviderError> {
    let found = family
        .keys
        .iter()
        .find_map(|variable| key(variable, environment));
    found.unwrap_or_else(|| {
        let (model, variables) = (model.id.clone(), family.keys.join(" or "));
        Err(ProviderError::NoKey { model, variables })
    })
}

fn key(variable: &str, environment: Environment<'_>) -> Option<Result<Key, ProviderError>> {
    let value = set(variable, environment)?;
    let is_sendable = HeaderValue::from_str(&value).is_ok();
    let key = Key {
        variable: variable.to_owned(),
        value,
    };
    Some(if is_sendable {
        Ok(key)
    } else {
        Err(ProviderError::BadKey(variable.to_owned()))
    })
}

/// A variable with something in it.
fn set(variable: &str, environment: Environment<'_>) -> Option<String> {
    environment(variable)
        .map(|value| value.trim().to_owned())
        .filter(|value| !value.is_empty())
}
