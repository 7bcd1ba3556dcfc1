//! `agents:` what is asked of whom, and how the recorded runs are judged.

use super::fault::Fault;
use super::read::{Block, Field};
use super::variables::Text;
use crate::eval::{AgentFacts, Assertion, GATES, GateBlock};
use crate::problem::{Problem, Span};
use crate::target::{Path, Roots};
use crate::trace::CatalogueTool;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// One agent under test.
#[derive(Debug)]
pub struct Agent {
    /// Its name, unique in the suite.
    pub name: String,
    /// The models it is run with; more than one make a matrix.
    pub models: Vec<Model>,
    /// The servers it can use.
    pub servers: Vec<String>,
    /// What the user says, turn by turn.
    pub turns: Vec<Text>,
    /// The system prompt.
    pub system_prompt: Option<Text>,
    /// Sampling parameters and limits, by their names in the suite.
    pub parameters: BTreeMap<String, Value>,
    /// How many runs are judged; at least one. A list or pattern of traces without `runs:` gives as many as it has.
    pub runs: usize,
    /// Whether `runs:` is written.
    pub says_runs: bool,
    /// The faults injected into its calls.
    pub inject: Vec<String>,
    /// Words to select it by.
    pub tags: Vec<String>,
    /// Why it is left out, when it is.
    pub skip: Option<String>,
    /// Whether only such tests are judged.
    pub only: bool,
    /// Where its recorded runs are, when not at the default place.
    pub cassette: Option<CassettePath>,
    /// What must hold in each run.
    pub expect: Vec<Assertion<Path>>,
    /// What must hold over all runs.
    pub gates: Vec<GateBlock>,
    /// Where it is written.
    pub span: Span,
    pub(super) references: References,
}

/// Names that must exist elsewhere in the suite, with their places.
#[derive(Debug, Default)]
pub(super) struct References {
    pub(super) servers: Vec<(String, Span)>,
    pub(super) inject: Vec<(String, Span)>,
    pub(super) providers: Vec<(String, Span)>,
}

/// A model by its id, at its own provider or one the suite declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// The suite's provider; found by the id's family when left out.
    pub provider: Option<String>,
    /// The provider's id of the model.
    pub id: String,
}

/// Where an agent's recorded runs are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CassettePath {
    /// One file, which recording writes and replay reads; `{model}` stands for the model.
    File(String),
    /// Files or patterns that are only read; their traces are the runs in order.
    ReadOnly(Vec<String>),
}

impl Agent {
    pub(super) fn read(field: &mut Field<'_>) -> Option<Self> {
        let span = field.span();
        field.define("agent", |field| field.block(|block| read_block(block, span)).flatten())
    }

    /// What can be said of its gates at load time.
    pub(super) fn lint(&self, catalogue: Option<&[CatalogueTool]>, faults: &[Fault]) -> Vec<Problem> {
        let prompts: Vec<String> = self.turns.iter().map(|turn| turn.value.clone()).collect();
        let inject: Vec<&Fault> = self.injected(faults).collect();
        let facts = AgentFacts {
            runs: if self.takes_all_traces() { 0 } else { self.runs },
            key_span: self.span,
            asserted: &[],
            expectations: self.expect.len(),
            prompts: &prompts,
            servers: &self.servers,
            catalogue,
            inject: &inject,
        };
        let unhittable = inject.iter().filter_map(|fault| self.unhittable(fault, catalogue));
        unhittable.chain(self.gates.iter().flat_map(|gate| gate.lint(&facts))).collect()
    }

    /// The faults that are injected into its calls.
    pub fn injected<'f>(&self, faults: &'f [Fault]) -> impl Iterator<Item = &'f Fault> {
        self.inject.iter().filter_map(|name| faults.iter().find(|fault| fault.name == *name))
    }

    /// A fault that none of its calls can run into.
    fn unhittable(&self, fault: &Fault, catalogue: Option<&[CatalogueTool]>) -> Option<Problem> {
        let injected = self.references.inject.iter().find(|(name, _)| *name == fault.name)?;
        if let Some(server) = fault.server.as_ref().filter(|server| !self.servers.contains(*server)) {
            if self.servers.is_empty() {
                return None;
            }
            let message = format!("`{}` can never be hit: the agent does not use `{server}`", fault.name);
            let help = "add the server to the agent's `servers:`, or inject another fault";
            return Some(Problem::error(message).at(injected.1).also(fault.span, "declared here").help(help));
        }
        let unknown = fault.unknown_tool(catalogue?)?;
        let message = format!("`{}` can never be hit: {}", fault.name, unknown.message);
        Some(Problem::error(message).at(fault.span).also(injected.1, "injected here").help(unknown.help))
    }

    /// How many of the recorded runs are judged.
    pub fn runs_to_judge(&self, recorded: usize) -> usize {
        if self.takes_all_traces() { recorded.max(1) } else { self.runs }
    }

    /// Whether as many runs are judged as a list or pattern has traces.
    fn takes_all_traces(&self) -> bool {
        !self.says_runs && matches!(self.cassette, Some(CassettePath::ReadOnly(_)))
    }

    /// Whether rows name the model, because there is more than one.
    pub fn is_matrix(&self) -> bool {
        self.models.len() > 1
    }
}

fn read_block(block: &mut Block<'_>, span: Span) -> Option<Agent> {
    let mut references = References::default();
    let name = block.required("name", "The test's name, unique in the suite", |f| f.name());
    let models = read_models(block, &mut references);
    let servers =
        block.optional("servers", "The servers the agent can use, by their names under `servers:`", |f| {
            f.list(|f| named(f, &mut references.servers))
        });
    let turns = read_turns(block);
    let system_prompt =
        block.optional("system_prompt", "What the agent is told before the conversation", |f| f.text());
    let parameters = read_parameters(block);
    let runs = block
        .optional("runs", "How many runs are judged: 1, or as many as a list or pattern of traces has", |f| {
            f.whole(0..=100_000)
        })
        .unwrap_or(1);
    let inject = block.optional("inject", "Faults to inject, by their names under `faults:`", |f| {
        f.list(|f| named(f, &mut references.inject))
    });
    let tags = block.optional("tags", "Words to select the test by", |f| f.list(|f| f.name()));
    let skip = block.optional("skip", "Why the test is left out", read_skip);
    let only = read_only(block);
    let cassette = read_cassette(block, models.len());
    let expect = block
        .optional("expect", "What must hold in each run", |f| Assertion::<Path>::read_list(f, Roots::Trace));
    if expect.as_ref().is_some_and(Vec::is_empty) {
        let problem = Problem::error("an empty `expect:` asserts nothing").help("remove it or name a target");
        block.report(problem.at(block.key_span("expect").unwrap_or_default()));
    }
    let gates = read_gates(block);
    require_question(block, cassette.is_some());
    let agent = Agent {
        name: name?,
        models,
        servers: servers.unwrap_or_default(),
        turns,
        system_prompt,
        parameters,
        runs: runs.max(1) as usize,
        says_runs: block.has("runs"),
        inject: inject.unwrap_or_default(),
        tags: tags.unwrap_or_default(),
        skip,
        only,
        cassette,
        expect: expect.unwrap_or_default(),
        gates,
        span: block.key_span("name").unwrap_or(span),
        references,
    };
    warn_if_nothing_is_judged(block, &agent);
    Some(agent)
}

fn named(field: &mut Field<'_>, into: &mut Vec<(String, Span)>) -> Option<String> {
    let span = field.span();
    let name = field.name()?;
    into.push((name.clone(), span));
    Some(name)
}

fn read_models(block: &mut Block<'_>, references: &mut References) -> Vec<Model> {
    block.at_most_one_of(&["model", "models"]);
    let one = block.optional("model", "The model's id, or {provider, id}", |f| read_model(f, references));
    let many = block.optional("models", "Several models: each gets its own rows", |f| {
        f.list(|f| read_model(f, references))
    });
    if many.as_ref().is_some_and(Vec::is_empty) {
        block.report(Problem::error("`models:` is empty").at(block.key_span("models").unwrap_or_default()));
    }
    let many = many.unwrap_or_default();
    for (at, model) in many.iter().enumerate() {
        if many[..at].contains(model) {
            let problem = Problem::error(format!("the model `{}` is listed twice", model.id));
            let problem = problem.help("each model is one row; for more of the same, write `runs:`");
            block.report(problem.at(block.key_span("models").unwrap_or_default()));
        }
    }
    one.into_iter().chain(many).collect()
}

fn read_model(field: &mut Field<'_>, references: &mut References) -> Option<Model> {
    field.define("model", |field| {
        field.shapes("a model's id or {provider, id}", |shapes| {
            shapes.text(|f| f.name().map(|id| Model { provider: None, id }));
            shapes.block(|b| {
                let provider = b.required("provider", "A provider's name under `providers:`", |f| {
                    named(f, &mut references.providers)
                });
                let id = b.required("id", "The provider's id of the model", |f| f.name());
                Some(Model { provider, id: id? })
            });
        })
    })
}

fn read_turns(block: &mut Block<'_>) -> Vec<Text> {
    block.at_most_one_of(&["prompt", "turns"]);
    let prompt = block.optional("prompt", "What the user asks", |f| f.text());
    let turns = block.optional("turns", "What the user says, turn by turn", |f| f.list(|f| f.text()));
    if turns.as_ref().is_some_and(Vec::is_empty) {
        block.report(Problem::error("`turns:` is empty").at(block.key_span("turns").unwrap_or_default()));
    }
    prompt.into_iter().chain(turns.into_iter().flatten()).collect()
}

fn read_parameters(block: &mut Block<'_>) -> BTreeMap<String, Value> {
    let mut parameters = BTreeMap::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            parameters.insert(key.to_owned(), value);
        }
    };
    let whole = |f: &mut Field<'_>| f.whole(1..=u64::MAX).map(Value::from);
    put("max_turns", block.optional("max_turns", "The most assistant turns of a run", whole));
    put("max_tokens", block.optional("max_tokens", "The most tokens of one answer", whole));
    put("max_tool_calls", block.optional("max_tool_calls", "The most tool calls of a run", whole));
    put(
        "temperature",
        block.optional("temperature", "The sampling temperature", |f| f.number(0.0..=2.0).map(|t| json!(t))),
    );
    put("token_budget", block.optional("token_budget", "The most tokens of a run", whole));
    put(
        "time_budget",
        block.optional("time_budget", "How long a run may take, as `2m`", |f| f.limit_ms().map(Value::from)),
    );
    parameters
}

pub(super) fn read_only(block: &mut Block<'_>) -> bool {
    let only = block.flag("only", "Judge only tests that say so", false);
    if let Some(span) = block.key_span("only").filter(|_| only) {
        let problem = Problem::warning("`only: true` leaves every other test out").at(span);
        block.report(problem.help("remove it before you commit"));
    }
    only
}

pub(super) fn read_skip(field: &mut Field<'_>) -> Option<String> {
    let reason = field.shapes("a reason, as `skip: waits for the new search tool`", |shapes| {
        shapes.text(|f| f.name());
    });
    field.amend_schema("description", json!("Why the test is left out"));
    reason
}

fn read_cassette(block: &mut Block<'_>, models: usize) -> Option<CassettePath> {
    let doc = "Where the recorded runs are: a path, a list of paths, or a pattern, relative to the suite";
    let cassette = block.optional("cassette", doc, |f| {
        f.shapes("a path, a list of paths, or a pattern", |shapes| {
            shapes.text(|f| {
                let path = f.name()?;
                let has_class = path.find('[').is_some_and(|open| path[open..].contains(']'));
                let is_pattern = has_class || path.contains(['*', '?']);
                Some(if is_pattern { CassettePath::ReadOnly(vec![path]) } else { CassettePath::File(path) })
            });
            shapes.list(|f| f.list(|f| f.name()).map(CassettePath::ReadOnly));
        })
    })?;
    let problem = match &cassette {
        CassettePath::ReadOnly(paths) if paths.is_empty() => {
            Some(Problem::error("`cassette:` names no file"))
        }
        CassettePath::File(path) if models > 1 && !path.contains("{model}") => Some(
            Problem::error("several models cannot share one cassette").help("put `{model}` into the path"),
        ),
        CassettePath::ReadOnly(paths) if models > 1 && !paths.iter().all(|path| path.contains("{model}")) => {
            Some(
                Problem::error("this does not say which traces belong to which model")
                    .help("put `{model}` into every path and pattern"),
            )
        }
        _ => None,
    };
    if let Some(problem) = problem {
        block.report(problem.at(block.key_span("cassette").unwrap_or_default()));
    }
    Some(cassette)
}

fn read_gates(block: &mut Block<'_>) -> Vec<GateBlock> {
    let mut gates = Vec::new();
    for kind in GATES {
        let key_span = block.key_span(kind.key).unwrap_or_default();
        gates.extend(block.optional(kind.key, kind.summary, |f| (kind.read)(f, key_span)));
    }
    gates
}

/// Traces that exist already can be judged without saying who made them; all else needs a model and a prompt.
fn require_question(block: &Block<'_>, has_cassette: bool) {
    if has_cassette || block.has("cassette") || block.has_slip_of(&["cassette"]) {
        return;
    }
    let missing =
        |keys: [&'static str; 2]| !keys.iter().any(|key| block.has(key)) && !block.has_slip_of(&keys);
    if missing(["model", "models"]) {
        block.report(
            Problem::error("the agent has no `model:`")
                .help("name one, or a `cassette:` whose traces are judged"),
        );
    }
    if missing(["prompt", "turns"]) {
        block.report(
            Problem::error("the agent has no `prompt:`")
                .help("write one (or `turns:`), or name a `cassette:` whose traces are judged"),
        );
    }
}

fn warn_if_nothing_is_judged(block: &Block<'_>, agent: &Agent) {
    let gate_keys_written = GATES.iter().any(|kind| block.has(kind.key));
    if agent.expect.is_empty()
        && !block.has("expect")
        && !gate_keys_written
        && !block.has_unknown()
        && agent.skip.is_none()
    {
        let problem =
            Problem::warning(format!("`{}` judges nothing: it has neither `expect:` nor a gate", agent.name));
        block.report(
            problem.at(agent.span).help("add an `expect:` list or a gate (`mcptest explain` lists them)"),
        );
    }
}

impl Model {
    /// The model as rows and recordings name it: `id`, or `provider/id`.
    pub fn label(&self) -> String {
        match &self.provider {
            Some(provider) => format!("{provider}/{}", self.id),
            None => self.id.clone(),
        }
    }
}
