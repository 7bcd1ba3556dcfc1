//! Which row of the report does the result of a probe become?

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
    let (status, reason) = match finding.verdict {
        Verdict::Held => not_sent.map_or((Status::Passed, None), |why| unsent(why, options)),
        Verdict::Broken(message) => failed(&message, &row, probe, options),
        Verdict::Weak(message) if options.strict => failed(&message, &row, probe, options),
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

/// The status of a probe that the server failed.
fn failed(
    message: &str,
    row: &Shown,
    probe: &Probe,
    options: &Options,
) -> (Status, Option<Reason>) {
    let reason = Reason::new(ReasonKind::ProbeFailed, shown(message, options));
    let reason = reason.details(details(row)).help(probe.help);
    (Status::Failed, Some(reason))
}

/// The status of a probe that was not sent, or did not finish.
fn unsent(not_sent: NotSent, options: &Options) -> (Status, Option<Reason>) {
    match not_sent {
        NotSent::NothingToTry(why) if options.deny_skipped => {
            let message = format!("it could not run, which `--deny-skipped` forbids: {why}");
            let reason = Reason::new(ReasonKind::ProbeNotSent, shown(&message, options));
            let help = "give the server something to test, or select other probes with \
                `--only`; `--allow-writes` calls tools that do not say `readOnlyHint: true`";
            (Status::Failed, Some(reason.help(help)))
        }
        NotSent::NotFinished(why) => {
            let reason = Reason::new(ReasonKind::ProbeNotFinished, shown(&why, options));
            (Status::Error, Some(reason.help(NOT_FINISHED_HELP)))
        }
        NotSent::NothingToTry(why) | NotSent::DoesNotApply(why) => {
            let reason = Reason::new(ReasonKind::ProbeNotSent, shown(&why, options));
            (Status::Skipped, Some(reason))
        }
    }
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
