//! How is one direct tool call stored in a file, and read again?

use crate::cassette::{Fault, Problem, StaleInputs, fingerprint_of};
use mcptest_core::coverage::Surface;
use mcptest_core::digest::digest_of_value;
use mcptest_core::json::document::{Source, TextFault};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

pub(super) const FORMAT: &str = "mcptest-tool-test";
pub(super) const VERSION: u64 = 1;

/// The first line: the call, with environment values as `${NAME}`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    pub(super) format: String,
    pub(super) version: u64,
    /// The test's name in its suite.
    pub test: String,
    /// The server's name in the suite.
    pub server: String,
    /// Its entry in the suite.
    pub server_entry: Map<String, Value>,
    /// The tool that is called.
    pub tool: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    /// A hash of the suite's entry, tool and arguments, if a secret was removed from the fields
    /// above.
    ///
    /// A literal secret in it is also in the suite next to the recording, in plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) written: Option<String>,
    /// The digest of all fields above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) fingerprint: Option<String>,
}

impl Header {
    /// This header, made by removing another's secrets, with a hash that shows when they change.
    pub fn in_place_of(self, whole: &Self) -> Self {
        let mut entry = whole.server_entry.clone();
        entry.remove("manifest");
        let written = json!([whole.server, entry, whole.tool, whole.args]);
        Self {
            written: Some(digest_of_value(&written)),
            ..self
        }
    }

    /// The header for writing: with its fingerprint.
    pub fn sealed(self) -> Self {
        Self {
            fingerprint: Some(fingerprint_of(&self)),
            ..self
        }
    }

    pub fn is_pinned(&self) -> bool {
        self.fingerprint.is_some()
    }

    /// Returns true if it was edited.
    pub fn is_tampered(&self) -> bool {
        self.fingerprint
            .as_ref()
            .is_some_and(|written| *written != fingerprint_of(self))
    }

    /// The differences from a recording made now, a line each.
    pub fn changes_to(&self, now: &Self) -> Vec<String> {
        let mut changes = StaleInputs::default();
        changes.text("server", Some(&self.server), Some(&now.server));
        changes.server(
            &now.server,
            Some(&self.server_entry),
            Some(&now.server_entry),
        );
        changes.text("tool", Some(&self.tool), Some(&now.tool));
        changes.first_difference("args".to_owned(), self.args.as_ref(), now.args.as_ref());
        let mut changes: Vec<String> = changes.0.iter().map(ToString::to_string).collect();
        if changes.is_empty() && self.written != now.written {
            let server = &now.server;
            changes.push(format!(
                "servers.{server} or args: a redacted value has changed"
            ));
        }
        changes
    }
}

/// The second line: the result of the call. It has exactly one of `result`, `error` and `failure`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallOutcome<'a> {
    /// The result, verbatim.
    #[serde(
        borrow,
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub result: Option<&'a RawValue>,
    /// The JSON-RPC error.
    #[serde(
        borrow,
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub error: Option<&'a RawValue>,
    /// The reason for a missing answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The duration of the call.
    pub duration_ms: u64,
    /// The schema that the tool declares for its structured content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// The answering server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Server>,
    /// The tools that it listed, with their parameters and the values of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Surface>,
    /// The progress notifications during the call; `None` in recordings that lack them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Vec<Box<RawValue>>>,
    /// The server's log messages during the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<Vec<Box<RawValue>>>,
    /// Irregularities, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub oddities: Vec<String>,
    /// The server's requests during the call, and their answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server_requests: Vec<ServerRequest>,
}

/// The server's description of itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The version of MCP that was agreed on.
    pub protocol_version: String,
    /// The protocol that it uses.
    pub era: String,
}

/// A request of the server's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerRequest {
    /// The method.
    pub method: String,
    /// Its parameters, as JSON.
    pub params: String,
    /// The answer.
    pub answer: String,
    /// True if the suite scripts the answer.
    pub scripted: bool,
}

/// Reads a present field as a value, even `null`.
fn present<'de, D: Deserializer<'de>>(source: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(source).map(Some)
}

/// Returns true if the server answered the recorded call, with a result or an error.
pub fn is_answered(recording: &str) -> bool {
    parse(recording.as_bytes()).is_ok_and(|(_, outcome)| outcome.failure.is_none())
}

/// The recording in these bytes.
pub fn parse(bytes: &[u8]) -> Result<(Header, CallOutcome<'_>), Problem> {
    let file = Source::new(bytes);
    let mut lines = file.lines();
    let first = lines
        .next()
        .ok_or_else(|| Problem::nowhere(TextFault::Empty))?;
    let header = first.header((FORMAT, VERSION), |reason| Fault::BadHeader { reason })?;
    let Some(second) = lines.next() else {
        return Err(first.fault_here(Fault::NotOneOutcome {
            found: "the header is the only line",
        }));
    };
    let text = second.text()?;
    second.check(text)?;
    let outcome: CallOutcome<'_> = read_outcome(second, text)?;
    let parts = [
        outcome.result.is_some(),
        outcome.error.is_some(),
        outcome.failure.is_some(),
    ];
    let found = match parts.iter().filter(|is_there| **is_there).count() {
        0 => "this line has no result, error or failure",
        1 => match lines.next() {
            None => return Ok((header, outcome)),
            Some(third) => {
                return Err(third.fault_here(Fault::NotOneOutcome {
                    found: "a third line begins here",
                }));
            }
        },
        _ => "this line has more than one of result, error and failure",
    };
    Err(second.fault_here(Fault::NotOneOutcome { found }))
}

/// Reads the outcome. Problems name their key.
fn read_outcome<'a>(line: Source<'a>, text: &'a str) -> Result<CallOutcome<'a>, Problem> {
    let whole = line.object(text, |reason| Fault::BadOutcome {
        key: String::new(),
        reason,
    });
    let Err(Problem {
        fault: Fault::BadOutcome { .. },
        ..
    }) = &whole
    else {
        return whole;
    };
    let parts: BTreeMap<String, &RawValue> = serde_json::from_str(text).unwrap_or_default();
    for (key, value) in &parts {
        let mut alone = Map::from_iter([("duration_ms".to_owned(), Value::from(0))]);
        alone.insert(
            key.clone(),
            serde_json::from_str(value.get()).unwrap_or_default(),
        );
        let alone = Value::Object(alone).to_string();
        if let Err(error) = serde_json::from_str::<CallOutcome<'_>>(&alone) {
            let said = error.to_string();
            let reason = said
                .split(" at line ")
                .next()
                .unwrap_or_default()
                .to_owned();
            return Err(line.fault(
                value.get(),
                Fault::BadOutcome {
                    key: format!("`{key}`: "),
                    reason,
                },
            ));
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(tool: &str) -> Header {
        Header {
            format: FORMAT.to_owned(),
            version: VERSION,
            test: "n".to_owned(),
            server: "weather".to_owned(),
            server_entry: Map::from_iter([("command".to_owned(), json!(["x", "--fast"]))]),
            tool: tool.to_owned(),
            args: Some(json!({"city": "Oslo"})),
            ..Header::default()
        }
    }

    fn file(outcome: &str) -> String {
        format!(
            "{}\n{outcome}\n",
            serde_json::to_string(&called("t").sealed()).unwrap()
        )
    }

    fn refusal(text: &str) -> String {
        parse(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_comes_back() {
        let text =
            file(r#"{"result":{"content":[]},"duration_ms":7,"oddities":["it wrote twice"]}"#);
        let (header, outcome) = parse(text.as_bytes()).unwrap();
        assert_eq!(header, called("t").sealed());
        assert!(!header.is_tampered());
        assert_eq!(outcome.result.unwrap().get(), r#"{"content":[]}"#);
        assert_eq!((outcome.duration_ms, outcome.oddities.len()), (7, 1));
    }

    #[test]
    fn what_changed_is_named_by_its_part() {
        let mut now = called("other");
        now.args = Some(json!({"city": "Bergen", "days": 2}));
        now.server_entry.insert("command".to_owned(), json!(["x"]));
        assert_eq!(
            called("t").changes_to(&now),
            [
                r#"servers.weather.command: recorded ["x","--fast"], now ["x"]"#,
                r#"tool: recorded "t", now "other""#,
                r#"args.city: recorded "Oslo", now "Bergen""#,
                "args.days: recorded not set, now 2",
            ]
        );
        let mut edited = called("t").sealed();
        edited.tool = "u".to_owned();
        assert!(edited.is_tampered());
    }

    #[test]
    fn a_damaged_or_newer_file_is_refused() {
        assert!(refusal("").starts_with("the file is empty"));
        assert!(
            refusal("{\"format\":\"mcptest-cassette\",\"version\":1}\n")
                .contains("not \"mcptest-tool-test\"")
        );
        let newer = refusal("{\"format\":\"mcptest-tool-test\",\"version\":2}\n");
        assert!(newer.ends_with(
            "this file has version 2, but this mcptest reads only versions up to 1; update mcptest"
        ));
        assert!(refusal(&file("")).contains("the header is the only line"));
        assert!(
            refusal(&file("{\"duration_ms\":1}"))
                .starts_with("line 2, column 1: this line has no result")
        );
        let both = r#"{"result":{},"failure":"x","duration_ms":1}"#;
        assert!(refusal(&file(both)).contains("more than one"));
        assert!(refusal(&file("{\"result\":{\"content\"")).contains("cut off"));
        let twice = format!("{}{}", file(r#"{"result":{},"duration_ms":1}"#), "{}\n");
        assert!(refusal(&twice).contains("a third line"));
        let typed = refusal(&file(r#"{"result":{},"duration_ms":"7"}"#));
        assert_eq!(
            typed,
            "line 2, column 28: cannot read the result of the call (`duration_ms`: invalid type: string \"7\", \
             expected u64); record it again with `--record`"
        );
        let unknown = refusal(&file(r#"{"result":{},"duration_ms":1,"reslut":{}}"#));
        assert!(
            unknown.contains("(`reslut`: unknown field `reslut`, expected one of `result`"),
            "{unknown}"
        );
        assert!(refusal(&file(r#"{"result":{}}"#)).contains("missing field `duration_ms`"));
        assert!(parse(file(r#"{"result":null,"duration_ms":1}"#).as_bytes()).is_ok());
    }
}
