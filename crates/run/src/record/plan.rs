//! Which rows of the plan are recorded now, by whom, and why can others not be?

use super::agent_job::{Actor, AgentJob};
use super::spending::Spending;
use super::state::{WantedRuns, wanted_runs};
use super::tool_job::ToolJob;
use super::{Job, RecordedRow};
use crate::Mode;
use crate::advice::{self, reason_of};
use crate::plan::{Plan, Row, Subject};
use crate::replay::cassette_paths;
use crate::secrets::Secrets;
use mcptest_agent::Providers;
use mcptest_core::report::Reason;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// What is to be recorded, agents first, and what came already of rows that cannot be.
pub(super) struct Planned<'p> {
    pub(super) rows: BTreeMap<usize, RecordedRow>,
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
    let mut planned = Planned { rows: BTreeMap::new(), jobs: Vec::new() };
    let cells = || plan.cells.iter().enumerate().filter(|(_, cell)| cell.skip.is_none());
    for (index, row) in cells().filter_map(|(index, cell)| Some((index, Row::of(cell)?))) {
        let places = (planned.jobs.len(), index);
        let job = agent_job(row, places, mode, secrets, &providers).and_then(|job| {
            job.as_ref().map_or(Ok(()), |job| job.refuse_unpriced(spending))?;
            Ok(job)
        });
        match job {
            Ok(job) => planned.jobs.extend(job.map(|job| Job::Agent(Box::new(job)))),
            Err(reason) => {
                planned.rows.insert(index, RecordedRow::Failed(reason));
            }
        }
    }
    for (index, cell) in cells() {
        let Subject::Tool { suite, test } = cell.subject else { continue };
        if wanted_runs(cell, mode).is_some() {
            let (number, secrets, row) = (planned.jobs.len(), secrets.of(suite), OnceLock::new());
            planned.jobs.push(Job::Tool(ToolJob { number, index, cell, suite, test, mode, secrets, row }));
        }
    }
    planned
}

/// What is to be recorded of a row; `None` when nothing is.
fn agent_job<'p>(
    row: Row<'p>,
    (number, index): (usize, usize),
    mode: Mode,
    secrets: &Secrets,
    providers: &Providers,
) -> Result<Option<AgentJob<'p>>, Reason> {
    let Row { cell, suite, agent, model, variant } = row;
    let is_live = mode == Mode::Live;
    let Some(actor) = actor(row, providers).filter(|_| !agent.is_read_only()) else {
        let message = "its `cassette:` is a list or a pattern, so there is nothing to run".to_owned();
        let help = Some("judge them without `--live`, or give the agent a path to record to".to_owned());
        return if is_live { Err(Reason { message, help, ..Reason::default() }) } else { Ok(None) };
    };
    let paths = cassette_paths(suite, agent, model, variant).map_err(|error| advice::unresolved(&error))?;
    let Some(WantedRuns { goes_on, runs }) = wanted_runs(cell, mode) else { return Ok(None) };
    let (actor, secrets) = (actor?, secrets.of(suite));
    secrets.redactor()?;
    let path = paths.into_iter().next().filter(|_| !is_live);
    let cassettes = AgentJob::cassettes(agent, path, goes_on, is_live);
    Ok(Some(AgentJob { number, index, row, actor, runs, mode, secrets, cassettes }))
}

/// Who acts, or why nobody can; `None` when the agent names nobody.
fn actor<'p>(row: Row<'p>, providers: &Providers) -> Option<Result<Actor<'p>, Reason>> {
    if let Some(own) = &row.agent.own {
        return Some(Ok(Actor::Own(own)));
    }
    let model = row.model?;
    let provider = providers.resolve(model, row.suite, crate::host().environment);
    Some(match provider {
        Ok(provider) => Ok(Actor::Model { provider: Box::new(provider), id: &model.id }),
        Err(error) => Err(reason_of(&error.to_string())),
    })
}
