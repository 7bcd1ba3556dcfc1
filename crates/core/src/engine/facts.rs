//! Which facts about the agent does a gate know before any run, and which problems of its block do
//! they show?

use super::assertion::Assertion;
use super::target::Target;
use crate::hashed::HashSet;
use crate::problem::{Problem, Span, did_you_mean, nearest};
use crate::suite::Fault;
use crate::trace::{Call, CatalogueTool, Run, Tool, splits};
use crate::words::{any_of, some_of};
use std::collections::BTreeSet;

/// The facts about its agent that a gate can use at load time.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct AgentFacts<'a> {
    /// The number of judged runs. It is 0 if only the traces determine it.
    pub runs: usize,
    /// The place of the gate's key.
    pub key_span: Span,
    /// The tools that the block names, each with its place.
    pub named: &'a [(String, Span)],
    /// The gate's assertions, by default or as written.
    pub expect: &'a [Assertion<Target>],
    /// The number of expectations, and of gates that score run by run, for each run.
    pub expectations: usize,
    /// The user's messages, turn by turn.
    pub prompts: &'a [String],
    /// The names of the agent's models in recordings.
    pub models: &'a [String],
    /// The names of the agent's servers.
    pub servers: &'a [String],
    /// The agent's tools, if they are known without starting any server.
    pub catalogue: Option<&'a [CatalogueTool]>,
    /// The faults injected into its calls.
    pub inject: &'a [&'a Fault],
}

impl AgentFacts<'_> {
    /// The gate's expectations that are written in the suite.
    pub fn written(&self) -> impl Iterator<Item = &Assertion<Target>> {
        self.expect
            .iter()
            .filter(|assertion| assertion.span != Span::default())
    }

    /// A warning about something declared that none of the expectations looks at, under any of these targets.
    pub fn unasserted(&self, what: &str, targets: &[&Target]) -> Option<Problem> {
        let is_asserted = |name: &str| {
            self.expect
                .iter()
                .any(|assertion| assertion.target.name == name)
        };
        if targets.iter().any(|target| is_asserted(target.name)) {
            return None;
        }
        let message = format!(
            "{what} declared, but no expectation looks at `{}`",
            targets[0].name
        );
        let help = "assert it in the `expect:` list, or omit the list for the default gate";
        Some(Problem::warning(message).at(self.key_span).help(help))
    }

    /// The problems of names of tools that none of the agent's servers has.
    pub fn unknown_tools(&self, named: &[(String, Span)]) -> Vec<Problem> {
        let written = named.iter().filter(|(tool, _)| !tool.is_empty());
        written
            .filter_map(|(tool, span)| self.unknown_tool(tool, *span))
            .collect()
    }

    /// A warning about a tool that none of the agent's servers has, or, if their tools are unknown,
    /// about a tool of a server that the agent does not use.
    pub fn unknown_tool(&self, written: &str, span: Span) -> Option<Problem> {
        let Some(catalogue) = self.catalogue else {
            return self.unknown_server(written, span);
        };
        if catalogue.iter().any(|tool| Tool::from(tool).is(written)) {
            return None;
        }
        let problem = Problem::warning(format!(
            "none of the agent's servers has a tool `{written}`"
        ))
        .at(span);
        let names: Vec<&str> = catalogue.iter().map(|tool| tool.name.as_str()).collect();
        let listed = || format!("its tools are {}", some_of(names.iter().copied()));
        Some(problem.help(near_tool(written, &names).unwrap_or_else(listed)))
    }

    fn unknown_server(&self, written: &str, span: Span) -> Option<Problem> {
        let is_known = |(server, _): (&str, &str)| self.servers.iter().any(|known| known == server);
        let (server, _) = splits(written)
            .next()
            .filter(|_| !self.servers.is_empty())?;
        if splits(written).any(is_known) {
            return None;
        }
        let problem =
            Problem::warning(format!("`{written}`: the agent has no server `{server}`")).at(span);
        let servers = || self.servers.iter().map(String::as_str);
        Some(problem.help(did_you_mean(server, servers(), || {
            format!(
                "its servers are {}; write a tool with such a name with its server, as \
                `{}.{written}`",
                some_of(servers()),
                self.servers[0]
            )
        })))
    }
}

/// The tool of a catalogue that the suite probably means.
fn near_tool(written: &str, names: &[&str]) -> Option<String> {
    let names = || names.iter().copied();
    let bare = splits(written).map(|(_, bare)| bare);
    let near = std::iter::once(written).chain(bare).find_map(|name| {
        let same = names().find(|known| *known == name);
        same.or_else(|| nearest(name, names()))
    })?;
    Some(format!("did you mean `{near}`?"))
}

/// Reports tools that nothing in these runs can match: no recorded catalogue has them and no run
/// called them. Without a catalogue, only a tool of a server that neither the agent nor a recorded
/// call has is certain to match nothing.
pub(crate) fn why_nothing_matches(
    named: &[&str],
    runs: &[Run<'_>],
    servers: &[String],
) -> Option<String> {
    let called = runs.iter().flat_map(|run| &run.trace.tool_calls);
    let mut seen = BTreeSet::new();
    let named = named.iter().copied().filter(|tool| seen.insert(*tool));
    let uncalled = named.filter(|tool| !called.clone().any(|call| call.is_to(tool)));
    let catalogues: Option<Vec<&[CatalogueTool]>> = runs.iter().map(Run::catalogue).collect();
    let Some(catalogues) = catalogues.filter(|catalogues| !catalogues.is_empty()) else {
        let recorded: BTreeSet<&str> = called
            .clone()
            .filter_map(|call| call.server.as_deref())
            .collect();
        let is_known =
            |server: &str| recorded.contains(server) || servers.iter().any(|known| known == server);
        return of_unknown_server(uncalled, is_known, servers);
    };
    let offered = catalogues.iter().copied().flatten();
    let is_offered = |tool: &str| offered.clone().any(|known| Tool::from(known).is(tool));
    let unknown: Vec<&str> = uncalled.filter(|tool| !is_offered(tool)).collect();
    let (tool, others) = unknown.split_first()?;
    let names: BTreeSet<&str> = offered.clone().map(|tool| tool.name.as_str()).collect();
    let near = near_tool(tool, &names.into_iter().collect::<Vec<_>>());
    let near = near.map(|near| format!("; {near}")).unwrap_or_default();
    let more = if others.is_empty() {
        String::new()
    } else {
        format!(", nor {}", any_of(others))
    };
    Some(format!(
        "no tool of the recorded catalogue is `{tool}`{more}{near}"
    ))
}

/// The first tool of an unknown server, if the servers are known.
fn of_unknown_server<'n>(
    mut named: impl Iterator<Item = &'n str>,
    is_known: impl Fn(&str) -> bool,
    servers: &[String],
) -> Option<String> {
    if servers.is_empty() {
        return None;
    }
    let unknown = |tool: &'n str| {
        let (server, _) = splits(tool).next()?;
        let has_known = splits(tool).any(|(server, _)| is_known(server));
        (!has_known).then_some((tool, server))
    };
    let (tool, server) = named.find_map(unknown)?;
    Some(format!(
        "the agent has no server `{server}`, and no call is to `{tool}`"
    ))
}

/// Reports a call that may be to a tool of the block, if its recorded name is ambiguous.
pub(crate) fn why_doubtful(named: &[&str], runs: &[Run<'_>], servers: &[String]) -> Option<String> {
    let mut seen: HashSet<Tool<'_>> = HashSet::default();
    let doubt_of = |call: &Call<'_>| {
        let tool = Tool::from(call);
        let is_meant = named.iter().any(|written| tool.is(written));
        let may_be_meant = || named.iter().find(|written| tool.may_be(written, servers));
        if is_meant { None } else { may_be_meant() }
    };
    runs.iter().find_map(|run| {
        let mut calls = run.trace.tool_calls.iter().enumerate();
        calls.find_map(|(at, call)| {
            let written = seen.insert(Tool::from(call)).then(|| doubt_of(call))??;
            Some(format!(
                "call {} of run {} to `{}` may be `{written}`: the recording does not name its \
                server",
                at + 1,
                run.number,
                call.name
            ))
        })
    })
}
