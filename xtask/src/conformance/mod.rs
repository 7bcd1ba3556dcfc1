//! `conformance`: does the official suite agree with the mock server and with the client, with both protocols?

mod checks;
mod client;
mod exceptions;
mod page;
mod peers;
mod scenarios;
mod server;

use crate::say;
use peers::Peers;
use std::process::ExitCode;

const PAGE: &str = "docs/conformance.md";

/// The requirement sets, and their requirements.
const VERSIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// Which side of the wire a scenario tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Server,
    Client,
}

impl Side {
    fn word(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
        }
    }
}

/// The result of one scenario.
#[derive(Debug, Clone)]
struct Row {
    side: Side,
    version: &'static str,
    scenario: String,
    /// The way of running it, if there are several.
    way: &'static str,
    /// The number of passed checks, or the problem.
    verdict: Result<usize, String>,
}

/// The effect of a row on the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Passed,
    Failed,
    /// It fails, and the table of exceptions gives the reason.
    Excepted(&'static str),
}

impl Row {
    fn standing(&self) -> Standing {
        match (&self.verdict, exceptions::reason(self.side, &self.scenario)) {
            (Ok(_), None) => Standing::Passed,
            (Err(_), Some(reason)) => Standing::Excepted(reason),
            (Ok(_), Some(_)) | (Err(_), None) => Standing::Failed,
        }
    }

    fn line(&self) -> String {
        let (mark, what) = match (self.standing(), &self.verdict) {
            (Standing::Excepted(reason), _) => ("-   ", reason.to_owned()),
            (Standing::Passed, Ok(checks)) => (
                "ok  ",
                format!("{checks} check{}", if *checks == 1 { "" } else { "s" }),
            ),
            (_, Ok(_)) => ("FAIL", "passes; remove it from the exceptions".to_owned()),
            (_, Err(why)) => ("FAIL", why.clone()),
        };
        let Self {
            side,
            version,
            scenario,
            way,
            ..
        } = self;
        format!("{mark} {} {version} {scenario}{way}: {what}", side.word())
    }
}

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, String> {
    let write = match arguments {
        [] => false,
        [flag] if flag == "--write" => true,
        _ => return Err("usage: cargo xtask conformance [--write]".to_owned()),
    };
    let peers = Peers::find()?;
    Peers::build()?;
    let mut rows = Vec::new();
    let mut tell = |row: Row| {
        say(&row.line());
        rows.push(row);
    };
    for version in VERSIONS {
        server::run(&peers, version, &mut tell)?;
    }
    for version in VERSIONS {
        client::run(&peers, version, &mut tell)?;
    }
    let is_current = keep_page(&page::page(&rows), write)?;
    let failed = rows
        .iter()
        .filter(|row| row.standing() == Standing::Failed)
        .count();
    let passed = rows
        .iter()
        .filter(|row| row.standing() == Standing::Passed)
        .count();
    let excepted = rows.len() - passed - failed;
    if !is_current {
        say(&format!(
            "{PAGE} is out of date: run `cargo xtask conformance --write`"
        ));
    }
    if excepted > 0 {
        say(&format!("{excepted} excepted, with reasons in {PAGE}"));
    }
    say(&format!("{passed} passed, {failed} failed"));
    Ok(ExitCode::from(u8::from(failed > 0 || !is_current)))
}

/// Writes the page if requested; otherwise reports whether it is current.
fn keep_page(page: &str, write: bool) -> Result<bool, String> {
    if write {
        std::fs::write(PAGE, page).map_err(|error| format!("{PAGE}: {error}"))?;
    }
    Ok(std::fs::read_to_string(PAGE).unwrap_or_default() == page)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(scenario: &str, verdict: Result<usize, String>) -> Row {
        Row {
            side: Side::Server,
            version: VERSIONS[1],
            scenario: scenario.to_owned(),
            way: "",
            verdict,
        }
    }

    #[test]
    fn an_exception_that_passes_is_a_failure_and_one_that_fails_is_not() {
        assert_eq!(row("tools-list", Ok(3)).standing(), Standing::Passed);
        assert_eq!(
            row("tools-list", Err("no".to_owned())).standing(),
            Standing::Failed
        );
        assert_eq!(row("tasks-lifecycle", Ok(1)).standing(), Standing::Failed);
        assert!(matches!(
            row("tasks-lifecycle", Err("no".to_owned())).standing(),
            Standing::Excepted(reason) if reason.contains("extension")
        ));
    }
}
