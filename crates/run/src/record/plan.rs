//! Which rows of the plan are recorded now, by whom, and why are others not?

use super::agent_job::{Actor, AgentJob};
use super::state::{WantedRuns, wanted_runs};
use super::tool_job::ToolJob;
use super::{Job, eras};
use crate::Mode;
use mcptest_agent::{Providers, Spending};
use mcptest_core::row::{AgentRow, Reason, ReasonKind, Row};
use mcptest_core::suite::Agent;
use mcptest_replay::{FreshRow, Plan, Secrets, advice, cassette_paths};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The rows to record, agents first, and the outcomes of rows that cannot be recorded.
pub(super) struct Planned<'p> {
    pub(super) rows: BTreeMap<usize, FreshRow>,
    pub(super) jobs: Vec<Job<'p>>,
}

/// The rows that the mode selects.
pub(super) fn plan<'p>(
    plan: &'p Plan<'p>,
    mode: Mode,
    secrets: &Secrets,
    spending: &Spending,
) -> Planned<'p> {
    let planning = Planning {
        mode,
        secrets,
        providers: Providers::default(),
        spending,
    };
    let mut planned = Planned {
        rows: BTreeMap::new(),
        jobs: Vec::new(),
    };
    let rows = plan
        .rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.skip.is_none());
    for (index, row) in rows.clone() {
        planned.add_agent(index, row, &planning);
    }
    for (index, row) in rows {
        planned.add_tool_test(index, row, &planning);
    }
    planned
}

impl<'p> Planned<'p> {
    fn add_agent(&mut self, index: usize, row: &'p Row<'p>, planning: &Planning<'_>) {
        let place = JobPlace {
            number: self.jobs.len(),
            index,
        };
        match agent_job(row, place, planning) {
            Ok(Some(job)) => self.jobs.push(Job::Agent(Box::new(job))),
            Ok(None) => {}
            Err(reason) => {
                self.rows.insert(index, FreshRow::Failed(reason));
            }
        }
    }

    fn add_tool_test(&mut self, index: usize, row: &'p Row<'p>, planning: &Planning<'_>) {
        let Some(of) = row.tool_row() else {
            return;
        };
        if wanted_runs(row, planning.mode).is_none() {
            return;
        }
        self.jobs.push(Job::Tool(ToolJob {
            number: self.jobs.len(),
            index,
            planned: row,
            of,
            mode: planning.mode,
            secrets: planning.secrets.of(of.suite),
            row: OnceLock::new(),
        }));
    }
}

/// The values for planning every job of an agent.
struct Planning<'a> {
    mode: Mode,
    secrets: &'a Secrets,
    providers: Providers,
    spending: &'a Spending,
}

/// The place of a job.
#[derive(Clone, Copy)]
struct JobPlace {
    /// Among the jobs.
    number: usize,
    /// In the plan.
    index: usize,
}

/// The job of recording a row; `None` if the row needs none.
fn agent_job<'p>(
    planned: &'p Row<'p>,
    place: JobPlace,
    planning: &Planning<'_>,
) -> Result<Option<AgentJob<'p>>, Reason> {
    let mode = planning.mode;
    let Some(row) = planned.agent_row() else {
        return Ok(None);
    };
    let AgentRow { suite, agent, .. } = row;
    let is_live = mode == Mode::Live;
    if agent.is_read_only() || !names_actor(row) {
        return if is_live && !agent.is_eval() {
            Err(nothing_to_run(agent))
        } else {
            Ok(None)
        };
    }
    let paths = cassette_paths(row).map_err(|error| advice::unresolved(&error))?;
    let Some(WantedRuns { goes_on, runs }) = wanted_runs(planned, mode) else {
        return Ok(None);
    };
    let actor = actor(row, &planning.providers)?;
    let secrets = planning.secrets.of(suite);
    secrets.redactor()?;
    let path = paths.into_iter().next();
    let servers_before = path.as_deref().map(eras::recorded).unwrap_or_default();
    let job = AgentJob {
        number: place.number,
        index: place.index,
        planned,
        row,
        actor,
        runs,
        mode,
        secrets,
        servers_before,
        cassettes: AgentJob::cassettes(agent, path.filter(|_| !is_live), goes_on, is_live),
    };
    job.refuse_unpriced(planning.spending)?;
    Ok(Some(job))
}

/// Why an agent cannot be run live.
fn nothing_to_run(agent: &Agent) -> Reason {
    let (why, way_out) = if agent.is_read_only() {
        (
            "its `cassette:` is a list or a pattern",
            "a path to record to",
        )
    } else {
        (
            "it has no model and no program",
            "a `model:` or an `agent: {command}`",
        )
    };
    let message = format!("{why}, so nothing can run");
    let help = format!("judge its traces without `--live`, or give the agent {way_out}");
    Reason::new(ReasonKind::NothingToRun, message).help(help)
}

fn names_actor(row: AgentRow<'_>) -> bool {
    row.agent.own.is_some() || row.model.is_some()
}

/// The model or program that acts, or why none can.
fn actor<'p>(row: AgentRow<'p>, providers: &Providers) -> Result<Actor<'p>, Reason> {
    if let Some(own) = &row.agent.own {
        return Ok(Actor::Own(own));
    }
    let Some(model) = row.model else {
        return Err(nothing_to_run(row.agent));
    };
    let provider = providers.resolve(model, row.suite, mcptest_replay::host().environment);
    let provider = provider
        .map_err(|error| Reason::from_lines(ReasonKind::ProviderUnusable, &error.to_string()))?;
    Ok(Actor::Model {
        provider: Box::new(provider),
        id: &model.id,
    })
}
