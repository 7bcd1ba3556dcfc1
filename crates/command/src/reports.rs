//! Which reports does a command write, and where do they go?

use crate::failure::Failure;
use crate::output;
use crate::value::{Word, one_of};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use mcptest_core::escape::escape_path;
use mcptest_core::eval::Gates;
use mcptest_core::problem::did_you_mean;
use mcptest_core::report::{Embed, Report};
use mcptest_files::{self as files, Identity};
use mcptest_report::leaderboard::{COLUMNS, Column};
use mcptest_report::{Clean, Options, REPORTERS, Reporter};
use std::collections::{HashMap, HashSet};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Which reports to write, with what contents.
#[derive(Debug, Args)]
pub struct Reports {
    #[arg(help_heading = "Report", long = "reporter", value_name = "KIND[=FILE]", help = reporters_help(REPORTERS))]
    pub(crate) reporters: Vec<String>,
    /// Put the traces of these tests into the reports that can hold them [default: each reporter has its own].
    #[arg(help_heading = "Report", long, value_name = "WHICH", value_parser = one_of(&TRACES))]
    pub(crate) embed: Option<Embed>,
    #[command(flatten)]
    pub(crate) sorting: Sorting,
}

const TRACES: [Word<Embed>; 3] = [
    ("none", Embed::None, "No tests"),
    ("failed", Embed::Failed, "Tests that did not pass"),
    ("all", Embed::All, "Every test"),
];

/// The order of models or sides.
#[derive(Debug, Clone, Copy, Args)]
pub struct Sorting {
    /// Sort the leaderboard of `pretty` and `md` by this column, the best first [default: the order of the tests].
    #[arg(help_heading = "Report", long, value_name = "COLUMN", value_parser = column())]
    pub sort: Option<&'static Column>,
}

/// A column of the leaderboard.
fn column() -> impl TypedValueParser<Value = &'static Column> {
    let known = PossibleValuesParser::new(COLUMNS.iter().map(|column| column.key));
    known.try_map(|key| {
        COLUMNS
            .iter()
            .find(|column| column.key == key)
            .ok_or("no such column")
    })
}

/// The help of `--reporter`.
pub fn reporters_help<R>(known: &[Reporter<R>]) -> String {
    let kinds: Vec<&str> = known
        .iter()
        .map(|reporter| reporter.key)
        .chain([AUTO])
        .collect();
    format!(
        "Write a report to FILE or standard output; repeatable [kinds: {}]",
        kinds.join(", ")
    )
}

/// A saved report without the known secrets: a reporter that escapes a string would hide it from
/// later redaction.
pub fn saved(file: &Path) -> Result<Report, Failure> {
    let text = files::read_named_text(file, files::RECORDING)
        .map_err(|error| Failure::at(file, files::reason(&error)))?;
    mcptest_report::json::read(&mcptest_replay::clean(&text))
        .map_err(|error| Failure::at(file, error))
}

/// The redaction of text that a reporter packs.
const CLEAN: Option<Clean> = Some(mcptest_replay::clean);

/// The reporter that chooses others by the environment.
const AUTO: &str = "auto";

/// The variables that coding agents set for the commands that they run.
const OF_CODING_AGENTS: [&str; 5] = [
    "AI_AGENT",
    "CLAUDECODE",
    "CODEX_SANDBOX",
    "CURSOR_AGENT",
    "GEMINI_CLI",
];

/// The variable with GitHub's file for the step summary.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// The reports for the environment: annotations and the step summary on GitHub, the Code Quality
/// file on GitLab, the digest for a coding agent, otherwise the report for people.
fn by_environment<R>(known: &'static [Reporter<R>]) -> Vec<Destination<R>> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let is_set = |name: &str| set(name).is_some();
    let wanted: Vec<(&str, Option<PathBuf>)> = if is_set("GITHUB_ACTIONS") {
        let summary = set(STEP_SUMMARY).map(|path| ("md", Some(path.into())));
        [("pretty", None), ("github", None)]
            .into_iter()
            .chain(summary)
            .collect()
    } else if is_set("GITLAB_CI") {
        vec![
            ("pretty", None),
            ("gitlab", Some(PathBuf::from("gl-code-quality-report.json"))),
        ]
    } else if OF_CODING_AGENTS.into_iter().any(is_set) {
        vec![("agent", None)]
    } else {
        vec![("pretty", None)]
    };
    let reporter = |key: &str| known.iter().find(|reporter| reporter.key == key);
    wanted
        .into_iter()
        .filter_map(|(key, file)| Some(Destination::new(reporter(key)?, file)))
        .collect()
}

/// Returns true if a report is appended to the file: the summary of a step belongs to all its commands.
fn is_summary(file: &Path) -> bool {
    std::env::var_os(STEP_SUMMARY).is_some_and(|path| Path::new(&path) == file)
}

/// The contents of the file before the appended report.
fn before(file: &Path) -> String {
    let text = if is_summary(file) {
        files::read_named_text(file, files::TEXT).ok()
    } else {
        None
    };
    text.filter(|text| !text.is_empty())
        .map(|text| text + "\n")
        .unwrap_or_default()
}

/// One report and its destination.
pub struct Destination<R: 'static> {
    reporter: &'static Reporter<R>,
    file: Option<PathBuf>,
    embed: Embed,
    /// The column that the leaderboard is sorted by.
    pub sort: Option<&'static Column>,
    /// The gates whose pages it can show.
    gates: Gates,
}

impl Destination<Report> {
    /// The destinations that `--reporter`, `--embed` and `--sort` request. Traces are refused if no report can
    /// contain them.
    pub fn from_arguments(asked: &Reports, gates: Gates) -> Result<Vec<Self>, Failure> {
        let mut destinations = Self::parse_all(&asked.reporters, REPORTERS, gates)?;
        if asked.embed.is_some() && Self::evidence(&destinations).is_none() {
            let why = "`--embed` has no effect: none of these reports can contain traces";
            return Err(Failure::with_help(
                why,
                "omit it, or add `--reporter json=report.json`",
            ));
        }
        for one in &mut destinations {
            one.embed = asked
                .embed
                .filter(|_| one.reporter.embeds.is_some())
                .unwrap_or(one.embed);
            one.sort = asked.sorting.sort;
        }
        Ok(destinations)
    }
}

impl<R> Destination<R> {
    fn new(reporter: &'static Reporter<R>, file: Option<PathBuf>) -> Self {
        Self {
            reporter,
            file,
            embed: reporter.embeds.unwrap_or_default(),
            sort: None,
            gates: Gates::default(),
        }
    }

    /// The runs whose traces the reports need; `None` if no report shows traces.
    pub fn evidence(destinations: &[Self]) -> Option<Embed> {
        destinations
            .iter()
            .filter(|one| one.reporter.embeds.is_some())
            .map(|one| one.embed)
            .max()
    }

    /// The destinations that `--reporter` requests. `pretty` on standard output by default.
    pub fn parse_all(
        written: &[String],
        known: &'static [Reporter<R>],
        gates: Gates,
    ) -> Result<Vec<Self>, Failure> {
        let mut destinations = Vec::new();
        for one in written {
            destinations.extend(match one.as_str() {
                AUTO => by_environment(known),
                one => vec![Self::parse(one, known)?],
            });
        }
        Self::refuse_shared_output(&destinations)?;
        Self::refuse_shared_files(&destinations)?;
        if destinations.iter().all(|one| one.file.is_some()) {
            destinations.push(Self::new(&known[0], None));
        }
        for one in &mut destinations {
            one.gates = gates;
        }
        Ok(destinations)
    }

    /// One report and one format of commands may share standard output, because a terminal can
    /// separate them.
    fn refuse_shared_output(destinations: &[Self]) -> Result<(), Failure> {
        let (commands, texts): (Vec<&Self>, Vec<&Self>) = destinations
            .iter()
            .filter(|one| one.file.is_none())
            .partition(|one| one.reporter.is_commands);
        if commands.len() > 1 || texts.len() > 1 {
            return Err(Failure::with_help(
                "two reporters cannot share standard output",
                "give all but one a file: `--reporter junit=out.xml`",
            ));
        }
        Ok(())
    }

    fn refuse_shared_files(destinations: &[Self]) -> Result<(), Failure> {
        let mut taken = HashSet::new();
        for file in destinations.iter().filter_map(|one| one.file.as_deref()) {
            if files::identity(file).is_some_and(|one| !taken.insert(one)) {
                let why = format!("two reporters cannot share the file {}", file.display());
                return Err(Failure::with_help(why, "give each a separate file"));
            }
        }
        Ok(())
    }

    fn parse(written: &str, known: &'static [Reporter<R>]) -> Result<Self, Failure> {
        let (key, file) = match written.split_once('=') {
            Some((key, file)) => (key, Some(file)),
            None => (written, None),
        };
        if key == AUTO {
            return Err(Failure::with_help(
                format!("`{AUTO}` takes no file"),
                "it chooses where each report goes; name a reporter to choose the file",
            ));
        }
        let reporter = find(key, known)?;
        if file == Some("") {
            return Err(Failure::with_help(
                format!("`{written}` names no file"),
                format!("write `{key}=report.{}`", reporter.extension),
            ));
        }
        Ok(Self::new(reporter, file.map(PathBuf::from)))
    }

    /// Refuses to write a report over one of its inputs.
    pub fn refuse_inputs(
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
            let Some(file) = files::identity(&input).and_then(|one| written.get(&one)) else {
                continue;
            };
            let also = if *file == input {
                String::new()
            } else {
                format!(", which is {}", input.display())
            };
            let why = format!(
                "cannot write a report to {}{also}: this command reads it",
                file.display()
            );
            return Err(Failure::with_help(why, "name another file"));
        }
        // Also one that no suite of this invocation names, or one of a suite that is refused.
        let mut written = destinations.iter().filter_map(|one| one.file.as_deref());
        if let Some(file) = written.find(|file| mcptest_replay::cassette::is_recording(file)) {
            let why = format!(
                "cannot write a report to {}: it is a recording",
                escape_path(file)
            );
            return Err(Failure::with_help(why, "name another file"));
        }
        Ok(())
    }

    /// Removes the reports of an earlier run before judging begins. If this process dies, no old verdict remains.
    pub fn discard_earlier(destinations: &[Self]) -> Result<(), Failure> {
        let files = destinations.iter().filter_map(|one| one.file.as_deref());
        for file in files.filter(|file| !is_summary(file)) {
            files::discard(file)
                .map_err(|error| Failure::cannot(format!("write {}", escape_path(file)), &error))?;
        }
        Ok(())
    }

    /// Removes the reports of an earlier run for a command that fails before it can judge, so that no old verdict
    /// remains, and returns the failure. A file that the command line also names as an input stays.
    pub fn discard_for(
        destinations: &[Self],
        named: impl Iterator<Item = PathBuf>,
        failure: Failure,
    ) -> Failure {
        // The first failure is the one to mend.
        let _second_failure = Self::refuse_inputs(destinations, named)
            .and_then(|()| Self::discard_earlier(destinations));
        failure
    }

    /// Writes every report; files first, so that a closed pipe loses none.
    pub fn write_all(
        destinations: &[Self],
        report: &R,
        verbose: u8,
        elapsed: Option<Duration>,
    ) -> Result<(), Failure> {
        let (files, streams): (Vec<&Self>, Vec<&Self>) =
            destinations.iter().partition(|one| one.file.is_some());
        let mut failed = None;
        for one in files.into_iter().chain(streams) {
            failed = one.write(report, verbose, elapsed).err().or(failed);
        }
        failed.map_or(Ok(()), Err)
    }

    fn write(&self, report: &R, verbose: u8, elapsed: Option<Duration>) -> Result<(), Failure> {
        let bytes = (self.reporter.render)(report, &self.options(verbose, elapsed));
        match &self.file {
            Some(file) => {
                let text = before(file) + &String::from_utf8_lossy(&bytes);
                mcptest_replay::write(file, &text).map_err(|error| {
                    Failure::cannot(format!("write {}", escape_path(file)), &error)
                })
            }
            None if self.reporter.is_commands => output::commands(&bytes),
            None => output::stdout(&bytes),
        }
    }

    fn options(&self, verbose: u8, elapsed: Option<Duration>) -> Options {
        let is_to_file = self.file.is_some();
        let shown = if is_to_file {
            Options::default()
        } else {
            output::report_options(verbose)
        };
        Options {
            verbose,
            // Only a terminal is told the time: the same recordings give the same bytes everywhere else.
            elapsed: elapsed.filter(|_| !is_to_file && std::io::stdout().is_terminal()),
            clean: CLEAN,
            embed: self.embed,
            sort: self.sort,
            gates: self.gates,
            ..shown
        }
    }
}

/// The reporter with this key.
fn find<R>(key: &str, known: &'static [Reporter<R>]) -> Result<&'static Reporter<R>, Failure> {
    known
        .iter()
        .find(|reporter| reporter.key == key)
        .ok_or_else(|| {
            let keys = known.iter().map(|reporter| reporter.key).chain([AUTO]);
            let help = did_you_mean(key, keys.clone(), || {
                format!("the reporters are {}", keys.collect::<Vec<_>>().join(", "))
            });
            Failure::with_help(format!("no reporter is named `{key}`"), help)
        })
}
