//! What does one run of the user's own agent need, and what does it return?

use crate::{Distract, FaultPlan};
use mcptest_core::trace::{CatalogueTool, ConversationTrace};
use mcptest_mcp::client::ServerSpec;
use mcptest_process::StartError;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// The input of one run.
pub struct OwnSetup<'a> {
    /// The program and its arguments.
    pub command: &'a [String],
    /// Environment variables besides mcptest's own.
    pub env: &'a [(String, String)],
    /// The folder it starts in.
    pub cwd: Option<&'a Path>,
    /// The user's message.
    pub prompt: &'a str,
    /// The servers it can use.
    pub servers: Vec<ServerSpec>,
    /// The faults to inject.
    pub faults: FaultPlan,
    /// The distractors to offer, if any.
    pub distractors: Option<Distract<'a>>,
    /// The tools that are kept from it.
    pub hidden: Vec<String>,
    /// The time limit.
    pub time_budget: Duration,
    /// The mcptest program, which agents start to reach servers on stdio.
    pub program: &'a Path,
    /// Called with each tool call on arrival.
    pub on_call: OnCall,
}

/// A call of a tool that has arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallEvent {
    /// The server.
    pub server: String,
    /// The tool's bare name.
    pub tool: String,
}

/// An observer of the calls.
pub type OnCall = Arc<dyn Fn(CallEvent) + Send + Sync>;

/// The result of one run.
#[derive(Debug)]
pub struct OwnOutcome {
    /// The trace, before redaction.
    pub trace: ConversationTrace,
    /// The offered tools. Injected ones are marked.
    pub catalogue: Vec<CatalogueTool>,
    /// The model that the agent reported.
    pub model: Option<String>,
    /// The end of its standard error.
    pub stderr: String,
}

/// The reason why a run could not begin. Mistakes of the agent are in its trace instead.
#[derive(Debug, Error)]
pub enum OwnError {
    /// No folder for the agent's files could be created.
    #[error("cannot create a folder for the agent's files: {0}; is the disk full?")]
    Folder(std::io::Error),
    /// The configuration could not be written.
    #[error("cannot write the list of servers for the agent: {0}; is the disk full?")]
    Config(std::io::Error),
    /// The program was not found or cannot be run.
    #[error("the agent cannot be started: {0}")]
    Start(#[from] StartError),
    /// No port could be had.
    #[error("cannot listen on 127.0.0.1 for server {server:?}: {reason}")]
    Listen {
        /// The server.
        server: String,
        /// The system's message.
        reason: String,
    },
}
