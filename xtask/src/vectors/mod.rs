//! Does the library give what the golden vectors say?

mod classes;
mod compare;
mod comparisons;
mod estimates;
mod input;
mod intervals;
mod narrative;
mod policies;
mod reliability;
mod selection;
mod sequences;
mod sequential;
mod stability;
mod trajectories;

use input::Input;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

/// Evaluates one input through the library; its error is the vector's `error`.
type Evaluate = fn(&Input<'_>) -> Result<Value, String>;

/// A metric's name and its function.
type Metric = (&'static str, Evaluate);

/// Every metric that is built, by family; vectors of other metrics are skipped.
const FAMILIES: &[&[Metric]] = &[
    classes::METRICS,
    comparisons::METRICS,
    estimates::METRICS,
    intervals::METRICS,
    narrative::METRICS,
    policies::METRICS,
    reliability::METRICS,
    selection::METRICS,
    sequences::METRICS,
    sequential::METRICS,
    trajectories::METRICS,
    stability::METRICS,
];

const DEFAULT_FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../crates/core/tests/golden/vectors.json"
);

/// Evaluates a file of vectors, prints each failure and the totals.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, String> {
    let file = arguments.first().map_or(DEFAULT_FILE, String::as_str);
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let vectors: Vec<Value> =
        serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))?;
    let totals = Totals::over(&vectors);
    // A closed pipe is the reader's choice; the exit code still tells.
    let _ = std::io::stdout().write_all(totals.to_string().as_bytes());
    Ok(ExitCode::from(u8::from(!totals.failures.is_empty())))
}

/// The results of a file's vectors.
#[derive(Debug, Default)]
struct Totals {
    passed: usize,
    failures: Vec<String>,
    /// The number of vectors of each metric that is not implemented.
    skipped: BTreeMap<String, usize>,
}

impl Totals {
    fn over(vectors: &[Value]) -> Self {
        let mut totals = Self::default();
        for vector in vectors {
            let metric = vector["metric"].as_str().unwrap_or_default();
            match find(metric).map(|evaluate| judge(vector, evaluate)) {
                None => *totals.skipped.entry(metric.to_owned()).or_default() += 1,
                Some(Ok(())) => totals.passed += 1,
                Some(Err(failure)) => totals.failures.push(failure),
            }
        }
        totals
    }
}

impl std::fmt::Display for Totals {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for failure in &self.failures {
            writeln!(out, "{failure}")?;
        }
        for (metric, count) in &self.skipped {
            writeln!(out, "skipped {metric}: {count}")?;
        }
        let skipped: usize = self.skipped.values().sum();
        writeln!(
            out,
            "{} passed, {} failed, {skipped} skipped",
            self.passed,
            self.failures.len()
        )
    }
}

fn find(metric: &str) -> Option<Evaluate> {
    FAMILIES
        .iter()
        .copied()
        .flatten()
        .find(|(name, _)| *name == metric)
        .map(|&(_, evaluate)| evaluate)
}

fn judge(vector: &Value, evaluate: Evaluate) -> Result<(), String> {
    let expected = &vector["expected"];
    let tolerance = vector["tol"].as_f64().unwrap_or(1e-12);
    let got = evaluate(&Input(&vector["input"]));
    let holds = match &got {
        Ok(got) => expected.get("error").is_none() && compare::agrees(expected, got, tolerance),
        Err(_) => expected.get("error").is_some(),
    };
    if holds {
        return Ok(());
    }
    let got = got.map_or_else(|error| format!("error: {error}"), |got| got.to_string());
    Err(format!(
        "FAILED {}: expected {expected}, got {got}",
        vector["id"].as_str().unwrap_or("(no id)")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_golden_vectors_of_the_built_metrics_hold() {
        let text = std::fs::read_to_string(DEFAULT_FILE).unwrap();
        let totals = Totals::over(&serde_json::from_str::<Vec<Value>>(&text).unwrap());
        assert_eq!(totals.failures, Vec::<String>::new());
        assert!(totals.passed > 150, "{totals}");
    }

    #[test]
    fn a_wrong_vector_fails_and_an_unknown_metric_is_skipped() {
        let vectors = [
            json!({"id": "a", "metric": "holm", "input": {"p": ["0.2"]}, "expected": {"adjusted": [0.3]}}),
            json!({"id": "b", "metric": "holm", "input": {"p": ["0.2"]}, "expected": {"error": "domain"}}),
            json!({"id": "c", "metric": "holm", "input": {"p": ["2"]}, "expected": {"error": "domain"}}),
            json!({"id": "d", "metric": "holm", "input": {"p": ["2"]}, "expected": {"adjusted": [1.0]}}),
            json!({"id": "e", "metric": "horoscope", "input": {}, "expected": {}}),
        ];
        let totals = Totals::over(&vectors);
        assert_eq!(totals.failures.len(), 3);
        assert!(
            totals.failures[0].starts_with("FAILED a: expected "),
            "{totals}"
        );
        assert!(
            totals
                .to_string()
                .ends_with("skipped horoscope: 1\n1 passed, 3 failed, 1 skipped\n"),
            "{totals}"
        );
    }

    #[test]
    fn each_metric_is_registered_once() {
        let mut names: Vec<&str> = FAMILIES
            .iter()
            .copied()
            .flatten()
            .map(|(name, _)| *name)
            .collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
