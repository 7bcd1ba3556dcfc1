//! The repository's own chores.

mod baseline_power;
mod bench;
mod calibrate;
mod commit_message;
mod compare_power;
mod conformance;
mod dependencies;
mod fuzz;
mod gate_power;
mod generate;
mod leaderboard;
mod picture;
mod pin;
mod rust_file;
mod simulation;
mod tidy;
mod vectors;
mod yaml_reference;

use std::io::Write;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask COMMAND
  baseline-power [--write]
                   simulate pairs of baselines and say how often a drift is found, or write it into the page
  bench [wire | record [RUNS] [--debug]] [--against PROGRAM]
                   measure speed and memory of the release build, as ratios and growth
  calibrate PATH...
                   measure on runs with known outcomes how often the gates are wrong
  commit-message FILE
                   refuse a commit whose subject does not begin with an imperative; the hook commit-msg calls it
  compare-power [--write]
                   simulate pairs of reports and say how often a drop is found, or write it into the page
  conformance [--write]
                   run the official suite on the mock server and the client, or write docs/conformance.md
  dependencies     check that crates use only crates below them, and that hosts need no command line, runtime or TLS
  fuzz [--seconds N] [TARGET...]
                   a minute of fuzzing for each target, from fuzz/corpus (needs cargo-fuzz)
  gate-power [--write]
                   edit the runs of the examples and say which gates do not see it, or write docs/gate-power.md
  generate [--check]
                   write the reference pages and schemas under docs/, or say what is out of date
  leaderboard DIR  compute a published leaderboard from its runs, and say how many figures agree
  picture          draw what a terminal shows of `mcptest run demo/red/` (needs tmux)
  pin PATH...      rewrite the headers of the suites' cassettes and keep their runs
  tidy             check what no compiler checks
  vectors [FILE]   evaluate golden vectors through the library";

/// Prints a line. A closed pipe is not an error.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match arguments.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("", arguments.as_slice()),
    };
    let outcome = match command {
        "baseline-power" => baseline_power::run(rest),
        "bench" => bench::run(rest),
        "calibrate" => calibrate::run(rest),
        "commit-message" => commit_message::run(rest),
        "compare-power" => compare_power::run(rest),
        "conformance" => conformance::run(rest),
        "dependencies" => dependencies::run(),
        "fuzz" => fuzz::run(rest),
        "gate-power" => gate_power::run(rest),
        "generate" => generate::run(rest),
        "leaderboard" => leaderboard::run(rest),
        "picture" => picture::run(),
        "pin" => pin::run(rest),
        "tidy" => tidy::run(),
        "vectors" => vectors::run(rest),
        _ => Err(USAGE.to_owned()),
    };
    outcome.unwrap_or_else(|message| {
        let _ = writeln!(std::io::stderr(), "{message}");
        ExitCode::from(2)
    })
}
