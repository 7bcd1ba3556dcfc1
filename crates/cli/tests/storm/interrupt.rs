//! Does Ctrl-C end everything at every stage, and keep what was recorded?

use crate::place::{PATIENCE, Place, python, seen, stub};
use mcptest_provider_stub::Stub;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

/// The state of the second of three runs when the signal arrives. The first is on disk, and the
/// third has not begun.
struct Stage {
    name: &'static str,
    /// The rest of the agent's entry.
    agent: &'static str,
    server: &'static str,
    /// The provider's steps for the second run.
    second: &'static str,
    /// Whether the signal is due.
    is_there: fn(&Place, &Stub) -> bool,
    /// The number of runs on disk afterwards.
    kept: usize,
}

const USUAL: &str = "[{ calls: [{ name: echo }] }, { text: hello }]";
const MODEL: &str = "model: claude-a, servers: [server]";

/// On the second call, writes that it began and sleeps.
const SLOW: &str = "echo x >> asked; if [ $(wc -l < asked) = 2 ]; then touch begun; sleep 600; fi";

fn has_begun(place: &Place, _: &Stub) -> bool {
    place.path().join("begun").exists()
}

/// The first run has made two requests; the second makes one now.
fn asks_again(_: &Place, stub: &Stub) -> bool {
    stub.count() >= 3
}

const STAGES: [Stage; 8] = [
    Stage {
        name: "a server starts",
        agent: MODEL,
        server: "slow-start",
        second: USUAL,
        is_there: has_begun,
        kept: 1,
    },
    Stage {
        name: "the model is asked",
        agent: MODEL,
        server: "healthy",
        second: "[{ fault: hang }, { calls: [{ name: echo }] }, { text: hello }]",
        is_there: asks_again,
        kept: 1,
    },
    Stage {
        name: "the model is to be asked again",
        agent: MODEL,
        server: "healthy",
        second: "[{ status: 529, retry_after: '300' }, { calls: [{ name: echo }] }, { text: hello }]",
        is_there: asks_again,
        kept: 1,
    },
    Stage {
        name: "a tool is called",
        agent: MODEL,
        server: "slow-call",
        second: USUAL,
        is_there: has_begun,
        kept: 1,
    },
    Stage {
        name: "a server has started others",
        agent: MODEL,
        server: "grandchild-in-its-own-session",
        second: "[{ calls: [{ name: echo }] }, { fault: hang }, { text: hello }]",
        is_there: |_, stub| stub.count() >= 4,
        kept: 1,
    },
    Stage {
        name: "a run is set up",
        agent: "model: claude-a, servers: [server], setup: [sh, -c, SLOW]",
        server: "healthy",
        second: USUAL,
        is_there: has_begun,
        kept: 1,
    },
    Stage {
        name: "a run is cleared up after",
        agent: "model: claude-a, servers: [server], teardown: [sh, -c, SHORT]",
        server: "healthy",
        second: USUAL,
        is_there: has_begun,
        kept: 2,
    },
    Stage {
        name: "an own agent works",
        agent: "agent: { command: [sh, -c, AGENT] }, servers: [server]",
        server: "healthy",
        second: USUAL,
        is_there: has_begun,
        kept: 1,
    },
];

#[test]
fn ctrl_c_ends_everything_and_keeps_what_was_recorded() {
    std::thread::scope(|scope| {
        for stage in &STAGES {
            for (signal, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
                scope.spawn(move || interrupted_at(stage, signal, code));
            }
        }
    });
}

fn interrupted_at(stage: &Stage, signal: Signal, code: i32) {
    let name = format!("{} {signal}", stage.name);
    let agent = stage.agent.replace("SLOW", &format!("'{SLOW}'"));
    let agent = agent.replace("SHORT", &format!("'{}'", SLOW.replace("600", "0.5")));
    let agent = agent.replace("AGENT", &format!("'{SLOW}; echo hello'"));
    let place = Place::new(&suite(&agent, &python(stage.server, "era: legacy"), 3));
    let stub = stub(&format!(
        "rules:\n- when: {{ run: 1 }}\n  steps: {}\n- steps: {USUAL}\n",
        stage.second
    ));
    let mut mcptest = begin(&place, &stub, &["run", "--record", "--jobs", "1"]);
    until(&name, &mut mcptest, || (stage.is_there)(&place, &stub));
    send(&mcptest, signal);
    let output = ended(&name, mcptest);
    let said = seen(&output);
    assert_eq!(output.status.code(), Some(code), "{name}: {said}");
    let words = format!("interrupted: {} of 3 runs had ended", stage.kept);
    assert!(
        said.contains("; `--record=missing` records the rest\n"),
        "{name}: {said}"
    );
    assert!(said.contains(&words), "{name}: {said}");
    assert_eq!(
        (place.left(), place.litter()),
        (Vec::new(), Vec::new()),
        "{name}"
    );
    assert_eq!(runs(&place), stage.kept, "{name}");
    completes(&place, &stub, 3);
}

fn suite(agent: &str, server: &str, runs: usize) -> String {
    format!(
        "servers: {{ server: {server} }}
agents:
  - {{ name: a, cassette: a.jsonl, prompt: go, runs: {runs}, {agent},
      expect: [{{ target: final_response, matcher: {{ contains: hello }} }}] }}
"
    )
}

fn begin(place: &Place, stub: &Stub, words: &[&str]) -> Child {
    place
        .asking(stub, words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits for the condition; fails if mcptest ends first.
fn until(name: &str, mcptest: &mut Child, is_there: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_there() {
        let status = mcptest.try_wait().unwrap();
        assert!(status.is_none(), "{name}: it ended before, with {status:?}");
        assert!(begun.elapsed() < PATIENCE, "{name}: it never came to that");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn send(mcptest: &Child, signal: Signal) {
    kill(Pid::from_raw(mcptest.id().cast_signed()), signal).unwrap();
}

fn ended(name: &str, mut mcptest: Child) -> Output {
    let begun = Instant::now();
    while mcptest.try_wait().unwrap().is_none() {
        if begun.elapsed() > PATIENCE {
            mcptest.kill().unwrap();
            panic!(
                "{name}: it does not end: {}",
                seen(&mcptest.wait_with_output().unwrap())
            );
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    mcptest.wait_with_output().unwrap()
}

/// The number of runs on disk, each complete and unique.
fn runs(place: &Place) -> usize {
    let text = place.read("a.jsonl");
    let mut numbers: Vec<u64> = text
        .lines()
        .skip(1)
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line)
                .unwrap_or_else(|error| panic!("{error}: {line}"))
        })
        .map(|line| line["run"].as_u64().unwrap())
        .collect();
    numbers.sort_unstable();
    let count = numbers.len();
    numbers.dedup();
    assert_eq!(numbers.len(), count);
    count
}

/// Asserts that the missing runs are recorded and existing runs stay unchanged.
fn completes(place: &Place, stub: &Stub, of: usize) {
    let is_whole = |line: &&str| serde_json::from_str::<serde_json::Value>(line).is_ok();
    let before = place.read("a.jsonl");
    let before: Vec<&str> = before.lines().filter(is_whole).collect();
    let output = place
        .asking(stub, &["run", "--record=missing", "--quiet"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", seen(&output));
    let after = place.read("a.jsonl");
    assert!(
        before
            .iter()
            .all(|line| after.lines().any(|other| other == *line)),
        "a run was recorded again"
    );
    assert_eq!(runs(place), of);
    place.assert_clean();
}

#[test]
fn ctrl_c_among_many_short_runs_loses_none_that_ended() {
    let place = Place::new(&suite(
        "model: claude-a, servers: [server]",
        "{ mock: mock.yml }",
        300,
    ));
    let stub = stub(&format!("steps: {USUAL}\n"));
    let mut mcptest = begin(&place, &stub, &["run", "--record", "--jobs", "8"]);
    until("writing", &mut mcptest, || {
        let written = std::fs::read_to_string(place.path().join("a.jsonl")).unwrap_or_default();
        written.lines().count() > 20
    });
    send(&mcptest, Signal::SIGINT);
    let output = ended("writing", mcptest);
    assert_eq!(output.status.code(), Some(130), "{}", seen(&output));
    let kept = runs(&place);
    assert!(
        seen(&output).contains(&format!("interrupted: {kept} of 300 runs had ended")),
        "{}",
        seen(&output)
    );
    place.assert_clean();
    completes(&place, &stub, 300);
}

#[test]
fn a_kill_in_the_middle_of_a_line_costs_that_run_alone() {
    let place = Place::new(&suite(
        "model: claude-a, servers: [server]",
        "{ mock: mock.yml }",
        3,
    ));
    let stub = stub(&format!("steps: {USUAL}\n"));
    completes_from_nothing(&place, &stub);
    let whole = place.read("a.jsonl");
    place.write("a.jsonl", &whole[..whole.len() - 40]);
    let asked = stub.count();
    completes(&place, &stub, 3);
    assert_eq!(stub.count() - asked, 2, "one run is recorded again");
}

fn completes_from_nothing(place: &Place, stub: &Stub) {
    let output = place
        .asking(stub, &["run", "--record", "--quiet", "--jobs", "1"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", seen(&output));
}

#[test]
fn a_second_ctrl_c_does_not_wait_for_what_the_first_waits_for() {
    let teardown =
        "model: claude-a, servers: [server], teardown: [sh, -c, 'touch clearing; sleep 600']";
    let place = Place::new(&suite(teardown, "{ mock: mock.yml }", 1));
    let stub = stub("steps: [{ fault: hang }]");
    let mut mcptest = begin(&place, &stub, &["run", "--record"]);
    until("asking", &mut mcptest, || stub.count() == 1);
    send(&mcptest, Signal::SIGINT);
    until("clearing up", &mut mcptest, || {
        place.path().join("clearing").exists()
    });
    send(&mcptest, Signal::SIGINT);
    let output = ended("clearing up", mcptest);
    assert_eq!(output.status.code(), Some(130), "{}", seen(&output));
    // The file of the lock may stay where the machine is too busy to let go of it in time; it locks nothing then.
    assert_eq!(place.left(), Vec::<String>::new());
}

#[test]
fn ctrl_c_runs_the_teardown_of_a_run_that_had_begun() {
    let chores = "setup: [touch, set-up], teardown: [touch, torn-down]";
    let place = Place::new(&suite(
        &format!("model: claude-a, servers: [server], {chores}"),
        "{ mock: mock.yml }",
        1,
    ));
    let stub = stub("steps: [{ fault: hang }]");
    let mut mcptest = begin(&place, &stub, &["run", "--live"]);
    until("asking", &mut mcptest, || stub.count() == 1);
    assert!(!place.path().join("torn-down").exists());
    send(&mcptest, Signal::SIGTERM);
    let output = ended("asking", mcptest);
    assert_eq!(output.status.code(), Some(143), "{}", seen(&output));
    assert!(
        seen(&output).contains("interrupted: 0 of 1 runs had ended; nothing is reported\n"),
        "{}",
        seen(&output)
    );
    assert!(place.path().join("torn-down").exists());
    place.assert_clean();
}

#[test]
fn ctrl_c_ends_what_waits_to_write_its_report() {
    // More than a pipe holds that nobody reads.
    let agent = format!(
        "model: claude-a, servers: [server], tags: [{}]",
        "x".repeat(1 << 20)
    );
    let place = Place::new(&suite(&agent, "{ mock: mock.yml }", 1));
    let stub = stub(&format!("steps: {USUAL}\n"));
    let mut mcptest = begin(
        &place,
        &stub,
        &["run", "--record", "--quiet", "--reporter", "json"],
    );
    until("recorded", &mut mcptest, || {
        place.path().join("a.jsonl").exists() && place.litter().is_empty()
    });
    // Nothing tells from outside when the report is due; it waits for ever, so a moment more makes no difference.
    std::thread::sleep(Duration::from_millis(500));
    send(&mcptest, Signal::SIGINT);
    let output = ended("reporting", mcptest);
    assert_eq!(output.status.code(), Some(130), "{}", seen(&output));
    assert_eq!(runs(&place), 1);
    place.assert_clean();
}

#[test]
fn a_kill_leaves_no_process_and_costs_no_run_that_ended() {
    let place = Place::new(&suite(MODEL, &python("slow-call", "era: legacy"), 3));
    let stub = stub(&format!("steps: {USUAL}\n"));
    let mut mcptest = begin(&place, &stub, &["run", "--record", "--jobs", "1"]);
    until("calling", &mut mcptest, || {
        place.path().join("begun").exists()
    });
    mcptest.kill().unwrap();
    ended("calling", mcptest);
    assert_eq!(place.left(), Vec::<String>::new());
    assert_eq!(runs(&place), 1);
    completes(&place, &stub, 3);
}
