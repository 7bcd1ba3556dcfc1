//! How does a baseline summarize the runs of a test?

use super::{CallBaseline, GateBaseline, Length, ResponseBaseline, RunBaseline, TestBaseline};
use mcptest_core::digest::{digest, digest_of_value};
use mcptest_core::gates::{GateBlock, GateTrait};
use mcptest_core::json::type_word;
use mcptest_core::report::{Number, Status};
use mcptest_core::row::AgentRow;
use mcptest_core::suite::{Agent, Variant};
use mcptest_core::trace::{Call, Run, Tool, Trace, splits};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

type GateNumbers = BTreeMap<String, Option<Number>>;

/// The baseline of these runs of a row.
pub fn capture(row: AgentRow<'_>, runs: &[Run<'_>]) -> TestBaseline {
    let AgentRow {
        suite,
        agent,
        variant,
        ..
    } = row;
    let only_server = match &agent.servers[..] {
        [server] => Some(server.as_str()),
        _ => None,
    };
    let capture_run = |run: &Run<'_>| RunBaseline {
        numbers: numbers_of_run(agent, variant, run),
        ..RunBaseline::new(run, only_server)
    };
    TestBaseline {
        gates: gates_over_all(agent, variant, runs),
        runs: runs.iter().map(capture_run).collect(),
        ..of_question(&suite.path, agent, variant)
    }
}

/// The agent's test with only its question.
pub(crate) fn of_question(suite: &Path, agent: &Agent, variant: Option<Variant>) -> TestBaseline {
    let prompts: Vec<&str> = agent
        .turns
        .iter()
        .map(|turn| turn.template.as_str())
        .collect();
    let system = agent
        .system_prompt
        .as_ref()
        .map(|prompt| prompt.template.as_str());
    let expect: Vec<Value> = agent
        .expect
        .iter()
        .map(|one| json!([one.target.as_str(), one.matcher.written()]))
        .collect();
    TestBaseline {
        suite: suite
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        name: agent.row_name(None, variant),
        question: digest_of_value(&json!([prompts, system, agent.servers, agent.parameters])),
        expect: digest_of_value(&Value::from(expect)),
        ..TestBaseline::default()
    }
}

/// The score of each gate over all runs.
fn gates_over_all(
    agent: &Agent,
    variant: Option<Variant>,
    runs: &[Run<'_>],
) -> BTreeMap<String, GateBaseline> {
    let judge = |gate: &GateBlock| {
        let report = gate.judge_variant(variant, "", runs);
        GateBaseline {
            block: gate.digest().to_owned(),
            passed: report.status == Status::Passed,
            numbers: without_pass_rates(gate, report.targets),
        }
    };
    let gates = agent.gates.iter().filter(|gate| takes_part(gate));
    gates
        .map(|gate| (gate.key().to_owned(), judge(gate)))
        .collect()
}

/// The numbers of each gate that can be scored on this run alone.
fn numbers_of_run(
    agent: &Agent,
    variant: Option<Variant>,
    run: &Run<'_>,
) -> BTreeMap<String, GateNumbers> {
    let judge = |gate: &GateBlock| {
        let report = gate.judge_variant(variant, "", std::slice::from_ref(run));
        without_pass_rates(gate, report.targets)
    };
    let gates = agent.gates.iter().filter(|gate| takes_part(gate));
    gates
        .filter(|gate| !gate.compares_runs() && !gate.is(GateTrait::DecidesRuns))
        .map(|gate| (gate.key().to_owned(), judge(gate)))
        .collect()
}

/// Returns true if a baseline may contain the gate: not if it makes its own runs, asks judges or
/// compares with a baseline.
fn takes_part(gate: &GateBlock) -> bool {
    !gate.judges_side_runs()
        && !gate.is(GateTrait::ComparesWithBaseline)
        && gate.question().is_none()
}

/// The numbers without the share of passed runs, which the runs themselves show.
fn without_pass_rates(gate: &GateBlock, mut numbers: GateNumbers) -> GateNumbers {
    let pass_rates = gate.targets().iter().filter(|target| target.is_pass_rate());
    for target in pass_rates {
        numbers.remove(target.name);
    }
    numbers
}

impl RunBaseline {
    /// Describes one run, without the numbers of gates.
    pub fn of(run: &Run<'_>) -> Self {
        Self::new(run, None)
    }

    /// Describes one run. Calls without a server belong to the agent's only server.
    fn new(run: &Run<'_>, only_server: Option<&str>) -> Self {
        Self {
            run: run.number,
            passed: run.passed,
            stop_reason: run.trace.stop_reason.as_deref().map(str::to_owned),
            calls: capture_calls(run.trace, only_server),
            response: capture_response(run.trace.final_response.as_deref().unwrap_or_default()),
            numbers: BTreeMap::new(),
        }
    }
}

fn capture_calls(trace: &Trace<'_>, only_server: Option<&str>) -> Vec<CallBaseline> {
    // A call without a turn is a turn of its own.
    let shares_turn =
        |call: &Call<'_>, next: &Call<'_>| call.turn.is_some() && call.turn == next.turn;
    let mut captured = Vec::new();
    for (turn, calls) in trace.tool_calls.chunk_by(shares_turn).enumerate() {
        captured.extend(calls.iter().map(|call| CallBaseline {
            tool: tool_name(call, only_server),
            turn,
            args: arguments(call),
        }));
    }
    captured
}

/// The arguments, or their text if they were not JSON.
fn arguments(call: &Call<'_>) -> Option<Value> {
    let parsed = call
        .args
        .and_then(|args| serde_json::from_str(args.get()).ok());
    parsed.or_else(|| call.args_text.as_deref().map(Value::from))
}

/// The tool as `server.tool`. A name with its own server, or of a distractor, is unchanged.
fn tool_name(call: &Call<'_>, only_server: Option<&str>) -> String {
    let tool = Tool::from(call);
    let names_no_server =
        tool.server.is_none() && !call.distractor && splits(tool.name).next().is_none();
    match only_server.filter(|_| names_no_server) {
        Some(server) => Tool::new(tool.name, Some(server)).full_name(),
        None => tool.full_name(),
    }
}

fn capture_response(text: &str) -> ResponseBaseline {
    let text = text.trim();
    let length = match text.chars().take(2000).count() {
        0 => Length::Empty,
        1..200 => Length::Short,
        200..2000 => Length::Medium,
        _ => Length::Long,
    };
    ResponseBaseline {
        length,
        text: digest(text.as_bytes()),
        shape: structured(text).map(|value| shape(&value)),
    }
}

/// The object or list that a string is, or that its one fenced block is.
fn structured(text: &str) -> Option<Value> {
    let parse = |text: &str| serde_json::from_str::<Value>(text).ok();
    parse(text)
        .or_else(|| parse(only_fenced_block(text)?))
        .filter(|value| value.is_object() || value.is_array())
}

/// The contents of a text's only fenced block, if its language is JSON or missing.
fn only_fenced_block(text: &str) -> Option<&str> {
    let parts: Vec<&str> = text.split("```").collect();
    let ([_, block] | [_, block, _]) = parts[..] else {
        return None;
    };
    let (language, content) = block.split_once('\n')?;
    matches!(language.trim(), "" | "json").then_some(content)
}

/// The types at each path; the elements of a list share one path and may have several types.
fn shape(value: &Value) -> BTreeMap<String, String> {
    let mut types: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    walk(value, "", &mut |path, value| {
        types
            .entry(path.to_owned())
            .or_default()
            .insert(type_word(value));
    });
    let join = |words: BTreeSet<&str>| words.into_iter().collect::<Vec<_>>().join("|");
    types
        .into_iter()
        .map(|(path, words)| (path, join(words)))
        .collect()
}

/// Every value in a value with its path, as `.items[].sku`; the elements of a list share one.
pub(crate) fn walk<'v>(value: &'v Value, path: &str, visit: &mut impl FnMut(&str, &'v Value)) {
    visit(path, value);
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                walk(value, &format!("{path}.{key}"), visit);
            }
        }
        Value::Array(items) => {
            for item in items {
                walk(item, &format!("{path}[]"), visit);
            }
        }
        _ => {}
    }
}
