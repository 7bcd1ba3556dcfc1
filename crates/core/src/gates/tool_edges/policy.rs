//! How does a policy judge each call, and which hand-offs took place?

use crate::hashed::HashMap;
use crate::trace::{Call, Delegation, Tool, Trace, splits};

/// The tools that may be called, the tools that must not be, and the allowed hand-offs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolEdges {
    /// Tools that may be called.
    pub allowed: Vec<String>,
    /// Tools that must not be called; a tool on both lists is restricted.
    pub restricted: Vec<String>,
    /// Hand-offs that are expected.
    pub delegation: Vec<DelegationEdge>,
    /// True if unlisted tools and unexpected hand-offs are forbidden too.
    pub closed: bool,
}

/// One expected hand-off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DelegationEdge {
    /// The agent that hands over.
    pub from: String,
    /// The agent that takes over.
    pub to: String,
}

impl DelegationEdge {
    fn is(&self, recorded: &Delegation<'_>) -> bool {
        recorded.from == self.from && recorded.to == self.to
    }
}

/// The violations of a policy besides restricted calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Closed {
    /// Calls to tools on neither list.
    pub(super) tools: bool,
    /// Recorded hand-offs that are not expected.
    pub(super) delegation: bool,
}

impl Closed {
    /// Closes both lists, or neither.
    pub(super) fn both(is_closed: bool) -> Self {
        Self {
            tools: is_closed,
            delegation: is_closed,
        }
    }
}

/// The relation of one run's calls to a policy, as indices into its calls and its lists.
#[derive(Debug, Clone, Default)]
pub(super) struct Walk {
    /// Calls to restricted tools.
    pub(super) restricted: Vec<usize>,
    /// Calls to tools on neither list.
    pub(super) unlisted: Vec<usize>,
    /// For each allowed tool, whether a run called it.
    pub(super) reached: Vec<bool>,
    /// For each expected hand-off, whether it took place.
    pub(super) handed_over: Vec<bool>,
    /// Recorded hand-offs that are not expected.
    pub(super) undeclared: Vec<usize>,
}

impl Walk {
    /// Notes the hand-offs that a call completes and the previous call may have begun.
    fn hand_over(&mut self, begun: &[usize], ended: &[usize]) {
        for &edge in ended.iter().filter(|edge| begun.contains(edge)) {
            self.handed_over[edge] = true;
        }
    }
}

/// A policy's entries for one tool.
#[derive(Default)]
struct Standing {
    allowed: Vec<usize>,
    /// Entries of the list of restricted tools.
    restricted: Vec<usize>,
    hands_over: Vec<usize>,
    takes_over: Vec<usize>,
}

impl ToolEdges {
    pub(super) fn is_empty(&self) -> bool {
        self.allowed.is_empty()
            && self.restricted.is_empty()
            && self.delegation.is_empty()
            && !self.closed
    }

    /// Walks the calls of a run. Each distinct tool is looked up once, so the cost is linear in the
    /// calls. `forbids` receives a call and a matching entry of the restricted tools, and returns
    /// true if the entry forbids the call.
    pub(super) fn walk(
        &self,
        calls: &[Call<'_>],
        delegations: &[Delegation<'_>],
        servers: &[String],
        forbids: &dyn Fn(usize, usize) -> bool,
    ) -> Walk {
        let mut walk = self.before_any_call(delegations);
        let mut standings: HashMap<Tool<'_>, Standing> = HashMap::default();
        let mut before: Vec<usize> = Vec::new();
        for (at, call) in calls.iter().enumerate() {
            let tool = Tool::from(call);
            let standing = standings
                .entry(tool)
                .or_insert_with(|| self.standing_of(tool, servers));
            for &tool in &standing.allowed {
                walk.reached[tool] = true;
            }
            if standing.restricted.iter().any(|&entry| forbids(at, entry)) {
                walk.restricted.push(at);
            } else if standing.allowed.is_empty() {
                walk.unlisted.push(at);
            }
            // Where no hand-off is recorded, two calls in a row are one.
            if delegations.is_empty() {
                walk.hand_over(&before, &standing.takes_over);
                before.clone_from(&standing.hands_over);
            }
        }
        walk
    }

    /// The walk before any call: only the recorded hand-offs count.
    fn before_any_call(&self, delegations: &[Delegation<'_>]) -> Walk {
        Walk {
            reached: vec![false; self.allowed.len()],
            handed_over: self
                .delegation
                .iter()
                .map(|edge| delegations.iter().any(|it| edge.is(it)))
                .collect(),
            undeclared: (0..delegations.len())
                .filter(|&at| !self.delegation.iter().any(|edge| edge.is(&delegations[at])))
                .collect(),
            ..Walk::default()
        }
    }

    /// Treats a tool that may be restricted as restricted: doubt counts as danger.
    fn standing_of(&self, tool: Tool<'_>, servers: &[String]) -> Standing {
        let edges = |is_end: &dyn Fn(&DelegationEdge) -> bool| {
            (0..self.delegation.len())
                .filter(|&edge| is_end(&self.delegation[edge]))
                .collect()
        };
        Standing {
            allowed: (0..self.allowed.len())
                .filter(|&at| tool.is(&self.allowed[at]))
                .collect(),
            restricted: (0..self.restricted.len())
                .filter(|&entry| tool.may_be(&self.restricted[entry], servers))
                .collect(),
            hands_over: edges(&|edge| tool.is(&edge.from)),
            takes_over: edges(&|edge| tool.is(&edge.to)),
        }
    }

    /// The allowed tools that are also restricted, for all of the agent's servers.
    pub(super) fn contradictions<'a>(
        &'a self,
        servers: &'a [String],
    ) -> impl Iterator<Item = (usize, usize)> + 'a {
        let is_covered = |restricted: &str, allowed: &str| {
            let is_declared = |server: &str| servers.iter().any(|declared| declared == server);
            let mut tools = splits(allowed).filter(|(server, _)| is_declared(server));
            restricted == allowed
                || tools.any(|(server, bare)| Tool::new(bare, Some(server)).is(restricted))
        };
        self.allowed
            .iter()
            .enumerate()
            .filter_map(move |(at, allowed)| {
                let restricted = self
                    .restricted
                    .iter()
                    .position(|restricted| is_covered(restricted, allowed));
                restricted.map(|restricted| (at, restricted))
            })
    }
}

/// The hand-offs in a trace; empty without a list.
pub(super) fn delegations<'t, 'a>(trace: &'t Trace<'a>) -> &'t [Delegation<'a>] {
    trace.delegations.as_deref().unwrap_or_default()
}
