//! Which rows of the plan are recorded now, by whom, and why can others not be?

use super::agent_job::{Actor, AgentJob};
use super::state::{WantedRuns, wanted_runs};
use super::tool_job::ToolJob;
use super::{Job, eras};
use crate::Mode;
use mcptest_agent::{Providers, Spending};
use mcptest_core::row::{AgentRow, Reason, ReasonKind, Row};
use mcptest_replay::FreshRow;
use mcptest_replay::Plan;
use mcptest_replay::Secrets;
use mcptest_replay::advice;
use mcptest_replay::cassette_paths;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// What is to be recorded, agents first, and what came already of rows that cannot be.
pub(super) struct Planned<'p> {
    pub(super) rows: BTreeMap<usize, FreshRow>,
    pub(super) jobs: Vec<Job<'p>>,
}

/// The rows that the mode asks for.
pub(super) fn plan<'p>(
    plan: &'p Plan<'p>,
    mode: Mode,
    secrets: &Secrets,
    spending: &Spending,
) -> Planned<'p> {
    let providers = Providers::default();
    let mut planned = Planned {
        rows: BTreeMap::new(),
        jobs: Vec::new(),
    };
    let rows = || {
        plan.rows
            .iter()
            .enumerate()
            .filter(|(_, row)| row.skip.is_none())
    };
    for (index, row) in rows() {
        let places = (planned.jobs.len(), index);
        let job = agent_job(row, places, mode, secrets, &providers).and_then(|job| {
            job.as_ref()
                .map_or(Ok(()), |job| job.refuse_unpriced(spending))?;
            Ok(job)
        });
        match job {
            Ok(job) => planned
                .jobs
                .extend(job.map(|job| Job::Agent(Box::new(job)))),
            Err(reason) => {
                planned.rows.insert(index, FreshRow::Failed(reason));
            }
        }
    }
    for (index, planned_row) in rows() {
        let Some(of) = planned_row.tool_row() else {
            continue;
        };
        if wanted_runs(planned_row, mode).is_some() {
            let (number, secrets, row) =
                (planned.jobs.len(), secrets.of(of.suite), OnceLock::new());
            let job = ToolJob {
                number,
                index,
                planned: planned_row,
                of,
                mode,
                secrets,
                row,
            };
            planned.jobs.push(Job::Tool(job));
        }
    }
    planned
}

/// What is to be recorded of a row; `None` when nothing is.
fn agent_job<'p>(
    planned: &'p Row<'p>,
    (number, index): (usize, usize),
    mode: Mode,
    secrets: &Secrets,
    providers: &Providers,
) -> Result<Option<AgentJob<'p>>, Reason> {
    let Some(row) = planned.agent_row() else {
        return Ok(None);
    };
    let AgentRow { suite, agent, .. } = row;
    let is_live = mode == Mode::Live;
    let Some(actor) = actor(row, providers).filter(|_| !agent.is_read_only()) else {
        let (why, way_out) = if agent.is_read_only() {
            (
                "its `cassette:` is a list or a pattern",
                "a path to record to",
            )
        } else {
            (
                "it names no model and no program",
                "a `model:` or an `agent: {command}`",
            )
        };
        let reason = Reason::new(
            ReasonKind::NothingToRun,
            format!("{why}, so there is nothing to run"),
        )
        .help(format!(
            "judge its traces without `--live`, or give the agent {way_out}"
        ));
        return if is_live && !agent.is_eval() {
            Err(reason)
        } else {
            Ok(None)
        };
    };
    let paths = cassette_paths(row).map_err(|error| advice::unresolved(&error))?;
    let Some(WantedRuns { goes_on, runs }) = wanted_runs(planned, mode) else {
        return Ok(None);
    };
    let (actor, secrets) = (actor?, secrets.of(suite));
    secrets.redactor()?;
    let path = paths.into_iter().next();
    let servers_before = path.as_deref().map(eras::recorded).unwrap_or_default();
    let cassettes = AgentJob::cassettes(agent, path.filter(|_| !is_live), goes_on, is_live);
    Ok(Some(AgentJob {
        number,
        index,
        planned,
        row,
        actor,
        runs,
        mode,
        secrets,
        servers_before,
        cassettes,
    }))
}

/// Who acts, or why nobody can; `None` when the agent names nobody.
fn actor<'p>(row: AgentRow<'p>, providers: &Providers) -> Option<Result<Actor<'p>, Reason>> {
    if let Some(own) = &row.agent.own {
        return Some(Ok(Actor::Own(own)));
    }
    let model = row.model?;
    let provider = providers.resolve(model, row.suite, mcptest_replay::host().environment);
    Some(match provider {
        Ok(provider) => Ok(Actor::Model {
            provider: Box::new(provider),
            id: &model.id,
        }),
        Err(error) => Err(Reason::of_lines(
            ReasonKind::ProviderUnusable,
            &error.to_string(),
        )),
    })
}
