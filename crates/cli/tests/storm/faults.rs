//! What does the user read when a provider or a server fails while an agent is recorded?
//!
//! Each row of [`ROWS`] is recorded beside a healthy agent, and the output is pinned in
//! `tests/storm/expected/ROW.txt`. `MCPTEST_UPDATE_CASES=1` replaces the expectations: read the
//! diff before you keep it.

mod rows;

use crate::place::{Place, Web, own_files, python, seen, stub};
use rows::{ROWS, Row, Server};
use serde_json::Value;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Nearly all of a row's time is waiting for a timeout.
const AT_ONCE: usize = 6;
/// Long limits, so that a busy machine does not fail the test.
const PATIENT: &str = "timeout: 60s, connect_timeout: 60s";
/// An older recording, to see whether it is replaced.
const OLDER: &str = "{\"tool_calls\":[{\"name\":\"older\"}]}\n";

#[test]
fn every_failure_is_told_and_stays_in_its_row() {
    let (next, faults) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(row) = ROWS.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let checked = std::panic::catch_unwind(|| check(row));
                    let fault = checked
                        .unwrap_or_else(|_| Err("see the panic above".to_owned()))
                        .err();
                    faults
                        .lock()
                        .unwrap()
                        .extend(fault.map(|fault| format!("{}: {fault}", row.name)));
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    assert!(
        faults.is_empty(),
        "{} of {} rows:\n{}",
        faults.len(),
        ROWS.len(),
        faults.join("\n")
    );
}

fn check(row: &Row) -> Result<(), String> {
    let web = match row.server {
        Server::Http(name) => Some(Web::start(
            &own_files().join("../misbehaviour/server.py"),
            name,
        )),
        _ => None,
    };
    let url = web.as_ref().map(|web| web.url.clone()).unwrap_or_default();
    let place = Place::new(&suite(row, &url));
    place.write("bad.jsonl", OLDER);
    let stub = stub(&script(row));
    let reporters = [
        "--reporter",
        "pretty",
        "--reporter",
        "json=a.json",
        "--reporter",
        "junit=a.xml",
    ];
    let record = [
        &["run", "--record", "--quiet", "--jobs", "1"],
        &reporters[..],
    ]
    .concat();
    let output = place
        .asking(&stub, &record)
        .envs(row.environment.iter().copied())
        .output()
        .unwrap();
    let recording = place.read("bad.jsonl");
    let said = seen(&output) + &told(&recording);
    let said = steady(&said, &place, &[&stub.url(), &url]);
    if place.row("a.json", "good")["status"] != "passed" {
        return Err(format!("the healthy row does not pass\n{said}"));
    }
    let is_whole = !said.contains("was not recorded") && recording != OLDER;
    let left = place.left();
    if !left.is_empty() || !place.litter().is_empty() {
        return Err(format!(
            "left behind: {left:?} {:?}\n{said}",
            place.litter()
        ));
    }
    replay(&place, is_whole).map_err(|fault| format!("{fault}\n{said}"))?;
    compare(row.name, &said)
}

/// Asserts that replay without environment, network and servers gives the same bytes, if something
/// was recorded.
fn replay(place: &Place, is_recorded: bool) -> Result<(), String> {
    let words = [
        "run",
        "--reporter",
        "json=b.json",
        "--reporter",
        "junit=b.xml",
    ];
    place.command(&words).output().unwrap();
    let same = |one: &str, other: &str| {
        if place.read(one) == place.read(other) {
            Ok(())
        } else {
            Err(format!("{one} and {other} differ"))
        }
    };
    if is_recorded {
        same("a.json", "b.json")?;
        return same("a.xml", "b.xml");
    }
    let rows = [place.row("a.json", "good"), place.row("b.json", "good")];
    if rows[0] == rows[1] {
        Ok(())
    } else {
        Err("the healthy row is replayed otherwise".to_owned())
    }
}

fn suite(row: &Row, url: &str) -> String {
    let server = match row.server {
        Server::Mock => "{ mock: mock.yml }".to_owned(),
        Server::Python(name) => python(name, PATIENT),
        Server::Hurried(name, time) => {
            python(name, &format!("timeout: {time}, connect_timeout: 60s"))
        }
        Server::Awaited(name, time) => python(name, &format!("connect_timeout: {time}")),
        Server::Shared(name) => python(name, "shared: true"),
        Server::Http(_) => format!("{{ url: \"{url}\", timeout: 2s, connect_timeout: 60s }}"),
        Server::Entry(entry) => entry.to_owned(),
    };
    format!(
        "servers:
  healthy: {{ mock: mock.yml }}
  bad: {server}
agents:
  - name: bad
    cassette: bad.jsonl
    prompt: go wrong
    expect: [{{ target: final_response, matcher: {{ contains: hello }} }}]
    {}
  - name: good
    cassette: good.jsonl
    model: gpt-good
    servers: [healthy]
    prompt: go well
    runs: 3
    expect: [{{ target: final_response, matcher: {{ contains: hello }} }}]
",
        row.agent
    )
}

fn script(row: &Row) -> String {
    let steps = row.steps;
    let call = "calls: [{ name: echo, args: { a: 1 } }]";
    let usual = format!("[{{ {call} }}, {{ text: 'done: {{{{last_result}}}}' }}]");
    let steps = if steps.is_empty() {
        usual.clone()
    } else {
        steps.replace("CALL", call)
    };
    format!(
        "rules:\n- when: {{ prompt: go wrong }}\n  steps: {steps}\n- when: {{ prompt: go well }}\n  steps: {usual}\n"
    )
}

/// A summary of the recording.
fn told(recording: &str) -> String {
    if recording == OLDER {
        return "the older recording is untouched\n".to_owned();
    }
    let mut told = String::new();
    for line in recording.lines().skip(1) {
        let line: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:.200}"));
        let trace = &line["trace"];
        told.push_str(&format!(
            "run {} is recorded: {}\n",
            line["run"],
            trace["stop_reason"].as_str().unwrap_or("-")
        ));
        // How often is asked again within a time is for the dice to say.
        let is_retry = |error: &&Value| {
            error["message"]
                .as_str()
                .unwrap()
                .ends_with("; asked again")
        };
        for error in trace["errors"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|error| !is_retry(error))
        {
            told.push_str(&format!(
                "  {}: {}\n",
                error["kind"].as_str().unwrap(),
                error["message"].as_str().unwrap()
            ));
        }
        for result in trace["tool_results"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|result| result["error"].is_object())
        {
            told.push_str(&format!(
                "  result: {}\n",
                result["error"]["message"].as_str().unwrap()
            ));
        }
    }
    told
}

/// The text without the parts that differ in every run: places, ports and waits.
fn steady(said: &str, place: &Place, urls: &[&str]) -> String {
    let said = said.replace(&own_files().display().to_string(), "…");
    let said = said.replace(&place.path().display().to_string(), ".");
    let hosts = urls.iter().filter(|url| !url.is_empty());
    let hosts = hosts.map(|url| url.trim_start_matches("http://").trim_end_matches("/mcp"));
    without_times(&hosts.fold(said, |said, host| said.replace(host, "127.0.0.1:PORT")))
}

/// The text without times: waits are random.
fn without_times(said: &str) -> String {
    ["to wait ", "no answer within "]
        .iter()
        .fold(said.to_owned(), |said, before| {
            let mut parts = said.split(before);
            let first = parts.next().unwrap_or_default().to_owned();
            parts.fold(first, |steady, part| {
                let end = part.find([' ', '\n']).unwrap_or(part.len());
                let is_time = part[..end].starts_with(|c: char| c.is_ascii_digit())
                    && part[..end].ends_with('s');
                steady + before + if is_time { "TIME" } else { &part[..end] } + &part[end..]
            })
        })
}

fn compare(name: &str, said: &str) -> Result<(), String> {
    let path = own_files().join("expected").join(format!("{name}.txt"));
    if std::env::var_os("MCPTEST_UPDATE_CASES").is_some() {
        fs::write(path, said).unwrap();
        return Ok(());
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    if expected == said {
        Ok(())
    } else {
        Err(format!("expected:\n{expected}\nseen:\n{said}"))
    }
}
