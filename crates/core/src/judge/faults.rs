//! Can every injected fault take effect, did it, and do the recorded events match the suite's
//! faults?

use super::recorded::{RecordedRun, RecordedRuns};
use crate::engine::GateTrait;
use crate::gates::is_contradicted;
use crate::row::{AgentRow, Reason, ReasonKind, RowOfAgent};
use crate::suite::{Agent, Fault};
use crate::trace::{Call, CallResult, CatalogueTool, FaultEvent, Run};
use crate::words::count;

/// The first injected fault that no tool of the recorded catalogues, or of the suite's mock manifests, can have.
pub(super) fn unhittable(of: AgentRow<'_>, recorded: &RecordedRuns<'_>) -> Option<Reason> {
    if of.agent.inject.is_empty() {
        return None;
    }
    let known = of.suite.known_catalogue(of.agent);
    let catalogues = recorded
        .headers
        .iter()
        .filter_map(|header| header.catalogue.as_deref());
    let catalogues: Vec<&[CatalogueTool]> = catalogues.chain(known.as_deref()).collect();
    if catalogues.is_empty() {
        return None;
    }
    let tools: Vec<CatalogueTool> = catalogues.concat();
    of.agent.injected(&of.suite.faults).find_map(|fault| {
        let unknown = fault.target.unknown_tool(&tools)?;
        let (name, why) = (&fault.name, unknown.message);
        let message =
            format!("the fault `{name}` can never take effect: {why} in the recorded catalogue");
        Some(Reason {
            help: unknown.help,
            ..Reason::new(ReasonKind::FaultUnhittable, message)
        })
    })
}

/// The first recorded fault event that the suite's faults cannot have caused.
pub(super) fn misrecorded(
    RowOfAgent { row, of }: RowOfAgent<'_>,
    runs: &[RecordedRun<'_>],
) -> Option<Reason> {
    let message = runs.iter().enumerate().find_map(|(at, run)| {
        let trace = *run.trace.as_ref().ok()?;
        let events = trace.faults.as_ref().filter(|events| !events.is_empty())?;
        let results = trace.results_by_call();
        let calls: Vec<_> = trace.tool_calls.iter().zip(results).collect();
        let misfit = events.iter().find_map(|event| {
            let fault = of
                .suite
                .faults
                .iter()
                .find(|fault| fault.name == event.name)?;
            misfit(fault, event, &calls, &of.agent.servers)
        })?;
        Some(format!("run {} does not match the fault {misfit}", at + 1))
    })?;
    let reason = Reason::new(ReasonKind::FaultMismatch, message);
    let reason = reason.help("record it again, or correct the fault in the suite");
    let can_be_recorded = !of.agent.is_read_only();
    Some(if can_be_recorded {
        reason.command(row.rerun.recording("--record"))
    } else {
        reason
    })
}

/// The difference between the recorded faults and the suite's.
fn misfit(
    fault: &Fault,
    event: &FaultEvent<'_>,
    calls: &[(&Call<'_>, Option<&CallResult<'_>>)],
    servers: &[String],
) -> Option<String> {
    let (name, number) = (&fault.name, event.call_index.saturating_add(1));
    let Some((call, result)) = calls.get(event.call_index) else {
        let made = count(calls.len(), "call");
        return Some(format!(
            "`{name}`: it is recorded at call {number}, but the run has {made}"
        ));
    };
    let called = format!("call {number} `{}`", call.name);
    if !hits(fault, call, servers) {
        let target = &fault.target;
        return Some(format!(
            "`{name}`: it is recorded at {called}, but the suite targets {target}"
        ));
    }
    if !event.kind.is(fault.kind) {
        let (recorded, written) = (&event.kind, fault.kind);
        return Some(format!(
            "`{name}`: `{recorded}` is recorded at {called}, but the suite has `{written}`"
        ));
    }
    is_contradicted(event, result.is_some_and(|result| !result.is_failure())).then(|| {
        let told = if event.detected {
            ", noticed by the agent"
        } else {
            ""
        };
        format!("`{name}`: it is recorded at {called}{told}, but the call succeeded")
    })
}

/// Returns true if a fault affects a call. A call without a server may be to any of the agent's
/// servers.
fn hits(fault: &Fault, call: &Call<'_>, servers: &[String]) -> bool {
    let hits = |server: Option<&str>| fault.target.hits(&call.name, server);
    match call.server.as_deref() {
        Some(server) => hits(Some(server)),
        None => hits(None) || servers.iter().any(|server| hits(Some(server))),
    }
}

/// Faults that no run met, in a test without a gate that reports it.
pub(super) fn unmet(agent: &Agent, runs: &[Run<'_>]) -> Vec<String> {
    if agent
        .gates
        .iter()
        .any(|gate| gate.is(GateTrait::JudgesFaults))
    {
        return Vec::new();
    }
    let is_met = |name: &String| {
        runs.iter().any(|run| {
            run.trace
                .faults
                .iter()
                .flatten()
                .any(|event| event.name == *name)
        })
    };
    let unmet = agent.inject.iter().filter(|name| !is_met(name));
    unmet
        .map(|name| format!("no call ran into the injected fault `{name}`"))
        .collect()
}
