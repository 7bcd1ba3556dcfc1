//! `faults:` which calls go wrong, and how.

use super::read::{Block, Field};
use crate::problem::{Problem, Span};

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
    pub(crate) span: Span,
    pub(super) server_span: Span,
}

/// What goes wrong in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// Nothing.
    None,
    /// The call never returns.
    Hang,
    /// The call never returns, for another reason.
    Wedged,
    /// The call returns late.
    Slow {
        /// How late.
        delay_ms: u64,
    },
    /// The first calls never return, later ones do.
    RecoverAfter {
        /// How many fail first.
        failures: u64,
    },
    /// The call answers even after it was cancelled.
    ReplyAfterCancel {
        /// How late.
        delay_ms: u64,
    },
    /// The call gets a JSON-RPC error.
    Error {
        /// Its code.
        code: i64,
    },
    /// More than this many calls a second are refused.
    RateLimit {
        /// Calls a second.
        per_second: u64,
    },
    /// The answer is not JSON-RPC.
    Malformed,
    /// The connection is closed.
    Disconnect,
    /// The tool runs, its answer is lost.
    LostResponse,
}

const KINDS: &[&str] = &[
    "none",
    "hang",
    "wedged",
    "slow",
    "recover-after",
    "reply-after-cancel",
    "error",
    "rate-limit",
    "malformed",
    "disconnect",
    "lost-response",
];

impl Fault {
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
                let (tool, server) = target?;
                let span = block.key_span("name").unwrap_or(span);
                Some(Self { name: name?, tool, server, kind: kind?, span, server_span })
            })
            .flatten()
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
            f.amend_schema("examples", serde_json::json!(KINDS));
            kind
        },
    );
    let delay = block.optional("delay_ms", "How late a `slow` or `reply-after-cancel` call answers", |f| {
        f.whole(0..=u64::MAX)
    });
    let failures = block.optional("failures", "How many calls fail before `recover-after` recovers", |f| {
        f.whole(1..=u64::MAX)
    });
    let kind = kind?;
    let (name, value) =
        kind.split_once(':').map_or((kind.as_str(), None), |(name, value)| (name, Some(value)));
    let name = name.replace('_', "-");
    let number = value.map(str::parse::<i64>);
    if let Some(Err(_)) = number {
        block.report(Problem::error(format!("`{kind}`: expected a number after the colon")).at(at));
        return None;
    }
    let number = number.and_then(Result::ok);
    let (read, extra) = match name.as_str() {
        "slow" | "reply-after-cancel" => (delay, "delay_ms"),
        "recover-after" => (failures, "failures"),
        _ => (None, ""),
    };
    for key in ["delay_ms", "failures"] {
        if let Some(span) = block.key_span(key).filter(|_| key != extra) {
            block.report(Problem::error(format!("`{key}` does not go with `{name}`")).at(span));
        }
    }
    let needed = number.and_then(|number| u64::try_from(number).ok()).or(read);
    let parsed = match (name.as_str(), needed, number) {
        ("none", _, None) => Ok(FaultKind::None),
        ("hang", _, None) => Ok(FaultKind::Hang),
        ("wedged", _, None) => Ok(FaultKind::Wedged),
        ("malformed", _, None) => Ok(FaultKind::Malformed),
        ("disconnect", _, None) => Ok(FaultKind::Disconnect),
        ("lost-response", _, None) => Ok(FaultKind::LostResponse),
        ("slow", Some(delay_ms), _) => Ok(FaultKind::Slow { delay_ms }),
        ("reply-after-cancel", Some(delay_ms), _) => Ok(FaultKind::ReplyAfterCancel { delay_ms }),
        ("recover-after", Some(failures), _) if failures > 0 => Ok(FaultKind::RecoverAfter { failures }),
        ("error", _, Some(code)) => Ok(FaultKind::Error { code }),
        ("rate-limit", Some(per_second), _) => Ok(FaultKind::RateLimit { per_second }),
        ("slow" | "reply-after-cancel", ..) => Err("how late? add `delay_ms:` or write `slow:250`"),
        ("recover-after", ..) => Err("after how many failures? add `failures:` or write `recover-after:2`"),
        ("error", ..) => Err("which code? write `error:-32603`"),
        ("rate-limit", ..) => Err("how many calls a second? write `rate-limit:2`"),
        _ => Err(""),
    };
    parsed.map_err(|help| block.report(kind_problem(&kind, &name, help).at(at))).ok()
}

fn kind_problem(kind: &str, name: &str, help: &str) -> Problem {
    if !help.is_empty() {
        return Problem::error(format!("`{kind}` is missing its number")).help(help);
    }
    if KINDS.contains(&name) {
        return Problem::error(format!("`{name}` takes no number"));
    }
    let problem = Problem::error(format!("`{kind}` is not a kind of fault"));
    match crate::problem::nearest(name, KINDS.iter().copied()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help(format!("the kinds are {}", KINDS.join(", "))),
    }
}
