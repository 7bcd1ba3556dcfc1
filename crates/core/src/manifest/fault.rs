//! `fault:` what goes wrong, and with which requests?

use super::wire_fault::WireFault;
use crate::problem::Problem;
use crate::suite::read::Field;
use serde_json::json;

/// A fault and what it touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScopedFault {
    /// What goes wrong.
    pub kind: WireFault,
    /// Which requests it touches.
    pub scope: FaultScope,
}

/// Which requests a fault touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FaultScope {
    /// `tools/call` alone: the handshake and lists stay healthy.
    #[default]
    Tools,
    /// Every request.
    All,
}

impl ScopedFault {
    /// The faults of the whole server: one or a list.
    pub(super) fn read_of_server(field: &mut Field<'_>) -> Option<Vec<Self>> {
        one_or_many(field, Self::read)
    }

    /// The faults of one tool, which touch its calls and nothing else.
    pub(super) fn read_of_tool(field: &mut Field<'_>) -> Option<Vec<Self>> {
        one_or_many(field, |field| read_kind(field).map(|kind| Self { kind, scope: FaultScope::Tools }))
    }

    fn read(field: &mut Field<'_>) -> Option<Self> {
        field.shapes("a fault, as `slow:500`", |shapes| {
            shapes.text(|field| read_kind(field).map(|kind| Self { kind, scope: FaultScope::default() }));
            shapes.block(|block| {
                let kind = block.required("kind", "What goes wrong, as `slow:500`", read_kind);
                let scope =
                    block.optional("scope", "`tools` (calls alone, the default) or `all` requests", |f| {
                        f.choice("a scope", &[("tools", FaultScope::Tools), ("all", FaultScope::All)])
                    });
                Some(Self { kind: kind?, scope: scope.unwrap_or_default() })
            });
        })
    }
}

fn one_or_many(
    field: &mut Field<'_>,
    read: impl Fn(&mut Field<'_>) -> Option<ScopedFault>,
) -> Option<Vec<ScopedFault>> {
    field.shapes("a fault, as `slow:500`, or a list of them", |shapes| {
        shapes.list(|field| field.list(&read));
        shapes.text(|field| read(field).map(|fault| vec![fault]));
        shapes.map(|field| read(field).map(|fault| vec![fault]));
    })
}

fn read_kind(field: &mut Field<'_>) -> Option<WireFault> {
    let written = field.string();
    field.amend_schema("examples", json!(WireFault::KINDS.iter().map(|kind| kind.usage).collect::<Vec<_>>()));
    let parsed = written?.parse::<WireFault>();
    parsed.map_err(|error| field.report(Problem::error(error.message).help(error.help))).ok()
}
