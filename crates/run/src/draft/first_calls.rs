//! Which tools can be called, with what, and do they answer?

use super::arguments::{ServerFolder, arguments};
use super::complaint::complaint;
use super::page::{Page, Test};
use super::server::{DraftSession, Listed, short};
use super::{DraftError, yaml};
use mcptest_command::arguments::{Given, unknown};
use mcptest_command::waiting;
use mcptest_core::escape::escape;
use mcptest_core::problem::did_you_mean;
use mcptest_mcp::client::CallFailure;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// More tests than this are too many for a first suite.
const MOST_TESTS: usize = 12;
/// Parts of the names of tools whose answers may contain secrets.
const SECRETIVE: [&str; 7] = [
    "env",
    "environment",
    "secret",
    "secrets",
    "credentials",
    "token",
    "password",
];

/// A call that the user requests.
#[derive(Debug, Clone)]
pub struct Wish {
    /// The tool, which may be called even if it is not marked read-only.
    pub tool: String,
    /// Its given arguments; the others are guessed.
    pub given: Given,
}

/// A call to try.
pub(super) struct Candidate {
    tool: String,
    schema: Value,
    given: Map<String, Value>,
    is_named: bool,
}

impl Candidate {
    fn new(tool: &Listed, given: Map<String, Value>, is_named: bool) -> Self {
        Self {
            tool: tool.name.clone(),
            schema: tool.schema.clone(),
            given,
            is_named,
        }
    }
}

/// The tools to call: first the user's choices, then the tools that declare themselves read-only.
pub(super) fn candidates(wishes: &[Wish], tools: &[Listed]) -> Result<Vec<Candidate>, DraftError> {
    let mut problems = Vec::new();
    let mut candidates = Vec::new();
    for wish in wishes {
        match wished(wish, tools) {
            Ok(candidate) => candidates.push(candidate),
            Err(found) => problems.extend(found),
        }
    }
    if !problems.is_empty() {
        return Err(DraftError::Wish(problems.join("\n  ")));
    }
    let is_wished = |tool: &Listed| wishes.iter().any(|wish| wish.tool == tool.name);
    let safe = tools
        .iter()
        .filter(|tool| tool.is_read_only && !is_wished(tool));
    candidates.extend(safe.map(|tool| Candidate::new(tool, Map::new(), false)));
    Ok(candidates)
}

fn wished(wish: &Wish, tools: &[Listed]) -> Result<Candidate, Vec<String>> {
    let known = || tools.iter().map(|tool| tool.name.as_str());
    let Some(tool) = tools.iter().find(|tool| tool.name == wish.tool) else {
        let help = did_you_mean(&wish.tool, known(), || {
            "`mcptest tools` lists them".to_owned()
        });
        return Err(vec![
            escape(&format!("the server lists no tool `{}`; {help}", wish.tool)).into_owned(),
        ]);
    };
    let given = wish
        .given
        .typed(Some(&tool.schema))
        .map_err(|error| vec![error.to_string()])?;
    let unknown = unknown(&given, &tool.schema, &tool.name);
    if !unknown.is_empty() {
        return Err(unknown);
    }
    Ok(Candidate::new(tool, given, true))
}

/// Calls each tool once. An answered call becomes a test; any other is omitted with a reason.
pub(super) async fn first_calls(
    session: &mut DraftSession<'_>,
    page: &mut Page,
    candidates: Vec<Candidate>,
    server_folder: &ServerFolder,
) -> BTreeMap<String, Value> {
    let mut answers = BTreeMap::new();
    for candidate in candidates {
        if !candidate.is_named && page.tests.len() >= MOST_TESTS {
            page.not_tried += 1;
            continue;
        }
        match tried(session, &candidate, server_folder).await {
            Ok((arguments, answer)) => {
                let name = page.free_name(&format!("{} answers", candidate.tool));
                answers.insert(name.clone(), answer);
                page.tests
                    .push(Test::new(&name, &candidate.tool, arguments));
            }
            Err(why) => page.left_out.push((candidate.tool, why)),
        }
    }
    let of_tool: BTreeMap<&str, usize> = page
        .tools
        .iter()
        .enumerate()
        .map(|(at, tool)| (tool.name.as_str(), at))
        .collect();
    page.tests
        .sort_by_key(|test| of_tool.get(test.tool.as_str()).copied());
    answers
}

/// A test to fill in for each tool that was not called because it may change something.
pub(super) fn not_called(page: &Page, server_folder: &ServerFolder) -> Vec<Test> {
    let is_called = |tool: &Listed| {
        let left_out = page.left_out.iter().map(|(name, _)| name);
        let tested = page.tests.iter().map(|test| &test.tool);
        left_out.chain(tested).any(|name| *name == tool.name)
    };
    let is_writable = |tool: &&Listed| !tool.name.trim().is_empty() && !is_unwritable(&tool.name);
    page.tools
        .iter()
        .filter(|tool| !tool.is_read_only && !is_called(tool))
        .filter(is_writable)
        .map(|tool| {
            let arguments = arguments(&tool.schema, &Map::new(), server_folder)
                .filter(|arguments| !is_unwritable(&arguments.to_string()))
                .unwrap_or_else(|| Value::Object(Map::new()));
            let name = page.free_name(&format!("{} answers", tool.name));
            Test::new(&name, &tool.name, arguments)
        })
        .collect()
}

/// The sent arguments with the answer, or why a suite could not expect this answer again.
async fn tried(
    session: &mut DraftSession<'_>,
    candidate: &Candidate,
    server_folder: &ServerFolder,
) -> Result<(Value, Value), String> {
    let Candidate {
        tool,
        schema,
        given,
        is_named,
    } = candidate;
    if !is_named && is_secretive(tool) {
        return Err("its answer may contain secrets".to_owned());
    }
    if tool.trim().is_empty() || is_unwritable(tool) {
        return Err("its name cannot be written in a suite".to_owned());
    }
    let arguments = arguments(schema, given, server_folder)
        .ok_or_else(|| "no arguments could be generated from its schema".to_owned())?;
    if is_unwritable(&arguments.to_string()) {
        return Err("its arguments cannot be written in a suite".to_owned());
    }
    let answer = call(session, tool, &arguments).await;
    let answer = answer.map_err(|why| {
        format!(
            "called with {}, {why}",
            yaml::comment(&yaml::flow(&arguments))
        )
    })?;
    Ok((arguments, answer))
}

/// Returns true if some `${` has no `}` after it, which a suite cannot contain.
fn is_unwritable(text: &str) -> bool {
    text.rfind("${").is_some_and(|at| !text[at..].contains('}'))
}

pub(super) fn is_secretive(tool: &str) -> bool {
    let words = tool
        .split(|c: char| !c.is_ascii_alphanumeric())
        .map(str::to_ascii_lowercase);
    words
        .into_iter()
        .any(|word| SECRETIVE.contains(&word.as_str()))
}

async fn call(
    session: &mut DraftSession<'_>,
    tool: &str,
    arguments: &Value,
) -> Result<Value, String> {
    let arguments =
        RawValue::from_string(arguments.to_string()).map_err(|error| error.to_string())?;
    waiting::tell(&format!("the answer of {}", escape(tool)));
    let limit = Some(session.longest_call);
    let client = session.client().await.map_err(|error| short(&error))?;
    match client.call_tool(tool, &arguments, limit).await.outcome {
        Ok(result) => {
            let result: Value = serde_json::from_str(result.get()).unwrap_or_default();
            if result["isError"] == Value::Bool(true) {
                let said = result["content"][0]["text"]
                    .as_str()
                    .unwrap_or("nothing more");
                return Err(format!("it failed: {}", yaml::comment(said)));
            }
            match complaint(&result) {
                Some(said) => Err(format!(
                    "its answer looks like an error: {}",
                    yaml::comment(&said)
                )),
                None => Ok(result),
            }
        }
        Err(CallFailure::Rpc(error)) => Err(format!(
            "the server refused it: {} {}",
            error.code,
            yaml::comment(&error.message)
        )),
        Err(CallFailure::Wire(error)) => {
            session.client = None;
            Err(short(&error))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_that_tell_secrets_are_known_by_a_word_of_their_name() {
        assert!(is_secretive("get-env") && is_secretive("list_secrets"));
        assert!(!is_secretive("envelope") && !is_secretive("inventory"));
    }
}
