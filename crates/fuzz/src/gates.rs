//! Does any gate or report panic on runs whose messages, names, arguments and results are arbitrary text?

use mcptest_core::gates::{Gates, OUTCOME_GATES, RUN_GATES};
use mcptest_core::judge::{Judging, Recorded, judge_row};
use mcptest_core::report::{Embed, Report, TestReport};
use mcptest_core::row::{ReasonKind, Row};
use mcptest_core::suite::{Host, Suite, load_to_capture};
use mcptest_core::trace::{CatalogueTool, Header, Trace};
use mcptest_report::REPORTERS;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::LazyLock;

/// As many runs of an agent as are judged: the more, the slower.
const MOST_RUNS: usize = 25;

/// Every gate of mcptest.
static GATES: Gates = Gates::new(&[
    RUN_GATES,
    mcptest_toolbox::GATES,
    OUTCOME_GATES,
    mcptest_compare::GATES,
]);

/// The example of every gate of the registry.
static SUITES: LazyLock<Vec<Suite>> = LazyLock::new(|| {
    let of_gate = |text: &'static str| {
        let read = move |path: &Path| match path.to_str() {
            Some("mcptest.yml") => Ok(text.as_bytes().to_vec()),
            _ => Err("no such file".to_owned()),
        };
        let host = Host {
            gates: GATES,
            ..Host::new(&read, &|_| None)
        };
        load_to_capture(Path::new("mcptest.yml"), &host).suite
    };
    GATES
        .iter()
        .filter_map(|gate| of_gate(gate.example))
        .collect()
});

/// Judges runs made of this text by every gate, and renders the report.
pub fn gates(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut tests = Vec::new();
    for suite in SUITES.iter() {
        for row in suite.rows() {
            tests.extend(judged(&row, &text));
        }
    }
    let report = Report::new(tests, GATES);
    for reporter in REPORTERS {
        let bytes = (reporter.render)(&report, &mcptest_report::Options::default());
        assert!(!bytes.is_empty(), "{} says nothing", reporter.key);
    }
}

fn judged(row: &Row<'_>, text: &str) -> Option<TestReport> {
    let agent = row.agent_row()?.agent;
    let tools = named_tools(row);
    let header = header(&tools, text);
    let envelopes: Vec<String> = (0..agent.runs.min(MOST_RUNS))
        .map(|number| envelope(&tools, text, number).to_string())
        .collect();
    let traces: Vec<Trace<'_>> = envelopes
        .iter()
        .filter_map(|text| Trace::read(text).ok())
        .collect();
    assert_eq!(traces.len(), envelopes.len(), "{envelopes:?}");
    let mut recorded = Recorded::from_traces(&traces);
    if let Recorded::Runs(runs) = &mut recorded {
        runs.runs
            .iter_mut()
            .for_each(|run| run.header = Some(&header));
    }
    let judging = Judging {
        evidence: Some(Embed::All),
        ..Judging::default()
    };
    let report = judge_row(row, &recorded, judging);
    if let Some(reason) = &report.reason {
        assert!(
            reason.kind != ReasonKind::Panicked,
            "{}: {}",
            row.name,
            reason.message
        );
    }
    Some(report)
}

/// Names that the gates of the example are likely to look for.
fn named_tools(row: &Row<'_>) -> Vec<String> {
    let words = [
        "create_issue",
        "get_weather",
        "search",
        "delete_repo",
        "send_email",
    ];
    let servers = row.agent_row().map(|of| of.agent.servers.clone());
    let servers = servers.unwrap_or_default();
    let joined = servers
        .iter()
        .map(|server| format!("{server}__{}", words[0]));
    words
        .iter()
        .map(ToString::to_string)
        .chain(joined)
        .collect()
}

fn header(tools: &[String], text: &str) -> Header {
    let tool = |name: String| CatalogueTool {
        name,
        description: Some(text.to_owned()),
        ..CatalogueTool::default()
    };
    let catalogue = tools.iter().cloned().chain([text.to_owned()]).map(tool);
    Header {
        catalogue: Some(catalogue.collect()),
        prompt: vec![text.to_owned()],
        ..Header::default()
    }
}

/// A run with the text in every place: alone, and around words that gates search for.
fn envelope(tools: &[String], text: &str, number: usize) -> Value {
    let message = format!(
        "{text}\n{text} I created the issue {text}.\n- {text} Deleted \"{text}\"\n1. {text}: I’ve sent {text} to {text}\n\
         | Action | {text} |\n| {text} | done |\nThe title is \"{text}\", the id is {text}42. I did not delete {text}."
    );
    let names = tools.iter().map(String::as_str).chain([text]);
    let calls: Vec<Value> = names
        .enumerate()
        .map(|(turn, name)| {
            json!({
                "name": name,
                "turn": turn,
                "args": { "title": text, "to": format!("{text}@{text}"), text: [text, { text: text }] },
            })
        })
        .collect();
    let results: Vec<Value> = (0..calls.len())
        .map(|at| {
            json!({
                "call_index": at,
                "is_error": (at + number).is_multiple_of(3),
                "content": [{ "type": "text", "text": format!("Error: {text}") }, { "type": "text", "text": text }],
                "structured": { text: text },
            })
        })
        .collect();
    json!({
        "tool_calls": calls,
        "tool_results": results,
        "final_response": message,
        "stop_reason": text,
        "delegations": [{ "from": text, "to": "worker" }],
        "conversation": {
            "tokens": { "prompt": 5, "completion": 2, "total": 7 },
            "turns": [{ "role": "user", "content": text }, { "role": "assistant", "content": message }],
        },
    })
}

#[cfg(test)]
mod tests {
    use super::gates;

    /// Multi-byte characters: with varying case or width, joining or reversing text, ending lines
    /// or quotes.
    const ODD: &str = "–—−•·▪◦→✅☑✗❌…“”‘’«»‹›。！？，；：（）【】İıßẞŉǅﬁΣςÅéñ字漢ひ한ไทย\u{301}\u{200b}\u{200d}\u{202e}\u{2028}\u{2029}\u{85}\u{feff}😀👩‍👧🇳🇴٣५½²₂";

    #[test]
    fn the_example_of_every_gate_is_judged() {
        assert_eq!(super::SUITES.len(), super::GATES.iter().count());
    }

    #[test]
    fn no_character_at_any_place_panics_a_gate_or_a_report() {
        let odd: Vec<char> = ODD.chars().collect();
        let lines =
            |odd: &char| format!("{odd} {odd}{odd} a{odd} {odd}b\n{odd} Created {odd}7{odd}\n");
        for few in odd.chunks(8) {
            gates(few.iter().map(lines).collect::<String>().as_bytes());
        }
    }
}
