//! Does the book contain every page and every command, and does it show what the program prints?

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod command_page;
mod readme;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn mcptest(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcptest"));
    let output = command.env_clear().args(arguments).output().unwrap();
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// The pages below a folder, by their paths in the book.
fn pages(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let of_entry = |path: PathBuf| {
        if path.is_dir() {
            return pages(&path);
        }
        let is_page = path.extension().is_some_and(|extension| extension == "md");
        let shown = path
            .strip_prefix(docs())
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        is_page.then_some(shown).into_iter().collect()
    };
    entries.flat_map(of_entry).collect()
}

#[test]
fn the_book_lists_every_page_once() {
    let summary = fs::read_to_string(docs().join("SUMMARY.md")).unwrap();
    let linked = summary
        .lines()
        .filter_map(|line| Some(line.split_once("](")?.1.strip_suffix(')')?.to_owned()));
    let linked: Vec<String> = linked.collect();
    let once: BTreeSet<String> = linked.iter().cloned().collect();
    assert_eq!(once.len(), linked.len(), "a page is listed twice");
    let mut there = pages(&docs());
    there.remove("SUMMARY.md");
    assert_eq!(once, there);
}

#[test]
fn the_page_of_commands_is_written_from_their_options() {
    let page = command_page::page();
    let file = docs().join("reference/cli.md");
    if std::env::var_os("MCPTEST_UPDATE_CASES").is_some() {
        fs::write(&file, &page).unwrap();
    }
    let written = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        written == page,
        "docs/reference/cli.md is out of date: MCPTEST_UPDATE_CASES=1 cargo test --workspace --test book"
    );
}

#[test]
fn explain_prints_every_page_of_the_book() {
    // `--help` is the page of commands, and lists are made for the terminal.
    let list = mcptest(&["explain"]);
    for page in pages(&docs())
        .into_iter()
        .filter(|page| page != "SUMMARY.md")
    {
        let name = page.strip_suffix(".md").unwrap();
        if matches!(
            name,
            "reference/README" | "reference/matchers" | "reference/cli"
        ) {
            continue;
        }
        let gates = list.split("\nThe other pages").next().unwrap();
        let of_gate = name
            .strip_prefix("reference/")
            .filter(|key| gates.contains(&format!("\n  {key} ")));
        let name = of_gate.unwrap_or(name);
        let text = for_a_terminal(&fs::read_to_string(docs().join(&page)).unwrap());
        assert!(mcptest(&["explain", name]) == text, "{name}");
        assert!(
            list.contains(name),
            "`mcptest explain` does not list {name}"
        );
    }
}

/// A page without anchors and pictures, which a terminal does not need.
fn for_a_terminal(page: &str) -> String {
    let mut parts = page.split("<a id=\"");
    let first = parts.next().unwrap_or_default().to_owned();
    let page = parts.fold(first, |text, part| {
        text + part.split_once("\"></a>").unwrap().1
    });
    page.split_inclusive("\n\n")
        .filter(|paragraph| !paragraph.starts_with("!["))
        .collect()
}

#[test]
fn every_gate_has_a_picture_that_its_page_describes() {
    for gate in mcptest::GATES {
        let file = format!("pictures/gate-{}.png", gate.key);
        let size = fs::metadata(docs().join(&file)).map_or(0, |file| file.len());
        assert!(
            (1..=60_000).contains(&size),
            "docs/{file}, {size} bytes: run `node viewer/pictures.mjs {}`",
            gate.key
        );
        let (before, _) = gate
            .doc
            .split_once(&format!("](../{file})"))
            .unwrap_or_default();
        let (_, described) = before.rsplit_once("![").unwrap_or_default();
        assert!(
            described.len() > 40,
            "the page of {} does not say what docs/{file} shows",
            gate.key
        );
    }
}

/// A fenced block of a page.
struct Block<'p> {
    language: &'p str,
    text: &'p str,
    /// The line of prose before it.
    before: &'p str,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let parts: Vec<&str> = page.split("```").collect();
    let fenced = parts.chunks_exact(2).map(|pair| {
        let (language, text) = pair[1].split_once('\n').unwrap();
        Block {
            language,
            text,
            before: pair[0].trim_end().lines().last().unwrap_or_default(),
        }
    });
    fenced.collect()
}

/// The file that a sentence such as "Write `night/a.json`, a conversation:" names.
fn file_named(sentence: &str) -> Option<&str> {
    sentence.rsplit_once("Write `")?.1.split('`').next()
}

/// The commands of a session, each followed by what it prints.
fn session(folder: &Path, text: &str) -> String {
    let programs = Path::new(env!("CARGO_BIN_EXE_mcptest")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut said = String::new();
    for line in text.lines().filter(|line| line.starts_with("$ ")) {
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("exec 2>&1; {}", &line[2..])])
            .current_dir(folder);
        let home = tempfile::tempdir().unwrap();
        command
            .env_clear()
            .env("PATH", &path)
            .env("HOME", home.path());
        let output = command.output().unwrap();
        let output = String::from_utf8(output.stdout).unwrap();
        said.push_str(&format!(
            "{line}\n{}",
            output.lines().map(untimed).collect::<String>()
        ));
    }
    said
}

/// The line with the duration of its call replaced by 0: `called: charge (0 ms)`.
fn untimed(line: &str) -> String {
    match line
        .strip_suffix(" ms)")
        .and_then(|line| line.rsplit_once('('))
    {
        Some((before, _)) => format!("{before}(0 ms)\n"),
        None => format!("{line}\n"),
    }
}

#[test]
fn the_sessions_of_the_tutorials_are_what_the_program_says() {
    for page in pages(&docs().join("tutorials")) {
        let file = docs().join(&page);
        let text = fs::read_to_string(&file).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (mut now, mut sessions) = (text.clone(), 0);
        for block in blocks(&text) {
            if let Some(name) = file_named(block.before) {
                let path = folder.path().join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, block.text).unwrap();
            } else if block.language == "console" {
                sessions += 1;
                now = now.replacen(block.text, &session(folder.path(), block.text), 1);
            }
        }
        assert!(sessions > 1, "{page} has {sessions} sessions");
        if std::env::var_os("MCPTEST_UPDATE_CASES").is_some() {
            fs::write(&file, &now).unwrap();
            continue;
        }
        let place = text.lines().zip(now.lines()).position(|(a, b)| a != b);
        assert!(
            text == now,
            "{page}: line {place:?} is not what the program says"
        );
    }
}

#[test]
fn the_session_of_the_readme_is_what_the_program_says() {
    let repository = docs().join("..");
    let readme = fs::read_to_string(repository.join("README.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let copied = Command::new("cp")
        .arg("-r")
        .args([repository.join("demo"), folder.path().join("demo")])
        .status();
    assert!(copied.unwrap().success());
    let blocks = blocks(&readme);
    let shown = blocks.iter().find(|block| block.language == "console");
    let shown = shown.unwrap().text;
    assert_eq!(shown, session(folder.path(), shown));

    let suite = fs::read_to_string(repository.join("demo/red/red.yml")).unwrap();
    for line in blocks[0].text.lines() {
        assert!(
            suite.contains(line),
            "demo/red/red.yml has no line `{line}`"
        );
    }
}
