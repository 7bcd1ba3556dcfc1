//! `mcptest show`: a cassette, the recording of a tool test or a tape as a timeline.

use clap::Args;
use mcptest_command::{EXIT_BROKEN, Failure, Group, Program, RunCommand, output, tape};
use mcptest_core::escape::escape_path;
use mcptest_mcp::tape::{ShowOptions, Tape, timeline as timeline_of};
use mcptest_replay::FindError;
use mcptest_replay::cassette::{Options, Recording, timeline};
use mcptest_replay::tool_test::{is_tool_test, timeline as tool_test_timeline};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::Path;
use std::path::PathBuf;

/// Arguments of `show`.
#[derive(Debug, Args)]
#[command(
    override_usage = "mcptest show [--run N] [--full] FILE\n       mcptest show --check-secrets [--config SUITE] PATH..."
)]
pub(crate) struct Show {
    /// A cassette, trace, recorded tool test, tape or transcript.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Show only this run, or this session of a tape.
    #[arg(long, value_name = "N")]
    run: Option<usize>,
    /// Do not shorten long texts.
    #[arg(long)]
    full: bool,
    /// Search files and folders of recordings for secrets; exit with 1 if there are any.
    #[arg(long, conflicts_with_all = ["run", "full"])]
    check_secrets: bool,
    /// Also search for the values of variables that this suite uses and for its `redact:` patterns.
    #[arg(long, value_name = "SUITE", requires = "check_secrets")]
    config: Option<PathBuf>,
}

impl RunCommand for Show {
    const NAME: &'static str = "show";
    const GROUP: Group = Group::Record;
    const SUMMARY: &'static str = "Show a recording or a transcript as a timeline";
    const EXAMPLE: &'static str = "mcptest show examples/cassettes/worlds/clerk.jsonl";

    fn run(self, program: &Program) -> Result<u8, Failure> {
        if self.check_secrets {
            return super::check_secrets::run(&self.files, self.config.as_deref(), program.gates);
        }
        let [file] = &self.files[..] else {
            return Err(Failure::new(
                "`show` takes one file; `--check-secrets` takes several",
            ));
        };
        if !file.exists() {
            return Err(Failure::new(FindError::Missing(file.clone()).to_string()));
        }
        if let Some(tape) = tape::opened(file)? {
            return show_tape(&self, file, &tape);
        }
        let recording = Recording::open(file)?;
        if is_tool_test(&recording) {
            show_tool_test(&self, file, &recording)
        } else {
            show_cassette(&self, file, &recording)
        }
    }
}

fn show_tool_test(args: &Show, file: &Path, recording: &Recording) -> Result<u8, Failure> {
    if let Some(wanted) = args.run.filter(|&wanted| wanted != 1) {
        return Err(has_no(file, "run", wanted, 1));
    }
    let coloured = output::is_coloured(&std::io::stdout());
    output::page(&tool_test_timeline(recording, args.full, coloured)?)?;
    Ok(0)
}

fn show_cassette(args: &Show, file: &Path, recording: &Recording) -> Result<u8, Failure> {
    if let Some(fidelity) = recording.fidelity() {
        output::stderr(&format!("note: imported from {fidelity}\n"));
    }
    let cassette = recording.cassette()?;
    let has_run = |wanted| cassette.runs.iter().any(|run| run.number == wanted);
    if let Some(wanted) = args.run.filter(|&wanted| !has_run(wanted)) {
        return Err(has_no(file, "run", wanted, cassette.whole_runs()));
    }
    let options = Options {
        run: args.run,
        full: args.full,
        colour: output::is_coloured(&std::io::stdout()),
    };
    output::page(&timeline(&cassette, options))?;
    let is_broken = cassette.runs.iter().any(|run| run.trace.is_err());
    Ok(if is_broken { EXIT_BROKEN } else { 0 })
}

fn show_tape(args: &Show, file: &Path, tape: &Tape) -> Result<u8, Failure> {
    let sessions: BTreeSet<u64> = tape
        .entries
        .iter()
        .filter_map(|entry| entry.session)
        .collect();
    // On stdio the whole tape is the one run.
    let session = args
        .run
        .map(|number| number as u64)
        .filter(|&wanted| wanted != 1 || !sessions.is_empty());
    if let Some(wanted) = session.filter(|wanted| !sessions.contains(wanted)) {
        return Err(has_no(file, "session", wanted, sessions.len().max(1)));
    }
    output::page(&timeline_of(
        tape,
        ShowOptions {
            session,
            full: args.full,
            colour: output::is_coloured(&std::io::stdout()),
        },
    ))?;
    Ok(0)
}

fn has_no(file: &Path, what: &str, wanted: impl Display, has: usize) -> Failure {
    Failure::new(format!(
        "{} has no {what} {wanted}; it has {has}",
        escape_path(file)
    ))
}
