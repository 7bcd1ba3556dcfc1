//! About how many tokens will a run take that was never recorded?

use super::past::Tokens;
use mcptest_agent::Limits;
use mcptest_core::eval::SideRuns;
use mcptest_core::row::AgentRow;
use mcptest_core::suite::Agent;
use mcptest_core::trace::{CatalogueTool, Header, Run, Trace};

const CHARACTERS_A_TOKEN: usize = 4;
/// The estimated calls in a run with tools, for each turn of the user.
pub(super) const CALLS: usize = 2;
const TOKENS_OF_AN_ANSWER: u64 = 150;
const TOKENS_OF_A_RESULT: u64 = 250;
/// The tokens of a server's tools that are unknown until it starts.
const TOKENS_OF_A_SERVER: u64 = 1000;

/// The tokens of one run: every request sends the whole conversation again.
pub(super) fn tokens(row: AgentRow<'_>, limits: &Limits, of_run: Option<u64>) -> Tokens {
    let agent = row.agent;
    let texts = agent
        .turns
        .iter()
        .chain(&agent.system_prompt)
        .map(|text| text.value.chars().count());
    let said = texts.sum::<usize>().div_ceil(CHARACTERS_A_TOKEN) as u64 + tokens_of_tools(row);
    let of_answer = limits
        .max_tokens
        .map_or(TOKENS_OF_AN_ANSWER, |most| most.min(TOKENS_OF_AN_ANSWER));
    let calls = if agent.servers.is_empty() { 0 } else { CALLS };
    let calls = limits
        .max_tool_calls
        .map_or(calls, |most| calls.min(most as usize));
    let answers = (agent.turns.len() * (calls + 1)).min(limits.max_turns as usize);
    let (mut prompt, mut completion) = (0, 0);
    for before in 0..answers as u64 {
        if of_run.is_some_and(|limit| prompt + completion >= limit) {
            break;
        }
        prompt += said + before * (of_answer + TOKENS_OF_A_RESULT);
        completion += of_answer;
    }
    Tokens {
        prompt: prompt as f64,
        completion: completion as f64,
    }
}

fn tokens_of_tools(row: AgentRow<'_>) -> u64 {
    let known = row.suite.known_catalogue(row.agent);
    let unknown = if known.is_none() {
        row.agent.servers.len() as u64 * TOKENS_OF_A_SERVER
    } else {
        0
    };
    let offered = known.unwrap_or_default();
    let injected = row.agent.injected_tools(row.variant, &offered);
    let characters: usize = offered.iter().chain(&injected).map(characters_of).sum();
    unknown + characters.div_ceil(CHARACTERS_A_TOKEN) as u64
}

fn characters_of(tool: &CatalogueTool) -> usize {
    let description = tool
        .description
        .as_ref()
        .map_or(0, |text| text.chars().count());
    let schema = tool
        .input_schema
        .as_ref()
        .map_or(0, |schema| schema.to_string().chars().count());
    tool.name.chars().count() + description + schema
}

/// The runs for one of the agent's gates after a first run with this number of calls, recorded with this header.
pub(super) fn side_runs(agent: &Agent, calls: usize, header: &Header) -> Option<SideRuns> {
    /// More than any fault matrix tries.
    const MANY: usize = 100;
    let calls = vec![r#"{"name":"any"}"#; calls.min(MANY)].join(",");
    let text = format!(r#"{{"tool_calls":[{calls}]}}"#);
    let trace = Trace::read(&text).ok()?;
    SideRuns::wanted(
        agent,
        &[Run {
            header: Some(header),
            ..Run::new(&trace)
        }],
    )
}
