//! `sarif`: SARIF 2.1.0, which code hosts show next to the lines of a suite.

use crate::failures::{failures, next_command};
use crate::json::whole;
use crate::{Options, Reporter};
use mcptest_core::report::Report;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(crate) const REPORTER: Reporter = Reporter::new(
    "sarif",
    "SARIF 2.1.0 for code hosts: one result per cause",
    "sarif",
    render,
);

fn render(report: &Report, options: &Options) -> Vec<u8> {
    let failures = failures(report);
    let rules: BTreeMap<&str, Value> = failures
        .iter()
        .map(|failure| (failure.rule.as_str(), rule(&failure.rule, report)))
        .collect();
    let results: Vec<Value> = failures
        .iter()
        .map(|failure| {
            let test = failure.test;
            let name = test.row_name();
            json!({
                "ruleId": failure.rule,
                "level": if failure.is_warning { "warning" } else { "error" },
                "message": { "text": format!("{name}: {}\nNext command: {}", failure.message, next_command(test)) },
                "locations": [{ "physicalLocation": {
                    "artifactLocation": { "uri": uri(&test.suite.file) },
                    "region": { "startLine": test.suite.line.max(1) },
                }}],
                "partialFingerprints": { "mcptest/v1": failure.fingerprint() },
            })
        })
        .collect();
    let driver = json!({
        "name": "mcptest",
        "version": env!("CARGO_PKG_VERSION"),
        "rules": rules.into_values().collect::<Vec<_>>(),
    });
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{ "tool": { "driver": driver }, "columnKind": "unicodeCodePoints", "results": results }],
    });
    whole(&document, options)
}

/// A gate is explained by its summary; `expect` and the kinds of errors by their names.
fn rule(id: &str, report: &Report) -> Value {
    let short = match report.gates.get(id) {
        Some(gate) => gate.summary.clone(),
        None => id.replace('-', " "),
    };
    json!({ "id": id, "shortDescription": { "text": short } })
}

/// A path as a relative reference, percent-encoded.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.replace('\\', "/").bytes() {
        let is_plain = byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=@".contains(&byte);
        if is_plain {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn every_result_has_a_rule_and_a_place() {
        let document: Value =
            serde_json::from_slice(&render(&sample::report(), &Options::default())).unwrap();
        let run = &document["runs"][0];
        let rules: Vec<&str> = run["tool"]["driver"]["rules"]
            .as_array()
            .unwrap()
            .iter()
            .map(|rule| rule["id"].as_str().unwrap())
            .collect();
        let results = run["results"].as_array().unwrap();
        assert!(!results.is_empty());
        for result in results {
            assert!(
                rules.contains(&result["ruleId"].as_str().unwrap()),
                "{result}"
            );
            let place = &result["locations"][0]["physicalLocation"];
            assert!(
                place["region"]["startLine"].as_u64().unwrap() > 0,
                "{result}"
            );
        }
    }

    #[test]
    fn a_path_is_a_uri() {
        assert_eq!(uri("my suites/a:b#1.yml"), "my%20suites/a%3Ab%231.yml");
    }
}
