//! What did the suite report about a scenario? A warning counts as a failure.

use serde_json::Value;
use std::path::Path;

/// The length of `-2026-07-28T12-34-56-789Z`, which follows the scenario's name.
const STAMP: usize = 25;

/// The number of passed checks of a scenario, or the problem. The suite wrote them into `folder`,
/// under `name` and a time.
pub(super) fn verdict(folder: &Path, name: &str) -> Result<usize, String> {
    let nothing = || "the suite wrote no result: it ended before the scenario did".to_owned();
    let entries = std::fs::read_dir(folder).map_err(|_| nothing())?;
    let is_own = |path: &Path| {
        let found = path
            .file_name()
            .and_then(|found| found.to_str())
            .unwrap_or_default();
        found
            .len()
            .checked_sub(STAMP)
            .and_then(|end| found.get(..end))
            == Some(name)
    };
    let own = entries
        .flatten()
        .map(|entry| entry.path())
        .find(|path| is_own(path));
    let text = own.and_then(|path| std::fs::read_to_string(path.join("checks.json")).ok());
    read(&text.ok_or_else(nothing)?)
}

fn read(checks: &str) -> Result<usize, String> {
    let checks: Vec<Value> = serde_json::from_str(checks)
        .map_err(|error| format!("checks.json cannot be read: {error}"))?;
    let status = |check: &Value| check["status"].as_str().unwrap_or_default().to_owned();
    let bad: Vec<String> = checks
        .iter()
        .filter(|check| !["SUCCESS", "SKIPPED", "INFO"].contains(&status(check).as_str()))
        .map(|check| format!("{} {}", status(check), describe(check)))
        .collect();
    let held = checks
        .iter()
        .filter(|check| status(check) == "SUCCESS")
        .count();
    match bad.is_empty() {
        true if held == 0 => Err("nothing was checked".to_owned()),
        true => Ok(held),
        false => Err(bad.join("; ")),
    }
}

fn describe(check: &Value) -> String {
    let text = |key: &str| check[key].as_str().unwrap_or_default();
    let why = [text("errorMessage"), text("description")]
        .into_iter()
        .find(|text| !text.is_empty());
    format!(
        "{}: {}",
        text("id"),
        why.unwrap_or_default().replace('\n', " ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_counts_and_a_scenario_that_checked_nothing_has_not_passed() {
        let check =
            |status: &str| format!(r#"{{"id":"a","status":"{status}","errorMessage":"because"}}"#);
        let read = |statuses: &[&str]| {
            read(&format!(
                "[{}]",
                statuses
                    .iter()
                    .map(|status| check(status))
                    .collect::<Vec<_>>()
                    .join(",")
            ))
        };
        assert_eq!(read(&["SUCCESS", "INFO", "SKIPPED"]), Ok(1));
        assert_eq!(
            read(&["SUCCESS", "WARNING"]),
            Err("WARNING a: because".to_owned())
        );
        assert_eq!(read(&["SKIPPED"]), Err("nothing was checked".to_owned()));
        assert_eq!(read(&[]), Err("nothing was checked".to_owned()));
    }
}
