//! What was recorded of a tool test, for a person to read?

use super::recording::{CallOutcome, FORMAT, Header, parse};
use crate::cassette::{Look, Page, ReadError, ReadFault, Recording, prose_of_content};
use mcptest_core::json::document::names_format;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Returns true for the recording of a tool test, of any version.
pub fn is_tool_test(recording: &Recording) -> bool {
    names_format(recording.bytes(), FORMAT)
}

/// The recording of a tool test as a timeline; whatever the server wrote cannot steer the terminal.
pub fn timeline(recording: &Recording, full: bool, colour: bool) -> Result<String, ReadError> {
    let (header, outcome) =
        parse(recording.bytes()).map_err(|problem| ReadFault::Bad(problem).at(recording.path()))?;
    let mut page = Page::new(full, colour);
    recorded_with(&header, &mut page);
    answered_by(&outcome, &mut page);
    page.blank();
    call(&header, &mut page);
    messages_of_server(&outcome, &mut page);
    answer(&outcome, &mut page);
    Ok(page.into_text())
}

fn answered_by(outcome: &CallOutcome<'_>, page: &mut Page) {
    if let Some(server) = &outcome.server {
        let protocol = format!("MCP {}, {}", server.protocol_version, server.era);
        page.labelled(
            "",
            "answered by",
            &format!("{} {} ({protocol})", server.name, server.version),
        );
    }
}

fn call(header: &Header, page: &mut Page) {
    let arguments = header
        .args
        .as_ref()
        .map(Value::to_string)
        .unwrap_or_default();
    page.line(
        Look::Bold,
        &format!("  → {}.{}", header.server, header.tool),
        &arguments,
    );
}

/// The requests, the progress and the log of the server during the call.
fn messages_of_server(outcome: &CallOutcome<'_>, page: &mut Page) {
    for asked in &outcome.server_requests {
        let how = if asked.scripted {
            "scripted"
        } else {
            "not scripted"
        };
        page.line(
            Look::Plain,
            "    ←",
            &format!("{} {}", asked.method, asked.params),
        );
        page.line(Look::Plain, "    →", &format!("{} ({how})", asked.answer));
    }
    for (what, sent) in [("progress", &outcome.progress), ("log", &outcome.log)] {
        for message in sent.iter().flatten() {
            page.line(Look::Plain, &format!("    ← {what}"), message.get());
        }
    }
}

fn answer(outcome: &CallOutcome<'_>, page: &mut Page) {
    let is_bad = outcome.failure.is_some() || outcome.error.is_some();
    page.line(
        if is_bad { Look::Bad } else { Look::Plain },
        "  ←",
        &answer_in_words(outcome),
    );
    if let Some(structured) = structured(outcome) {
        page.labelled("    ", "structured", structured.get());
    }
    page.labelled("  ", "duration", &format!("{} ms", outcome.duration_ms));
    if let Some(schema) = &outcome.output_schema {
        page.labelled("  ", "schema", &schema.to_string());
    }
    for oddity in &outcome.oddities {
        page.labelled("  ", "odd", oddity);
    }
}

fn recorded_with(header: &Header, page: &mut Page) {
    page.labelled("", "tool test", &header.test);
    let entry = Value::Object(header.server_entry.clone());
    page.labelled("", "server", &format!("{} {entry}", header.server));
    let pinned = header.fingerprint.as_deref();
    page.labelled(
        "",
        "fingerprint",
        pinned.unwrap_or("unpinned: not checked for changes of the suite"),
    );
    if header.is_tampered() {
        page.labelled("", "", "this header was changed after the recording");
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ToolResult<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    structured_content: Option<&'a RawValue>,
    is_error: bool,
}

fn answer_in_words(outcome: &CallOutcome<'_>) -> String {
    if let Some(failure) = &outcome.failure {
        return format!("no answer: {failure}");
    }
    if let Some(error) = outcome.error {
        let error: Value = serde_json::from_str(error.get()).unwrap_or_default();
        let message = error["message"].as_str().unwrap_or_default();
        let data = error
            .get("data")
            .map(|data| format!(" {data}"))
            .unwrap_or_default();
        return format!("protocol error {} {message}{data}", error["code"]);
    }
    let Some(result) = outcome.result else {
        return String::new();
    };
    match serde_json::from_str::<ToolResult<'_>>(result.get()) {
        Ok(read) if read.content.is_some() => {
            let status = if read.is_error { "error" } else { "ok" };
            format!("{status} {}", prose_of_content(read.content))
        }
        _ => format!("ok {}", result.get()),
    }
}

fn structured<'a>(outcome: &CallOutcome<'a>) -> Option<&'a RawValue> {
    serde_json::from_str::<ToolResult<'a>>(outcome.result?.get())
        .ok()?
        .structured_content
}
