//! Who ends the servers when we are killed and cannot do it ourselves?
//!
//! A small `sh` in a group of its own reads the groups to watch from a pipe. When we die, however that comes about, the
//! pipe ends and the shell ends every group that is still on its list. Without a `sh` the servers only see their input end.

use std::io::Write;
use std::process::ChildStdin;
use std::sync::{Mutex, PoisonError};

#[cfg_attr(not(unix), expect(dead_code, reason = "there is no process group to watch"))]
const SCRIPT: &str = r#"
trap '' HUP INT TERM
groups=
while read -r sign group; do
  case $sign in
    +) groups="$groups $group" ;;
    -) rest=
       for each in $groups; do [ "$each" = "$group" ] || rest="$rest $each"; done
       groups=$rest ;;
  esac
done
[ -n "$groups" ] || exit 0
for each in $groups; do kill -s TERM -- "-$each"; done
sleep 1
for each in $groups; do kill -s KILL -- "-$each"; done
"#;

enum Guard {
    NotStarted,
    Missing,
    Watching(ChildStdin),
}

static GUARD: Mutex<Guard> = Mutex::new(Guard::NotStarted);

pub(super) fn watch(group: u32) {
    tell(&format!("+ {group}\n"), true);
}

pub(super) fn forget(group: u32) {
    tell(&format!("- {group}\n"), false);
}

fn tell(line: &str, start: bool) {
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    if start && matches!(*guard, Guard::NotStarted) {
        *guard = begin().map_or(Guard::Missing, Guard::Watching);
    }
    if let Guard::Watching(stdin) = &mut *guard
        && stdin.write_all(line.as_bytes()).is_err()
    {
        *guard = Guard::Missing;
    }
}

#[cfg(unix)]
fn begin() -> Option<ChildStdin> {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};
    let mut shell = Command::new("/bin/sh")
        .args(["-c", SCRIPT, "mcptest-guard"])
        .process_group(0)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    shell.stdin.take()
}

#[cfg(not(unix))]
fn begin() -> Option<ChildStdin> {
    None
}
