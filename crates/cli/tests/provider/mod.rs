//! Which provider answers reproduce the recordings of the examples?

#![allow(dead_code, reason = "each test program uses a part")]

use mcptest_provider_stub::{Script, Stub};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The entries of a folder in order; empty if the folder does not exist.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    entries
}

pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

/// Copies the files of a folder of the examples.
pub(crate) fn copy_of_examples(within: &Path, to: &Path) {
    fs::create_dir_all(to.join(within)).unwrap();
    for path in entries(&repository().join("examples").join(within)) {
        fs::copy(&path, to.join(within).join(path.file_name().unwrap())).unwrap();
    }
}

/// Copies the files that the suites name, besides their recordings.
pub(crate) fn copy_beside(to: &Path) {
    for within in ["mocks", "baselines", "data"] {
        copy_of_examples(Path::new(within), to);
    }
}

pub(crate) fn is_grades(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".grades.json")
}

/// The answers of a model that led to this run, a step each.
fn steps(trace: &Value) -> Vec<Value> {
    let calls = trace["tool_calls"].as_array().unwrap();
    let turns = trace["conversation"]["turns"]
        .as_array()
        .into_iter()
        .flatten();
    let said: Vec<&Value> = turns
        .filter(|turn| turn["role"] == "assistant")
        .map(|turn| &turn["content"])
        .collect();
    let last = calls
        .iter()
        .filter_map(|call| call["turn"].as_u64())
        .max()
        .map_or(0, |turn| turn as usize + 1);
    let count = said.len().max(last + 1);
    // All of them together are what the run says; what cannot be shared out is the last one's.
    let tokens = |key: &str, at: usize| {
        let all = trace["conversation"]["tokens"][key]
            .as_u64()
            .unwrap_or(100 * count as u64);
        let share = all / count as u64;
        if at + 1 == count {
            all - share * at as u64
        } else {
            share
        }
    };
    let usage = |at: usize| json!({ "prompt": tokens("prompt", at), "completion": tokens("completion", at) });
    let of_turn = |at: usize| {
        calls
            .iter()
            .filter(move |call| call["turn"].as_u64() == Some(at as u64))
    };
    let code_of = |at: usize| of_turn(at).find_map(|call| call["caller"]["tool_id"].as_str());
    let step = |at: usize| {
        let made: Vec<Value> = of_turn(at)
            .map(|call| json!({ "name": call["name"], "args": call["args"], "id": call["id"] }))
            .collect();
        let text = if at + 1 == count {
            Some(&trace["final_response"])
        } else {
            said.get(at).copied()
        };
        let before = at.checked_sub(1).and_then(code_of);
        let is_over = before.is_some() && code_of(at) != before;
        let code = code_of(at).filter(|_| code_of(at) != before);
        json!({
            "text": text.filter(|text| *text != ""), "calls": made, "usage": usage(at),
            "code": code.map(|_| "print(await look_into(1187))"), "output": is_over.then_some("done"),
        })
    };
    (0..count).map(step).collect()
}

/// Judges that repeat these grades.
fn judges(grades: &Path) -> Vec<Value> {
    let file: Value = serde_json::from_str(&fs::read_to_string(grades).unwrap()).unwrap();
    let votes = file["grades"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|grade| grade["votes"].as_array().unwrap());
    let rule = |vote: &Value| {
        let answer = json!({ "c1": { "reason": vote["answers"][0]["reason"], "score": vote["answers"][0]["score"] } });
        let when = json!({ "model": vote["model"], "prompt": "Judge the record" });
        json!({ "when": when, "then": "repeat", "steps": [{ "text": answer.to_string() }] })
    };
    votes.map(rule).collect()
}

/// A provider that repeats the recorded messages of the models. One message can be replaced.
pub(crate) fn provider_of(cassettes: &Path, other: Option<&Path>) -> Stub {
    let number = |path: &Path| -> usize {
        let digits: String = stem(path).chars().filter(char::is_ascii_digit).collect();
        digits.parse().unwrap_or_default()
    };
    let (grades, mut files): (Vec<PathBuf>, Vec<PathBuf>) = entries(cassettes)
        .into_iter()
        .partition(|path| is_grades(path));
    // The runs for one gate come after the ordinary ones.
    files.sort_by_key(|path| {
        (
            [".faults", ".ablated"]
                .iter()
                .any(|end| stem(path).ends_with(end)),
            if stem(path).contains("-distractors") {
                number(path)
            } else {
                0
            },
        )
    });
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut rules: Vec<Value> = grades.iter().flat_map(|path| judges(path)).collect();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let other = other.filter(|other| other.file_name() == file.file_name());
        let runs = other.map(|other| fs::read_to_string(other).unwrap());
        let (header, passing) = text.split_once('\n').unwrap();
        let runs = runs.as_deref().unwrap_or(passing);
        let header: Value = serde_json::from_str(header).unwrap();
        let lines = runs
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let (model, prompt) = (&header["model"], &header["prompt"][0]);
        for run in lines.filter(|_| model.is_string()) {
            let number = counts.entry(format!("{model} {prompt}")).or_default();
            let when = json!({ "model": model, "prompt": prompt, "run": *number });
            rules.push(json!({ "when": when, "steps": steps(&run["trace"]) }));
            *number += 1;
        }
    }
    Stub::start(Script::parse(&json!({ "rules": rules }).to_string()).unwrap()).unwrap()
}
