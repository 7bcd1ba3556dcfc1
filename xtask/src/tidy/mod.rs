//! `tidy`: rules for every file of the repository that no compiler checks.

mod architecture;
mod examples;
mod words;

use crate::rust_file::File;
use crate::say;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};
use words::RetiredWords;

/// The files from which bytes may leave the product: the writer that redacts and escapes, the
/// recorders, which redact by their suite, and the code that passes on traffic, or writes out a
/// revision, verbatim.
const EXITS: [&str; 14] = [
    "crates/command/src/output.rs",
    "crates/replay/src/redaction.rs",
    "crates/replay/src/cassette/write.rs",
    "crates/replay/src/revision.rs",
    "crates/replay/src/cassette/lock.rs",
    "crates/mcp/src/tape/write.rs",
    "crates/mcp/src/proxy/record.rs",
    "crates/mcp/src/proxy/http/interposed.rs",
    "crates/agent/src/own/proxies.rs",
    "crates/toolbox/src/command/bridge.rs",
    "crates/cli/src/command/mcp/mod.rs",
    "crates/toolbox/src/command/mock.rs",
    "crates/toolbox/src/command/proxy.rs",
    "crates/command/src/progress/mod.rs",
];
/// The calls that let bytes out.
const DOORS: [&str; 7] = [
    "io::stdout()",
    "io::stderr()",
    "files::write(",
    "fs::write(",
    "File::create(",
    "OpenOptions::new()",
    "tempfile_in(",
];
/// The crate that writes files, and tools that are not shipped.
const NOT_EXITS: [&str; 4] = [
    "crates/files/",
    "crates/provider-stub/",
    "crates/fuzz/",
    "xtask/",
];

pub(crate) fn run() -> Result<ExitCode, String> {
    let listed = Command::new("git")
        .args(["ls-files"])
        .output()
        .map_err(|error| format!("git: {error}"))?;
    let files = String::from_utf8_lossy(&listed.stdout);
    let words = RetiredWords::new()?;
    let mut complaints = Vec::new();
    let mut exporting: BTreeMap<&str, String> = BTreeMap::new();
    for path in files.lines().filter(|path| Path::new(path).is_file()) {
        let Ok(text) = std::fs::read_to_string(path) else {
            continue;
        };
        complaints.extend(complaints_about(path, &text));
        complaints.extend(words.complaints_about_file(path, &text));
        if path.starts_with(examples::FOLDER) {
            exporting.insert(path, text);
        }
    }
    if let Some(exports) = exporting.get(examples::EXPORTS) {
        complaints.extend(examples::complaints_about(exports, &exporting));
    }
    for complaint in &complaints {
        say(complaint);
    }
    say(&format!(
        "{} files, {} complaints",
        files.lines().count(),
        complaints.len()
    ));
    Ok(ExitCode::from(u8::from(!complaints.is_empty())))
}

fn complaints_about(path: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if path == architecture::PAGE {
        complaints.extend(architecture::complaints_about(text, Path::new(".")));
    }
    let is_rust = Path::new(path)
        .extension()
        .is_some_and(|extension| extension == "rs");
    if is_rust && !text.starts_with("//!") {
        complaints.push(format!(
            "{path}: opens without a `//!` line that says which question it answers"
        ));
    }
    let is_test = path.contains("/tests/") || path.ends_with("tests.rs");
    if is_rust && !is_test {
        match File::read(text) {
            Ok(file) => {
                complaints.extend(opened_elsewhere(path, text, &file));
                if path.contains("/src/") {
                    complaints.extend(doors_in(path, text, &file));
                }
            }
            Err(error) => complaints.push(format!("{path}: {error}")),
        }
    }
    if path.ends_with("clippy.toml") {
        let limit = "too-many-arguments-threshold = 5";
        if !text.contains(limit) {
            complaints.push(format!("{path}: lacks `{limit}`, which the root file has"));
        }
    }
    // Spelled in pieces, so that this file does not complain about itself.
    let marks = [
        concat!("FIX", "ME"),
        concat!("TO", "DO"),
        concat!("coming ", "soon"),
    ];
    for (number, line) in text.lines().enumerate() {
        if marks.iter().any(|mark| line.contains(mark)) {
            complaints.push(format!("{path}:{}: an unfinished mark", number + 1));
        }
        if [concat!("/wo", "rk/"), concat!("/ro", "ot/")]
            .iter()
            .any(|prefix| line.contains(prefix))
        {
            complaints.push(format!("{path}:{}: a path of some machine", number + 1));
        }
    }
    complaints
}

/// Product code that opens a file itself: a named pipe would block it, and a device would fill the
/// memory.
fn opened_elsewhere(path: &str, text: &str, file: &File) -> Vec<String> {
    // What the system says of processes and sockets, which is no file of the user's.
    const OF_THE_SYSTEM: [&str; 3] = [
        "crates/http/src/listen.rs",
        "crates/process/src/orphans.rs",
        "crates/process/src/stray.rs",
    ];
    // What packs the pages of the book reads files of the repository while it is built.
    const TOOLS: [&str; 4] = [
        "crates/cli/build.rs",
        "crates/files/",
        "crates/fuzz/",
        "crates/provider-stub/",
    ];
    const WAYS: [&str; 6] = [
        "fs::read(",
        "fs::read_to_string(",
        "fs::write(",
        "File::open(",
        "File::create(",
        ".read(true)",
    ];
    let is_product =
        path.starts_with("crates/") && !TOOLS.iter().any(|tool| path.starts_with(tool));
    if !is_product || OF_THE_SYSTEM.contains(&path) {
        return Vec::new();
    }
    let lines = text
        .lines()
        .zip(1..)
        .filter(|(_, number)| file.is_code(*number));
    let found = lines.filter(|(line, _)| WAYS.iter().any(|way| line.contains(way)));
    found
        .map(|(_, number)| format!("{path}:{number}: opens a file; ask `mcptest_files` to"))
        .collect()
}

/// The places that let bytes out without the exits. Asking whether a stream is a terminal does not
/// count.
fn doors_in(path: &str, text: &str, file: &File) -> Vec<String> {
    if EXITS.contains(&path) || NOT_EXITS.iter().any(|tool| path.starts_with(tool)) {
        return Vec::new();
    }
    let lines = text
        .lines()
        .zip(1..)
        .filter(|(_, number)| file.is_code(*number));
    let asks = ["is_coloured(", "is_terminal(", "shown("];
    let is_question = |line: &str| asks.iter().any(|ask| line.contains(ask));
    lines
        .filter(|(line, _)| !is_question(line) && DOORS.iter().any(|door| line.contains(door)))
        .map(|(_, number)| {
            let to = "`output::stdout`, `output::stderr` or `mcptest_replay::write`";
            format!("{path}:{number}: bytes leave here, and nothing redacts them; use {to}")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::complaints_about;

    #[test]
    fn a_way_around_the_exits_is_complained_about() {
        let text = "//! A?\nfn f() { mcptest_files::write(\"a\", \"b\"); }\n";
        assert_eq!(complaints_about("crates/replay/src/new.rs", text).len(), 1);
        assert!(complaints_about("crates/replay/src/redaction.rs", text).is_empty());
        assert!(complaints_about("crates/replay/tests/new.rs", text).is_empty());
        let tests_first = format!("//! A?\n#[cfg(test)]\nmod tests;\n{}", &text[6..]);
        assert_eq!(
            complaints_about("crates/replay/src/new.rs", &tests_first).len(),
            1
        );
    }

    #[test]
    fn the_lints_of_a_crate_keep_the_limits_of_the_root() {
        let text = "too-many-arguments-threshold = 9\n";
        assert_eq!(complaints_about("crates/new/clippy.toml", text).len(), 1);
    }

    #[test]
    fn a_file_without_its_question_and_with_a_mark_is_complained_about() {
        let text = format!("fn f() {{}}\n// {}: later\n", concat!("TO", "DO"));
        assert_eq!(complaints_about("a.rs", &text).len(), 2);
        assert!(complaints_about("a.rs", "//! What is a?\nfn f() {}\n").is_empty());
    }

    #[test]
    fn product_code_opens_files_in_one_place_and_tests_where_they_like() {
        let text = "//! A?\nfn f() { std::fs::read(p); }\n#[cfg(test)]\nmod tests { fn g() { std::fs::read(p); } }\n";
        assert_eq!(complaints_about("crates/cli/src/a.rs", text).len(), 1);
        for allowed in [
            "crates/files/src/a.rs",
            "xtask/src/a.rs",
            "crates/cli/tests/a.rs",
        ] {
            assert!(complaints_about(allowed, text).is_empty(), "{allowed}");
        }
    }
}
