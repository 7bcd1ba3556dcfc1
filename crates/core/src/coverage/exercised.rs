//! What did one row call, and what do its recordings list?

use super::surface::{Parameters, joined, parameters, text_of};
use super::{Coverage, ParameterCoverage, ServerCoverage, ToolCoverage, ValueCoverage};
use crate::judge::{Recorded, RecordedCall, RecordedRun, RecordedRuns, with_known_tools};
use crate::row::{AgentRow, Row, Subject, ToolRow};
use crate::suite::Suite;
use crate::trace::{Call, CallResult, CatalogueTool, Header, Trace};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};

/// A tool by its server, if known, and its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct ToolKey {
    server: Option<String>,
    name: String,
}

impl ToolKey {
    fn new(server: Option<&str>, name: &str) -> Self {
        Self {
            server: server.map(str::to_owned),
            name: name.to_owned(),
        }
    }
}

/// The tools that rows called, and the tools that their recordings list. Only all rows together
/// show the coverage: a row may call a tool that only another row's recording lists.
#[derive(Debug, Default)]
pub struct Exercised {
    /// The servers that the rows use.
    used: BTreeSet<String>,
    /// The servers with known tools.
    known: BTreeSet<String>,
    listed: BTreeMap<ToolKey, Parameters>,
    called: BTreeMap<ToolKey, Seen>,
}

/// The JSON-RPC code for an unknown method or tool.
const METHOD_NOT_FOUND: i64 = -32601;

/// The observations of one tool.
#[derive(Debug, Default)]
struct Seen {
    calls: usize,
    successes: usize,
    errors: usize,
    given: Parameters,
}

impl Exercised {
    /// The tools that this row's recording exercises. A row that judges another row's recording adds nothing.
    pub fn from_row(row: &Row<'_>, recorded: &Recorded<'_>) -> Self {
        let mut found = Self::default();
        match (row.subject, recorded) {
            (Subject::Agent(of), Recorded::Runs(runs)) if row.recorded_by().is_none() => {
                found.add_runs(of, runs);
            }
            (Subject::Tool(of), Recorded::Call(call)) => found.add_call_of_test(of, call),
            _ => {}
        }
        found
    }

    /// Adds the coverage of another row.
    pub fn merge(&mut self, other: Self) {
        self.used.extend(other.used);
        self.known.extend(other.known);
        for (key, parameters) in other.listed {
            merge_values(self.listed.entry(key).or_default(), parameters);
        }
        for (key, seen) in other.called {
            let own = self.called.entry(key).or_default();
            own.calls += seen.calls;
            own.successes += seen.successes;
            own.errors += seen.errors;
            merge_values(&mut own.given, seen.given);
        }
    }

    /// The resulting coverage.
    pub fn into_coverage(mut self, threshold: Option<usize>) -> Coverage {
        let unmeasured = self.used.difference(&self.known).cloned().collect();
        let mut coverage = Coverage {
            threshold,
            unmeasured,
            ..Coverage::default()
        };
        for (key, seen) in std::mem::take(&mut self.called) {
            match self.listed_as(&key) {
                Some(key) => self.merge(Self {
                    called: [(key, seen)].into(),
                    ..Self::default()
                }),
                None if key
                    .server
                    .is_some_and(|server| !self.known.contains(&server)) => {}
                None => coverage.unlisted_calls += seen.calls,
            }
        }
        for (key, parameters) in self.listed {
            let tool = covered(
                key.name.clone(),
                parameters,
                &self.called.remove(&key).unwrap_or_default(),
            );
            match coverage
                .servers
                .last_mut()
                .filter(|server| server.name == key.server)
            {
                Some(server) => server.tools.push(tool),
                None => coverage.servers.push(ServerCoverage {
                    name: key.server,
                    tools: vec![tool],
                }),
            }
        }
        coverage.counted()
    }

    /// The listed tool of a call. If the call or the list has no server, it is the only tool of
    /// that name.
    fn listed_as(&self, called: &ToolKey) -> Option<ToolKey> {
        if self.listed.contains_key(called) {
            return Some(called.clone());
        }
        let servers = self.known.iter().filter(|_| called.server.is_none());
        let mut found = servers
            .map(|server| ToolKey::new(Some(server), &called.name))
            .chain([ToolKey::new(None, &called.name)])
            .filter(|key| self.listed.contains_key(key));
        found.next().filter(|_| found.next().is_none())
    }

    fn add_runs(&mut self, of: AgentRow<'_>, recorded: &RecordedRuns<'_>) {
        if recorded.stale.is_some() {
            return;
        }
        let servers = &of.agent.servers;
        self.used.extend(servers.iter().cloned());
        for header in &recorded.headers {
            self.add_header(header, servers);
        }
        for server in servers {
            self.add_mock(of.suite, server);
        }
        let runs = judged_runs(of, recorded);
        let settled = with_known_tools(of, &runs);
        for (run, settled) in runs.iter().zip(&settled) {
            if let Some(trace) = settled.as_ref().or(run.trace.as_ref().ok().copied()) {
                self.add_trace(trace);
            }
        }
    }

    /// Adds the tools that a recording lists.
    fn add_header(&mut self, header: &Header, servers: &[String]) {
        let Some(catalogue) = &header.catalogue else {
            return;
        };
        let only_server = match servers {
            [only] => Some(only),
            _ => None,
        };
        self.known.extend(servers.iter().cloned());
        let left_out = header
            .left_out
            .keys()
            .filter_map(|name| name.split_once('.'));
        for (server, name) in left_out {
            self.listed
                .entry(ToolKey::new(Some(server), name))
                .or_default();
        }
        for tool in catalogue {
            self.list(tool, only_server);
        }
    }

    /// Adds the calls of a trace. Calls that failed by an injected fault, calls of distractors and
    /// calls of unknown tools show nothing about a server.
    fn add_trace(&mut self, trace: &Trace<'_>) {
        let struck: BTreeSet<usize> = trace
            .faults
            .iter()
            .flatten()
            .map(|event| event.call_index)
            .collect();
        let calls = trace
            .tool_calls
            .iter()
            .zip(trace.results_by_call())
            .enumerate();
        for (at, (call, result)) in calls {
            let has_failed = result.map(CallResult::is_failure);
            let code = result.and_then(|result| result.error.as_ref()?.code);
            let is_struck = struck.contains(&at) && has_failed != Some(false);
            if call.distractor || is_struck || code == Some(METHOD_NOT_FOUND) {
                continue;
            }
            let Call {
                name, server, args, ..
            } = call;
            let key = ToolKey::new(server.as_deref(), name);
            let args = args.and_then(|args| serde_json::from_str(args.get()).ok());
            self.add_call(key, args.as_ref(), has_failed);
        }
    }

    fn add_call_of_test(&mut self, of: ToolRow<'_>, call: &RecordedCall<'_>) {
        if call.stale.is_some() {
            return;
        }
        let server = &of.test.server;
        self.used.insert(server.clone());
        if let Some(surface) = call.surface {
            self.known.insert(server.clone());
            for (tool, parameters) in surface {
                let key = ToolKey::new(Some(server), tool);
                let parameters = parameters.iter().cloned();
                merge_values(self.listed.entry(key).or_default(), parameters);
            }
        }
        self.add_mock(of.suite, server);
        let outcome = &call.outcome;
        let code = outcome.error.and_then(|error| {
            let error: Value = serde_json::from_str(error.get()).ok()?;
            error["code"].as_i64()
        });
        if code == Some(METHOD_NOT_FOUND) {
            return;
        }
        let has_failed = outcome
            .error
            .map(|_| true)
            .or_else(|| outcome.result.map(is_error));
        let key = ToolKey::new(Some(server), &of.test.tool);
        self.add_call(key, of.test.args.as_ref(), has_failed);
    }

    fn add_call(&mut self, key: ToolKey, args: Option<&Value>, has_failed: Option<bool>) {
        let seen = self.called.entry(key).or_default();
        seen.calls += 1;
        seen.successes += usize::from(has_failed == Some(false));
        seen.errors += usize::from(has_failed == Some(true));
        if let Some(args) = args {
            give(args, "", &mut seen.given);
        }
    }

    /// Adds a mock's tools, which are known without a recording.
    fn add_mock(&mut self, suite: &Suite, server: &str) {
        if let Some(tools) = suite.mocked_tools(server) {
            self.known.insert(server.to_owned());
            for tool in tools {
                self.list(tool, None);
            }
        }
    }

    fn list(&mut self, tool: &CatalogueTool, only_server: Option<&String>) {
        if tool.distractor {
            return;
        }
        let server = tool.server.as_ref().or(only_server);
        let parameters = tool
            .input_schema
            .as_ref()
            .map(|schema| parameters(schema))
            .unwrap_or_default();
        merge_values(
            self.listed
                .entry(ToolKey::new(server.map(String::as_str), &tool.name))
                .or_default(),
            parameters,
        );
    }
}

/// The runs that the suite requires, and the side runs.
fn judged_runs<'t>(of: AgentRow<'_>, recorded: &RecordedRuns<'t>) -> Vec<RecordedRun<'t>> {
    let there = recorded.runs.len();
    let wanted = of.agent.runs_to_judge(there).min(there);
    let side = recorded
        .side_runs
        .iter()
        .flatten()
        .flat_map(|side| &side.runs);
    recorded.runs[..wanted]
        .iter()
        .chain(side)
        .cloned()
        .collect()
}

fn merge_values(into: &mut Parameters, from: impl IntoIterator<Item = (String, BTreeSet<String>)>) {
    for (path, values) in from {
        into.entry(path).or_default().extend(values);
    }
}

/// Every path of these arguments, with its values.
fn give(value: &Value, path: &str, given: &mut Parameters) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let path = joined(path, name);
                given.entry(path.clone()).or_default();
                give(field, &path, given);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| give(item, path, given)),
        value => {
            if let Some(values) = given.get_mut(path) {
                values.extend(text_of(value));
            }
        }
    }
}

/// The tool as its calls covered it.
fn covered(name: String, listed: Parameters, seen: &Seen) -> ToolCoverage {
    let of_parameter = |(name, values): (String, BTreeSet<String>)| {
        let given = seen.given.get(&name);
        let is_given = |value: &String| given.is_some_and(|given| given.contains(value));
        let values = values
            .into_iter()
            .map(|value| ValueCoverage {
                given: is_given(&value),
                value,
            })
            .collect();
        ParameterCoverage {
            given: given.is_some(),
            name,
            values,
        }
    };
    let parameters = listed.into_iter().map(of_parameter).collect();
    let Seen {
        calls,
        successes,
        errors,
        ..
    } = *seen;
    ToolCoverage {
        name,
        calls,
        successes,
        errors,
        parameters,
    }
}

fn is_error(result: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Flag {
        #[serde(default, rename = "isError")]
        is_error: bool,
    }
    serde_json::from_str::<Flag>(result.get()).is_ok_and(|flag| flag.is_error)
}
