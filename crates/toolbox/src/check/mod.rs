//! Does a server follow the specification, even for requests that no good client makes?

mod answer;
mod bench;
mod edge;
mod errors;
mod finding;
mod lifecycle;
mod report;
mod schema;
mod security;
mod time_limit;
mod tools;

use finding::{Finding, Verdict};
use time_limit::{TimeLimit, TimedOut};

use bench::ServerUnderTest;
use mcptest_core::eval::Gates;
use mcptest_core::report::{Report, TestReport};
use mcptest_mcp::client::{Misbehaviour, ServerSpec, WireError};
use mcptest_mcp::era::{Era, LATEST_LEGACY, LATEST_MODERN};
use std::borrow::Cow;
use std::pin::Pin;
use std::time::{Duration, Instant};

/// One probe of a server.
pub struct Probe {
    /// Its id: the family, and a name within it.
    pub id: &'static str,
    /// The behaviour of a good server.
    pub title: &'static str,
    /// The rule in the specification.
    pub says: &'static str,
    /// The page and heading of the rule, for the legacy and the modern protocol. Empty without a rule.
    sections: [&'static str; 2],
    /// The fix for a finding.
    pub help: &'static str,
    run: for<'a> fn(&'a mut ServerUnderTest) -> Running<'a>,
}

/// A probe under way.
type Running<'a> = Pin<Box<dyn Future<Output = ProbeOutcome> + Send + 'a>>;

/// The result of a probe, or why it has none.
type ProbeOutcome = Result<Finding, NotSent>;

/// Why a probe has no finding.
#[derive(Debug, Clone, PartialEq, Eq)]
enum NotSent {
    /// The server lacks the probe's subject: another transport or protocol, or a missing feature.
    DoesNotApply(String),
    /// The server has it, but this check could not try it.
    NothingToTry(String),
    /// The time of the probe, or of the whole check, was over first.
    NotFinished(String),
}

impl From<&str> for NotSent {
    fn from(why: &str) -> Self {
        Self::NothingToTry(why.to_owned())
    }
}

fn skip(why: impl Into<String>) -> ProbeOutcome {
    Err(NotSent::NothingToTry(why.into()))
}

fn does_not_apply(why: impl Into<String>) -> ProbeOutcome {
    Err(NotSent::DoesNotApply(why.into()))
}

/// The families, each with its subject.
pub const FAMILIES: [(&str, &str); 6] = [
    (
        "LIFECYCLE",
        "the handshake, versions, messages and the end of the connection",
    ),
    ("TOOLS", "the list of tools, and the answers to calls"),
    ("SCHEMA", "declared schemas against the answers"),
    (
        "ERRORS",
        "unknown methods and tools, missing and wrong arguments, protocol codes",
    ),
    (
        "EDGE",
        "calls that hang, are cancelled, are huge or unusual, run concurrently, or lose their \
        client",
    ),
    (
        "SECURITY",
        "foreign web pages, paths out of a folder, secrets in errors, oversized bodies",
    ),
];

/// Every probe, in the order in which they are sent.
pub fn probes() -> impl Iterator<Item = &'static Probe> {
    let first = [
        lifecycle::PROBES,
        tools::PROBES,
        schema::PROBES,
        errors::PROBES,
        edge::PROBES,
        security::PROBES,
    ];
    // What was seen meanwhile is judged when all is done.
    first
        .into_iter()
        .flatten()
        .chain(security::AT_THE_END)
        .chain(lifecycle::AT_THE_END)
}

/// The settings of a check.
#[derive(Debug, Clone)]
pub struct Options {
    /// Removes secrets from messages and answers.
    pub redact: fn(&str) -> Cow<'_, str>,
    /// Call tools that are not marked read-only.
    pub allow_writes: bool,
    /// Violated recommendations fail as well.
    pub strict: bool,
    /// A probe that applies to the server and could not be sent fails as well.
    pub deny_skipped: bool,
    /// The limit of the whole check, from the start of the server; `None` gives it the usual time.
    pub time_limit: Option<Duration>,
    /// Receives what the check waits for, before each probe.
    pub tell: fn(&str),
    /// The command that checks this server, without a choice of probes.
    pub command: String,
}

impl Probe {
    /// The family it belongs to.
    pub fn family(&self) -> &'static str {
        self.id
            .split_once('-')
            .map_or(self.id, |(family, _)| family)
    }

    /// The revision and the section for the probe in a protocol, if any.
    fn section(&self, era: Era) -> Option<String> {
        let (version, section) = match era {
            Era::Legacy => (LATEST_LEGACY, self.sections[0]),
            Era::Modern => (LATEST_MODERN, self.sections[1]),
        };
        (!section.is_empty()).then(|| format!("MCP {version}, {section}"))
    }
}

/// Sends the probes in order. A server that cannot be started or reached is an error.
pub async fn check(
    spec: &ServerSpec,
    probes: &[&'static Probe],
    options: &Options,
) -> Result<Report, WireError> {
    let mut time = TimeLimit::start(spec, options.time_limit);
    let mut bench = ServerUnderTest::new(spec, options.allow_writes);
    let begun = Instant::now();
    let refused = match bench.connect().await {
        Ok(()) => None,
        Err(error) if is_no_server(&error.misbehaviour) => return Err(error),
        // Only that probe has a row for it.
        Err(error) if probes.iter().all(|probe| probe.id != lifecycle::HANDSHAKE) => {
            return Err(error);
        }
        Err(error) => Some(error),
    };
    time.allow_for_starts(begun.elapsed());
    let mut rows: Vec<TestReport> = Vec::new();
    let mut is_cut_short = false;
    for (at, probe) in probes.iter().enumerate() {
        (options.tell)(&format!(
            "probe {} of {}, {}",
            at + 1,
            probes.len(),
            probe.id
        ));
        let begun = Instant::now();
        let outcome = match &refused {
            Some(error) if probe.id == lifecycle::HANDSHAKE => Ok(lifecycle::no_handshake(error)),
            Some(_) => skip("the handshake failed"),
            None if time.is_over() && is_cut_short => skip(time.message()),
            None if time.is_over() => Err(NotSent::NotFinished(time.message())),
            None => one(probe, &mut bench, &time).await,
        };
        is_cut_short |= matches!(outcome, Err(NotSent::NotFinished(_)));
        let mut row = report::row(probe, outcome, &bench, options);
        row.elapsed = Some(begun.elapsed());
        rows.push(row);
    }
    time.run_until_over(bench.end()).await;
    let place = |row: &TestReport| {
        FAMILIES
            .iter()
            .position(|(family, _)| row.tags.iter().any(|tag| tag == family))
    };
    rows.sort_by_key(place);
    Ok(Report::new(rows, Gates::default()))
}

/// Sends one probe on a working connection.
async fn one(probe: &'static Probe, bench: &mut ServerUnderTest, time: &TimeLimit) -> ProbeOutcome {
    let era = bench.era();
    if probe.section(era).is_none() {
        return does_not_apply(format!("does not apply to the {} protocol", era.as_str()));
    }
    let attempt = async {
        match bench.connect().await {
            Ok(()) => (probe.run)(bench).await,
            Err(error) => Ok(Finding::broken(format!(
                "the server cannot be started again: {error}"
            ))),
        }
    };
    let outcome = match time.run_probe(attempt).await {
        Ok(outcome) => outcome,
        Err(TimedOut(message)) => Err(NotSent::NotFinished(message)),
    };
    let outcome = note_an_end(outcome, bench);
    if leaves_the_server_in_doubt(&outcome) {
        time.run_until_over(bench.end()).await;
    }
    outcome
}

/// A probe that held, but after which the process is gone, is a warning: the server crashed, or a second process of it
/// ended the first.
fn note_an_end(outcome: ProbeOutcome, bench: &ServerUnderTest) -> ProbeOutcome {
    outcome.map(|finding| match finding.verdict {
        Verdict::Held if bench.has_lost_its_server() => Finding {
            verdict: Verdict::Weak(
                "the server's process ended unexpectedly during the probe".to_owned(),
            ),
            ..finding
        },
        _ => finding,
    })
}

/// Returns true after a probe that the server failed or did not finish: the next probe gets another server.
fn leaves_the_server_in_doubt(outcome: &ProbeOutcome) -> bool {
    match outcome {
        Ok(finding) => matches!(finding.verdict, Verdict::Broken(_)),
        Err(not_sent) => matches!(not_sent, NotSent::NotFinished(_)),
    }
}

/// Returns true if no server can be checked: it does not start, or its address does not answer.
fn is_no_server(why: &Misbehaviour) -> bool {
    use Misbehaviour as M;
    let is_spoken_to = matches!(
        why,
        M::NoFirstAnswer { .. }
            | M::Malformed { .. }
            | M::WrongId { .. }
            | M::TooLong { .. }
            | M::NotUtf8 { .. }
            | M::ErrorWithoutId { .. }
            | M::Refused { .. }
            | M::UnknownVersion { .. }
            | M::NoCommonVersion { .. }
            | M::BadResult { .. }
    );
    !is_spoken_to
}

#[cfg(test)]
mod tests;
