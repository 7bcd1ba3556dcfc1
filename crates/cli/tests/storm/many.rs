//! Are hundreds of runs at once each made once, in their order, in memory that does not grow with them?

use crate::place::{Place, seen, stub};
use mcptest_provider_stub::Stub;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;
use std::time::Duration;

/// Agents with this number of runs. Each run says which run the provider took it for.
fn suite(agents: usize, runs: usize) -> String {
    let agent = |number: usize| {
        format!(
            "  - {{ name: agent {number}, cassette: {number}.jsonl, model: claude-{number}, servers: [healthy], prompt: go, runs: {runs},
      expect: [{{ target: final_response, matcher: {{ contains: run }} }}] }}\n"
        )
    };
    let agents: String = (1..=agents).map(agent).collect();
    format!("servers: {{ healthy: {{ mock: mock.yml }} }}\nagents:\n{agents}")
}

/// Answers take 50 ms. The first answers wait for `gather` requests.
fn script(gather: usize) -> String {
    format!(
        "steps:
- {{ calls: [{{ name: echo, args: {{ run: '{{{{run}}}}' }} }}], delay_ms: 50, gather: {gather} }}
- {{ text: 'run {{{{run}}}}.', delay_ms: 50 }}
"
    )
}

/// The numbers of a cassette's runs in file order, and their messages.
fn recorded(place: &Place, agent: usize) -> (Vec<u64>, BTreeSet<String>) {
    let text = place.read(&format!("{agent}.jsonl"));
    let lines: Vec<Value> = text
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let numbers = lines
        .iter()
        .map(|line| line["run"].as_u64().unwrap())
        .collect();
    let said = lines
        .iter()
        .map(|line| line["trace"]["final_response"].as_str().unwrap().to_owned())
        .collect();
    (numbers, said)
}

fn assert_whole(place: &Place, stub: &Stub, agents: usize, runs: usize) {
    let numbers: Vec<u64> = (1..=runs as u64).collect();
    let said: BTreeSet<String> = (0..runs).map(|run| format!("run {run}.")).collect();
    for agent in 1..=agents {
        assert_eq!(
            recorded(place, agent),
            (numbers.clone(), said.clone()),
            "agent {agent}"
        );
    }
    assert_eq!(stub.count(), agents * runs * 2, "requests");
    let report = place.report("report.json");
    let names: Vec<&str> = report["tests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|test| test["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        (1..=agents)
            .map(|agent| format!("agent {agent}"))
            .collect::<Vec<_>>()
    );
    for test in report["tests"].as_array().unwrap() {
        let order: Vec<u64> = test["runs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|run| run["index"].as_u64().unwrap())
            .collect();
        assert_eq!(
            (test["status"].as_str(), order),
            (Some("passed"), numbers.clone())
        );
    }
}

#[test]
fn two_hundred_runs_at_once_are_each_made_once_and_in_order() {
    for (jobs, agents, runs) in [(50, 4, 50), (200, 1, 200)] {
        let place = Place::new(&suite(agents, runs));
        let stub = stub(&script(jobs));
        let jobs_word = jobs.to_string();
        let words = [
            "run",
            "--record",
            "--quiet",
            "--jobs",
            &jobs_word,
            "--reporter",
            "json=report.json",
        ];
        let output = place.asking(&stub, &words).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", seen(&output));
        assert_whole(&place, &stub, agents, runs);
        assert_eq!(
            stub.most_under_way(),
            jobs,
            "as many at once as were asked for, and no more"
        );
        place.assert_clean();
        let before = place.read("report.json");
        let replayed = place
            .command(&["run", "--reporter", "json=report.json"])
            .output()
            .unwrap();
        assert_eq!(replayed.status.code(), Some(0), "{}", seen(&replayed));
        assert!(before == place.read("report.json"), "replayed to the byte");
    }
}

#[test]
fn memory_does_not_grow_with_the_number_of_runs() {
    let (few, many) = (peak_kilobytes(200), peak_kilobytes(800));
    assert!(
        many < few * 3 / 2,
        "{few} kB with 200 runs, {many} kB with 800"
    );
}

/// The peak memory of recording this number of runs, 50 at a time.
fn peak_kilobytes(runs: usize) -> u64 {
    let place = Place::new(&suite(1, runs));
    let stub = stub(&script(0));
    let words = [
        "run",
        "--record",
        "--quiet",
        "--jobs",
        "50",
        "--reporter",
        "json=report.json",
    ];
    let mut mcptest = place
        .asking(&stub, &words)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut peak = 0;
    while mcptest.try_wait().unwrap().is_none() {
        let status =
            fs::read_to_string(format!("/proc/{}/status", mcptest.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak = line
            .and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok())
            .unwrap_or(peak);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(mcptest.wait().unwrap().code(), Some(0));
    assert_whole(&place, &stub, 1, runs);
    peak
}
