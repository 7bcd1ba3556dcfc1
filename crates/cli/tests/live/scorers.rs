//! Scorers are the user's programs: they start once for each run, and replay reads their recorded
//! numbers.

use crate::bench::LiveFolder;
use serde_json::Value;
use std::time::{Duration, Instant};

const SCRIPT: &str = "steps: [{ text: The rain in Spain. }]\n";

const LENGTH: &str = r#"import json, sys
run = json.load(sys.stdin)
text = run["trace"]["final_response"]
print("reading", run["test"], run["model"], run["run"], file=sys.stderr)
with open("started.txt", "a") as log:
    log.write(f"length {run['test']} {run['model']} {run['run']}\n")
print(json.dumps({"chars": len(text), "share": len(text) / 36, "ok": "rain" in text}))
"#;

const SHOUTS: &str =
    "echo shouts >> started.txt\ngrep -q '!' && loud=1 || loud=0\necho \"{\\\"loud\\\": $loud}\"\n";

/// An agent whose runs are scored by a Python and a shell program.
fn suite(expect: &str) -> String {
    format!(
        "scorers:
  - {{ name: length, command: [python3, length.py] }}
  - {{ name: shouts, command: [sh, shouts.sh], timeout: 30s }}
agents:
  - name: poet
    model: claude-haiku-4-5
    prompt: Write a line about rain.
    runs: 2
    cassette: poet.jsonl
    expect:
      - {{ target: final_response, matcher: {{ contains: rain }} }}
{expect}"
    )
}

const HOLDS: &str =
    "      - { target: scorers.length.share, matcher: { all-of: [{ gte: 0.5 }, { lt: 0.6 }] } }
      - { target: scorers.length.ok, matcher: { exact: true } }
      - { target: scorers.shouts.loud, matcher: { not: { exact: 1 } } }
";

fn bench(suite: &str) -> LiveFolder {
    let bench = LiveFolder::with(suite, SCRIPT, "");
    bench.write("length.py", LENGTH);
    bench.write("shouts.sh", SHOUTS);
    bench
}

fn started(bench: &LiveFolder) -> usize {
    if bench.path("started.txt").exists() {
        bench.read("started.txt").lines().count()
    } else {
        0
    }
}

#[test]
fn scorers_run_once_for_each_recorded_run_and_replay_starts_none() {
    let bench = bench(&suite(HOLDS));
    bench.record(&["--record", "--reporter", "json=recorded.json"], 0);
    assert_eq!(started(&bench), 4);
    assert!(
        bench
            .read("started.txt")
            .contains("length poet claude-haiku-4-5 2\n")
    );
    let kept: Value = serde_json::from_str(&bench.read("poet.grades.json")).unwrap();
    assert_eq!(kept["grades"].as_array().unwrap().len(), 4);
    assert_eq!(kept["grades"][0]["check"], "scorers.length");
    assert_eq!(kept["grades"][0]["scores"]["chars"], 18);
    // Without a program to start: no PATH, and no script.
    let words = [
        "run",
        "suite.yml",
        "--reporter",
        "json=replayed.json",
        "--reporter",
        "junit=junit.xml",
    ];
    let ran = bench
        .command(&[&words[..], &["--reporter", "pretty", "-v"]].concat())
        .env_clear()
        .output()
        .unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{said}");
    assert_eq!(bench.read("replayed.json"), bench.read("recorded.json"));
    assert_eq!(started(&bench), 4);
    assert!(said.contains("scorers.length.share 0.5"), "{said}");
    assert!(
        !said.contains("scorers.length.chars"),
        "only what is asserted: {said}"
    );
    let run = &bench.report("replayed.json")["tests"][0]["runs"][1];
    assert_eq!(run["scores"]["scorers.length.chars"], 18);
    assert_eq!(run["scores"]["scorers.length.ok"], true);
    assert_eq!(run["expectations"][1]["actual"], 0.5);
    assert!(
        bench
            .read("junit.xml")
            .contains(r#"name="scorers.shouts.loud" value="0""#)
    );
    // Nothing is missing, so nothing is started again.
    assert_eq!(bench.run(&["eval", "suite.yml"]).exit, Some(0));
    assert_eq!(started(&bench), 4);
}

#[test]
fn a_number_that_does_not_hold_and_one_that_is_not_there_fail() {
    let unheld = "      - { target: scorers.length.chars, matcher: { gt: 100 } }
      - { target: scorers.length.charm, matcher: { not: { exact: 3 } } }
";
    let bench = bench(&suite(unheld));
    bench.record(&["--record"], 1);
    let said = bench.replay(1);
    said.says("scorers.length.chars").says("18");
    said.says("the scorer `length` did not print this; it printed chars, ok, share");
}

#[test]
fn what_changes_makes_numbers_stale_and_what_is_missing_names_the_command() {
    let bench = bench(&suite(HOLDS));
    bench.record(&["--record"], 0);
    let (cassette, asked) = (bench.read("poet.jsonl"), bench.stub.count());
    bench.write("length.py", &LENGTH.replace("/ 36", "/ 30"));
    let said = bench.replay(2);
    said.says("the grade of run 1 for `scorers.length` is stale")
        .says("`length.py` of the scorer has changed");
    said.says("mcptest eval suite.yml --filter poet");
    bench.write(
        "suite.yml",
        &suite(HOLDS)
            .replace("length.py]", "length.py, fast]")
            .replace("0.6", "0.7"),
    );
    bench
        .replay(2)
        .says("the command of the scorer has changed");
    let explained = bench.run(&["eval", "suite.yml", "--explain"]);
    explained
        .says("poet  scorers.length")
        .says("python3 length.py fast")
        .says("2 runs graded already");
    explained.says("0 calls to judges");
    assert_eq!(started(&bench), 4);
    let ran = bench.run(&["eval", "suite.yml"]);
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    assert_eq!(
        started(&bench),
        6,
        "the scorer that has not changed is not started"
    );
    bench.replay(0);
    bench.remove("poet.grades.json");
    let said = bench.replay(2);
    said.says("run 1 has no grade for `scorers.length`")
        .says("run the scorer once");
    said.says("mcptest eval suite.yml --filter poet");
    assert_eq!(
        (bench.read("poet.jsonl"), bench.stub.count()),
        (cassette, asked),
        "the agent is left alone"
    );
}

#[test]
fn a_scorer_that_gives_no_numbers_breaks_its_row_and_nothing_else() {
    let other = "  - { name: other, model: claude-haiku-4-5, prompt: p, expect: [{ target: final_response, matcher: { contains: rain } }] }\n";
    let bench = bench(&(suite("") + other));
    bench.record(&["--record"], 0);
    for (program, why) in [
        (
            "echo out of ink >&2; exit 3",
            "the scorer `shouts` ended with code 3: out of ink",
        ),
        ("kill -9 $$", "ended with signal 9"),
        (
            "echo fine",
            "it printed \"fine\", which mcptest cannot read",
        ),
        ("true", "it printed nothing"),
        ("echo '{}'", "it printed no number"),
        ("echo '{\"a\": NaN}'", "which mcptest cannot read"),
        ("echo '{\"a\": 1e999}'", "number out of range"),
        (
            "echo '{\"a\": \"1\"}'",
            "`a` is not a number, true or false",
        ),
        ("echo '{\"a\": 1}{\"a\": 2}'", "trailing characters"),
        (
            "head -c 100000 /dev/zero",
            "it printed 100000 bytes; the limit is 65536",
        ),
        ("head -c 20000000 /dev/zero", "printed 20000000 bytes"),
    ] {
        let only_poet =
            format!("grep -q '\"test\":\"other\"' && echo '{{\"loud\": 0}}' && exit\n{program}\n");
        bench.write("shouts.sh", &only_poet);
        let ran = bench.run(&[
            "eval",
            "suite.yml",
            "--reporter",
            "json=report.json",
            "--reporter",
            "pretty",
        ]);
        assert_eq!(ran.exit, Some(2), "{program}: {ran:?}");
        ran.says(why).says("mcptest eval suite.yml --filter poet");
        let tests = bench.report("report.json")["tests"].clone();
        assert_eq!(
            (&tests[0]["status"], &tests[1]["status"]),
            (&Value::from("error"), &Value::from("passed"))
        );
        assert_eq!(
            tests[0]["runs"][0]["scores"]["scorers.length.chars"], 18,
            "{program}"
        );
    }
    bench.write(
        "suite.yml",
        &(suite("") + other).replace("[sh, shouts.sh]", "[./no-such-program]"),
    );
    bench
        .run(&["eval", "suite.yml"])
        .says("cannot start the scorer `shouts`: program");
}

/// Returns true if the process whose id the scorer wrote still runs.
fn is_alive(bench: &LiveFolder) -> bool {
    std::path::Path::new(&format!("/proc/{}", bench.read("child.txt").trim())).exists()
}

/// Waits a moment, because the process of an ended shell is reaped later.
fn has_ended(bench: &LiveFolder) -> bool {
    let until = Instant::now() + Duration::from_secs(30);
    while is_alive(bench) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    !is_alive(bench)
}

#[test]
fn a_scorer_that_hangs_is_ended_with_all_that_it_started() {
    let hangs =
        "sleep 300 &\necho $! > child.new; mv child.new child.txt\necho thinking >&2\nwait\n";
    let bench = bench(&suite("").replace("runs: 2", "runs: 1"));
    bench.record(&["--record"], 0);
    bench.write("shouts.sh", hangs);
    bench.write(
        "suite.yml",
        &suite("")
            .replace("runs: 2", "runs: 1")
            .replace("30s", "300ms"),
    );
    let ran = bench.run(&["eval", "suite.yml"]);
    assert_eq!(ran.exit, Some(2), "{ran:?}");
    ran.says("the scorer `shouts` did not end within its `timeout` of 300 ms")
        .says("thinking");
    assert!(has_ended(&bench));
    bench.remove("child.txt");
    bench.write("suite.yml", &suite("").replace("runs: 2", "runs: 1"));
    let mut child = bench.command(&["eval", "suite.yml"]).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while !bench.path("child.txt").exists() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    let killed = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(has_ended(&bench));
}

#[test]
fn validate_refuses_what_can_never_give_a_number() {
    for (from, to, why) in [
        ("[python3, length.py]", "[]", "`command` is empty"),
        ("[python3, length.py]", "''", "`command` is empty"),
        (
            "name: shouts",
            "name: length",
            "the scorer `length` is declared twice",
        ),
        (
            "name: shouts",
            "name: a.b",
            "`a.b` cannot be part of a target",
        ),
        (
            "scorers.length.ok",
            "scorers.lenght.ok",
            "did you mean `length`?",
        ),
        (
            "scorers.length.ok",
            "scorers.length",
            "a number of a scorer is `scorers.NAME.KEY`",
        ),
        (
            "{ exact: true }",
            "{ llm-judge: Is it true? }",
            "a model cannot judge a number of a scorer",
        ),
        ("timeout: 30s", "timeot: 30s", "did you mean `timeout`?"),
        (
            "runs: 2",
            "runs: 2\n    stop: decided",
            "`stop: decided` does not work",
        ),
    ] {
        let text = suite(HOLDS);
        assert!(text.contains(from), "{from}");
        let ran = bench(&text.replacen(from, to, 1)).run(&["validate", "suite.yml"]);
        assert_eq!(ran.exit, Some(2), "{to}: {ran:?}");
        ran.says(why);
    }
}
