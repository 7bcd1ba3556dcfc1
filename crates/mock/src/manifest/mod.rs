//! A mock server's manifest: what it offers, and how it answers calls. No transport, clock or
//! files.

mod answer;
mod ask;
mod completion;
mod condition;
mod content;
mod context;
mod faults;
mod fields;
mod form;
mod json;
mod listed;
mod load;
mod notice;
mod operation;
mod path;
mod prompt;
mod records;
mod resource;
mod response;
mod saved;
mod schema;
mod scope;
mod state;
mod store;
mod template;
#[cfg(test)]
mod tests;
mod tool;
mod uri_template;

pub use answer::{Answer, Inputs, Replied, ToolReply};
pub use ask::{Ask, AskKind, AskRequest, Asks, Declared};
pub use load::{Loaded, catalogue, json_schema, load, load_text};
pub use notice::{LogLevel, Notice, NoticeKind, ServerChange};
pub use prompt::Prompt;
pub use resource::{FoundResource, Resource};
pub use state::{InWorld, State};
pub use tool::Tool;

use mcptest_core::fault::ScopedFault;
use mcptest_core::trace::CatalogueTool;
use mcptest_mcp::jsonrpc::RpcResult;
use std::collections::HashMap;
use std::sync::Arc;

/// A mock server, ready to answer.
#[derive(Debug, Default)]
pub struct Manifest {
    /// The server's name.
    pub name: String,
    /// The server's version.
    pub version: String,
    /// The server's display name.
    pub title: Option<String>,
    /// The instructions for a model.
    pub instructions: Option<String>,
    /// The tools, in the order of the file.
    pub tools: Vec<Tool>,
    /// The resources, in the order of the file.
    pub resources: Vec<Resource>,
    /// The templates of resources, in the order of the file.
    pub resource_templates: Vec<Resource>,
    /// The prompts, in the order of the file.
    pub prompts: Vec<Prompt>,
    /// The time that a client may keep lists and resources.
    pub cache: Cache,
    /// The number of entries on one page of a list.
    pub page_size: Option<usize>,
    /// The faults to inject.
    pub faults: Vec<ScopedFault>,
    completions: completion::Completions,
    sequences: usize,
    store: Vec<Arc<store::Collection>>,
    tools_by_name: HashMap<String, usize>,
}

/// The time that a client may keep an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cache {
    /// `ttlMs`.
    pub ttl_ms: u64,
    /// `cacheScope`: whether other users may receive it too.
    pub is_public: bool,
}

impl Manifest {
    /// The tool of this name, or the error for an unknown tool.
    pub fn tool(&self, name: &str) -> RpcResult<&Tool> {
        self.tools_by_name
            .get(name)
            .and_then(|at| self.tools.get(*at))
            .ok_or_else(|| {
                answer::unknown(
                    "tool",
                    name,
                    self.tools.iter().map(|tool| tool.name.as_str()),
                )
            })
    }

    /// Returns true if it has completable arguments.
    pub fn has_completions(&self) -> bool {
        !self.prompts.is_empty() || !self.resource_templates.is_empty()
    }

    /// The tools for the catalogue of a recording.
    pub fn catalogue(&self) -> Vec<CatalogueTool> {
        self.tools.iter().map(Tool::to_catalogue).collect()
    }
}
