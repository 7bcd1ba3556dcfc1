//! `mcptest compare`: is an agent better or worse than before, or is it chance?

use super::side::{JudgedSide, TracesSide};
use crate::reports::{Compared, Named, ReportDiff, compare, compare_several, leave_models_out};
use crate::show::reports::REPORTERS;
use clap::Args;
use mcptest_command::reports::{Sorting, reporters_help};
use mcptest_command::suites::TraceFiles;
use mcptest_command::value::{Word, one_of};
use mcptest_command::{Destination, EXIT_BROKEN, EXIT_FAILED, Failure, Group, Program, RunCommand};
use mcptest_core::escape::{escape, escape_path};
use mcptest_core::problem::nearest;
use mcptest_core::report::leaderboard::{USUAL_K, Verdict, by_model};
use mcptest_core::report::{Report, TestReport};
use std::path::{Component, Path, PathBuf};

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// JSON reports, cassettes, folders with suites and recordings, or git revisions; each is compared with the first.
    /// `NAME=SIDE` names a side.
    #[arg(value_name = "SIDE", required_unless_present = "traces")]
    pub(crate) sides: Vec<PathBuf>,
    /// Compare the transcripts in a folder, one test per subfolder or single file; repeatable. These sides come after
    /// the others. `NAME=DIR` names a side.
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: Vec<PathBuf>,
    /// With `--traces`, compare the runs of all files that have the same KEY in their trace, such as `labels.task_id`,
    /// as one test.
    #[arg(long, value_name = "KEY", requires = "traces")]
    pub(crate) group_by: Option<String>,
    #[command(flatten)]
    pub(crate) trace_files: TraceFiles,
    /// Judge recordings by this suite or folder of suites; repeatable [default: every suite of a folder or revision].
    /// PATH is looked up in each folder or revision, then in the current folder.
    #[arg(long = "suite", visible_alias = "config", value_name = "PATH")]
    pub(crate) suites: Vec<PathBuf>,
    /// Compare these models of one side.
    #[arg(long, value_name = "MODEL,MODEL", value_delimiter = ',')]
    pub(crate) models: Vec<String>,
    /// The largest k for pass@k and pass^k in the leaderboard.
    #[arg(long, value_name = "N", default_value_t = USUAL_K, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) k: u64,
    #[command(flatten)]
    pub(crate) sorting: Sorting,
    /// Exit with 1 on evidence of a drop, and with 2 if a test could not be compared [default: always exit with
    /// 0].
    #[arg(long, value_name = "WHAT", value_parser = one_of(&FAIL_ON))]
    pub(crate) fail_on: Option<Verdict>,
    #[arg(long = "reporter", value_name = "KIND[=FILE]", help = reporters_help(REPORTERS))]
    pub(crate) reporters: Vec<String>,
    /// Print more: tests that did not change, and the numbers that differ.
    #[arg(long, short, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// The conditions for an exit code other than 0.
const FAIL_ON: [Word<Verdict>; 1] = [(
    "worse",
    Verdict::Worse,
    "Evidence that a side passes less often than the first, or a test that passed and now fails",
)];

/// A side on the command line.
#[derive(Clone, Copy)]
enum WrittenSide<'a> {
    /// A report, a cassette, a folder with suites, or a revision.
    Any(&'a Path),
    /// A folder of transcripts.
    Traces(&'a Path),
}

impl RunCommand for Compare {
    const NAME: &'static str = "compare";
    const GROUP: Group = Group::Compare;
    const SUMMARY: &'static str =
        "Compare reports, folders or git revisions of recordings, and tell a change from chance";
    const EXAMPLE: &'static str = "mcptest compare main . --fail-on worse";

    fn run(self, program: &Program) -> Result<u8, Failure> {
        let mut destinations = Destination::parse_all(&self.reporters, REPORTERS, program.gates)?;
        for one in &mut destinations {
            one.sort = self.sorting.sort;
        }
        refuse_paths_elsewhere(&self.suites)?;
        self.trace_files
            .refuse_without_folder(!self.traces.is_empty())?;
        let (mut reports, names) = self.judged_sides(&destinations, program)?;
        refuse_equal_names(&names)?;
        leave_models_out(&mut reports);
        let sides: Vec<Named<'_>> = reports
            .iter()
            .zip(names.iter().map(String::as_str))
            .collect();
        let found = match sides[..] {
            [a, b] => Compared::Two(Box::new(compare(a, b, self.k))),
            _ => Compared::Several(compare_several(sides[0], &sides[1..], self.k)),
        };
        self.refuse_sides_without_a_common_test(&found)?;
        Destination::write_all(&destinations, &found, self.verbose, None)?;
        Ok(exit_code(&found, self.fail_on))
    }
}

impl Compare {
    /// The report of each side, with its name.
    fn judged_sides(
        &self,
        destinations: &[Destination<Compared>],
        program: &Program,
    ) -> Result<(Vec<Report>, Vec<String>), Failure> {
        match (&self.written_sides()[..], &self.models[..]) {
            (&[one], [_, _, ..]) => self.models_of_side(one, destinations, program),
            ([_, _, ..], []) => self.several_sides(destinations, program),
            ([_], _) => {
                let help =
                    "name a second side, or two models of this one with `--models ONE,OTHER`";
                Err(Failure::with_help("the second side is missing", help))
            }
            _ => {
                let help = "`--models ONE,OTHER` compares models of one side";
                Err(Failure::with_help(
                    "`--models` cannot be used with several sides",
                    help,
                ))
            }
        }
    }

    /// The sides in the order of the comparison.
    fn written_sides(&self) -> Vec<WrittenSide<'_>> {
        let sides = self.sides.iter().map(|side| WrittenSide::Any(side));
        let traces = self.traces.iter().map(|folder| WrittenSide::Traces(folder));
        sides.chain(traces).collect()
    }

    /// The models of one side, each as a side.
    fn models_of_side(
        &self,
        side: WrittenSide<'_>,
        destinations: &[Destination<Compared>],
        program: &Program,
    ) -> Result<(Vec<Report>, Vec<String>), Failure> {
        let judged = self.judge(side, destinations, program)?;
        Destination::refuse_inputs(destinations, judged.inputs.into_iter())?;
        Destination::discard_earlier(destinations)?;
        let models = self.models.iter();
        models
            .map(|model| of_model(&judged.report, model))
            .collect()
    }

    fn refuse_sides_without_a_common_test(&self, found: &Compared) -> Result<(), Failure> {
        let Some(alone) = found.sides().iter().find(|side| side.tests.is_empty()) else {
            return Ok(());
        };
        let (a, b) = (escape(&alone.a.name), escape(&alone.b.name));
        let help = match (&self.traces[..], &self.group_by) {
            ([_, ..], None) => {
                "tests are matched by the names of subfolders and files; to match them by a key of the traces, use \
                 `--group-by KEY`, such as `labels.task_id`"
            }
            _ => {
                "tests are matched by suite, name, model and variant; to compare models, use `--models ONE,OTHER`"
            }
        };
        Err(Failure::with_help(
            format!("{a} and {b} have no test in common"),
            help,
        ))
    }

    fn several_sides(
        &self,
        destinations: &[Destination<Compared>],
        program: &Program,
    ) -> Result<(Vec<Report>, Vec<String>), Failure> {
        let judged = self
            .written_sides()
            .into_iter()
            .map(|side| self.judge(side, destinations, program))
            .collect::<Result<Vec<JudgedSide>, _>>()?;
        if !self.suites.is_empty() && !judged.iter().any(|side| side.by_suites) {
            let why = "`--suite` has no effect: reports are already judged";
            let help = "omit `--suite`, or compare the sources of the reports";
            return Err(Failure::with_help(why, help));
        }
        let inputs = judged.iter().flat_map(|side| side.inputs.clone());
        Destination::refuse_inputs(destinations, inputs)?;
        Destination::discard_earlier(destinations)?;
        Ok(judged
            .into_iter()
            .map(|side| (side.report, side.name))
            .unzip())
    }

    fn judge(
        &self,
        side: WrittenSide<'_>,
        destinations: &[Destination<Compared>],
        program: &Program,
    ) -> Result<JudgedSide, Failure> {
        let judged = match side {
            WrittenSide::Any(written) => JudgedSide::new(written, &self.suites, program.gates),
            WrittenSide::Traces(written) => TracesSide {
                written,
                group_by: self.group_by.as_deref(),
                files: &self.trace_files,
                suites: &self.suites,
            }
            .judge(program.gates),
        };
        judged.map_err(|failure| {
            let named = self
                .sides
                .iter()
                .chain(&self.traces)
                .chain(&self.suites)
                .cloned();
            Destination::discard_for(destinations, named, failure)
        })
    }
}

/// Refuses equal names. Two sides are the first and the second; more sides need distinct names.
fn refuse_equal_names(names: &[String]) -> Result<(), Failure> {
    let is_again = |(at, name): &(usize, &String)| names[..*at].contains(name);
    let Some((_, name)) = names
        .iter()
        .enumerate()
        .find(is_again)
        .filter(|_| names.len() > 2)
    else {
        return Ok(());
    };
    let help = "give each a unique name with `NAME=SIDE`";
    Err(Failure::with_help(
        format!("two sides are named `{}`", escape(name)),
        help,
    ))
}

/// Refuses other paths: a side replaces the current folder.
fn refuse_paths_elsewhere(suites: &[PathBuf]) -> Result<(), Failure> {
    let is_below = |path: &&PathBuf| {
        path.components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    };
    let Some(path) = suites.iter().find(|path| !is_below(path)) else {
        return Ok(());
    };
    let help = "name suites by their paths below the folder you are in; each side has them at the same paths";
    Err(Failure::with_help(
        format!("{} is not below the current folder", escape_path(path)),
        help,
    ))
}

fn exit_code(found: &Compared, fail_on: Option<Verdict>) -> u8 {
    let sides = found.sides();
    let Some(bad) = fail_on else {
        return 0;
    };
    // An error never hides behind a failure.
    if sides
        .iter()
        .any(|side| side.not_compared() > 0 || side.broken_runs() > 0)
    {
        return EXIT_BROKEN;
    }
    let is_bad = |side: &ReportDiff| side.verdict == bad || side.regressed() > 0;
    if sides.iter().any(is_bad) {
        EXIT_FAILED
    } else {
        0
    }
}

/// The tests of one model, as if they had none.
fn of_model(report: &Report, model: &str) -> Result<(Report, String), Failure> {
    let of_models = by_model(&report.tests);
    let known = of_models.iter().map(|(name, _)| name.as_str());
    let Some((name, tests)) = of_models.iter().find(|(name, _)| name == model) else {
        let help = match nearest(model, known.clone()) {
            Some(near) => format!("did you mean `{}`?", escape(near)),
            None if of_models.is_empty() => "its tests name no models".to_owned(),
            None => format!(
                "the models here are {}",
                known.map(escape).collect::<Vec<_>>().join(", ")
            ),
        };
        return Err(Failure::with_help(
            format!("no test has the model `{}`", escape(model)),
            help,
        ));
    };
    let without = |test: &&TestReport| {
        let mut test = (*test).clone();
        test.model = None;
        test
    };
    Ok((
        report.over(tests.iter().map(without).collect()),
        name.clone(),
    ))
}
