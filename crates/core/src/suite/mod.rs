//! Text becomes a suite: typed, every block parsed by its gate, every target known.

mod agent;
mod fault;
mod imports;
mod load;
mod manifest;
mod names;
mod options;
pub(crate) mod read;
mod schema;
mod server;
mod tool_test;
pub(crate) mod variables;

pub use agent::{Agent, CassettePath, Model};
pub(crate) use fault::{Effect, effect_of};
pub use fault::{Fault, FaultKind, FaultKindError};
pub use load::{Host, Loaded, load};
pub use manifest::{tools_of, yaml_to_json};
pub use options::{Budget, RunOptions, Stale};
pub use schema::json_schema;
pub use server::{Endpoint, Era, HeaderValue, Provider, Server};
pub use tool_test::ToolTest;
pub use variables::{Text, fill};

use crate::trace::CatalogueTool;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A suite file with its imports.
#[derive(Debug)]
pub struct Suite {
    /// The file, as it was named.
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
    /// What recording may spend.
    pub budget: Budget,
    /// How the suite is run.
    pub run_options: RunOptions,
}

impl Suite {
    fn from_parts(path: &Path, parts: load::Parts) -> Self {
        Self {
            path: path.to_owned(),
            servers: parts.servers.into_iter().map(|(name, (_, server))| (name, server)).collect(),
            providers: parts.providers.into_iter().map(|(name, (_, provider))| (name, provider)).collect(),
            faults: parts.faults,
            agents: parts.agents,
            tools: parts.tools,
            budget: parts.budget.unwrap_or_default(),
            run_options: parts.run_options.unwrap_or_default(),
        }
    }

    /// The agent's tools, where every one of its servers says so without being started.
    pub fn known_catalogue(&self, agent: &Agent, host: &Host<'_>) -> Option<Vec<CatalogueTool>> {
        let mut catalogue = Vec::new();
        for name in &agent.servers {
            let Endpoint::Mock(manifest) = &self.servers.get(name)?.endpoint else { return None };
            let bytes = (host.read)(&self.folder().join(manifest)).ok()?;
            let tools = tools_of(&String::from_utf8(bytes).ok()?).ok()?;
            catalogue
                .extend(tools.into_iter().map(|tool| CatalogueTool { server: Some(name.clone()), ..tool }));
        }
        (!agent.servers.is_empty()).then_some(catalogue)
    }

    /// The folder that paths in the suite are relative to.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}

/// Whether a YAML text looks like a suite: it has a top-level `servers:` or `agents:`, or a slip of one.
pub fn is_suite(text: &str) -> bool {
    const KEYS: [&str; 2] = ["servers", "agents"];
    text.lines().any(|line| {
        let line = line.trim_start_matches('\u{feff}');
        let Some((key, _)) = line.split_once(':') else { return false };
        let key = key.trim_end();
        KEYS.contains(&key) || (!key.starts_with('#') && crate::problem::nearest(key, KEYS).is_some())
    })
}
