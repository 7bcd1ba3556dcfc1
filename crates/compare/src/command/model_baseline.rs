//! `mcptest model-baseline`: what does each model do, and what does another one do differently?

use super::baseline_pairs::{Pair, Pairs, pairs};
use crate::baseline::{BaselineDiff, compare};
use crate::captured::{Captured, CapturedRuns, capture_baselines, read_baseline, write_baseline};
use crate::show::baseline::REPORTERS;
use clap::{Args, Subcommand};
use mcptest_command::reports::reporters_help;
use mcptest_command::suites::{LoadedSuites, Suites, TraceFiles, TracesFolder};
use mcptest_command::{
    Destination, EXIT_BROKEN, EXIT_FAILED, EXIT_NOTHING_SELECTED, Failure, Group, Program,
    RunCommand, example_help, output,
};
use mcptest_core::escape::{escape, escape_path};
use mcptest_core::problem::did_you_mean;
use mcptest_core::row::{Row, quoted};
use mcptest_core::words::count;
use mcptest_replay::{Filter, Plan, Selection};
use std::path::{Path, PathBuf};

/// Arguments of `model-baseline`.
#[derive(Debug, Args)]
pub(crate) struct ModelBaseline {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Write what each model did in the recorded runs of suites, one file per model, offline.
    #[command(after_long_help = example_help(ModelBaseline::EXAMPLE))]
    Capture(Capture),
    /// Compare two baselines: exit with 1 if something is broken, with 6 if a number of a gate has shifted.
    #[command(after_long_help = example_help("mcptest model-baseline diff before/gpt-5.json after/gpt-5.json"))]
    Diff(Diff),
}

/// Arguments of `model-baseline capture`.
#[derive(Debug, Args)]
struct Capture {
    #[command(flatten)]
    pub(crate) suites: Suites,
    /// Capture the transcripts in a folder instead of the recorded runs, one test per subfolder or single file.
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: Option<PathBuf>,
    /// With `--traces`, capture the runs of all files that have the same KEY in their trace, such as `labels.task_id`,
    /// as one test.
    #[arg(long, value_name = "KEY", requires = "traces")]
    pub(crate) group_by: Option<String>,
    #[command(flatten)]
    pub(crate) trace_files: TraceFiles,
    /// The folder to write to; missing folders are created, and baselines in it are overwritten.
    #[arg(long, short, value_name = "DIR", default_value = "baselines")]
    pub(crate) out: PathBuf,
    /// Capture only these models, separated by commas.
    #[arg(long, value_name = "MODEL", value_delimiter = ',')]
    pub(crate) models: Vec<String>,
    /// Capture only tests whose name contains TEXT or matches PATTERN; repeat to require all.
    #[arg(long, value_name = "TEXT|re:PATTERN")]
    pub(crate) filter: Vec<Filter>,
    /// Capture tests with failed runs as well; without it they are errors.
    #[arg(long)]
    pub(crate) allow_failed: bool,
}

/// Arguments of `model-baseline diff`.
#[derive(Debug, Args)]
struct Diff {
    /// The older baseline, or a folder of baselines.
    #[arg(value_name = "BEFORE")]
    pub(crate) before: PathBuf,
    /// The newer baseline, or a folder: baselines of the same file name are compared.
    #[arg(value_name = "AFTER")]
    pub(crate) after: PathBuf,
    #[arg(long = "reporter", value_name = "KIND[=FILE]", help = reporters_help(REPORTERS))]
    pub(crate) reporters: Vec<String>,
    /// Print more: what is tolerated, and numbers that moved; twice, every number.
    #[arg(long, short, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

impl RunCommand for ModelBaseline {
    const NAME: &'static str = "model-baseline";
    const GROUP: Group = Group::Compare;
    const SUMMARY: &'static str = "Capture what each model does, or compare two captured baselines";
    const EXAMPLE: &'static str =
        "mcptest model-baseline capture examples/model-compatibility.yml --out baselines";

    fn run(self, program: &Program) -> Result<u8, Failure> {
        match self.action {
            Action::Capture(args) => capture(&args, program),
            Action::Diff(args) => diff(&args, program),
        }
    }
}

fn capture(args: &Capture, program: &Program) -> Result<u8, Failure> {
    let (folder, group_by) = (args.traces.as_deref(), args.group_by.as_deref());
    let traces = TracesFolder::named(folder, group_by, &args.trace_files)?;
    let suites = LoadedSuites::load_to_capture(&args.suites, traces, program.gates)?;
    let selection = Selection {
        filters: args.filter.clone(),
        ..Selection::default()
    };
    let mut plan = suites.plan(&selection);
    if args.traces.is_none() {
        select_models(&mut plan, &args.models)?;
    }
    let wanted = if args.allow_failed {
        CapturedRuns::PassedAndFailed
    } else {
        CapturedRuns::Passed
    };
    let mut captured = capture_baselines(&plan, wanted);
    if args.traces.is_some() {
        keep_models(&mut captured, &args.models)?;
    }
    write_captured(&captured, &args.out)?;
    if !captured.left_out.is_empty() {
        return Ok(EXIT_BROKEN);
    }
    if captured.baselines.is_empty() {
        let why = "nothing was captured: no agent is selected";
        return Err(Failure::ended(EXIT_NOTHING_SELECTED, why));
    }
    Ok(0)
}

/// Writes a file for each model, and reports written and omitted tests.
fn write_captured(captured: &Captured, folder: &Path) -> Result<(), Failure> {
    for one in &captured.left_out {
        output::stderr(&format!("error: {}: {}\n", escape(&one.row), one.reason));
    }
    for baseline in &captured.baselines {
        let unwritten =
            |error| Failure::cannot(format!("write to {}", escape_path(folder)), &error);
        let path = write_baseline(folder, baseline).map_err(unwritten)?;
        let runs = baseline.tests.iter().map(|test| test.runs.len()).sum();
        let (tests, runs) = (count(baseline.tests.len(), "test"), count(runs, "run"));
        output::stderr(&format!(
            "wrote {} with {tests} and {runs}\n",
            escape_path(&path)
        ));
    }
    Ok(())
}

/// Keeps the baselines of these models, which the transcripts name. A model without one is an error.
fn keep_models(captured: &mut Captured, models: &[String]) -> Result<(), Failure> {
    if models.is_empty() {
        return Ok(());
    }
    let known: Vec<String> = captured
        .baselines
        .iter()
        .filter_map(|baseline| baseline.model.clone())
        .collect();
    refuse_unknown_model(models, &known)?;
    let is_wanted = |model: &Option<String>| model.as_ref().is_some_and(|one| models.contains(one));
    captured
        .baselines
        .retain(|baseline| is_wanted(&baseline.model));
    Ok(())
}

/// Keeps the rows of these models. A model without a row is an error.
fn select_models(plan: &mut Plan<'_>, models: &[String]) -> Result<(), Failure> {
    let label = |row: &Row<'_>| row.agent_row().and_then(|of| of.model_label());
    let known: Vec<String> = plan.rows.iter().filter_map(label).collect();
    refuse_unknown_model(models, &known)?;
    let is_wanted = |row: &Row<'_>| {
        models.is_empty()
            || row.is_refused()
            || label(row).is_some_and(|model| models.contains(&model))
    };
    plan.rows.retain(is_wanted);
    Ok(())
}

fn refuse_unknown_model(models: &[String], known: &[String]) -> Result<(), Failure> {
    let Some(unknown) = models.iter().find(|model| !known.contains(model)) else {
        return Ok(());
    };
    let mut listed = known.to_vec();
    listed.sort();
    listed.dedup();
    let help = did_you_mean(unknown, known.iter().map(String::as_str), || {
        if listed.is_empty() {
            "the tests name no model".to_owned()
        } else {
            format!("the models here are {}", listed.join(", "))
        }
    });
    Err(Failure::with_help(
        format!("no selected test has the model `{unknown}`"),
        help,
    ))
}

fn diff(args: &Diff, program: &Program) -> Result<u8, Failure> {
    let destinations = Destination::parse_all(&args.reporters, REPORTERS, program.gates)?;
    Destination::refuse_inputs(
        &destinations,
        [args.before.clone(), args.after.clone()].into_iter(),
    )?;
    Destination::discard_earlier(&destinations)?;
    let Pairs { pairs, alone } = pairs(&args.before, &args.after)?;
    if let ([first, _, ..], [_, ..]) = (&pairs[..], &args.reporters[..]) {
        let why = format!(
            "`--reporter` is for one pair of baselines, and these folders have {}",
            pairs.len()
        );
        let (before, after) = (shown(&first.before), shown(&first.after));
        let help = format!("name two files, as in `mcptest model-baseline diff {before} {after}`");
        return Err(Failure::with_help(why, help));
    }
    for path in alone {
        output::stderr(&format!("note: {} has no partner\n", escape_path(&path)));
    }
    let mut worst = 0;
    for pair in &pairs {
        let found = compared(pair, program)?;
        Destination::write_all(&destinations, &found, args.verbose, None)?;
        worst = worse(worst, found.exit_code());
    }
    Ok(worst)
}

fn compared(pair: &Pair, program: &Program) -> Result<BaselineDiff, Failure> {
    let read = |path: &Path| read_baseline(path).map_err(|error| Failure::at(path, error));
    let (before, after) = (read(&pair.before)?, read(&pair.after)?);
    let file = |path: &Path| path.display().to_string();
    let found = compare(
        (&before, &file(&pair.before)),
        (&after, &file(&pair.after)),
        program.gates,
    );
    if found.tests.is_empty() {
        let help = "capture both from the same suite, with `mcptest model-baseline capture`";
        return Err(Failure::with_help(
            "the two baselines have no test in common",
            help,
        ));
    }
    Ok(found)
}

fn shown(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

/// The exit code of two comparisons: an error outweighs a break, and a break outweighs a shift.
fn worse(one: u8, other: u8) -> u8 {
    let weight = |code: u8| match code {
        0 => 0,
        EXIT_BROKEN => 3,
        EXIT_FAILED => 2,
        _ => 1,
    };
    if weight(other) > weight(one) {
        other
    } else {
        one
    }
}
