//! Which page of the docs lists each scenario, protocol and result?

use super::{Row, Side, Standing, VERSIONS, exceptions};
use std::collections::BTreeMap;

const HEAD: &str = "# Conformance

This page lists the results of mcptest in the official conformance suite (`@modelcontextprotocol/conformance`, the version in `tests/peers/package.json`). `cargo xtask conformance --write` writes it. CI runs `cargo xtask conformance` and fails if a result differs.

A scenario passes when it has no failure *and no warning*. For servers, the suite itself ignores warnings and the scenarios that it does not score. Both count here.

- **Server**: `mcptest mock --tools-from tests/conformance/everything.yml --http 127.0.0.1:0`, with both requirement sets.
- **Client**: `crates/mcp/examples/conformance_client.rs` on the client that `mcptest` uses. Each scenario runs twice: once with the protocol given, once with the protocol detected.
";

pub(super) fn page(rows: &[Row]) -> String {
    let mut page = HEAD.to_owned();
    for (side, title) in [(Side::Server, "Server"), (Side::Client, "Client")] {
        page.push_str(&format!(
            "\n## {title}\n\n| scenario | {} |\n",
            VERSIONS.join(" | ")
        ));
        page.push_str("|---|---|---|\n");
        for (scenario, by_version) in table(rows, side) {
            let cell = |version: &str| by_version.get(version).copied().unwrap_or("");
            page.push_str(&format!(
                "| {scenario} | {} |\n",
                VERSIONS.map(cell).join(" | ")
            ));
        }
    }
    page.push_str("\n## Exceptions\n\n| scenarios | why |\n|---|---|\n");
    for (side, start, reason) in exceptions::all() {
        page.push_str(&format!("| {} `{start}*` | {reason} |\n", side.word()));
    }
    page
}

/// For each scenario, in the order they were run first, the word for each version.
fn table(rows: &[Row], side: Side) -> Vec<(&str, BTreeMap<&str, &'static str>)> {
    let mut table: Vec<(&str, BTreeMap<&str, &'static str>)> = Vec::new();
    for row in rows.iter().filter(|row| row.side == side) {
        let at = table
            .iter()
            .position(|(scenario, _)| *scenario == row.scenario)
            .unwrap_or_else(|| {
                table.push((&row.scenario, BTreeMap::new()));
                table.len() - 1
            });
        let word = match row.standing() {
            Standing::Passed => "passes",
            Standing::Failed => "**fails**",
            Standing::Excepted(_) => "excepted",
        };
        let cell = table[at].1.entry(row.version).or_insert(word);
        if row.standing() != Standing::Passed {
            *cell = word;
        }
    }
    table
}
