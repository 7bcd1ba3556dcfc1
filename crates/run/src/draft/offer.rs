//! Which calls may the user allow, if no tool is marked read-only?

use super::arguments::{ServerFolder, arguments};
use super::first_calls::{Wish, is_secretive};
use super::server::Listed;
use super::yaml;
use mcptest_command::arguments::Given;
use serde_json::Map;

/// A call that is made only if the user allows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedCall {
    /// The tool.
    pub tool: String,
    /// The guessed arguments, as a suite writes them.
    pub arguments: String,
}

/// Asks the user which of these calls may be made, twice each. The answers are their places.
pub type Choose = fn(&[OfferedCall]) -> Vec<usize>;

/// The calls to offer: none if the user named some, or if a tool is marked read-only.
fn offered(tools: &[Listed], named: &[Wish], server_folder: &ServerFolder) -> Vec<OfferedCall> {
    if !named.is_empty() || tools.iter().any(|tool| tool.is_read_only) {
        return Vec::new();
    }
    let offer = |tool: &Listed| {
        let guessed = arguments(&tool.schema, &Map::new(), server_folder)?;
        Some(OfferedCall {
            tool: tool.name.clone(),
            arguments: yaml::comment(&yaml::flow(&guessed)),
        })
    };
    let offers = tools.iter().filter(|tool| !is_secretive(&tool.name));
    offers.filter_map(offer).collect()
}

/// The calls that the user named, or allows when asked.
pub(super) async fn allowed(
    choose: Choose,
    tools: &[Listed],
    named: Vec<Wish>,
    server_folder: &ServerFolder,
) -> Vec<Wish> {
    let offers = offered(tools, &named, server_folder);
    if offers.is_empty() {
        return named;
    }
    let asked = tokio::task::spawn_blocking(move || {
        let chosen = choose(&offers);
        let calls = chosen.into_iter().filter_map(|at| offers.get(at));
        calls
            .map(|offer| Wish {
                tool: offer.tool.clone(),
                given: Given::default(),
            })
            .collect()
    });
    asked.await.unwrap_or_default()
}
