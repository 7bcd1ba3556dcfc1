//! What holds for every gate: each is taken from the registry, and none is named.

use super::GATES;
use crate::engine::Gates;
use crate::engine::assertion::Assertion;
use crate::engine::check::check;
use crate::engine::target::Range;
use crate::matcher::Matcher;
use crate::report::Number;
use crate::suite::read::{Field, Reading};
use crate::suite::variables::Scope;
use std::path::Path;

#[test]
fn every_entry_keeps_every_rule_of_the_registry() {
    let broken: Vec<String> = GATES.iter().flat_map(|kind| check(kind, GATES)).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Files that may name gates beside their own folders and the registry, with the reason.
const NAMING: [(&str, &str); 5] = [
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
];

/// Every source file of the product, without its tests and comments.
#[expect(clippy::disallowed_methods, reason = "the sources are what is tested")]
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
                    .filter(|line| !line.trim_start().starts_with("//"))
                    // A command may have the name of a gate.
                    .filter(|line| !line.trim_start().starts_with("const NAME:"));
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
        let home = format!("core/src/gates/{}/", kind.key);
        let key = kind.key;
        let mut named: Vec<String> = kind
            .targets
            .iter()
            .map(|target| format!("\"{}\"", target.name))
            .collect();
        named.extend([
            format!("\"{key}\""),
            format!("`{key}:"),
            format!("gates::{key}::"),
            format!("super::{key}::"),
        ]);
        for (place, code) in &sources {
            let may_name = place.starts_with(&home)
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

fn matcher(yaml: &str) -> Matcher {
    let mut problems = Vec::new();
    let node = crate::yaml::parse(yaml, 0, &mut problems).unwrap();
    let reading = Reading::new(Scope::default(), &|_| None, Gates::default());
    Matcher::read(&mut Field::new(&reading, &node)).unwrap()
}

#[test]
fn every_flag_takes_true_and_false_and_every_matcher_of_it_can_fail() {
    let flags = GATES
        .iter()
        .flat_map(|gate| gate.targets)
        .filter(|target| target.range == Range::Flag);
    let mut tried = 0;
    for target in flags {
        tried += 1;
        for (written, expected) in [
            ("exact: true", true),
            ("exact: false", false),
            ("exact: 1", true),
            ("not: {exact: true}", false),
            ("not: {exact: false}", true),
            ("one-of: [true]", true),
            ("any-of: [{exact: true}]", true),
        ] {
            let assertion = Assertion::of(*target, matcher(written));
            let check = |value: i64| assertion.check(Some(Number::Int(value))).passed;
            let name = target.name;
            assert_eq!(
                (check(1), check(0)),
                (expected, !expected),
                "{name} {written}"
            );
            assert!(assertion.lint(5).is_none(), "{name} {written}");
        }
        let both = Assertion::of(*target, matcher("one-of: [true, false]"));
        let said = both
            .lint(5)
            .map(|problem| problem.message)
            .unwrap_or_default();
        assert!(
            said.ends_with("this cannot fail"),
            "{}: {said}",
            target.name
        );
    }
    assert!(tried > 5);
}

#[test]
fn a_share_of_runs_that_may_be_0_cannot_fail_however_many_runs_there_are() {
    for target in GATES.iter().flat_map(|gate| gate.targets) {
        if target.range != Range::Ratio {
            continue;
        }
        let assertion = Assertion::of(*target, Matcher::at_least(0.0));
        for runs in [0, 1, 10] {
            let problem = assertion.lint(runs);
            let said = problem.map(|problem| problem.message).unwrap_or_default();
            assert!(
                said.ends_with("this cannot fail"),
                "{} with {runs} runs: {said}",
                target.name
            );
        }
    }
}
