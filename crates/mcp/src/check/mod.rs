//! Does a server do what the specification says, also when it is asked what no good client asks?

mod bench;
mod edge;
mod errors;
mod finding;
mod lifecycle;
mod schema;
mod security;
mod tools;

use finding::{Finding, Verdict};
use mcptest_core::order::SmallSort;

use crate::client::{Misbehaviour, ServerSpec, WireError};
use crate::era::{Era, LATEST_LEGACY, LATEST_MODERN};
use bench::Bench;
use mcptest_core::report::{Report, TestReport};
use std::borrow::Cow;
use std::pin::Pin;
use std::time::Instant;

/// One thing to try on a server.
pub struct Probe {
    /// Its id: the family, and a name in it.
    pub id: &'static str,
    /// What a good server does.
    pub title: &'static str,
    /// What the specification says.
    pub says: &'static str,
    /// Where it says so, page and heading, in the older and in the modern era; empty where it says nothing.
    sections: [&'static str; 2],
    /// What to do about a finding.
    pub help: &'static str,
    run: for<'a> fn(&'a mut Bench) -> Running<'a>,
}

/// A probe under way.
type Running<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// The result of a probe, or why it was not sent.
type Outcome = Result<Finding, String>;

fn skip(why: impl Into<String>) -> Outcome {
    Err(why.into())
}

/// The families, with what each is about.
pub const FAMILIES: [(&str, &str); 6] = [
    ("LIFECYCLE", "the handshake, versions, messages and the end"),
    ("TOOLS", "the list of tools, and the answers to calls"),
    ("SCHEMA", "what is declared against what is answered"),
    (
        "ERRORS",
        "unknown methods and tools, missing and wrong arguments, protocol codes",
    ),
    (
        "EDGE",
        "calls that hang, are cancelled, are huge or odd, come at once, or lose their client",
    ),
    (
        "SECURITY",
        "foreign web pages, paths that lead out, secrets in errors, oversized bodies",
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

/// How a server is checked.
#[derive(Debug, Clone)]
pub struct Options {
    /// Takes secrets out of what was sent and what came.
    pub redact: fn(&str) -> Cow<'_, str>,
    /// Call tools that do not say that they only read.
    pub allow_writes: bool,
    /// What the specification only recommends fails as well.
    pub strict: bool,
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

    /// The revision and the section that the probe is about in an era; `None` when there is none.
    fn section(&self, era: Era) -> Option<String> {
        let (version, section) = match era {
            Era::Legacy => (LATEST_LEGACY, self.sections[0]),
            Era::Modern => (LATEST_MODERN, self.sections[1]),
        };
        (!section.is_empty()).then(|| format!("MCP {version}, {section}"))
    }
}

/// Sends the probes, one after the other. A server that cannot be started or reached is an error.
pub async fn check(
    spec: &ServerSpec,
    probes: &[&'static Probe],
    options: &Options,
) -> Result<Report, WireError> {
    let mut bench = Bench::new(spec, options.allow_writes);
    let mut rows: Vec<TestReport> = Vec::new();
    let refused = match bench.connect().await {
        Ok(()) => None,
        Err(error) if is_no_server(&error.misbehaviour) => return Err(error),
        Err(error) => Some(error),
    };
    for probe in probes {
        let begun = Instant::now();
        let outcome = match &refused {
            Some(error) if probe.id == lifecycle::HANDSHAKE => Ok(lifecycle::no_handshake(error)),
            Some(_) => skip("the handshake failed"),
            None => one(probe, &mut bench).await,
        };
        let mut row = finding::row(probe, outcome, &bench, options);
        row.elapsed = Some(begun.elapsed());
        rows.push(row);
    }
    bench.end().await;
    let place = |row: &TestReport| {
        FAMILIES
            .iter()
            .position(|(family, _)| row.tags.iter().any(|tag| tag == family))
    };
    rows.small_sort_by_key(place);
    Ok(Report::new(rows))
}

async fn one(probe: &'static Probe, bench: &mut Bench) -> Outcome {
    let era = bench.era();
    if probe.section(era).is_none() {
        return skip(format!(
            "there is nothing of it in the {} era",
            era.as_str()
        ));
    }
    if let Err(error) = bench.connect().await {
        return Ok(Finding::broken(format!(
            "the server does not start again: {error}"
        )));
    }
    let limit = bench.spec.timeout * 10;
    let outcome = match tokio::time::timeout(limit, (probe.run)(bench)).await {
        Ok(outcome) => outcome,
        Err(_) => Ok(Finding::broken(format!(
            "the probe was not done within {} s",
            limit.as_secs()
        ))),
    };
    // A server that broke a rule may be in any state: the next probe gets another.
    if matches!(
        &outcome,
        Ok(Finding {
            verdict: Verdict::Broken(_),
            ..
        })
    ) {
        bench.end().await;
    }
    outcome
}

/// True where there is no server to check: it does not start, or nobody is at its address.
fn is_no_server(why: &Misbehaviour) -> bool {
    use Misbehaviour as M;
    let is_spoken_to = matches!(
        why,
        M::NoFirstAnswer { .. }
            | M::Malformed { .. }
            | M::WrongId { .. }
            | M::TooLong { .. }
            | M::NotUtf8(_)
            | M::ErrorWithoutId(_)
            | M::Refused(_)
            | M::UnknownVersion { .. }
            | M::NoCommonVersion(_)
            | M::BadResult(_)
    );
    !is_spoken_to
}

#[cfg(test)]
mod tests;
