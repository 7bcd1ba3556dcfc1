//! Are files that a user wrote, or is judging, never overwritten?

use super::*;

const MOCK: &str = "mock_server:\n  tools: [{ name: search }]\n";

/// A suite with an agent that is recorded.
fn recorded(cassette: &str, program: &str) -> String {
    format!(
        "servers:\n  s: {{ mock: m.yml }}\nagents:\n  - name: works\n    agent: {{ command: [sh, -c, '{program}'] }}\n    \
         servers: [s]\n    prompt: Work.\n    cassette: {cassette}\n    expect: [{{ target: final_response, matcher: \
         {{ contains: done }} }}]\n"
    )
}

#[test]
fn recording_replaces_an_empty_file_and_a_recording_and_nothing_else() {
    let here = folder(&[("m.yml", MOCK), ("empty.jsonl", ""), ("trace.jsonl", TRACE)]);
    let at = |name: &str| here.path().join(name);
    fs::write(at("notes.md"), "# Mine\n").unwrap();
    fs::write(at("package.json"), "{\"name\": \"mine\"}\n").unwrap();
    fs::write(at("log.jsonl"), "{\"level\": 1}\n{\"level\": 2}\n").unwrap();
    fs::write(
        at("tape.jsonl"),
        "{\"format\":\"mcptest-tape\",\"version\":1,\"server\":{\"command\":[\"x\"]}}\n",
    )
    .unwrap();
    for name in [
        "notes.md",
        "package.json",
        "log.jsonl",
        "tape.jsonl",
        "s.yml",
    ] {
        fs::write(at("s.yml"), recorded(name, "echo done")).unwrap();
        let before = fs::read(at(name)).unwrap();
        let output = mcptest(here.path(), &["run", "s.yml", "--record"]);
        let why = format!("{name}: mcptest did not record this file, so it stays unchanged");
        assert_says(&output, 2, &[&why]);
        assert_eq!(fs::read(at(name)).unwrap(), before, "{name}");
    }
    for name in ["empty.jsonl", "trace.jsonl", "new/a.jsonl", "new/a.jsonl"] {
        fs::write(at("s.yml"), recorded(name, "echo done")).unwrap();
        assert_says(
            &mcptest(here.path(), &["run", "s.yml", "--record"]),
            0,
            &["1 passed"],
        );
        assert!(
            fs::read_to_string(at(name))
                .unwrap()
                .contains("mcptest-cassette"),
            "{name}"
        );
    }
    let output = mcptest(
        here.path(),
        &["trace-from", "tape.jsonl", "-o", "trace.jsonl"],
    );
    assert_says(
        &output,
        2,
        &["trace.jsonl exists already", "overwrite it with `--force`"],
    );
    let output = mcptest(
        here.path(),
        &["trace-from", "tape.jsonl", "-o", "notes.md", "--force"],
    );
    assert_says(&output, 2, &["notes.md: mcptest did not record this file"]);
    let output = mcptest(
        here.path(),
        &["trace-from", "tape.jsonl", "-o", "tape.jsonl", "--force"],
    );
    assert_says(
        &output,
        2,
        &["tape.jsonl: mcptest did not record this file"],
    );
    let output = mcptest(
        here.path(),
        &[
            "init",
            "--from-cassette",
            "trace.jsonl",
            "-o",
            "./trace.jsonl",
            "--force",
        ],
    );
    assert_says(
        &output,
        2,
        &["the suite would be written over the recording that it judges"],
    );
}

#[test]
fn a_report_is_not_written_over_what_it_is_made_from() {
    let with_mock = format!("imports: [i.yml]\n{}", suite("t.json"));
    let here = folder(&[
        ("a.yml", &with_mock),
        ("i.yml", "servers:\n  s: { mock: m.yml }\n"),
        ("m.yml", MOCK),
    ]);
    let at = |name: &str| here.path().join(name);
    fs::write(at("t.json"), TRACE).unwrap();
    fs::hard_link(at("t.json"), at("hard.json")).unwrap();
    link("t.json", &at("soft.json"));
    link(".", &at("here"));
    for name in [
        "a.yml",
        "./a.yml",
        "i.yml",
        "m.yml",
        "t.json",
        "hard.json",
        "soft.json",
        "here/t.json",
    ] {
        let before = fs::read(at(name)).unwrap();
        let output = mcptest(
            here.path(),
            &["run", "a.yml", "--reporter", &format!("json={name}")],
        );
        assert_says(&output, 2, &[&format!("cannot write a report to {name}")]);
        assert!(output.stdout.is_empty(), "nothing is judged");
        assert_eq!(fs::read(at(name)).unwrap(), before, "{name}");
    }
    let twice = [
        "run",
        "a.yml",
        "--reporter",
        "json=new/r",
        "--reporter",
        "junit=here/new/r",
    ];
    assert_says(
        &mcptest(here.path(), &twice),
        2,
        &["two reporters cannot share the file here/new/r"],
    );
    let nowhere = [
        "run",
        "a.yml",
        "--reporter",
        "json=/dev/null",
        "--reporter",
        "junit=/dev/null",
    ];
    assert_says(&mcptest(here.path(), &nowhere), 0, &["1 passed"]);
    let output = mcptest(
        here.path(),
        &[
            "run",
            "a.yml",
            "--reporter",
            "json=/dev/stdout",
            "--reporter",
            "junit=r.xml",
        ],
    );
    assert_says(&output, 0, &["\"schema_version\": 1"]);
    assert_says(
        &mcptest(here.path(), &["run", "a.yml", "--reporter", "json=r.json"]),
        0,
        &[],
    );
    let again = mcptest(
        here.path(),
        &["report", "r.json", "--reporter", "junit=here/r.json"],
    );
    assert_says(
        &again,
        2,
        &["cannot write a report to here/r.json, which is r.json"],
    );
}

#[test]
fn traces_that_are_judged_are_not_written_over() {
    let here = folder(&[
        ("g.yml", &suite("x").replace("    cassette: \"x\"\n", "")),
        ("runs/1.json", TRACE),
    ]);
    let output = mcptest(
        here.path(),
        &[
            "run",
            "--traces",
            "runs",
            "g.yml",
            "--reporter",
            "json=runs/1.json",
        ],
    );
    assert_says(&output, 2, &["cannot write a report to runs/1.json"]);
    assert_eq!(
        fs::read_to_string(here.path().join("runs/1.json")).unwrap(),
        TRACE
    );
}

#[test]
fn usage_that_an_agent_reports_through_a_pipe_is_told_of_and_hangs_nothing() {
    let program = "rm -f \"$MCPTEST_USAGE\"; mkfifo \"$MCPTEST_USAGE\"; echo done";
    let here = folder(&[("m.yml", MOCK), ("s.yml", &recorded("c.jsonl", program))]);
    let output = mcptest(here.path(), &["run", "s.yml", "--record", "-v"]);
    assert_says(
        &output,
        0,
        &["MCPTEST_USAGE cannot be used: it is a named pipe, not a file"],
    );
}

#[test]
fn a_report_is_written_over_no_recording_even_where_the_suite_is_refused() {
    let here = folder(&[
        ("s.yml", "agents: [{ name: a, cassette: t.json, what: 1 }]"),
        ("t.json", TRACE),
    ]);
    let output = mcptest(here.path(), &["run", "s.yml", "--reporter", "json=t.json"]);
    assert_says(
        &output,
        2,
        &["cannot write a report to t.json: it is a recording"],
    );
    assert_eq!(
        fs::read_to_string(here.path().join("t.json")).unwrap(),
        TRACE
    );
    for _ in 0..2 {
        let again = mcptest(
            here.path(),
            &["run", "s.yml", "--reporter", "json=report.json"],
        );
        assert_says(&again, 2, &["the suite is refused for 1 problem"]);
        assert!(
            fs::read_to_string(here.path().join("report.json"))
                .unwrap()
                .contains("schema_version")
        );
    }
}

#[test]
fn a_report_of_an_earlier_run_is_gone_before_anything_is_judged() {
    let here = folder(&[("m.yml", MOCK), ("old.html", "old"), ("real.json", "old")]);
    let at = |name: &str| here.path().join(name);
    link("real.json", &at("linked.json"));
    let look = format!(
        "test -e {} || test -s {} || echo done",
        at("old.html").display(),
        at("real.json").display()
    );
    fs::write(at("s.yml"), recorded("c.jsonl", &look)).unwrap();
    let command = [
        "run",
        "s.yml",
        "--record",
        "--reporter=html=old.html",
        "--reporter=json=linked.json",
        "--reporter=pretty",
    ];
    assert_says(&mcptest(here.path(), &command), 0, &["1 passed"]);
    assert!(at("old.html").exists(), "the new report");
    assert!(at("linked.json").is_symlink(), "a link remains a link");
    assert!(
        fs::read_to_string(at("real.json"))
            .unwrap()
            .contains("\"passed\": 1")
    );
}

#[test]
fn a_report_of_an_earlier_run_is_gone_when_nothing_can_be_judged() {
    let here = folder(&[("s.yml", &suite("a.json")), ("a.json", TRACE)]);
    let at = |name: &str| here.path().join(name);
    let report = "--reporter=json=r.json";
    for (words, code) in [
        (&["run", "missing.yml", report][..], 2),
        (&["run", "s.yml", "--shard", "2/2", report], 7),
        (&["run", "s.yml", "--traces", "missing", report], 2),
        (&["eval", "missing.yml", report], 2),
        (&["compare", "missing", "a.json", report], 2),
        (&["model-baseline", "diff", "missing", "a.json", report], 2),
        (&["check", "--config", "missing.yml", report], 2),
        (&["report", "missing.json", report], 2),
    ] {
        fs::write(at("r.json"), "old").unwrap();
        let output = mcptest(here.path(), words);
        assert_says(&output, code, &[]);
        assert!(!at("r.json").exists(), "{words:?}");
    }
    // A mistake on the command line costs nobody a file that is read.
    let output = mcptest(
        here.path(),
        &["run", "s.yml", "missing.yml", "--reporter=json=s.yml"],
    );
    assert_says(&output, 2, &["missing.yml"]);
    assert!(at("s.yml").exists());
}

#[test]
fn what_only_lists_leaves_reports_alone() {
    let here = folder(&[
        ("s.yml", &suite("a.json")),
        ("a.json", TRACE),
        ("r.json", "old"),
    ]);
    let listed = mcptest(
        here.path(),
        &["run", "s.yml", "--list", "--reporter=json=r.json"],
    );
    assert_says(&listed, 0, &["searches"]);
    assert_eq!(
        fs::read_to_string(here.path().join("r.json")).unwrap(),
        "old"
    );
}
