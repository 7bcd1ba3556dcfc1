//! The repository's own chores.

mod vectors;

use std::io::Write;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask COMMAND
  vectors [FILE]   evaluate golden vectors through the library";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match arguments.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("", arguments.as_slice()),
    };
    let outcome = match command {
        "vectors" => vectors::run(rest),
        _ => Err(USAGE.to_owned()),
    };
    outcome.unwrap_or_else(|message| {
        let _ = writeln!(std::io::stderr(), "{message}");
        ExitCode::from(2)
    })
}
