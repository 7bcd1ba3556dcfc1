//! The threads that record: what do they do with each unit of the schedule?

use super::Job;
use super::agent_job::{AgentJob, Turn};
use super::one_run::{RecordingContext, Unfinished, perform};
use super::schedule::{Schedule, Unit};
use super::tool_job::ToolJob;
use crate::{Mode, Options};
use mcptest_core::guard::guarded;
use mcptest_replay::{Event, FreshRow, Interrupted, interrupted};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// The host wants it to end.
struct Stop;

/// The result of one run.
struct Made {
    /// Why it ended.
    stop_reason: Option<String>,
    /// Why it is not on disk, if it is not.
    unrecorded: Option<String>,
    /// True if the next run would hit the same problem, so that no further run is made.
    is_the_last: bool,
}

impl Made {
    fn nothing(why: String) -> Self {
        Self {
            stop_reason: None,
            unrecorded: Some(why),
            is_the_last: true,
        }
    }
}

/// Ends the other workers if one panics: they would wait for its unit forever.
struct StopOnPanic<'a>(&'a Schedule);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

/// The next step after a unit has ended.
enum Next {
    GoOn,
    /// It does not pass, so `--fail-fast` ends all others.
    DropRest,
}

impl Next {
    fn after(has_failed: bool) -> Self {
        if has_failed {
            Self::DropRest
        } else {
            Self::GoOn
        }
    }
}

/// The state that all workers share.
pub(super) struct Workers<'w, 'p> {
    jobs: &'w [Job<'p>],
    schedule: &'w Schedule,
    context: RecordingContext<'w>,
    options: Options,
    /// Done when the first run of an agent begins.
    agents: Once,
    recorded: AtomicUsize,
    took_us: Vec<AtomicU64>,
}

impl<'w, 'p> Workers<'w, 'p> {
    pub(super) fn new(
        jobs: &'w [Job<'p>],
        schedule: &'w Schedule,
        context: RecordingContext<'w>,
        options: Options,
    ) -> Self {
        let took_us = jobs.iter().map(|_| AtomicU64::new(0)).collect();
        Self {
            jobs,
            schedule,
            context,
            options,
            agents: Once::new(),
            recorded: AtomicUsize::new(0),
            took_us,
        }
    }

    /// Records units one at a time, until all are done or the host interrupts.
    pub(super) fn work(&self, runtime: &Handle) {
        let _on_panic = StopOnPanic(self.schedule);
        while let Some(unit) = self.schedule.take() {
            if self.context.interrupt.borrow().is_some() {
                return self.schedule.stop();
            }
            let begun = Instant::now();
            let ended = match &self.jobs[unit.job] {
                Job::Tool(job) => self.call_tool(job, &unit, runtime),
                Job::Agent(job) => self.record_run(job, &unit, runtime),
            };
            let took = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
            self.took_us[unit.job].fetch_add(took, Ordering::Relaxed);
            match ended {
                Ok(Next::DropRest) => self.schedule.drop_all(),
                Ok(Next::GoOn) => {}
                Err(Stop) => return self.schedule.stop(),
            }
        }
    }

    /// The total time of each job's runs.
    pub(super) fn took(&self) -> Vec<Duration> {
        self.took_us
            .iter()
            .map(|took| Duration::from_micros(took.load(Ordering::Relaxed)))
            .collect()
    }

    /// The message after an interruption by the host, for a recording of `runs` and `tests`.
    pub(super) fn interrupted(&self, runs: usize, tests: usize) -> Option<Interrupted> {
        let exit_code = (*self.context.interrupt.borrow())?;
        let is_recorded = matches!(self.options.mode, Mode::Record(_));
        let rest = is_recorded.then_some("`--record=missing` records the rest");
        if self.agents.is_completed() || tests == 0 {
            let finished = self.recorded.load(Ordering::Relaxed);
            return Some(Interrupted {
                exit_code,
                what: "runs",
                finished,
                wanted: runs,
                rest,
            });
        }
        let finished = self
            .jobs
            .iter()
            .filter(|job| matches!(job, Job::Tool(job) if job.row.get().is_some()))
            .count();
        Some(Interrupted {
            exit_code,
            what: "tool tests",
            finished,
            wanted: tests,
            rest,
        })
    }

    fn call_tool(&self, job: &ToolJob<'_>, unit: &Unit, runtime: &Handle) -> Result<Next, Stop> {
        let calling = async {
            tokio::select! {
                biased;
                () = interrupted(self.context.interrupt) => Err(Stop),
                row = job.call(&self.context) => Ok(row),
            }
        };
        // One thing broken is one row broken.
        let row = guarded(|| runtime.block_on(calling))
            .unwrap_or_else(|panic| Ok(FreshRow::failed(panic.to_string())))?;
        let row = job.row.get_or_init(|| row);
        (self.context.watch)(Event::ToolCalled {
            row_name: job.planned.name.clone(),
            unrecorded: job.unrecorded(row),
        });
        self.schedule.finish(unit, Vec::new);
        let has_failed = self.options.fail_fast && !job.passes(row, self.options);
        Ok(Next::after(has_failed))
    }

    fn record_run(&self, job: &AgentJob<'_>, unit: &Unit, runtime: &Handle) -> Result<Next, Stop> {
        let watch = self.context.watch;
        self.agents.call_once(|| self.announce_agents());
        let (row, run) = (unit.job, unit.run);
        let made = match job.reserve(unit) {
            Ok(Turn::Ours) => {
                watch(Event::RunStarted {
                    row,
                    run,
                    is_side: unit.is_side,
                });
                self.make_run(job, unit, runtime)?
            }
            Ok(Turn::DoneByAnother) => {
                Made::nothing("another mcptest recorded it first".to_owned())
            }
            Err(error) => {
                let why = error.to_string();
                job.note_failure(unit, &why);
                Made::nothing(why)
            }
        };
        if made.is_the_last {
            self.schedule.drop_rest(row);
        }
        watch(Event::RunFinished {
            row,
            run,
            stop_reason: made.stop_reason,
            unrecorded: made.unrecorded.map(|why| job.secrets.hidden_in(&why)),
        });
        let has_ended = self.end_row(job, unit);
        let has_failed = has_ended && self.options.fail_fast && !job.passes(self.options);
        Ok(Next::after(has_failed))
    }

    fn announce_agents(&self) {
        let agents = self.jobs.iter().filter_map(|job| match job {
            Job::Agent(job) => Some(job.to_record()),
            Job::Tool(_) => None,
        });
        (self.context.watch)(Event::Began {
            rows: agents.collect(),
        });
    }

    /// Makes a run and keeps it.
    fn make_run(&self, job: &AgentJob<'_>, unit: &Unit, runtime: &Handle) -> Result<Made, Stop> {
        // One thing broken is one run broken.
        let ended = guarded(|| runtime.block_on(perform(job, unit, &self.context)))
            .unwrap_or_else(|panic| Err(Unfinished::Broken(panic.to_string())));
        let stop_reason = ended
            .as_ref()
            .ok()
            .and_then(|finished| finished.trace.stop_reason.clone());
        let broke_alone = matches!(ended, Err(Unfinished::Broken(_)));
        let unrecorded = match ended {
            Ok(finished) => {
                let kept = job.keep(unit, finished);
                kept.err().map(|error| error.to_string())
            }
            Err(Unfinished::Failed(why) | Unfinished::Broken(why)) => Some(why),
            Err(Unfinished::Interrupted) => return Err(Stop),
        };
        match &unrecorded {
            Some(why) => job.note_failure(unit, why),
            None => {
                self.recorded.fetch_add(1, Ordering::Relaxed);
            }
        }
        let is_the_last = unrecorded.is_some() && !broke_alone;
        Ok(Made {
            stop_reason,
            unrecorded,
            is_the_last,
        })
    }

    /// Decides after a run: drop the remaining runs, start side runs, or end the cassette, which returns true.
    fn end_row(&self, job: &AgentJob<'_>, unit: &Unit) -> bool {
        let row = unit.job;
        if !unit.is_side && job.decide() {
            let saved = self.schedule.drop_rest(row);
            if saved > 0 {
                (self.context.watch)(Event::Decided { row, saved });
            }
        }
        let more = || {
            let more = job.side_units(unit);
            if !more.is_empty() {
                (self.context.watch)(Event::More {
                    row,
                    runs: more.len(),
                });
            }
            more
        };
        let is_over = self.schedule.finish(unit, more);
        if is_over {
            job.finish();
        }
        is_over
    }
}

#[cfg(test)]
mod tests {
    use super::super::schedule::Shared;
    use super::*;

    #[test]
    fn a_worker_that_panics_lets_the_others_end() {
        let unit = Unit {
            job: 0,
            run: 1,
            is_side: false,
        };
        let schedule = Schedule::new(vec![Shared::Nothing], [unit]);
        schedule.take().unwrap();
        let panicking = std::thread::scope(|scope| {
            let panicking = scope.spawn(|| {
                let _on_panic = StopOnPanic(&schedule);
                panic!("by intention");
            });
            let waiting = scope.spawn(|| while schedule.take().is_some() {});
            waiting.join().unwrap();
            panicking.join()
        });
        assert!(panicking.is_err());
    }

    #[test]
    fn a_panic_is_told_in_its_words() {
        let count = 3;
        let words = |work: &dyn Fn()| guarded(work).unwrap_err().to_string();
        assert_eq!(
            words(&|| panic!("no thread for {count}")),
            "mcptest itself failed: no thread for 3"
        );
        assert_eq!(words(&|| panic!("plain")), "mcptest itself failed: plain");
    }
}
