//! `mcptest report`, and where reports go.

use crate::args::{Colour, Rerender};
use crate::output::{self, Failure};
use mcptest_core::problem::nearest;
use mcptest_core::report::Report;
use mcptest_files as files;
use mcptest_report::{Options, REPORTERS, Reporter};
use std::path::PathBuf;
use std::process::ExitCode;

pub(super) fn run(args: &Rerender, colour: Colour) -> Result<ExitCode, Failure> {
    let destinations = Destination::parse_all(&args.reporters.reporters)?;
    let named = |error: &dyn std::fmt::Display| Failure(format!("{}: {error}", args.file.display()));
    let text = files::read_named_text(&args.file, files::RECORDING)
        .map_err(|error| named(&files::reason(&error)))?;
    let report = mcptest_report::json::read(&text).map_err(|error| named(&error))?;
    Destination::write_all(&destinations, &report, colour, args.verbose)?;
    Ok(ExitCode::from(report.exit_code()))
}

/// One report and where it is written.
pub(super) struct Destination {
    reporter: &'static Reporter,
    file: Option<PathBuf>,
}

impl Destination {
    /// What `--reporter` asked for; `pretty` on standard output when nothing goes there.
    pub(super) fn parse_all(written: &[String]) -> Result<Vec<Self>, Failure> {
        let mut destinations = written.iter().map(|one| Self::parse(one)).collect::<Result<Vec<_>, _>>()?;
        let to_stdout = destinations.iter().filter(|one| one.file.is_none()).count();
        if to_stdout > 1 {
            return Err(Failure("two reporters cannot share standard output\n  help: give all but one a file: `--reporter junit=out.xml`".to_owned()));
        }
        if to_stdout == 0 {
            destinations.push(Self { reporter: &REPORTERS[0], file: None });
        }
        Ok(destinations)
    }

    fn parse(written: &str) -> Result<Self, Failure> {
        let (key, file) = written.split_once('=').map_or((written, None), |(key, file)| (key, Some(file)));
        let Some(reporter) = mcptest_report::find(key) else {
            let known = REPORTERS.iter().map(|reporter| reporter.key);
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

    /// Writes every report; files first, so that a closed pipe loses none.
    pub(super) fn write_all(
        destinations: &[Self],
        report: &Report,
        colour: Colour,
        verbose: bool,
    ) -> Result<(), Failure> {
        let mut failed = None;
        for destination in destinations {
            let Some(file) = &destination.file else { continue };
            let bytes =
                (destination.reporter.render)(report, &Options { colour: false, width: None, verbose });
            if let Err(error) = files::write(file, &bytes) {
                failed = Some(Failure(format!("cannot write {}: {}", file.display(), files::reason(&error))));
            }
        }
        for destination in destinations.iter().filter(|one| one.file.is_none()) {
            let coloured = output::is_coloured(colour, &std::io::stdout());
            let options = Options { colour: coloured, width: output::width(), verbose };
            if let Err(lost) = output::stdout(&(destination.reporter.render)(report, &options)) {
                failed = Some(lost);
            }
        }
        failed.map_or(Ok(()), Err)
    }
}
