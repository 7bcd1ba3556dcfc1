//! An imported conversation in few words, for tests.

use mcptest_import::import;
use mcptest_replay::{cassette::parse, clean};

/// Every call as `server.name{args} #id @turn = answer`, with `!` before an error; each run begins with `run`.
pub(crate) fn told(text: &str) -> Vec<String> {
    let imported = import(text.as_bytes(), None).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let cassette = imported.into_cassette("a", &clean);
    let cassette = parse(cassette.as_bytes()).unwrap();
    let mut lines = Vec::new();
    for run in &cassette.runs {
        let trace = run.trace.as_ref().unwrap();
        lines.push(format!(
            "run: {}",
            trace.final_response.as_deref().unwrap_or("-")
        ));
        for (call, result) in trace.tool_calls.iter().zip(trace.results_by_call()) {
            let server = call
                .server
                .as_deref()
                .map(|server| format!("{server}."))
                .unwrap_or_default();
            let args = call
                .args
                .map_or(call.args_text.as_deref().unwrap_or_default(), |args| {
                    args.get()
                });
            let id = call
                .id
                .as_deref()
                .map(|id| format!(" #{id}"))
                .unwrap_or_default();
            let turn = call
                .turn
                .map(|turn| format!(" @{turn}"))
                .unwrap_or_default();
            let answer = result.map(|result| {
                let mark = if result.is_error { "!" } else { "" };
                let content: serde_json::Value = result
                    .content
                    .map(|content| serde_json::from_str(content.get()).unwrap())
                    .unwrap_or_default();
                format!(
                    " = {mark}{}",
                    content[0]["text"].as_str().unwrap_or_default()
                )
            });
            lines.push(format!(
                "{server}{}{args}{id}{turn}{}",
                call.name,
                answer.unwrap_or_default()
            ));
        }
    }
    lines
}

/// The line of fidelity.
pub(crate) fn fidelity(text: &str) -> String {
    import(text.as_bytes(), None)
        .unwrap()
        .fidelity()
        .to_string()
}
