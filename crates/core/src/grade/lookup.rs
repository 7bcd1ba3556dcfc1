//! Which grades does a recorded row need, and does each exist?

use super::{Asked, Evidence, Grade, Grades, Question};
use crate::engine::{Assertion, GateBlock};
use crate::judge::{Recorded, RecordedRun};
use crate::row::{AgentRow, Reason, ReasonKind, Row, Subject, ToolRow};
use crate::suite::{Agent, Suite, ToolOutcome};
use crate::target::Path;

/// One question about one run.
#[derive(Debug, Clone)]
pub struct Wanted<'s> {
    /// The run, from 1.
    pub run: usize,
    /// The check that asks, by its path in the test.
    pub check: String,
    /// The question.
    pub question: &'s Question,
    /// The question in the form of a grade.
    pub asked: Asked,
    /// The judged evidence.
    pub evidence: Evidence,
}

/// A question that was just asked and got no grade.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The run, from 1.
    pub run: usize,
    /// The check that asks, by its path in the test.
    pub check: String,
    /// The reason for the missing grade.
    pub why: String,
}

/// The reason that no grade can be used.
#[derive(Debug, Clone, PartialEq)]
pub enum NotGraded {
    /// No judge was called yet.
    Missing,
    /// The question differs: what has changed, one line each.
    Stale(Vec<String>),
    /// The judges were just called and gave no grade.
    Failed(String),
    /// The grades cannot be read.
    Unreadable(Reason),
}

/// The result for one check of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The check, by its path in the test.
    pub check: String,
    /// Its grade, or the reason for its absence.
    pub grade: Result<Grade, Reason>,
    /// True for advice, which does not change a verdict.
    pub is_advice: bool,
}

/// Every question to judges in a row, in order.
pub fn wanted<'s>(row: &Row<'s>, recorded: &Recorded<'_>) -> Vec<Wanted<'s>> {
    match (row.subject, recorded) {
        (Subject::Agent(of), Recorded::Runs(runs)) if runs.stale.is_none() => {
            let judged = of.agent.runs_to_judge(runs.runs.len());
            runs.runs
                .iter()
                .filter(|run| run.number <= judged)
                .flat_map(|run| of_run(of, run))
                .collect()
        }
        (Subject::Tool(of), Recorded::Call(call)) if call.stale.is_none() => {
            of_call(of, &call.outcome)
        }
        _ => Vec::new(),
    }
}

/// The wanted grades of one run of an agent. Empty if the run is not evidence, or the target has no value.
pub(crate) fn of_run<'s>(of: AgentRow<'s>, run: &RecordedRun<'_>) -> Vec<Wanted<'s>> {
    let Ok(trace) = &run.trace else {
        return Vec::new();
    };
    if trace.fatal_error().is_some() && trace.crash().is_none() {
        return Vec::new();
    }
    let of_expect = graded(&of.agent.expect).filter_map(|(check, target, question)| {
        let value = target.resolve(trace)?;
        let judged = Some((target.as_str(), &value));
        let evidence = Evidence::from_run(trace, run.header, judged, question.sees);
        Some(Wanted::new(of.suite, run.number, check, question, evidence))
    });
    let of_gates = of.agent.gates.iter().filter_map(|gate| {
        let question = gate.question()?;
        let evidence = Evidence::from_run(trace, run.header, None, question.sees);
        Some(Wanted::new(
            of.suite,
            run.number,
            gate.key().to_owned(),
            question,
            evidence,
        ))
    });
    let of_scorers = of.scorers().map(|(check, question)| {
        let evidence = Evidence::from_scorer(of, trace, run.number);
        Wanted::new(of.suite, run.number, check, question, evidence)
    });
    of_expect.chain(of_gates).chain(of_scorers).collect()
}

/// The questions about an agent's runs, independent of recordings.
pub fn questions(agent: &Agent) -> impl Iterator<Item = &Question> {
    let of_expect = graded(&agent.expect).map(|(_, _, question)| question);
    of_expect.chain(agent.gates.iter().filter_map(GateBlock::question))
}

/// The wanted grades of a tool test.
pub(crate) fn of_call<'s>(of: ToolRow<'s>, outcome: &ToolOutcome<'_>) -> Vec<Wanted<'s>> {
    if outcome.failure.is_some() {
        return Vec::new();
    }
    let text = outcome.to_json();
    let of_expect = graded(&of.test.expect).filter_map(|(check, target, question)| {
        let value = target.resolve_in(&text)?;
        let evidence =
            Evidence::from_call(of.test, outcome, (target.as_str(), &value), question.sees);
        Some(Wanted::new(of.suite, 1, check, question, evidence))
    });
    of_expect.collect()
}

/// The expectations that ask judges, each with its path.
pub(crate) fn graded(
    expect: &[Assertion<Path>],
) -> impl Iterator<Item = (String, &Path, &Question)> {
    let numbered = expect.iter().enumerate();
    numbered.filter_map(|(at, one)| Some((check_of(at), &one.target, one.matcher.question()?)))
}

/// The path of an expectation by its place.
fn check_of(at: usize) -> String {
    format!("expect[{at}]")
}

/// The result for the expectation at this place.
pub(crate) fn found(graded: &[Found], at: usize) -> Option<&Found> {
    let check = check_of(at);
    graded.iter().find(|found| found.check == check)
}

impl<'s> Wanted<'s> {
    fn new(
        suite: &Suite,
        run: usize,
        check: String,
        question: &'s Question,
        evidence: Evidence,
    ) -> Self {
        let asked = question.asked(suite, &evidence);
        Self {
            run,
            check,
            question,
            asked,
            evidence,
        }
    }
}

impl Grades {
    /// The grade for this question, even if its check has moved.
    pub fn find(&self, wanted: &Wanted<'_>) -> Result<&Grade, NotGraded> {
        let failed = self
            .failures
            .iter()
            .find(|failed| (failed.run, &failed.check) == (wanted.run, &wanted.check));
        if let Some(failed) = failed {
            return Err(NotGraded::Failed(failed.why.clone()));
        }
        if let Some(reason) = &self.unreadable {
            return Err(NotGraded::Unreadable(reason.clone()));
        }
        let fingerprint = wanted.asked.fingerprint();
        let mut of_run = self.grades.iter().filter(|grade| grade.run == wanted.run);
        if let Some(grade) = of_run
            .clone()
            .find(|grade| grade.fingerprint == fingerprint)
        {
            return Ok(grade);
        }
        Err(match of_run.find(|grade| grade.check == wanted.check) {
            Some(other) => NotGraded::Stale(other.asked.changes_to(&wanted.asked, wanted.question)),
            None => NotGraded::Missing,
        })
    }

    /// The results for all wanted grades of a run.
    pub(crate) fn of(&self, wanted: &[Wanted<'_>], row: &Row<'_>) -> Vec<Found> {
        let found = |wanted: &Wanted<'_>| {
            let grade = self
                .find(wanted)
                .cloned()
                .map_err(|why| why.reason(wanted, row));
            Found {
                check: wanted.check.clone(),
                grade,
                is_advice: wanted.question.is_advice,
            }
        };
        wanted.iter().map(found).collect()
    }
}

impl NotGraded {
    fn reason(self, wanted: &Wanted<'_>, row: &Row<'_>) -> Reason {
        let what = match row.subject {
            Subject::Tool(_) => format!("the call has no grade for `{}`", wanted.check),
            _ => format!("run {} has no grade for `{}`", wanted.run, wanted.check),
        };
        let command = row.rerun.grading();
        match self {
            Self::Missing => Reason::new(ReasonKind::GradeMissing, what)
                .help(match wanted.question.scorer() {
                    Some(_) => {
                        "run the scorer once; from then on mcptest reads its numbers from their \
                        file"
                    }
                    None => {
                        "ask the judges once; from then on mcptest reads the grade from its \
                    file"
                    }
                })
                .command(command),
            Self::Stale(changes) => {
                let message = format!(
                    "the grade of run {} for `{}` is stale",
                    wanted.run, wanted.check
                );
                let help = "grade it again; this does not run the agent";
                Reason::new(ReasonKind::GradeStale, message)
                    .details(changes)
                    .help(help)
                    .command(command)
            }
            Self::Failed(why) => {
                let message = format!("{what}: {why}");
                Reason::from_lines(ReasonKind::GradeFailed, &message)
                    .help("ask again")
                    .command(command)
            }
            Self::Unreadable(reason) => reason,
        }
    }
}
