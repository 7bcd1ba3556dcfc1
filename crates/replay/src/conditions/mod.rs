//! Which conditions affect a run besides the agent, its model and its servers: the provider,
//! injected faults, and the commands before and after each run?

use crate::cassette::Cassette;
use crate::secrets::{without_secret_names, without_tokens};
use mcptest_core::row::AgentRow;
use mcptest_core::suite::{Fault, Provider};
use mcptest_core::trace::Header;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const PROVIDER: &str = "provider";
const INJECT: &str = "inject";
const SETUP: &str = "setup";
const TEARDOWN: &str = "teardown";

/// The conditions of a recording made now. Keys that the suite does not write have no entry.
pub(crate) fn conditions_of(of: AgentRow<'_>) -> BTreeMap<String, Value> {
    let agent = of.agent;
    let named = of.model.and_then(|model| model.provider.as_ref());
    let provider = named.and_then(|name| of.suite.providers.get(name));
    let faults: Map<String, Value> = agent
        .injected(&of.suite.faults)
        .map(|fault| (fault.name.clone(), fault_entry(fault)))
        .collect();
    let command = |words: &Option<Vec<String>>| {
        let words = words.as_ref()?;
        let words = words
            .iter()
            .map(|word| without_tokens(&agent.scope.template(word)));
        Some(Value::from(words.collect::<Vec<_>>()))
    };
    let all = [
        (PROVIDER, provider.map(provider_entry)),
        (
            INJECT,
            (!faults.is_empty()).then_some(Value::Object(faults)),
        ),
        (SETUP, command(&agent.setup)),
        (TEARDOWN, command(&agent.teardown)),
    ];
    let written = all.into_iter();
    let written = written.filter_map(|(key, value)| Some((key.to_owned(), value?)));
    let conditions: BTreeMap<String, Value> = written.collect();
    without_secret_names(&conditions).unwrap_or(conditions)
}

/// Its dialect and its address; the address as a template, so that it differs between machines without a change.
fn provider_entry(provider: &Provider) -> Value {
    let mut entry = json!({ "type": provider.kind });
    if let Some(address) = &provider.base_url {
        entry["base_url"] = without_tokens(&provider.scope.template(address)).into();
    }
    if provider.echo_reasoning {
        entry["echo_reasoning"] = true.into();
    }
    entry
}

fn fault_entry(fault: &Fault) -> Value {
    let mut entry = json!({ "kind": fault.kind.to_string() });
    if let Some(server) = &fault.target.server {
        entry["server"] = server.as_str().into();
    }
    if let Some(tool) = &fault.target.tool {
        entry["tool"] = tool.as_str().into();
    }
    if fault.real {
        entry["real"] = true.into();
    }
    entry
}

/// A note on conditions of the suite that an older recording could not contain.
pub(crate) fn unknown_conditions(
    path: &Path,
    cassette: &Cassette<'_>,
    expected: &Header,
) -> Option<String> {
    let recorded = cassette.header.as_ref()?;
    let written = expected.conditions.as_ref()?;
    let is_unknown = recorded.fingerprint.is_some() && recorded.conditions.is_none();
    if !is_unknown || written.is_empty() {
        return None;
    }
    let keys: Vec<String> = written.keys().map(|key| format!("`{key}`")).collect();
    let path = path.display();
    Some(format!(
        "{path} does not record the {} used, so mcptest does not compare them; record it again to \
        compare them",
        keys.join(", ")
    ))
}

/// Faults in such a recording's runs that the suite does not inject, one line each.
pub(crate) fn removed_faults(of: AgentRow<'_>, cassette: &Cassette<'_>) -> Vec<String> {
    let Some(header) = &cassette.header else {
        return Vec::new();
    };
    if header.fingerprint.is_none() || header.conditions.is_some() {
        return Vec::new();
    }
    let traces = cassette
        .runs
        .iter()
        .filter_map(|run| run.trace.as_ref().ok());
    let met: BTreeSet<&str> = traces
        .flat_map(|trace| trace.faults.iter().flatten())
        .map(|fault| &*fault.name)
        .collect();
    met.into_iter()
        .filter(|name| !of.agent.inject.iter().any(|injected| injected == name))
        .map(|name| {
            format!("inject: the runs were recorded with `{name}`, which is no longer injected")
        })
        .collect()
}

/// A note if a recording names a different model than its row, and no fingerprint compares them.
pub(crate) fn other_model(
    of: AgentRow<'_>,
    path: &Path,
    cassette: &Cassette<'_>,
) -> Option<String> {
    let header = cassette
        .header
        .as_ref()
        .filter(|header| header.fingerprint.is_none())?;
    let (recorded, judged) = (header.model.as_deref()?, of.model?);
    let label = judged.label();
    if is_same_model(recorded, &judged.id) || recorded == label {
        return None;
    }
    let path = path.display();
    Some(format!(
        "{path} was recorded with the model `{recorded}`, but is judged as `{label}`"
    ))
}

/// Returns true for the requested model or its dated name, which providers answer with.
fn is_same_model(recorded: &str, asked: &str) -> bool {
    let bare = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
    let (recorded, asked) = (bare(recorded), bare(asked));
    let Some(rest) = recorded.strip_prefix(&asked) else {
        return false;
    };
    rest.is_empty()
        || rest.strip_prefix(['-', '@']).is_some_and(|date| {
            date.len() >= 4 && date.chars().all(|c| c.is_ascii_digit() || c == '-')
        })
}

#[cfg(test)]
mod tests;
