//! Does the program print what each `case.txt` in `tests/cases` expects?
//!
//! `cargo test --test cases NAME` runs the cases whose name contains NAME. `MCPTEST_UPDATE_CASES=1`
//! replaces the expectations: read the diff before you keep it.

#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

mod case;

use case::{Case, without_waiting};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn main() -> ExitCode {
    let filters: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let is_listing = std::env::args().any(|word| word == "--list");
    let cases: Vec<Case> = case::all()
        .into_iter()
        .filter(|case| {
            filters.is_empty()
                || filters
                    .iter()
                    .any(|filter| case.name.contains(filter.as_str()))
        })
        .collect();
    if is_listing {
        for case in &cases {
            println!("{}: test", case.name);
        }
        return ExitCode::SUCCESS;
    }
    let updates = std::env::var_os("MCPTEST_UPDATE_CASES").is_some();
    let faults = run_all(&cases, updates);
    let mut failed = 0;
    for (case, fault) in cases.iter().zip(&faults) {
        match fault {
            None => println!("case {} ... ok", case.name),
            Some(fault) => {
                failed += 1;
                println!("case {} ... FAILED\n{fault}", case.name);
            }
        }
    }
    println!(
        "\n{} cases: {} passed, {failed} failed",
        cases.len(),
        cases.len() - failed
    );
    ExitCode::from(u8::from(failed > 0))
}

/// The failures of the cases, in order.
fn run_all(cases: &[Case], updates: bool) -> Vec<Option<String>> {
    let next = AtomicUsize::new(0);
    let faults: Vec<Mutex<Option<String>>> = cases.iter().map(|_| Mutex::default()).collect();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let at = cases
                        .iter()
                        .position(|other| other.name == case.name)
                        .unwrap();
                    *faults[at].lock().unwrap() = check(case, updates);
                }
            });
        }
    });
    faults
        .into_iter()
        .map(|fault| fault.into_inner().unwrap())
        .collect()
}

fn check(case: &Case, updates: bool) -> Option<String> {
    let folder = case.set_up();
    let outcome = case.run(folder.path());
    if updates && !outcome.has_crashed {
        case.update(&outcome);
    }
    let mut faults = difference(&case.expected(), &outcome.text);
    faults.push_str(&refusals(case, folder.path()));
    if faults.is_empty() {
        return None;
    }
    faults.push_str(&format!(
        "  update it: MCPTEST_UPDATE_CASES=1 cargo test --test cases {}\n",
        case.name
    ));
    Some(faults)
}

/// `validate` refuses exactly the suites that `run` refuses, in the same words.
fn refusals(case: &Case, folder: &std::path::Path) -> String {
    let mut faults = String::new();
    for suite in suites(folder) {
        let output = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let mut output = case.command(&words, folder).output().unwrap();
            output.stderr = without_waiting(&output.stderr);
            output
        };
        let validated = output(&["validate", &suite]);
        let run = output(&["run", &suite, "--reporter", "json"]);
        let is_refused = text(&run.stdout).contains("\"the suite is refused for ");
        let nothing_selected =
            run.status.code() == Some(7) && run.stderr.starts_with(&validated.stderr);
        let says_the_same = validated.stderr == run.stderr || nothing_selected;
        if (validated.status.code() == Some(2)) != is_refused || !says_the_same {
            faults.push_str(&format!(
                "  `validate` and `run` do not agree about {suite}\n"
            ));
            faults.push_str(&difference(&validated.stderr, &run.stderr));
        }
    }
    faults
}

fn suites(folder: &std::path::Path) -> Vec<String> {
    let is_yaml = |path: &std::path::PathBuf| {
        path.extension()
            .is_some_and(|it| it == "yml" || it == "yaml")
    };
    let paths = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(is_yaml);
    paths
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The differing lines of two texts, with some context.
fn difference(expected: &[u8], actual: &[u8]) -> String {
    if expected == actual {
        return String::new();
    }
    let (expected, actual) = (text(expected), text(actual));
    let diff = similar::TextDiff::from_lines(&expected, &actual);
    let shown = diff.unified_diff().header("expected", "actual").to_string();
    if shown.is_empty() {
        return "  the bytes differ in what is not text\n".to_owned();
    }
    // A line may be a file of 100 MB.
    let line = |line: &str| format!("    {}\n", line.chars().take(300).collect::<String>());
    shown.lines().map(line).collect()
}
