//! `faults:` which calls fail, and how?

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
                "The tool, the server, or both, that the fault affects",
                |f| f.block(|block| read_target(block, &mut server_span)),
            );
            let kind = read_kind(block);
            let real = block.flag(
                "real",
                "Delay the call for its real time while recording, instead of in virtual time",
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
    let written = WrittenKind::read(block)?;
    let (name, number) = fault::split(&written.text);
    let entry = FaultEntry::injectable(name)
        .map_err(|error| written.refuse(block, error))
        .ok()?;
    written.refuse_idle_keys(block, entry, number.is_some());
    let number = number.map(str::to_owned).or_else(|| {
        written
            .separate_number(entry)
            .map(|number| number.to_string())
    });
    entry
        .numbered(number.as_deref())
        .map_err(|mut error| {
            if let (None, Some(key), Some(help)) = (&number, entry.number_key(), &mut error.help) {
                help.push_str(&format!(", or with `{key}:`"));
            }
            written.refuse(block, error);
        })
        .ok()
}

/// The kind of a fault, and the keys that may give its number.
struct WrittenKind {
    text: String,
    span: Span,
    delay_ms: Option<u64>,
    failures: Option<u64>,
}

impl WrittenKind {
    fn read(block: &mut Block<'_>) -> Option<Self> {
        let mut span = Span::default();
        let text = block.required("kind", "The fault, such as `hang` or `slow:500`", |f| {
            span = f.span();
            fault::written(f, FaultEntry::is_injectable)
        });
        let delay_ms = block.optional(
            "delay_ms",
            "The delay of a `slow` or `reply-after-cancel` call",
            |f| f.whole(0..=i64::MAX as u64),
        );
        let failures = block.optional(
            "failures",
            "The number of calls that fail before `recover-after` recovers",
            |f| f.whole(1..=i64::MAX as u64),
        );
        Some(Self {
            text: text?,
            span,
            delay_ms,
            failures,
        })
    }

    fn refuse(&self, block: &Block<'_>, error: FaultError) {
        block.report(Problem::from(error).at(self.span));
    }

    /// Refuses keys of other kinds, and a second number.
    fn refuse_idle_keys(&self, block: &Block<'_>, entry: &FaultEntry, has_number: bool) {
        for key in ["delay_ms", "failures"] {
            let Some(span) = block.key_span(key) else {
                continue;
            };
            if entry.number_key() != Some(key) {
                block.report(
                    Problem::error(format!("`{key}` does not apply to `{}`", entry.name))
                        .at(span)
                        .help(format!("remove `{key}`")),
                );
            } else if has_number {
                let message = format!(
                    "`{key}` is given already, after the colon of `{}`",
                    self.text
                );
                block.report(
                    Problem::error(message)
                        .at(span)
                        .also(self.span, "given here")
                        .help("remove one of them"),
                );
            }
        }
    }

    /// The number in a separate key.
    fn separate_number(&self, entry: &FaultEntry) -> Option<u64> {
        match entry.number_key() {
            Some("delay_ms") => self.delay_ms,
            Some(_) => self.failures,
            None => None,
        }
    }
}
