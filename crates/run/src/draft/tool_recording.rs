//! Which requirements does a recorded tool test meet?

use super::observed::{expectations, expected_failure, value_of};
use super::page::tool_test;
use super::recording::with_variables;
use super::{Draft, DraftError, judged, path, suite_of, why_not, yaml};
use mcptest_core::suite::{Suite, ToolTest};
use mcptest_files as files;
use mcptest_replay::tool_test::{header_now, parse_recording, path_of};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Drafts a suite with this one test, and writes its recording again, as that suite would have
/// recorded it.
pub(super) fn draft(
    file: &Path,
    bytes: &[u8],
    out: &Path,
    name: Option<&str>,
) -> Result<Draft, DraftError> {
    let help = "a suite with this test could not pass; record it again with `mcptest run --record`";
    let hopeless = |reason: String| DraftError::hopeless(file, reason, help);
    let clean = mcptest_replay::clean(&String::from_utf8_lossy(bytes)).into_owned();
    let bytes = clean.as_bytes();
    let (header, outcome) =
        parse_recording(bytes).map_err(|problem| hopeless(problem.to_string()))?;
    let args = header.args.clone().unwrap_or_else(|| json!({}));
    let expect = match (expected_failure(&outcome), value_of(outcome.result)) {
        (Some(expect), _) => expect,
        (None, Some(result)) => expectations(&result, &result, &args, false),
        (None, None) => return Err(hopeless(outcome.failure.unwrap_or_default())),
    };
    let server = name.unwrap_or(&header.server).to_owned();
    let entry = entry(&header.server_entry, file, out).map_err(&hopeless)?;
    let mut text = head(file, &server, entry);
    text.push_str(&tool_test(
        &server,
        (&header.test, &header.tool),
        &template(&args),
        &expect,
    ));
    super::make_folder(out)?;
    let none = BTreeMap::new();
    let suite = suite_of(out, &text, &none)?;
    let Some(test) = suite.tools.first() else {
        return Err(DraftError::Refused(text));
    };
    let recording = recorded_by(&suite, test, &clean);
    let by_name = BTreeMap::from([(test.name.clone(), recording.clone())]);
    if let Some(why) = judged(out, &text, &none, &by_name)?
        .iter()
        .find_map(why_not)
    {
        return Err(hopeless(why));
    }
    Ok(Draft {
        path: out.to_owned(),
        said: vec![format!("1 tool test of {server}, with its recording")],
        is_judged: true,
        records: true,
        recordings: vec![(path_of(&suite, test), recording)],
        text,
    })
}

/// Everything before the tests.
fn head(file: &Path, server: &str, entry: Map<String, Value>) -> String {
    format!(
        "# Drafted by `mcptest init --from-cassette` from {}.\n#\n# `mcptest run` judges the \
        recording: offline, the same every time.\n# `mcptest run --record` calls the server again \
        and judges its answers.\n\nservers:\n  {}: {}\n\ntools:\n",
        yaml::comment(&file.display().to_string()),
        yaml::text(server),
        template(&Value::Object(entry)),
    )
}

/// The recording as this suite would have written it: its own header above the same outcome.
fn recorded_by(suite: &Suite, test: &ToolTest, recording: &str) -> String {
    let header = serde_json::to_string(&header_now(suite, test).sealed()).unwrap_or_default();
    let outcome = recording
        .lines()
        .filter(|line| !line.trim().is_empty())
        .nth(1)
        .unwrap_or_default();
    format!("{header}\n{outcome}\n")
}

/// The entry of a server as a suite has it.
pub(super) fn as_written(recorded: &Map<String, Value>) -> Map<String, Value> {
    let mut entry = recorded.clone();
    // The digest of a mock's manifest is no part of its entry.
    entry.remove("manifest");
    if let Some(token) = entry.remove("bearer_token_env") {
        entry.insert("auth".to_owned(), json!({ "bearer_token_env": token }));
    }
    entry
}

/// The server's entry, with its paths relative to the new suite.
fn entry(
    recorded: &Map<String, Value>,
    file: &Path,
    out: &Path,
) -> Result<Map<String, Value>, String> {
    let mut entry = as_written(recorded);
    // `<folder of the suite>/cassettes/<suite>/<test>.jsonl`
    let file = files::whole(file);
    let Some(old) = file.ancestors().nth(3) else {
        return Ok(entry);
    };
    let new = files::whole(out);
    let new = new.parent().unwrap_or(old);
    let text = |key: &str| recorded.get(key).and_then(Value::as_str).map(str::to_owned);
    let moved = |way: &str| {
        path::between(new, &files::whole(&old.join(way)))
            .to_string_lossy()
            .into_owned()
    };
    if let Some(mock) = text("mock") {
        if !old.join(&mock).exists() && !new.join(&mock).exists() {
            return Err(format!("the manifest of its mock, {mock}, was not found"));
        }
        if old.join(&mock).exists() {
            entry.insert("mock".to_owned(), moved(&mock).into());
        }
    }
    if entry.contains_key("command") {
        match moved(&text("cwd").unwrap_or_default()).as_str() {
            "." => entry.remove("cwd"),
            way => entry.insert("cwd".to_owned(), way.into()),
        };
    }
    Ok(entry)
}

/// A value in which `${NAME}` is a variable, as in recordings, and a placeholder too.
pub(super) fn template(value: &Value) -> String {
    yaml::flow_with(value, &|text| {
        yaml::template(&with_variables(text).replace("$${", "${"))
    })
}
