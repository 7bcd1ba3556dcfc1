//! `golden:` which states does a correct run lead through, and where does another run leave them?

use super::bags::Bags;
use crate::problem::{Problem, Span};
use crate::suite::read::{Block, Field};
use crate::trace::{Tool, splits};
use crate::world::{Place, World, WorldStep, find};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The states of one right way, from the seed to the end.
#[derive(Debug)]
pub(super) struct GoldenPath {
    states: Vec<Value>,
    /// These states with the lists of `unordered:` sorted. Empty if `unordered:` has no lists.
    sorted: Vec<Value>,
}

/// A call of a golden path.
pub(super) struct GoldenCall {
    tool: String,
    args: Value,
    span: Span,
}

/// The calls of every right way.
pub(super) fn read(field: &mut Field<'_>) -> Option<Vec<Vec<GoldenCall>>> {
    field.block(|block: &mut Block<'_>| {
        let doc = "The calls of a correct run, in order; read-only calls are optional";
        let calls = |f: &mut Field<'_>| f.list(GoldenCall::read);
        let first = block.required("calls", doc, calls);
        let others = block.list(
            "alternates",
            "Other correct ways, each a list of calls",
            calls,
        );
        first.into_iter().chain(others).collect()
    })
}

impl GoldenCall {
    fn read(field: &mut Field<'_>) -> Option<Self> {
        let span = field.span();
        field.shapes("a tool's name or {tool, args}", |shapes| {
            shapes.text(|f| {
                Some(Self {
                    tool: f.tool()?,
                    args: json!({}),
                    span,
                })
            });
            shapes.block(|block| {
                let tool = block.required("tool", "The tool that is called", |f| f.tool_at(span));
                let args = block.optional("args", "Its arguments", |f| f.value());
                Some(Self {
                    tool: tool?,
                    args: args.unwrap_or_else(|| json!({})),
                    span,
                })
            });
        })
    }

    /// The tool in its recorded form: a prefix is its server if the world's tool has that server.
    fn tool(&self, world: &World) -> Tool<'_> {
        let bare = Tool::new(&self.tool, None);
        let of_server = splits(&self.tool).map(|(server, bare)| Tool::new(bare, Some(server)));
        std::iter::once(bare)
            .chain(of_server)
            .find(|tool| world.has_transitions(*tool))
            .unwrap_or(bare)
    }
}

impl GoldenPath {
    /// The states that these calls lead through, or why they cannot be made.
    pub(super) fn walk(
        calls: &[GoldenCall],
        world: &World,
        bags: &Bags,
    ) -> Result<Self, Box<Problem>> {
        let mut states = vec![world.seed.clone()];
        for (at, call) in calls.iter().enumerate() {
            let mut state = states.last().cloned().unwrap_or_default();
            let tool = call.tool(world);
            let refuse = |why: String| {
                let message = format!(
                    "call {} of this golden path, `{}`, {why}",
                    at + 1,
                    call.tool
                );
                Box::new(Problem::error(message).at(call.span))
            };
            let mut rules = world.rules_about(tool);
            if let Some(rule) = rules.find(|rule| rule.forbids(&state, Some(&call.args))) {
                return Err(refuse(format!("is forbidden: {}", rule.reason)));
            }
            match world.step(&mut state, tool, &call.args) {
                WorldStep::Invalid(why) => return Err(refuse(format!("cannot be made: {why}"))),
                WorldStep::Changed(_) => states.push(state),
                WorldStep::Read => {}
            }
        }
        let sorted = if bags.is_empty() {
            Vec::new()
        } else {
            states.iter().map(|state| bags.sorted(state)).collect()
        };
        Ok(Self { states, sorted })
    }

    /// The state it ends in.
    pub(super) fn end(&self) -> &Value {
        self.states.last().unwrap_or(&Value::Null)
    }

    /// Every state of the way.
    pub(super) fn states(&self) -> impl Iterator<Item = &Value> {
        self.states.iter()
    }

    /// Returns true if one of its states has an equal value at this place. The unordered lists of
    /// the given state are sorted.
    fn has(&self, state: &Value, place: &[String]) -> bool {
        let found = find(state, place);
        let states = if self.sorted.is_empty() {
            &self.states
        } else {
            &self.sorted
        };
        states.iter().any(|own| match (find(own, place), found) {
            (Some(own), Some(found)) => crate::json::values_equal(own, found),
            (own, found) => own.is_none() && found.is_none(),
        })
    }
}

/// Compares a run with one golden path. A state is on the path if the path has, at some point, each
/// value that calls have written: independent calls may come in any order.
pub(super) struct Follower<'g> {
    path: &'g GoldenPath,
    off: BTreeSet<Place>,
    /// The call that left the path, until the state returns to it.
    left: Option<usize>,
}

impl<'g> Follower<'g> {
    pub(super) fn new(path: &'g GoldenPath) -> Self {
        Self {
            path,
            off: BTreeSet::new(),
            left: None,
        }
    }

    /// Looks at the state after a call, from 1, has changed these places.
    pub(super) fn look(&mut self, call: usize, state: &Value, changed: &[Place]) {
        for place in changed {
            let around = (1..place.len()).map(|length| place[..length].to_vec());
            let within = self
                .off
                .range(place.clone()..)
                .take_while(|off| off.starts_with(place));
            let again: Vec<Place> = around
                .chain(within.cloned())
                .filter(|it| self.off.contains(it))
                .collect();
            for place in again.iter().chain([place]) {
                if self.path.has(state, place) {
                    self.off.remove(place);
                } else {
                    self.off.insert(place.clone());
                }
            }
        }
        self.left = if self.off.is_empty() {
            None
        } else {
            self.left.or(Some(call))
        };
    }
}

/// The call at which the state left every path for good; `None` if it is on one of them.
pub(super) fn left_all(followers: &[Follower<'_>]) -> Option<usize> {
    let left: Option<Vec<usize>> = followers.iter().map(|follower| follower.left).collect();
    left?.into_iter().max()
}
