//! What does a judge see of a run, and what prevents it from following instructions in it?

use super::Sees;
use crate::digest::digest;
use crate::hidden::{collect_named, without};
use crate::row::AgentRow;
use crate::suite::{ToolOutcome, ToolTest};
use crate::trace::{Call, CallResult, Header, Tool, Trace, content_text};
use mcptest_redact::NamedSecrets;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Longer texts are cut: no judge reads them with care.
const LONGEST: usize = 20_000;

/// The judged part as JSON without `<` and without foreign line breaks, so it can contain neither a
/// data mark nor the marks of roles and tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence(String);

impl Evidence {
    /// The text for a judge, without values under secret names in these texts: a judge belongs to another provider.
    fn for_judge(record: &Value, recorded: &[&str]) -> Self {
        let mut secrets = NamedSecrets::default();
        for text in recorded {
            collect_named(text, &mut secrets);
        }
        let record = record.to_string();
        collect_named(&record, &mut secrets);
        Self::from_json(&without(&secrets, &record))
    }

    /// The record that this JSON is, on one line.
    pub fn from_json(text: &str) -> Self {
        Self(one_line(text))
    }

    /// The value at a target of a run, or the whole run without a target.
    pub(crate) fn from_run(
        trace: &Trace<'_>,
        header: Option<&Header>,
        judged: Option<(&str, &Value)>,
        sees: Sees,
    ) -> Self {
        let mut record = json!({});
        if let Some((target, value)) = judged {
            record["judged"] = json!({ "target": target, "value": clipped_value(value) });
        }
        if sees == Sees::Text {
            if judged.is_none() {
                let said = trace.final_response.as_deref().map(clipped);
                record["judged"] = json!({ "target": "final_response", "value": said });
            }
            return Self::for_judge(&record, &[trace.text]);
        }
        let results = trace.results_by_call();
        let calls = trace
            .tool_calls
            .iter()
            .zip(results)
            .map(|(call, result)| call_shown(call, result));
        record["task"] =
            json!(said_by("user", trace).or_else(|| header.map(|header| header.prompt.clone())));
        record["calls"] = calls.collect();
        record["claims"] = json!(claims(trace));
        Self::for_judge(&record, &[trace.text])
    }

    /// The value at a target of a tool test's outcome.
    pub(crate) fn from_call(
        test: &ToolTest,
        outcome: &ToolOutcome<'_>,
        (target, value): (&str, &Value),
        sees: Sees,
    ) -> Self {
        let mut record = json!({ "judged": { "target": target, "value": clipped_value(value) } });
        if sees == Sees::Run {
            let result = outcome
                .result
                .or(outcome.error)
                .map(|result| clipped_value(&parsed(result)));
            record["calls"] =
                json!([{ "tool": test.tool, "arguments": test.args_template, "result": result }]);
        }
        let answers = [outcome.result, outcome.error];
        let recorded: Vec<&str> = answers.into_iter().flatten().map(RawValue::get).collect();
        Self::for_judge(&record, &recorded)
    }

    /// A scorer's input: the row and the recorded run.
    pub(crate) fn from_scorer(of: AgentRow<'_>, trace: &Trace<'_>, run: usize) -> Self {
        let (test, model) = (json!(of.agent.name), json!(of.model_label()));
        let envelope = if trace.text.is_empty() {
            "null"
        } else {
            trace.text
        };
        Self::from_json(&format!(
            r#"{{"test":{test},"model":{model},"run":{run},"trace":{envelope}}}"#
        ))
    }

    /// A string that is judged by itself.
    pub fn from_text(text: &str) -> Self {
        let record = json!({ "judged": { "target": "text", "value": clipped(text) } });
        Self::for_judge(&record, &[])
    }

    /// The text for the judge.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The marks before and after it. They contain its digest, and the text contains no `<`.
    pub fn marks(&self) -> (String, String) {
        let digest = self.digest();
        let name = digest.trim_start_matches("blake3:");
        (format!("<data-{name}>"), format!("</data-{name}>"))
    }

    /// The judged text, for comparison with another.
    pub fn judged_text(&self) -> String {
        let record: Value = serde_json::from_str(&self.0).unwrap_or_default();
        match &record["judged"]["value"] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    /// The digest that identifies it.
    pub fn digest(&self) -> String {
        digest(self.0.as_bytes())
    }
}

/// JSON without characters that could begin a mark or a line: `<`, `>`, and Unicode line breaks,
/// which JSON does not escape.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' | '>' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                line.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            other => line.push(other),
        }
    }
    line
}

/// The texts of one role, if the conversation has any.
fn said_by(role: &str, trace: &Trace<'_>) -> Option<Vec<String>> {
    let turns = trace
        .conversation
        .turns
        .iter()
        .filter(|turn| turn.role == role);
    let texts = turns
        .filter_map(|turn| turn.content.map(content_text))
        .filter(|text| !text.is_empty());
    Some(texts.map(|text| clipped(&text)).collect::<Vec<_>>()).filter(|texts| !texts.is_empty())
}

/// The agent's messages: its turns, and its closing message if they lack it.
fn claims(trace: &Trace<'_>) -> Option<Vec<String>> {
    let mut claims = said_by("assistant", trace).unwrap_or_default();
    if let Some(closing) = trace.final_response.as_deref().map(clipped) {
        let is_said = |claim: &String| claim.contains(closing.trim());
        if !claims.iter().any(is_said) {
            claims.push(closing);
        }
    }
    Some(claims).filter(|claims| !claims.is_empty())
}

fn call_shown(call: &Call<'_>, result: Option<&CallResult<'_>>) -> Value {
    let tool = Tool::from(call).full_name();
    let arguments = call.args.map(|args| clipped_value(&parsed(args)));
    let arguments =
        arguments.or_else(|| call.args_text.as_deref().map(|text| json!(clipped(text))));
    let Some(result) = result else {
        return json!({ "tool": tool, "arguments": arguments, "result": "nothing was recorded" });
    };
    let error = result
        .error
        .as_ref()
        .and_then(|error| error.message.as_deref().map(str::to_owned));
    let said = error.or_else(|| result.text()).map(|text| clipped(&text));
    json!({ "tool": tool, "arguments": arguments, "is_error": result.is_failure(), "result": said })
}

fn parsed(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap_or_else(|_| json!(raw.get()))
}

fn clipped_value(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(clipped(text)),
        other if other.to_string().chars().count() > LONGEST => json!(clipped(&other.to_string())),
        other => other.clone(),
    }
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => {
            let left_out = text[end..].chars().count();
            format!(
                "{} [{left_out} more characters are omitted here]",
                &text[..end]
            )
        }
        None => text.to_owned(),
    }
}
