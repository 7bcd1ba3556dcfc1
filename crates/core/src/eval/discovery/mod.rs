//! `discovery:` did the agent have to find its tools by intent, with none named in the prompt?

mod mentions;
#[cfg(test)]
mod tests;

use super::prelude::*;
use super::scores::vacuous_runs;
use mentions::named;
use serde_json::Value;
use std::collections::BTreeSet;

/// The block as written, and the agent's prompts.
pub(crate) struct DiscoveryBlock {
    name_free: bool,
    allow: Vec<String>,
    prompts: Vec<String>,
}

targets! {}

kind! {
    "discovery",
    "Did the agent have to find its tools by intent, with none named in the prompt?", DiscoveryBlock, RunFailsBy::AssertionsOverIt,
    traits: &[GateTrait::CanBeRefuted],
}

impl Gate for DiscoveryBlock {
    fn score(&self, runs: &[Run<'_>]) -> Scores {
        let mut scores = Scores::default();
        if !self.name_free {
            scores.not_exercised = Some("`name_free: false` asks for nothing".to_owned());
            return scores;
        }
        let found: BTreeSet<(&str, &'static str)> =
            runs.iter().flat_map(|run| self.found_in(run)).collect();
        scores.is_refuted = !found.is_empty();
        let said =
            |(name, what)| Finding::new(None, format!("the prompt names the {what} `{name}`"));
        scores.findings = found.into_iter().map(said).collect();
        scores.not_exercised = vacuous_runs(runs, runs.iter().map(|run| self.why_unchecked(run)));
        scores
    }

    fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        if !self.name_free {
            let problem = Problem::warning("`discovery:` with `name_free: false` asks for nothing");
            return vec![
                problem
                    .at(agent.key_span)
                    .help("set `name_free: true`, or remove the block"),
            ];
        }
        let prompts: Vec<&str> = agent.prompts.iter().map(String::as_str).collect();
        let tools = agent
            .catalogue
            .unwrap_or_default()
            .iter()
            .map(|tool| tool.name.as_str());
        let servers = agent.servers.iter().map(String::as_str);
        let found = self.named(&prompts, tools.collect(), servers.collect());
        found
            .into_iter()
            .map(|(name, what)| named_problem(name, what).at(agent.key_span))
            .collect()
    }
}

fn named_problem(name: &str, what: &str) -> Problem {
    let help = format!(
        "say what is wanted, not which {what} to use; if it is an ordinary word here, add `allow: [{name}]`"
    );
    Problem::error(format!(
        "the prompt names the {what} `{name}`, so it is not name-free"
    ))
    .help(help)
}

impl DiscoveryBlock {
    fn read(block: &mut Block<'_>) -> Self {
        let doc = "The prompt names no tool and no server";
        let name_free = block.flag("name_free", doc, true);
        let doc = "Names of tools or servers that are ordinary words in this prompt";
        let allow = block.list("allow", doc, |f| f.name());
        let prompt = block.sibling("prompt", |field| field.string());
        let turns = block.sibling("turns", |field| field.list(|item| item.string()));
        let prompts = prompt
            .into_iter()
            .chain(turns.into_iter().flatten())
            .collect();
        Self {
            name_free,
            allow,
            prompts,
        }
    }

    /// The names that occur in the prompts and are no ordinary words there.
    fn named<'n>(
        &self,
        prompts: &[&str],
        tools: BTreeSet<&'n str>,
        servers: BTreeSet<&'n str>,
    ) -> BTreeSet<(&'n str, &'static str)> {
        let is_allowed = |name: &str| {
            self.allow
                .iter()
                .any(|allowed| allowed.eq_ignore_ascii_case(name))
        };
        let found = |names: BTreeSet<&'n str>, what: &'static str| {
            let found = named(prompts, names.into_iter().filter(|name| !is_allowed(name)));
            found.into_iter().map(move |name| (name, what))
        };
        found(tools, "tool")
            .chain(found(servers, "server"))
            .collect()
    }

    /// What the prompts of a run name, of the tools and servers that its recording knows.
    fn found_in<'r>(&self, run: &Run<'r>) -> BTreeSet<(&'r str, &'static str)> {
        let said = said_by_user(run.trace);
        let recorded = run
            .header
            .map(|header| header.prompt.as_slice())
            .unwrap_or_default();
        let prompts = self.prompts.iter().chain(recorded).chain(&said);
        let prompts: Vec<&str> = prompts.map(String::as_str).collect();
        let catalogue = run.catalogue().unwrap_or_default();
        let calls = &run.trace.tool_calls;
        let offered = catalogue
            .iter()
            .map(Tool::from)
            .chain(calls.iter().map(Tool::from));
        let servers = offered.clone().filter_map(|tool| tool.server);
        self.named(
            &prompts,
            offered.clone().map(|tool| tool.name).collect(),
            servers.collect(),
        )
    }

    fn why_unchecked(&self, run: &Run<'_>) -> Option<&'static str> {
        let header = run.header;
        let has_prompt = !self.prompts.is_empty()
            || header.is_some_and(|header| !header.prompt.is_empty())
            || !said_by_user(run.trace).is_empty();
        if !has_prompt {
            return Some("the recording has no prompt to check");
        }
        if let Some(idle) = run.why_idle() {
            return Some(idle);
        }
        run.catalogue().is_none().then_some(
            "the recording has no catalogue: the prompt was checked against the tools that were called only",
        )
    }
}

/// The texts of the user's turns: what was said, with every variable of the suite filled in.
fn said_by_user(trace: &Trace<'_>) -> Vec<String> {
    let turns = trace
        .conversation
        .turns
        .iter()
        .filter(|turn| turn.role == "user");
    let contents = turns.filter_map(|turn| serde_json::from_str(turn.content?.get()).ok());
    contents
        .flat_map(|content: Value| match content {
            Value::String(text) => vec![text],
            Value::Array(blocks) => blocks
                .iter()
                .filter_map(|block| block["text"].as_str().map(str::to_owned))
                .collect(),
            _ => Vec::new(),
        })
        .collect()
}
