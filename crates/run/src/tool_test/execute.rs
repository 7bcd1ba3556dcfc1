//! Which tool tests are called now, how many at once, and what if the user has enough?

use super::{live, replay};
use crate::cassette::write_whole;
use crate::plan::{Cell, Plan, Subject};
use crate::secrets::{OfSuite, Secrets};
use crate::{Event, Fresh, Mode, Options, Watch, Which, judge};
use mcptest_core::report::{Reason, Status};
use mcptest_core::suite::{Suite, ToolTest};
use mcptest_process::{end_all, interrupted as interrupted_by_user};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use thiserror::Error;
use tokio::sync::watch;

/// What came of calling one test.
#[derive(Debug)]
pub(crate) enum Done {
    /// Its recording is on the disk.
    Recorded,
    /// Its recording is here alone.
    Live(String),
    /// It could not be called, or its recording not be written.
    Failed(Reason),
}

/// The user ended the program; what was recorded until then is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("interrupted: {finished} of {wanted} {what} had ended{}; nothing is reported{}",
    if *.recorded && *.finished > 0 { ", and their recordings are kept" } else { "" },
    if *.recorded { "; `--record=missing` records the rest" } else { "" })]
pub struct Interrupted {
    /// What a shell expects the program to exit with.
    pub exit_code: u8,
    /// What they are.
    pub what: &'static str,
    /// How many had been called.
    pub finished: usize,
    /// How many were to be.
    pub wanted: usize,
    /// Whether they were recorded.
    pub recorded: bool,
}

/// One test to call.
struct Job<'p, 's> {
    index: usize,
    cell: &'p Cell<'s>,
    suite: &'s Suite,
    test: &'s ToolTest,
}

/// Calls what the mode asks for, by the index of its cell.
pub(crate) fn execute(
    plan: &Plan<'_>,
    options: Options,
    secrets: &Secrets,
    watch: &Watch,
) -> Result<BTreeMap<usize, Done>, Interrupted> {
    let jobs = jobs(plan, options);
    if jobs.is_empty() {
        return Ok(BTreeMap::new());
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let reason = Reason { message: error.to_string(), ..Reason::default() };
            return Ok(jobs.iter().map(|job| (job.index, Done::Failed(reason.clone()))).collect());
        }
    };
    let (interrupt, interrupted) = watch::channel(None);
    runtime.spawn(async move {
        let _ = interrupt.send(Some(interrupted_by_user().await));
        // Kept until the calls have heard of it.
        interrupt.closed().await;
    });
    watch(Event::ToolsBegan { tests: jobs.len() });
    let crew = Crew {
        jobs: &jobs,
        options,
        secrets,
        watch,
        next: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
        done: Mutex::default(),
    };
    let at_once = if options.fail_fast { 1 } else { options.jobs.clamp(1, jobs.len()) };
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            let interrupted = interrupted.clone();
            scope.spawn(|| crew.work(runtime.handle(), interrupted));
        }
    });
    let exit_code = *interrupted.borrow();
    drop(interrupted);
    runtime.shutdown_timeout(Duration::from_secs(2));
    let done = crew.done.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(exit_code) = exit_code {
        end_all();
        let recorded = matches!(options.mode, Mode::Record(_));
        return Err(Interrupted {
            exit_code,
            finished: done.len(),
            wanted: jobs.len(),
            recorded,
            what: "tool tests",
        });
    }
    Ok(done)
}

/// How many tool tests the mode asks to call.
pub(crate) fn count(plan: &Plan<'_>, options: Options) -> usize {
    jobs(plan, options).len()
}

fn jobs<'p, 's>(plan: &'p Plan<'s>, options: Options) -> Vec<Job<'p, 's>> {
    plan.cells
        .iter()
        .enumerate()
        .filter_map(|(index, cell)| match cell.subject {
            Subject::Tool { suite, test } if cell.skip.is_none() => Some(Job { index, cell, suite, test }),
            _ => None,
        })
        .filter(|job| is_called(job, options))
        .collect()
}

fn is_called(job: &Job<'_, '_>, options: Options) -> bool {
    let which = match options.mode {
        Mode::Replay => return false,
        Mode::Live => return true,
        Mode::Record(which) => which,
    };
    let state = replay::state_of(job.suite, job.test);
    match which {
        // What a newer version wrote is refused, never rewritten.
        _ if state == replay::State::Newer => false,
        Which::All => true,
        Which::Missing => state == replay::State::Missing,
        Which::Stale => state == replay::State::Stale,
        Which::Failed => {
            let mut report = job.cell.blank();
            replay::judge(job.cell, job.suite, job.test, &mut report);
            state == replay::State::Fresh && report.status != Status::Passed
        }
    }
}

/// The threads that call, and what they have.
struct Crew<'c, 'p, 's> {
    jobs: &'c [Job<'p, 's>],
    options: Options,
    secrets: &'c Secrets,
    watch: &'c Watch,
    next: AtomicUsize,
    stop: AtomicBool,
    done: Mutex<BTreeMap<usize, Done>>,
}

impl Crew<'_, '_, '_> {
    /// Nothing was tried, so an older recording may still pass without `--record`: the row says so.
    fn unrecorded(&self, mut reason: Reason) -> Reason {
        if matches!(self.options.mode, Mode::Record(_)) {
            reason.details.push("nothing was recorded; an older recording is left as it was".to_owned());
        }
        reason
    }

    fn work(&self, runtime: &tokio::runtime::Handle, mut interrupted: watch::Receiver<Option<u8>>) {
        while let Some(job) = self.jobs.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            let secrets = self.secrets.of(job.suite);
            let called = runtime.block_on(async {
                tokio::select! {
                    biased;
                    _ = interrupted.wait_for(Option::is_some) => None,
                    called = async { live::call(job.suite, job.test, secrets.redactor()?).await } => Some(called),
                }
            });
            let Some(called) = called else { return };
            let done = match called {
                Err(reason) => Done::Failed(self.unrecorded(reason)),
                Ok(text) if self.options.mode == Mode::Live => Done::Live(text),
                Ok(text) => match write_whole(&replay::path_of(job.suite, job.test), &text) {
                    Ok(()) => Done::Recorded,
                    Err(error) => Done::Failed(Reason { message: error.to_string(), ..Reason::default() }),
                },
            };
            let row_name = job.cell.row_name.clone();
            (self.watch)(Event::ToolCalled { row_name, unrecorded: unrecorded(&done, &secrets) });
            if self.options.fail_fast {
                let report = judge::judge(job.cell, self.options, Some(Fresh::Tool(&done)));
                self.stop.fetch_or(report.status != Status::Passed, Ordering::Relaxed);
            }
            self.done.lock().unwrap_or_else(PoisonError::into_inner).insert(job.index, done);
        }
    }
}

/// Why there is nothing recorded of a test, as it may be shown.
fn unrecorded(done: &Done, secrets: &OfSuite) -> Option<String> {
    let Done::Failed(reason) = done else { return None };
    Some(secrets.redactor().map(|redactor| redactor.text(&reason.message).into_owned()).unwrap_or_default())
}
