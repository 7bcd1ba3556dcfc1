//! How often does each edit turn the verdict of each gate over?

use super::edits::{EDITS, Edit, Original};
use mcptest::GATES;
use mcptest_core::eval::GateBlock;
use mcptest_core::report::Status;
use mcptest_core::suite::Agent;
use mcptest_core::trace::{Run, Trace};
use mcptest_replay::cassette::{Cassette, Recording};
use std::iter::Sum;
use std::path::{Path, PathBuf};

/// The number of edited recordings, and how many of them a gate failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) flipped: usize,
    pub(super) tried: usize,
}

impl Tally {
    fn count(&mut self, flipped: bool) {
        self.tried += 1;
        self.flipped += usize::from(flipped);
    }
}

impl Sum for Tally {
    fn sum<I: Iterator<Item = Self>>(tallies: I) -> Self {
        tallies.fold(Self::default(), |sum, tally| Self {
            flipped: sum.flipped + tally.flipped,
            tried: sum.tried + tally.tried,
        })
    }
}

/// The results of one kind of edit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// One run edited at one place.
    pub(super) in_one_run: Tally,
    /// Every run edited at one place, or at its last one.
    pub(super) in_every_run: Tally,
}

impl Outcome {
    /// Both ways together.
    pub(super) fn total(self) -> Tally {
        [self.in_one_run, self.in_every_run].into_iter().sum()
    }
}

/// A gate with the results of each of the edits, in their order.
pub(super) struct Power {
    pub(super) key: &'static str,
    pub(super) doc: &'static str,
    pub(super) outcomes: Vec<Outcome>,
}

/// Edits the runs of the examples in every way, and judges each gate separately over the edited
/// runs.
pub(super) fn measure(repository: &Path) -> Result<Vec<Power>, String> {
    let blank = |kind: &mcptest_core::eval::GateKind| Power {
        key: kind.key,
        doc: kind.doc,
        outcomes: vec![Outcome::default(); EDITS.len()],
    };
    let mut powers: Vec<Power> = GATES
        .iter()
        .filter(|kind| kind.judges_runs())
        .map(blank)
        .collect();
    let found = mcptest_replay::find(&[repository.join("examples")], Path::new(""));
    let found = found.map_err(|error| error.to_string())?;
    for (path, loaded) in mcptest_replay::load_suites(&found.suites, GATES) {
        let suite = loaded
            .suite
            .ok_or_else(|| format!("{path} is refused: see `mcptest validate {path}`"))?;
        for row in suite.agent_rows().filter(|row| !row.agent.gates.is_empty()) {
            let named = |message| format!("{path}: {}: {message}", row.agent.name);
            let paths =
                mcptest_replay::cassette_paths(row).map_err(|error| named(error.to_string()))?;
            measure_row(row.agent, &paths, false, &mut powers).map_err(named)?;
            let faults = mcptest_replay::side_path(row);
            let faults: Vec<PathBuf> = faults.into_iter().filter(|path| path.exists()).collect();
            measure_row(row.agent, &faults, true, &mut powers).map_err(named)?;
        }
    }
    // What judges say of an edited run nobody knows without asking them.
    let is_tried = |outcome: &Outcome| outcome.in_one_run.tried + outcome.in_every_run.tried > 0;
    powers.retain(|power| power.outcomes.iter().any(is_tried));
    Ok(powers)
}

/// The gates over the runs of these recordings: the fault matrix, or all others.
fn measure_row(
    agent: &Agent,
    paths: &[PathBuf],
    is_side: bool,
    powers: &mut [Power],
) -> Result<(), String> {
    let gates: Vec<&GateBlock> = agent
        .gates
        .iter()
        .filter(|gate| gate.judges_side_runs() == is_side && gate.question().is_none())
        // An edit to one kind of runs says nothing where two kinds are compared.
        .filter(|gate| !(is_side && gate.compares_runs()))
        .collect();
    let recordings: Vec<Recording> = paths
        .iter()
        .map(|path| Recording::open(path).map_err(|error| error.to_string()))
        .collect::<Result<_, _>>()?;
    let cassettes: Vec<Cassette<'_>> = recordings
        .iter()
        .map(|recording| recording.cassette().map_err(|error| error.to_string()))
        .collect::<Result<_, _>>()?;
    let mut runs = recorded_runs(agent, &cassettes)?;
    if !is_side {
        runs.truncate(agent.runs);
    }
    if let Some(gate) = gates.iter().find(|gate| !passes_gate(gate, &runs)) {
        return Err(format!("`{}:` does not pass as it is recorded", gate.key()));
    }
    let row = RecordedRow { agent, gates, runs };
    EDITS.iter().enumerate().try_for_each(|(kind, edit)| {
        row.measure_edit(kind, edit, powers)
            .map_err(|error| format!("{}: {error}", edit.name))
    })
}

/// The runs of these recordings, each with its outcome by `expect:`.
fn recorded_runs<'r>(agent: &Agent, cassettes: &'r [Cassette<'r>]) -> Result<Vec<Run<'r>>, String> {
    let mut runs = Vec::new();
    for cassette in cassettes {
        for recorded in &cassette.runs {
            let trace = recorded.trace.as_ref().map_err(ToString::to_string)?;
            runs.push(Run {
                number: runs.len() + 1,
                header: cassette.header.as_ref(),
                passed: passes(agent, trace),
                ..Run::new(trace)
            });
        }
    }
    Ok(runs)
}

/// The runs of an agent, and the gates that judge them.
struct RecordedRow<'r> {
    agent: &'r Agent,
    gates: Vec<&'r GateBlock>,
    runs: Vec<Run<'r>>,
}

impl RecordedRow<'_> {
    /// Counts how often an edit turns over each gate, in one run and in every run.
    fn measure_edit(
        &self,
        kind: usize,
        edit: &Edit,
        powers: &mut [Power],
    ) -> Result<(), serde_json::Error> {
        let mutants: Vec<Vec<String>> = self
            .runs
            .iter()
            .map(|run| mutants(edit, run))
            .collect::<Result<_, _>>()?;
        for edited in one_run(&mutants) {
            for verdict in self.judge(&edited)? {
                if let Some(outcome) = outcome_of(powers, verdict.key, kind) {
                    outcome.in_one_run.count(!verdict.passed);
                }
            }
        }
        for edited in every_run(&mutants) {
            for verdict in self.judge(&edited)? {
                if let Some(outcome) = outcome_of(powers, verdict.key, kind) {
                    outcome.in_every_run.count(!verdict.passed);
                }
            }
        }
        Ok(())
    }

    /// The verdict of each gate on the runs with these edits.
    fn judge(&self, edited: &[Option<&str>]) -> Result<Vec<Verdict>, serde_json::Error> {
        let traces: Vec<Option<Trace<'_>>> = edited
            .iter()
            .map(|text| text.map(Trace::read).transpose())
            .collect::<Result<_, _>>()?;
        let runs: Vec<Run<'_>> = self
            .runs
            .iter()
            .zip(&traces)
            .map(|(run, trace)| match trace {
                Some(trace) => Run {
                    trace,
                    passed: passes(self.agent, trace),
                    ..*run
                },
                None => *run,
            })
            .collect();
        Ok(self
            .gates
            .iter()
            .map(|gate| Verdict {
                key: gate.key(),
                passed: passes_gate(gate, &runs),
            })
            .collect())
    }
}

/// The verdict of a gate.
struct Verdict {
    key: &'static str,
    passed: bool,
}

fn outcome_of<'p>(powers: &'p mut [Power], key: &str, kind: usize) -> Option<&'p mut Outcome> {
    let power = powers.iter_mut().find(|power| power.key == key)?;
    power.outcomes.get_mut(kind)
}

/// The texts of a run edited at each of its places.
fn mutants(edit: &Edit, run: &Run<'_>) -> Result<Vec<String>, serde_json::Error> {
    let trace = serde_json::from_str(run.trace.text)?;
    let catalogue = run
        .header
        .and_then(|header| header.catalogue.as_deref())
        .unwrap_or_default();
    let mutants = edit.mutants(Original {
        trace: &trace,
        catalogue,
    });
    Ok(mutants
        .into_iter()
        .map(|mutant| mutant.to_string())
        .collect())
}

/// The edited text of each run; `None` is an unchanged run.
type Edited<'m> = Vec<Option<&'m str>>;

/// Each mutant separately, among unchanged runs.
fn one_run(mutants: &[Vec<String>]) -> impl Iterator<Item = Edited<'_>> {
    mutants.iter().enumerate().flat_map(move |(at, of_run)| {
        of_run.iter().map(move |mutant| {
            let mut edited = vec![None; mutants.len()];
            edited[at] = Some(mutant.as_str());
            edited
        })
    })
}

/// All runs edited at one place, or at their last one; empty if there is only one run.
fn every_run(mutants: &[Vec<String>]) -> impl Iterator<Item = Edited<'_>> {
    let places = if mutants.len() > 1 {
        mutants.iter().map(Vec::len).max().unwrap_or_default()
    } else {
        0
    };
    (0..places).map(move |place| {
        mutants
            .iter()
            .map(|of_run| of_run.get(place).or(of_run.last()).map(String::as_str))
            .collect()
    })
}

fn passes(agent: &Agent, trace: &Trace<'_>) -> bool {
    let observed = agent
        .expect
        .iter()
        .filter(|assertion| assertion.matcher.question().is_none());
    observed
        .into_iter()
        .all(|assertion| assertion.check(trace).passed)
}

fn passes_gate(gate: &GateBlock, runs: &[Run<'_>]) -> bool {
    gate.judge("", runs).status == Status::Passed
}
