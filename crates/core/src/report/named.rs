//! What are a test and its runs called?

use super::{Advice, Place, Probe, Reason, ReasonKind, RunReport, Status, TestReport};
use crate::row::Rerun;

impl TestReport {
    /// A test without results.
    pub(crate) fn blank(name: &str, place: &Place, rerun: &Rerun) -> Self {
        Self {
            name: name.to_owned(),
            suite: place.clone(),
            rerun: rerun.to_string(),
            ..Self::default()
        }
    }

    /// The suite's file as who is in the working directory names it.
    pub fn file_here(&self) -> &str {
        self.file_from_here.as_deref().unwrap_or(&self.suite.file)
    }

    /// The row of a probe of a server; `rerun` is the command that sends it alone.
    pub fn from_probe(
        server: &str,
        probe: Probe,
        status: Status,
        reason: Option<Reason>,
        rerun: String,
    ) -> Self {
        let place = Place {
            file: server.to_owned(),
            line: 1,
        };
        let blank = Self::blank(&probe.id, &place, &Rerun::default());
        let tags = vec![probe.family.clone()];
        Self {
            status,
            reason,
            tags,
            rerun,
            probe: Some(Box::new(probe)),
            ..blank
        }
    }

    /// 10 hexadecimal digits that identify the test: its suite's file, relative to its root, its name, its model and
    /// its variant.
    pub fn hashed_id(&self, file: &str) -> String {
        let variant = self
            .variant
            .map(|variant| variant.to_string())
            .unwrap_or_default();
        let model = self.model.as_deref().unwrap_or_default();
        let file = file.strip_prefix("./").unwrap_or(file);
        let hash = blake3::hash([file, &self.name, model, &variant].join("\0").as_bytes()).to_hex();
        hash[..10].to_owned()
    }

    /// The name of the test's row: `name`, or `name [model]` with several models, then `[variant]` with several
    /// variants.
    pub fn row_name(&self) -> String {
        let variant = self.variant.map(|variant| format!(" [{variant}]"));
        self.base_name() + &variant.unwrap_or_default()
    }

    /// The name that the rows of all its variants begin with.
    pub fn base_name(&self) -> String {
        let model = self
            .model
            .as_ref()
            .filter(|_| self.has_several_models)
            .map(|model| format!(" [{model}]"));
        format!("{}{}", self.name, model.unwrap_or_default())
    }

    /// The name of one run's row: `name #3`, or the test's own name if it has one run.
    pub fn run_name(&self, run: &RunReport) -> String {
        if self.runs.len() > 1 {
            format!("{} #{}", self.row_name(), run.index)
        } else {
            self.row_name()
        }
    }

    /// The name of a run: `run 97`, its file if each run has one, and the beginning of its trace's id.
    pub fn run_label(&self, index: usize) -> String {
        match self.run_origin(index) {
            Some(origin) => format!("run {index} ({origin})"),
            None => format!("run {index}"),
        }
    }

    /// Where a run comes from: its file if each run has one, and the beginning of its trace's id.
    pub fn run_origin(&self, index: usize) -> Option<String> {
        let trace = self
            .runs
            .iter()
            .find(|run| run.index == index)
            .and_then(|run| run.trace_id.as_deref());
        let trace = trace.map(|id| match id.char_indices().nth(8) {
            Some((end, _)) => format!("trace {}…", &id[..end]),
            None => format!("trace {id}"),
        });
        let parts: Vec<String> = self
            .own_source(index)
            .map(str::to_owned)
            .into_iter()
            .chain(trace)
            .collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// The status, ignoring missing grades.
    pub fn status_but_for_grades(&self) -> Status {
        let is_of_grade = |reason: &Reason| {
            matches!(
                reason.kind,
                ReasonKind::GradeMissing | ReasonKind::GradeStale | ReasonKind::GradeFailed
            )
        };
        if !self.reason.as_ref().is_some_and(is_of_grade) {
            return self.status;
        }
        let of_runs = self.runs.iter().flat_map(|run| &run.expectations);
        let has_failed = of_runs
            .into_iter()
            .any(|one| !one.passed && one.grade.is_none())
            || self.gates.iter().any(|gate| gate.status == Status::Failed);
        if has_failed {
            Status::Failed
        } else {
            Status::Passed
        }
    }

    /// The advice with its source: `narrative, by gpt-5, run 2: …`.
    pub fn advice_in_words(&self, advice: &Advice) -> String {
        let run = if self.runs.len() > 1 {
            format!(", {}", self.run_label(advice.run))
        } else {
            String::new()
        };
        format!(
            "{}, by {}{run}: {}",
            advice.key, advice.model, advice.message
        )
    }

    /// Returns true for a probe of a server that had no result in time.
    pub fn is_not_finished(&self) -> bool {
        self.probe.is_some()
            && self
                .reason
                .as_ref()
                .is_some_and(|reason| reason.kind == ReasonKind::ProbeNotFinished)
    }

    /// The warning about the server of a passed probe.
    pub fn warning(&self) -> Option<&str> {
        let probe = self
            .probe
            .as_ref()
            .filter(|_| self.status == Status::Passed)?;
        probe.warning.as_deref()
    }

    /// The file of a run, if the runs of the test are in different files.
    pub fn own_source(&self, index: usize) -> Option<&str> {
        let source = self
            .runs
            .iter()
            .find(|run| run.index == index)?
            .source
            .as_deref()?;
        let is_elsewhere = |run: &RunReport| run.source.as_deref() != Some(source);
        self.runs.iter().any(is_elsewhere).then_some(source)
    }
}
