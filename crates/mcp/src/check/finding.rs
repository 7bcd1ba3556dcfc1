//! What is the result of a probe?

use super::bench::Bench;
use super::{NotSent, Options, Outcome, Probe};
use crate::client::{CallFailure, Misbehaviour as M};
use mcptest_core::escape::escape;
use mcptest_core::report::{Probe as Shown, Reason, ReasonKind, Status, TestReport};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// What was sent, what came, and what that means.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    /// What was sent.
    pub(super) sent: String,
    /// What came.
    pub(super) came: String,
    /// What it means.
    pub(super) verdict: Verdict,
}

/// What a probe means for the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It did what is asked of it.
    Held,
    /// It did what the specification forbids, or not what it demands.
    Broken(String),
    /// It did not do what the specification recommends.
    Weak(String),
}

impl Finding {
    /// The server did what is asked of it.
    pub(super) fn held() -> Self {
        Self {
            sent: String::new(),
            came: String::new(),
            verdict: Verdict::Held,
        }
    }

    /// The server broke a rule.
    pub(super) fn broken(why: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Broken(why.into()),
            ..Self::held()
        }
    }

    /// The server did not follow a recommendation.
    pub(super) fn weak(why: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Weak(why.into()),
            ..Self::held()
        }
    }

    /// The first of these that is broken, else the first that is weak, else that all is well.
    pub(super) fn worst(findings: impl IntoIterator<Item = Verdict>) -> Self {
        let mut worst = Verdict::Held;
        for verdict in findings {
            match (&worst, &verdict) {
                (Verdict::Held, _) | (Verdict::Weak(_), Verdict::Broken(_)) => worst = verdict,
                _ => {}
            }
        }
        Self {
            verdict: worst,
            ..Self::held()
        }
    }

    /// With what was sent.
    pub(super) fn sent(mut self, text: impl AsRef<str>) -> Self {
        text.as_ref().clone_into(&mut self.sent);
        self
    }

    /// With what came.
    pub(super) fn came(mut self, text: impl AsRef<str>) -> Self {
        text.as_ref().clone_into(&mut self.came);
        self
    }
}

/// The answer to a request.
#[derive(Debug, Clone)]
pub(super) enum Answer {
    /// A result.
    Result(Value),
    /// An error with its code, or a refusal with its HTTP status.
    Error(i64, String),
    /// No answer that can be used.
    None(String),
}

impl Answer {
    pub(super) fn of(outcome: Result<Box<RawValue>, CallFailure>) -> Self {
        match outcome {
            Ok(result) => Self::Result(serde_json::from_str(result.get()).unwrap_or_default()),
            Err(CallFailure::Rpc(error)) => Self::Error(error.code, error.message),
            Err(CallFailure::Wire(error)) => match &error.misbehaviour {
                M::TryLater { status, body, .. } => Self::Error(i64::from(*status), body.clone()),
                M::UnexpectedStatus { status, body } if *status < 500 => {
                    Self::Error(i64::from(*status), body.clone())
                }
                // It answered, and wants to ask the user.
                M::InputRefused { .. } | M::TooManyRounds(_) => {
                    Self::Result(json!({ "resultType": "input_required" }))
                }
                M::Forbidden(body) => Self::Error(403, body.clone()),
                M::NotFound { body, .. } => Self::Error(404, body.clone()),
                why => Self::None(why.sentence(&error.method)),
            },
        }
    }

    /// The answer in a message, where it is one.
    pub(super) fn in_message(text: &str) -> Option<Self> {
        let message: Value = serde_json::from_str(text).ok()?;
        if let Some(code) = message["error"]["code"].as_i64() {
            let words = message["error"]["message"].as_str().unwrap_or_default();
            return Some(Self::Error(code, words.to_owned()));
        }
        message
            .get("result")
            .map(|result| Self::Result(result.clone()))
    }

    /// True for the result of a tool that says it failed.
    pub(super) fn is_tool_error(&self) -> bool {
        matches!(self, Self::Result(result) if result["isError"] == Value::Bool(true))
    }

    /// True for any refusal.
    pub(super) fn is_refusal(&self) -> bool {
        self.is_tool_error() || matches!(self, Self::Error(..))
    }

    /// In the words of a report.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Result(result) => format!("result {result}"),
            Self::Error(code, message) => format!("error {code} {message}"),
            Self::None(why) => why.clone(),
        }
    }
}

const SHOWN: usize = 400;

/// A string of the server's as a report may have it: without secrets, on one line, and only then cut.
fn shown(text: &str, options: &Options) -> String {
    let text = escape(&(options.redact)(text)).into_owned();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} (and {} more bytes)", &text[..end], text.len() - end),
        None => text,
    }
}

pub(super) fn row(probe: &Probe, outcome: Outcome, bench: &Bench, options: &Options) -> TestReport {
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
                let message = format!("it was not tried, which `--deny-skipped` forbids: {why}");
                let reason = Reason::new(ReasonKind::ProbeNotSent, shown(&message, options));
                let help = "give the server something to try, or leave the probe out with `--only`; \
                            `--allow-writes` calls tools that do not say `readOnlyHint: true`";
                (Status::Failed, Some(reason.help(help)))
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
    let mut report = TestReport::of_probe(&bench.spec.name, row, status, reason, rerun);
    report.servers.extend(bench.recorded());
    report
}

/// A line each for what was sent, what came and what is said of it.
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
