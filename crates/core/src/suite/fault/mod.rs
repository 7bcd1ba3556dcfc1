//! `faults:` which calls go wrong, and how.

mod kind;

pub(crate) use kind::{Effect, effect_of};
pub use kind::{FaultKind, FaultKindError};

use super::read::{Block, Field};
use crate::eval::some_of;
use crate::problem::{Problem, Span, nearest};
use crate::trace::{CatalogueTool, is_tool};

/// A named fault that agents can `inject:`.
#[derive(Debug, Clone)]
pub struct Fault {
    /// The name that `inject:` uses.
    pub name: String,
    /// The tool it hits; every tool of the server when left out.
    pub tool: Option<String>,
    /// The server it hits; any when left out.
    pub server: Option<String>,
    /// What goes wrong.
    pub kind: FaultKind,
    /// Whether a recorded call is held for its true length, instead of in virtual time.
    pub real: bool,
    /// Where it is written.
    pub span: Span,
    pub(super) server_span: Span,
}

/// A fault's tool that is nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownTool {
    /// What is wrong.
    pub message: String,
    /// The nearest tool, or the tools there are.
    pub help: String,
}

impl Fault {
    /// Whether the fault hits calls to this tool.
    pub fn hits(&self, tool: &CatalogueTool) -> bool {
        let server = tool.server.as_deref();
        let is_there =
            self.server.as_deref().is_none_or(|wanted| server.is_none_or(|server| server == wanted));
        is_there && self.tool.as_deref().is_none_or(|wanted| is_tool(wanted, &tool.name, server))
    }

    /// Why no tool of a catalogue is hit, when none is.
    pub fn unknown_tool(&self, catalogue: &[CatalogueTool]) -> Option<UnknownTool> {
        if catalogue.iter().any(|tool| self.hits(tool)) {
            return None;
        }
        let message = format!("no server has {}", self.target());
        let names = || catalogue.iter().map(|tool| tool.name.as_str());
        let bare = self.tool.as_deref().unwrap_or_default();
        let bare = bare.rsplit_once("__").map_or(bare, |(_, bare)| bare);
        let dotted = bare.rsplit_once('.').map_or(bare, |(_, bare)| bare);
        let help = match nearest(bare, names()).or_else(|| nearest(dotted, names())) {
            Some(near) => format!("did you mean `{near}`?"),
            None if catalogue.is_empty() => "the catalogue is empty".to_owned(),
            None => format!("the tools are {}", some_of(names())),
        };
        Some(UnknownTool { message, help })
    }

    /// What the fault hits, in words.
    pub fn target(&self) -> String {
        match (&self.tool, &self.server) {
            (Some(tool), Some(server)) => format!("the tool `{tool}` of `{server}`"),
            (Some(tool), None) => format!("the tool `{tool}`"),
            (None, Some(server)) => format!("the server `{server}`"),
            (None, None) => "every tool".to_owned(),
        }
    }

    pub(super) fn read(field: &mut Field<'_>) -> Option<Self> {
        let span = field.span();
        field
            .block(|block| {
                let name = block.required("name", "The name that `inject:` uses", |f| f.name());
                let mut server_span = span;
                let target =
                    block.required("target", "The tool, the server, or both, that the fault hits", |f| {
                        f.block(|block| read_target(block, &mut server_span))
                    });
                let kind = read_kind(block);
                let real = block.flag(
                    "real",
                    "Hold the call for its true length while recording, instead of in virtual time",
                    false,
                );
                let (tool, server) = target?;
                let span = block.key_span("name").unwrap_or(span);
                Some(Self { name: name?, tool, server, kind: kind?, real, span, server_span })
            })
            .flatten()
    }
}

impl FaultKind {
    /// A kind as it is written on the command line, as `slow:250`.
    pub(crate) fn read(field: &mut Field<'_>) -> Option<Self> {
        let written = field.string();
        field.amend_schema("examples", serde_json::json!(Self::names().collect::<Vec<_>>()));
        written?.parse().map_err(|error| field.report(problem(error))).ok()
    }
}

fn read_target(block: &mut Block<'_>, server_span: &mut Span) -> (Option<String>, Option<String>) {
    let tool = block.optional("tool", "The tool; every tool of the server when left out", |f| f.name());
    let server = block.optional("server", "The server; any when left out", |f| {
        *server_span = f.span();
        f.name()
    });
    if !block.has("tool") && !block.has("server") && !block.has_unknown() {
        block.report(Problem::error("a fault's target names a tool, a server, or both"));
    }
    (tool, server)
}

/// `kind: slow` with `delay_ms:`, or `kind: slow:250`.
fn read_kind(block: &mut Block<'_>) -> Option<FaultKind> {
    let mut at = Span::default();
    let kind = block.required(
        "kind",
        "What goes wrong: hang, wedged, slow, recover-after, error:<code>, …",
        |f| {
            at = f.span();
            let kind = f.string();
            f.amend_schema("examples", serde_json::json!(FaultKind::names().collect::<Vec<_>>()));
            kind
        },
    );
    let delay = block.optional("delay_ms", "How late a `slow` or `reply-after-cancel` call answers", |f| {
        f.whole(0..=i64::MAX as u64)
    });
    let failures = block.optional("failures", "How many calls fail before `recover-after` recovers", |f| {
        f.whole(1..=i64::MAX as u64)
    });
    let kind = kind?;
    let (name, number) = kind::split(&kind).map_err(|error| block.report(problem(error).at(at))).ok()?;
    let name = name.replace('_', "-");
    let (separate, own_key) = match name.as_str() {
        "slow" | "reply-after-cancel" => (delay, "delay_ms"),
        "recover-after" => (failures, "failures"),
        _ => (None, ""),
    };
    for key in ["delay_ms", "failures"] {
        let Some(span) = block.key_span(key) else { continue };
        if key != own_key {
            block.report(Problem::error(format!("`{key}` does not go with `{name}`")).at(span));
        } else if number.is_some() {
            let message = format!("`{key}` is given already, after the colon of `{kind}`");
            block.report(Problem::error(message).at(span).also(at, "given here").help("remove one of them"));
        }
    }
    let number = number.or(separate.and_then(|number| i64::try_from(number).ok()));
    FaultKind::of(&name, number)
        .map_err(|error| {
            let with_key = error.help.as_ref().filter(|_| number.is_none() && !own_key.is_empty());
            let help = with_key.map(|help| help.replace("? write", &format!("? add `{own_key}:` or write")));
            let help = help.or(error.help.clone());
            block.report(problem(FaultKindError { help, ..error }).at(at));
        })
        .ok()
}

fn problem(error: FaultKindError) -> Problem {
    let problem = Problem::error(error.message);
    match error.help {
        Some(help) => problem.help(help),
        None => problem,
    }
}
