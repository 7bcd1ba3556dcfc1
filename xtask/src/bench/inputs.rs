//! The suites and recordings that are measured.

use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

const HEAD: &str = "servers:\n  docs: { command: [docs-server] }\nagents:\n";

fn write(at: &Path, name: &str, text: &str) -> Result<(), String> {
    std::fs::write(at.join(name), text).map_err(|error| format!("{name}: {error}"))
}

fn call(index: usize) -> Value {
    json!({
        "name": format!("tool_{}", index % 7),
        "server": "docs",
        "args": {
            "q": format!("query number {index}"),
            "page": index,
            "filters": { "lang": "en", "tags": ["a", "b", "c"] },
            "note": "what the model wrote to itself about this call, which no test asserts",
        },
        "turn": index,
    })
}

fn trace(calls: &[Value]) -> String {
    json!({ "tool_calls": calls, "tool_results": [], "final_response": "done" }).to_string()
}

fn agent(name: &str, cassette: &str, gates: &str) -> String {
    format!(
        "  - name: {name}\n    model: claude-sonnet-4-5\n    servers: [docs]\n    prompt: Look it up.\n    cassette: {cassette}\n{gates}"
    )
}

pub(super) fn one_agent(at: &Path) -> Result<(), String> {
    write(
        at,
        "one.json",
        &trace(&(0..3).map(call).collect::<Vec<_>>()),
    )?;
    let gates = "    expect:\n      - { target: 'tool_calls[0].name', matcher: { exact: tool_0 } }\n    golden_path: { calls: [tool_0, tool_1, tool_2] }\n";
    write(
        at,
        "one.yml",
        &format!("{HEAD}{}", agent("one", "one.json", gates)),
    )
}

pub(super) fn many_agents(at: &Path, count: usize) -> Result<(), String> {
    let mut suite = HEAD.to_owned();
    for index in 0..count {
        let name = format!("many-{index}.json");
        write(at, &name, &trace(&(0..5).map(call).collect::<Vec<_>>()))?;
        let gates = "    expect:\n      - { target: 'tool_calls[0].name', matcher: { exact: tool_0 } }\n    trajectory: { mode: subsequence, calls: [tool_1, tool_3] }\n";
        suite.push_str(&agent(&format!("agent {index}"), &name, gates));
    }
    write(at, "many.yml", &suite)
}

pub(super) fn long_trace(at: &Path, name: &str, calls: usize) -> Result<(), String> {
    write(
        at,
        &format!("{name}.json"),
        &trace(&(0..calls).map(call).collect::<Vec<_>>()),
    )?;
    for (verdict, path, last) in [
        (
            "pass",
            "allow_extra_steps: true, penalize_backtracking: false",
            "tool_2",
        ),
        ("fail", "allow_extra_steps: false", "tool_9"),
    ] {
        let gates = format!(
            "    golden_path: {{ calls: [tool_0, tool_1, tool_2], {path} }}\n    trajectory:\n      mode: subsequence\n      calls:\n        - {{ name: tool_0, args: {{ subset: {{ page: 7 }} }} }}\n        - tool_1\n        - {last}\n"
        );
        write(
            at,
            &format!("{name}-{verdict}.yml"),
            &format!("{HEAD}{}", agent(name, &format!("{name}.json"), &gates)),
        )?;
    }
    Ok(())
}

/// The expected calls are the recorded calls in reverse. In the failing suite, one of them was not recorded.
pub(super) fn unordered(at: &Path, count: usize) -> Result<(), String> {
    let recorded = (0..count)
        .map(|index| json!({ "name": "fetch", "server": "docs", "args": { "id": index } }));
    write(at, "unordered.json", &trace(&recorded.collect::<Vec<_>>()))?;
    for (verdict, odd) in [("pass", 0), ("fail", count + 5)] {
        let mut gates = String::from("    trajectory:\n      mode: unordered\n      calls:\n");
        for index in (0..count).rev() {
            let id = if index == 0 { odd } else { index };
            let _ = writeln!(
                gates,
                "        - {{ name: fetch, args: {{ exact: {{ id: {id} }} }} }}"
            );
        }
        write(
            at,
            &format!("unordered-{verdict}.yml"),
            &format!("{HEAD}{}", agent("unordered", "unordered.json", &gates)),
        )?;
    }
    Ok(())
}

/// Runs that differ a little from each other, as real ones do.
fn wandering(run: usize, calls: usize) -> Vec<Value> {
    (0..calls)
        .map(|index| call(index + usize::from(index % 10 == run % 10) * (1 + run % 3)))
        .collect()
}

fn session(calls: &[Value]) -> String {
    let turn = |at: usize| json!({ "role": "assistant", "content": "x".repeat(40 + at % 7) });
    let turns: Vec<Value> = (0..calls.len().min(2_000)).map(turn).collect();
    json!({
        "tool_calls": calls,
        "final_response": "done",
        "conversation": { "turns": turns, "tokens": { "total": 900 * calls.len() } },
    })
    .to_string()
}

pub(super) fn stability(at: &Path) -> Result<(), String> {
    let expect = "    stability:\n      expect:\n        - { target: stability.tool_sequence_similarity, matcher: { gte: 0.1 } }\n        - { target: stability.argument_consistency, matcher: { gte: 0.1 } }\n";
    for (name, runs, calls) in [("session", 2, 50_000), ("sessions", 100, 1_000)] {
        let lines: Vec<String> = (0..runs)
            .map(|run| format!("{{\"trace\":{}}}\n", session(&wandering(run, calls))))
            .collect();
        write(at, &format!("{name}.jsonl"), &lines.concat())?;
        let gates = format!("    runs: {runs}\n{expect}");
        write(
            at,
            &format!("{name}.yml"),
            &format!("{HEAD}{}", agent(name, &format!("{name}.jsonl"), &gates)),
        )?;
    }
    Ok(())
}

/// A night's traces: each agent has one recording of 20 calls and five gates.
pub(super) fn night(at: &Path, agents: usize) -> Result<(), String> {
    let gates = "    golden_path: { calls: [tool_0, tool_1], allow_extra_steps: true, penalize_backtracking: false }\n    trajectory: { mode: subsequence, calls: [tool_1, tool_3] }\n    trajectory_axes: { order: [{ first: tool_0, second: tool_1 }] }\n    tool_edges: { allowed: [tool_0], restricted: [tool_9] }\n    narrative: {}\n";
    let mut suite = HEAD.to_owned();
    for index in 0..agents {
        let name = format!("night-{index}.json");
        write(at, &name, &session(&wandering(index, 20)))?;
        suite.push_str(&agent(&format!("agent {index}"), &name, gates));
    }
    write(at, "night.yml", &suite)
}
