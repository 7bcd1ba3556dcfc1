//! `tap`: the Test Anything Protocol, version 14, one point per test.

use crate::doubts::doubts_of_passed;
use crate::failures::{hides_failed_runs, next_command, of_test};
use crate::words::{FILE, clipped, count, escape};
use crate::{Options, Reporter};
use mcptest_core::report::{Report, Status, TestReport};
use serde_json::json;

pub(crate) const REPORTER: Reporter =
    Reporter::new("tap", "TAP version 14: one point per test", "tap", render);

fn render(report: &Report, _: &Options) -> Vec<u8> {
    let mut out = format!("TAP version 14\n1..{}\n", report.tests.len());
    for (number, test) in (1..).zip(&report.tests) {
        let name = description(&format!("{}: {}", test.suite.file, test.row_name()));
        let ok = if matches!(test.status, Status::Passed | Status::Skipped) {
            "ok"
        } else {
            "not ok"
        };
        let skip = match &test.reason {
            Some(reason) if test.status == Status::Skipped => {
                format!(" # SKIP {}", description(&reason.message))
            }
            _ => String::new(),
        };
        out.push_str(&format!("{ok} {number} - {name}{skip}\n"));
        if let Some(warning) = test.warning() {
            out.push_str(&format!("# warning: {}\n", clipped(warning, FILE.text)));
        }
        if hides_failed_runs(test) {
            let runs = count(test.runs.len(), "run");
            out.push_str(&format!("# {} of {runs} passed\n", test.passed_runs()));
        }
        for doubt in doubts_of_passed(test) {
            out.push_str(&format!("# {doubt}\n"));
        }
        out.push_str(&diagnostics(test));
    }
    out.into_bytes()
}

/// Escapes `#`, which would begin a directive, with `\`.
fn description(text: &str) -> String {
    clipped(text, FILE.value)
        .replace('\\', "\\\\")
        .replace('#', "\\#")
}

/// The problem as YAML. A JSON string is a YAML string.
fn diagnostics(test: &TestReport) -> String {
    let causes = of_test(test, FILE);
    if causes.is_empty() {
        return String::new();
    }
    let text = |value: &str| json!(escape(value)).to_string();
    let mut out = "  ---\n".to_owned();
    let severity = if test.status == Status::Error {
        "error"
    } else {
        "fail"
    };
    out.push_str(&format!(
        "  severity: {severity}\n  at:\n    file: {}\n    line: {}\n",
        text(&test.suite.file),
        test.suite.line
    ));
    out.push_str("  causes:\n");
    for cause in causes {
        out.push_str(&format!(
            "    - {}: {}\n",
            text(&cause.rule),
            text(&cause.message)
        ));
    }
    out.push_str(&format!("  run: {}\n  ...\n", text(next_command(test))));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use mcptest_core::eval::GATES;

    #[test]
    fn every_test_is_a_point_and_a_failed_one_says_why() {
        let report = sample::report();
        let text = String::from_utf8(render(&report, &Options::default())).unwrap();
        let points: Vec<&str> = text
            .lines()
            .filter(|line| line.starts_with("ok ") || line.starts_with("not ok "))
            .collect();
        assert_eq!(points.len(), report.tests.len());
        assert!(text.starts_with(&format!("TAP version 14\n1..{}\n", points.len())));
        let failed = report.summary.failed + report.summary.errors;
        assert_eq!(
            points
                .iter()
                .filter(|point| point.starts_with("not ok"))
                .count(),
            failed
        );
        assert_eq!(text.matches("\n  ---\n").count(), failed);
        assert_eq!(
            points
                .iter()
                .filter(|point| point.contains(" # SKIP "))
                .count(),
            report.summary.skipped
        );
    }

    #[test]
    fn a_name_gives_no_directive_and_no_line_of_its_own() {
        let test = sample::test("a.yml", 1, "x # SKIP\nok 2 - y", Status::Failed, |_| {});
        let text = String::from_utf8(render(&Report::new(vec![test], GATES), &Options::default()))
            .unwrap();
        assert_eq!(
            text.lines().nth(2),
            Some("not ok 1 - a.yml: x \\# SKIP\\\\nok 2 - y"),
            "{text}"
        );
    }
}
