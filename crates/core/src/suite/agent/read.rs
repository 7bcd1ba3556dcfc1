//! What does one entry of `agents:` say?

use super::{Agent, CassettePath, Model, OwnAgent, References, request, view};
use crate::engine::{Assertion, GateBlock, Success};
use crate::problem::{Problem, Span};
use crate::report::Place;
use crate::suite::each;
use crate::suite::read::{Block, Field};
use crate::suite::server::program;
use crate::suite::variables::{Scope, Text};
use crate::target::{Path, Roots};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(super) fn read_block(block: &mut Block<'_>, span: Span, scope: &Scope) -> Option<Agent> {
    let name = block.required("name", "The test's name, unique in the suite", |f| {
        f.public_name()
    });
    each::read_key(block);
    let agent = read_unnamed(block, span, scope);
    check_recording(block, &agent);
    check_gates(block, &agent);
    let agent = Agent {
        name: name?,
        ..agent
    };
    warn_if_nothing_is_judged(block, &agent);
    Some(agent)
}

/// Every key but the name.
fn read_unnamed(block: &mut Block<'_>, span: Span, scope: &Scope) -> Agent {
    let mut references = References::default();
    let models = read_models(block, &mut references);
    let own = OwnAgent::read(block, scope);
    let servers = read_names(
        block,
        "servers",
        "The servers the agent can use, by their names under `servers:`",
        &mut references.servers,
    );
    let turns = read_turns(block);
    let system_prompt = block.optional(
        "system_prompt",
        "The instructions before the conversation",
        |f| f.text(),
    );
    let mut parameters = read_parameters(block, &mut references.parameters);
    parameters.extend(own.as_ref().map(|own| ("agent".to_owned(), own.template())));
    let agent = Agent {
        runs: read_runs(block),
        says_runs: block.has("runs"),
        request_timeout_ms: read_request_timeout(block),
        stop_decided: read_stop(block),
        only: read_only(block),
        setup: read_command(block, "setup", "A command to run before each recorded run"),
        teardown: read_command(
            block,
            "teardown",
            "A command to run after each recorded run",
        ),
        inject: read_names(
            block,
            "inject",
            "Faults to inject, by their names under `faults:`",
            &mut references.inject,
        ),
        tags: block.list("tags", "Words to select the test by", |f| f.name()),
        skip: block.optional("skip", "The reason to skip the test", read_skip),
        cassette: read_recordings(block, models.len()),
        expect: read_expect(block),
        gates: read_gates(block),
        name: String::new(),
        models,
        own,
        servers,
        turns,
        system_prompt,
        parameters,
        scope: scope.clone(),
        span: block.key_span("name").unwrap_or(span),
        place: Place::default(),
        references,
    };
    Success::read_for_agent(block);
    agent
}

/// Refuses keys of recording that contradict each other.
fn check_recording(block: &Block<'_>, agent: &Agent) {
    if agent.stop_decided {
        warn_if_nothing_is_saved(block, agent);
        refuse_stop_with_judges(block, agent);
    }
    require_question(block, agent.cassette.is_some());
    if agent.own.is_some() && agent.turns.len() > 1 {
        refuse_turns(block);
    }
}

fn read_request_timeout(block: &mut Block<'_>) -> Option<u64> {
    let doc = "The time limit for one answer of the model, such as `60s` [default: the provider's, or 120s]";
    block.optional("request_timeout", doc, |f| f.limit_ms())
}

fn read_runs(block: &mut Block<'_>) -> usize {
    let doc =
        "The number of runs to judge [default: 1, or all runs of a list or pattern of traces]";
    let written = block.optional("runs", doc, |f| f.whole(0..=100_000));
    written.unwrap_or(1).max(1) as usize
}

fn read_expect(block: &mut Block<'_>) -> Vec<Assertion<Path>> {
    let expect = block.optional("expect", "Assertions on each run", |f| {
        Assertion::<Path>::read_list(f, Roots::Trace)
    });
    if expect.as_ref().is_some_and(Vec::is_empty) {
        let problem =
            Problem::error("an empty `expect:` asserts nothing").help("remove it or name a target");
        block.report_at("expect", problem);
    }
    expect.unwrap_or_default()
}

/// Refuses `stop: decided` with judges: runs are graded after all of them are recorded, so none can
/// be known to be unnecessary before.
fn refuse_stop_with_judges(block: &Block<'_>, agent: &Agent) {
    let asks_judges = agent.expect.iter().any(|one| !one.is_observable())
        || agent.gates.iter().any(GateBlock::is_graded);
    if asks_judges {
        let problem = Problem::error(
            "`stop: decided` does not work if a model judges or a scorer gives numbers",
        );
        let help = "remove `stop:`: runs are graded after all of them are recorded";
        block.report_at("stop", problem.help(help));
    }
}

fn refuse_turns(block: &Block<'_>) {
    let problem = Problem::error("your own agent receives one prompt, not several `turns:`");
    let help = "write `prompt:`, or let the agent itself lead the conversation";
    block.report_at("turns", problem.help(help));
}

/// Refuses two gates with side runs: there is only one cassette for side runs.
fn refuse_two_gates_with_runs(block: &Block<'_>, gates: &[GateBlock]) {
    let keys: Vec<&str> = gates
        .iter()
        .filter(|gate| gate.judges_side_runs())
        .map(GateBlock::key)
        .collect();
    if let [first, second, ..] = keys[..] {
        let message = format!(
            "`{first}` and `{second}` cannot be used together: each makes its own extra runs"
        );
        let problem = Problem::error(message).at(block.key_span(second).unwrap_or_default());
        block.report(problem.help("write a second agent for one of them"));
    }
}

/// Refuses gates whose extra recordings cannot be written next to the agent's recordings.
fn check_gates(block: &Block<'_>, agent: &Agent) {
    refuse_two_gates_with_runs(block, &agent.gates);
    let has_more_files =
        |gate: &&GateBlock| gate.variants().next().is_some() || gate.judges_side_runs();
    let is_read_only = matches!(agent.cassette, Some(CassettePath::ReadOnly(_)));
    if let Some(gate) = agent
        .gates
        .iter()
        .find(has_more_files)
        .filter(|_| is_read_only)
    {
        let message = format!(
            "`{}` writes its own recordings, and this `cassette:` does not name a single path for them",
            gate.key()
        );
        let problem = Problem::error(message);
        let help = "name one path, from which the others are derived, or omit `cassette:`";
        block.report_at("cassette", problem.help(help));
    }
}

/// Reads the place of the recordings: `cassette:`, unless `--traces` names others.
fn read_recordings(block: &mut Block<'_>, models: usize) -> Option<CassettePath> {
    let cassette = read_cassette(block, models);
    if matches!(cassette, Some(CassettePath::ReadOnly(_))) {
        refuse_keys_of_recording(block);
    }
    if block.traces_are_given() {
        Some(CassettePath::ReadOnly(Vec::new()))
    } else {
        cassette
    }
}

/// Reads a list of names, which are checked once the whole suite is known.
fn read_names(
    block: &mut Block<'_>,
    key: &'static str,
    doc: &'static str,
    into: &mut Vec<(String, Span)>,
) -> Vec<String> {
    block.list(key, doc, |f| named(f, into))
}

pub(in crate::suite) fn named(
    field: &mut Field<'_>,
    into: &mut Vec<(String, Span)>,
) -> Option<String> {
    let (name, span) = field.placed_name()?;
    into.push((name.clone(), span));
    Some(name)
}

fn read_models(block: &mut Block<'_>, references: &mut References) -> Vec<Model> {
    block.at_most_one_of(&["model", "models", "agent"]);
    references.code_execution = block.key_span(view::CODE_EXECUTION);
    let one = block.optional(
        "model",
        "The model's id, or {provider, id} with its own parameters",
        |f| read_model(f, references),
    );
    let many = block.optional("models", "Several models: each gets its own rows", |f| {
        f.list(|f| read_model(f, references))
    });
    if many.as_ref().is_some_and(Vec::is_empty) {
        block.report_at("models", Problem::error("`models:` is empty"));
    }
    let many = many.unwrap_or_default();
    refuse_repeated_models(block, &many);
    one.into_iter().chain(many).collect()
}

fn refuse_repeated_models(block: &Block<'_>, models: &[Model]) {
    for (at, model) in models.iter().enumerate() {
        let mut earlier = models[..at].iter();
        if earlier.any(|earlier| earlier.label() == model.label()) {
            let problem = Problem::error(format!("the model `{}` is listed twice", model.id));
            let help = "each model is one row; for more runs of it, write `runs:`; for other parameters, add an agent";
            block.report_at("models", problem.help(help));
        }
    }
}

fn read_model(field: &mut Field<'_>, references: &mut References) -> Option<Model> {
    field.define("model", |field| {
        field.shapes("a model's id or {provider, id}", |shapes| {
            shapes.text(|f| {
                f.name().map(|id| Model {
                    id,
                    ..Model::default()
                })
            });
            shapes.block(|block| read_model_block(block, references));
        })
    })
}

fn read_model_block(block: &mut Block<'_>, references: &mut References) -> Option<Model> {
    let provider = block.optional("provider", "A provider's name under `providers:`", |f| {
        named(f, &mut references.providers)
    });
    block.at_most_one_of(&["id", "model"]);
    let id = block.optional("id", "The provider's id of the model", |f| f.name());
    let same = block.optional("model", "Alias of `id`", |f| f.name());
    if !block.has("model") {
        block.need("id", "The provider's id of the model");
    }
    let mut spans = Vec::new();
    let parameters = request::read(block, &mut spans);
    let model = Model {
        provider,
        id: id.or(same)?,
        parameters,
    };
    references.of_models.push((model.label(), spans));
    Some(model)
}

fn read_turns(block: &mut Block<'_>) -> Vec<Text> {
    block.at_most_one_of(&["prompt", "turns"]);
    let prompt = block.optional("prompt", "The user's message", |f| f.text());
    let turns = block.optional("turns", "The user's messages, turn by turn", |f| {
        f.list(|f| f.text())
    });
    if turns.as_ref().is_some_and(Vec::is_empty) {
        block.report_at("turns", Problem::error("`turns:` is empty"));
    }
    prompt
        .into_iter()
        .chain(turns.into_iter().flatten())
        .collect()
}

fn read_stop(block: &mut Block<'_>) -> bool {
    let doc = "`decided` ends recording as soon as no remaining run can change the verdict";
    block
        .optional("stop", doc, |f| {
            f.choice("a way to stop", &[("decided", true)])
        })
        .unwrap_or(false)
}

/// An early stop needs runs to save.
fn warn_if_nothing_is_saved(block: &Block<'_>, agent: &Agent) {
    let is_recorded = !matches!(agent.cassette, Some(CassettePath::ReadOnly(_)));
    if let Some(span) = block
        .key_span("stop")
        .filter(|_| is_recorded && agent.runs == 1)
    {
        let problem =
            Problem::warning("`stop: decided` saves nothing: there is only one run").at(span);
        block.report(problem.help("write `runs:` with the number of runs, or remove `stop:`"));
    }
}

/// Refuses recording keys on agents whose recordings are only read.
fn refuse_keys_of_recording(block: &Block<'_>) {
    for key in ["agent", "stop", "setup", "teardown"] {
        if let Some(span) = block.key_span(key) {
            let message = format!(
                "`{key}` has no effect here: a list or pattern under `cassette:` is only read, never recorded"
            );
            let help = format!(
                "remove `{key}`, or write one path under `cassette:`, where runs are recorded"
            );
            block.report(Problem::error(message).at(span).help(help));
        }
    }
}

fn read_command(block: &mut Block<'_>, key: &'static str, doc: &str) -> Option<Vec<String>> {
    let words = block.optional(key, doc, |f| program::read_command(f, false));
    if words.as_ref().is_some_and(Vec::is_empty) {
        let problem =
            Problem::error(format!("`{key}` is empty")).help(format!("as `{key}: [./{key}.sh]`"));
        block.report_at(key, problem);
    }
    words
}

fn read_parameters(
    block: &mut Block<'_>,
    spans: &mut Vec<(&'static str, Span)>,
) -> BTreeMap<String, Value> {
    let mut parameters = request::read(block, spans);
    for (key, doc) in [
        (
            "max_turns",
            "The maximum number of assistant turns of a run",
        ),
        ("max_tokens", "The maximum number of tokens of one answer"),
        (
            "max_tool_calls",
            "The maximum number of tool calls of a run",
        ),
        ("token_budget", "The maximum number of tokens of a run"),
    ] {
        request::put(block, &mut parameters, key, doc, |f| f.whole(1..=u64::MAX));
    }
    let doc = "The time limit for a run, such as `2m`";
    request::put(block, &mut parameters, "time_budget", doc, |f| f.limit_ms());
    view::read(block, &mut parameters);
    request::read_caching(block, &mut parameters);
    parameters
}

pub(in crate::suite) fn read_only(block: &mut Block<'_>) -> bool {
    let only = block.flag("only", "Judge only the tests with `only: true`", false);
    if let Some(span) = block.key_span("only").filter(|_| only) {
        let problem = if block.has("skip") {
            Problem::warning("`only: true` has no effect on a skipped test: other tests are judged")
                .help("remove `skip:` or `only:`")
        } else {
            Problem::warning("`only: true` excludes every other test")
                .help("remove it before you commit")
        };
        block.report(problem.at(span));
    }
    only
}

pub(in crate::suite) fn read_skip(field: &mut Field<'_>) -> Option<String> {
    let reason = field.shapes(
        "a reason, such as `skip: waits for the new search tool`",
        |shapes| {
            shapes.text(|f| f.name());
        },
    );
    field.amend_schema("description", json!("The reason to skip the test"));
    reason
}

fn read_cassette(block: &mut Block<'_>, models: usize) -> Option<CassettePath> {
    let doc = "The path of the recorded runs, a list of paths, or a pattern, relative to the suite";
    let cassette = block.optional("cassette", doc, |f| {
        f.shapes("a path, a list of paths, or a pattern", |shapes| {
            shapes.text(|f| f.name().map(path_or_pattern));
            shapes.list(|f| f.list(|f| f.name()).map(CassettePath::ReadOnly));
        })
    })?;
    if let Some(problem) = refuse_cassette(&cassette, models) {
        block.report_at("cassette", problem);
    }
    Some(cassette)
}

fn path_or_pattern(written: String) -> CassettePath {
    let has_class = written
        .find('[')
        .is_some_and(|open| written[open..].contains(']'));
    if has_class || written.contains(['*', '?']) {
        CassettePath::ReadOnly(vec![written])
    } else {
        CassettePath::File(written)
    }
}

/// Refuses a cassette without files, or one that several models would share.
fn refuse_cassette(cassette: &CassettePath, models: usize) -> Option<Problem> {
    match cassette {
        CassettePath::ReadOnly(paths) if paths.is_empty() => {
            Some(Problem::error("`cassette:` names no file"))
        }
        _ if models < 2 || cassette.is_per_model() => None,
        CassettePath::File(_) => Some(
            Problem::error("several models cannot share one cassette")
                .help("put `{model}` into the path"),
        ),
        _ => Some(
            Problem::error("this does not show which traces belong to which model")
                .help("put `{model}` into every path and pattern"),
        ),
    }
}

fn read_gates(block: &mut Block<'_>) -> Vec<GateBlock> {
    let mut gates = Vec::new();
    for kind in block.gates() {
        let key_span = block.key_span(kind.key).unwrap_or_default();
        gates.extend(block.optional(kind.key, kind.summary, |f| kind.read_field(f, key_span)));
    }
    gates.shrink_to_fit();
    gates
}

/// Requires a model and a prompt, except for existing traces, which can be judged without.
fn require_question(block: &Block<'_>, has_cassette: bool) {
    if has_cassette || block.has("cassette") || block.has_slip_of(&["cassette"]) {
        return;
    }
    let missing =
        |keys: &[&'static str]| !keys.iter().any(|key| block.has(key)) && !block.has_slip_of(keys);
    if missing(&["model", "models", "agent"]) {
        let help = "name one, or your own `agent:`, or a `cassette:` with traces to judge";
        block.report(Problem::error("the agent has no `model:`").help(help));
    }
    if missing(&["prompt", "turns"]) {
        let help = "write one (or `turns:`), or name a `cassette:` whose traces are judged";
        block.report(Problem::error("the agent has no `prompt:`").help(help));
    }
}

fn warn_if_nothing_is_judged(block: &Block<'_>, agent: &Agent) {
    let gate_keys_written = block.gates().iter().any(|kind| block.has(kind.key));
    if agent.expect.is_empty()
        && !block.has("expect")
        && !gate_keys_written
        && !block.is_judged_by_suite()
        && !block.has_unknown()
        && agent.skip.is_none()
    {
        let problem = Problem::warning(format!(
            "`{}` checks nothing: it has no `expect:` and no gate",
            agent.name
        ));
        block.report(
            problem
                .at(agent.span)
                .help("add an `expect:` list or a gate (`mcptest explain` lists them)"),
        );
    }
}
