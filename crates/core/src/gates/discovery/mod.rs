//! `discovery:` did the agent find its tools by intent, with none named in the prompt?

mod mentions;
#[cfg(test)]
mod tests;

use crate::classes::{Class, Discovery, read_any_classes};
use crate::engine::facts::AgentFacts;
use crate::engine::gate::{Documentation, Gate, GateKind, GateTrait, RunFailsBy};
use crate::engine::scores::Scores;
use crate::engine::scores::vacuous_runs;
use crate::engine::target::Target;
use crate::problem::Problem;
use crate::report::{Finding, Number};
use crate::suite::read::Block;
use crate::trace::{Run, Tool, Trace};
use mentions::named;
use serde_json::Value;
use std::collections::BTreeSet;

/// The block, and the agent's prompts.
pub(crate) struct DiscoveryBlock {
    name_free: bool,
    /// The tools to find, if the suite names them.
    classes: Vec<Class>,
    allow: Vec<String>,
    prompts: Vec<String>,
}

const DISCOVERY: Target = Discovery::TARGET;

const TARGETS: &[Target] = &[DISCOVERY];

/// The kind of thing that a name in a prompt denotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NamedThing {
    /// A tool, which gives the answer away.
    Tool,
    /// A server, whose name may be an ordinary word: `weather`, and a question about the weather.
    Server,
}

impl NamedThing {
    fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Server => "server",
        }
    }
}

pub(super) const KIND: GateKind = GateKind::new(
    "discovery",
    Documentation {
        summary: "Did the agent find its tools by intent, with none named in the prompt?",
        doc: include_str!("doc.md"),
        example: include_str!("example.yml"),
    },
    TARGETS,
    RunFailsBy::AssertionsOverIt,
    |block| Box::new(DiscoveryBlock::read(block)),
)
.with_traits(&[GateTrait::CanBeRefuted]);

impl Gate for DiscoveryBlock {
    fn expect_beside(&self, has_expect: bool) -> Vec<(Target, f64)> {
        if has_expect || self.classes.is_empty() {
            Vec::new()
        } else {
            vec![(DISCOVERY, 100.0)]
        }
    }

    fn score(&self, runs: &[Run<'_>]) -> Scores {
        let mut scores = Scores::default();
        let discovery = Discovery::over(&self.classes, runs);
        let percent = discovery.percent();
        scores.set(
            &DISCOVERY,
            percent.map(|percent| Number::Int(percent as i64)),
        );
        let missed = discovery.missed.into_iter();
        scores.findings = missed
            .map(|missed| Finding::new(None, missed).about(&[DISCOVERY]))
            .collect();
        let why_unchecked = vacuous_runs(runs, runs.iter().map(|run| self.why_unchecked(run)));
        scores.not_exercised = why_unchecked.or_else(|| self.why_not_found());
        if self.name_free {
            self.judge_prompts(runs, &mut scores);
        }
        scores
    }

    fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        let mut problems = agent.unknown_tools(agent.named);
        if !self.name_free {
            if self.classes.is_empty() {
                let problem =
                    Problem::warning("`discovery:` with `name_free: false` checks nothing");
                problems.push(
                    problem
                        .at(agent.key_span)
                        .help("set `name_free: true`, list `classes:`, or remove the block"),
                );
            }
            return problems;
        }
        let prompts: Vec<&str> = agent.prompts.iter().map(String::as_str).collect();
        let tools = agent
            .catalogue
            .unwrap_or_default()
            .iter()
            .map(|tool| tool.name.as_str());
        let servers = agent.servers.iter().map(String::as_str);
        let found = self.named(&prompts, tools.collect(), servers.collect());
        let found = found.into_iter();
        problems.extend(found.map(|(name, what)| named_problem(name, what).at(agent.key_span)));
        problems
    }
}

/// The problem of a prompt that names a tool. The name of a server may be an ordinary word, so it
/// is a warning.
fn named_problem(name: &str, what: NamedThing) -> Problem {
    let word = what.word();
    match what {
        NamedThing::Tool => Problem::error(format!(
            "the prompt names the tool `{name}`, so it is not name-free"
        )),
        NamedThing::Server => Problem::warning(format!("the prompt names the server `{name}`")),
    }
    .help(format!(
        "describe the goal, not the {word}; if it is an ordinary word here, add `allow: [{name}]`"
    ))
}

impl DiscoveryBlock {
    fn read(block: &mut Block<'_>) -> Self {
        let doc = "The prompt names no tool; a named server is a warning";
        let name_free = block.flag("name_free", doc, true);
        let classes = read_any_classes(block).unwrap_or_default();
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
            classes,
            allow,
            prompts,
        }
    }

    /// Why it is unknown what the runs found.
    fn why_not_found(&self) -> Option<String> {
        if !self.classes.is_empty() {
            return None;
        }
        let why = if self.name_free {
            "only the prompt is judged: no classes declare what the agent must find"
        } else {
            "`name_free: false` without classes checks nothing"
        };
        Some(why.to_owned())
    }

    /// Judges the prompts: a named tool refutes the block, and a named server is a remark on the
    /// row.
    fn judge_prompts(&self, runs: &[Run<'_>], scores: &mut Scores) {
        let found: BTreeSet<(&str, NamedThing)> =
            runs.iter().flat_map(|run| self.found_in(run)).collect();
        for (name, what) in found {
            let message = format!("prompt names the {} `{name}`", what.word());
            match what {
                NamedThing::Tool => {
                    scores.is_refuted = true;
                    let message = format!("the {message}");
                    scores.findings.insert(0, Finding::new(None, message));
                }
                NamedThing::Server => {
                    scores.remark(&DISCOVERY, message);
                }
            }
        }
    }

    /// The names that occur in the prompts and are not ordinary words there.
    fn named<'n>(
        &self,
        prompts: &[&str],
        tools: BTreeSet<&'n str>,
        servers: BTreeSet<&'n str>,
    ) -> BTreeSet<(&'n str, NamedThing)> {
        let is_allowed = |name: &str| {
            self.allow
                .iter()
                .any(|allowed| allowed.eq_ignore_ascii_case(name))
        };
        let found = |names: BTreeSet<&'n str>, what: NamedThing| {
            let found = named(prompts, names.into_iter().filter(|name| !is_allowed(name)));
            found.into_iter().map(move |name| (name, what))
        };
        found(tools, NamedThing::Tool)
            .chain(found(servers, NamedThing::Server))
            .collect()
    }

    /// The tools and servers of a run's recording that its prompts name.
    fn found_in<'r>(&self, run: &Run<'r>) -> BTreeSet<(&'r str, NamedThing)> {
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
        if !self.name_free {
            return None;
        }
        let header = run.header;
        let has_prompt = !self.prompts.is_empty()
            || header.is_some_and(|header| !header.prompt.is_empty())
            || !said_by_user(run.trace).is_empty();
        if !has_prompt {
            return Some("the recording has no prompt to check");
        }
        // Where it is known what is to be found, a run that called nothing has failed to find it.
        if let Some(idle) = run.why_idle().filter(|_| self.classes.is_empty()) {
            return Some(idle);
        }
        run.catalogue().is_none().then_some(
            "the recording has no catalogue: the prompt was checked against the tools that were called only",
        )
    }
}

/// The texts of the user's turns, with every variable of the suite filled in.
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
