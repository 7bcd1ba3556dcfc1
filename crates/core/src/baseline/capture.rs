//! What do the runs of a test come to in a baseline?

use super::{CallBaseline, GateBaseline, Length, ResponseBaseline, RunBaseline, TestBaseline};
use crate::digest::{digest, digest_of_value};
use crate::eval::{GateBlock, GateTrait};
use crate::json::type_word;
use crate::report::{Number, Status};
use crate::row::AgentRow;
use crate::suite::{Agent, Variant};
use crate::trace::{Call, Run, Tool, Trace, splits};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

type Numbers = BTreeMap<String, Option<Number>>;

/// What these runs of a row are in a baseline.
pub fn capture(of: AgentRow<'_>, runs: &[Run<'_>]) -> TestBaseline {
    let (gates, of_runs) = numbers_of(of.agent, of.variant, runs);
    let mut test = TestBaseline {
        gates,
        ..of_question(&of.suite.path, of.agent, of.variant)
    };
    let only_server = match &of.agent.servers[..] {
        [server] => Some(server.as_str()),
        _ => None,
    };
    let runs = runs.iter().zip(of_runs);
    test.runs = runs
        .map(|(run, numbers)| RunBaseline {
            numbers,
            ..RunBaseline::new(run, only_server)
        })
        .collect();
    test
}

/// The agent's test with nothing but what is asked in it.
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

/// What each gate comes to over all runs, and the numbers of each that can be scored on one run, run by run. A gate that
/// has runs of its own, asks judges or compares with a baseline itself takes no part: what a model says decides nothing
/// here.
pub fn numbers_of(
    agent: &Agent,
    variant: Option<Variant>,
    runs: &[Run<'_>],
) -> (
    BTreeMap<String, GateBaseline>,
    Vec<BTreeMap<String, Numbers>>,
) {
    let is_taken = |gate: &&GateBlock| {
        !gate.judges_side_runs()
            && !gate.is(GateTrait::ComparesWithBaseline)
            && gate.question().is_none()
    };
    let taken = || agent.gates.iter().filter(is_taken);
    let of_gate = |gate: &GateBlock| {
        let report = gate.judge_variant(variant, "", runs);
        let passed = report.status == Status::Passed;
        GateBaseline {
            block: gate.digest.clone(),
            passed,
            numbers: kept(gate, report.targets),
        }
    };
    let gates = taken()
        .map(|gate| (gate.key().to_owned(), of_gate(gate)))
        .collect();
    let of_run = |run: &Run<'_>| {
        let alone =
            taken().filter(|gate| !gate.compares_runs() && !gate.is(GateTrait::DecidesRuns));
        let numbers = |gate: &GateBlock| {
            gate.judge_variant(variant, "", std::slice::from_ref(run))
                .targets
        };
        alone
            .map(|gate| (gate.key().to_owned(), kept(gate, numbers(gate))))
            .collect()
    };
    (gates, runs.iter().map(of_run).collect())
}

/// Without the share of runs that pass, which says nothing that the runs do not say.
fn kept(gate: &GateBlock, mut numbers: Numbers) -> Numbers {
    let rates = gate
        .kind
        .targets
        .iter()
        .filter(|target| target.is_pass_rate);
    for target in rates {
        numbers.remove(target.name);
    }
    numbers
}

impl RunBaseline {
    /// What one run did, without the numbers of gates.
    pub fn of(run: &Run<'_>) -> Self {
        Self::new(run, None)
    }

    /// What one run did; calls that name no server are to the only one that its agent has.
    fn new(run: &Run<'_>, only_server: Option<&str>) -> Self {
        Self {
            run: run.number,
            passed: run.passed,
            stop_reason: run.trace.stop_reason.as_deref().map(str::to_owned),
            calls: of_calls(run.trace, only_server),
            response: of_response(run.trace.final_response.as_deref().unwrap_or_default()),
            numbers: BTreeMap::new(),
        }
    }
}

fn of_calls(trace: &Trace<'_>, only_server: Option<&str>) -> Vec<CallBaseline> {
    let (mut turn, mut last) = (0, None);
    let of_call = |call: &Call<'_>| {
        // A call without a turn is one of its own.
        if last.is_some_and(|last| last != call.turn || call.turn.is_none()) {
            turn += 1;
        }
        last = Some(call.turn);
        let args = call
            .args
            .and_then(|args| serde_json::from_str(args.get()).ok());
        let args = args.or_else(|| call.args_text.as_deref().map(Value::from));
        CallBaseline {
            tool: tool_name(call, only_server),
            turn,
            args,
        }
    };
    trace.tool_calls.iter().map(of_call).collect()
}

/// The tool as `server.tool`. A name that has a server of its own in it, or is a distractor's, keeps what it says.
fn tool_name(call: &Call<'_>, only_server: Option<&str>) -> String {
    let tool = Tool::from(call);
    let names_no_server =
        tool.server.is_none() && !call.distractor && splits(tool.name).next().is_none();
    match only_server.filter(|_| names_no_server) {
        Some(server) => Tool::new(tool.name, Some(server)).full_name(),
        None => tool.full_name(),
    }
}

fn of_response(text: &str) -> ResponseBaseline {
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
    let is_structure = |value: &Value| value.is_object() || value.is_array();
    let fenced = || {
        let mut parts = text.split("```");
        let block = parts.nth(1).filter(|_| parts.nth(1).is_none())?;
        let (word, block) = block.split_once('\n')?;
        matches!(word.trim(), "" | "json").then_some(block)
    };
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    read(text).or_else(|| read(fenced()?)).filter(is_structure)
}

fn shape(value: &Value) -> BTreeMap<String, String> {
    let mut types = BTreeMap::new();
    walk(value, "", &mut |path, value| {
        let word = type_word(value);
        let known: &mut String = types.entry(path.to_owned()).or_default();
        if !known.split('|').any(|one| one == word) {
            known.push_str(if known.is_empty() { "" } else { "|" });
            known.push_str(word);
            let mut words: Vec<&str> = known.split('|').collect();
            words.sort_unstable();
            *known = words.join("|");
        }
    });
    types
}

/// Every value in a value with its path, as `.items[].sku`; the elements of a list share one.
pub(super) fn walk<'v>(value: &'v Value, path: &str, visit: &mut impl FnMut(&str, &'v Value)) {
    visit(path, value);
    match value {
        Value::Object(fields) => {
            fields
                .iter()
                .for_each(|(key, value)| walk(value, &format!("{path}.{key}"), visit));
        }
        Value::Array(items) => items
            .iter()
            .for_each(|item| walk(item, &format!("{path}[]"), visit)),
        _ => {}
    }
}
