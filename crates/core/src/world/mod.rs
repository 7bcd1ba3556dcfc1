//! A world with a state: what does a call change in it, and is the call allowed?

mod change;
mod decimal;
mod effect;
mod guard;
mod parameters;
mod place;
#[cfg(test)]
mod tests;

pub use change::Place;
pub(crate) use change::find;
pub(crate) use guard::{Guard, read_guards};

use crate::problem::{Problem, Span};
use crate::suite::read::{Block, Field};
use crate::trace::Tool;
use effect::{Effect, read_effects};
use serde_json::{Map, Value, json};

/// The initial state of a run, the changes by calls, and the forbidden calls.
#[derive(Debug, Clone, Default)]
pub struct World {
    /// The state before the first call: an object.
    pub seed: Value,
    transitions: Vec<Transition>,
    pub(crate) forbidden: Vec<Forbidden>,
    /// The servers of the agent that acts in it.
    servers: Vec<String>,
    /// Seed and transitions as written, which decide how a run proceeds.
    written: Value,
}

#[derive(Debug, Clone)]
struct Transition {
    tool: String,
    span: Span,
    when: Vec<Guard>,
    effects: Vec<Effect>,
}

/// A call that must not be made while its guards hold.
#[derive(Debug, Clone)]
pub(crate) struct Forbidden {
    tool: String,
    span: Span,
    when: Vec<Guard>,
    pub(crate) reason: String,
}

/// The effect of a call on a state.
#[derive(Debug, Clone, PartialEq)]
pub enum WorldStep {
    /// The tool has no transitions, so it only reads.
    Read,
    /// The call changed, or may have changed, the values at these places.
    Changed(Vec<Place>),
    /// No change, because the call cannot be made in this state, for this reason.
    Invalid(String),
}

impl World {
    pub(crate) fn read(block: &mut Block<'_>) -> Self {
        let mut written = Map::new();
        let doc = "The state that every run begins with: a map of any depth";
        let seed = block.optional("seed", doc, |f| {
            written.insert("seed".to_owned(), f.value_quietly());
            read_seed(f)
        });
        let doc = "The effects of calls: the first transition of the called tool whose guards hold is applied";
        let transitions = block.or_default("transitions", doc, |f| {
            written.insert("transitions".to_owned(), f.value_quietly());
            f.list(|f| f.define("transition", Transition::read))
        });
        let doc = "Calls that must not be made, whatever their effect";
        let forbidden = block.list("forbidden", doc, |f| f.define("forbidden", Forbidden::read));
        let servers = block.sibling("servers", |field| field.list(|item| item.string()));
        Self {
            seed: seed.unwrap_or_else(|| json!({})),
            transitions,
            forbidden,
            servers: servers.unwrap_or_default(),
            written: Value::Object(written),
        }
    }

    /// The written parts that decide how a run proceeds.
    pub fn written(&self) -> &Value {
        &self.written
    }

    /// Makes a call in a state: the first transition of its tool whose guards hold.
    pub fn step(&self, state: &mut Value, tool: Tool<'_>, args: &Value) -> WorldStep {
        let mut why = Vec::new();
        for transition in self
            .transitions
            .iter()
            .filter(|transition| tool.is(&transition.tool))
        {
            match transition.made(state, args) {
                Ok((changed, places)) => {
                    *state = changed;
                    return WorldStep::Changed(places);
                }
                Err(reason) => why.push(reason),
            }
        }
        why.dedup();
        if why.is_empty() {
            WorldStep::Read
        } else {
            WorldStep::Invalid(why.join("; "))
        }
    }

    /// Returns true if a tool changes something in this world.
    pub(crate) fn has_transitions(&self, tool: Tool<'_>) -> bool {
        self.transitions
            .iter()
            .any(|transition| tool.is(&transition.tool))
    }

    /// Returns true if a tool may be this one of the suite, in an ambiguous spelling.
    pub(crate) fn may_be(&self, tool: Tool<'_>, written: &str) -> bool {
        tool.may_be(written, &self.servers)
    }

    /// Returns true if a tool may change something in this world.
    pub(crate) fn may_change(&self, tool: Tool<'_>) -> bool {
        self.transitions
            .iter()
            .any(|transition| self.may_be(tool, &transition.tool))
    }

    /// The rules of `forbidden:` about a tool, in any spelling.
    pub(crate) fn rules_about(&self, tool: Tool<'_>) -> impl Iterator<Item = &Forbidden> {
        let is_about = move |rule: &&Forbidden| self.may_be(tool, &rule.tool);
        self.forbidden.iter().filter(is_about)
    }
}

impl Forbidden {
    /// Returns true if the rule may forbid a call in a state. `args` is `None` if the recorded
    /// arguments cannot be read: then they may be any.
    pub(crate) fn forbids(&self, state: &Value, args: Option<&Value>) -> bool {
        self.when.iter().all(|guard| guard.may_hold(state, args))
    }
}

impl Transition {
    fn read(field: &mut Field<'_>) -> Option<Self> {
        let span = field.span();
        field.try_block(|block| {
            let tool = block.required("tool", "The tool whose calls change something", |f| {
                f.tool()
            });
            let when = block.or_default(
                "when",
                "Conditions on the state and the arguments",
                read_guards,
            );
            let doc = "The changes: `set`, `inc`, `dec`, `append`, `remove`, `unset`";
            let effects = block.or_default("effect", doc, read_effects);
            if !block.has("when") && !block.has("effect") {
                let problem = Problem::error("this transition has neither a guard nor an effect");
                block.report(
                    problem.help("write an `effect:`; a tool without transitions only reads"),
                );
            }
            Some(Self {
                tool: tool?,
                span,
                when,
                effects,
            })
        })
    }

    /// The state after the call and the changed places, or why the call cannot be made. Each effect
    /// sees the changes of earlier effects.
    fn made(&self, state: &Value, args: &Value) -> Result<(Value, Vec<Place>), String> {
        if let Some(failure) = self
            .when
            .iter()
            .find_map(|guard| guard.failure(state, args))
        {
            return Err(failure);
        }
        let has_place = |effect: &Effect| effect.has_place(args);
        if !self.effects.is_empty() && !self.effects.iter().any(has_place) {
            return Err(
                "the call lacks an argument that the place of each effect names".to_owned(),
            );
        }
        let (mut state, mut places) = (state.clone(), Vec::new());
        for effect in &self.effects {
            if let Some(change) = effect.planned(&state, args)? {
                change::put(&mut state, &change.place, change.value);
                places.push(change.place);
            }
        }
        Ok((state, places))
    }
}

impl Forbidden {
    fn read(field: &mut Field<'_>) -> Option<Self> {
        let span = field.span();
        field.try_block(|block| {
            let tool = block.required("tool", "The tool that must not be called", |f| f.tool());
            let doc =
                "When it must not be called: conditions on the state before the call and on its \
                arguments";
            let when = block.or_default("when", doc, read_guards);
            let reason = block.required("reason", "The reason, for the report", |f| f.name());
            Some(Self { tool: tool?, span, when, reason: reason? })
        })
    }
}

fn read_seed(field: &mut Field<'_>) -> Option<Value> {
    let seed = field.value();
    field.node(|| json!({ "type": ["object", "null"] }));
    let problem = match seed? {
        Value::Object(seed) if seed.contains_key(place::ARGUMENTS) => Problem::error(
            "a state cannot have an entry `args`: guards use this name for the arguments of a call",
        ),
        Value::Object(seed) => return Some(Value::Object(seed)),
        Value::Null => return Some(json!({})),
        _ => Problem::error("a state is a map"),
    };
    field.report(problem);
    None
}
