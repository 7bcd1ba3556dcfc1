//! Which rows of the plan are recorded now, by whom, and why can others not be?

use super::purse::Purse;
use super::state::wanted_runs;
use super::work::{Actor, Done, Wanted, Work, reason_of};
use crate::plan::{Plan, Row};
use crate::replay::cassette_paths;
use crate::secrets::Secrets;
use crate::{Mode, Options, advice};
use mcptest_agent::Providers;
use mcptest_core::report::Reason;
use std::collections::BTreeMap;

/// What is to be done, and what is done already because it cannot be.
pub(super) struct Planned<'p> {
    pub(super) done: BTreeMap<usize, Done>,
    pub(super) works: Vec<Work<'p>>,
}

/// The rows that the mode asks for.
pub(super) fn plan<'p>(
    plan: &'p Plan<'p>,
    options: &Options,
    secrets: &Secrets,
    purse: &Purse,
) -> Planned<'p> {
    let providers = Providers::default();
    let mut planned = Planned { done: BTreeMap::new(), works: Vec::new() };
    for (index, cell) in plan.cells.iter().enumerate() {
        let Some(row) = Row::of(cell).filter(|_| cell.skip.is_none()) else { continue };
        let place = planned.works.len();
        let work = wanted(row, place, options.mode, secrets, &providers).and_then(|wanted| {
            let Some((path, wanted)) = wanted else { return Ok(None) };
            let work = Work::new(index, row, path, wanted);
            work.refuse_unpriced(purse).map(|()| Some(work))
        });
        match work {
            Ok(work) => planned.works.extend(work),
            Err(reason) => {
                planned.done.insert(index, Done::Failed(reason));
            }
        }
    }
    planned
}

/// What is wanted of a row, and where it is written to; `None` when nothing is.
fn wanted<'p>(
    row: Row<'p>,
    place: usize,
    mode: Mode,
    secrets: &Secrets,
    providers: &Providers,
) -> Result<Option<(Option<std::path::PathBuf>, Wanted<'p>)>, Reason> {
    let Row { cell, suite, agent, model, variant } = row;
    let is_live = mode == Mode::Live;
    let Some(actor) = actor(row, providers).filter(|_| !agent.is_read_only()) else {
        let message = "its `cassette:` is a list or a pattern, so there is nothing to run".to_owned();
        let help = Some("judge them without `--live`, or give the agent a path to record to".to_owned());
        return if is_live { Err(Reason { message, help, ..Reason::default() }) } else { Ok(None) };
    };
    let paths = cassette_paths(suite, agent, model, variant).map_err(|error| advice::unresolved(&error))?;
    let Some((goes_on, runs)) = wanted_runs(cell, agent, mode) else { return Ok(None) };
    let (actor, secrets) = (actor?, secrets.of(suite));
    secrets.redactor()?;
    let path = paths.into_iter().next().filter(|_| !is_live);
    Ok(Some((path, Wanted { place, actor, runs, goes_on, mode, secrets })))
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
