//! `md`: a summary in Markdown, for a pull request or the page of a CI job.

use crate::doubts::doubts_of_passed;
use crate::failures::{Failure, failed_tests, next_command, outcome, verdict};
use crate::suites::by_suite;
use crate::words::{count, escape};
use crate::{Options, Reporter, leaderboard};
use mcptest_core::report::{Report, Status, TestReport};

pub(crate) const REPORTER: Reporter = Reporter::new(
    "md",
    "a summary in Markdown, for pull requests and job summaries",
    "md",
    render,
);

/// Failures beyond these are only counted: a comment on a pull request has a limit.
const SHOWN: usize = 50;

fn render(report: &Report, options: &Options) -> Vec<u8> {
    let mark = sign(outcome(report));
    let mut out = format!("## {mark} mcptest: {}\n", verdict(report));
    if report.summary.runs > 0 {
        out.push_str(&format!(
            "\n{} judged.\n",
            count(report.summary.runs, "recorded run")
        ));
    }
    let failed = failed_tests(report);
    if !failed.is_empty() {
        write_failures(&mut out, &failed);
    }
    if let Some(board) = &report.leaderboard {
        out.push_str(&leaderboard::md(board, "Models", options.sort));
    }
    if options.verbose > 0 || failed.is_empty() {
        out.push_str(&all(report));
    }
    out.into_bytes()
}

/// A table of the failed tests, and the commands to run them again.
fn write_failures(out: &mut String, failed: &[(&TestReport, Vec<Failure<'_>>)]) {
    out.push_str("\n| | Test | Cause |\n|---|---|---|\n");
    for (test, causes) in failed.iter().take(SHOWN) {
        let causes: Vec<String> = causes
            .iter()
            .map(|cause| format!("**{}**: {}", text(&cause.rule), text(&cause.message)))
            .collect();
        let place = format!("{}:{}", test.suite.file, test.suite.line);
        out.push_str(&format!(
            "| {} | {}<br>{} | {} |\n",
            sign(test.status),
            text(&test.row_name()),
            text(&place),
            causes.join("<br>")
        ));
    }
    if let Some(more @ 1..) = failed.len().checked_sub(SHOWN) {
        out.push_str(&format!("\n{} not shown.\n", count(more, "more test")));
    }
    out.push_str("\n<details><summary>Run them again</summary>\n\n```sh\n");
    for (test, _) in failed.iter().take(SHOWN) {
        let command = escape(next_command(test)).replace("```", "'''");
        out.push_str(&format!("{command}\n"));
    }
    out.push_str("```\n\n</details>\n");
}

/// Every test, folded.
fn all(report: &Report) -> String {
    if report.tests.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "\n<details><summary>{}</summary>\n",
        count(report.tests.len(), "test")
    );
    for (file, tests) in by_suite(report) {
        out.push_str(&format!("\n**{}**\n\n", text(file)));
        for test in tests {
            out.push_str(&format!(
                "- {} {}{}{}\n",
                sign(test.status),
                text(&test.row_name()),
                failed_runs(test),
                marks(test)
            ));
        }
    }
    out + "\n</details>\n"
}

/// ` (8 of 10 runs passed)` for a passed row with failed runs.
fn failed_runs(test: &TestReport) -> String {
    let (passed, runs) = (test.passed_runs(), test.runs.len());
    if test.status == Status::Passed && passed < runs {
        format!(" ({passed} of {} passed)", count(runs, "run"))
    } else {
        String::new()
    }
}

/// ` · golden_path not exercised` for a passed row with doubts.
fn marks(test: &TestReport) -> String {
    let doubts = doubts_of_passed(test);
    let mark = |doubt: &String| format!(" · {}", text(doubt));
    doubts.iter().map(mark).collect()
}

fn sign(status: Status) -> &'static str {
    match status {
        Status::Passed => "✅",
        Status::Failed => "❌",
        Status::Error => "⚠️",
        Status::Skipped => "⏭️",
    }
}

/// Foreign text, escaped for Markdown and HTML.
pub fn text(foreign: &str) -> String {
    let mut out = String::new();
    let mut is_in_word = false;
    for letter in escape(foreign).chars() {
        match letter {
            // Within a word it emphasizes nothing, and names of tools are full of it.
            '_' if is_in_word => out.push('_'),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '@' => out.push_str("&#64;"),
            '`' | '|' | '\\' | '*' | '_' | '[' | ']' | '#' | '~' | '!' => {
                out.extend(['\\', letter]);
            }
            letter => out.push(letter),
        }
        is_in_word = letter.is_alphanumeric();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use mcptest_core::eval::GATES;

    #[test]
    fn failures_come_first_with_their_causes_and_commands() {
        let report = sample::report();
        let text = String::from_utf8(render(&report, &Options::default())).unwrap();
        let failed = report.summary.failed + report.summary.errors;
        assert!(text.starts_with("## ❌ mcptest: "), "{text}");
        assert_eq!(
            text.matches("\n| ❌ | ").count() + text.matches("\n| ⚠️ | ").count(),
            failed,
            "{text}"
        );
        assert_eq!(text.matches("\nmcptest ").count(), failed, "{text}");
    }

    #[test]
    fn text_of_others_is_no_markdown() {
        let name = "a | b\n## [x](y) <script> @all `c`";
        let test = sample::test("a.yml", 1, name, Status::Failed, |_| {});
        let text = String::from_utf8(render(&Report::new(vec![test], GATES), &Options::default()))
            .unwrap();
        assert!(
            text.contains("a \\| b\\\\n\\#\\# \\[x\\](y) &lt;script> &#64;all \\`c\\`"),
            "{text}"
        );
    }
}
