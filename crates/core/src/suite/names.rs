//! Are the names of a suite and its imports unique, and does every used name exist?

use super::agent::Agent;
use super::fault::Fault;
use super::load::{Declared, Parts};
use super::scenarios;
use super::server::Provider;
use super::tool_test::ToolTest;
use crate::engine::Assertion;
use crate::gates::{EVAL, SCENARIO};
use crate::grade::{Question, SCORERS, without_judge};
use crate::hashed::HashSet;
use crate::problem::{Problem, Span, did_you_mean};
use crate::provider::WITH_CODE;
use crate::target::Path;
use crate::words::distinct;
use std::collections::BTreeMap;

/// Something that a suite declares under a name.
pub(super) trait Declaration {
    fn name(&self) -> &str;
    fn span(&self) -> Span;
}

impl<T> Declaration for Declared<T> {
    fn name(&self) -> &str {
        &self.name
    }

    fn span(&self) -> Span {
        self.span
    }
}

impl Declaration for Fault {
    fn name(&self) -> &str {
        &self.name
    }

    fn span(&self) -> Span {
        self.span
    }
}

impl Declaration for Agent {
    fn name(&self) -> &str {
        &self.name
    }

    fn span(&self) -> Span {
        self.span
    }
}

impl Declaration for ToolTest {
    fn name(&self) -> &str {
        &self.name
    }

    fn span(&self) -> Span {
        self.span
    }
}

/// Adds one file's parts to the others. A duplicate name is a problem that shows both places.
pub(super) fn merge(into: &mut Parts, from: Parts, problems: &mut Vec<Problem>) {
    append("variable", &mut into.variables, from.variables, problems);
    append("server", &mut into.servers, from.servers, problems);
    append("provider", &mut into.providers, from.providers, problems);
    append("fault", &mut into.faults, from.faults, problems);
    append("agent", &mut into.agents, from.agents, problems);
    append(EVAL.key, &mut into.evals, from.evals, problems);
    append(SCENARIO.key, &mut into.scenarios, from.scenarios, problems);
    append("tool test", &mut into.tools, from.tools, problems);
    append("scorer", &mut into.scorers, from.scorers, problems);
    into.named.extend(from.named);
    let redact = std::mem::take(&mut into.redact);
    into.redact = distinct(redact.into_iter().chain(from.redact));
    into.judge = from.judge.or(into.judge.take());
    into.budget = from.budget.or(into.budget);
    into.run_options = from.run_options.or(into.run_options);
}

fn append<T: Declaration>(
    kind: &str,
    into: &mut Vec<T>,
    from: Vec<T>,
    problems: &mut Vec<Problem>,
) {
    let already_there = into.len();
    let mut places: BTreeMap<String, usize> = into
        .iter()
        .enumerate()
        .map(|(at, known)| (known.name().to_owned(), at))
        .collect();
    for declared in from {
        let Some(&at) = places.get(declared.name()) else {
            places.insert(declared.name().to_owned(), into.len());
            into.push(declared);
            continue;
        };
        let first = &into[at];
        let is_of_a_file_imported_twice = at < already_there && first.span() == declared.span();
        if !is_of_a_file_imported_twice {
            problems.push(clash(kind, &declared, first));
        }
    }
}

fn clash<T: Declaration>(kind: &str, second: &T, first: &T) -> Problem {
    Problem::error(format!("the {kind} `{}` is declared twice", second.name()))
        .at(second.span())
        .also(first.span(), "first declared here")
        .help("rename one of them")
}

/// The declarations of a suite, by their key.
struct DeclaredNames<'p> {
    servers: Known<'p>,
    providers: Known<'p>,
    faults: Known<'p>,
    /// The recorded agents: entries of `evals:` read the runs of others.
    agents: Known<'p>,
    scorers: Known<'p>,
}

/// The names under one key. A suite with thousands of servers has thousands of agents that name them.
struct Known<'p> {
    in_order: Vec<&'p str>,
    set: HashSet<&'p str>,
}

impl<'p> FromIterator<&'p str> for Known<'p> {
    fn from_iter<I: IntoIterator<Item = &'p str>>(names: I) -> Self {
        let in_order: Vec<&str> = names.into_iter().collect();
        Self {
            set: in_order.iter().copied().collect(),
            in_order,
        }
    }
}

impl<'p> DeclaredNames<'p> {
    fn new(parts: &'p Parts) -> Self {
        let recorded = parts.agents.iter().filter(|agent| !agent.is_eval());
        Self {
            servers: parts.servers.iter().map(Declaration::name).collect(),
            providers: parts.providers.iter().map(Declaration::name).collect(),
            faults: parts.faults.iter().map(Declaration::name).collect(),
            agents: recorded.map(Declaration::name).collect(),
            scorers: parts.scorers.iter().map(Declaration::name).collect(),
        }
    }
}

/// Refuses undeclared names.
pub(super) fn check_references(parts: &Parts, problems: &mut Vec<Problem>) {
    check_row_names(parts, problems);
    scenarios::check(parts, problems);
    let declared = DeclaredNames::new(parts);
    for agent in &parts.agents {
        check_agent(agent, &declared, problems);
        check_code_execution(agent, &parts.providers, problems);
    }
    check_judges(parts, &declared, problems);
    let servers = &declared.servers;
    for test in &parts.tools {
        problems.extend(unknown("servers", &test.server, test.server_span, servers));
    }
    for fault in &parts.faults {
        if let Some(server) = &fault.target.server {
            problems.extend(unknown("servers", server, fault.server_span, servers));
        }
    }
}

fn check_agent(agent: &Agent, declared: &DeclaredNames<'_>, problems: &mut Vec<Problem>) {
    let references = &agent.references;
    for (key, used, known) in [
        ("servers", &references.servers, &declared.servers),
        ("faults", &references.inject, &declared.faults),
        ("providers", &references.providers, &declared.providers),
        ("agents", &references.agents, &declared.agents),
    ] {
        for (name, span) in used {
            problems.extend(unknown(key, name, *span, known));
        }
    }
    for assertion in &agent.expect {
        problems.extend(unscored(assertion, &declared.scorers));
    }
}

/// Refuses `code_execution` for models whose provider runs no code.
fn check_code_execution(
    agent: &Agent,
    providers: &[Declared<Provider>],
    problems: &mut Vec<Problem>,
) {
    if !agent.runs_code() {
        return;
    }
    let kind_of = |name: &str| {
        let declared = providers.iter().find(|provider| provider.name == name);
        declared.map(|provider| provider.item.kind)
    };
    let without_code = agent
        .models
        .iter()
        .filter(|model| model.lacks_code(kind_of));
    for model in without_code {
        let message = format!("the provider of `{}` runs no code for it", model.label());
        let help = format!("remove `code_execution`, or use one of these: {WITH_CODE}");
        let span = agent.references.code_execution.unwrap_or(agent.span);
        problems.push(Problem::error(message).at(span).help(help));
    }
}

/// Refuses judges of undeclared providers, and questions without a judge.
fn check_judges(parts: &Parts, declared: &DeclaredNames<'_>, problems: &mut Vec<Problem>) {
    let of_agents = parts.agents.iter().flat_map(Agent::checks_of_judges);
    let of_tests = parts.tools.iter().flat_map(ToolTest::checks_of_judges);
    let questions: Vec<&Question> = of_agents
        .chain(of_tests)
        .map(|(_, question)| question)
        .collect();
    let of_questions = questions.iter().flat_map(|question| &question.providers);
    let of_suite = parts.judge.iter().flat_map(|judge| &judge.providers);
    for (name, span) in of_questions.chain(of_suite) {
        problems.extend(unknown("providers", name, *span, &declared.providers));
    }
    if parts.judge.is_none() {
        let unnamed = questions
            .iter()
            .filter(|question| question.judges.is_empty());
        problems.extend(unnamed.map(|question| without_judge(question)));
    }
}

/// Refuses duplicate row names: rows are selected and reported by name.
fn check_row_names(parts: &Parts, problems: &mut Vec<Problem>) {
    let (plain, others): (Vec<&Agent>, Vec<&Agent>) = parts
        .agents
        .iter()
        .partition(|agent| agent.row_names() == [agent.name.as_str()]);
    let mut rows: Vec<(String, Span)> = Vec::new();
    for agent in plain.iter().chain(&others) {
        rows.extend(agent.row_names().into_iter().map(|name| (name, agent.span)));
    }
    rows.extend(
        parts
            .tools
            .iter()
            .map(|test| (test.name.clone(), test.span)),
    );
    let mut first: BTreeMap<String, Span> = BTreeMap::new();
    for (name, span) in rows {
        match first.get(&name) {
            // A model listed twice is its own problem, and reported as such.
            Some(first) if *first != span => problems.push(
                Problem::error(format!("two rows are called `{name}`"))
                    .at(span)
                    .also(*first, "the other row")
                    .help("rename one of them"),
            ),
            _ => {
                first.insert(name, span);
            }
        }
    }
}

/// Refuses targets that no scorer provides, and judges of numbers.
fn unscored(one: &Assertion<Path>, scorers: &Known<'_>) -> Option<Problem> {
    let name = one.target.scorer()?;
    if one.matcher.question().is_some() {
        let problem = Problem::error("a model cannot judge a number of a scorer").at(one.span);
        return Some(problem.help("compare it, as in `{ gte: 0.5 }`"));
    }
    unknown(SCORERS, name, one.span, scorers)
}

fn unknown(key: &str, name: &str, span: Span, known: &Known<'_>) -> Option<Problem> {
    if known.set.contains(name) {
        return None;
    }
    let known = &known.in_order[..];
    let help = did_you_mean(name, known.iter().copied(), || match known {
        [] => format!("declare it under a top-level `{key}:`"),
        known => format!("declared there: {}", known.join(", ")),
    });
    Some(
        Problem::error(format!("`{key}:` has no entry `{name}`"))
            .at(span)
            .help(help),
    )
}
