//! `mcptest report`, and where reports go.

use crate::args::{Colour, Rerender};
use crate::output::{self, Failure};
use mcptest_core::escape::escape_path;
use mcptest_core::problem::nearest;
use mcptest_files::{self as files, Identity};
use mcptest_report::{Options, REPORTERS, Reporter};
use std::collections::{HashMap, HashSet};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

pub(super) fn run(args: &Rerender, colour: Colour) -> Result<ExitCode, Failure> {
    let destinations = Destination::parse_all(&args.reporters.reporters, REPORTERS)?;
    let named = |error: &dyn std::fmt::Display| Failure(format!("{}: {error}", escape_path(&args.file)));
    Destination::refuse_inputs(&destinations, std::iter::once(args.file.clone()))?;
    let text = files::read_named_text(&args.file, files::RECORDING)
        .map_err(|error| named(&files::reason(&error)))?;
    let report = mcptest_report::json::read(&text).map_err(|error| named(&error))?;
    Destination::write_all(&destinations, &report, colour, args.verbose, None)?;
    Ok(ExitCode::from(report.exit_code()))
}

/// One report and where it is written.
pub(super) struct Destination<R: 'static> {
    reporter: &'static Reporter<R>,
    file: Option<PathBuf>,
}

impl<R> Destination<R> {
    /// What `--reporter` asked for; `pretty` on standard output when nothing goes there.
    pub(super) fn parse_all(written: &[String], known: &'static [Reporter<R>]) -> Result<Vec<Self>, Failure> {
        let mut destinations =
            written.iter().map(|one| Self::parse(one, known)).collect::<Result<Vec<_>, _>>()?;
        let to_stdout = destinations.iter().filter(|one| one.file.is_none()).count();
        if to_stdout > 1 {
            return Err(Failure("two reporters cannot share standard output\n  help: give all but one a file: `--reporter junit=out.xml`".to_owned()));
        }
        let mut taken = HashSet::new();
        for file in destinations.iter().filter_map(|one| one.file.as_deref()) {
            if files::identity(file).is_some_and(|one| !taken.insert(one)) {
                let file = file.display();
                return Err(Failure(format!(
                    "two reporters cannot share the file {file}\n  help: give each a file of its own"
                )));
            }
        }
        if to_stdout == 0 {
            destinations.push(Self { reporter: &known[0], file: None });
        }
        Ok(destinations)
    }

    fn parse(written: &str, reporters: &'static [Reporter<R>]) -> Result<Self, Failure> {
        let (key, file) = written.split_once('=').map_or((written, None), |(key, file)| (key, Some(file)));
        let Some(reporter) = reporters.iter().find(|reporter| reporter.key == key) else {
            let known = reporters.iter().map(|reporter| reporter.key);
            let help = match nearest(key, known.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the reporters are {}", known.collect::<Vec<_>>().join(", ")),
            };
            return Err(Failure(format!("there is no reporter `{key}`\n  help: {help}")));
        };
        if file == Some("") {
            return Err(Failure(format!(
                "`{written}` names no file\n  help: write `{key}=report.{}`",
                reporter.extension
            )));
        }
        Ok(Self { reporter, file: file.map(PathBuf::from) })
    }

    /// Refuses to write a report over what it is made from.
    pub(super) fn refuse_inputs(
        destinations: &[Self],
        inputs: impl Iterator<Item = PathBuf>,
    ) -> Result<(), Failure> {
        let written: HashMap<Identity, &Path> = destinations
            .iter()
            .filter_map(|one| one.file.as_deref())
            .filter_map(|file| Some((files::identity(file)?, file)))
            .collect();
        if written.is_empty() {
            return Ok(());
        }
        for input in inputs {
            let Some(file) = files::identity(&input).and_then(|one| written.get(&one)) else { continue };
            let also = if *file == input { String::new() } else { format!(", which is {}", input.display()) };
            let file = file.display();
            return Err(Failure(format!(
                "a report cannot be written to {file}{also}: it is read for this report\n  help: name another file"
            )));
        }
        // Also one that no suite of this invocation names, or one of a suite that is refused.
        let mut written = destinations.iter().filter_map(|one| one.file.as_deref());
        if let Some(file) = written.find(|file| mcptest_run::cassette::is_recording(file)) {
            let file = escape_path(file);
            return Err(Failure(format!(
                "a report cannot be written to {file}: it holds a recording\n  help: name another file"
            )));
        }
        Ok(())
    }

    /// Writes every report; files first, so that a closed pipe loses none.
    pub(super) fn write_all(
        destinations: &[Self],
        report: &R,
        colour: Colour,
        verbose: u8,
        elapsed: Option<Duration>,
    ) -> Result<(), Failure> {
        let mut failed = None;
        for destination in destinations {
            let Some(file) = &destination.file else { continue };
            let bytes = (destination.reporter.render)(report, &Options { verbose, ..Options::default() });
            if let Err(error) = mcptest_run::write(file, &String::from_utf8_lossy(&bytes)) {
                failed =
                    Some(Failure(format!("cannot write {}: {}", escape_path(file), files::reason(&error))));
            }
        }
        for destination in destinations.iter().filter(|one| one.file.is_none()) {
            let coloured = output::is_coloured(colour, &std::io::stdout());
            // Only a terminal is told the time: the same recordings give the same bytes everywhere else.
            let elapsed = elapsed.filter(|_| std::io::stdout().is_terminal());
            let ascii = output::is_dumb();
            let options = Options { colour: coloured, ascii, width: output::width(), verbose, elapsed };
            if let Err(lost) = output::stdout(&(destination.reporter.render)(report, &options)) {
                failed = Some(lost);
            }
        }
        failed.map_or(Ok(()), Err)
    }
}
