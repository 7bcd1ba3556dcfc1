//! Which spans describe one call: a tool's execution, the MCP request in it, and the server's side
//! of that?

use super::span::{Span, SpanKind};
use crate::sub_agent::AgentCaller;
use mcptest_core::json::equal;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

const SERVER_NAME: [&str; 2] = ["mcp.server.name", "gen_ai.mcp.server.name"];

/// The number of earlier spans to search for an enclosing one. Few siblings overlap.
const MOST_BACK: usize = 64;

/// A call as its spans describe it.
#[derive(Debug)]
pub(super) struct Executed {
    pub(super) start: u64,
    pub(super) tool: String,
    pub(super) server: Option<String>,
    pub(super) id: Option<String>,
    pub(super) arguments: Option<Box<RawValue>>,
    pub(super) result: Option<Box<RawValue>>,
    pub(super) error: Option<String>,
    /// The sub-agent that made the call.
    pub(super) caller: Option<AgentCaller>,
}

/// The spans of a trace by their ids, for walking from a span to its parents.
pub(super) struct Tree<'s> {
    spans: &'s [Span],
    /// By trace and id: a conversation may have several traces.
    by_id: BTreeMap<(&'s str, &'s str), usize>,
}

impl<'s> Tree<'s> {
    pub(super) fn new(spans: &'s [Span]) -> Self {
        let by_id = spans
            .iter()
            .enumerate()
            .map(|(at, span)| ((span.trace.as_str(), span.id.as_str()), at))
            .collect();
        Self { spans, by_id }
    }

    /// The nearest `wanted` span around this one, with no `between` span on the way.
    pub(super) fn around(
        &self,
        at: usize,
        wanted: impl Fn(&Span) -> bool,
        between: impl Fn(&Span) -> bool,
    ) -> Option<usize> {
        let mut at = at;
        // A parent that is its own grandchild would never end.
        for _ in 0..self.spans.len() {
            let span = &self.spans[at];
            let parent = (span.trace.as_str(), span.parent.as_deref()?);
            at = *self.by_id.get(&parent)?;
            if wanted(&self.spans[at]) {
                return Some(at);
            }
            if between(&self.spans[at]) {
                return None;
            }
        }
        None
    }
}

impl Tree<'_> {
    /// The sub-agent of a span: the agent around it, if another agent is around that one.
    pub(super) fn sub_agent(&self, at: usize) -> Option<AgentCaller> {
        let span = &self.spans[at];
        if let Some(named) = span.named_sub_agent() {
            return Some(named);
        }
        let is_agent = |span: &Span| span.kind == SpanKind::Agent && span.agent().is_some();
        let agent = self.around(at, is_agent, |_| false)?;
        let outer = self.around(agent, is_agent, |_| false)?;
        let (agent_span, outer_span) = (&self.spans[agent], &self.spans[outer]);
        let name = agent_span.agent()?;
        // Two instruments may describe one agent.
        if outer_span.agent().as_ref() == Some(&name) {
            return None;
        }
        let starter = self.around(agent, Span::is_call, is_agent);
        Some(AgentCaller {
            name,
            id: agent_span.agent_id(),
            tool_id: starter.and_then(|at| self.spans[at].call_id()),
        })
    }
}

/// Every call once, in order of start, and the number of omitted calls inside others.
pub(super) fn executed(spans: &[Span]) -> (Vec<Executed>, usize) {
    let mut merge = Merge {
        spans,
        owner: (0..spans.len()).collect(),
        left_out: 0,
    };
    merge.nested();
    merge.enclosed();
    merge.repeated();
    let tree = Tree::new(spans);
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in (0..spans.len()).filter(|at| spans[*at].is_call()) {
        members.entry(merge.root(at)).or_default().push(at);
    }
    (
        members
            .values()
            .map(|members| told(spans, &tree, members))
            .collect(),
        merge.left_out,
    )
}

struct Merge<'s> {
    spans: &'s [Span],
    owner: Vec<usize>,
    left_out: usize,
}

impl Merge<'_> {
    fn root(&self, mut at: usize) -> usize {
        while self.owner[at] != at {
            at = self.owner[at];
        }
        at
    }

    /// A call inside a call, with no model between them.
    fn nested(&mut self) {
        let tree = Tree::new(self.spans);
        let is_between = |span: &Span| matches!(span.kind, SpanKind::Chat | SpanKind::Agent);
        let mut inside: BTreeMap<usize, usize> = BTreeMap::new();
        let mut pairs = Vec::new();
        for at in (0..self.spans.len()).filter(|at| self.spans[*at].is_call()) {
            if let Some(around) = tree
                .around(at, Span::is_call, is_between)
                .filter(|around| *around != at)
            {
                *inside.entry(around).or_default() += 1;
                pairs.push((at, around));
            }
        }
        for (at, around) in pairs {
            let (inner, outer) = (&self.spans[at], &self.spans[around]);
            if is_same(outer, inner) {
                self.join(at, around);
            } else if inner.kind == SpanKind::Mcp
                && inner.arguments().is_none()
                && inside[&around] == 1
            {
                self.left_out += 1;
                self.join(at, around);
            }
        }
    }

    /// An MCP request without a parent span, but within the time of the same tool's execution.
    fn enclosed(&mut self) {
        let calls: Vec<usize> = (0..self.spans.len())
            .filter(|at| self.spans[*at].is_call())
            .collect();
        let mut has_request = vec![false; self.spans.len()];
        for at in &calls {
            let root = self.root(*at);
            has_request[root] |= root != *at;
        }
        for (position, at) in calls.iter().enumerate() {
            let span = &self.spans[*at];
            if span.kind != SpanKind::Mcp || self.root(*at) != *at {
                continue;
            }
            let before = calls[..position].iter().rev().take(MOST_BACK);
            let found = before.copied().find(|outer| {
                self.root(*outer) == *outer
                    && !has_request[*outer]
                    && self.spans[*outer].encloses(span)
                    && is_same(&self.spans[*outer], span)
            });
            if let Some(outer) = found {
                has_request[outer] = true;
                self.join(*at, outer);
            }
        }
    }

    /// Merges reports of one call, with the same id, by two instruments.
    fn repeated(&mut self) {
        let mut by_id: BTreeMap<String, usize> = BTreeMap::new();
        for at in (0..self.spans.len()).filter(|at| self.spans[*at].is_call()) {
            let root = self.root(at);
            let Some(id) = self.spans[at].call_id() else {
                continue;
            };
            let first = *by_id.entry(id).or_insert(root);
            let first = self.root(first);
            let (one, other) = (&self.spans[first], &self.spans[root]);
            if first != root && is_same_tool(&one.tool(), &other.tool()) && fits(one, other) {
                self.join(root, first);
            }
        }
    }

    fn join(&mut self, at: usize, into: usize) {
        let (at, into) = (self.root(at), self.root(into));
        self.owner[at] = into;
    }
}

/// Returns true if two nested spans describe one call.
fn is_same(outer: &Span, inner: &Span) -> bool {
    let ids = (outer.call_id(), inner.call_id());
    if matches!(&ids, (Some(one), Some(other)) if one != other) {
        return false;
    }
    if is_same_tool(&outer.tool(), &inner.tool()) {
        return inner.kind == SpanKind::Mcp || fits(outer, inner);
    }
    let arguments = (outer.arguments(), inner.arguments());
    inner.kind == SpanKind::Mcp
        && matches!(&arguments, (Some(one), Some(other)) if equal(one.get(), other.get()))
}

/// Returns true if the arguments agree, as far as both spans have them.
fn fits(one: &Span, other: &Span) -> bool {
    match (one.arguments(), other.arguments()) {
        (Some(one), Some(other)) => equal(one.get(), other.get()),
        _ => true,
    }
}

/// Returns true if two names mean one tool, possibly with a server's name before one of them.
pub(super) fn is_same_tool(one: &str, other: &str) -> bool {
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short)
            .is_some_and(|rest| rest.ends_with("__") || rest.ends_with(['.', '/', ':']))
    };
    one == other || ends(one, other) || ends(other, one)
}

fn told(spans: &[Span], tree: &Tree<'_>, members: &[usize]) -> Executed {
    let all = || members.iter().map(|at| &spans[*at]);
    let outer = all().next().map(Span::tool).unwrap_or_default();
    // What the MCP request calls the tool is its bare name, and the rest of the other name its server.
    let bare = all()
        .filter(|span| span.kind == SpanKind::Mcp)
        .map(Span::tool)
        .find(|bare| outer.ends_with(bare.as_str()));
    let in_name = bare
        .as_ref()
        .and_then(|bare| outer.strip_suffix(bare.as_str())?.strip_suffix("__"));
    let in_name = in_name.map(|server| server.strip_prefix("mcp__").unwrap_or(server).to_owned());
    Executed {
        start: all().map(|span| span.start).min().unwrap_or_default(),
        server: all()
            .find_map(|span| span.attributes.text(&SERVER_NAME))
            .or(in_name),
        tool: bare.unwrap_or(outer),
        id: all().find_map(Span::call_id),
        arguments: all().find_map(Span::arguments),
        result: all().find_map(Span::result),
        // Of several tries inside a tool the last one counts.
        caller: members.iter().find_map(|at| tree.sub_agent(*at)),
        error: all()
            .next()
            .and_then(|outer| outer.error.clone())
            .or_else(|| all().next_back()?.error.clone()),
    }
}
