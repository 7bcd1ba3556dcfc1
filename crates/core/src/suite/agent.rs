//! `agents:` who is asked what, and how are the recorded runs judged?

mod overrides;
mod own;
mod read;
mod request;
#[cfg(test)]
mod tests;
mod variant;
mod view;

pub use overrides::OverrideError;
pub use own::{Filled, OwnAgent};
pub(super) use read::{named, read_only, read_skip};
pub use variant::Variant;
pub use view::ToolSchemas;

use super::fault::Fault;
use super::read::Field;
use super::variables::Scope;
use super::variables::Text;
use crate::engine::{AgentFacts, Assertion, GateBlock};
use crate::grade::{Question, graded};
use crate::price::{Price, shipped_price};
use crate::problem::{Problem, Sources, Span};
use crate::report::Place;
use crate::target::Path;
use crate::trace::{CatalogueTool, Tokens};
use crate::world::World;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One agent under test.
///
/// ```
/// use mcptest_core::{Host, load};
/// use std::path::Path;
///
/// let text = "
/// agents:
///   - name: forecast
///     model: gpt-5
///     prompt: Will it rain in Oslo?
///     golden_path: { calls: [get_weather] }
/// ";
/// let read = |_: &Path| Ok(text.as_bytes().to_vec());
/// let suite = load(Path::new("weather.yml"), &Host::new(&read, &|_| None)).into_result()?;
/// let agent = &suite.agents[0];
/// assert_eq!((agent.runs, agent.gates[0].key()), (1, "golden_path"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Agent {
    /// Its name, unique in the suite.
    pub name: String,
    /// The models it is run with; more than one make a row each.
    pub models: Vec<Model>,
    /// A program to run instead of a model.
    pub own: Option<OwnAgent>,
    /// The servers it can use.
    pub servers: Vec<String>,
    /// The user's messages, turn by turn.
    pub turns: Vec<Text>,
    /// The instructions before the conversation.
    pub system_prompt: Option<Text>,
    /// Sampling parameters and limits, by their names in the suite.
    pub parameters: BTreeMap<String, Value>,
    /// The time limit of one answer of its model. Not part of the fingerprint.
    pub request_timeout_ms: Option<u64>,
    /// The number of runs to judge, at least one. A list or pattern of traces without `runs:` has all of its runs.
    pub runs: usize,
    /// True if `runs:` is written.
    pub says_runs: bool,
    /// True if recording ends as soon as no remaining run can change the verdict.
    pub stop_decided: bool,
    /// The command before each recorded run, as templates.
    pub setup: Option<Vec<String>>,
    /// The command after each recorded run, as templates.
    pub teardown: Option<Vec<String>>,
    /// The values for `setup` and `teardown`, besides the environment.
    pub scope: Scope,
    /// The faults injected into its calls.
    pub inject: Vec<String>,
    /// Words to select it by.
    pub tags: Vec<String>,
    /// The reason to skip it, if any.
    pub skip: Option<String>,
    /// True if only tests with this key are judged.
    pub only: bool,
    /// The place of its recorded runs, if not the default.
    pub cassette: Option<CassettePath>,
    /// The assertions on each run.
    pub expect: Vec<Assertion<Path>>,
    /// The checks over all runs.
    pub gates: Vec<GateBlock>,
    /// Its place.
    pub span: Span,
    /// Its place as a file and a line.
    pub place: Place,
    pub(super) references: References,
}

/// Names that must exist elsewhere in the suite, with their places.
#[derive(Debug, Default)]
pub(super) struct References {
    pub(super) servers: Vec<(String, Span)>,
    pub(super) inject: Vec<(String, Span)>,
    pub(super) providers: Vec<(String, Span)>,
    /// The agent that an eval grades.
    pub(super) agents: Vec<(String, Span)>,
    pub(super) code_execution: Option<Span>,
    /// The parameters of its requests, and the parameters of single models.
    parameters: Vec<(&'static str, Span)>,
    of_models: Vec<(String, Vec<(&'static str, Span)>)>,
}

/// A model by its id, at its own provider or one the suite declares.
///
/// ```
/// use mcptest_core::Model;
///
/// let model = Model { provider: Some("azure".into()), id: "gpt-5".into(), ..Model::default() };
/// assert_eq!(model.label(), "azure/gpt-5");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Model {
    /// The suite's provider. If omitted, the id selects the family.
    pub provider: Option<String>,
    /// The provider's id of the model.
    pub id: String,
    /// Its own parameters, by their names in the suite. They override the agent's.
    pub parameters: BTreeMap<String, Value>,
}

/// The place of an agent's recorded runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CassettePath {
    /// One file, which recording writes and replay reads. `{model}` means the model.
    File(String),
    /// Files or patterns that are only read. Their traces are the runs, in order. Empty if the runs
    /// come from elsewhere.
    ReadOnly(Vec<String>),
    /// The evidence that an entry of `evals:` grades, which is only read too.
    Graded(Graded),
}

/// The evidence that an entry of `evals:` grades.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Graded {
    /// The recordings of an agent's rows.
    Agent {
        /// The agent's name.
        name: String,
        /// The variants to record.
        variants: Vec<Variant>,
    },
    /// The traces of these files and patterns, of unknown origin.
    Traces(Vec<String>),
    /// These texts, each the closing message of a run.
    Texts(Vec<String>),
}

impl Agent {
    pub(super) fn read(field: &mut Field<'_>) -> Option<Self> {
        let span = field.span();
        let scope = field.reading.scope();
        field.define("agent", |field| {
            field.try_block(|block| read::read_block(block, span, &scope))
        })
    }

    /// Looks up the lines that its checks are written on.
    pub(super) fn find_lines(&mut self, sources: &Sources) {
        self.expect
            .iter_mut()
            .for_each(|assertion| assertion.find_line(sources));
        self.gates
            .iter_mut()
            .for_each(|gate| gate.find_lines(sources));
    }

    /// The problems of its gates that are known at load time.
    pub(super) fn lint(
        &self,
        catalogue: Option<&[CatalogueTool]>,
        faults: &[Fault],
    ) -> Vec<Problem> {
        let prompts: Vec<String> = self.turns.iter().map(|turn| turn.value.clone()).collect();
        let inject: Vec<&Fault> = self.injected(faults).collect();
        let models: Vec<String> = self.models.iter().map(Model::label).collect();
        let facts = AgentFacts {
            runs: if self.takes_all_traces() {
                0
            } else {
                self.runs
            },
            key_span: self.span,
            named: &[],
            expect: &[],
            expectations: self.expect.iter().filter(|one| one.is_observable()).count()
                + self
                    .gates
                    .iter()
                    .filter(|gate| gate.decides_a_run())
                    .count(),
            prompts: &prompts,
            models: &models,
            servers: &self.servers,
            catalogue,
            inject: &inject,
        };
        let unhittable = inject
            .iter()
            .filter_map(|fault| self.unhittable(fault, catalogue));
        let chosen = self.unknown_choice(&facts);
        let of_runs = self
            .expect
            .iter()
            .filter_map(|assertion| assertion.lint(catalogue));
        unhittable
            .chain(chosen)
            .chain(of_runs)
            .chain(self.gates.iter().flat_map(|gate| gate.lint(&facts)))
            .collect()
    }

    /// The faults that are injected into its calls.
    pub fn injected<'f>(&self, faults: &'f [Fault]) -> impl Iterator<Item = &'f Fault> {
        self.inject
            .iter()
            .filter_map(|name| faults.iter().find(|fault| fault.name == *name))
    }

    /// The problem of a fault that none of its calls can meet.
    fn unhittable(&self, fault: &Fault, catalogue: Option<&[CatalogueTool]>) -> Option<Problem> {
        let injected = self
            .references
            .inject
            .iter()
            .find(|(name, _)| *name == fault.name)?;
        if let Some(server) = fault
            .target
            .server
            .as_ref()
            .filter(|server| !self.servers.contains(*server))
        {
            if self.servers.is_empty() {
                return None;
            }
            let message = format!(
                "`{}` can never take effect: the agent does not use `{server}`",
                fault.name
            );
            let help = "add the server to the agent's `servers:`, or inject another fault";
            return Some(
                Problem::error(message)
                    .at(injected.1)
                    .also(fault.span, "declared here")
                    .help(help),
            );
        }
        let unknown = fault.target.unknown_tool(catalogue?)?;
        let message = format!(
            "`{}` can never take effect: {}",
            fault.name, unknown.message
        );
        Some(Problem {
            message,
            ..unknown.at(fault.span).also(injected.1, "injected here")
        })
    }

    /// Returns true if its recordings are only read, and never written.
    pub fn is_read_only(&self) -> bool {
        matches!(
            self.cassette,
            Some(CassettePath::ReadOnly(_) | CassettePath::Graded(_))
        )
    }

    /// Returns true for an entry of `evals:`.
    pub fn is_eval(&self) -> bool {
        matches!(self.cassette, Some(CassettePath::Graded(_)))
    }

    /// The agent whose recordings are graded, for an entry of `evals:`.
    pub(crate) fn graded_agent(&self) -> Option<&str> {
        match &self.cassette {
            Some(CassettePath::Graded(Graded::Agent { name, .. })) => Some(name),
            _ => None,
        }
    }

    /// The number of recorded runs to judge.
    pub fn runs_to_judge(&self, recorded: usize) -> usize {
        if self.takes_all_traces() {
            recorded.max(1)
        } else {
            self.runs
        }
    }

    /// Returns true if all runs of a list or pattern are judged.
    pub(super) fn takes_all_traces(&self) -> bool {
        !self.says_runs && self.is_read_only()
    }

    /// The price of a model's tokens: from one of its gates, otherwise from mcptest's table.
    pub fn price(&self, model: &str) -> Option<Price> {
        let own = self
            .gates
            .iter()
            .find_map(|gate| gate.recording(None).prices?.get(model));
        own.or_else(|| shipped_price(model))
    }

    /// The cost in USD of a run with these tokens, if they are counted and the price is known.
    pub fn cost_usd(&self, model: &str, tokens: Tokens) -> Option<f64> {
        self.price(model)?.cost_usd(tokens)
    }

    /// The time budget of one call, if a gate sets one.
    pub fn call_budget_ms(&self) -> Option<u64> {
        self.gates
            .iter()
            .find_map(|gate| gate.recording(None).call_budget_ms)
    }

    /// The world of one of its gates, if any.
    pub fn world(&self) -> Option<&Arc<World>> {
        self.gates
            .iter()
            .find_map(|gate| gate.recording(None).world)
    }

    /// The variants in which it is recorded and judged, each a separate row. Empty with only one row.
    pub fn variants(&self) -> Vec<Variant> {
        if let Some(CassettePath::Graded(Graded::Agent { variants, .. })) = &self.cassette {
            return variants.clone();
        }
        self.gates.iter().flat_map(GateBlock::variants).collect()
    }

    /// The key of the gate for which this variant is only the baseline of comparison.
    pub fn baseline_of(&self, variant: Option<Variant>) -> Option<&'static str> {
        let gate = self
            .gates
            .iter()
            .find(|gate| gate.variants().any(|own| Some(own) == variant))?;
        (variant?.is_baseline()).then(|| gate.key())
    }

    /// Tools to add to the servers' tools while a run is recorded, each marked as a distractor.
    pub fn injected_tools(
        &self,
        variant: Option<Variant>,
        offered: &[CatalogueTool],
    ) -> Vec<CatalogueTool> {
        let made = |gate| Some(GateBlock::recording(gate, variant).injected_tools?(offered));
        self.gates.iter().filter_map(made).flatten().collect()
    }

    /// Every question to judges, by the paths of its checks.
    pub fn checks_of_judges(&self) -> Vec<(String, &Question)> {
        let of_expect = graded(&self.expect).map(|(check, _, question)| (check, question));
        let of_gates = self
            .gates
            .iter()
            .filter_map(|gate| Some((gate.key().to_owned(), gate.question()?)));
        of_expect.chain(of_gates).collect()
    }

    /// Returns true if it injects distractors.
    pub fn injects_tools(&self, variant: Option<Variant>) -> bool {
        self.gates
            .iter()
            .any(|gate| gate.recording(variant).injected_tools.is_some())
    }

    /// The names of all its rows.
    pub(super) fn row_names(&self) -> Vec<String> {
        self.rows()
            .map(|(model, variant)| self.row_name(model, variant))
            .collect()
    }

    /// Returns true if rows name the model, because several exist.
    pub fn has_several_models(&self) -> bool {
        self.models.len() > 1
    }
}

impl CassettePath {
    /// Returns true if each model has a separate file.
    pub fn is_per_model(&self) -> bool {
        match self {
            Self::File(path) => path.contains("{model}"),
            Self::ReadOnly(paths) => paths.iter().all(|path| path.contains("{model}")),
            Self::Graded(_) => false,
        }
    }
}

impl Model {
    /// An id, or `{provider, id}`, of a model that judges and has no parameters; the provider's name must exist elsewhere
    /// in the suite.
    pub(crate) fn read(field: &mut Field<'_>, providers: &mut Vec<(String, Span)>) -> Option<Self> {
        field.define("judge", |field| {
            field.shapes("a model's id or {provider, id}", |shapes| {
                shapes.text(|f| {
                    f.name().map(|id| Self {
                        id,
                        ..Self::default()
                    })
                });
                shapes.block(|b| {
                    let doc = "A provider's name under `providers:`";
                    let provider = b.required("provider", doc, |f| read::named(f, providers));
                    let id = b.required("id", "The provider's id of the model", |f| f.name());
                    Some(Self {
                        provider,
                        id: id?,
                        ..Self::default()
                    })
                });
            })
        })
    }

    /// The model as rows and recordings name it: `id`, or `provider/id`.
    pub fn label(&self) -> String {
        match &self.provider {
            Some(provider) => format!("{provider}/{}", self.id),
            None => self.id.clone(),
        }
    }
}
