//! Vectors of texts: what is sent, and what comes back? A message of the user's is a string; the vectors are the reply.

use super::bad_reply::{open, shape};
use super::{Ask, BadReply, Dialect, GEMINI, Message, OPENAI_CHAT, Reply, Stop};
use mcptest_core::trace::Tokens;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Embeddings as implemented by `OpenAI`, Mistral and most self-hosted servers.
pub(crate) const OPENAI_EMBEDDINGS: Dialect = Dialect {
    path: |_| "embeddings".to_owned(),
    body: |ask| json!({ "model": ask.model, "input": texts(ask) }).to_string(),
    read: |_, body| read(body),
    ..OPENAI_CHAT
};

/// Gemini's `batchEmbedContents`.
pub(crate) const GEMINI_EMBEDDINGS: Dialect = Dialect {
    path: |model| format!("models/{model}:batchEmbedContents"),
    body: |ask| {
        let model = format!("models/{}", ask.model);
        let request =
            |text: &str| json!({ "model": model, "content": { "parts": [{ "text": text }] } });
        json!({ "requests": texts(ask).into_iter().map(request).collect::<Vec<Value>>() })
            .to_string()
    },
    read: |_, body| read(body),
    ..GEMINI
};

fn texts<'a>(ask: &Ask<'a>) -> Vec<&'a str> {
    let text = |message: &'a Message| match message {
        Message::User(text) => Some(text.as_str()),
        _ => None,
    };
    ask.messages.iter().filter_map(text).collect()
}

/// The answer of both APIs.
#[derive(Deserialize)]
struct EmbeddingsAnswer {
    #[serde(alias = "embeddings")]
    data: Option<Vec<Vector>>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Vector {
    #[serde(alias = "values")]
    embedding: Vec<f64>,
}

fn read(body: &str) -> Result<Reply, BadReply> {
    let answer: EmbeddingsAnswer = open(body)?;
    let prompt = answer
        .usage
        .as_ref()
        .and_then(|usage| usage["prompt_tokens"].as_u64());
    let vectors = answer
        .data
        .ok_or_else(|| shape("it has no vectors", body))?;
    let vectors: Vec<Vec<f64>> = vectors.into_iter().map(|vector| vector.embedding).collect();
    let text = serde_json::to_string(&vectors).unwrap_or_default();
    let message = RawValue::from_string(text.clone()).unwrap_or_default();
    let usage = Tokens::without_total(prompt, Some(0));
    Ok(Reply {
        message,
        text,
        calls: Vec::new(),
        stop: Stop::EndTurn,
        usage,
        container: None,
    })
}
