//! Which scenarios does the suite have for a requirement set?

use super::Side;
use super::peers::Peers;

/// A scenario of the suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scenario {
    pub(super) side: Side,
    pub(super) name: String,
}

/// The scenarios of a set, scored ones first.
pub(super) fn list(peers: &Peers, version: &str) -> Result<Vec<Scenario>, String> {
    let listed = peers.conformance(&["list", "--server", "--client", "--requirements", version])?;
    let scenarios = read(&listed.printed);
    if scenarios.is_empty() {
        return Err(format!(
            "`conformance list` names no scenario for {version}"
        ));
    }
    Ok(scenarios)
}

fn read(printed: &str) -> Vec<Scenario> {
    let mut side = None;
    let mut found: Vec<Scenario> = Vec::new();
    for line in printed.lines() {
        match line.trim() {
            heading if heading.starts_with("Server scenarios") => side = Some(Side::Server),
            heading if heading.starts_with("Client scenarios") => side = Some(Side::Client),
            heading if heading.starts_with("Run and reported") => side = None,
            entry => {
                let Some(entry) = entry.strip_prefix("- ") else {
                    continue;
                };
                let (name, own) = match entry.split_once(" [") {
                    Some((name, "server]")) => (name, Some(Side::Server)),
                    Some((name, "client]")) => (name, Some(Side::Client)),
                    _ => (entry, None),
                };
                if let Some(side) = own.or(side) {
                    let scenario = Scenario {
                        side,
                        name: name.to_owned(),
                    };
                    if !found.contains(&scenario) {
                        found.push(scenario);
                    }
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scored_and_unscored_scenarios_are_read_with_their_side() {
        let printed = "Required for X (2 scenarios):\n\nServer scenarios (test against a server):\n  - ping\n\n\
            Client scenarios (test against a client):\n  - tools_call\n\n\
            Run and reported, but never scored:\n  pending (1):\n    - polling [server]\n";
        let found: Vec<(Side, String)> = read(printed)
            .into_iter()
            .map(|scenario| (scenario.side, scenario.name))
            .collect();
        let expected = [
            (Side::Server, "ping"),
            (Side::Client, "tools_call"),
            (Side::Server, "polling"),
        ];
        assert_eq!(found, expected.map(|(side, name)| (side, name.to_owned())));
    }
}
