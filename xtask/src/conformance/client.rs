//! Does the example client pass each scenario, with the protocol given and with the protocol detected?

use super::peers::Peers;
use super::{Row, Side, checks, exceptions, scenarios};

/// The suffix of the scenario's name, and the argument of the client.
const WAYS: [(&str, &str); 2] = [("", ""), (", protocol detected", " auto")];

pub(super) fn run(
    peers: &Peers,
    version: &'static str,
    tell: &mut impl FnMut(Row),
) -> Result<(), String> {
    for scenario in scenarios::list(peers, version)? {
        if scenario.side == Side::Client && exceptions::is_run(Side::Client, &scenario.name) {
            for (way, argument) in WAYS {
                let verdict = play(peers, version, &scenario.name, argument)?;
                let scenario = scenario.name.clone();
                tell(Row {
                    side: Side::Client,
                    version,
                    scenario,
                    way,
                    verdict,
                });
            }
        }
    }
    Ok(())
}

fn play(
    peers: &Peers,
    version: &str,
    scenario: &str,
    argument: &str,
) -> Result<Result<usize, String>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let into = folder.path().display().to_string();
    let command = format!("{}{argument}", peers.client.display());
    let played = peers.conformance(&[
        "client",
        "--command",
        &command,
        "--scenario",
        scenario,
        "--spec-version",
        version,
        "-o",
        &into,
    ])?;
    let verdict = checks::verdict(folder.path(), scenario);
    Ok(match verdict {
        Ok(_) if !played.is_success => Err(format!("the client failed: {}", played.last_line())),
        verdict => verdict,
    })
}
