//! Does `mcptest init` write a suite that passes, whatever the server or the recording is like?

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

fn odd() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/servers/odd.py")
        .display()
        .to_string()
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcptest"));
    command.args(words).current_dir(folder).stdin(Stdio::null());
    for name in mcptest_core::provider::key_variables() {
        command.env_remove(name);
    }
    command
}

fn mcptest(folder: &TempDir, words: &[&str]) -> Output {
    command(folder.path(), words).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The output of a command that must succeed.
fn done(output: &Output) -> String {
    assert!(
        output.status.success(),
        "{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout)
}

/// Drafts a suite from the odd server, asserts that it passes without a warning, and returns it.
fn drafted(folder: &TempDir, kind: &str, options: &[&str]) -> String {
    let server = odd();
    let words: Vec<&str> = ["init"]
        .into_iter()
        .chain(options.iter().copied())
        .chain(["--", "python3", &server, kind])
        .collect();
    done(&mcptest(folder, &words));
    passes(folder)
}

/// Asserts that the suite passes without the server, and returns it.
fn passes(folder: &TempDir) -> String {
    done(&mcptest(folder, &["validate", "--deny-warnings"]));
    let judged = command(folder.path(), &["run"])
        .env("PATH", "")
        .output()
        .unwrap();
    let said = done(&judged);
    let totals = said.lines().last().unwrap();
    assert!(
        !totals.contains(" failed") && !totals.contains(" error"),
        "{said}"
    );
    fs::read_to_string(folder.path().join("mcptest.yml")).unwrap()
}

fn everything_in(folder: &Path) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        all.push_str(&if path.is_dir() {
            everything_in(&path)
        } else {
            fs::read_to_string(path).unwrap()
        });
    }
    all
}

#[test]
fn tools_are_listed_and_tested_whatever_their_names() {
    let folder = folder();
    let suite = drafted(&folder, "names", &[]);
    assert!(suite.starts_with(
        "# Drafted by `mcptest init` from Odd Server 1 (MCP 2025-06-18), which has 8 tools:\n"
    ));
    for line in [
        "#   with space         read-only  It has",
        "#   line\\nbreak\\u202e  read-only",
        "    tool: \"line\\nbreak\\u202e\"",
        "    tool: \"$${HOME}\"",
        "    tool: \"true\"",
        "  - name: \"héllo.wörld: 天気 😀 answers\"",
        "      - { target: \"result.content[0].text\", matcher: { exact: \"called plain with {}\" } }",
        "#   ${open: its name cannot be written in a suite",
    ] {
        assert!(
            suite.lines().any(|written| written == line),
            "{line}\n{suite}"
        );
    }
    assert!(!suite.contains('\u{202e}'));
    let again = done(&mcptest(&folder, &["run", "--record"]));
    assert!(again.contains("6 passed, 1 skipped"), "{again}");
}

#[test]
fn arguments_are_made_from_the_schema_and_what_cannot_be_guessed_is_said() {
    let folder = folder();
    let suite = drafted(&folder, "schemas", &[]);
    for line in [
        "    args: { city: { name: \"Ålesund\" } }",
        "    args: { q: \"costs $${PRICE} or $$${X}\" }",
        "#   endless: no arguments could be generated from its schema",
        "#   pattern: no arguments could be generated from its schema",
        "#   broken: no arguments could be generated from its schema",
    ] {
        assert!(
            suite.lines().any(|written| written == line),
            "{line}\n{suite}"
        );
    }
}

#[test]
fn arguments_are_guessed_from_names_and_descriptions_and_what_looks_like_an_error_is_not_pinned() {
    let folder = folder();
    let suite = drafted(&folder, "helpful", &[]);
    for line in [
        "    args: { repo_path: . }",
        "    args: { timezone: UTC }",
        "    args: { branch_type: local }",
        "#   soft: called with { id: text }, its answer looks like an error: Error: there is no text",
    ] {
        assert!(
            suite.lines().any(|written| written == line),
            "{line}\n{suite}"
        );
    }
    assert!(!suite.contains("tool: soft"), "{suite}");
}

#[test]
fn a_call_is_made_with_the_arguments_that_are_named_typed_by_the_schema() {
    let folder = folder();
    let calls = [
        "--call",
        "order book='Dune Messiah' copies=2",
        "--call",
        "order book=1984 copies=1 gift=true",
    ];
    let suite = drafted(&folder, "helpful", &calls);
    for line in [
        "    args: { book: Dune Messiah, copies: 2 }",
        "    args: { book: \"1984\", copies: 1, gift: true }",
        "  - name: \"order answers (2)\"",
    ] {
        assert!(
            suite.lines().any(|written| written == line),
            "{line}\n{suite}"
        );
    }
    let odd = odd();
    let wrong = [
        "--call",
        "order bok=Dune",
        "--call",
        "ordr",
        "--call",
        "order copies=two",
        "--force",
    ];
    let refused = mcptest(
        &folder,
        &[&["init"], &wrong[..], &["--", "python3", &odd, "helpful"]].concat(),
    );
    assert_eq!(
        text(&refused.stderr),
        "error: `order` has no argument `bok`; did you mean `book`?\n  \
         the server lists no tool `ordr`; did you mean `order`?\n  \
         `copies` is declared as integer, which `two` is not\n  help: `copies:=JSON` sends any JSON unchanged\n"
    );
    let refused = mcptest(
        &folder,
        &[
            "init",
            "--force",
            "--call",
            "order book",
            "--",
            "python3",
            &odd,
            "helpful",
        ],
    );
    assert_eq!(
        text(&refused.stderr),
        "error: `--call 'order book'`: `book` is not an argument\n  help: write `key=value`, or `key:=JSON` for a value as JSON; the command of a server follows `--`\n"
    );
}

#[test]
fn it_says_plainly_that_no_tool_has_a_test_and_what_to_do() {
    let odd = odd();
    let said = |kind: &str, options: &[&str]| {
        let server = ["--", "python3", &odd, kind];
        done(&mcptest(
            &folder(),
            &[&["init"], options, &server[..]].concat(),
        ))
    };
    let none = "  no tool could be tested, so the only test calls a tool that does not exist\n";
    assert!(said("none", &[]).contains(&format!("{none}  the server lists no tools\nnext:")));
    let why = "  none is marked read-only, so none was called: a tool may change something\n";
    let todo = "  name a call that can be made twice: add `--force --call 'write'`\nnext:";
    let fill = "  1 test to fill in, skipped until then, for tools that are not marked read-only\n";
    let writer = said("writer", &[]);
    assert!(
        writer.contains(&format!("{none}{fill}{why}{todo}")),
        "{writer}"
    );
    let suite = drafted(&folder(), "writer", &[]);
    assert!(
        suite.contains("  - name: write answers\n    skip: it may change something\n"),
        "{suite}"
    );
    let named = said("helpful", &["--call", "soft id=7"]);
    assert!(
        named.contains("  3 tool tests, recorded and passing\n  1 test to fill in, skipped until then, for tools that are not marked read-only\n  soft is skipped: called with { id: \"7\" }, its answer looks like an error: Error: there is no 7\n"),
        "{named}"
    );
}

#[test]
fn a_server_that_answers_every_call_still_gets_tests_to_fill_in() {
    let folder = folder();
    let suite = drafted(&folder, "obliging", &[]);
    assert!(
        suite.contains("tools:\n  # These tools may change something")
            && suite.contains("  - name: write answers\n    skip: it may change something\n"),
        "{suite}"
    );
    let run = mcptest(&folder, &["run"]);
    let said = text(&run.stdout);
    assert!(
        said.contains("2 tests: 2 skipped · nothing was tested\n"),
        "{said}"
    );
}

#[test]
fn only_what_was_the_same_twice_is_expected_and_what_fails_is_left_out() {
    let folder = folder();
    let suite = drafted(&folder, "answers", &[]);
    for part in [
        "    tool: random\n    args: {}\n    expect:\n      - { target: result.isError, matcher: { exact: false } }\n      \
         - { target: \"result.content[0].text\", matcher: { length: { gte: 1 } } }\n",
        "#   liar: result.structuredContent: the result does not match the tool's own outputSchema\n",
        "#   refuses: called with {}, the server refused it: -32602 there is no such thing\n",
        "#   fails: called with {}, it failed: not like this\n",
        "#   crash: called with {}, no answer: server \"python3\": it exited with code 9 while tools/call crash was open\n",
    ] {
        assert!(suite.contains(part), "{part}\n{suite}");
    }
}

#[test]
fn of_many_tools_a_few_are_tested_and_named_ones_before_others() {
    let folder = folder();
    let suite = drafted(&folder, "many", &["--call", "tool_150"]);
    assert_eq!(suite.matches("    tool: tool_").count(), 12);
    assert!(
        suite.contains("    tool: tool_150\n")
            && suite.contains("#   188 more: these tests are enough for a start\n")
    );
    assert!(
        suite.lines().all(|line| line.chars().count() < 200),
        "{suite}"
    );
}

#[test]
fn where_no_tool_is_safe_to_call_one_that_does_not_exist_is() {
    for kind in ["none", "writer"] {
        let folder = folder();
        let suite = drafted(&folder, kind, &[]);
        assert!(
            suite.contains("    tool: mcptest_no_such_tool\n") && suite.contains("exact: -32602"),
            "{suite}"
        );
    }
    let folder = folder();
    let suite = drafted(&folder, "writer", &["--call", "write"]);
    assert!(
        suite.contains("    tool: write\n") && !suite.contains("no_such_tool"),
        "{suite}"
    );
}

#[test]
fn a_secret_is_written_as_a_variable_and_into_no_recording() {
    let folder = folder();
    let server = odd();
    let words = [
        "init",
        "-o",
        "deep/mcptest.yml",
        "--call",
        "tell_all",
        "--env",
        "MY_KEY=planted-one",
        "--env",
        "DB_URL=sqlite:///planted.db",
        "--env",
        "LEVEL=debug",
        "--",
    ];
    let words: Vec<&str> = words
        .into_iter()
        .chain(["python3", &server, "answers", "--api-key", "planted-two"])
        .collect();
    let said = done(&mcptest(&folder, &words));
    assert!(
        said.contains(
            "`${API_KEY}` replaces a value that may be secret: set API_KEY before you record"
        ),
        "{said}"
    );
    let all = everything_in(folder.path());
    assert!(
        !all.contains("planted") && !said.contains("planted"),
        "{all}"
    );
    for part in [
        "--api-key, \"${API_KEY}\"]\n",
        "    cwd: ..\n",
        "      MY_KEY: \"${MY_KEY}\"\n",
        "      DB_URL: \"${DB_URL}\"\n",
        "      LEVEL: debug\n",
        "[redacted:API_KEY]",
    ] {
        assert!(all.contains(part), "{part}\n{all}");
    }
    let suite = ["run", "deep/mcptest.yml"];
    done(&mcptest(&folder, &suite));
    let mut again = command(folder.path(), &["run", "--record", "deep/mcptest.yml"]);
    done(
        &again
            .env("API_KEY", "planted-two")
            .env("MY_KEY", "planted-one")
            .env("DB_URL", "sqlite:///planted.db")
            .output()
            .unwrap(),
    );
    assert!(!everything_in(folder.path()).contains("planted"));
}

#[test]
fn nothing_is_written_over_without_being_told_to() {
    let folder = folder();
    fs::write(folder.path().join("mcptest.yml"), "mine").unwrap();
    let server = odd();
    let words = ["init", "--", "python3", &server, "names"];
    let refused = mcptest(&folder, &words);
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(
        text(&refused.stderr),
        "error: mcptest.yml exists\n  help: name another file with `-o FILE`, or overwrite it with `--force`\n"
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("mcptest.yml")).unwrap(),
        "mine"
    );
    drafted(&folder, "names", &["--force", "--server", "odd one"]);
    assert!(passes(&folder).contains("  odd one:\n    command: [python3, "));
}

#[test]
fn a_server_that_does_not_start_is_told_in_the_words_of_tools() {
    let folder = folder();
    for server in [
        vec!["--", "no-such-program"],
        vec!["--", "sh", "-c", "exit 3"],
        vec!["--url", "http://127.0.0.1:9/mcp"],
    ] {
        let run = |first: &str| mcptest(&folder, &[&[first], &server[..]].concat());
        let (init, tools) = (run("init"), run("tools"));
        assert_eq!(
            (init.status.code(), text(&init.stderr)),
            (Some(2), text(&tools.stderr))
        );
    }
    let odd = odd();
    let unknown = mcptest(
        &folder,
        &["init", "--call", "plian", "--", "python3", &odd, "names"],
    );
    assert_eq!(
        text(&unknown.stderr),
        "error: the server lists no tool `plian`; did you mean `plain`?\n"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

const LIBRARY: &str = r#"
mock_server:
  name: library
  tools:
    - name: find_book
      description: Finds a book by its title.
      annotations: { readOnlyHint: true }
      input_schema:
        type: object
        required: [title]
        properties: { title: { type: string, examples: [Dune] } }
      response: "${args.title}: 2 on the shelf"
"#;

#[test]
fn a_mock_and_a_tape_of_it_become_suites() {
    let folder = folder();
    fs::write(folder.path().join("library.yml"), LIBRARY).unwrap();
    let program = env!("CARGO_BIN_EXE_mcptest");
    let server = ["--", program, "mock", "--tools-from", "library.yml"];
    done(&mcptest(&folder, &[&["init"][..], &server].concat()));
    let suite = passes(&folder);
    assert!(
        suite.contains("  library:\n") && suite.contains("    args: { title: Dune }\n"),
        "{suite}"
    );

    let behind = [
        "--",
        program,
        "proxy",
        "--name",
        "books",
        "--out",
        "tape.jsonl",
    ];
    done(&mcptest(
        &folder,
        &[&["call", "find_book", "title=Dune"][..], &behind, &server].concat(),
    ));
    done(&mcptest(
        &folder,
        &["init", "--force", "--from-cassette", "tape.jsonl"],
    ));
    let suite = passes(&folder);
    for part in [
        "  books:\n    command: [",
        "    cassette: tape.jsonl\n    runs: 1\n    servers: [books]\n",
        "        - { name: find_book, args: { subset: { title: Dune } } }\n",
    ] {
        assert!(suite.contains(part), "{part}\n{suite}");
    }
}

#[test]
fn every_recording_of_the_examples_becomes_a_suite_that_passes() {
    let folder = folder();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .canonicalize()
        .unwrap();
    fs::create_dir(folder.path().join("mocks")).unwrap();
    for manifest in fs::read_dir(examples.join("mocks")).unwrap() {
        let manifest = manifest.unwrap();
        fs::copy(
            manifest.path(),
            folder.path().join("mocks").join(manifest.file_name()),
        )
        .unwrap();
    }
    let mut tried = 0;
    for entry in fs::read_dir(examples.join("cassettes"))
        .unwrap()
        .flat_map(|entry| fs::read_dir(entry.unwrap().path()).unwrap())
    {
        let recording = entry.unwrap().path().display().to_string();
        if recording.ends_with(".grades.json") {
            continue;
        }
        done(&mcptest(
            &folder,
            &["init", "--force", "--from-cassette", &recording],
        ));
        passes(&folder);
        tried += 1;
    }
    assert!(tried > 20, "only {tried}");
}
