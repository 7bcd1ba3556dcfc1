//! What did each model do in the recorded runs of a plan, as a baseline?

use crate::baseline::{Baseline, FORMAT, RunBaseline, TestBaseline, VERSION, capture};
use mcptest_core::guard::guarded;
use mcptest_core::row::{RowOfAgent, Subject};
use mcptest_core::trace::Run;
use mcptest_core::words::count;
use mcptest_files as files;
use mcptest_replay::judged_runs::{judged_runs, plain, settled_runs};
use mcptest_replay::{LeftOut, OpenedRow, Plan, cassette};
use mcptest_replay::{Secrets, SuiteSecrets};
use std::io;
use std::path::{Path, PathBuf};

/// The baselines of a plan.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    /// One baseline per model, in the order of the plan.
    pub(crate) baselines: Vec<Baseline>,
    /// The tests that are in no baseline, with the reason.
    pub(crate) left_out: Vec<LeftOut>,
}

/// The runs that a baseline may contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CapturedRuns {
    /// Passed runs. A test with a failed run is omitted.
    Passed,
    /// Failed runs as well.
    PassedAndFailed,
}

/// Makes a baseline for each model of the plan from its recordings. Omits tests whose recording is
/// incomplete.
pub(crate) fn capture_baselines(plan: &Plan<'_>, wanted: CapturedRuns) -> Captured {
    let secrets = Secrets::default();
    let mut captured = Captured::default();
    for row in plan.rows.iter().filter(|row| row.skip.is_none()) {
        let test = match row.subject {
            Subject::Agent(of) => guarded(|| captured_test(RowOfAgent { row, of }, wanted))
                .unwrap_or_else(|panic| Err(panic.to_string()))
                .and_then(|(model, test)| {
                    Ok((model, without_secrets(test, &secrets.of(of.suite))?))
                }),
            Subject::Refused(loaded) => Err(loaded.refusal().message),
            Subject::Tool(_) => continue,
        };
        let added = test.and_then(|(model, test)| captured.add(model, test));
        if let Err(reason) = added {
            let reason = mcptest_replay::clean(&reason).to_string();
            captured.left_out.push(LeftOut {
                row: row.name.clone(),
                reason,
            });
        }
    }
    captured
}

fn captured_test(
    RowOfAgent { row, of }: RowOfAgent<'_>,
    wanted: CapturedRuns,
) -> Result<(Option<String>, TestBaseline), String> {
    let opened = OpenedRow::open(row, None);
    let parsed = opened.parse();
    let recorded = parsed.recorded();
    let settled = settled_runs(of, &recorded)?;
    let runs = plain(&judged_runs(of, &settled)?);
    let failed = runs.iter().filter(|run| !run.passed).count();
    if failed > 0 && wanted == CapturedRuns::Passed {
        return Err(format!(
            "{failed} of {} failed, so the baseline would accept failures; fix the agent and \
            record it again, or capture the runs anyway with `--allow-failed`",
            count(runs.len(), "run")
        ));
    }
    let test = capture(of, &runs);
    if row.transcripts.is_none() {
        return Ok((of.model_label(), test));
    }
    let test = TestBaseline {
        name: row.name.clone(),
        ..test
    };
    Ok((recorded_model(&runs), test))
}

/// The model that all transcripts name, if they agree.
fn recorded_model(runs: &[Run<'_>]) -> Option<String> {
    let mut models = runs.iter().map(|run| run.header?.model.as_ref());
    let first = models.next()??;
    models
        .all(|other| other == Some(first))
        .then(|| first.clone())
}

impl Captured {
    fn add(&mut self, model: Option<String>, test: TestBaseline) -> Result<(), String> {
        let at = self
            .baselines
            .iter()
            .position(|known| known.model == model)
            .unwrap_or_else(|| {
                let (format, tests) = (FORMAT.to_owned(), Vec::new());
                self.baselines.push(Baseline {
                    format,
                    version: VERSION,
                    model,
                    tests,
                });
                self.baselines.len() - 1
            });
        let tests = &mut self.baselines[at].tests;
        if tests
            .iter()
            .any(|known| known.suite == test.suite && known.name == test.name)
        {
            return Err(format!(
                "another suite called {} has a test of this name; capture the two into separate folders",
                test.suite
            ));
        }
        tests.push(test);
        Ok(())
    }
}

/// Removes secrets, which an old recording can contain.
fn without_secrets(mut test: TestBaseline, secrets: &SuiteSecrets) -> Result<TestBaseline, String> {
    let redactor = secrets.redactor().map_err(|reason| reason.message)?;
    for run in &mut test.runs {
        let text = serde_json::to_string(&run).map_err(|error| error.to_string())?;
        let clean: Result<RunBaseline, _> = serde_json::from_str(&redactor.document(&text));
        *run = clean.map_err(|error| {
            format!(
                "cannot keep its runs without their secrets ({error}); narrow the patterns of \
                `redact:`"
            )
        })?;
    }
    Ok(test)
}

/// Writes a baseline into a folder, under the name of its model, replacing only baselines.
pub(crate) fn write_baseline(folder: &Path, baseline: &Baseline) -> io::Result<PathBuf> {
    let path = folder.join(cassette::with_model(
        "{model}.json",
        baseline.model.as_deref(),
    ));
    let in_the_way = "which is not a baseline; choose another folder";
    mcptest_replay::write_over(&path, &baseline.to_text(), Baseline::is_one, in_the_way)?;
    Ok(path)
}

/// Reads a baseline that is named on the command line.
pub(crate) fn read_baseline(path: &Path) -> Result<Baseline, String> {
    let bytes = files::read_named(path, files::RECORDING).map_err(|error| files::reason(&error))?;
    Baseline::read(&bytes).map_err(|error| error.to_string())
}
