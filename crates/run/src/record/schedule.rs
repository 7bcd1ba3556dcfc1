//! Which run is recorded next, and how many at once?

use parking_lot::{Condvar, Mutex};
use std::collections::{BTreeMap, VecDeque};

/// One run to record, or one tool test to call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    /// The job it belongs to.
    pub(super) job: usize,
    /// Its number in its cassette, from 1.
    pub(super) run: usize,
    /// True for a side run.
    pub(super) is_side: bool,
}

/// The resource that the units of a job share with other jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shared {
    /// None: a tool test with its own server.
    Nothing,
    /// A tool test on a server with `shared: true`, of this name: one at a time, in the order of the suite.
    Server(String),
    /// A run of an agent, whose provider accepts this number of runs at once.
    Provider { name: String, at_once: usize },
}

/// The remaining runs. Workers take them in order, as far as the limits of providers allow. No
/// agent begins before the last tool test has ended.
#[derive(Debug)]
pub(super) struct Schedule {
    /// The shared limits of each job.
    shared: Vec<Shared>,
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    queue: VecDeque<Unit>,
    /// The number of running units, by shared resource and by job.
    by_shared: BTreeMap<String, usize>,
    by_job: BTreeMap<usize, usize>,
    is_stopped: bool,
    is_cut: bool,
}

impl Schedule {
    /// A schedule. The units of tool tests come first.
    pub(super) fn new(shared: Vec<Shared>, units: impl IntoIterator<Item = Unit>) -> Self {
        let waiting = Waiting {
            queue: units.into_iter().collect(),
            ..Waiting::default()
        };
        Self {
            shared,
            waiting: Mutex::new(waiting),
            changed: Condvar::new(),
        }
    }

    /// The next run. Waits while a provider is busy or a running unit may add more. `None` is the
    /// end.
    pub(super) fn take(&self) -> Option<Unit> {
        let mut waiting = self.waiting.lock();
        loop {
            if waiting.is_stopped || (waiting.queue.is_empty() && waiting.by_job.is_empty()) {
                return None;
            }
            let first = waiting.queue.front().map(|unit| unit.job);
            let tools_go_on = waiting
                .by_job
                .keys()
                .copied()
                .chain(first)
                .any(|job| self.is_tool_test(job));
            let busy = |key: &String| waiting.by_shared.get(key).copied().unwrap_or_default();
            let is_free = |unit: &Unit| match &self.shared[unit.job] {
                Shared::Nothing => true,
                Shared::Server(name) => busy(name) == 0,
                Shared::Provider { name, at_once } => !tools_go_on && busy(name) < *at_once,
            };
            if let Some(at) = waiting.queue.iter().position(is_free) {
                let unit = waiting.queue.remove(at)?;
                if let Some(key) = self.key(unit.job) {
                    *waiting.by_shared.entry(key.clone()).or_default() += 1;
                }
                *waiting.by_job.entry(unit.job).or_default() += 1;
                return Some(unit);
            }
            self.changed.wait(&mut waiting);
        }
    }

    /// Marks a run as ended. If it was the last of its job, `more` may add runs, which come before
    /// later jobs. Returns true if the job is done.
    pub(super) fn finish(&self, unit: &Unit, more: impl FnOnce() -> Vec<Unit>) -> bool {
        let mut waiting = self.waiting.lock();
        let is_alone = waiting.by_job.get(&unit.job) == Some(&1);
        let is_last = is_alone && waiting.queue.iter().all(|other| other.job != unit.job);
        let more = if is_last && !waiting.is_stopped {
            more()
        } else {
            Vec::new()
        };
        let is_over = is_last && more.is_empty();
        for unit in more.into_iter().rev() {
            waiting.queue.push_front(unit);
        }
        if let Some(busy) = self
            .key(unit.job)
            .and_then(|key| waiting.by_shared.get_mut(key))
        {
            *busy -= 1;
        }
        match waiting.by_job.get_mut(&unit.job) {
            Some(active) if *active > 1 => *active -= 1,
            _ => {
                waiting.by_job.remove(&unit.job);
            }
        }
        drop(waiting);
        self.changed.notify_all();
        is_over
    }

    /// Drops the rest of a job, and returns its number of runs.
    pub(super) fn drop_rest(&self, job: usize) -> usize {
        let mut waiting = self.waiting.lock();
        let before = waiting.queue.len();
        waiting.queue.retain(|unit| unit.job != job);
        before - waiting.queue.len()
    }

    /// Drops all that has not begun.
    pub(super) fn drop_all(&self) {
        let mut waiting = self.waiting.lock();
        waiting.is_cut = true;
        waiting.queue.clear();
    }

    /// Returns true if something failed, and the rest was dropped.
    pub(super) fn is_cut(&self) -> bool {
        self.waiting.lock().is_cut
    }

    /// Begins no more runs.
    pub(super) fn stop(&self) {
        self.waiting.lock().is_stopped = true;
        self.changed.notify_all();
    }

    fn is_tool_test(&self, job: usize) -> bool {
        !matches!(self.shared[job], Shared::Provider { .. })
    }

    fn key(&self, job: usize) -> Option<&String> {
        match &self.shared[job] {
            Shared::Nothing => None,
            Shared::Server(name) | Shared::Provider { name, .. } => Some(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(job: usize, run: usize) -> Unit {
        Unit {
            job,
            run,
            is_side: false,
        }
    }

    fn limit(provider: &str, at_once: usize) -> Shared {
        Shared::Provider {
            name: provider.to_owned(),
            at_once,
        }
    }

    #[test]
    fn a_busy_provider_lets_others_pass() {
        let schedule = Schedule::new(
            vec![limit("a", 1), limit("b", 2)],
            [unit(0, 1), unit(0, 2), unit(1, 1), unit(1, 2)],
        );
        assert_eq!(schedule.take(), Some(unit(0, 1)));
        assert_eq!(schedule.take(), Some(unit(1, 1)));
        assert_eq!(schedule.take(), Some(unit(1, 2)));
        assert!(!schedule.finish(&unit(0, 1), Vec::new));
        assert_eq!(schedule.take(), Some(unit(0, 2)));
        assert!(schedule.finish(&unit(0, 2), Vec::new));
        assert!(!schedule.finish(&unit(1, 1), Vec::new));
        assert!(schedule.finish(&unit(1, 2), Vec::new));
        assert_eq!(schedule.take(), None);
    }

    #[test]
    fn what_a_run_brings_comes_before_later_jobs() {
        let schedule = Schedule::new(vec![limit("a", 9), limit("a", 9)], [unit(0, 1), unit(1, 1)]);
        assert_eq!(schedule.take(), Some(unit(0, 1)));
        assert!(!schedule.finish(&unit(0, 1), || vec![unit(0, 2), unit(0, 3)]));
        assert_eq!(schedule.take(), Some(unit(0, 2)));
        assert_eq!(schedule.drop_rest(0), 1);
        assert!(schedule.finish(&unit(0, 2), Vec::new));
        assert_eq!(schedule.take(), Some(unit(1, 1)));
        schedule.stop();
        assert_eq!(schedule.take(), None);
    }

    #[test]
    fn tool_tests_on_a_shared_server_go_one_after_the_other_in_order() {
        let desk = || Shared::Server("desk".to_owned());
        let schedule = Schedule::new(
            vec![desk(), desk(), Shared::Nothing],
            [unit(0, 1), unit(1, 1), unit(2, 1)],
        );
        assert_eq!(
            (schedule.take(), schedule.take()),
            (Some(unit(0, 1)), Some(unit(2, 1)))
        );
        assert!(schedule.finish(&unit(0, 1), Vec::new));
        assert_eq!(schedule.take(), Some(unit(1, 1)));
    }

    #[test]
    fn no_agent_begins_before_the_last_tool_test_has_ended() {
        let limits = || {
            vec![
                limit("a", 9),
                Shared::Nothing,
                Shared::Nothing,
                Shared::Nothing,
            ]
        };
        let schedule = Schedule::new(limits(), [unit(1, 1), unit(2, 1), unit(0, 1)]);
        assert_eq!(
            (schedule.take(), schedule.take()),
            (Some(unit(1, 1)), Some(unit(2, 1)))
        );
        assert!(schedule.finish(&unit(2, 1), Vec::new));
        std::thread::scope(|scope| {
            let third = scope.spawn(|| schedule.take());
            std::thread::sleep(std::time::Duration::from_millis(20));
            assert!(!third.is_finished(), "a tool is still called");
            assert!(schedule.finish(&unit(1, 1), Vec::new));
            assert_eq!(third.join().unwrap(), Some(unit(0, 1)));
        });
        let schedule = Schedule::new(limits(), [unit(1, 1), unit(2, 1), unit(3, 1), unit(0, 1)]);
        assert_eq!(schedule.take(), Some(unit(1, 1)));
        assert!(schedule.finish(&unit(1, 1), Vec::new));
        schedule.drop_all();
        assert_eq!(
            (schedule.take(), schedule.is_cut()),
            (None, true),
            "a failure ends agents too"
        );
    }
}
