//! One row being recorded: what goes into its cassettes, when is it enough, and what came of it?

use super::RowToRecord;
use super::one_run::Finished;
use super::reel::Reel;
use super::schedule::{Lane, Unit};
use super::state::{State, state_of, wanted_runs};
use crate::cassette::beside;
use crate::plan::{Cell, Row};
use crate::replay::expected_header;
use crate::secrets::OfSuite;
use crate::{Mode, Which, advice, judge};
use mcptest_agent::{FaultPlan, Provider};
use mcptest_core::eval::{Combination, MATRIX_PARAMETER, decided, fault_combinations};
use mcptest_core::report::{Reason, Status};
use mcptest_core::suite::{Agent, Model, OwnAgent, Suite, Variant};
use mcptest_core::trace::{CatalogueTool, Header, Run, Trace};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What came of recording one row.
#[derive(Debug)]
pub(crate) enum Done {
    /// Its recording is on the disk.
    Recorded,
    /// Its recording is here alone.
    Live {
        /// Its cassette.
        cassette: String,
        /// That of its fault matrix, when it has one.
        matrix: Option<String>,
    },
    /// It could not be run, or not be written.
    Failed(Reason),
}

/// Who acts.
pub(super) enum Actor<'p> {
    /// A model.
    Model {
        /// Who is asked.
        provider: Box<Provider>,
        /// The provider's id of the model.
        id: &'p str,
    },
    /// A program of the user's.
    Own(&'p OwnAgent),
}

/// One row to record.
pub(super) struct Work<'p> {
    /// Its place among the works.
    pub(super) place: usize,
    /// Its place in the plan.
    pub(super) index: usize,
    pub(super) cell: &'p Cell<'p>,
    pub(super) suite: &'p Suite,
    pub(super) agent: &'p Agent,
    pub(super) model: Option<&'p Model>,
    pub(super) variant: Option<Variant>,
    pub(super) actor: Actor<'p>,
    /// The runs to record, by their numbers.
    pub(super) runs: Vec<usize>,
    /// How many runs the row has in all.
    of: usize,
    mode: Mode,
    secrets: Arc<OfSuite>,
    kept: Mutex<Kept>,
}

/// What is wanted of a row.
pub(super) struct Wanted<'p> {
    /// Its place among the works.
    pub(super) place: usize,
    pub(super) actor: Actor<'p>,
    /// The runs to record, by their numbers.
    pub(super) runs: Vec<usize>,
    /// Whether runs that are there are kept.
    pub(super) goes_on: bool,
    pub(super) mode: Mode,
    pub(super) secrets: Arc<OfSuite>,
}

struct Kept {
    reel: Reel,
    /// The runs of the fault matrix, and what goes wrong in each.
    matrix: Reel,
    combinations: Vec<Combination>,
    failure: Option<String>,
    /// Another mcptest recorded the row between our plan and our turn.
    is_done_by_another: bool,
    is_decided: bool,
    stopped: Option<(usize, usize)>,
}

impl<'p> Work<'p> {
    /// The row at this place of the plan, to be recorded to this path; nothing is written where there is none.
    pub(super) fn new(index: usize, row: Row<'p>, path: Option<PathBuf>, wanted: Wanted<'p>) -> Self {
        let Row { cell, suite, agent, model, variant } = row;
        let Wanted { place, actor, runs, goes_on, mode, secrets } = wanted;
        let of_matrix = path.as_deref().map(|path| beside(path, "faults"));
        let is_live = mode == Mode::Live;
        let kept = Mutex::new(Kept {
            reel: Reel::new(path, goes_on, is_live || agent.stop_decided),
            matrix: Reel::new(of_matrix, goes_on, is_live),
            combinations: Vec::new(),
            failure: None,
            is_done_by_another: false,
            is_decided: false,
            stopped: None,
        });
        let of = agent.runs;
        Self { place, index, cell, suite, agent, model, variant, actor, runs, of, mode, secrets, kept }
    }

    /// The row and how many runs it needs, for who watches.
    pub(super) fn row(&self) -> RowToRecord {
        RowToRecord { name: self.cell.row_name.clone(), runs: self.units().len(), of: self.of }
    }

    /// What is to be recorded first: the runs or, where these are all there, what the fault matrix lacks.
    pub(super) fn units(&self) -> Vec<Unit> {
        if self.runs.is_empty() {
            return self.missing_in_matrix();
        }
        let work = self.place;
        self.runs.iter().map(|run| Unit { work, run: *run, in_matrix: false }).collect()
    }

    /// What limits how many of its runs go on at once.
    pub(super) fn lane(&self, jobs: usize) -> Lane {
        match &self.actor {
            Actor::Model { provider, .. } => {
                let own = self.model.and_then(|model| model.provider.as_ref());
                let limit = own.and_then(|name| self.suite.providers.get(name)?.jobs);
                let limit = limit.map_or(jobs, |limit| usize::try_from(limit).unwrap_or(jobs));
                Lane { name: provider.name().to_owned(), limit: limit.max(1) }
            }
            Actor::Own(_) => Lane { name: String::new(), limit: jobs.max(1) },
        }
    }

    pub(super) fn distractors(&self, offered: &[CatalogueTool]) -> Vec<CatalogueTool> {
        self.agent.injected_tools(self.variant, offered)
    }

    /// What goes wrong on purpose in a run.
    pub(super) fn faults(&self, unit: &Unit) -> FaultPlan {
        let combination =
            unit.in_matrix.then(|| self.kept().combinations.get(unit.run - 1).copied()).flatten();
        match combination {
            Some(combination) => {
                FaultPlan::at_call(combination.to_string(), combination.kind, combination.call_index)
            }
            None => FaultPlan::new(self.agent.injected(&self.suite.faults)),
        }
        .within(self.agent.call_budget_ms())
    }

    /// Makes sure that nobody else records the same, before anything is spent on it; false when somebody did so since
    /// it was planned.
    pub(super) fn reserve(&self, unit: &Unit) -> Result<bool, String> {
        let mut kept = self.kept();
        if unit.in_matrix {
            return kept.matrix.reserve().map(|_| true);
        }
        if !kept.is_done_by_another && kept.reel.reserve()? && self.is_done() {
            kept.is_done_by_another = true;
            kept.reel.release();
        }
        Ok(!kept.is_done_by_another)
    }

    /// Whether the mode asks no more for what was planned.
    fn is_done(&self) -> bool {
        let is_selective = !matches!(self.mode, Mode::Live | Mode::Record(Which::All));
        is_selective
            && wanted_runs(self.cell, self.agent, self.mode).is_none_or(|(_, runs)| runs != self.runs)
    }

    fn is_live(&self) -> bool {
        self.mode == Mode::Live
    }

    /// Puts a run on the disk.
    pub(super) fn keep(&self, unit: &Unit, finished: Finished) -> Result<(), String> {
        let expected = expected_header(self.suite, self.agent, self.model, self.variant);
        let header = Header { catalogue: Some(finished.catalogue), ..expected };
        let redactor = self.secrets.redactor().map_err(|reason| reason.message)?;
        let trace = finished.trace.to_json();
        let mut kept = self.kept();
        if !unit.in_matrix {
            return kept.reel.keep(unit.run, &trace, header, redactor);
        }
        let mut header = header;
        let combinations = kept.combinations.iter().map(ToString::to_string).collect::<Vec<_>>();
        header.parameters.insert(MATRIX_PARAMETER.to_owned(), combinations.into());
        kept.matrix.keep(unit.run, &trace, header, redactor)
    }

    pub(super) fn note_failure(&self, unit: &Unit, why: &str) {
        let mut kept = self.kept();
        kept.failure.get_or_insert_with(|| format!("run {} was not recorded: {why}", unit.run));
    }

    /// Whether the runs that are still to come can change nothing, and the suite says to leave them out.
    pub(super) fn is_decided(&self) -> bool {
        if !self.agent.stop_decided {
            return false;
        }
        let mut kept = self.kept();
        let (header, texts) = (kept.reel.header().cloned(), kept.reel.all_traces());
        let traces: Vec<Trace<'_>> = texts.values().filter_map(|text| Trace::read(text).ok()).collect();
        let runs: Option<Vec<Run<'_>>> = traces
            .iter()
            .map(|trace| {
                let passed = judge::passes(self.agent, trace)?;
                Some(Run { trace, header: header.as_ref(), passed })
            })
            .collect();
        let is_decided = runs.is_some_and(|runs| decided(self.agent, &runs, self.of).is_some());
        kept.is_decided = is_decided && texts.len() < self.of;
        kept.is_decided
    }

    /// The runs of the fault matrix, once the ordinary ones are there.
    pub(super) fn matrix_units(&self, unit: &Unit) -> Vec<Unit> {
        let is_over = {
            let kept = self.kept();
            kept.failure.is_some() || kept.is_done_by_another
        };
        if unit.in_matrix || is_over { Vec::new() } else { self.missing_in_matrix() }
    }

    fn missing_in_matrix(&self) -> Vec<Unit> {
        let mut kept = self.kept();
        kept.combinations = match kept.reel.all_traces().get(&1) {
            Some(text) => Trace::read(text)
                .map(|trace| {
                    fault_combinations(self.agent, &[Run { trace: &trace, header: None, passed: true }])
                })
                .unwrap_or_default(),
            None => Vec::new(),
        };
        let recorded = kept.matrix.all_traces();
        let missing = (1..=kept.combinations.len()).filter(|run| !recorded.contains_key(run));
        missing.map(|run| Unit { work: self.place, run, in_matrix: true }).collect()
    }

    /// Nothing more comes.
    pub(super) fn finish(&self) {
        let mut kept = self.kept();
        if kept.is_decided {
            let after = kept.reel.all_traces().len();
            kept.stopped = Some((after, self.of)).filter(|(after, of)| after < of);
        }
        let stopped = kept.stopped;
        let finished = kept.reel.finish(stopped).and_then(|()| kept.matrix.finish(None));
        if let Err(error) = finished {
            kept.failure.get_or_insert_with(|| error.to_string());
        }
    }

    /// Whether the row passes as it is recorded now.
    pub(super) fn passes(&self) -> bool {
        self.kept().failure.is_none() && state_of(self.cell) == State::Judged(Status::Passed)
    }

    pub(super) fn secrets(&self) -> Arc<OfSuite> {
        Arc::clone(&self.secrets)
    }

    /// What may be shown of a text; nothing of it when secrets cannot be told apart.
    pub(super) fn without_secrets(&self, text: &str) -> String {
        self.secrets.hidden_in(text)
    }

    pub(super) fn failed(&self, why: &str) -> Done {
        let Ok(redactor) = self.secrets.redactor() else { return Done::Failed(reason_of(why)) };
        let mut reason = reason_of(&redactor.text(why));
        let kept = self.kept();
        let recorded = kept.reel.count;
        if !self.is_live() {
            reason.details.push(match recorded {
                0 => "nothing was recorded; an older recording is left as it was".to_owned(),
                1 => "1 run was recorded before that, and is kept".to_owned(),
                more => format!("{more} runs were recorded before that, and are kept"),
            });
            let command = advice::record_command(self.cell, self.suite, "--record=missing");
            reason.help = Some(format!("put it right, then record the rest with {command}"));
        }
        Done::Failed(reason)
    }

    pub(super) fn into_done(self) -> Option<(usize, Done)> {
        let failure = self.kept().failure.clone();
        if let Some(why) = failure {
            return Some((self.index, self.failed(&why)));
        }
        let kept = self.kept();
        let live = || {
            let cassette = kept.reel.text(kept.stopped)?;
            Some(Done::Live { cassette, matrix: kept.matrix.text(None) })
        };
        let done = if self.is_live() { live() } else { Some(Done::Recorded) };
        let done = done.filter(|_| kept.reel.count + kept.matrix.count > 0);
        done.map(|done| (self.index, done))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn reason_of(message: &str) -> Reason {
    let mut lines = message.lines().map(str::to_owned);
    let message = lines.next().unwrap_or_default();
    Reason { message, details: lines.collect(), help: None }
}
