//! Are the entries of a folder judged, refused or named?

use super::*;

#[test]
fn a_suite_that_cannot_be_read_is_a_broken_row_beside_the_others() {
    let utf_16: Vec<u8> = suite("t.json")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let here = folder(&[
        ("a.yml", &suite("t.json")),
        ("t.json", TRACE),
        ("B.YML", &suite("t.json")),
    ]);
    let at = |name: &str| here.path().join(name);
    fs::write(at("c.yml"), &utf_16).unwrap();
    fs::write(at("d.yml"), [&[0xff, 0xfe], &utf_16[..]].concat()).unwrap();
    link("nowhere", &at("e.yml"));
    pipe(&at("f.yaml"));
    fs::write(at("i.yml"), "imports: [nowhere.yml]\n").unwrap();
    fs::write(at("t.yml"), "tools:\n  - { name: x, server: s, tool: y }\n").unwrap();
    let parts = [
        "8 tests: 2 passed, 6 errors",
        "the file contains a NUL byte, which YAML does not allow --> c.yml:1:2",
        "the file is not UTF-8 --> d.yml:1:1",
        "cannot read e.yml: it is a broken link",
        "cannot read f.yaml: it is a named pipe, not a file",
        "cannot read nowhere.yml: no such file",
        "! t.yml",
    ];
    assert_says(&mcptest(here.path(), &["run", "."]), 2, &parts);
    assert_says(
        &mcptest(here.path(), &["run", ".", "--list"]),
        2,
        &["B.YML:2: searches", "e.yml:1: e.yml"],
    );
    assert_says(
        &mcptest(here.path(), &["validate", "."]),
        2,
        &["8 suites: 2 tests, 6 errors"],
    );
    assert_says(
        &mcptest(here.path(), &["run", ".", "--dry-run"]),
        2,
        &["broken link"],
    );
}

#[test]
fn a_default_suite_that_leads_nowhere_is_not_passed_over() {
    let here = folder(&[("mcptest.yml", &suite("t.json")), ("t.json", TRACE)]);
    assert_says(&mcptest(here.path(), &["run"]), 0, &["1 passed"]);
    link("nowhere", &here.path().join("mcptest.yaml"));
    assert_says(
        &mcptest(here.path(), &["run"]),
        2,
        &["cannot read mcptest.yaml: it is a broken link"],
    );
}

#[test]
fn a_yaml_file_that_is_something_else_is_named_and_one_that_a_suite_uses_is_not() {
    let with_mock = format!("servers:\n  s: {{ mock: m.yml }}\n{}", suite("t.json"));
    let here = folder(&[
        ("a.yml", &with_mock),
        ("m.yml", "mock_server:\n  tools: [{ name: search }]\n"),
        ("ci.yml", "on: push\njobs: {}\n"),
        ("saved.yml", "tools:\n  - name: x\n    inputSchema: {}\n"),
        ("t.json", TRACE),
    ]);
    for words in [
        &["run", "."][..],
        &["validate", "."],
        &["run", "--list", "."],
    ] {
        let output = mcptest(here.path(), words);
        assert_says(
            &output,
            0,
            &["note: not suites, skipped: ci.yml, saved.yml\n"],
        );
    }
}

#[test]
fn links_to_folders_are_not_entered_and_named() {
    let here = folder(&[("s/a.yml", &suite("t.json")), ("s/t.json", TRACE)]);
    let at = |name: &str| here.path().join(name);
    link("..", &at("s/up"));
    link(".", &at("s/same"));
    link("a.yml", &at("s/b.yml"));
    let named = "note: mcptest did not enter these links to folders: s/same, s/up\n";
    assert_says(
        &mcptest(here.path(), &["run", "s"]),
        0,
        &["2 tests: 2 passed", named],
    );
    link("s", &at("to-s"));
    assert_says(
        &mcptest(here.path(), &["run", "to-s"]),
        0,
        &["2 tests: 2 passed", "to-s/up"],
    );
    let searched = mcptest(here.path(), &["show", "--check-secrets", "s"]);
    assert_says(&searched, 0, &["1 file and 1 line searched", named]);
}

#[test]
fn a_trace_that_is_a_link_to_nowhere_or_a_pipe_breaks_its_row() {
    let here = folder(&[
        ("all.yml", &suite("runs/**/*.json")),
        ("runs/1.json", TRACE),
        ("runs/sub/2.json", TRACE),
        (
            "gates.yml",
            &suite("x").replace("    cassette: \"x\"\n", ""),
        ),
    ]);
    let at = |name: &str| here.path().join(name);
    let judged = || {
        let by_pattern = mcptest(here.path(), &["run", "all.yml"]);
        (
            by_pattern,
            mcptest(here.path(), &["run", "--traces", "runs", "gates.yml"]),
        )
    };
    link("..", &at("runs/up"));
    let named = "runs/up is a link to a folder; mcptest did not enter it";
    let (by_pattern, by_folder) = judged();
    assert_says(&by_pattern, 0, &["2 runs", named]);
    assert_says(&by_folder, 0, &["2 tests: 2 passed", named]);
    let searched = || mcptest(here.path(), &["show", "--check-secrets", "runs"]);
    let imported = || mcptest(here.path(), &["import", "runs"]);
    assert_says(&searched(), 0, &["2 files"]);
    for (place, why) in [
        ("runs/3.json", "broken link"),
        ("runs/sub/4.json", "it is a named pipe"),
    ] {
        if place.starts_with("runs/3") {
            link("gone", &at(place));
        } else {
            pipe(&at(place));
        }
        let (by_pattern, by_folder) = judged();
        for output in [by_pattern, by_folder, searched(), imported()] {
            assert_says(&output, 2, &[place, why]);
        }
        fs::remove_file(at(place)).unwrap();
    }
}
