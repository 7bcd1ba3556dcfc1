//! Which process of a server left its process group and still runs?
//!
//! Every server gets a unique variable in its environment, which all its descendants inherit. On
//! systems with `/proc`, processes with that variable can be found in any group or session.
//! Elsewhere, none is found.

use crate::groups::Ending;
use crate::{guard, orphans};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The variable that marks a server and all that it starts.
pub(crate) const VARIABLE: &str = "MCPTEST_SERVER_ID";

/// A look through all processes ends after this, complete or not.
const LONGEST_LOOK: Duration = Duration::from_millis(250);
/// The number of attempts: a killed process may have just started another.
const TRIES: usize = 3;

static COUNT: AtomicU64 = AtomicU64::new(0);
static MARKS: Mutex<BTreeSet<Mark>> = Mutex::new(BTreeSet::new());

/// The value of the variable for one server.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark(String);

impl Mark {
    /// A unique mark.
    pub(crate) fn new() -> Self {
        Self(format!(
            "{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed) + 1
        ))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// From now on, processes with the mark are ended, even if mcptest is killed.
    pub(crate) fn watch(&self) {
        MARKS.lock().insert(self.clone());
        guard::watch(&self.0);
    }

    pub(crate) fn forget(&self) {
        if MARKS.lock().remove(self) {
            guard::forget(&self.0);
        }
    }

    /// The processes with this mark.
    pub(crate) fn strays(&self) -> Vec<u32> {
        with_any(std::slice::from_ref(self))
    }

    /// Kills who has the mark.
    pub(crate) fn kill(&self) {
        kill(std::slice::from_ref(self));
    }
}

/// The marks of all servers that have not been ended.
pub(crate) fn all() -> Vec<Mark> {
    MARKS.lock().iter().cloned().collect()
}

/// The processes with one of these marks. If no other server runs, also the unmarked orphans.
pub(crate) fn with_any(marks: &[Mark]) -> Vec<u32> {
    let mut strays = with_marks(marks);
    if MARKS.lock().iter().all(|mark| marks.contains(mark)) {
        strays.extend(orphans::alive());
        strays.sort_unstable();
        strays.dedup();
    }
    strays
}

/// Kills the processes with one of these marks.
pub(crate) fn kill(marks: &[Mark]) {
    for _ in 0..TRIES {
        let strays = with_any(marks);
        if strays.is_empty() {
            return;
        }
        signal(&strays, Ending::Kill);
    }
}

#[cfg(target_os = "linux")]
fn with_marks(marks: &[Mark]) -> Vec<u32> {
    use std::os::unix::fs::MetadataExt;
    let owner = |path: &std::path::Path| std::fs::metadata(path).ok().map(|about| about.uid());
    let (until, us) = (
        Instant::now() + LONGEST_LOOK,
        owner(std::path::Path::new("/proc/self")),
    );
    let entries: Vec<String> = marks
        .iter()
        .map(|mark| format!("{VARIABLE}={}", mark.as_str()))
        .collect();
    let has_mark = |environment: &[u8]| {
        environment
            .split(|byte| *byte == 0)
            .any(|entry| entries.iter().any(|ours| ours.as_bytes() == entry))
    };
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    processes
        .take_while(|_| Instant::now() < until)
        .flatten()
        .filter_map(|process| {
            let id: u32 = process.file_name().to_str()?.parse().ok()?;
            let is_candidate = id != std::process::id() && owner(&process.path()) == us;
            let environment =
                is_candidate.then(|| std::fs::read(process.path().join("environ")).ok())??;
            has_mark(&environment).then_some(id)
        })
        .collect()
}

#[cfg(not(target_os = "linux"))]
fn with_marks(_marks: &[Mark]) -> Vec<u32> {
    let _ = (LONGEST_LOOK, Instant::now());
    Vec::new()
}

#[cfg(unix)]
pub(crate) fn signal(processes: &[u32], ending: Ending) {
    for process in processes
        .iter()
        .filter_map(|id| i32::try_from(*id).ok())
        .filter(|id| *id > 1)
    {
        // One that is gone needs no signal.
        let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(process), ending.signal());
    }
}

#[cfg(not(unix))]
pub(crate) fn signal(_processes: &[u32], _ending: Ending) {}
