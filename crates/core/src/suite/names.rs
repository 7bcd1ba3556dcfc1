//! Names across a suite and its imports: each is given once, and each that is used exists.

use super::agent::Agent;
use super::load::Parts;
use super::scenarios;
use super::tool_test::ToolTest;
use crate::engine::Assertion;
use crate::gates::{EVAL, SCENARIO};
use crate::grade::{Question, SCORERS, without_judge};
use crate::problem::{Problem, Span, did_you_mean};
use crate::provider::WITH_CODE;
use crate::target::Path;
use crate::words::distinct;
use std::collections::BTreeMap;

/// Adds one file's parts to the others; a name given twice is a problem that shows both places.
pub(super) fn merge(into: &mut Parts, from: Parts, problems: &mut Vec<Problem>) {
    append(
        "variable",
        &mut into.variables,
        from.variables,
        |(name, (span, _))| (name, *span),
        problems,
    );
    append(
        "server",
        &mut into.servers,
        from.servers,
        |(name, (span, _))| (name, *span),
        problems,
    );
    append(
        "provider",
        &mut into.providers,
        from.providers,
        |(name, (span, _))| (name, *span),
        problems,
    );
    append(
        "fault",
        &mut into.faults,
        from.faults,
        |fault| (&fault.name, fault.span),
        problems,
    );
    append(
        "agent",
        &mut into.agents,
        from.agents,
        |agent| (&agent.name, agent.span),
        problems,
    );
    append(
        EVAL.key,
        &mut into.evals,
        from.evals,
        |eval| (&eval.name, eval.span),
        problems,
    );
    append(
        SCENARIO.key,
        &mut into.scenarios,
        from.scenarios,
        |row| (&row.name, row.span),
        problems,
    );
    append(
        "tool test",
        &mut into.tools,
        from.tools,
        |test| (&test.name, test.span),
        problems,
    );
    append(
        "scorer",
        &mut into.scorers,
        from.scorers,
        |(name, scorer)| (name, scorer.span),
        problems,
    );
    into.named.extend(from.named);
    into.redact = distinct(
        std::mem::take(&mut into.redact)
            .into_iter()
            .chain(from.redact),
    );
    into.judge = from.judge.or(into.judge.take());
    into.budget = from.budget.or(into.budget);
    into.run_options = from.run_options.or(into.run_options);
}

fn append<T>(
    what: &str,
    into: &mut Vec<T>,
    from: Vec<T>,
    named: impl Fn(&T) -> (&String, Span),
    problems: &mut Vec<Problem>,
) {
    let before: Vec<_> = into.iter().map(&named).collect();
    let after: Vec<_> = from.iter().map(&named).collect();
    let is_new = new_names(what, &before, &after, problems);
    into.extend(
        from.into_iter()
            .zip(is_new)
            .filter_map(|(item, is_new)| is_new.then_some(item)),
    );
}

/// Which names are not there yet.
fn new_names(
    what: &str,
    before: &[(&String, Span)],
    after: &[(&String, Span)],
    problems: &mut Vec<Problem>,
) -> Vec<bool> {
    let mut seen: BTreeMap<&String, (Span, bool)> = BTreeMap::new();
    for &(name, span) in before {
        seen.insert(name, (span, true));
    }
    let mut is_new = |&(name, span): &(_, Span)| {
        let Some(&(first, is_imported)) = seen.get(name) else {
            seen.insert(name, (span, false));
            return true;
        };
        let is_the_same_of_a_file_imported_twice = is_imported && first == span;
        if !is_the_same_of_a_file_imported_twice {
            problems.push(clash(what, name, span, first));
        }
        false
    };
    after.iter().map(&mut is_new).collect()
}

fn clash(what: &str, name: &str, second: Span, first: Span) -> Problem {
    Problem::error(format!("the {what} `{name}` is declared twice"))
        .at(second)
        .also(first, "first declared here")
        .help("rename one of them")
}

/// Refuses names that nothing in the suite declares.
pub(super) fn check_references(parts: &Parts, problems: &mut Vec<Problem>) {
    let servers: Vec<&str> = parts
        .servers
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    let providers: Vec<&str> = parts
        .providers
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    let faults: Vec<&str> = parts
        .faults
        .iter()
        .map(|fault| fault.name.as_str())
        .collect();
    let recorded = parts.agents.iter().filter(|agent| !agent.is_eval());
    let agents: Vec<&str> = recorded.map(|agent| agent.name.as_str()).collect();
    let scorers: Vec<&str> = parts
        .scorers
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    check_row_names(parts, problems);
    scenarios::check(parts, problems);
    for agent in &parts.agents {
        for (key, used, known) in [
            ("servers", &agent.references.servers, &servers),
            ("faults", &agent.references.inject, &faults),
            ("providers", &agent.references.providers, &providers),
            ("agents", &agent.references.agents, &agents),
        ] {
            problems.extend(
                used.iter()
                    .filter_map(|(name, span)| unknown(key, name, *span, known)),
            );
        }
        problems.extend(
            agent
                .expect
                .iter()
                .filter_map(|one| unscored(one, &scorers)),
        );
        let kind_of = |name: &str| {
            let declared = parts.providers.iter().find(|(known, _)| known == name);
            declared.map(|(_, (_, provider))| provider.kind)
        };
        let models = agent
            .models
            .iter()
            .filter(|model| agent.runs_code() && model.lacks_code(kind_of));
        problems.extend(models.map(|model| {
            let message = format!("the provider of `{}` runs no code for it", model.label());
            let help = format!("remove `code_execution`, or ask one of these: {WITH_CODE}");
            Problem::error(message)
                .at(agent.references.code_execution.unwrap_or(agent.span))
                .help(help)
        }));
    }
    let judge = parts.judge.iter().flat_map(|judge| &judge.providers);
    let of_tests = parts.tools.iter().flat_map(ToolTest::checks_of_judges);
    let of_agents = parts.agents.iter().flat_map(Agent::checks_of_judges);
    let questions: Vec<&Question> = of_agents
        .chain(of_tests)
        .map(|(_, question)| question)
        .collect();
    let used = questions
        .iter()
        .flat_map(|question| &question.providers)
        .chain(judge);
    problems.extend(used.filter_map(|(name, span)| unknown("providers", name, *span, &providers)));
    let is_unnamed = |question: &&&Question| question.judges.is_empty() && parts.judge.is_none();
    problems.extend(
        questions
            .iter()
            .filter(is_unnamed)
            .map(|question| without_judge(question)),
    );
    for test in &parts.tools {
        problems.extend(unknown("servers", &test.server, test.server_span, &servers));
    }
    for fault in &parts.faults {
        if let Some(server) = &fault.target.server {
            problems.extend(unknown("servers", server, fault.server_span, &servers));
        }
    }
}

/// Rows are selected and reported by name, so no two may have the same.
fn check_row_names(parts: &Parts, problems: &mut Vec<Problem>) {
    let (plain, others): (Vec<_>, Vec<_>) = parts
        .agents
        .iter()
        .partition(|agent| agent.row_names() == [agent.name.as_str()]);
    let mut rows: BTreeMap<String, Span> = BTreeMap::new();
    let of_agents = plain.iter().chain(&others);
    let of_agents =
        of_agents.flat_map(|agent| agent.row_names().into_iter().map(|name| (name, agent.span)));
    let of_tools = parts
        .tools
        .iter()
        .map(|test| (test.name.clone(), test.span));
    for (name, span) in of_agents.chain(of_tools) {
        // A model listed twice is its own problem, and reported as such.
        if let Some(first) = rows.get(&name).filter(|first| **first != span) {
            let problem = Problem::error(format!("two rows are called `{name}`")).at(span);
            problems.push(
                problem
                    .also(*first, "the other one")
                    .help("rename one of them"),
            );
        } else {
            rows.insert(name, span);
        }
    }
}

/// Refuses a target that no scorer gives, and a judge of numbers.
fn unscored(one: &Assertion<Path>, scorers: &[&str]) -> Option<Problem> {
    let name = one.target.scorer()?;
    if one.matcher.question().is_some() {
        let problem =
            Problem::error("a number of a scorer is not for a model to judge").at(one.span);
        return Some(problem.help("compare it, as `{ gte: 0.5 }`"));
    }
    unknown(SCORERS, name, one.span, scorers)
}

fn unknown(key: &str, name: &str, span: Span, known: &[&str]) -> Option<Problem> {
    if known.contains(&name) {
        return None;
    }
    let help = did_you_mean(name, known.iter().copied(), || match known {
        [] => format!("declare it under a top-level `{key}:`"),
        known => format!("declared there: {}", known.join(", ")),
    });
    Some(
        Problem::error(format!("nothing under `{key}:` is called `{name}`"))
            .at(span)
            .help(help),
    )
}
