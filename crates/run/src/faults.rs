//! Can every injected fault be hit, and was it?

use mcptest_core::report::Reason;
use mcptest_core::suite::{Agent, Suite};
use mcptest_core::trace::{CatalogueTool, Header, Run};

/// The first injected fault that no tool of the recorded catalogues, or of the suite's mock manifests, can have.
pub(crate) fn unhittable<'h>(
    suite: &Suite,
    agent: &Agent,
    headers: impl Iterator<Item = &'h Header>,
) -> Option<Reason> {
    if agent.inject.is_empty() {
        return None;
    }
    let manifest = suite.known_catalogue(agent, &crate::host());
    let recorded = headers.filter_map(|header| header.catalogue.as_deref());
    let catalogues: Vec<&[CatalogueTool]> = recorded.chain(manifest.as_deref()).collect();
    if catalogues.is_empty() {
        return None;
    }
    let tools: Vec<CatalogueTool> = catalogues.concat();
    agent.injected(&suite.faults).find_map(|fault| {
        let unknown = fault.unknown_tool(&tools)?;
        let (name, why) = (&fault.name, unknown.message);
        let message = format!("the fault `{name}` can never be hit: {why} in the recorded catalogue");
        Some(Reason { message, help: Some(unknown.help), ..Reason::default() })
    })
}

/// Faults that no run met, in a test where no gate says so.
pub(crate) fn unmet(agent: &Agent, runs: &[Run<'_>]) -> Vec<String> {
    if agent.gates.iter().any(|gate| gate.key() == "recovery") {
        return Vec::new();
    }
    let is_met = |name: &String| {
        runs.iter().any(|run| run.trace.faults.iter().flatten().any(|event| event.name == *name))
    };
    let unmet = agent.inject.iter().filter(|name| !is_met(name));
    unmet.map(|name| format!("no call ran into the injected fault `{name}`")).collect()
}
