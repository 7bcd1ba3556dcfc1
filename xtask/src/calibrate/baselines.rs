//! How often does a comparison of baselines tell trials of one agent apart?

use super::corpus::{Corpus, LabelledRun};
use mcptest_compare::baseline::{
    Baseline, DifferenceClass, FORMAT, TestBaseline, VERSION, capture, compare,
};
use mcptest_core::suite::{Host, Suite, load_for_traces};
use mcptest_core::trace::{Run, Trace};
use std::collections::BTreeMap;
use std::path::Path;

/// The results of comparing trials of one agent.
#[derive(Default)]
pub(super) struct Outcomes {
    /// True for each pair of baselines over all tasks, of two trials each, that has drifted.
    pub(super) drift: Vec<bool>,
    /// The result of each test between two right trials.
    pub(super) one_by_one: Vec<DifferenceClass>,
    /// The classes for two and two trials that all succeeded.
    pub(super) two_by_two: Vec<DifferenceClass>,
    /// The classes for two and two trials, whatever their outcome.
    pub(super) any_two_by_two: Vec<DifferenceClass>,
}

pub(super) fn measure(corpus: &Corpus) -> Result<Outcomes, String> {
    const SPLITS: [([usize; 2], [usize; 2]); 3] =
        [([0, 1], [2, 3]), ([0, 2], [1, 3]), ([0, 3], [1, 2])];
    let suite = suite()?;
    let mut agents: BTreeMap<&str, BTreeMap<&str, Vec<&LabelledRun>>> = BTreeMap::new();
    for run in &corpus.runs {
        agents
            .entry(&run.agent)
            .or_default()
            .entry(&run.task)
            .or_default()
            .push(run);
    }
    let mut found = Outcomes::default();
    for tasks in agents.values() {
        let four: Vec<(&str, &Vec<&LabelledRun>)> = tasks
            .iter()
            .filter(|(_, runs)| runs.len() == 4)
            .map(|(task, runs)| (*task, runs))
            .collect();
        for (one, other) in SPLITS.iter().filter(|_| !four.is_empty()) {
            let side = |picked: &[usize; 2]| baseline(&suite, &four, picked);
            let compared = compare(
                (&side(one)?, "before"),
                (&side(other)?, "after"),
                mcptest::GATES,
            );
            found.drift.push(
                compared
                    .numbers
                    .iter()
                    .any(|number| number.class == DifferenceClass::Drift),
            );
            for (test, (_, runs)) in compared.tests.iter().zip(&four) {
                found.any_two_by_two.push(test.verdict);
                if runs.iter().all(|run| run.is_good) {
                    found.two_by_two.push(test.verdict);
                }
            }
        }
        for (task, runs) in tasks {
            for (at, one) in runs.iter().enumerate().filter(|(_, run)| run.is_good) {
                for other in runs[at + 1..].iter().filter(|run| run.is_good) {
                    for (before, after) in [(one, other), (other, one)] {
                        let of =
                            |run: &&LabelledRun| baseline(&suite, &[(*task, &vec![*run])], &[0]);
                        let compared = compare(
                            (&of(before)?, "before"),
                            (&of(after)?, "after"),
                            mcptest::GATES,
                        );
                        found.one_by_one.push(compared.verdict);
                    }
                }
            }
        }
    }
    Ok(found)
}

/// A suite with the gates that need no configuration.
fn suite() -> Result<Suite, String> {
    let text = "agents:\n  - name: measured\n    runs: 2\n    narrative: {}\n    stability: {}\n    orchestration: {}\n";
    let read = |_: &Path| Ok(text.as_bytes().to_vec());
    let loaded = load_for_traces(Path::new("measured.yml"), &Host::new(&read, &|_| None));
    loaded
        .suite
        .ok_or_else(|| "the suite of the measurement is refused".to_owned())
}

fn baseline(
    suite: &Suite,
    tasks: &[(&str, &Vec<&LabelledRun>)],
    picked: &[usize],
) -> Result<Baseline, String> {
    let row = suite.agent_rows().next().ok_or("the suite has no agent")?;
    let mut tests = Vec::new();
    for (task, runs) in tasks {
        let runs: Vec<&LabelledRun> = picked.iter().map(|at| runs[*at]).collect();
        let texts: Vec<String> = runs.iter().map(|run| run.trace.to_string()).collect();
        let traces = texts
            .iter()
            .map(|text| Trace::read(text))
            .collect::<Result<Vec<_>, _>>();
        let traces = traces.map_err(|error| error.to_string())?;
        let numbered = Run::all(&traces).into_iter().zip(&runs);
        let numbered: Vec<Run<'_>> = numbered
            .map(|(run, of)| Run {
                passed: of.is_good,
                ..run
            })
            .collect();
        tests.push(TestBaseline {
            name: (*task).to_owned(),
            ..capture(row, &numbered)
        });
    }
    Ok(Baseline {
        format: FORMAT.to_owned(),
        version: VERSION,
        model: None,
        tests,
    })
}
