//! Which calls did all of the runs make?

use super::observed::is_lasting_text;
use super::yaml;
use mcptest_core::trace::Trace;
use serde_json::{Map, Value, json};

/// The number of calls above which a reference is too long to read.
const MOST_CALLS: usize = 25;
const MOST_ARGUMENTS: usize = 4;

/// A gate of a drafted agent.
pub(super) struct Gate {
    pub(super) key: &'static str,
    /// Its requirement.
    pub(super) about: &'static str,
    pub(super) lines: Vec<String>,
}

/// The calls of each run.
pub(super) struct Calls(Vec<Vec<(String, Value)>>);

impl Calls {
    pub(super) fn from_runs(runs: &[&Trace<'_>]) -> Self {
        let call = |call: &mcptest_core::trace::Call<'_>| {
            let args = call
                .args
                .and_then(|args| serde_json::from_str(args.get()).ok());
            (call.name.clone().into_owned(), args.unwrap_or_default())
        };
        Self(
            runs.iter()
                .map(|run| run.tool_calls.iter().map(call).collect())
                .collect(),
        )
    }

    /// The names of each run's calls.
    pub(super) fn walked(&self) -> Vec<Vec<String>> {
        self.0
            .iter()
            .map(|run| run.iter().map(|(name, _)| name.clone()).collect())
            .collect()
    }

    /// The gates that all of the runs pass.
    pub(super) fn gates(&self) -> Vec<Gate> {
        let walked = self.walked();
        let Some(first) = walked.first() else {
            return Vec::new();
        };
        let is_one_way = walked.iter().all(|names| names == first);
        let mut gates = Vec::new();
        if first.is_empty() && is_one_way {
            gates.push(Gate {
                key: "trajectory",
                about: "No tool is called.",
                lines: vec!["mode: subset".to_owned(), "calls: []".to_owned()],
            });
        } else if is_one_way && first.len() <= MOST_CALLS {
            gates.push(self.in_order());
            gates.push(golden_path(first));
        } else {
            gates.extend(in_any_order(&walked));
        }
        gates
    }

    fn in_order(&self) -> Gate {
        let mut lines = vec!["mode: strict".to_owned(), "calls:".to_owned()];
        for (at, (name, _)) in self.0[0].iter().enumerate() {
            let args = self.shared_arguments(at);
            lines.push(if args.is_empty() {
                format!("  - {}", yaml::text(name))
            } else {
                let call = json!({ "subset": args });
                format!(
                    "  - {{ name: {}, args: {} }}",
                    yaml::text(name),
                    yaml::flow(&call)
                )
            });
        }
        let about = "Exactly these calls, in order; only the arguments named here count.";
        Gate {
            key: "trajectory",
            about,
            lines,
        }
    }

    /// The arguments with equal, probably lasting values in the call at this place of every run.
    fn shared_arguments(&self, at: usize) -> Map<String, Value> {
        let of_run = |run: &Vec<(String, Value)>| {
            run.get(at)
                .map(|(_, args)| args.clone())
                .unwrap_or_default()
        };
        let all: Vec<Value> = self.0.iter().map(of_run).collect();
        let Some(Value::Object(first)) = all.first() else {
            return Map::new();
        };
        let is_lasting = |value: &Value| match value {
            Value::String(text) => is_lasting_text(text),
            Value::Number(number) => number.to_string().len() < 9,
            Value::Bool(_) => true,
            _ => false,
        };
        let is_clean = |key: &String, value: &Value| {
            let text = json!({ key: value }).to_string();
            mcptest_replay::clean(&text) == text
        };
        first
            .iter()
            .filter(|(key, value)| is_lasting(value) && is_clean(key, value))
            .filter(|(key, value)| all.iter().all(|args| args.get(key) == Some(value)))
            .take(MOST_ARGUMENTS)
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }
}

fn golden_path(names: &[String]) -> Gate {
    let listed: Vec<String> = names.iter().map(|name| yaml::text(name)).collect();
    let mut lines = vec![format!("calls: [{}]", listed.join(", "))];
    let visits_twice = (1..names.len()).any(|at| names[..at].contains(&names[at]));
    if visits_twice {
        lines.push("baseline: golden".to_owned());
    }
    Gate {
        key: "golden_path",
        about: "No wasted calls.",
        lines,
    }
}

/// The calls that every run made, with the common number of repetitions, in any order.
fn in_any_order(walked: &[Vec<String>]) -> Option<Gate> {
    let mut shared: Vec<String> = Vec::new();
    for name in walked.first()? {
        let times = |names: &[String]| names.iter().filter(|one| *one == name).count();
        let is_in_all = walked.iter().all(|names| times(names) > times(&shared));
        if is_in_all && shared.len() < MOST_CALLS {
            shared.push(name.clone());
        }
    }
    let listed: Vec<String> = shared.iter().map(|name| yaml::text(name)).collect();
    let lines = vec![
        "mode: unordered".to_owned(),
        format!("calls: [{}]", listed.join(", ")),
    ];
    let about = "Every run makes these calls, in any order and among others.";
    (!shared.is_empty()).then_some(Gate {
        key: "trajectory",
        about,
        lines,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gates(runs: &[&[(&str, Value)]]) -> Vec<String> {
        let run = |calls: &&[(&str, Value)]| {
            calls
                .iter()
                .map(|(name, args)| ((*name).to_owned(), args.clone()))
                .collect::<Vec<_>>()
        };
        let calls = Calls(runs.iter().map(run).collect());
        calls
            .gates()
            .iter()
            .map(|gate| format!("{}: {}", gate.key, gate.lines.join("; ")))
            .collect()
    }

    #[test]
    fn runs_that_went_one_way_are_held_to_it_and_to_the_arguments_they_share() {
        let one = [
            ("search", json!({"q": "rust", "at": "10:15", "page": 1})),
            ("open", json!({"id": 7})),
            ("search", json!(null)),
        ];
        let other = [
            ("search", json!({"q": "rust", "at": "10:15", "page": 2})),
            ("open", json!({"id": 9})),
            ("search", json!({})),
        ];
        assert_eq!(
            gates(&[&one, &other]),
            [
                "trajectory: mode: strict; calls:;   - { name: search, args: { subset: { q: rust } } };   - open;   - search",
                "golden_path: calls: [search, open, search]; baseline: golden",
            ]
        );
        assert_eq!(gates(&[&one]).len(), 2);
    }

    #[test]
    fn runs_that_differ_are_held_to_what_they_share() {
        let (a, b, c) = (("a", json!({})), ("b", json!({})), ("c", json!({})));
        assert_eq!(
            gates(&[&[a.clone(), b.clone(), a.clone()], &[c.clone(), a.clone()]]),
            ["trajectory: mode: unordered; calls: [a]"]
        );
        assert_eq!(gates(&[&[a], &[b]]), [""; 0]);
        assert_eq!(gates(&[&[], &[]]), ["trajectory: mode: subset; calls: []"]);
    }
}
