//! What must not be written into the recording of a tool test?

use super::recording::Header;
use mcptest_core::redact::Redactor;
use mcptest_core::suite::{Endpoint, Environment, HeaderValue, Server};

/// The header without what looks like a secret, and without texts that the entry gives its server as they are.
///
/// Values of the environment play no part: a recording must not be stale where they are not set.
pub(crate) fn without_literals(header: Header, server: Option<&Server>) -> Header {
    let mut builder = Redactor::builder();
    for (name, value) in server.into_iter().flat_map(|server| &server.env) {
        if !value.contains("${") {
            builder = builder.value(name, value);
        }
    }
    let Ok(redactor) = builder.build() else { return header };
    let text = serde_json::to_string(&header).unwrap_or_default();
    serde_json::from_str(&redactor.json(&text)).unwrap_or(header)
}

/// Takes out everything that the environment gave to this server, and what its entry gives it as it is.
pub(crate) fn redactor_of(server: &Server, environment: Environment<'_>) -> Option<Redactor> {
    let mut builder = Redactor::builder();
    let mut texts: Vec<&str> = Vec::new();
    match &server.endpoint {
        Endpoint::Command(words) => texts.extend(words.iter().map(String::as_str)),
        Endpoint::Url(text) | Endpoint::Mock(text) => texts.push(text),
    }
    for (name, value) in &server.env {
        texts.push(value);
        builder = builder.value(name, &server.fill(value, environment).unwrap_or_default());
    }
    let mut names: Vec<String> = server.bearer_token_env.iter().cloned().collect();
    for (_, value) in &server.headers {
        match value {
            HeaderValue::Literal(text) => texts.push(text),
            HeaderValue::Env(name) => names.push(name.clone()),
        }
    }
    names.extend(texts.into_iter().flat_map(|text| server.scope.names_in(text)));
    for name in names {
        builder = builder.value(&name, environment(&name).unwrap_or_default().trim());
    }
    builder.build().ok()
}
