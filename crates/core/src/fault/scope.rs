//! Which requests does a fault touch?

use super::FaultKind;
use crate::problem::{Problem, nearest};
use crate::trace::{CatalogueTool, is_tool};
use crate::words::some_of;
use std::fmt;

/// The requests to a server that a fault affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FaultScope {
    /// `tools/call` alone: the handshake and lists stay healthy.
    #[default]
    Tools,
    /// Every request.
    All,
}

impl FaultScope {
    /// Every scope, with its word and its meaning.
    pub const WORDS: [(&'static str, Self, &'static str); 2] = [
        (
            "tools",
            Self::Tools,
            "`tools/call`; the handshake and the lists stay healthy",
        ),
        ("all", Self::All, "Every request"),
    ];
}

/// A fault of a server and its scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScopedFault {
    /// The fault.
    pub kind: FaultKind,
    /// The requests that it affects.
    pub scope: FaultScope,
}

/// The calls of an agent that a fault affects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultTarget {
    /// The tool, in any spelling. If omitted, every tool of the server.
    pub tool: Option<String>,
    /// The server [default: any].
    pub server: Option<String>,
}

impl FaultTarget {
    /// Returns true if calls to this tool are affected. An unknown server may be any server.
    pub fn hits(&self, tool: &str, server: Option<&str>) -> bool {
        let is_there = self
            .server
            .as_deref()
            .is_none_or(|wanted| server.is_none_or(|server| server == wanted));
        is_there
            && self
                .tool
                .as_deref()
                .is_none_or(|wanted| is_tool(wanted, tool, server))
    }

    /// Why no tool of a catalogue is affected, if so.
    pub fn unknown_tool(&self, catalogue: &[CatalogueTool]) -> Option<Problem> {
        if catalogue
            .iter()
            .any(|tool| self.hits(&tool.name, tool.server.as_deref()))
        {
            return None;
        }
        let names = || catalogue.iter().map(|tool| tool.name.as_str());
        let bare = self.tool.as_deref().unwrap_or_default();
        let bare = bare.rsplit_once("__").map_or(bare, |(_, bare)| bare);
        let dotted = bare.rsplit_once('.').map_or(bare, |(_, bare)| bare);
        let help = match nearest(bare, names()).or_else(|| nearest(dotted, names())) {
            Some(near) => format!("did you mean `{near}`?"),
            None if catalogue.is_empty() => "the catalogue is empty".to_owned(),
            None => format!("the tools are {}", some_of(names())),
        };
        Some(Problem::error(format!("no server has {self}")).help(help))
    }
}

impl fmt::Display for FaultTarget {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.tool, &self.server) {
            (Some(tool), Some(server)) => write!(out, "the tool `{tool}` of `{server}`"),
            (Some(tool), None) => write!(out, "the tool `{tool}`"),
            (None, Some(server)) => write!(out, "the server `{server}`"),
            (None, None) => out.write_str("every tool"),
        }
    }
}
