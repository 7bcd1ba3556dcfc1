//! Which processes became children of mcptest because their parent exited?
//!
//! A server can start a process that leaves its group and its session and clears its environment.
//! On Linux, such a process becomes a child of mcptest when its parent ends, if mcptest requests
//! that. It can then be found: it is a child that mcptest did not start. Elsewhere, none is found.

use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

/// The children that we started, until they are waited for.
static STARTED: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());
static IS_ADOPTING: AtomicBool = AtomicBool::new(false);

/// From now on, a process whose parent ends becomes a child of this process, and is ended after the
/// last server.
///
/// Only for a program that starts all of its processes here. A program that already has children
/// must not call it: they are not its to end.
pub fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    if children().is_some_and(|children| children.is_empty()) {
        IS_ADOPTING.store(
            nix::sys::prctl::set_child_subreaper(true).is_ok(),
            Ordering::SeqCst,
        );
    }
}

/// Held while a process is started, so that it is not mistaken for an orphan.
pub(crate) fn starting() -> MutexGuard<'static, BTreeSet<u32>> {
    STARTED.lock()
}

/// It was reaped, and its number may be reused.
pub(crate) fn ended(process: u32) {
    STARTED.lock().remove(&process);
}

/// The living orphans. Exited ones are reaped here, because no other code waits for them.
#[cfg(target_os = "linux")]
pub(crate) fn alive() -> Vec<u32> {
    use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
    if !IS_ADOPTING.load(Ordering::SeqCst) {
        return Vec::new();
    }
    let started = STARTED.lock();
    let strangers = children()
        .unwrap_or_default()
        .into_iter()
        .filter(|child| !started.contains(child));
    let is_alive = |child: &u32| {
        let Ok(id) = i32::try_from(*child) else {
            return false;
        };
        let waited = waitpid(nix::unistd::Pid::from_raw(id), Some(WaitPidFlag::WNOHANG));
        matches!(waited, Ok(WaitStatus::StillAlive))
    };
    strangers.filter(is_alive).collect()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn alive() -> Vec<u32> {
    let _never = IS_ADOPTING.load(Ordering::SeqCst);
    Vec::new()
}

/// The children that the system lists for each thread; `None` if it lists none.
#[cfg(target_os = "linux")]
fn children() -> Option<Vec<u32>> {
    let mut children = Vec::new();
    for thread in std::fs::read_dir("/proc/self/task").ok()?.flatten() {
        match std::fs::read_to_string(thread.path().join("children")) {
            Ok(listed) => children.extend(
                listed
                    .split_whitespace()
                    .filter_map(|id| id.parse::<u32>().ok()),
            ),
            // The thread has just ended.
            Err(_) if !thread.path().exists() => {}
            Err(_) => return None,
        }
    }
    Some(children)
}
