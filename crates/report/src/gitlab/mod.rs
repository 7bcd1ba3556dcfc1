//! `gitlab`: a Code Quality report, which GitLab shows in merge requests.

use crate::failures::failures;
use crate::json::whole;
use crate::{Options, Reporter};
use mcptest_core::report::{Report, Status};
use serde_json::{Value, json};

pub(crate) const REPORTER: Reporter = Reporter::new(
    "gitlab",
    "a Code Quality report for GitLab: one entry per cause",
    "json",
    render,
);

fn render(report: &Report, options: &Options) -> Vec<u8> {
    let entries = failures(report).into_iter().map(|failure| {
        let test = failure.test;
        json!({
            "description": format!("{}: {}", test.row_name(), failure.message),
            "check_name": failure.rule,
            "fingerprint": failure.fingerprint(),
            "severity": match (failure.is_warning, test.status) {
                (true, _) => "minor",
                (false, Status::Error) => "critical",
                (false, _) => "major",
            },
            "location": { "path": test.suite.file, "lines": { "begin": test.suite.line } },
        })
    });
    let entries: Vec<Value> = entries.collect();
    whole(&entries, options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use std::collections::BTreeSet;

    #[test]
    fn every_cause_is_an_entry_with_a_fingerprint_of_its_own() {
        let report = sample::report();
        let entries: Vec<Value> =
            serde_json::from_slice(&render(&report, &Options::default())).unwrap();
        assert!(entries.len() >= report.summary.failed + report.summary.errors);
        let prints: BTreeSet<&str> = entries
            .iter()
            .map(|entry| entry["fingerprint"].as_str().unwrap())
            .collect();
        assert_eq!(prints.len(), entries.len());
        for entry in &entries {
            assert!(
                entry["location"]["path"]
                    .as_str()
                    .unwrap()
                    .starts_with("examples/"),
                "{entry}"
            );
            assert!(
                entry["location"]["lines"]["begin"].as_u64().unwrap() > 0,
                "{entry}"
            );
        }
    }
}
