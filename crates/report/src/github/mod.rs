//! `github`: workflow commands, which GitHub shows next to the lines of a suite.

use crate::failures::{failures, next_command, outcome, verdict};
use crate::words::{SCREEN, clipped};
use crate::{Options, Reporter};
use mcptest_core::escape::escape_lines;
use mcptest_core::report::{Report, Status};

const DOC: &str = "annotations for GitHub Actions: one per cause, then the verdict";

pub(crate) const REPORTER: Reporter = Reporter {
    is_commands: true,
    ..Reporter::new("github", DOC, "txt", render)
};

/// Foreign text cannot end a command: line ends and the marks between properties are escaped.
fn render(report: &Report, _: &Options) -> Vec<u8> {
    let mut out = String::new();
    for failure in failures(report) {
        let test = failure.test;
        out.push_str(&format!(
            "::{} file={},line={},title={}::{}: {}%0A{}\n",
            if failure.is_warning {
                "warning"
            } else {
                "error"
            },
            property(&test.suite.file),
            test.suite.line,
            property(&clipped(&test.row_name(), SCREEN.value)),
            data(&failure.rule),
            data(&failure.message),
            data(next_command(test)),
        ));
    }
    let level = match outcome(report) {
        Status::Passed => "notice",
        Status::Skipped => "warning",
        Status::Failed | Status::Error => "error",
    };
    out.push_str(&format!(
        "::{level} title=mcptest::{}\n",
        data(&verdict(report))
    ));
    out.into_bytes()
}

/// Shows characters that would control a terminal or reverse text, because people read the log on a terminal.
fn data(text: &str) -> String {
    escape_lines(text, false)
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use mcptest_core::eval::GATES;
    use mcptest_core::report::Status;

    #[test]
    fn every_line_is_one_command() {
        let text = String::from_utf8(render(&sample::report(), &Options::default())).unwrap();
        assert!(text.lines().count() > 1);
        assert!(
            text.lines().all(|line| line.starts_with("::error ")),
            "{text}"
        );
        assert!(
            text.contains(
                "::error file=examples/stale.yml,line=3,title=old recording::recording-stale: "
            ),
            "{text}"
        );
    }

    #[test]
    fn a_name_ends_no_command_and_begins_none() {
        let test = sample::test(
            "a,b.yml",
            1,
            "x\n::set-output name=a::b",
            Status::Failed,
            |_| {},
        );
        let text = String::from_utf8(render(&Report::new(vec![test], GATES), &Options::default()))
            .unwrap();
        assert!(
            text.lines().all(|line| line.starts_with("::error ")),
            "{text}"
        );
        assert!(
            text.starts_with("::error file=a%2Cb.yml,line=1,title=x"),
            "{text}"
        );
    }

    #[test]
    fn what_passed_is_a_notice() {
        let test = sample::test("a.yml", 1, "x", Status::Passed, |_| {});
        let text = String::from_utf8(render(&Report::new(vec![test], GATES), &Options::default()))
            .unwrap();
        assert_eq!(text, "::notice title=mcptest::1 test passed\n");
    }
}
