//! `mcptest score`: judge a stream of traces, and write a stream of verdicts.

use crate::score::{Export, Score};
use clap::Args;
use mcptest_command::waiting::Patience;
use mcptest_command::{Failure, Group, Program, RunCommand, Selecting, output, suites};
use mcptest_core::escape::escape;
use mcptest_core::score::Scorer;
use mcptest_core::suite::{Loaded, Suite};
use mcptest_replay::redactor_of;
use std::borrow::Cow;
use std::path::PathBuf;
use std::thread::available_parallelism;

/// Arguments of `score`.
#[derive(Debug, Args)]
pub(crate) struct ScoreTraces {
    /// The suite whose agents judge each trace.
    #[arg(value_name = "SUITE")]
    suite: PathBuf,
    /// Files with a trace or a transcript on each line, transcripts, folders of them, or `-` for standard input
    /// [default: standard input].
    #[arg(value_name = "IN")]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    files: suites::TraceFiles,
    #[command(flatten)]
    selecting: Selecting,
    /// Fail gates that measured nothing (`not exercised`).
    #[arg(help_heading = "Verdict", long)]
    deny_vacuous: bool,
    /// Number of threads that judge [default: the number of cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Also write the verdicts to FILE as log records of OpenTelemetry (OTLP as JSON Lines).
    #[arg(long, value_name = "FILE")]
    otel: Option<PathBuf>,
}

impl RunCommand for ScoreTraces {
    const NAME: &'static str = "score";
    const GROUP: Group = Group::Test;
    const SUMMARY: &'static str = "Judge a stream of traces, and write a verdict on each line";
    const EXAMPLE: &'static str = "mcptest score gates.yml traces.jsonl > verdicts.jsonl";
    const PATIENCE: Patience = Patience::UntilItIsStopped;

    fn run(self, program: &Program) -> Result<u8, Failure> {
        let named = suites::Suites {
            paths: vec![self.suite.clone()],
            config: Vec::new(),
            verbose: 0,
        };
        let loaded = suites::load(
            &named,
            program.gates,
            mcptest_replay::load_suites_for_traces,
        )?;
        let suite = only_suite(&loaded)?;
        let selection = self.selecting.selection();
        let redactor = redactor_of(suite).map_err(|reason| Failure::new(reason.message))?;
        let scorer = Scorer::new(suite, redactor)
            .keeping(|name, tags| selection.accepts(name, tags))
            .denying_vacuous(self.deny_vacuous);
        tell_skipped(&scorer);
        if scorer.agents().next().is_none() {
            let why = "nothing was selected: the suite has no agent that judges traces";
            return Err(Failure::ended(mcptest_command::EXIT_NOTHING_SELECTED, why));
        }
        let export = self.otel.as_deref().map(Export::open).transpose()?;
        let cores = || available_parallelism().map_or(1, usize::from);
        Score {
            is_suite_clean: is_clean(suite, &loaded),
            suite: suite.path.display().to_string(),
            scorer: &scorer,
            inputs: self.inputs,
            files: &self.files,
            jobs: self.jobs.map_or_else(cores, usize::from),
            export,
        }
        .run()
    }
}

/// The suite, unless it was refused.
fn only_suite(loaded: &[(String, Loaded)]) -> Result<&Suite, Failure> {
    match loaded {
        [(_, loaded)] => match &loaded.suite {
            Some(suite) => Ok(suite),
            // Its problems were printed.
            None => Err(Failure::new(loaded.refusal().message)),
        },
        several => Err(Failure::with_help(
            format!("this names {} suites", several.len()),
            "name the file of one suite",
        )),
    }
}

/// Returns true if no text of the suite contains a secret, and no secret of the environment enters it.
/// Patterns of the suite match what they like.
fn is_clean(suite: &Suite, loaded: &[(String, Loaded)]) -> bool {
    let has_own =
        !suite.redact.is_empty() || !suite.secret_values(&mcptest_replay::environment).is_empty();
    // What gates read from other files, such as baselines, was not searched.
    let is_source = |loaded: &Loaded, path: &PathBuf| {
        let path = path.display().to_string();
        loaded.sources.paths().any(|source| *source == *path)
    };
    let reads_others = loaded.iter().any(|(_, loaded)| {
        let mut files = loaded.files.iter();
        files.any(|path| !is_source(loaded, path))
    });
    let sources = loaded.iter().flat_map(|(_, loaded)| loaded.sources.texts());
    let mut texts = sources.chain(suite.path.to_str());
    !has_own
        && !reads_others
        && texts.all(|text| matches!(mcptest_replay::clean(text), Cow::Borrowed(_)))
}

fn tell_skipped(scorer: &Scorer<'_>) {
    let names: Vec<&str> = scorer
        .skipped()
        .iter()
        .map(|agent| agent.name.as_str())
        .collect();
    if !names.is_empty() {
        output::stderr(&format!("note: skipped: {}\n", escape(&names.join(", "))));
    }
}
