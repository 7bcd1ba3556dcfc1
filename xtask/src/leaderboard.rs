//! `leaderboard`: does the library compute the leaderboard that others published from the same runs?

use crate::say;
use mcptest_core::report::TestReport;
use mcptest_core::report::leaderboard::{ModelRow, model_row};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

/// The precision of the published figures.
const DIGIT: f64 = 0.0001;

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, String> {
    let [folder] = arguments else {
        return Err("usage: cargo xtask leaderboard DIR".to_owned());
    };
    let folder = Path::new(folder);
    let summary = read(&folder.join("summary.json"))?;
    let k = summary["k"].as_u64().ok_or("summary.json has no `k`")?;
    let tests = tests(&folder.join("model_results"))?;
    let mut differing = Vec::new();
    let mut compared = 0;
    let is_section = |(_, section): &(&String, &Value)| section.is_object();
    for (section, models) in summary.as_object().into_iter().flatten().filter(is_section) {
        for (model, published) in models.as_object().into_iter().flatten() {
            let chosen: Vec<&TestReport> = tests
                .iter()
                .filter(|test| test.model.as_deref() == Some(model))
                .filter(|test| section == "overall" || test.suite.file == *section)
                .collect();
            let figures = figures(model, &chosen, k);
            for (name, value) in &figures {
                let Some(said) = published_as(published, name) else {
                    continue;
                };
                compared += 1;
                // A half may be rounded either way.
                if (value - said).abs() > DIGIT / 2.0 + 1e-9 {
                    differing.push(format!(
                        "{section} {model} {name}: {value} here, {said} published"
                    ));
                }
            }
        }
    }
    for line in &differing {
        say(line);
    }
    say(&format!(
        "{} of {compared} published figures agree to the digit",
        compared - differing.len()
    ));
    Ok(ExitCode::from(u8::from(
        !differing.is_empty() || compared == 0,
    )))
}

/// pass@1, and pass@k and pass^k if every test has k runs.
fn figures(model: &str, tests: &[&TestReport], k: u64) -> BTreeMap<String, f64> {
    let mut figures = BTreeMap::new();
    let of = |k: u64| -> Option<ModelRow> { model_row(model, tests, k) };
    figures.extend(of(1).map(|row| ("pass@1".to_owned(), row.pass_1)));
    if let Some(row) = of(k) {
        figures.insert(format!("pass@{k}"), row.pass_k);
        figures.insert(format!("pass^{k}"), row.pass_hat_k);
    }
    figures
}

fn published_as(published: &Value, name: &str) -> Option<f64> {
    let figure = &published[name];
    figure.as_f64().or_else(|| figure["avg"].as_f64())
}

/// A test for each file `MODEL/TASK.json`, under the service that the task is of.
fn tests(folder: &Path) -> Result<Vec<TestReport>, String> {
    let mut tests = Vec::new();
    for model in list(folder)? {
        for file in list(&model)? {
            let task = read(&file)?;
            let broken = |what: &str| format!("{}: {what}", file.display());
            let runs = task["runs"]
                .as_object()
                .ok_or_else(|| broken("it has no `runs`"))?;
            let run = |(at, run): (usize, &Value)| {
                let status = if run["success"] == true {
                    "passed"
                } else {
                    "failed"
                };
                json!({ "index": at + 1, "status": status, "expectations": [] })
            };
            let runs: Vec<Value> = runs.values().enumerate().map(run).collect();
            let test = json!({ "name": task["task"], "model": task["model"], "status": "passed", "rerun": "", "gates": [],
                "suite": { "file": task["service"], "line": 1 }, "runs": runs });
            tests.push(serde_json::from_value(test).map_err(|error| broken(&error.to_string()))?);
        }
    }
    Ok(tests)
}

fn list(folder: &Path) -> Result<Vec<std::path::PathBuf>, String> {
    let error = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries = std::fs::read_dir(folder).map_err(error)?;
    let mut paths = entries
        .map(|entry| Ok(entry.map_err(error)?.path()))
        .collect::<Result<Vec<_>, String>>()?;
    paths.sort();
    Ok(paths)
}

fn read(file: &Path) -> Result<Value, String> {
    let text =
        std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))
}
