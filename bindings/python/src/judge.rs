//! Which rows does a list of traces lead to?

use mcptest_core::judge::RecordedRun;
use mcptest_core::report::TestReport;
use mcptest_core::row::{Reason, ReasonKind, quoted};
use mcptest_core::score::{Arrangement, Scorer};
use mcptest_core::trace::{Header, Trace};
use mcptest_import::{LineError, LineRun, TraceLine};
use mcptest_redact::Redactor;
use mcptest_report::verdicts::{Judged, RowKind, RowStatus, RowValue, VerdictRow, each_row};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::thread;

/// A trace as Python passed it, with its names.
pub(crate) struct Given<'g> {
    /// The trace, or a transcript, as JSON.
    pub(crate) text: &'g [u8],
    /// Its id, if it has one besides its own.
    pub(crate) id: Option<Cow<'g, str>>,
    /// Its number, if that is its name without an id.
    pub(crate) number: Option<String>,
    /// The group of its runs.
    pub(crate) group: Option<Cow<'g, str>>,
}

/// Judges traces for one suite.
pub(crate) struct Judge<'s> {
    pub(crate) scorer: Scorer<'s>,
    pub(crate) redactor: &'s Redactor,
    /// The suite, in the user's spelling.
    pub(crate) suite: &'s str,
}

/// The verdicts on one trace or group.
struct Verdicts {
    reports: Vec<TestReport>,
    group: Option<String>,
    trace_ids: Vec<String>,
}

/// An input that no agent can judge.
struct Unreadable {
    id: Option<String>,
    group: Option<String>,
    why: String,
}

/// The outcome of judging one trace or group.
enum Outcome {
    Judged(Verdicts),
    Unreadable(Unreadable),
}

/// A run of a group.
struct ReadRun<'l> {
    id: String,
    trace: Result<Trace<'l>, Reason>,
    header: Option<&'l Header>,
}

impl Given<'_> {
    /// The name of a trace: the given id, the id in the trace, or the number.
    fn name(&self, own: Option<&str>) -> Option<String> {
        let name = self.id.as_deref().or(own).or(self.number.as_deref());
        name.map(str::to_owned)
    }
}

impl Judge<'_> {
    /// The rows of all traces as JSON Lines, in the order of the traces, or of the first traces of the groups.
    pub(crate) fn lines(&self, given: &[Given<'_>], jobs: usize) -> Vec<u8> {
        let parts = self.judge(given, jobs, &|outcome| self.lines_of(&outcome));
        parts.concat()
    }

    /// The reports of all traces. A test is named by its agent, and its trace or group.
    pub(crate) fn reports(&self, given: &[Given<'_>], jobs: usize) -> Vec<TestReport> {
        let parts = self.judge(given, jobs, &|outcome| self.named_reports(outcome));
        parts.into_iter().flatten().collect()
    }

    /// Judges each trace, or each group, and shows the outcome. The results keep the order.
    fn judge<T: Send>(
        &self,
        given: &[Given<'_>],
        jobs: usize,
        show: &(dyn Fn(Outcome) -> T + Sync),
    ) -> Vec<T> {
        match self.scorer.arrangement() {
            Arrangement::Alone => on_threads(given, jobs, &|trace| {
                self.alone(trace).into_iter().map(show).collect()
            }),
            Arrangement::Grouped => on_threads(&in_groups(given), jobs, &|group| {
                self.group(group).into_iter().map(show).collect()
            }),
        }
    }

    /// Judges the traces of a text one by one; a transcript may hold several.
    fn alone(&self, given: &Given<'_>) -> Vec<Outcome> {
        let given_group = given.group.as_deref().map(str::to_owned);
        let line = match self.read(given) {
            Ok(line) => line,
            Err(error) => {
                return vec![Outcome::Unreadable(Unreadable {
                    id: given.name(None),
                    group: given_group,
                    why: said(&error),
                })];
            }
        };
        let group = given_group.or_else(|| line.group.as_deref().map(str::to_owned));
        let outcome = |(at, run): (usize, &LineRun<'_>)| {
            let several = (line.runs.len() > 1).then_some(at + 1);
            let named = line.id.as_deref();
            match run.trace() {
                Ok(trace) => {
                    let id = given.name(named.or(trace.trace_id.as_deref()));
                    Outcome::Judged(Verdicts {
                        reports: self.scorer.judge_alone(&trace, run.header.as_ref()),
                        group: group.clone(),
                        trace_ids: id.iter().map(|id| numbered(id, several)).collect(),
                    })
                }
                Err(error) => Outcome::Unreadable(Unreadable {
                    id: given.name(named).map(|id| numbered(&id, several)),
                    group: group.clone(),
                    why: said(&error),
                }),
            }
        };
        line.runs.iter().enumerate().map(outcome).collect()
    }

    /// Judges the traces of a group together. Traces without a group cannot be judged.
    fn group(&self, given: &[&Given<'_>]) -> Vec<Outcome> {
        let Some(group) = given.first().and_then(|first| first.group.as_deref()) else {
            return given
                .iter()
                .map(|given| self.without_group(given))
                .collect();
        };
        let lines: Vec<_> = given.iter().map(|given| self.read(given)).collect();
        let runs: Vec<ReadRun<'_>> = lines
            .iter()
            .zip(given)
            .enumerate()
            .flat_map(|(at, (line, given))| read_runs(line, given, at))
            .collect();
        let recorded = (1..).zip(&runs).map(|(number, run)| RecordedRun {
            number,
            trace: run.trace.as_ref().map_err(Clone::clone),
            source: None,
            line: None,
            header: run.header,
        });
        vec![Outcome::Judged(Verdicts {
            reports: self.scorer.judge(recorded.collect()),
            group: Some(group.to_owned()),
            trace_ids: runs.iter().map(|run| run.id.clone()).collect(),
        })]
    }

    /// Why a trace without a group cannot be judged by a suite that needs groups.
    fn without_group(&self, given: &Given<'_>) -> Outcome {
        let why = if let Err(error) = self.read(given) {
            said(&error)
        } else {
            let refusals = self.scorer.refusals(Arrangement::Alone);
            refusals
                .first()
                .map(ToString::to_string)
                .unwrap_or_default()
        };
        Outcome::Unreadable(Unreadable {
            id: given.name(None),
            group: None,
            why,
        })
    }

    fn read<'g>(&self, given: &'g Given<'_>) -> Result<TraceLine<'g>, LineError> {
        TraceLine::read(given.text, &|text| self.redactor.text(text))
    }

    /// The rows of an outcome, as `mcptest score` writes them.
    fn lines_of(&self, outcome: &Outcome) -> Vec<u8> {
        let mut lines = Vec::new();
        match outcome {
            Outcome::Judged(verdicts) => {
                let ids: Vec<_> = verdicts
                    .trace_ids
                    .iter()
                    .map(|id| self.redactor.text(id))
                    .collect();
                let ids: Vec<&str> = ids.iter().map(AsRef::as_ref).collect();
                let group = verdicts
                    .group
                    .as_deref()
                    .map(|group| self.redactor.text(group));
                let judged = Judged {
                    suite: self.suite,
                    group: group.as_deref(),
                    trace_ids: &ids,
                    span_id: None,
                };
                for report in &verdicts.reports {
                    each_row(report, &judged, &mut |row| row.write(&mut lines));
                }
            }
            Outcome::Unreadable(unreadable) => {
                let id = unreadable.id.as_deref().map(|id| self.redactor.text(id));
                let group = unreadable
                    .group
                    .as_deref()
                    .map(|group| self.redactor.text(group));
                let row = VerdictRow {
                    trace_id: id.as_deref(),
                    span_id: None,
                    group: group.as_deref(),
                    suite: self.suite,
                    agent: None,
                    kind: RowKind::Input,
                    gate: None,
                    target: None,
                    value: RowValue::None,
                    status: RowStatus::Error,
                    message: Some(self.redactor.text(&unreadable.why)),
                };
                row.write(&mut lines);
            }
        }
        lines
    }

    fn named_reports(&self, outcome: Outcome) -> Vec<TestReport> {
        match outcome {
            Outcome::Judged(verdicts) => {
                let id = verdicts.trace_ids.first().map(String::as_str);
                let group = verdicts.group.as_deref();
                let name = group.filter(|_| verdicts.trace_ids.len() > 1).or(id);
                let name = name.map(|name| self.redactor.text(name).into_owned());
                let mut reports = verdicts.reports;
                for report in &mut reports {
                    if let Some(name) = &name {
                        report.name = format!("{} [{name}]", report.name);
                    }
                    report.rerun = format!("mcptest score {}", quoted(self.suite));
                }
                reports
            }
            Outcome::Unreadable(unreadable) => {
                let reason = Reason::new(ReasonKind::RecordingUnreadable, unreadable.why);
                let run = RecordedRun {
                    number: 1,
                    trace: Err(reason),
                    source: None,
                    line: None,
                    header: None,
                };
                self.named_reports(Outcome::Judged(Verdicts {
                    reports: self.scorer.judge(vec![run]),
                    group: unreadable.group,
                    trace_ids: unreadable.id.into_iter().collect(),
                }))
            }
        }
    }
}

/// The traces by their groups, in the order of the first trace of each group.
fn in_groups<'g, 't>(given: &'g [Given<'t>]) -> Vec<Vec<&'g Given<'t>>> {
    let mut places: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    let mut groups: Vec<Vec<&Given<'_>>> = Vec::new();
    for trace in given {
        let place = *places.entry(trace.group.as_deref()).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(trace),
            None => groups.push(vec![trace]),
        }
    }
    groups
}

/// The runs of a trace of a group; the number of the trace is its id if it has none.
fn read_runs<'l>(
    line: &'l Result<TraceLine<'_>, LineError>,
    given: &Given<'_>,
    at: usize,
) -> Vec<ReadRun<'l>> {
    // Each run of a group has an id, so that the rows of a group have one.
    let place = given.name(None).unwrap_or_else(|| (at + 1).to_string());
    let line = match line {
        Ok(line) => line,
        Err(error) => {
            return vec![ReadRun {
                id: place,
                trace: Err(unreadable_run(error)),
                header: None,
            }];
        }
    };
    let is_several = line.runs.len() > 1;
    let run = |(at, run): (usize, &'l LineRun<'_>)| {
        let trace = run.trace().map_err(|error| unreadable_run(&error));
        let own = trace
            .as_ref()
            .ok()
            .and_then(|trace| trace.trace_id.as_deref());
        let named = given.name(line.id.as_deref().or(own));
        ReadRun {
            id: numbered(
                named.as_deref().unwrap_or(&place),
                is_several.then_some(at + 1),
            ),
            trace,
            header: run.header.as_ref(),
        }
    };
    line.runs.iter().enumerate().map(run).collect()
}

fn unreadable_run(error: &LineError) -> Reason {
    Reason::new(ReasonKind::RecordingUnreadable, said(error))
}

/// The name with the number of one of several traces.
fn numbered(name: &str, number: Option<usize>) -> String {
    match number {
        Some(number) => format!("{name}#{number}"),
        None => name.to_owned(),
    }
}

/// The problem of a trace, with its place.
fn said(error: &LineError) -> String {
    match error.place {
        Some(place) if place.line == 1 => format!("column {}: {}", place.column, error.fault),
        Some(place) => format!(
            "line {}, column {}: {}",
            place.line, place.column, error.fault
        ),
        None => error.fault.to_string(),
    }
}

/// Judges parts of the items on several threads, and joins the results in the order of the items.
fn on_threads<I: Sync, T: Send>(
    items: &[I],
    jobs: usize,
    judge: &(dyn Fn(&I) -> Vec<T> + Sync),
) -> Vec<T> {
    let judge_all = &|items: &[I]| -> Vec<T> { items.iter().flat_map(judge).collect() };
    let part = items.len().div_ceil(jobs.max(1)).max(1);
    if items.len() <= part {
        return judge_all(items);
    }
    thread::scope(|scope| {
        let workers: Vec<_> = items
            .chunks(part)
            .map(|part| scope.spawn(move || judge_all(part)))
            .collect();
        let mut results = Vec::with_capacity(items.len());
        for worker in workers {
            match worker.join() {
                Ok(part) => results.extend(part),
                // A panic outside of the judge is a defect. It reaches Python as an exception.
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    })
}
