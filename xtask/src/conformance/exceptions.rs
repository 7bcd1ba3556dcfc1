//! Which scenarios may fail, and why?

use super::Side;

/// Prefixes of the names of scenarios that may fail, with the reason for the docs.
const EXCEPTIONS: &[(Side, &str, &str)] = &[(
    Side::Server,
    "tasks-",
    "tests the extension `io.modelcontextprotocol/tasks`; no requirement set scores it, and the mock server does not have it",
)];

/// Scenarios that are not run at all.
pub(super) const NOT_RUN: &[(Side, &str, &str)] = &[(
    Side::Client,
    "auth/",
    "not run: tests OAuth flows, which both requirement sets score; the client takes a bearer token or headers, but does not request tokens itself",
)];

/// Why this scenario may fail.
pub(super) fn reason(side: Side, scenario: &str) -> Option<&'static str> {
    of(EXCEPTIONS, side, scenario)
}

/// Returns true if this scenario is run.
pub(super) fn is_run(side: Side, scenario: &str) -> bool {
    of(NOT_RUN, side, scenario).is_none()
}

/// All exceptions: the beginning of the scenarios' names, and the reason.
pub(super) fn all() -> impl Iterator<Item = &'static (Side, &'static str, &'static str)> {
    EXCEPTIONS.iter().chain(NOT_RUN)
}

fn of(table: &[(Side, &str, &'static str)], side: Side, scenario: &str) -> Option<&'static str> {
    table
        .iter()
        .find(|(on, start, _)| *on == side && scenario.starts_with(start))
        .map(|(_, _, reason)| *reason)
}
