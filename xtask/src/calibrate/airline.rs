//! Does a world with a state give the verdict of the benchmark?

use super::corpus::Corpus;
use super::judge::Gates;
use mcptest_core::suite::yaml_to_json;
use serde_json::{Value, json};

const WORLD: &str = include_str!("airline.yml");

/// The verdicts of the scenario and of the benchmark on a run.
pub(super) struct Verdict {
    pub(super) passed: bool,
    pub(super) is_good: bool,
}

/// Measures every run of an airline task: the expected state is the result of its task's calls.
pub(super) fn measure(corpus: &Corpus) -> Result<Vec<Verdict>, String> {
    let world = yaml_to_json(WORLD).ok_or("the world cannot be read")?;
    let transitions = world["transitions"].as_array().into_iter().flatten();
    let writes: Vec<&str> = transitions
        .filter_map(|transition| transition["tool"].as_str())
        .collect();
    let is_write = |name: &Value| name.as_str().is_some_and(|name| writes.contains(&name));
    let is_airline = corpus
        .runs
        .iter()
        .flat_map(|run| run.actions.iter().flatten())
        .any(|it| is_write(&it["name"]));
    let mut verdicts = Vec::new();
    for run in corpus.runs.iter().filter(|_| is_airline) {
        let Some(actions) = &run.actions else {
            continue;
        };
        let call = |action: &Value| json!({ "tool": action["name"], "args": action["kwargs"] });
        let mut scenario = world.clone();
        scenario["golden"] = json!({ "calls": actions.iter().map(call).collect::<Vec<_>>() });
        let gates = Gates::of(&format!("    scenario: {scenario}\n"), 1)?;
        let passed = gates.pass(&[&run.trace], None)?;
        if passed != run.is_good && std::env::var_os("MCPTEST_CALIBRATE_SHOW").is_some() {
            crate::say(&format!(
                "scenario: task {} is {}, judged {passed}\n",
                run.task, run.is_good
            ));
        }
        verdicts.push(Verdict {
            passed,
            is_good: run.is_good,
        });
    }
    Ok(verdicts)
}
