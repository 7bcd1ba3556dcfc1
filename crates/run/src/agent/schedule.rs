//! Which run is recorded next, and how many at once?

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// One run to record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    /// The work it belongs to.
    pub(super) work: usize,
    /// Its number in its cassette, from 1.
    pub(super) run: usize,
    /// Whether it is a run of the fault matrix.
    pub(super) in_matrix: bool,
}

/// What shares a limit: a provider's name, and how many runs it takes at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lane {
    pub(super) name: String,
    pub(super) limit: usize,
}

/// The runs that are still to be recorded. Workers take them in order, as far as the limits of providers allow.
#[derive(Debug)]
pub(super) struct Schedule {
    lanes: Vec<Lane>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Unit>,
    busy: BTreeMap<String, usize>,
    active: BTreeMap<usize, usize>,
    is_stopped: bool,
}

impl Schedule {
    /// `lanes` has one entry for each work.
    pub(super) fn new(lanes: Vec<Lane>, units: impl IntoIterator<Item = Unit>) -> Self {
        let state = State { queue: units.into_iter().collect(), ..State::default() };
        Self { lanes, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// The next run; waits while a provider is busy or a run that goes on may bring more. `None` is the end.
    pub(super) fn take(&self) -> Option<Unit> {
        let mut state = self.state();
        loop {
            if state.is_stopped || (state.queue.is_empty() && state.active.is_empty()) {
                return None;
            }
            let is_free = |unit: &Unit| {
                let lane = &self.lanes[unit.work];
                state.busy.get(&lane.name).copied().unwrap_or_default() < lane.limit
            };
            if let Some(at) = state.queue.iter().position(is_free) {
                let unit = state.queue.remove(at)?;
                *state.busy.entry(self.lanes[unit.work].name.clone()).or_default() += 1;
                *state.active.entry(unit.work).or_default() += 1;
                return Some(unit);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A run is over. When it was the last of its work, `more` may add runs, which come before later works; true when
    /// nothing of the work is left.
    pub(super) fn finish(&self, unit: &Unit, more: impl FnOnce() -> Vec<Unit>) -> bool {
        let mut state = self.state();
        let is_alone = state.active.get(&unit.work) == Some(&1);
        let is_last = is_alone && state.queue.iter().all(|other| other.work != unit.work);
        let more = if is_last && !state.is_stopped { more() } else { Vec::new() };
        let is_over = is_last && more.is_empty();
        for unit in more.into_iter().rev() {
            state.queue.push_front(unit);
        }
        if let Some(busy) = state.busy.get_mut(&self.lanes[unit.work].name) {
            *busy -= 1;
        }
        match state.active.get_mut(&unit.work) {
            Some(active) if *active > 1 => *active -= 1,
            _ => {
                state.active.remove(&unit.work);
            }
        }
        drop(state);
        self.changed.notify_all();
        is_over
    }

    /// Drops what is left of a work; how many runs that were.
    pub(super) fn drop_rest(&self, work: usize) -> usize {
        let mut state = self.state();
        let before = state.queue.len();
        state.queue.retain(|unit| unit.work != work);
        before - state.queue.len()
    }

    /// Nothing more is begun.
    pub(super) fn stop(&self) {
        self.state().is_stopped = true;
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(work: usize, run: usize) -> Unit {
        Unit { work, run, in_matrix: false }
    }

    fn lane(name: &str, limit: usize) -> Lane {
        Lane { name: name.to_owned(), limit }
    }

    #[test]
    fn a_busy_provider_lets_others_pass() {
        let schedule =
            Schedule::new(vec![lane("a", 1), lane("b", 2)], [unit(0, 1), unit(0, 2), unit(1, 1), unit(1, 2)]);
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
    fn what_a_run_brings_comes_before_later_work() {
        let schedule = Schedule::new(vec![lane("a", 9), lane("a", 9)], [unit(0, 1), unit(1, 1)]);
        assert_eq!(schedule.take(), Some(unit(0, 1)));
        assert!(!schedule.finish(&unit(0, 1), || vec![unit(0, 2), unit(0, 3)]));
        assert_eq!(schedule.take(), Some(unit(0, 2)));
        assert_eq!(schedule.drop_rest(0), 1);
        assert!(schedule.finish(&unit(0, 2), Vec::new));
        assert_eq!(schedule.take(), Some(unit(1, 1)));
        schedule.stop();
        assert_eq!(schedule.take(), None);
    }
}
