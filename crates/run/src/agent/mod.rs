//! Agents at work: which runs are recorded now, how many at once, and what if the user has enough?

mod chore;
mod estimate;
mod event;
mod one_run;
mod price;
mod purse;
mod reel;
mod schedule;
mod shared;
mod state;
mod wanted;
mod work;

pub use estimate::{Estimate, ExceededBudget, ExpectedTokens, MatrixRuns, RowEstimate, estimate};
pub use event::{Event, RowToRecord, Watch, unwatched};
pub(crate) use work::Done;

use crate::plan::Plan;
use crate::secrets::Secrets;
use crate::tool_test::Interrupted;
use crate::{Mode, Options};
use mcptest_process::{end_all, interrupted as interrupted_by_user};
use one_run::{Surroundings, Unfinished, perform};
use purse::Purse;
use schedule::{Schedule, Unit};
use shared::Shared;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use wanted::Planned;
use work::Work;

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Executed {
    /// By the index of the cell.
    pub(crate) done: BTreeMap<usize, Done>,
    /// Which budget ended it, when one did.
    pub(crate) over_budget: Option<String>,
}

/// Records, or runs live, what the mode asks for.
pub(crate) fn execute(
    plan: &Plan<'_>,
    options: &Options,
    secrets: &Secrets,
    watch: &Watch,
) -> Result<Executed, Interrupted> {
    let purse = Purse::new(options.max_cost_usd);
    let Planned { mut done, works } = wanted::plan(plan, options, secrets, &purse);
    if works.is_empty() {
        return Ok(Executed { done, over_budget: None });
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            done.extend(works.iter().map(|work| (work.index, work.failed(&error.to_string()))));
            return Ok(Executed { done, over_budget: None });
        }
    };
    let (interrupt, interrupted) = watch::channel(None);
    runtime.spawn(async move {
        let _ = interrupt.send(Some(interrupted_by_user().await));
        let exit_code = interrupted_by_user().await;
        // Who asks twice does not wait for a teardown; without its processes, what is left ends by itself.
        end_all();
        tokio::time::sleep(Duration::from_secs(1)).await;
        std::process::exit(exit_code.into());
    });
    watch(Event::Began { cells: works.iter().map(Work::row).collect() });
    let wanted: usize = works.iter().map(|work| work.units().len()).sum();
    let schedule = Schedule::new(
        works.iter().map(|work| work.lane(options.jobs)).collect(),
        works.iter().flat_map(Work::units),
    );
    let shared = Shared::default();
    let crew = Crew {
        works: &works,
        schedule: &schedule,
        purse: &purse,
        shared: &shared,
        watch,
        finished: AtomicUsize::new(0),
        fail_fast: options.fail_fast,
    };
    let at_once = if options.fail_fast { 1 } else { options.jobs.max(1) };
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| crew.work(runtime.handle(), &interrupted));
        }
    });
    let finished = crew.finished.load(Ordering::Relaxed);
    let exit_code = *interrupted.borrow();
    drop(interrupted);
    watch(Event::Ended);
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(10), shared.close()).await.ok() });
    done.extend(works.into_iter().filter_map(Work::into_done));
    runtime.shutdown_timeout(Duration::from_secs(2));
    if let Some(exit_code) = exit_code {
        end_all();
        let recorded = matches!(options.mode, Mode::Record(_));
        return Err(Interrupted { exit_code, finished, wanted, recorded, what: "runs" });
    }
    Ok(Executed { done, over_budget: purse.stopped() })
}

/// The user has it.
struct Enough;

/// The threads that record, and what they have.
struct Crew<'c, 'p> {
    works: &'c [Work<'p>],
    schedule: &'c Schedule,
    purse: &'c Purse,
    shared: &'c Shared,
    watch: &'c Watch,
    finished: AtomicUsize,
    fail_fast: bool,
}

impl Crew<'_, '_> {
    /// Records one run after the other, until there are no more or the user has enough.
    fn work(&self, runtime: &tokio::runtime::Handle, interrupted: &watch::Receiver<Option<u8>>) {
        while let Some(unit) = self.schedule.take() {
            if interrupted.borrow().is_some() {
                return self.schedule.stop();
            }
            let work = &self.works[unit.work];
            let (cell, run) = (unit.work, unit.run);
            let (stop_reason, unrecorded) = match work.reserve(&unit) {
                Ok(true) => {
                    (self.watch)(Event::RunStarted { cell, run, in_matrix: unit.in_matrix });
                    match self.record(work, &unit, runtime, interrupted) {
                        Ok(ended) => ended,
                        Err(Enough) => return self.schedule.stop(),
                    }
                }
                Ok(false) => (None, Some("another mcptest has recorded it in the meantime".to_owned())),
                Err(why) => {
                    work.note_failure(&unit, &why);
                    (None, Some(why))
                }
            };
            if unrecorded.is_some() {
                // What is wrong with one run before it began is wrong with the next: nothing is spent on it.
                self.schedule.drop_rest(cell);
            }
            let unrecorded = unrecorded.map(|why| work.without_secrets(&why));
            (self.watch)(Event::RunFinished { cell, run, stop_reason, unrecorded });
            self.go_on(work, &unit);
        }
    }

    /// Why the run ended, and why it is not on the disk, when it is not.
    fn record(
        &self,
        work: &Work<'_>,
        unit: &Unit,
        runtime: &tokio::runtime::Handle,
        interrupted: &watch::Receiver<Option<u8>>,
    ) -> Result<(Option<String>, Option<String>), Enough> {
        let mut around = Surroundings {
            shared: self.shared,
            purse: self.purse,
            watch: self.watch,
            interrupted: interrupted.clone(),
        };
        let ended = runtime.block_on(perform(work, unit.run, work.faults(unit), &mut around));
        let stop_reason = ended.as_ref().ok().and_then(|finished| finished.trace.stop_reason.clone());
        let unrecorded = match ended {
            Ok(finished) => work.keep(unit, finished).err(),
            Err(Unfinished::Failed(why) | Unfinished::OverBudget(why)) => Some(why),
            Err(Unfinished::Interrupted) => return Err(Enough),
        };
        match &unrecorded {
            Some(why) => work.note_failure(unit, why),
            None => {
                self.finished.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok((stop_reason, unrecorded))
    }

    /// What follows from a run that has ended: no more of them, a fault matrix, or the cassette's end.
    fn go_on(&self, work: &Work<'_>, unit: &Unit) {
        let cell = unit.work;
        if !unit.in_matrix && work.is_decided() {
            let saved = self.schedule.drop_rest(cell);
            if saved > 0 {
                (self.watch)(Event::Decided { cell, saved });
            }
        }
        let more = || {
            let more = work.matrix_units(unit);
            if !more.is_empty() {
                (self.watch)(Event::More { cell, runs: more.len() });
            }
            more
        };
        if self.schedule.finish(unit, more) {
            work.finish();
            if self.fail_fast && !work.passes() {
                self.schedule.stop();
            }
        }
    }
}
