//! Conversations for the tests of all dialects.

use super::{Answered, Ask, Dialect, Message, Offered, Part, Reply};
use serde_json::Value;

/// A question with this conversation and one tool.
pub(super) fn sent(dialect: &Dialect, model: &str, messages: &[Message]) -> Value {
    let tools = [Offered {
        name: "weather__get".to_owned(),
        full_name: "weather.get".to_owned(),
        description: Some("The weather".to_owned()),
        input_schema: serde_json::from_str(r#"{"type":"object","properties":{"city":{"type":"string"}}}"#)
            .unwrap(),
    }];
    let ask = Ask {
        model,
        system: Some("Be brief."),
        messages,
        tools: &tools,
        max_tokens: Some(64),
        temperature: Some(0.5),
        code_execution: false,
        container: None,
        answer_schema: None,
        echo_reasoning: false,
    };
    serde_json::from_str(&(dialect.body)(&ask)).unwrap()
}

fn bare(messages: &[Message]) -> Ask<'_> {
    Ask {
        model: "m",
        system: None,
        messages,
        tools: &[],
        max_tokens: None,
        temperature: None,
        code_execution: false,
        container: None,
        answer_schema: None,
        echo_reasoning: false,
    }
}

/// What an answer says, after these messages.
pub(super) fn read_after(dialect: &Dialect, messages: &[Message], body: &str) -> Reply {
    (dialect.read)(&bare(messages), body).unwrap()
}

pub(super) fn read(dialect: &Dialect, body: &str) -> Reply {
    read_after(dialect, &[], body)
}

pub(super) fn refusal(dialect: &Dialect, body: &str) -> String {
    (dialect.read)(&bare(&[]), body).unwrap_err().to_string()
}

pub(super) fn user(text: &str) -> Message {
    Message::User(text.to_owned())
}

pub(super) fn assistant(raw: &str) -> Message {
    Message::Assistant(serde_json::from_str(raw).unwrap())
}

pub(super) fn result(call_id: &str, text: &str, is_error: bool) -> Answered {
    let content = vec![Part::Text(text.to_owned())];
    Answered { call_id: call_id.to_owned(), name: "weather__get".to_owned(), content, is_error }
}
