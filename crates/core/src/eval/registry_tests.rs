//! What holds for every gate: each is taken from the registry, and none is named.

use super::assertion::Assertion;
use super::target::Range;
use super::{GATES, GateBlock, GateKind, Gates};
use crate::matcher::Matcher;
use crate::problem::{Level, render};
use crate::report::Number;
use crate::suite::read::{Field, Reading};
use crate::suite::variables::Scope;
use crate::suite::{Host, Loaded, load_to_capture, yaml_to_json};
use crate::trace::{CatalogueTool, Header, Run, Trace};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const TRACES: [&str; 3] = [
    r#"{"tool_calls": []}"#,
    r#"{"tool_calls": [{"name": "search", "server": "docs", "args": {"q": "lifetimes"}, "turn": 1}],
        "tool_results": [{"call_index": 0, "is_error": true}],
        "final_response": "I searched.",
        "conversation": {"tokens": {"prompt": 5, "completion": 2, "total": 7},
            "turns": [{"role": "user", "content": "go"}, {"role": "assistant", "content": "I searched."}]}}"#,
    r#"{"tool_calls": [{"name": "open", "args_text": "{"}, {"name": "search"}, {"name": "search"}, {"name": "天気"}],
        "stop_reason": "max_turns", "delegations": [{"from": "a", "to": "b"}]}"#,
];

fn load_text(text: &str) -> Loaded {
    let read = |path: &Path| match path.to_str() {
        Some("mcptest.yml") => Ok(text.as_bytes().to_vec()),
        _ => Err("there is no such file".to_owned()),
    };
    load_to_capture(Path::new("mcptest.yml"), &Host::new(&read, &|_| None))
}

fn errors(loaded: &Loaded) -> String {
    let errors: Vec<_> = loaded
        .problems
        .iter()
        .filter(|problem| problem.level == Level::Error)
        .cloned()
        .collect();
    render(&errors, &loaded.sources, false)
}

/// The gate's own block in its example.
fn with_example(kind: &GateKind, check: impl Fn(&GateBlock)) {
    let loaded = load_text(kind.example);
    let suite = loaded
        .suite
        .as_ref()
        .unwrap_or_else(|| panic!("{}: {}", kind.key, errors(&loaded)));
    let gates: Vec<_> = suite
        .agents
        .iter()
        .flat_map(|agent| &agent.gates)
        .filter(|gate| gate.key() == kind.key)
        .collect();
    assert!(
        !gates.is_empty(),
        "example.yml of {} does not use it",
        kind.key
    );
    gates.into_iter().for_each(check);
}

/// The block judged over every choice of no, one and two of the traces, with a header and without.
fn judgements(gate: &GateBlock) -> Vec<String> {
    let traces: Vec<Trace<'_>> = TRACES
        .iter()
        .map(|text| Trace::read(text).unwrap())
        .collect();
    let tool = CatalogueTool {
        name: "search".to_owned(),
        ..CatalogueTool::default()
    };
    let header = Header {
        catalogue: Some(vec![tool]),
        prompt: vec!["go".to_owned()],
        ..Header::default()
    };
    let mut chosen: Vec<Vec<&Trace<'_>>> = vec![Vec::new()];
    chosen.extend(traces.iter().map(|trace| vec![trace]));
    chosen.extend(
        traces
            .iter()
            .flat_map(|one| traces.iter().map(move |other| vec![one, other])),
    );
    let mut judged = Vec::new();
    for runs in chosen {
        for header in [None, Some(&header)] {
            let runs: Vec<Run<'_>> = runs
                .iter()
                .enumerate()
                .map(|(at, trace)| Run {
                    number: at + 1,
                    header,
                    passed: at == 0,
                    ..Run::of(trace)
                })
                .collect();
            judged.push(serde_json::to_string(&gate.judge("row", &runs)).unwrap());
        }
    }
    judged
}

#[test]
fn a_key_is_given_once_and_a_target_means_one_thing_in_every_gate() {
    let mut keys = BTreeSet::new();
    let mut targets = BTreeMap::new();
    for kind in GATES {
        assert!(keys.insert(kind.key), "two gates are called {}", kind.key);
        assert!(!kind.summary.is_empty(), "{}", kind.key);
        for target in kind.targets {
            let meaning = format!("{target:?}");
            let known = targets
                .entry(target.name)
                .or_insert_with(|| meaning.clone());
            assert_eq!(*known, meaning, "two targets are called {}", target.name);
            assert!(!target.doc.is_empty(), "{}", target.name);
        }
    }
}

#[test]
fn every_target_is_on_the_gates_page() {
    for kind in GATES {
        assert!(kind.doc.starts_with("# "), "{} has no heading", kind.key);
        for target in kind.targets {
            assert!(
                kind.doc.contains(&format!("`{}`", target.name)),
                "doc.md lacks `{}`",
                target.name
            );
        }
    }
}

#[test]
fn every_example_loads_and_so_does_every_suite_on_every_page() {
    for kind in GATES {
        with_example(kind, |_| ());
        let blocks: Vec<&str> = kind.doc.split("```yaml\n").skip(1).collect();
        assert!(
            !blocks.is_empty(),
            "the page of {} shows no suite",
            kind.key
        );
        for block in blocks {
            let text = block.split("```").next().unwrap();
            let loaded = load_text(text);
            assert!(
                !loaded.is_refused(),
                "on the page of {}:\n{}",
                kind.key,
                errors(&loaded)
            );
        }
    }
}

#[test]
fn an_unknown_key_in_the_block_is_refused() {
    for kind in GATES {
        let mut suite = yaml_to_json(kind.example).unwrap();
        let agents = suite["agents"].as_array_mut().unwrap();
        for agent in agents
            .iter_mut()
            .filter(|agent| agent.get(kind.key).is_some())
        {
            agent[kind.key]["zzz_unknown"] = json!(1);
        }
        let loaded = load_text(&suite.to_string());
        assert!(
            errors(&loaded).contains("unknown key `zzz_unknown`"),
            "{}: {}",
            kind.key,
            errors(&loaded)
        );
    }
}

#[test]
fn the_declared_targets_are_the_measured_ones_whatever_the_runs() {
    for kind in GATES {
        let declared: BTreeSet<&str> = kind.targets.iter().map(|target| target.name).collect();
        with_example(kind, |gate| {
            for judged in judgements(gate) {
                let report: Value = serde_json::from_str(&judged).unwrap();
                let measured: BTreeSet<&str> = report["targets"]
                    .as_object()
                    .unwrap()
                    .keys()
                    .map(String::as_str)
                    .collect();
                assert_eq!(measured, declared, "{}", kind.key);
            }
        });
    }
}

/// Files that may name gates beside their own folders and the registry, with the reason.
const NAMING: [(&str, &str); 7] = [
    ("cli/src/command/eval.rs", "is the command of that name"),
    ("cli/src/command/scenario.rs", "is the command of that name"),
    (
        "run/src/draft/calls.rs",
        "drafts a suite, which is written for the user to read",
    ),
    (
        "report/src/pretty/overview.rs",
        "draws the accuracy of a sweep over its rows",
    ),
    (
        "core/src/eval/token_efficiency/mod.rs",
        "says which gate has the same F1",
    ),
    (
        "core/src/eval/classes/discovery.rs",
        "measures what two gates ask for by one name",
    ),
    (
        "core/src/eval/classes/mod.rs",
        "takes the classes of one gate for another",
    ),
];

/// Every source file of the product, without its tests and comments.
#[expect(clippy::disallowed_methods, reason = "the sources are what is tested")]
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let product = ["agent", "cli", "core", "mcp", "report", "run"];
    let mut folders: Vec<_> = product
        .iter()
        .map(|name| crates.join(name).join("src"))
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
        let home = format!("core/src/eval/{}/", kind.key);
        let key = kind.key;
        let mut named: Vec<String> = kind
            .targets
            .iter()
            .map(|target| format!("\"{}\"", target.name))
            .collect();
        named.extend([
            format!("\"{key}\""),
            format!("`{key}:"),
            format!("eval::{key}::"),
            format!("super::{key}::"),
        ]);
        for (place, code) in &sources {
            let may_name = place.starts_with(&home)
                || place == "core/src/eval/mod.rs"
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

#[test]
fn judging_twice_gives_the_same_report() {
    for kind in GATES {
        with_example(kind, |gate| {
            assert_eq!(judgements(gate), judgements(gate), "{}", kind.key);
        });
    }
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
