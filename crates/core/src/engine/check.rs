//! Does the entry of a gate hold what the registry promises?

use super::block::GateBlock;
use super::gate::GateKind;
use super::registry::Gates;
use crate::problem::{Level, render};
use crate::report::GateReport;
use crate::suite::{Host, Loaded, Suite, load_to_capture, yaml_to_json};
use crate::trace::{CatalogueTool, Header, Run, Trace};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// Every rule of the registry that an entry breaks, as a sentence; empty for a valid entry. The
/// suites on its page and its example may use these gates, which include it.
///
/// The rules: the page defines every target. The page's suites and the example load. The example
/// uses the gate, and the gate's block refuses unknown keys. Whatever the runs, the gate measures
/// the targets that it declares, and gives an equal report when it judges twice. A target that
/// another gate also has means the same there.
pub fn check(kind: &GateKind, gates: Gates) -> Vec<String> {
    let mut broken = Vec::new();
    check_words(kind, &mut broken);
    check_targets(kind, gates, &mut broken);
    check_page(kind, gates, &mut broken);
    match load_text(kind.example, gates).into_result() {
        Ok(suite) => {
            check_example(kind, &suite, &mut broken);
            check_unknown_keys(kind, gates, &mut broken);
        }
        Err(refused) => broken.push(format!("its example is refused:\n{refused}")),
    }
    broken
        .into_iter()
        .map(|rule| format!("`{}`: {rule}", kind.key))
        .collect()
}

fn check_words(kind: &GateKind, broken: &mut Vec<String>) {
    if kind.summary.is_empty() {
        broken.push("it has no summary".to_owned());
    }
    if !kind.doc.starts_with("# ") {
        broken.push("its page does not begin with a heading".to_owned());
    }
    for target in kind.targets {
        if target.doc.is_empty() {
            broken.push(format!("`{}` has no line that defines it", target.name));
        }
        if !kind.doc.contains(&format!("`{}`", target.name)) {
            broken.push(format!("its page does not name `{}`", target.name));
        }
    }
}

fn check_targets(kind: &GateKind, gates: Gates, broken: &mut Vec<String>) {
    let mut names = BTreeSet::new();
    for target in kind.targets {
        if !names.insert(target.name) {
            broken.push(format!("it declares `{}` twice", target.name));
        }
        let others = gates.iter().filter(|other| other.key != kind.key);
        for other in others {
            let same_name = other.targets.iter().find(|one| one.name == target.name);
            if same_name.is_some_and(|one| format!("{one:?}") != format!("{target:?}")) {
                broken.push(format!(
                    "`{}` means something else in `{}`",
                    target.name, other.key
                ));
            }
        }
    }
}

/// Every suite on the page loads, and there is at least one.
fn check_page(kind: &GateKind, gates: Gates, broken: &mut Vec<String>) {
    let blocks = kind.doc.split("```yaml\n").skip(1);
    let suites: Vec<&str> = blocks
        .filter_map(|block| block.split("```").next())
        .collect();
    if suites.is_empty() {
        broken.push("its page shows no suite".to_owned());
    }
    for suite in suites {
        let loaded = load_text(suite, gates);
        if loaded.is_refused() {
            let errors = errors(&loaded);
            broken.push(format!("a suite on its page is refused:\n{errors}"));
        }
    }
}

/// The example uses the gate, which measures its declared targets and gives the same verdict every
/// time.
fn check_example(kind: &GateKind, suite: &Suite, broken: &mut Vec<String>) {
    let blocks = suite.agents.iter().flat_map(|agent| &agent.gates);
    let blocks: Vec<&GateBlock> = blocks.filter(|block| block.key() == kind.key).collect();
    if blocks.is_empty() {
        broken.push("its example does not use it".to_owned());
    }
    let declared: BTreeSet<&str> = kind.targets.iter().map(|target| target.name).collect();
    for block in blocks {
        let judged = judgements(block);
        if judged != judgements(block) {
            broken.push("it judges the same runs differently the second time".to_owned());
        }
        for report in &judged {
            let measured: BTreeSet<&str> = report.targets.keys().map(String::as_str).collect();
            if measured != declared {
                broken.push(format!(
                    "it measures {measured:?} and declares {declared:?}"
                ));
                break;
            }
        }
    }
}

/// Checks that the block refuses an unknown key.
fn check_unknown_keys(kind: &GateKind, gates: Gates, broken: &mut Vec<String>) {
    const UNKNOWN: &str = "zzz_unknown";
    let mut suite = yaml_to_json(kind.example).unwrap_or_default();
    let agents = suite.get_mut("agents").and_then(Value::as_array_mut);
    let agents = agents.into_iter().flatten();
    for block in agents.filter_map(|agent| agent.get_mut(kind.key)) {
        match block.as_object_mut() {
            Some(keys) => {
                keys.insert(UNKNOWN.to_owned(), json!(1));
            }
            // `true`, or a list, stands for a block.
            None => *block = json!({ UNKNOWN: 1 }),
        }
    }
    let loaded = load_text(&suite.to_string(), gates);
    if !errors(&loaded).contains(&format!("unknown key `{UNKNOWN}`")) {
        broken.push("its block takes a key that it does not know".to_owned());
    }
}

/// A suite of one file.
fn load_text(text: &str, gates: Gates) -> Loaded {
    let read = |path: &Path| match path.to_str() {
        Some("mcptest.yml") => Ok(text.as_bytes().to_vec()),
        _ => Err("no such file".to_owned()),
    };
    let host = Host {
        gates,
        ..Host::new(&read, &|_| None)
    };
    load_to_capture(Path::new("mcptest.yml"), &host)
}

fn errors(loaded: &Loaded) -> String {
    let errors = loaded.problems.iter();
    let errors: Vec<_> = errors
        .filter(|problem| problem.level == Level::Error)
        .cloned()
        .collect();
    render(&errors, &loaded.sources, false)
}

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

/// The block judged over every choice of no, one and two of the traces, with a header and without.
fn judgements(block: &GateBlock) -> Vec<GateReport> {
    let traces: Vec<Trace<'_>> = TRACES
        .iter()
        .filter_map(|text| Trace::read(text).ok())
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
    let alone = traces.iter().map(|trace| vec![trace]);
    let in_pairs = traces
        .iter()
        .flat_map(|one| traces.iter().map(move |other| vec![one, other]));
    let chosen = std::iter::once(Vec::new()).chain(alone).chain(in_pairs);
    let with_headers = chosen.flat_map(|runs| [(runs.clone(), None), (runs, Some(&header))]);
    with_headers
        .map(|(traces, header)| block.judge("row", &runs_of(&traces, header)))
        .collect()
}

/// The traces as runs, of which the first passed.
fn runs_of<'r>(traces: &[&'r Trace<'r>], header: Option<&'r Header>) -> Vec<Run<'r>> {
    let run = |(at, trace): (usize, &&'r Trace<'r>)| Run {
        number: at + 1,
        header,
        passed: at == 0,
        ..Run::new(trace)
    };
    traces.iter().enumerate().map(run).collect()
}
