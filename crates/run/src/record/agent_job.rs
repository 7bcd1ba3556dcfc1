//! The row of an agent during recording: what goes into its cassettes, when are they complete, and
//! what is the result?

use super::one_run::Finished;
use super::open_cassette::{KeepError, OpenCassette, Reservation};
use super::schedule::{Shared, Unit};
use super::state::wanted_runs;
use super::{NOTHING_RECORDED, eras};
use crate::{Mode, Options, Which};
use mcptest_agent::{FaultPlan, Provider};
use mcptest_core::eval::{SideRun, SideRuns, decided};
use mcptest_core::judge::judged_alone;
use mcptest_core::report::Status;
use mcptest_core::row::{AgentRow, Reason, ReasonKind, Row};
use mcptest_core::suite::{Agent, OwnAgent};
use mcptest_core::trace::{Header, RecordedServer, Run, Trace};
use mcptest_replay::cassette::{Stopped, beside};
use mcptest_replay::{FreshRow, RowToRecord, SuiteSecrets};
use mcptest_replay::{expected_header, judge};
use parking_lot::Mutex;
use std::path::PathBuf;
use std::sync::Arc;

/// The model or program that acts.
pub(super) enum Actor<'p> {
    /// A model.
    Model {
        /// The provider of the model.
        provider: Box<Provider>,
        /// The provider's id of the model.
        id: &'p str,
    },
    /// A program of the user's.
    Own(&'p OwnAgent),
}

/// The row of an agent to record.
pub(super) struct AgentJob<'p> {
    /// Its number among the jobs, which events use.
    pub(super) number: usize,
    /// Its place in the plan.
    pub(super) index: usize,
    pub(super) planned: &'p Row<'p>,
    pub(super) row: AgentRow<'p>,
    pub(super) actor: Actor<'p>,
    /// The runs to record, by their numbers.
    pub(super) runs: Vec<usize>,
    pub(super) mode: Mode,
    pub(super) secrets: Arc<SuiteSecrets>,
    /// The servers in the previous recording of the row.
    pub(super) servers_before: Vec<RecordedServer>,
    pub(super) cassettes: Mutex<Cassettes>,
}

/// Distinguishes a run that must be recorded from a finished one.
pub(super) enum Turn {
    Ours,
    /// Another mcptest recorded the row after it was planned.
    DoneByAnother,
}

/// The runs recorded so far, and the state that decides the next one.
#[derive(Default)]
pub(super) struct Cassettes {
    runs: OpenCassette,
    /// The runs for a single gate, such as those for a fault matrix.
    side_runs: OpenCassette,
    /// The settings of each side run.
    wanted_side: Option<SideRuns>,
    failure: Option<String>,
    /// Another mcptest recorded the row between our plan and our turn.
    is_done_by_another: bool,
    is_decided: bool,
    stopped: Option<Stopped>,
}

impl AgentJob<'_> {
    /// The cassettes of a row that is recorded to this path. Without a path, nothing is written.
    pub(super) fn cassettes(
        agent: &Agent,
        path: Option<PathBuf>,
        goes_on: bool,
        is_live: bool,
    ) -> Mutex<Cassettes> {
        let side = SideRuns::wanted(agent, &[]);
        let side_path = path
            .as_deref()
            .zip(side.as_ref())
            .map(|(path, side)| beside(path, side.words.file));
        let runs = OpenCassette::new(path, goes_on, is_live || agent.stop_decided);
        let side_runs = OpenCassette::new(side_path, goes_on, is_live);
        Mutex::new(Cassettes {
            runs,
            side_runs,
            wanted_side: side,
            ..Cassettes::default()
        })
    }

    /// The row and its number of runs, for the observer.
    pub(super) fn to_record(&self) -> RowToRecord {
        let name = self.planned.name.clone();
        let side = SideRuns::wanted(self.row.agent, &[]).map_or("", |side| side.words.one);
        RowToRecord {
            name,
            runs: self.units().len(),
            of: self.row.agent.runs,
            side,
        }
    }

    /// The units to record first: the runs or, if all are recorded, the missing runs of one of its gates.
    pub(super) fn units(&self) -> Vec<Unit> {
        if self.runs.is_empty() {
            return self.missing_side_units();
        }
        let job = self.number;
        self.runs
            .iter()
            .map(|run| Unit {
                job,
                run: *run,
                is_side: false,
            })
            .collect()
    }

    /// The limits on how many of its runs are recorded at once.
    pub(super) fn shared(&self, jobs: usize) -> Shared {
        let Actor::Model { provider, .. } = &self.actor else {
            return Shared::Provider {
                name: String::new(),
                at_once: jobs,
            };
        };
        let own = self.row.model.and_then(|model| model.provider.as_ref());
        let limit = own.and_then(|name| self.row.suite.providers.get(name)?.jobs);
        let at_once = limit.map_or(jobs, |limit| usize::try_from(limit).unwrap_or(jobs));
        Shared::Provider {
            name: provider.name().to_owned(),
            at_once: at_once.max(1),
        }
    }

    /// The faults to inject into a run.
    pub(super) fn faults(&self, unit: &Unit) -> FaultPlan {
        match self.side_run(unit) {
            Some(SideRun::Fault(combination)) => FaultPlan::at_call(
                combination.to_string(),
                combination.kind,
                combination.call_index,
            ),
            _ => FaultPlan::new(self.row.agent.injected(&self.row.suite.faults)),
        }
        .within(self.row.agent.call_budget_ms())
    }

    /// The tools that are kept from the agent in a run.
    pub(super) fn hidden(&self, unit: &Unit) -> Vec<String> {
        match self.side_run(unit) {
            Some(SideRun::Without { tools, .. }) => tools,
            _ => Vec::new(),
        }
    }

    fn side_run(&self, unit: &Unit) -> Option<SideRun> {
        let cassettes = self.cassettes.lock();
        cassettes
            .wanted_side
            .as_ref()
            .filter(|_| unit.is_side)?
            .runs
            .get(unit.run - 1)
            .cloned()
    }

    /// Reserves the cassette before any cost, so that no other process records it.
    pub(super) fn reserve(&self, unit: &Unit) -> Result<Turn, KeepError> {
        let mut cassettes = self.cassettes.lock();
        if unit.is_side {
            cassettes.side_runs.reserve()?;
            return Ok(Turn::Ours);
        }
        if cassettes.is_done_by_another {
            return Ok(Turn::DoneByAnother);
        }
        if cassettes.runs.reserve()? == Reservation::New && self.is_done() {
            cassettes.is_done_by_another = true;
            cassettes.runs.release();
            return Ok(Turn::DoneByAnother);
        }
        Ok(Turn::Ours)
    }

    /// Returns true if the mode no longer asks for the planned runs.
    fn is_done(&self) -> bool {
        let is_selective = !matches!(self.mode, Mode::Live | Mode::Record(Which::All));
        is_selective
            && wanted_runs(self.planned, self.mode).is_none_or(|wanted| wanted.runs != self.runs)
    }

    fn is_live(&self) -> bool {
        self.mode == Mode::Live
    }

    /// Puts a run on the disk.
    pub(super) fn keep(&self, unit: &Unit, finished: Finished) -> Result<(), KeepError> {
        let expected = expected_header(self.row);
        let Finished {
            trace,
            catalogue,
            left_out,
            instructions,
        } = finished;
        let header = Header {
            catalogue: Some(catalogue),
            left_out,
            instructions,
            ..expected
        };
        let redactor = self
            .secrets
            .redactor()
            .map_err(|reason| KeepError::NoRedactor(reason.message))?;
        let trace = trace.to_json();
        let mut cassettes = self.cassettes.lock();
        if !unit.is_side {
            return cassettes.runs.keep(unit.run, &trace, header, redactor);
        }
        let mut header = header;
        // One header is for all runs, of which each may lack other tools: it has those that there are.
        if let Some(ordinary) = cassettes.runs.kept_header() {
            header.catalogue = ordinary.catalogue;
            header.left_out = ordinary.left_out;
        }
        if let Some(side) = &cassettes.wanted_side {
            side.name_in(&mut header);
        }
        cassettes.side_runs.keep(unit.run, &trace, header, redactor)
    }

    pub(super) fn note_failure(&self, unit: &Unit, why: &str) {
        let mut cassettes = self.cassettes.lock();
        cassettes
            .failure
            .get_or_insert_with(|| format!("run {} was not recorded: {why}", unit.run));
    }

    /// Returns true if the remaining runs cannot change the verdict and the suite sets `stop:
    /// decided`.
    pub(super) fn decide(&self) -> bool {
        let mut cassettes = self.cassettes.lock();
        // Where a run is missing, all are wanted.
        if !self.row.agent.stop_decided || cassettes.failure.is_some() {
            return false;
        }
        let (header, texts) = (cassettes.runs.header.clone(), cassettes.runs.all_traces());
        let traces: Vec<Trace<'_>> = texts
            .values()
            .filter_map(|text| Trace::read(text).ok())
            .collect();
        let runs: Option<Vec<Run<'_>>> = traces
            .iter()
            .map(|trace| judged_alone(self.row.agent, trace, header.as_ref()))
            .collect();
        let is_decided =
            runs.is_some_and(|runs| decided(self.row.agent, &runs, self.row.agent.runs).is_some());
        cassettes.is_decided = is_decided && texts.len() < self.row.agent.runs;
        cassettes.is_decided
    }

    /// The runs for one of its gates, once the ordinary runs exist.
    pub(super) fn side_units(&self, unit: &Unit) -> Vec<Unit> {
        let is_over = {
            let cassettes = self.cassettes.lock();
            cassettes.failure.is_some() || cassettes.is_done_by_another
        };
        if unit.is_side || is_over {
            Vec::new()
        } else {
            self.missing_side_units()
        }
    }

    fn missing_side_units(&self) -> Vec<Unit> {
        let mut cassettes = self.cassettes.lock();
        let (first, header) = (
            cassettes.runs.all_traces().remove(&1),
            cassettes.runs.kept_header(),
        );
        let first = first.as_deref().and_then(|text| Trace::read(text).ok());
        cassettes.wanted_side = first.as_ref().and_then(|trace| {
            SideRuns::wanted(
                self.row.agent,
                &[Run {
                    header: header.as_ref(),
                    ..Run::new(trace)
                }],
            )
        });
        let recorded = cassettes.side_runs.all_traces();
        let wanted = cassettes
            .wanted_side
            .as_ref()
            .map_or(0, |side| side.runs.len());
        let missing = (1..=wanted).filter(|run| !recorded.contains_key(run));
        missing
            .map(|run| Unit {
                job: self.number,
                run,
                is_side: true,
            })
            .collect()
    }

    /// Closes the cassettes.
    pub(super) fn finish(&self) {
        let mut cassettes = self.cassettes.lock();
        // With a run missing, what is decided is decided without it.
        if cassettes.is_decided && cassettes.failure.is_none() {
            let stopped = Stopped {
                after: cassettes.runs.all_traces().len(),
                of: self.row.agent.runs,
            };
            cassettes.stopped = Some(stopped).filter(|stopped| stopped.after < stopped.of);
        }
        let stopped = cassettes.stopped;
        let finished = cassettes
            .runs
            .finish(stopped)
            .and_then(|()| cassettes.side_runs.finish(None));
        if let Err(error) = finished {
            cassettes.failure.get_or_insert_with(|| error.to_string());
        }
    }

    /// Returns true if the row passes with its current recording.
    pub(super) fn passes(&self, options: Options) -> bool {
        let row = self.row();
        row.is_some()
            && judge::status(self.planned, options.judge_options(), row.as_ref()) == Status::Passed
    }

    pub(super) fn failed(&self, why: &str) -> FreshRow {
        let Ok(redactor) = self.secrets.redactor() else {
            return FreshRow::Failed(reason_of(why));
        };
        let mut reason = reason_of(&redactor.text(why));
        let cassettes = self.cassettes.lock();
        let recorded = cassettes.runs.count;
        if !self.is_live() {
            reason.details.push(match recorded {
                0 => NOTHING_RECORDED.to_owned(),
                1 => "1 other run was recorded and kept".to_owned(),
                more => format!("{more} other runs were recorded and kept"),
            });
            reason.help = Some(
                "fix the problem, then record the missing runs with `--record=missing`".to_owned(),
            );
            reason.command = Some(self.planned.rerun.recording("--record=missing"));
        }
        FreshRow::Failed(reason)
    }

    /// The result; `None` if it has not begun.
    pub(super) fn row(&self) -> Option<FreshRow> {
        let failure = self.cassettes.lock().failure.clone();
        if let Some(why) = failure {
            return Some(self.failed(&why));
        }
        let cassettes = self.cassettes.lock();
        let first = cassettes
            .runs
            .all_traces()
            .into_values()
            .next()
            .unwrap_or_default();
        let notes = eras::changes(&self.servers_before, &eras::of_run(&first));
        let done = if self.is_live() {
            let recording = cassettes.runs.text(cassettes.stopped)?;
            Some(FreshRow::InMemory {
                recording,
                side: cassettes.side_runs.text(None),
                notes,
            })
        } else {
            Some(FreshRow::OnDisk { notes })
        };
        done.filter(|_| cassettes.runs.count + cassettes.side_runs.count > 0)
    }
}

fn reason_of(message: &str) -> Reason {
    Reason::from_lines(ReasonKind::RecordingFailed, message)
}
