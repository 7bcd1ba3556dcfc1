//! The result of a probe becomes a row of the report.

use super::bench::ServerUnderTest;
use super::finding::{Finding, Verdict};
use super::{NotSent, Options, Probe, ProbeOutcome};
use mcptest_core::escape::escape;
use mcptest_core::report::{Probe as Shown, Reason, ReasonKind, Status, TestReport};

const SHOWN: usize = 400;

/// The way out of a check that was too short.
const NOT_FINISHED_HELP: &str =
    "give the check more time with `--timeout`, or send fewer probes with `--only`";

/// A text of the server for a report: without secrets, on one line, and only then cut.
fn shown(text: &str, options: &Options) -> String {
    let text = escape(&(options.redact)(text)).into_owned();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} (and {} more bytes)", &text[..end], text.len() - end),
        None => text,
    }
}

pub(super) fn row(
    probe: &Probe,
    outcome: ProbeOutcome,
    bench: &ServerUnderTest,
    options: &Options,
) -> TestReport {
    let section = probe.section(bench.era()).unwrap_or_default();
    let (finding, not_sent) = match outcome {
        Ok(finding) => (finding, None),
        Err(not_sent) => (Finding::held(), Some(not_sent)),
    };
    let mut row = Shown {
        id: probe.id.to_owned(),
        family: probe.family().to_owned(),
        title: probe.title.to_owned(),
        sent: shown(&finding.sent, options),
        came: shown(&finding.came, options),
        says: probe.says.to_owned(),
        section,
        warning: None,
    };
    let failed = |message: String, probe_shown: &Shown| {
        let (message, details) = (shown(&message, options), details(probe_shown));
        (
            Status::Failed,
            Some(
                Reason::new(ReasonKind::ProbeFailed, message)
                    .details(details)
                    .help(probe.help),
            ),
        )
    };
    let (status, reason) = match finding.verdict {
        Verdict::Held => match not_sent {
            Some(NotSent::NothingToTry(why)) if options.deny_skipped => {
                let message = format!("it could not run, which `--deny-skipped` forbids: {why}");
                let reason = Reason::new(ReasonKind::ProbeNotSent, shown(&message, options));
                let help = "give the server something to test, or select other probes with \
                `--only`; `--allow-writes` calls tools that do not say `readOnlyHint: true`";
                (Status::Failed, Some(reason.help(help)))
            }
            Some(NotSent::NotFinished(why)) => {
                let reason = Reason::new(ReasonKind::ProbeNotFinished, shown(&why, options));
                (Status::Error, Some(reason.help(NOT_FINISHED_HELP)))
            }
            Some(NotSent::NothingToTry(why) | NotSent::DoesNotApply(why)) => (
                Status::Skipped,
                Some(Reason::new(ReasonKind::ProbeNotSent, shown(&why, options))),
            ),
            None => (Status::Passed, None),
        },
        Verdict::Broken(message) => failed(message, &row),
        Verdict::Weak(message) if options.strict => failed(message, &row),
        Verdict::Weak(message) => {
            row.warning = Some(shown(&message, options));
            (Status::Passed, None)
        }
    };
    let rerun = options
        .command
        .replacen(" check", &format!(" check --only {}", probe.id), 1);
    let mut report = TestReport::from_probe(&bench.spec.name, row, status, reason, rerun);
    report.servers.extend(bench.recorded());
    report
}

/// A line each for the message, the answer and the finding.
fn details(shown: &Shown) -> Vec<String> {
    let lines = [("sent", &shown.sent), ("came", &shown.came)];
    let mut details: Vec<String> = lines
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(label, text)| format!("{label}: {text}"))
        .collect();
    details.push(format!("{}: {}", shown.section, shown.says));
    details
}
