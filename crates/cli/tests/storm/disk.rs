//! What if the disk is full while runs are recorded?

use crate::place::{Place, seen, stub, text};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// Runs of 5 kB each, besides short ones.
const SUITE: &str = "
servers: { healthy: { mock: mock.yml } }
agents:
  - { name: long, cassette: long.jsonl, model: claude-long, servers: [healthy], prompt: say much, runs: 6,
      expect: [{ target: final_response, matcher: { contains: hello } }] }
  - { name: short, cassette: short.jsonl, model: claude-short, servers: [healthy], prompt: say little, runs: 2,
      expect: [{ target: final_response, matcher: { contains: hello } }] }
";
const RECORD: [&str; 8] = [
    "run",
    "--record",
    "--quiet",
    "--jobs",
    "1",
    "--reporter",
    "json=report.json",
    "--reporter",
];

fn script() -> String {
    let much = "hello ".repeat(900);
    format!(
        "rules:\n- when: {{ prompt: say much }}\n  steps: [{{ text: '{much}' }}]\n- steps: [{{ calls: [{{ name: echo }}] }}, {{ text: hello }}]\n"
    )
}

/// mcptest behind a shell that first does this.
fn behind(place: &Place, before: &str, words: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command
        .args([
            "-c",
            &format!("{before}; exec \"$0\" \"$@\""),
            env!("CARGO_BIN_EXE_mcptest"),
        ])
        .args(words);
    place.prepare(&mut command);
    command
}

fn runs(place: &Path, name: &str) -> usize {
    let text = fs::read_to_string(place.join(name)).unwrap();
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {text}")))
        .collect();
    assert!(text.ends_with('\n'));
    lines.len() - 1
}

#[test]
fn a_file_that_may_not_grow_ends_its_row_alone_and_loses_no_run() {
    let place = Place::new(SUITE);
    let stub = stub(&script());
    // Blocks are of 512 or 1024 bytes; a signal in place of the error would be the shell's doing, not the disk's.
    let mut command = behind(
        &place,
        "trap '' XFSZ; ulimit -f 80",
        &[&RECORD[..], &["pretty"]].concat(),
    );
    let output = command.envs(stub.environment()).output().unwrap();
    let said = seen(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    let kept = runs(place.path(), "long.jsonl");
    assert!((1..6).contains(&kept), "{said}");
    let words = format!(
        "run {} was not recorded: long.jsonl: the cassette cannot be written: File too large",
        kept + 1
    );
    assert!(said.contains(&words), "{said}");
    assert!(
        said.contains(&format!("{kept} other runs were recorded and kept")),
        "{said}"
    );
    assert_eq!(place.row("report.json", "short")["status"], "passed");
    assert_eq!(place.row("report.json", "long")["status"], "error");
    place.assert_clean();
    completes(&place, &stub, kept);
}

/// Once there is room again, the missing runs are recorded, and recorded runs are not requested
/// again.
fn completes(place: &Place, stub: &mcptest_provider_stub::Stub, kept: usize) {
    let (before, asked) = (place.read("long.jsonl"), stub.count());
    let output = place
        .asking(stub, &["run", "--record=missing", "--quiet"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", seen(&output));
    assert!(place.read("long.jsonl").starts_with(&before));
    assert_eq!(
        (runs(place.path(), "long.jsonl"), stub.count() - asked),
        (6, 6 - kept)
    );
}

/// A disk of a few kilobytes for one command and its children; `None` if the system does not allow
/// it.
fn small_disk(place: &Place, kilobytes: u32, script: &str) -> Option<Command> {
    let mount = format!(
        "mkdir disk && mount -t tmpfs -o size={kilobytes}k,mode=777 none disk && cd disk && cp ../*.yml ."
    );
    let within = |script: &str| {
        let mut command = Command::new("unshare");
        command.args([
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            script,
            env!("CARGO_BIN_EXE_mcptest"),
        ]);
        place.prepare(&mut command);
        command
    };
    let is_allowed = within("mkdir probe && mount -t tmpfs none probe")
        .status()
        .is_ok_and(|status| status.success());
    if !is_allowed {
        // Past the capture of the test harness: a test that looked at nothing must not look like one that did.
        let said = "storm: NOT TESTED: this machine lets nobody mount a small disk, so a full one was not tried\n";
        std::io::stderr().write_all(said.as_bytes()).unwrap();
    }
    is_allowed.then(|| within(&format!("{mount} || exit 99; {script}")))
}

#[test]
fn a_full_disk_ends_its_row_alone_and_loses_no_run() {
    let place = Place::new(SUITE);
    let stub = stub(&script());
    // The report goes elsewhere: what is on the small disk is gone with it, so it is copied.
    let script = "\"$0\" run --record --quiet --jobs 1 --reporter json=../report.json --reporter pretty; code=$?; cp *.jsonl ..; exit $code";
    let Some(mut command) = small_disk(&place, 28, script) else {
        return;
    };
    let output = command.envs(stub.environment()).output().unwrap();
    let said = seen(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    let kept = runs(place.path(), "long.jsonl");
    assert!((1..6).contains(&kept), "{said}");
    assert!(
        said.contains("long.jsonl: the cassette cannot be written: No space left on device"),
        "{said}"
    );
    assert_eq!(place.row("report.json", "long")["status"], "error");
    place.assert_clean();
    completes(&place, &stub, kept);
}

#[test]
fn an_older_recording_outlives_a_disk_that_was_full_before() {
    let place = Place::new(SUITE);
    let stub = stub(&script());
    let script = "echo '{\"tool_calls\":[]}' > long.jsonl; head -c 1000000 /dev/zero > rest 2> /dev/null; \
                  \"$0\" run --record --quiet --jobs 1; code=$?; cat long.jsonl; ls -A; exit $code";
    let Some(mut command) = small_disk(&place, 28, script) else {
        return;
    };
    let output = command.envs(stub.environment()).output().unwrap();
    let said = seen(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains(
            "run 1 was not recorded: long.jsonl: the cassette cannot be written: No space left"
        ),
        "{said}"
    );
    assert!(
        said.contains("nothing was recorded; the previous recording, if any, is unchanged"),
        "{said}"
    );
    let listed = "{\"tool_calls\":[]}\n.mcptest\nlong.jsonl\nmcptest.yml\nmock.yml\nrest\n";
    assert!(text(&output.stdout).ends_with(listed), "{said}");
}
