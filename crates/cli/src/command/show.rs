//! `mcptest show`: a cassette as a timeline.

use crate::args::Show;
use crate::output::{self, Failure};
use mcptest_run::cassette::{Options, Recording, timeline};
use std::process::ExitCode;

pub(super) fn run(args: &Show) -> Result<ExitCode, Failure> {
    let recording = Recording::open(&args.file)?;
    let cassette = recording.cassette()?;
    if let Some(wanted) = args.run.filter(|&wanted| cassette.runs.iter().all(|run| run.number != wanted)) {
        return Err(Failure(format!(
            "{} has no run {wanted}; it has {}",
            args.file.display(),
            cassette.runs.len()
        )));
    }
    output::stdout(timeline(&cassette, Options { run: args.run, full: args.full }).as_bytes())?;
    let is_broken = cassette.runs.iter().any(|run| run.trace.is_err());
    Ok(ExitCode::from(if is_broken { output::EXIT_BROKEN } else { 0 }))
}
