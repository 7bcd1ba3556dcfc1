//! Which verdicts does a suite give traces that arrive one by one?

use crate::engine::GateBlock;
use crate::guard::guarded;
use crate::hidden::hide_in;
use crate::judge::{Judging, Recorded, RecordedRun, RecordedRuns, judge_undescribed};
use crate::report::TestReport;
use crate::row::{Row, Transcripts};
use crate::suite::{Agent, Suite};
use mcptest_redact::Redactor;
use std::fmt;

/// Judges traces by the agents of a suite, a trace or a group of traces at a time, without a list of
/// all of them. The suite is one that was [loaded for traces](crate::load_for_traces).
///
/// The verdict on a trace is the verdict of `mcptest run --traces` on a file with this trace alone,
/// and the verdict on a group is the verdict on a folder with these traces.
///
/// ```
/// use mcptest_core::score::{Arrangement, Scorer};
/// use mcptest_core::{Host, Status, Trace, load_for_traces};
/// use mcptest_redact::Redactor;
/// use std::path::Path;
///
/// let text = "agents: [{ name: forecast, golden_path: { calls: [get_weather] } }]";
/// let read = |_: &Path| Ok(text.as_bytes().to_vec());
/// let suite = load_for_traces(Path::new("gates.yml"), &Host::new(&read, &|_| None)).into_result()?;
/// let redactor = Redactor::builder().build().map_err(|_| "no redactor")?;
///
/// let scorer = Scorer::new(&suite, redactor);
/// assert_eq!(scorer.arrangement(), Arrangement::Alone);
/// let trace = Trace::read(r#"{"tool_calls": [{"name": "get_weather"}]}"#)?;
/// let reports = scorer.judge_alone(&trace, None);
/// assert_eq!((reports[0].name.as_str(), reports[0].status), ("forecast", Status::Passed));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Scorer<'s> {
    suite: &'s Suite,
    /// A row for each agent. Every trace is judged as the transcript of each row.
    rows: Vec<Row<'s>>,
    skipped: Vec<&'s Agent>,
    redactor: Redactor,
    judging: Judging,
}

/// Which traces are judged together?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement {
    /// Each trace is judged by itself. The name of its group is only a label.
    Alone,
    /// The traces of a group are judged together, as the runs of one test.
    Grouped,
}

/// Why an agent of the suite cannot judge the traces.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The agent.
    pub agent: String,
    /// The key of the suite that causes it, such as `stability` or `runs`.
    pub key: String,
    /// The reason, as a clause.
    pub why: String,
    /// True if groups of traces remove the reason.
    pub needs_groups: bool,
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            agent, key, why, ..
        } = self;
        write!(
            out,
            "agent `{agent}`: `{key}:` cannot judge {}: {why}",
            if self.needs_groups {
                "a trace without a group"
            } else {
                "traces"
            }
        )
    }
}

impl<'s> Scorer<'s> {
    /// A scorer with all agents of the suite, except skipped agents. The reports contain nothing
    /// that the redactor finds.
    pub fn new(suite: &'s Suite, redactor: Redactor) -> Self {
        let unnamed = Transcripts::default();
        let mut rows = suite.rows_of_transcripts(&[unnamed]);
        for row in &mut rows {
            let agent = row.agent_row().map(|of| of.agent.name.clone());
            row.name = agent.unwrap_or_default();
        }
        let has_only = rows.iter().any(Row::is_only);
        let (rows, skipped): (Vec<Row<'s>>, Vec<Row<'s>>) = rows
            .into_iter()
            .partition(|row| row.skip.is_none() && (!has_only || row.is_only()));
        Self {
            suite,
            rows,
            skipped: skipped
                .iter()
                .filter_map(|row| Some(row.agent_row()?.agent))
                .collect(),
            redactor,
            judging: Judging::default(),
        }
    }

    /// Keeps the agents whose names and tags are selected.
    #[must_use]
    pub fn keeping(mut self, is_selected: impl Fn(&str, &[String]) -> bool) -> Self {
        self.rows.retain(|row| is_selected(&row.name, row.tags()));
        self
    }

    /// Fails gates and tests that measured nothing.
    #[must_use]
    pub fn denying_vacuous(mut self, is_denied: bool) -> Self {
        self.judging.deny_vacuous = is_denied;
        self
    }

    /// The suite.
    pub fn suite(&self) -> &'s Suite {
        self.suite
    }

    /// The agents that judge.
    pub fn agents(&self) -> impl Iterator<Item = &'s Agent> + '_ {
        self.rows
            .iter()
            .filter_map(|row| Some(row.agent_row()?.agent))
    }

    /// The agents that the suite skips.
    pub fn skipped(&self) -> &[&'s Agent] {
        &self.skipped
    }

    /// The arrangement that the suite needs: groups if an agent cannot judge a trace alone.
    pub fn arrangement(&self) -> Arrangement {
        if self.refusals(Arrangement::Alone).is_empty() {
            Arrangement::Alone
        } else {
            Arrangement::Grouped
        }
    }

    /// Everything that keeps the suite from judging traces in this arrangement. Traces may be judged
    /// only if this is empty.
    pub fn refusals(&self, arrangement: Arrangement) -> Vec<Refusal> {
        self.agents()
            .flat_map(|agent| refusals_of(agent, arrangement))
            .collect()
    }

    /// The verdict of each agent on one trace.
    pub fn judge_alone(
        &self,
        trace: &crate::Trace<'_>,
        header: Option<&crate::Header>,
    ) -> Vec<TestReport> {
        let run = RecordedRun {
            number: 1,
            trace: Ok(trace),
            source: None,
            line: None,
            header,
        };
        self.judge(vec![run])
    }

    /// The verdict of each agent on the traces of a group, which are numbered from 1.
    pub fn judge(&self, runs: Vec<RecordedRun<'_>>) -> Vec<TestReport> {
        let hide = |row: &Row<'_>, report| {
            guarded(|| hide_in(&self.redactor, report))
                .unwrap_or_else(|panic| row.broken(panic.into()))
        };
        self.judge_then(runs, &hide)
    }

    /// The same for traces without secrets, by a suite without secrets: nothing is searched for. The
    /// caller has searched both.
    pub fn judge_clean(&self, runs: Vec<RecordedRun<'_>>) -> Vec<TestReport> {
        self.judge_then(runs, &|_, report| report)
    }

    fn judge_then(
        &self,
        runs: Vec<RecordedRun<'_>>,
        finish: &dyn Fn(&Row<'_>, TestReport) -> TestReport,
    ) -> Vec<TestReport> {
        let recorded = Recorded::Runs(RecordedRuns {
            headers: runs.iter().filter_map(|run| run.header).collect(),
            runs,
            unpinned: true,
            ..RecordedRuns::default()
        });
        self.rows
            .iter()
            .map(|row| finish(row, judge_undescribed(row, &recorded, self.judging)))
            .collect()
    }
}

/// Why this agent cannot judge traces in this arrangement.
fn refusals_of(agent: &Agent, arrangement: Arrangement) -> Vec<Refusal> {
    let refusal = |key: &str, why: String, needs_groups| Refusal {
        agent: agent.name.clone(),
        key: key.to_owned(),
        why,
        needs_groups,
    };
    let mut refusals = Vec::new();
    if arrangement == Arrangement::Alone && agent.runs_to_judge(1) > 1 {
        let why = format!("it asks for {} runs", agent.runs);
        refusals.push(refusal("runs", why, true));
    }
    for gate in &agent.gates {
        if gate.judges_side_runs() {
            let why = "it judges runs that are recorded only for it".to_owned();
            refusals.push(refusal(gate.key(), why, false));
        } else if let Some(why) = GateBlock::why_not_alone(gate)
            && arrangement == Arrangement::Alone
        {
            refusals.push(refusal(gate.key(), why.to_owned(), true));
        }
    }
    refusals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::GATES;
    use crate::report::Status;
    use crate::{Host, Trace, load_for_traces};
    use std::path::Path;

    fn suite(text: &str) -> Suite {
        let read = |_: &Path| Ok(text.as_bytes().to_vec());
        load_for_traces(Path::new("gates.yml"), &Host::new(&read, &|_| None))
            .into_result()
            .unwrap()
    }

    fn redactor() -> Redactor {
        Redactor::builder().build().unwrap()
    }

    fn keys(refusals: &[Refusal]) -> Vec<&str> {
        refusals.iter().map(|one| one.key.as_str()).collect()
    }

    #[test]
    fn gates_that_need_several_runs_are_refused_without_groups() {
        let suite = suite(
            "agents:\n  - name: a\n    runs: 3\n    stability: {}\n    reliability: {}\n    golden_path: { calls: [x] }\n",
        );
        let scorer = Scorer::new(&suite, redactor());
        let alone = scorer.refusals(Arrangement::Alone);
        assert_eq!(keys(&alone), ["runs", "stability", "reliability"]);
        assert_eq!(
            alone[1].to_string(),
            "agent `a`: `stability:` cannot judge a trace without a group: it compares the runs of a test"
        );
        assert!(scorer.refusals(Arrangement::Grouped).is_empty());
        assert_eq!(scorer.arrangement(), Arrangement::Grouped);
    }

    #[test]
    fn a_gate_is_refused_alone_exactly_if_it_says_that_one_run_shows_nothing() {
        for kind in GATES {
            let suite = suite_of(kind.example);
            let Some(suite) = suite else { continue };
            let scorer = Scorer::new(&suite, redactor());
            for refusal in scorer.refusals(Arrangement::Grouped) {
                assert!(!refusal.needs_groups, "{refusal}");
            }
            let agent = suite.agents.iter().find(|agent| {
                let mut gates = agent.gates.iter();
                gates.any(|gate| gate.key() == kind.key)
            });
            let Some(gate) = agent.and_then(|agent| {
                let mut gates = agent.gates.iter();
                gates.find(|gate| gate.key() == kind.key)
            }) else {
                continue;
            };
            let is_refused = scorer
                .refusals(Arrangement::Alone)
                .iter()
                .any(|one| one.key == kind.key);
            let needs_more = gate.why_not_alone().is_some() || gate.judges_side_runs();
            assert_eq!(is_refused, needs_more, "{}", kind.key);
        }
    }

    /// The example of a gate, if it needs no file beside it.
    fn suite_of(example: &str) -> Option<Suite> {
        let read = |_: &Path| Ok(example.as_bytes().to_vec());
        load_for_traces(Path::new("example.yml"), &Host::new(&read, &|_| None)).suite
    }

    #[test]
    fn only_and_skip_and_a_selection_choose_the_agents() {
        let suite = suite(
            "agents:\n  - { name: a, tags: [fast] }\n  - { name: b, skip: later }\n  - { name: c }\n",
        );
        let names = |scorer: &Scorer<'_>| -> Vec<String> {
            scorer.agents().map(|agent| agent.name.clone()).collect()
        };
        let scorer = Scorer::new(&suite, redactor());
        assert_eq!(names(&scorer), ["a", "c"]);
        assert_eq!(scorer.skipped().len(), 1);
        let scorer = scorer.keeping(|name, tags| name == "c" || tags.contains(&"x".to_owned()));
        assert_eq!(names(&scorer), ["c"]);
    }

    #[test]
    fn reports_contain_no_secret() {
        let suite = suite(
            "agents:\n  - name: a\n    expect: [{ target: final_response, matcher: { exact: no } }]\n",
        );
        let scorer = Scorer::new(&suite, redactor());
        let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let text = serde_json::json!({"tool_calls": [], "final_response": token}).to_string();
        let trace = Trace::read(&text).unwrap();
        let reports = scorer.judge_alone(&trace, None);
        assert_eq!(reports[0].status, Status::Failed);
        assert!(!reports[0].to_json().contains(&token));
    }
}
