//! Which request parameters do agents and models set, and which of them are refused?

use super::{Agent, Model};
use crate::engine::AgentFacts;
use crate::problem::{Level, Problem, Span, nearest};
use crate::provider::{Kind, Parameters, Refusal, refusals, taken_keys};
use crate::suite::Suite;
use crate::suite::read::{Block, Field};
use serde_json::Value;

/// Keys that only apply to mcptest's own model loop.
pub(super) const KEYS: [&str; 7] = [
    "tool_choice",
    TEMPERATURE,
    "top_p",
    "seed",
    "reasoning_effort",
    "extra",
    PROMPT_CACHING,
];

const TEMPERATURE: &str = "temperature";
const PROMPT_CACHING: &str = "prompt_caching";

/// The words of `tool_choice` that are not names of tools.
const CHOICES: [&str; 3] = ["auto", "required", "none"];

const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// The largest seed that every provider with seeds accepts.
const LARGEST_SEED: u64 = i32::MAX as u64;

/// Reads the parameters and notes their places.
pub(super) fn read(block: &mut Block<'_>, spans: &mut Vec<(&'static str, Span)>) -> Parameters {
    let into = &mut Parameters::new();
    put(
        block,
        into,
        "tool_choice",
        "`auto` (the default), `required`, `none`, or the tool that is called first. It applies until the first results arrive",
        |f| f.tool(),
    );
    put(block, into, TEMPERATURE, "The sampling temperature", |f| {
        f.number(0.0..=2.0)
    });
    put(
        block,
        into,
        "top_p",
        "Sample from the likeliest tokens with this total probability",
        |f| f.number(0.0..=1.0),
    );
    put(
        block,
        into,
        "seed",
        "The seed of sampling, if the provider has one",
        |f| f.whole(0..=LARGEST_SEED),
    );
    put(
        block,
        into,
        "reasoning_effort",
        "The reasoning effort before an answer; the valid words depend on the model",
        |f| f.choice("an effort", &EFFORTS.map(|word| (word, word))),
    );
    put(
        block,
        into,
        "extra",
        "Additional fields of the request, under the provider's names",
        read_extra,
    );
    spans.extend(
        KEYS.iter()
            .filter_map(|key| Some((*key, block.key_span(key)?))),
    );
    std::mem::take(into)
}

/// Reads one parameter. A default value reads as absent: it makes the same recording.
pub(super) fn put<V: Into<Value>>(
    block: &mut Block<'_>,
    into: &mut Parameters,
    key: &'static str,
    doc: &str,
    read: impl FnOnce(&mut Field<'_>) -> Option<V>,
) {
    into.extend(
        block
            .optional(key, doc, read)
            .map(|value| (key.to_owned(), value.into())),
    );
}

fn read_extra(field: &mut Field<'_>) -> Option<Value> {
    if let Some(name) = field.environment_variable() {
        let message = format!("`extra` cannot contain a value of the environment: `${{{name}}}`");
        let help = "it is written into the header of the recording; write the value itself, or declare \
            it under `variables:`";
        field.report(Problem::error(message).help(help));
    }
    let entries = field.entries(|_, _, field| field.value())?;
    Some(Value::Object(entries.into_iter().collect()))
}

pub(super) fn read_caching(block: &mut Block<'_>, parameters: &mut Parameters) {
    let doc = "Ask Anthropic to cache the tools, the system prompt and the conversation so far; other \
               providers cache by themselves";
    put(block, parameters, PROMPT_CACHING, doc, |f| {
        f.flag().filter(|is_on| !is_on)
    });
}

impl Agent {
    /// The parameters and limits of requests to a model, by their names in the suite. The model's
    /// own values override the agent's.
    pub fn parameters_of(&self, model: Option<&Model>) -> Parameters {
        let mut parameters = self.parameters.clone();
        parameters.extend(model.into_iter().flat_map(|model| model.parameters.clone()));
        parameters
    }

    /// The place of a model's parameter.
    fn parameter_span(&self, model: &Model, key: &str) -> Span {
        let of_model = self
            .references
            .of_models
            .iter()
            .filter(|(label, _)| *label == model.label());
        let own = of_model
            .flat_map(|(_, spans)| spans)
            .filter(|_| model.parameters.contains_key(key));
        let mut spans = own.chain(&self.references.parameters);
        spans
            .find(|(known, _)| *known == key)
            .map_or(self.span, |(_, span)| *span)
    }

    /// The tools that models are made to call and that none of the agent's servers has.
    pub(super) fn unknown_choice(&self, facts: &AgentFacts<'_>) -> Vec<Problem> {
        let choice = |model: &Model| {
            let word = self
                .parameters_of(Some(model))
                .get("tool_choice")?
                .as_str()?
                .to_owned();
            Some((word, self.parameter_span(model, "tool_choice")))
        };
        let mut problems: Vec<Problem> = Vec::new();
        for (word, span) in self.models.iter().filter_map(choice) {
            let is_word = CHOICES.contains(&word.as_str());
            if is_word || problems.iter().any(|problem| problem.span == Some(span)) {
                continue;
            }
            let near = nearest(&word, CHOICES).map(|near| format!("did you mean `{near}`?"));
            let unknown = facts.unknown_tool(&word, span);
            problems.extend(match (unknown, near) {
                (Some(problem), Some(near)) => Some(Problem {
                    level: Level::Error,
                    ..problem.help(near)
                }),
                (Some(problem), None) => Some(Problem {
                    level: Level::Error,
                    ..problem
                }),
                (None, Some(near)) if facts.catalogue.is_none() => Some(
                    Problem::warning(format!("`{word}` is read as the name of a tool"))
                        .at(span)
                        .help(near),
                ),
                _ => None,
            });
        }
        problems
    }
}

impl Suite {
    /// The parameters that the agent's models refuse, and the ones without effect.
    pub(in crate::suite) fn refused_parameters(&self, agent: &Agent) -> Vec<Problem> {
        if agent.is_read_only() {
            return Vec::new();
        }
        let kinds = || {
            agent
                .models
                .iter()
                .map(|model| (model, self.kind_of(model)))
        };
        let known = kinds().filter_map(|(model, kind)| Some((model, kind?)));
        let mut problems: Vec<Problem> = known
            .flat_map(|(model, kind)| self.refused_by(agent, model, kind))
            .collect();
        let is_cached = |kind: Option<&Kind>| kind.is_none_or(|kind| kind.name == "anthropic");
        let caching = agent
            .references
            .parameters
            .iter()
            .find(|(key, _)| *key == PROMPT_CACHING);
        if let Some((_, span)) = caching.filter(|_| !kinds().any(|(_, kind)| is_cached(kind))) {
            let problem = Problem::warning(
                "`prompt_caching` has no effect: the providers of these models cache by themselves",
            );
            problems.push(
                problem
                    .at(*span)
                    .help("remove it; only Anthropic has requests with cache marks"),
            );
        }
        problems
    }

    fn refused_by(&self, agent: &Agent, model: &Model, kind: &Kind) -> Vec<Problem> {
        let asked = ModelOfAgent {
            agent,
            model,
            kind,
            parameters: agent.parameters_of(Some(model)),
        };
        let mut problems = asked.refused_parameters(self.knows_server_of(model));
        problems.extend(asked.refused_extra());
        problems.extend(asked.choice_without_tools());
        problems
    }

    /// Returns true if the model is at its provider's own address. A server at another address may
    /// accept more.
    fn knows_server_of(&self, model: &Model) -> bool {
        model
            .provider
            .as_ref()
            .and_then(|name| self.providers.get(name))
            .is_none_or(|provider| provider.base_url.is_none())
    }
}

/// A model with all parameters of its requests.
struct ModelOfAgent<'a> {
    agent: &'a Agent,
    model: &'a Model,
    kind: &'a Kind,
    parameters: Parameters,
}

impl ModelOfAgent<'_> {
    /// The parameters that the provider refuses.
    fn refused_parameters(&self, is_sure: bool) -> Vec<Problem> {
        let problem = |refusal: Refusal| {
            let message = format!(
                "`{}`: `{}` is refused: {}",
                self.model.label(),
                refusal.parameter,
                refusal.why
            );
            let level = if is_sure || refusal.has_no_place {
                Level::Error
            } else {
                Level::Warning
            };
            let span = self.agent.parameter_span(self.model, refusal.parameter);
            Problem {
                level,
                ..Problem::error(message).at(span).help(refusal.help)
            }
        };
        refusals(self.kind, &self.model.id, &self.parameters)
            .into_iter()
            .map(problem)
            .collect()
    }

    /// The entries of `extra:` that mcptest sets itself.
    fn refused_extra(&self) -> impl Iterator<Item = Problem> {
        taken_keys(self.kind, &self.parameters)
            .into_iter()
            .map(|(path, help)| {
                let message = format!("`{}`: `extra` cannot set `{path}`", self.model.label());
                Problem::error(message)
                    .at(self.agent.parameter_span(self.model, "extra"))
                    .help(help)
            })
    }

    fn choice_without_tools(&self) -> Option<Problem> {
        let is_idle = self.parameters.contains_key("tool_choice") && self.agent.servers.is_empty();
        is_idle.then(|| {
            Problem::error("no tool to choose: the agent has no `servers:`")
                .at(self.agent.parameter_span(self.model, "tool_choice"))
                .help("name its servers, or remove `tool_choice`")
        })
    }
}
