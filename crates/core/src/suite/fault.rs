//! `faults:` which calls go wrong, and how.

use super::read::{Block, Field};
use crate::fault::{self, FaultEntry, FaultError, FaultKind, FaultTarget};
use crate::problem::{Problem, Span};

/// A named fault that agents can `inject:`.
#[derive(Debug, Clone)]
pub struct Fault {
    /// The name that `inject:` uses.
    pub name: String,
    /// The tool, the server, or both, that it hits.
    pub target: FaultTarget,
    /// The fault.
    pub kind: FaultKind,
    /// True if a recorded call takes real time instead of virtual time.
    pub real: bool,
    /// Its place.
    pub span: Span,
    pub(super) server_span: Span,
}

impl Fault {
    pub(super) fn read(field: &mut Field<'_>) -> Option<Self> {
        let span = field.span();
        field.try_block(|block| {
            let name = block.required("name", "The name that `inject:` uses", |f| f.name());
            let mut server_span = span;
            let target = block.required(
                "target",
                "The tool, the server, or both, that the fault hits",
                |f| f.block(|block| read_target(block, &mut server_span)),
            );
            let kind = read_kind(block);
            let real = block.flag(
                "real",
                "Hold the call for its true length while recording, instead of in virtual time",
                false,
            );
            let span = block.key_span("name").unwrap_or(span);
            Some(Self {
                name: name?,
                target: target?,
                kind: kind?,
                real,
                span,
                server_span,
            })
        })
    }
}

fn read_target(block: &mut Block<'_>, server_span: &mut Span) -> FaultTarget {
    let tool = block.optional(
        "tool",
        "The tool [default: every tool of the server]",
        |f| f.name(),
    );
    let server = block.optional("server", "The server [default: any]", |f| {
        *server_span = f.span();
        f.name()
    });
    if !block.has("tool") && !block.has("server") && !block.has_unknown() {
        block.report(Problem::error(
            "a fault's target names a tool, a server, or both",
        ));
    }
    FaultTarget { tool, server }
}

/// `kind: slow` with `delay_ms:`, or `kind: slow:250`.
fn read_kind(block: &mut Block<'_>) -> Option<FaultKind> {
    let mut at = Span::default();
    let kind = block.required("kind", "The fault, such as `hang` or `slow:500`", |f| {
        at = f.span();
        fault::written(f, FaultEntry::is_injectable)
    });
    let delay = block.optional(
        "delay_ms",
        "The delay of a `slow` or `reply-after-cancel` call",
        |f| f.whole(0..=i64::MAX as u64),
    );
    let failures = block.optional(
        "failures",
        "The number of calls that fail before `recover-after` recovers",
        |f| f.whole(1..=i64::MAX as u64),
    );
    let kind = kind?;
    let (name, number) = fault::split(&kind);
    let refuse = |block: &Block<'_>, error: FaultError| block.report(Problem::from(error).at(at));
    let entry = FaultEntry::injectable(name)
        .map_err(|error| refuse(block, error))
        .ok()?;
    let own_key = entry.number_key();
    for key in ["delay_ms", "failures"] {
        let Some(span) = block.key_span(key) else {
            continue;
        };
        if own_key != Some(key) {
            block.report(
                Problem::error(format!("`{key}` does not go with `{}`", entry.name)).at(span),
            );
        } else if number.is_some() {
            let message = format!("`{key}` is given already, after the colon of `{kind}`");
            block.report(
                Problem::error(message)
                    .at(span)
                    .also(at, "given here")
                    .help("remove one of them"),
            );
        }
    }
    let separate = match own_key {
        Some("delay_ms") => delay,
        Some(_) => failures,
        None => None,
    };
    let number = number
        .map(str::to_owned)
        .or(separate.map(|number| number.to_string()));
    let fault = entry.numbered(number.as_deref());
    fault
        .map_err(|mut error| {
            if let (None, Some(key), Some(help)) = (&number, own_key, &mut error.help) {
                help.push_str(&format!(", or with `{key}:`"));
            }
            refuse(block, error);
        })
        .ok()
}
