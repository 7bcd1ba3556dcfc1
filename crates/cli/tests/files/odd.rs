//! Does every kind of directory entry get a clear answer where a file is expected?

use super::*;

const REPORT: &str = "r.json";

/// Each file that commands read, with the command.
const READ: [(&str, &[&str]); 16] = [
    ("a.yml", &["run", "a.yml"]),
    ("a.yml", &["validate", "a.yml"]),
    ("a.yml", &["run", "."]),
    ("i.yml", &["run", "a.yml"]),
    ("m.yml", &["run", "t.yml"]),
    ("m.yml", &["mock", "--tools-from", "m.yml"]),
    ("t.json", &["run", "a.yml"]),
    ("t.json", &["show", "t.json"]),
    (
        "t.json",
        &["init", "--from-cassette", "t.json", "-o", "new.yml"],
    ),
    ("t.json", &["show", "--check-secrets", "t.json"]),
    ("t.json", &["import", "t.json"]),
    ("runs/1.json", &["run", "--traces", "runs", "g.yml"]),
    ("tape.jsonl", &["trace-from", "tape.jsonl"]),
    ("tape.jsonl", &["mock", "--from-cassette", "tape.jsonl"]),
    (
        "args.json",
        &["call", "search", "--args", "@args.json", "--", "true"],
    ),
    (REPORT, &["report", REPORT]),
];

/// Each file that commands write, with the command.
const WRITTEN: [(&str, &[&str]); 5] = [
    ("out", &["run", "a.yml", "--reporter", "json=out"]),
    ("out", &["trace-from", "tape.jsonl", "-o", "out", "--force"]),
    (
        "out",
        &["init", "--from-cassette", "t.json", "-o", "out", "--force"],
    ),
    ("out", &["proxy", "--out", "out", "--", "true"]),
    ("out", &["import", "chat.json", "-o", "out", "--force"]),
];

fn place() -> TempDir {
    let here = folder(&[
        ("a.yml", &format!("imports: [i.yml]\n{}", suite("t.json"))),
        ("i.yml", "servers:\n  s: { mock: m.yml }\n"),
        ("m.yml", "mock_server:\n  tools: [{ name: search }]\n"),
        (
            "t.yml",
            "servers:\n  s: { mock: m.yml }\ntools:\n  - { name: x, server: s, tool: search }\n",
        ),
        ("t.json", TRACE),
        ("runs/1.json", TRACE),
        ("g.yml", &suite("x").replace("    cassette: \"x\"\n", "")),
        (
            "tape.jsonl",
            "{\"format\":\"mcptest-tape\",\"version\":1,\"server\":{\"command\":[\"x\"]}}\n",
        ),
        (
            "chat.json",
            r#"{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}"#,
        ),
        ("args.json", "{}"),
    ]);
    assert_says(
        &mcptest(here.path(), &["run", "a.yml", "--reporter", "json=r.json"]),
        0,
        &[],
    );
    here
}

fn assert_refused(here: &Path, kind: &str, words: &[&str]) {
    let output = mcptest(here, words);
    let said = said(&output);
    assert_eq!(output.status.code(), Some(2), "{kind}: {words:?}\n{said}");
    assert!(!said.contains("panicked"), "{kind}: {words:?}\n{said}");
}

fn put(kind: &str, at: &Path) {
    let _none = fs::remove_file(at).or_else(|_| fs::remove_dir(at));
    match kind {
        "pipe" => pipe(at),
        "folder" => fs::create_dir(at).unwrap(),
        "loop" => link(at.to_str().unwrap(), at),
        "endless" => link("/dev/zero", at),
        "socket" => drop(std::os::unix::net::UnixListener::bind(at).unwrap()),
        // 5 TB on no disk at all.
        _ => fs::File::create(at).unwrap().set_len(5 << 40).unwrap(),
    }
}

#[test]
fn whatever_stands_where_a_file_is_read_is_refused() {
    for kind in ["pipe", "loop", "endless", "folder", "socket", "huge"] {
        for (file, words) in READ {
            // A folder of traces may be called what it likes, and a large recording is searched piece by piece.
            let is_fine = matches!(
                (kind, words),
                ("folder" | "huge", ["show", "--check-secrets", ..])
            ) || (kind, words[0]) == ("folder", "import");
            // In a folder, a folder is entered.
            let is_entered = kind == "folder" && (words == ["run", "."] || file == "runs/1.json");
            if is_fine || is_entered {
                continue;
            }
            let here = place();
            put(kind, &here.path().join(file));
            assert_refused(here.path(), kind, words);
        }
    }
}

#[test]
fn whatever_stands_where_a_file_is_written_is_refused_and_stays() {
    for kind in ["pipe", "loop", "endless", "folder", "socket"] {
        for (file, words) in WRITTEN {
            let here = place();
            let at = here.path().join(file);
            put(kind, &at);
            let before = fs::symlink_metadata(&at).unwrap().file_type();
            assert_refused(here.path(), kind, words);
            assert_eq!(
                fs::symlink_metadata(&at).unwrap().file_type(),
                before,
                "{kind}: {words:?}"
            );
        }
    }
}

#[test]
fn a_stream_without_an_end_is_read_up_to_a_bound() {
    let here = place();
    let args = ["call", "x", "--args", "@-", "--", "true"];
    for words in [
        &["import", "-"][..],
        &["report", "/dev/stdin"],
        &["run", "/dev/stdin"],
        &args,
    ] {
        let endless = Stdio::from(fs::File::open("/dev/zero").unwrap());
        let output = answer(here.path(), words, endless);
        assert_says(&output, 2, &[" MB; write it to a file, and name the file"]);
    }
}

#[test]
fn a_stream_that_the_shell_opened_is_read() {
    let here = place();
    let input = || Stdio::from(fs::File::open(here.path().join("chat.json")).unwrap());
    for words in [
        &["import", "-"],
        &["import", "/dev/stdin"],
        &["import", "/dev/fd/0"],
    ] {
        assert_says(
            &answer(here.path(), words, input()),
            0,
            &["mcptest-cassette"],
        );
    }
    let piped = format!(
        "cat a.yml | exec {} validate /dev/stdin",
        env!("CARGO_BIN_EXE_mcptest")
    );
    let output = Command::new("sh")
        .args(["-c", &piped])
        .current_dir(here.path())
        .output()
        .unwrap();
    assert!(
        said(&output).contains("/dev/i.yml"),
        "the suite was read: {}",
        said(&output)
    );
}

#[test]
fn a_manifest_that_becomes_a_pipe_is_told_of_and_the_old_one_served() {
    let here = place();
    // The last line of the script ends the mock: its standard input closes.
    let script = "{ sleep 1; rm m.yml; mkfifo m.yml; sleep 1; } | exec timeout 20 \"$0\" mock --tools-from m.yml";
    let output = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_mcptest")])
        .current_dir(here.path())
        .output()
        .unwrap();
    assert_says(
        &output,
        0,
        &["cannot read m.yml: it is a named pipe, not a file"],
    );
}
