//! Which header would a recording made now have?

use crate::conditions::conditions_of;
use crate::secrets::{without_secret_names, without_tokens};
use mcptest_core::digest::{digest, digest_of_value};
use mcptest_core::row::AgentRow;
use mcptest_core::suite::{Agent, Server, Suite};
use mcptest_core::tool_schema::Offer;
use mcptest_core::trace::{CatalogueTool, Header};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The header of a recording made now.
pub fn expected_header(of: AgentRow<'_>) -> Header {
    let agent = of.agent;
    let parameters = agent.parameters_of(of.model);
    let servers = server_entries(of);
    Header {
        model: of.model_label(),
        prompt: agent
            .turns
            .iter()
            .map(|turn| without_tokens(&turn.template))
            .collect(),
        system_prompt: agent
            .system_prompt
            .as_ref()
            .map(|text| without_tokens(&text.template)),
        parameters: without_secret_names(&parameters).unwrap_or(parameters),
        conditions: Some(conditions_of(of)),
        variables: digests_of_variables(agent),
        files: agent
            .own
            .as_ref()
            .map(|own| own.digests.clone())
            .unwrap_or_default(),
        servers: without_secret_names(&servers).unwrap_or(servers),
        catalogue: offered_tools(of),
        ..Header::new(&agent.name)
    }
}

/// The tools in the form for the model's provider, if they are known offline.
fn offered_tools(of: AgentRow<'_>) -> Option<Vec<CatalogueTool>> {
    let mut offered = of.suite.known_catalogue(of.agent)?;
    offered.extend(of.agent.injected_tools(of.variant, &offered));
    let family = of.model.and_then(|model| of.suite.family_of(model));
    Some(match family {
        Some(family) => Offer::new(offered, family, of.agent.tool_schemas()).catalogue,
        None => offered,
    })
}

fn digests_of_variables(agent: &Agent) -> BTreeMap<String, String> {
    let texts = agent.turns.iter().chain(&agent.system_prompt);
    texts
        .flat_map(|text| &text.variables)
        .map(|(name, value)| (name.clone(), digest(value.as_bytes())))
        .collect()
}

/// The entries of the agent's servers. The entry of a mock has a digest of the world in which the agent acts.
fn server_entries(of: AgentRow<'_>) -> BTreeMap<String, Map<String, Value>> {
    let world = of
        .suite
        .world_of(of.agent)
        .map(|world| digest_of_value(world.written()));
    let entry = |name: &String| {
        let mut entry = entry_of(of.suite, name);
        let is_mock = of.suite.servers.get(name).is_some_and(Server::is_mock);
        if let Some(world) = world.as_ref().filter(|_| is_mock) {
            entry.insert("world".to_owned(), world.as_str().into());
        }
        (name.clone(), entry)
    };
    of.agent.servers.iter().map(entry).collect()
}

/// The entry of a server in a recording: its entry in the suite and, for a mock, a digest of its manifest. The digest
/// covers the mock's answers, so a changed manifest makes a recording stale. It ignores comments.
pub(crate) fn entry_of(suite: &Suite, name: &str) -> Map<String, Value> {
    let mut entry = suite
        .servers
        .get(name)
        .map(Server::template)
        .unwrap_or_default();
    entry.extend(
        suite
            .manifest_digest(name)
            .map(|digest| ("manifest".to_owned(), digest.into())),
    );
    entry
}
