//! Is a YAML file a suite?

use super::read::is_same_key;
use crate::problem::nearest;

/// Returns true if a YAML text looks like a suite: it has a top-level `servers:` or `agents:`, or a misspelling of
/// one, and is not a manifest of a mock server.
pub fn is_suite(text: &str) -> bool {
    const KEYS: [&str; 2] = ["servers", "agents"];
    // Other programs use words like these.
    const EXACT_KEYS: [&str; 3] = ["imports", "tools", "evals"];
    let lines = || text.lines().map(|line| line.trim_start_matches('\u{feff}'));
    let keys = || {
        lines()
            .filter_map(|line| line.split_once(':'))
            .map(|(key, _)| key.trim_end())
    };
    let is_slip =
        |key: &str| !key.starts_with(['#', ' ', '\t', '-']) && nearest(key, KEYS).is_some();
    // A manifest, or a saved list of tools.
    let is_mock = |key: &str| {
        is_same_key(key, "mock_server") || key.trim_start_matches([' ', '-']) == "inputSchema"
    };
    !keys().any(is_mock)
        && keys().any(|key| KEYS.contains(&key) || EXACT_KEYS.contains(&key) || is_slip(key))
}

#[cfg(test)]
mod tests {
    use super::is_suite;

    #[test]
    fn a_suite_is_told_by_its_top_level_keys_even_with_a_slip() {
        assert!(is_suite("\u{feff}agents: []") && is_suite("# servers\nsevers: {}"));
        assert!(is_suite("imports: [a.yml]") && is_suite("tools:\n  - name: a\n"));
        assert!(!is_suite("tools:\n  - name: a\n    inputSchema: {}\n"));
        assert!(!is_suite("jobs:\n  arguments: [a]\n  - agents: 1"));
        assert!(!is_suite("mock_server:\n  tools: []\nagents: []"));
    }
}
