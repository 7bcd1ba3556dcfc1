//! What if more than one mcptest records the same suite?

use crate::place::{PATIENCE, Place, seen, stub};
use std::path::PathBuf;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

/// The setup of each run waits until the file `go-NAME` exists.
fn agent(name: &str, runs: usize, setup: &str) -> String {
    format!(
        "  - {{ name: {name}, cassette: {name}.jsonl, model: claude-{name}, servers: [healthy], prompt: go {name}, runs: {runs}, {setup}
      expect: [{{ target: final_response, matcher: {{ contains: hello }} }}] }}\n"
    )
}

fn suite(agents: &[String]) -> String {
    format!(
        "servers: {{ healthy: {{ mock: mock.yml }} }}\nagents:\n{}",
        agents.concat()
    )
}

const STEPS: &str = "steps: [{ calls: [{ name: echo }] }, { text: hello }]";

fn until(what: &str, is_there: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_there() {
        assert!(begun.elapsed() < PATIENCE, "{what} never came");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn locks(place: &Place) -> Vec<PathBuf> {
    let is_lock = |path: &PathBuf| {
        path.extension()
            .is_some_and(|extension| extension == "lock")
    };
    place.litter().into_iter().filter(is_lock).collect()
}

#[test]
fn each_row_is_recorded_by_one_and_the_other_spends_nothing_on_it() {
    let wait =
        |name: &str| format!("setup: [sh, -c, 'while [ ! -e go-{name} ]; do sleep 0.02; done'],");
    let place = Place::new(&suite(&[
        agent("a", 3, &wait("a")),
        agent("b", 4, &wait("b")),
    ]));
    let stub = stub(STEPS);
    let start = |report: &str| -> Child {
        let words = [
            "run",
            "--record",
            "--jobs",
            "1",
            "--reporter",
            "pretty",
            "--reporter",
            report,
        ];
        place
            .asking(&stub, &words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let one = start("json=one.json");
    until("the lock of a", || locks(&place).len() == 1);
    let other = start("json=other.json");
    until("the lock of b", || locks(&place).len() == 2);
    place.write("go-a", "");
    let one = one.wait_with_output().unwrap();
    assert_eq!(stub.count(), 6, "{}", seen(&one));
    place.write("go-b", "");
    let other = other.wait_with_output().unwrap();
    for (output, report, lost, won) in [
        (&one, "one.json", "b", "a"),
        (&other, "other.json", "a", "b"),
    ] {
        let said = seen(output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        let words = format!(
            "run 1 was not recorded: {lost}.jsonl: another mcptest is recording to this file; wait for it, or record to another file"
        );
        let on_one_line = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(on_one_line.contains(&words), "{said}");
        assert_eq!(place.row(report, won)["status"], "passed", "{said}");
    }
    assert_eq!(stub.count(), 14);
    place.assert_clean();
    let replayed = place.command(&["run"]).output().unwrap();
    assert_eq!(replayed.status.code(), Some(0), "{}", seen(&replayed));
}

#[test]
fn a_crowd_records_every_missing_row_once() {
    let names: Vec<String> = (0..8).map(|number| format!("row{number}")).collect();
    let agents: Vec<String> = names.iter().map(|name| agent(name, 3, "")).collect();
    let place = Place::new(&suite(&agents));
    let stub = stub(STEPS);
    let crowd: Vec<Child> = (0..4)
        .map(|_| {
            let mut command = place.asking(&stub, &["run", "--record=missing", "--quiet"]);
            command
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let outputs: Vec<Output> = crowd
        .into_iter()
        .map(|one| one.wait_with_output().unwrap())
        .collect();
    for output in &outputs {
        assert!(
            matches!(output.status.code(), Some(0 | 2)),
            "{}",
            seen(output)
        );
    }
    place.assert_clean();
    let replayed = place.command(&["run"]).output().unwrap();
    assert_eq!(replayed.status.code(), Some(0), "{}", seen(&replayed));
    assert_eq!(stub.count(), 8 * 3 * 2, "nothing was recorded twice");
}
