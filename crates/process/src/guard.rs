//! Who ends the servers if mcptest is killed and cannot do it itself?
//!
//! A small `sh` in a separate group reads from a pipe what to watch: process groups, and the marks
//! of servers. When mcptest dies, for any reason, the pipe ends. The shell then ends every group
//! that is still on its list, and every process with a listed mark.

use parking_lot::Mutex;
use std::io::Write;
use std::process::ChildStdin;

#[cfg_attr(
    not(unix),
    expect(dead_code, reason = "this platform has no process groups")
)]
const SCRIPT: &str = r#"
trap '' HUP INT TERM
held=
while read -r sign one; do
  case $sign in
    +) held="$held $one" ;;
    -) rest=
       for each in $held; do [ "$each" = "$one" ] || rest="$rest $each"; done
       held=$rest ;;
  esac
done
[ -n "$held" ] || exit 0
end_with() {
  for each in $held; do
    case $each in
      *-*) for file in $(grep -lsxzF "MCPTEST_SERVER_ID=$each" /proc/[0-9]*/environ); do
             process=${file#/proc/}
             kill -s "$1" "${process%/environ}"
           done ;;
      *) kill -s "$1" -- "-$each" ;;
    esac
  done
}
end_with TERM
sleep 1
end_with KILL
"#;

enum Guard {
    NotStarted,
    Missing,
    Watching(ChildStdin),
}

static GUARD: Mutex<Guard> = Mutex::new(Guard::NotStarted);

/// Watches a process group, or a mark.
pub(crate) fn watch(one: &str) {
    tell(&format!("+ {one}\n"), true);
}

pub(crate) fn forget(one: &str) {
    tell(&format!("- {one}\n"), false);
}

fn tell(line: &str, start: bool) {
    let mut guard = GUARD.lock();
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
    let mut started = crate::orphans::starting();
    let mut shell = Command::new("/bin/sh")
        .args(["-c", SCRIPT, "mcptest-guard"])
        .process_group(0)
        // Who ends us by our own mark must not end the guard before its work.
        .env_remove(crate::stray::VARIABLE)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    started.insert(shell.id());
    shell.stdin.take()
}

#[cfg(not(unix))]
fn begin() -> Option<ChildStdin> {
    None
}
