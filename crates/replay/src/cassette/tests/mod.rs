//! Is what is written read back, and what is broken said?

mod bad;
mod recording;
mod shapes;

use super::{Cassette, parse};

fn header_line() -> String {
    let header = super::sealed(&mcptest_core::trace::Header {
        agent: "weather 天気".into(),
        model: Some("m-1".into()),
        prompt: vec!["Rain in 東京?".into()],
        ..Default::default()
    });
    serde_json::to_string(&header).unwrap()
}

fn run_line(run: usize, tool: &str) -> String {
    format!(
        r#"{{"run":{run},"trace":{{"tool_calls":[{{"name":"{tool}","args":{{"q":"日本"}}}}]}}}}"#
    )
}

fn first_tools<'c>(cassette: &'c Cassette<'_>) -> Vec<&'c str> {
    let traces = cassette
        .runs
        .iter()
        .filter_map(|run| run.trace.as_ref().ok());
    traces
        .map(|trace| trace.tool_calls[0].name.as_ref())
        .collect()
}

fn problem(text: impl AsRef<[u8]>) -> String {
    match parse(text.as_ref()) {
        Err(problem) => problem.to_string(),
        Ok(cassette) => {
            let problems: Vec<_> = cassette
                .runs
                .iter()
                .filter_map(|run| run.trace.as_ref().err())
                .collect();
            assert_eq!(problems.len(), 1, "{problems:?}");
            problems[0].to_string()
        }
    }
}
