//! Does every gate of the program follow the rules of the registry, and do only its own files name
//! it?

#![allow(clippy::unwrap_used, missing_docs)]

use mcptest::GATES;
use mcptest_core::gates::check;
use std::path::Path;

#[test]
fn every_entry_keeps_every_rule_of_the_registry() {
    let broken: Vec<String> = GATES.iter().flat_map(|kind| check(kind, GATES)).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Files that may name gates, besides their own folders and the registry, with the reason.
const NAMING: [(&str, &str); 8] = [
    (
        "run/src/draft/calls.rs",
        "drafts a suite, which is written for the user to read",
    ),
    (
        "report/src/pretty/overview.rs",
        "draws the accuracy of a sweep over its rows",
    ),
    (
        "core/src/gates/token_efficiency/mod.rs",
        "says which gate has the same F1",
    ),
    (
        "core/src/classes/discovery.rs",
        "measures what two gates ask for by one name",
    ),
    (
        "core/src/classes/mod.rs",
        "takes the classes of one gate for another",
    ),
    (
        "import/src/foreign.rs",
        "names keys of the transcripts of other programs",
    ),
    (
        "import/src/inspect.rs",
        "names a key in the logs of Inspect",
    ),
    (
        "replay/src/traces.rs",
        "names the ending of the logs of Inspect",
    ),
];

/// Every source file of the product, without its tests and comments.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let is_for_tests = |path: &Path| path.ends_with("fuzz") || path.ends_with("provider-stub");
    let mut folders: Vec<_> = std::fs::read_dir(crates)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir() && !is_for_tests(path))
        .map(|path| path.join("src"))
        .collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && name != "tests" {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs")
                && !name.ends_with("tests.rs")
                && name != "sample.rs"
            {
                let text = std::fs::read_to_string(&path).unwrap();
                let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
                let code = text
                    .lines()
                    .filter(|line| !line.trim_start().starts_with("//"));
                let place = path
                    .strip_prefix(crates)
                    .unwrap()
                    .to_string_lossy()
                    .replace('\\', "/");
                found.push((place, code.collect::<Vec<_>>().join("\n")));
            }
        }
    }
    found
}

#[test]
fn a_gate_is_named_in_its_own_folder_and_the_registry_only() {
    let sources = sources();
    assert!(sources.len() > 200, "{}", sources.len());
    let mut elsewhere = Vec::new();
    for kind in GATES {
        let key = kind.key;
        let home = format!("/{key}/");
        let mut named: Vec<String> = kind
            .targets
            .iter()
            .map(|target| format!("\"{}\"", target.name))
            .collect();
        named.extend([
            format!("\"{key}\""),
            format!("`{key}:"),
            format!("gates::{key}::"),
        ]);
        for (place, code) in &sources {
            let may_name = place.contains(&home)
                // A command of the same name is about the gate.
                || place.ends_with(&format!("/command/{key}.rs"))
                || ["core/src/gates/mod.rs", "core/src/eval.rs"].contains(&place.as_str())
                || NAMING.iter().any(|(allowed, _)| allowed == place);
            if !may_name {
                elsewhere.extend(
                    named
                        .iter()
                        .filter(|name| code.contains(*name))
                        .map(|name| format!("{place}: {name}")),
                );
            }
        }
    }
    assert!(elsewhere.is_empty(), "{elsewhere:#?}");
}
