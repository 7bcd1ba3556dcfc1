//! Is this the plainest of transcripts, a chat of text and calls, and which conversation is it? It is read in one pass,
//! where the importers read each value at every level.

use crate::content::call_of;
use crate::document::can_be_kept;
use crate::json::Json;
use crate::transcript::{ImportedAnswer, Transcript};
use mcptest_core::trace::RecordedCall;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A chat with nothing but these fields. Any other field makes it a matter for the importers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainChat<'a> {
    #[serde(borrow, default)]
    model: Option<Text<'a>>,
    #[serde(borrow)]
    messages: Vec<PlainMessage<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainMessage<'a> {
    role: Role,
    #[serde(borrow, default)]
    content: Option<Text<'a>>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<PlainCall<'a>>>,
    #[serde(borrow, default)]
    tool_call_id: Option<Text<'a>>,
    #[serde(borrow, default)]
    name: Option<Text<'a>>,
}

#[derive(Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Role {
    System,
    Developer,
    User,
    Assistant,
    Tool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainCall<'a> {
    #[serde(borrow, default)]
    id: Option<Text<'a>>,
    #[serde(rename = "type")]
    _kind: Kind,
    #[serde(borrow)]
    function: PlainFunction<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Function,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainFunction<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    arguments: &'a RawValue,
}

/// A string that is borrowed unless it has escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// The conversation of a plain chat; `None` if the importers must look at it.
pub(crate) fn read(text: &str) -> Option<Transcript> {
    let chat: PlainChat<'_> = serde_json::from_str(text).ok()?;
    if !can_be_kept(text) || chat.messages.is_empty() {
        return None;
    }
    let mut transcript = Transcript::default();
    transcript.set_model(chat.model.map(|model| model.0.into_owned()));
    for message in chat.messages {
        read_message(message, &mut transcript)?;
    }
    transcript.strip_servers();
    (!transcript.is_empty()).then_some(transcript)
}

fn read_message(message: PlainMessage<'_>, transcript: &mut Transcript) -> Option<()> {
    let content = message.content.map(|content| content.0);
    let calls = message.tool_calls.unwrap_or_default();
    if message.role != Role::Assistant && !calls.is_empty() {
        return None;
    }
    match message.role {
        Role::System | Role::Developer => {
            if let Some(content) = content {
                transcript.system(&content);
            }
        }
        Role::User => transcript.user(&content.unwrap_or_default()),
        Role::Assistant => {
            transcript.assistant();
            if let Some(content) = content {
                transcript.say(&content);
            }
            for call in calls {
                let arguments = Some(call.function.arguments).filter(|raw| raw.get() != "null");
                let name = call.function.name.0.into_owned();
                transcript.call(RecordedCall {
                    id: call.id.map(|id| id.0.into_owned()),
                    ..call_of(name, None, arguments.map(Json::new))
                });
            }
        }
        Role::Tool => {
            let answer = match content {
                Some(content) => ImportedAnswer::from_text(content, false),
                None => ImportedAnswer::default(),
            };
            let text = |text: Option<Text<'_>>| text.map(|text| text.0.into_owned());
            let (id, name) = (text(message.tool_call_id), text(message.name));
            transcript
                .meet(id.as_deref(), name.as_deref(), answer)
                .ok()?;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import;
    use crate::write::{ImportedRun, runs};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn unclean(text: &str) -> Cow<'_, str> {
        Cow::Borrowed(text)
    }

    /// The header and the trace of each run.
    type Shown = Vec<(String, String)>;

    fn shown(runs: Vec<ImportedRun>) -> Shown {
        let shown = |run: ImportedRun| (format!("{:?}", run.header), run.trace);
        runs.into_iter().map(shown).collect()
    }

    /// The runs by the one pass and by the importers; the first is `None` if the importers must look.
    fn both(text: &str) -> (Option<Shown>, Option<Shown>) {
        let plain = read(text).map(|transcript| shown(runs(vec![transcript], &unclean)));
        let imported = import(text.as_bytes(), None).ok();
        let imported = imported.map(|imported| shown(imported.into_runs(&unclean)));
        (plain, imported)
    }

    fn any_text() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            "[ a-z\\n\"é]{0,9}".prop_map(Value::from),
            Just(json!("{\"a\": 1}")),
            Just(json!("mcp__docs__search")),
        ]
    }

    fn any_message() -> impl Strategy<Value = Value> {
        let call = ("[ab]", any_text(), any_text()).prop_map(|(id, name, arguments)| {
            json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
        });
        let role = prop::sample::select(vec![
            "system",
            "user",
            "assistant",
            "assistant",
            "tool",
            "other",
        ]);
        let extra = prop::sample::select(vec![
            "none",
            "none",
            "none",
            "refusal",
            "name",
            "function_call",
        ]);
        (
            role,
            any_text(),
            prop::collection::vec(call, 0..3),
            "[abc]",
            extra,
        )
            .prop_map(|(role, content, calls, id, extra)| {
                let mut message = json!({"role": role, "content": content});
                if role == "assistant" && !calls.is_empty() {
                    message["tool_calls"] = json!(calls);
                }
                if role == "tool" {
                    message["tool_call_id"] = json!(id);
                }
                match extra {
                    "none" => {}
                    key => message[key] = json!("search"),
                }
                message
            })
    }

    proptest! {
        #[test]
        fn a_plain_chat_is_what_the_importers_read(
            messages in prop::collection::vec(any_message(), 0..6), model in any_text(), has_model in any::<bool>(),
        ) {
            let mut chat = json!({"messages": messages});
            if has_model {
                chat["model"] = model;
            }
            let (plain, imported) = both(&chat.to_string());
            if plain.is_some() {
                prop_assert_eq!(plain, imported, "{}", chat);
            }
        }
    }

    #[test]
    fn an_ordinary_chat_is_plain() {
        let chat = json!({"model": "gpt-5", "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Rain?"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "docs__search", "arguments": "{\"q\": \"rain\"}"}}]},
            {"role": "tool", "tool_call_id": "1", "content": "Yes."},
            {"role": "assistant", "content": "It rains.\n"},
        ]});
        let (plain, imported) = both(&chat.to_string());
        assert!(plain.is_some());
        assert_eq!(plain, imported);
    }

    #[test]
    fn everything_else_is_left_to_the_importers() {
        let long = format!(
            "{{\"messages\":[{{\"role\":\"user\",\"content\":\"{}\"}}]}}",
            "\\ud800"
        );
        for text in [
            r#"{"messages":[]}"#,
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}"#,
            r#"{"messages":[{"role":"user","content":"hi"}],"tools":[]}"#,
            r#"{"messages":[{"role":"user","content":"a","content":"b"}]}"#,
            r#"{"messages":[{"role":"tool","tool_call_id":"x","content":"b"}]}"#,
            &long,
        ] {
            assert!(read(text).is_none(), "{text}");
        }
    }
}
