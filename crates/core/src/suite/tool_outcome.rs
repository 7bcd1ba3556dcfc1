//! Does the result of a call fulfil the expectations of its tool test?

use super::ToolTest;
use crate::grade::{Found, found};
use crate::report::Expectation;
use crate::schema::{JsonSchema, TOO_MUCH_WORK};
use crate::target::Path;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The recorded outcome of one call.
///
/// ```
/// use mcptest_core::ToolOutcome;
/// use serde_json::value::RawValue;
///
/// let result = RawValue::from_string(r#"{"content": [{"type": "text", "text": "Rain"}]}"#.to_owned())?;
/// let outcome = ToolOutcome { result: Some(&*result), duration_ms: 40, ..ToolOutcome::default() };
/// assert!(outcome.failure.is_none());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct ToolOutcome<'a> {
    /// The result, if any.
    pub result: Option<&'a RawValue>,
    /// The JSON-RPC error, if any.
    pub error: Option<&'a RawValue>,
    /// The duration of the call.
    pub duration_ms: u64,
    /// The schema that the tool declares for its structured content.
    pub output_schema: Option<&'a Value>,
    /// The reason for a missing answer; lines after the first are details.
    pub failure: Option<&'a str>,
    /// The progress that the server reported during the call; `None` if the recording does not have it.
    pub progress: Option<&'a [Box<RawValue>]>,
    /// The log messages during the call; `None` if the recording lacks them.
    pub log: Option<&'a [Box<RawValue>]>,
    /// Other observations, in words.
    pub oddities: &'a [String],
}

const STRUCTURED: &str = "result.structuredContent";

impl ToolTest {
    /// Checks every expectation, and the result against the tool's own `outputSchema`.
    pub fn check(&self, outcome: &ToolOutcome<'_>, graded: &[Found]) -> Vec<Expectation> {
        let text = outcome.to_json();
        let mut checked: Vec<Expectation> = self
            .expect
            .iter()
            .enumerate()
            .map(|(at, assertion)| (assertion, found(graded, at)))
            // The reason of the call says that there is no grade.
            .filter(|(_, found)| found.is_none_or(|found| found.grade.is_ok()))
            .map(|(assertion, found)| {
                let target = &assertion.target;
                let absent = outcome.absence(target, &text);
                assertion.check_call(&text, &absent, found)
            })
            .collect();
        checked.extend(outcome.check_schema());
        checked
    }
}

impl ToolOutcome<'_> {
    /// The tree that targets lead into. A result without `isError` is not an error.
    pub(crate) fn to_json(self) -> String {
        let mut parts = vec![format!("\"duration_ms\":{}", self.duration_ms)];
        if let Some(result) = self.result.map(RawValue::get) {
            let with_flag = match result.trim_start().strip_prefix('{').map(str::trim_start) {
                Some("}") => "{\"isError\":false}".to_owned(),
                // Of a key that is there twice, the last one counts.
                Some(fields) => format!("{{\"isError\":false,{fields}"),
                None => result.to_owned(),
            };
            parts.push(format!("\"result\":{with_flag}"));
        }
        parts.extend(self.error.map(|error| format!("\"error\":{}", error.get())));
        for (key, messages) in [("progress", self.progress), ("log", self.log)] {
            let listed = |messages: &[Box<RawValue>]| {
                let messages: Vec<&str> = messages.iter().map(|message| message.get()).collect();
                format!("\"{key}\":[{}]", messages.join(","))
            };
            parts.extend(messages.map(listed));
        }
        format!("{{{}}}", parts.join(","))
    }

    /// The message for a target without a value in this call, which is `text` as JSON.
    fn absence(&self, path: &Path, text: &str) -> String {
        #[derive(Deserialize)]
        struct Outline {
            code: i64,
            message: String,
        }
        let (target, asks_for_result) = (path.as_str(), path.starts_with("result"));
        let nothing = format!("`{target}` has no value");
        match self.error {
            Some(error) if asks_for_result => match serde_json::from_str::<Outline>(error.get()) {
                Ok(error) => {
                    format!(
                        "{nothing}: the call gave the error {}, {:?}",
                        error.code, error.message
                    )
                }
                Err(_) => format!("{nothing}: the call gave the error {}", error.get()),
            },
            _ if target.starts_with("progress") => {
                missing_message(&nothing, "progress", self.progress)
            }
            _ if target.starts_with("log") => missing_message(&nothing, "log messages", self.log),
            None if target.starts_with("error") => format!("{nothing}: the call gave a result"),
            _ => path.why_absent_in(text).unwrap_or(nothing),
        }
    }

    /// Checks the result against the schema that the tool declares. An error needs no structured content.
    fn check_schema(&self) -> Option<Expectation> {
        let (schema, result) = (self.output_schema?, self.result?);
        let result: Value = serde_json::from_str(result.get()).unwrap_or_default();
        if result.get("isError") == Some(&Value::Bool(true)) {
            return None;
        }
        let actual = result.get("structuredContent").cloned();
        let (diff, reason) = match held_to(schema, actual.as_ref()) {
            Err(why) => (Vec::new(), Some(why)),
            Ok((schema, content)) => {
                let diff = schema.check(content);
                let reason = (!diff.is_empty()).then(|| MISFIT.to_owned());
                (diff, reason)
            }
        };
        Some(Expectation {
            target: STRUCTURED.to_owned(),
            matcher: json!({ "outputSchema": schema }).into(),
            passed: reason.is_none(),
            actual,
            diff,
            message: None,
            reason,
            grade: None,
            suite_line: None,
        })
    }
}

/// Explains why an expected message is missing.
fn missing_message(nothing: &str, what: &str, sent: Option<&[Box<RawValue>]>) -> String {
    match sent.map(<[_]>::len) {
        None => {
            format!("{nothing}: the recording does not contain its {what}; record it again")
        }
        Some(0) => format!("{nothing}: the call sent no {what}"),
        Some(count) => format!("{nothing}: the call sent {what} {count} times"),
    }
}

const MISFIT: &str = "the result does not match the tool's own outputSchema";

/// The schema that a tool declares with the content to check, or why it cannot be checked.
fn held_to<'v>(
    schema: &Value,
    content: Option<&'v Value>,
) -> Result<(JsonSchema, &'v Value), String> {
    let schema = JsonSchema::compile_as_declared(schema).map_err(|fault| {
        format!(
            "the tool's `outputSchema` is not a valid JSON Schema: {}",
            fault.reason
        )
    })?;
    let content = content
        .ok_or("the tool declares an outputSchema, so its result needs structuredContent")?;
    let undecided = || {
        format!("the result cannot be checked against the tool's `outputSchema`: {TOO_MUCH_WORK}")
    };
    schema.verdict(content).ok_or_else(undecided)?;
    Ok((schema, content))
}

/// The violations of the schema that its tool declares, a sentence each. An error needs no structured content.
pub fn output_faults(schema: &Value, result: &Value) -> Vec<String> {
    if result.get("isError") == Some(&Value::Bool(true)) {
        return Vec::new();
    }
    match held_to(schema, result.get("structuredContent")) {
        Err(why) => vec![why],
        Ok((schema, content)) => {
            let say = |(pointer, why)| format!("{MISFIT}: structuredContent{pointer}: {why}");
            schema.reasons(content).into_iter().map(say).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::{Host, load};
    use std::path::Path;

    /// Whether each expectation holds, and the reason of the first failure.
    fn judge(expect: &str, outcome: &str, output_schema: Option<&Value>) -> (Vec<bool>, String) {
        let text = format!(
            "servers: {{s: {{command: [x]}}}}\ntools:\n  - {{name: n, server: s, tool: t, expect: [{expect}]}}\n"
        );
        let read = move |_: &Path| Ok(text.clone().into_bytes());
        let loaded = load(Path::new("s.yml"), &Host::new(&read, &|_| None));
        let suite = loaded
            .suite
            .unwrap_or_else(|| panic!("{:?}", loaded.problems));
        let raw: Value = serde_json::from_str(outcome).unwrap();
        let part = |key: &str| {
            raw.get(key)
                .map(|part| RawValue::from_string(part.to_string()).unwrap())
        };
        let (result, error) = (part("result"), part("error"));
        let outcome = ToolOutcome {
            result: result.as_deref(),
            error: error.as_deref(),
            duration_ms: 12,
            output_schema,
            ..ToolOutcome::default()
        };
        let checked = suite.tools[0].check(&outcome, &[]);
        let reason = checked
            .iter()
            .find_map(|one| one.reason.clone())
            .unwrap_or_default();
        (checked.iter().map(|one| one.passed).collect(), reason)
    }

    #[test]
    fn a_result_that_does_not_say_is_error_is_none() {
        let flag = "{target: result.isError, matcher: {exact: false}}";
        assert_eq!(judge(flag, r#"{"result":{}}"#, None).0, [true]);
        assert_eq!(judge(flag, r#"{"result":{"content":[]}}"#, None).0, [true]);
        assert_eq!(
            judge(flag, r#"{"result":{"isError":true}}"#, None).0,
            [false]
        );
        assert_eq!(
            judge(
                "{target: duration_ms, matcher: {lte: 12}}",
                r#"{"result":{}}"#,
                None
            )
            .0,
            [true]
        );
    }

    #[test]
    fn an_error_in_place_of_a_result_is_quoted() {
        let text = "{target: 'result.content[0].text', matcher: {contains: sunny}}";
        let (held, reason) = judge(
            text,
            r#"{"error":{"code":-32602,"message":"no city"}}"#,
            None,
        );
        assert_eq!(held, [false]);
        assert!(
            reason.ends_with("the call gave the error -32602, \"no city\""),
            "{reason}"
        );
        let code = "{target: error.code, matcher: {exact: -32602}}";
        assert_eq!(
            judge(
                code,
                r#"{"error":{"code":-32602,"message":"no city"}}"#,
                None
            )
            .0,
            [true]
        );
        assert!(
            judge(code, r#"{"result":{}}"#, None)
                .1
                .ends_with("the call gave a result")
        );
    }

    #[test]
    fn the_tools_own_schema_is_a_check_of_its_own() {
        let flag = "{target: result.isError, matcher: {absent: false}}";
        let schema = json!({"properties": {"degrees": {"type": "number"}}});
        let held = |outcome: &str| judge(flag, outcome, Some(&schema)).0;
        assert_eq!(
            held(r#"{"result":{"structuredContent":{"degrees":3}}}"#),
            [true, true]
        );
        assert_eq!(
            held(r#"{"result":{"structuredContent":{"degrees":"3"}}}"#),
            [true, false]
        );
        assert_eq!(held(r#"{"result":{"content":[]}}"#), [true, false]);
        assert_eq!(
            held(r#"{"result":{"isError":true}}"#),
            [true],
            "an error needs no structured content"
        );
        let (held, reason) = judge(
            flag,
            r#"{"result":{"structuredContent":1}}"#,
            Some(&json!({"type": 12})),
        );
        assert_eq!(held, [true, false]);
        assert!(
            reason.starts_with("the tool's `outputSchema` is not a valid JSON Schema"),
            "{reason}"
        );
    }
}
