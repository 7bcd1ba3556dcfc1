//! A gate under test: its block is read from a suite, and judges envelopes.

use crate::problem::{Level, Problem};
use crate::report::GateReport;
use crate::suite::{Host, Loaded, ReadFile, load, yaml_to_json};
use crate::trace::{CatalogueTool, Header, Run, Trace};
use serde_json::Value;
use std::path::Path;

/// A suite with one agent, whose server `docs` has the tools `search`, `open_page` and `delete_page`.
pub(crate) fn suite(agent: &str) -> String {
    let head = "servers:\n  docs: { mock: tools.json }\n";
    let faults = "faults:\n  - { name: hung, target: { tool: search }, kind: hang }\n\
                  \x20 - { name: late, target: { server: docs }, kind: slow:9000 }\n\
                  \x20 - { name: fine, target: { tool: search }, kind: none }\n";
    let indented = agent.trim_end().replace('\n', "\n    ");
    format!(
        "{head}{faults}agents:\n  - name: t\n    model: m\n    servers: [docs]\n    {indented}\n"
    )
}

const TOOLS: &str = r#"{"tools": [
    {"name": "search", "inputSchema": {"type": "object", "required": ["q"], "properties": {"q": {"type": "string"}}}},
    {"name": "open_page"}, {"name": "delete_page"}]}"#;

/// Loads a suite from memory.
pub(crate) fn loaded(text: &str) -> Loaded {
    let read = |path: &Path| match path.to_str() {
        Some("suite.yml") => Ok(text.as_bytes().to_vec()),
        Some("tools.json") => Ok(TOOLS.as_bytes().to_vec()),
        _ => Err("no such file".to_owned()),
    };
    load(
        Path::new("suite.yml"),
        &Host {
            mock: &tools_of,
            ..Host::new(&read, &|_| None)
        },
    )
}

/// The tools of a saved list, as a mock has them.
pub(crate) fn tools_of(
    _: &Path,
    text: &str,
    _: usize,
    _: ReadFile<'_>,
) -> (Option<Vec<CatalogueTool>>, Vec<Problem>) {
    let list = yaml_to_json(text).unwrap();
    let tool = |tool: &Value| CatalogueTool {
        name: tool["name"].as_str().unwrap().to_owned(),
        input_schema: tool.get("inputSchema").cloned().map(Into::into),
        ..CatalogueTool::default()
    };
    (
        Some(list["tools"].as_array().unwrap().iter().map(tool).collect()),
        Vec::new(),
    )
}

/// The problems that loading reports, each with its level, line and help.
pub(crate) fn problems(agent: &str) -> Vec<String> {
    let loaded = loaded(&suite(agent));
    let said = loaded.problems.iter().map(|problem| {
        let level = if problem.level == Level::Error {
            "error"
        } else {
            "warning"
        };
        let help = problem
            .help
            .as_ref()
            .map(|help| format!(" ({help})"))
            .unwrap_or_default();
        format!("{level}: {}{help}", problem.message)
    });
    said.collect()
}

/// A recorded header with this catalogue.
pub(crate) fn header(catalogue: Value) -> Header {
    let catalogue: Vec<CatalogueTool> = serde_json::from_value(catalogue).unwrap();
    Header {
        catalogue: Some(catalogue),
        ..Header::default()
    }
}

/// The report of the agent's last gate on these runs.
pub(crate) fn judged(agent: &str, header: Option<&Header>, envelopes: &[Value]) -> GateReport {
    let loaded = loaded(&suite(agent));
    let suite = loaded
        .suite
        .unwrap_or_else(|| panic!("{:?}", loaded.problems));
    let texts: Vec<String> = envelopes.iter().map(Value::to_string).collect();
    let traces: Vec<Trace<'_>> = texts
        .iter()
        .map(|text| Trace::read(text).unwrap())
        .collect();
    let runs: Vec<Run<'_>> = Run::all(&traces)
        .into_iter()
        .map(|run| Run { header, ..run })
        .collect();
    let gate = suite.agents[0].gates.last().unwrap();
    let report = gate.judge("t", &runs);
    GateReport {
        evidence: gate.evidence(None, &[], &runs, &report),
        ..report
    }
}

/// The findings of a gate as sentences.
pub(crate) fn findings(report: &GateReport) -> Vec<String> {
    let said = report.explanation.iter().map(|finding| match finding.run {
        Some(run) => format!("run {run}: {}", finding.message),
        None => finding.message.clone(),
    });
    said.collect()
}

/// The value of a target.
pub(crate) fn value(report: &GateReport, target: &str) -> Option<f64> {
    report.targets[target].map(crate::report::Number::as_f64)
}
