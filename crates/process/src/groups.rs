//! Which process groups did we start that may still hold something alive?

use crate::{guard, stray};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

static GROUPS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

const PATIENCE: Duration = Duration::from_millis(500);
const STEP: Duration = Duration::from_millis(10);

/// The two signals that end a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Terminate,
    Kill,
}

#[cfg(unix)]
impl Ending {
    pub(crate) const fn signal(self) -> nix::sys::signal::Signal {
        match self {
            Self::Terminate => nix::sys::signal::Signal::SIGTERM,
            Self::Kill => nix::sys::signal::Signal::SIGKILL,
        }
    }
}

pub(crate) fn add(group: u32) {
    GROUPS.lock().insert(group);
    guard::watch(&group.to_string());
}

pub(crate) fn remove(group: u32) {
    if GROUPS.lock().remove(&group) {
        guard::forget(&group.to_string());
    }
}

/// Returns true while the group is on the list. A removed group is gone, and its number may be
/// reused.
pub(crate) fn holds(group: u32) -> bool {
    GROUPS.lock().contains(&group)
}

/// Signals a group that is on the list.
pub(crate) fn signal_if_held(group: u32, ending: Ending) {
    if holds(group) {
        signal(group, ending);
    }
}

/// Ends every process that was started, and all of their children: SIGTERM, half a second, SIGKILL.
///
/// Called just before the program exits on Ctrl-C: servers run in separate process groups, which
/// the terminal's signal does not reach.
pub fn end_all() {
    let mine: Vec<u32> = GROUPS.lock().iter().copied().collect();
    let marks = stray::all();
    let strays = stray::with_any(&marks);
    for &group in &mine {
        signal(group, Ending::Terminate);
    }
    stray::signal(&strays, Ending::Terminate);
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until && mine.iter().any(|&group| is_alive(group)) {
        std::thread::sleep(STEP);
    }
    for group in mine {
        signal(group, Ending::Kill);
        remove(group);
    }
    stray::kill(&marks);
    for mark in marks {
        mark.forget();
    }
}

#[cfg(unix)]
fn pid_of(group: u32) -> Option<nix::unistd::Pid> {
    i32::try_from(group)
        .ok()
        .filter(|group| *group > 1)
        .map(nix::unistd::Pid::from_raw)
}

#[cfg(unix)]
pub(crate) fn signal(group: u32, ending: Ending) {
    if let Some(group) = pid_of(group) {
        // A group that is gone needs no signal.
        let _ = nix::sys::signal::killpg(group, ending.signal());
    }
}

/// True while the group has a member, even one that only waits to be reaped.
#[cfg(unix)]
pub(crate) fn is_alive(group: u32) -> bool {
    // A member that has become ours is gone only when it is waited for.
    crate::orphans::alive();
    pid_of(group).is_some_and(|group| nix::sys::signal::killpg(group, None).is_ok())
}

#[cfg(not(unix))]
pub(crate) fn signal(_group: u32, _ending: Ending) {}

#[cfg(not(unix))]
pub(crate) fn is_alive(_group: u32) -> bool {
    false
}
