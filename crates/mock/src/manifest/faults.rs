//! `fault:` which faults affect the whole server or one tool?

use mcptest_core::fault::{FaultKind, FaultScope, ScopedFault};
use mcptest_core::suite::read::Field;

/// The faults of the whole server: one or a list.
pub(super) fn read_of_server(field: &mut Field<'_>) -> Option<Vec<ScopedFault>> {
    one_or_many(field, |field| {
        field.shapes("a fault, such as `slow:500`", |shapes| {
            let scope = FaultScope::default();
            shapes.text(|field| FaultKind::read(field).map(|kind| ScopedFault { kind, scope }));
            shapes.block(|block| {
                let kind = block.required("kind", "The fault, such as `slow:500`", FaultKind::read);
                let scope = block.optional(
                    "scope",
                    "`tools` (only calls, the default) or `all` requests",
                    |f| {
                        f.choice(
                            "a scope",
                            &FaultScope::WORDS.map(|(word, scope, _)| (word, scope)),
                        )
                    },
                );
                Some(ScopedFault {
                    kind: kind?,
                    scope: scope.unwrap_or_default(),
                })
            });
        })
    })
}

/// Reads the faults of one tool, which affect only its calls.
pub(super) fn read_of_tool(field: &mut Field<'_>) -> Option<Vec<FaultKind>> {
    one_or_many(field, FaultKind::read)
}

fn one_or_many<T>(
    field: &mut Field<'_>,
    read: impl Fn(&mut Field<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    field.shapes("a fault, such as `slow:500`, or a list of them", |shapes| {
        shapes.list(|field| field.list(&read));
        shapes.text(|field| read(field).map(|fault| vec![fault]));
        shapes.map(|field| read(field).map(|fault| vec![fault]));
    })
}
