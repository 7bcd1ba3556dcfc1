//! `mcptest report`, and where reports go.

use super::sorting::Sorting;
use crate::args::{Embedding, Reporters, Rerender, Traces};
use crate::output::{self, Failure};
use mcptest_core::escape::escape_path;
use mcptest_core::problem::did_you_mean;
use mcptest_core::report::{Embed, Report};
use mcptest_files::{self as files, Identity};
use mcptest_report::leaderboard::Column;
use mcptest_report::{Clean, Options, REPORTERS, Reporter};
use std::collections::{HashMap, HashSet};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

pub(super) fn run(args: &Rerender) -> Result<ExitCode, Failure> {
    let destinations = Destination::of(&args.reporters, args.embedding)?;
    Destination::refuse_inputs(&destinations, std::iter::once(args.file.clone()))?;
    let report = saved(&args.file)?;
    Destination::write_all(&destinations, &report, args.verbose, None)?;
    Ok(ExitCode::from(report.exit_code()))
}

/// A saved report without the secrets that are known here: a reporter that escapes a string hides it from the redaction
/// of what is written.
pub(super) fn saved(file: &Path) -> Result<Report, Failure> {
    let named = |error: &dyn std::fmt::Display| Failure(format!("{}: {error}", escape_path(file)));
    let text =
        files::read_named_text(file, files::RECORDING).map_err(|error| named(&files::reason(&error)))?;
    mcptest_report::json::read(&mcptest_run::clean(&text)).map_err(|error| named(&error))
}

/// What is done to text that a reporter packs.
const CLEAN: Option<Clean> = Some(mcptest_run::clean);

/// The reporter that stands for those that fit where the program runs.
pub(crate) const AUTO: &str = "auto";

/// What coding agents set in the environment of the commands that they run.
const OF_CODING_AGENTS: [&str; 5] = ["AI_AGENT", "CLAUDECODE", "CODEX_SANDBOX", "CURSOR_AGENT", "GEMINI_CLI"];

/// Where GitHub takes the summary of a step from.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// The reports that fit where the program runs: on GitHub annotations and the summary of the step, on GitLab the file
/// that it reads, the digest for a coding agent, and for a person what a person reads.
fn by_environment<R>(known: &'static [Reporter<R>]) -> Vec<Destination<R>> {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let summary = std::env::var_os(STEP_SUMMARY).filter(|path| !path.is_empty()).map(PathBuf::from);
    let wanted: Vec<(&str, Option<PathBuf>)> = if is_set("GITHUB_ACTIONS") {
        let summary = summary.map(|path| ("md", Some(path)));
        [("pretty", None), ("github", None)].into_iter().chain(summary).collect()
    } else if is_set("GITLAB_CI") {
        vec![("pretty", None), ("gitlab", Some(PathBuf::from("gl-code-quality-report.json")))]
    } else if OF_CODING_AGENTS.into_iter().any(is_set) {
        vec![("agent", None)]
    } else {
        vec![("pretty", None)]
    };
    let found = wanted.into_iter().filter_map(|(key, file)| {
        let reporter = known.iter().find(|reporter| reporter.key == key)?;
        Some(Destination::new(reporter, file))
    });
    found.collect()
}

/// What a file holds that a report is added to: the summary of a step belongs to all its commands.
fn before(file: &Path) -> String {
    let is_summary = std::env::var_os(STEP_SUMMARY).is_some_and(|path| Path::new(&path) == file);
    let text = if is_summary { files::read_named_text(file, files::TEXT).ok() } else { None };
    text.filter(|text| !text.is_empty()).map(|text| text + "\n").unwrap_or_default()
}

/// One report and where it is written.
pub(super) struct Destination<R: 'static> {
    reporter: &'static Reporter<R>,
    file: Option<PathBuf>,
    embed: Embed,
    sort: Option<&'static Column>,
}

impl Destination<Report> {
    /// What `--reporter` and `--embed` asked for.
    pub(super) fn of(reporters: &Reporters, embedding: Embedding) -> Result<Vec<Self>, Failure> {
        let mut destinations = Self::parse_all(&reporters.reporters, REPORTERS)?;
        Self::set_embed(&mut destinations, embedding)?;
        Self::set_sort(&mut destinations, embedding.sorting);
        Ok(destinations)
    }
}

impl<R> Destination<R> {
    fn new(reporter: &'static Reporter<R>, file: Option<PathBuf>) -> Self {
        Self { reporter, file, embed: reporter.embeds.unwrap_or_default(), sort: None }
    }

    /// Takes over what `--embed` asks, which is refused where no report can hold traces.
    fn set_embed(destinations: &mut [Self], asked: Embedding) -> Result<(), Failure> {
        let asked = asked.embed.map(|traces| match traces {
            Traces::None => Embed::None,
            Traces::Failed => Embed::Failed,
            Traces::All => Embed::All,
        });
        let mut holding: Vec<&mut Self> =
            destinations.iter_mut().filter(|one| one.reporter.embeds.is_some()).collect();
        if asked.is_some() && holding.is_empty() {
            let why = "`--embed` says whose traces a report holds, and none of these reports holds any";
            return Err(Failure(format!(
                "{why}\n  help: leave it out, or add `--reporter json=report.json`"
            )));
        }
        for one in &mut holding {
            one.embed = asked.unwrap_or(one.embed);
        }
        Ok(())
    }

    pub(super) fn set_sort(destinations: &mut [Self], asked: Sorting) {
        for one in destinations {
            one.sort = asked.sort;
        }
    }

    /// Whose traces the reports need; `None` when none of them shows what is behind the verdicts.
    pub(super) fn evidence(destinations: &[Self]) -> Option<Embed> {
        destinations.iter().filter(|one| one.reporter.embeds.is_some()).map(|one| one.embed).max()
    }

    /// What `--reporter` asked for; `pretty` on standard output when nothing goes there.
    pub(super) fn parse_all(written: &[String], known: &'static [Reporter<R>]) -> Result<Vec<Self>, Failure> {
        let mut destinations = Vec::new();
        for one in written {
            destinations.extend(match one.as_str() {
                AUTO => by_environment(known),
                one => vec![Self::parse(one, known)?],
            });
        }
        let to_stdout = |are_commands: bool| {
            let there = destinations.iter().filter(|one| one.file.is_none());
            there.filter(|one| one.reporter.is_commands == are_commands).count()
        };
        let (commands, to_stdout) = (to_stdout(true), to_stdout(false));
        if to_stdout > 1 || commands > 1 {
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
        if to_stdout + commands == 0 {
            destinations.push(Self::new(&known[0], None));
        }
        Ok(destinations)
    }

    fn parse(written: &str, reporters: &'static [Reporter<R>]) -> Result<Self, Failure> {
        let (key, file) = written.split_once('=').map_or((written, None), |(key, file)| (key, Some(file)));
        if key == AUTO {
            let help = "it chooses where each report goes; name a reporter to choose the file";
            return Err(Failure(format!("`{AUTO}` takes no file\n  help: {help}")));
        }
        let Some(reporter) = reporters.iter().find(|reporter| reporter.key == key) else {
            let known = reporters.iter().map(|reporter| reporter.key).chain([AUTO]);
            let help = did_you_mean(key, known.clone(), || {
                format!("the reporters are {}", known.collect::<Vec<_>>().join(", "))
            });
            return Err(Failure(format!("there is no reporter `{key}`\n  help: {help}")));
        };
        if file == Some("") {
            return Err(Failure(format!(
                "`{written}` names no file\n  help: write `{key}=report.{}`",
                reporter.extension
            )));
        }
        Ok(Self::new(reporter, file.map(PathBuf::from)))
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
        verbose: u8,
        elapsed: Option<Duration>,
    ) -> Result<(), Failure> {
        let mut failed = None;
        for destination in destinations {
            let Some(file) = &destination.file else { continue };
            let (embed, sort) = (destination.embed, destination.sort);
            let options = Options { verbose, clean: CLEAN, embed, sort, ..Options::default() };
            let bytes = (destination.reporter.render)(report, &options);
            let text = String::from_utf8_lossy(&bytes);
            if let Err(error) = mcptest_run::write(file, &(before(file) + &text)) {
                failed =
                    Some(Failure(format!("cannot write {}: {}", escape_path(file), files::reason(&error))));
            }
        }
        for destination in destinations.iter().filter(|one| one.file.is_none()) {
            let coloured = output::is_coloured(&std::io::stdout());
            // Only a terminal is told the time: the same recordings give the same bytes everywhere else.
            let elapsed = elapsed.filter(|_| std::io::stdout().is_terminal());
            let ascii = output::is_dumb();
            let (width, embed, sort) = (output::width(), destination.embed, destination.sort);
            let options =
                Options { colour: coloured, ascii, width, verbose, elapsed, clean: CLEAN, embed, sort };
            let bytes = (destination.reporter.render)(report, &options);
            let is_commands = destination.reporter.is_commands;
            let written = if is_commands { output::commands(&bytes) } else { output::stdout(&bytes) };
            if let Err(lost) = written {
                failed = Some(lost);
            }
        }
        failed.map_or(Ok(()), Err)
    }
}
