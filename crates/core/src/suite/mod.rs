//! How does text become a suite? Typed, with every block parsed by its gate and every target
//! checked.

mod agent;
mod deferred;
mod each;
pub(crate) mod evals;
mod fault;
mod gate_files;
mod graded;
mod imports;
mod load;
mod local_model;
mod names;
mod options;
mod own_files;
#[doc(hidden)]
pub mod read;
mod recognize;
mod redact;
mod responses;
mod scenarios;
mod schema;
mod secrets;
mod server;
mod tool_outcome;
mod tool_test;
pub(crate) mod variables;

pub use agent::{
    Agent, CassettePath, Filled, Graded, Model, OverrideError, OwnAgent, ToolSchemas, Variant,
};
pub use fault::Fault;
pub use load::{
    Host, ListFiles, Loaded, ReadFile, ReadMock, RefusedSuite, load, load_for_traces,
    load_to_capture, load_traces_to_capture,
};
pub use options::{Budget, RunOptions, Stale};
pub use read::parse_duration_ms as duration_ms;
pub use recognize::is_suite;
pub use redact::RedactPattern;
pub use responses::{Answer, Response, Responses, Script};
pub use schema::{json_schema, yaml_to_json};
pub use server::{
    Endpoint, HeaderValue, Provider, Server, check_header_name, check_header_value,
    check_variable_name,
};
pub use tool_outcome::{ToolOutcome, output_faults};
pub use tool_test::ToolTest;
pub use variables::{Environment, Scope, Text, Unset};

use crate::engine::Gates;
use crate::grade::{JudgeDefaults, Question};
use crate::problem::Problem;
use crate::trace::{CatalogueTool, ServerNames};
use crate::world::World;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A suite file with its imports.
///
/// ```
/// use mcptest_core::{Host, load};
/// use std::path::Path;
///
/// let text = "
/// agents:
///   - name: forecast
///     model: gpt-5
///     prompt: Will it rain in Oslo?
///     golden_path: { calls: [get_weather] }
/// ";
/// let read = |_: &Path| Ok(text.as_bytes().to_vec());
/// let suite = load(Path::new("weather.yml"), &Host::new(&read, &|_| None)).into_result()?;
/// assert_eq!(suite.agents[0].name, "forecast");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Suite {
    /// The file, in the user's spelling.
    pub path: PathBuf,
    /// MCP servers by name.
    pub servers: BTreeMap<String, Server>,
    /// Model providers by name.
    pub providers: BTreeMap<String, Provider>,
    /// Faults that agents can inject.
    pub faults: Vec<Fault>,
    /// The agents under test, in the order of the file.
    pub agents: Vec<Agent>,
    /// Direct tool tests, in the order of the file.
    pub tools: Vec<ToolTest>,
    /// The default judge.
    pub judge: Option<JudgeDefaults>,
    /// Programs that compute numbers for each run of each agent.
    pub scorers: Vec<Question>,
    /// The limits for recording.
    pub budget: Budget,
    /// The options for running the suite.
    pub run_options: RunOptions,
    /// The text to remove everywhere, besides universal secrets.
    pub redact: Vec<RedactPattern>,
    /// The gates that its blocks may use.
    pub gates: Gates,
    named: BTreeSet<String>,
    /// The names of the servers, as recorded names of tools contain them.
    pub(crate) server_names: ServerNames,
    /// The tools of the mocks, by the names of their servers.
    mocks: BTreeMap<String, KnownMock>,
    /// The worlds, by the names of the agents that act in them.
    worlds: BTreeMap<String, Arc<World>>,
}

/// The facts about a mock that are known without starting it.
#[derive(Debug)]
struct KnownMock {
    tools: Vec<CatalogueTool>,
    /// A digest of its manifest without comments.
    digest: String,
}

impl KnownMock {
    /// The same with this server's name in its tools.
    fn for_server(&self, name: &str) -> Self {
        let tools = self.tools.iter().map(|tool| CatalogueTool {
            server: Some(name.to_owned()),
            ..tool.clone()
        });
        Self {
            tools: tools.collect(),
            digest: self.digest.clone(),
        }
    }
}

impl Suite {
    fn from_parts(
        path: &Path,
        parts: load::Parts,
        mocks: BTreeMap<String, KnownMock>,
        gates: Gates,
    ) -> Self {
        let declared = parts.servers.iter().map(|server| server.name.as_str());
        Self {
            path: path.to_owned(),
            server_names: ServerNames::new(declared),
            servers: parts
                .servers
                .into_iter()
                .map(|server| (server.name, server.item))
                .collect(),
            providers: parts
                .providers
                .into_iter()
                .map(|provider| (provider.name, provider.item))
                .collect(),
            faults: parts.faults,
            worlds: scenarios::worlds(&parts.agents),
            agents: parts.agents,
            tools: parts.tools,
            judge: parts.judge,
            scorers: parts
                .scorers
                .into_iter()
                .map(|scorer| scorer.item)
                .collect(),
            budget: parts.budget.unwrap_or_default(),
            run_options: parts.run_options.unwrap_or_default(),
            redact: parts.redact,
            gates,
            named: parts.named,
            mocks,
        }
    }

    /// The problems of the agents' gates that are known without running anything.
    pub fn lint(&self) -> Vec<Problem> {
        let lint = |agent: &Agent| agent.lint(self.known_catalogue(agent).as_deref(), &self.faults);
        let shared = self
            .agents
            .iter()
            .filter_map(|agent| self.unshareable(agent));
        let refused = self
            .agents
            .iter()
            .flat_map(|agent| self.refused_parameters(agent));
        self.agents
            .iter()
            .flat_map(lint)
            .chain(shared)
            .chain(refused)
            .collect()
    }

    /// The problem of a shared server for a user's own program, which starts its servers itself,
    /// behind proxies of its run.
    fn unshareable(&self, agent: &Agent) -> Option<Problem> {
        let is_shared =
            |name: &&String| self.servers.get(*name).is_some_and(|server| server.shared);
        let name = agent
            .own
            .as_ref()
            .and_then(|_| agent.servers.iter().find(is_shared))?;
        let message =
            format!("`{name}` cannot be shared: each run of an agent program gets its own servers");
        let help =
            "remove `shared: true` from the server, or give the agent a server that is not shared";
        Some(Problem::error(message).at(agent.span).help(help))
    }

    /// The agent's tools, if mcptest knows them without starting its servers.
    pub fn known_catalogue(&self, agent: &Agent) -> Option<Vec<CatalogueTool>> {
        let known = agent.servers.iter().map(|name| self.mocked_tools(name));
        let catalogues: Vec<&[CatalogueTool]> = known.collect::<Option<_>>()?;
        (!catalogues.is_empty()).then(|| catalogues.concat())
    }

    /// The tools of the mock of this name.
    pub(crate) fn mocked_tools(&self, server: &str) -> Option<&[CatalogueTool]> {
        self.mocks.get(server).map(|mock| &mock.tools[..])
    }

    /// The world that the mocks of an agent act on while it is recorded.
    pub fn world_of<'s>(&'s self, agent: &'s Agent) -> Option<&'s Arc<World>> {
        agent.world().or_else(|| self.worlds.get(&agent.name))
    }

    /// A digest of the manifest of the mock of this name, as read with the suite. Comments do not count.
    pub fn manifest_digest(&self, server: &str) -> Option<&str> {
        self.mocks.get(server).map(|mock| mock.digest.as_str())
    }

    /// The folder that paths in the suite are relative to.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}
