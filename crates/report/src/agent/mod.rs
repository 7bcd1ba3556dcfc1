//! `agent`: a short digest for a coding agent: the verdict, then one cause and one command per failure.

use crate::failures::{failed_tests, next_command, outcome, verdict};
use crate::words::{SCREEN, clipped, count};
use crate::{Options, Reporter};
use mcptest_core::report::{Report, Status};

pub(crate) const REPORTER: Reporter = Reporter::new(
    "agent",
    "a short digest for coding agents: the verdict, then a cause and a command per failure",
    "txt",
    render,
);

/// Further failures are only counted: a reader with a short memory fixes the first ones first.
const SHOWN: usize = 20;

fn render(report: &Report, _: &Options) -> Vec<u8> {
    let word = match outcome(report) {
        Status::Passed => "PASSED",
        Status::Skipped => "SKIPPED",
        Status::Failed | Status::Error => "FAILED",
    };
    let mut out = format!("{word}: {}\n", verdict(report));
    let failed = failed_tests(report);
    for (number, (test, causes)) in (1..=SHOWN).zip(&failed) {
        let name = clipped(&test.row_name(), SCREEN.text);
        out.push_str(&format!(
            "\n{number}. {name} ({}:{})\n",
            clipped(test.file_here(), SCREEN.text),
            test.suite.line
        ));
        if let Some(cause) = causes.first() {
            let more = match causes.len() - 1 {
                0 => String::new(),
                more => format!(" (and {})", count(more, "more cause")),
            };
            out.push_str(&format!(
                "   cause: {}: {}{more}\n",
                cause.rule, cause.message
            ));
        }
        if let Some(help) = test.reason.as_ref().and_then(|reason| reason.help.as_ref()) {
            out.push_str(&format!("   help: {}\n", clipped(help, SCREEN.text)));
        }
        out.push_str(&format!(
            "   run: {}\n",
            clipped(next_command(test), usize::MAX)
        ));
    }
    if let Some(more @ 1..) = failed.len().checked_sub(SHOWN) {
        out.push_str(&format!("\n{} not shown\n", count(more, "more failure")));
    }
    out.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use mcptest_core::eval::GATES;

    #[test]
    fn the_verdict_is_first_and_each_failure_has_one_cause_and_one_command() {
        let report = sample::report();
        let text = String::from_utf8(render(&report, &Options::default())).unwrap();
        assert!(text.starts_with("FAILED: "), "{text}");
        let failed = report.summary.failed + report.summary.errors;
        assert_eq!(text.matches("\n   cause: ").count(), failed, "{text}");
        assert_eq!(text.matches("\n   run: mcptest ").count(), failed, "{text}");
        assert!(
            text.contains("--record=stale"),
            "the command that mends it, not the one that fails again: {text}"
        );
    }

    #[test]
    fn what_passed_is_one_line() {
        let passed = sample::test(
            "a.yml",
            1,
            "a",
            mcptest_core::report::Status::Passed,
            |_| {},
        );
        let text = String::from_utf8(render(
            &Report::new(vec![passed], GATES),
            &Options::default(),
        ))
        .unwrap();
        assert_eq!(text, "PASSED: 1 test passed\n");
    }
}
