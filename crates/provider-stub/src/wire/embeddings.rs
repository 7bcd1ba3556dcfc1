//! Vectors of texts, from the provider's side: a step's text is the list of vectors.

use super::{Answering, ProviderAnswer, ProviderRequest, Seen, Wire, Wrong, only};
use serde_json::{Value, json};

pub(super) const OPENAI: Wire = Wire {
    is_at: |path| path.ends_with("/embeddings"),
    check: |request| {
        let body = request.body;
        only(body, "", &["model", "input"])?;
        let texts = body["input"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|text| text.as_str().unwrap_or_default());
        seen(body["model"].as_str(), texts)
    },
    answer: |answering| {
        let data = vectors(answering).into_iter().enumerate();
        let data = data
            .map(|(at, vector)| json!({ "object": "embedding", "index": at, "embedding": vector }));
        let prompt = answering.tokens().prompt;
        let usage = json!({ "prompt_tokens": prompt, "total_tokens": prompt });
        whole(json!({ "object": "list", "data": data.collect::<Vec<_>>(), "usage": usage }))
    },
    ..super::openai_chat::WIRE
};

pub(super) const GEMINI: Wire = Wire {
    is_at: |path| path.ends_with(":batchEmbedContents"),
    check: |request: &ProviderRequest<'_>| {
        only(request.body, "", &["requests"])?;
        let model = request
            .path
            .rsplit("models/")
            .next()
            .and_then(|rest| rest.split(':').next());
        let requests = request.body["requests"].as_array().into_iter().flatten();
        seen(
            model,
            requests.map(|one| {
                one["content"]["parts"][0]["text"]
                    .as_str()
                    .unwrap_or_default()
            }),
        )
    },
    answer: |answering| {
        let values: Vec<Value> = vectors(answering)
            .into_iter()
            .map(|vector| json!({ "values": vector }))
            .collect();
        whole(json!({ "embeddings": values }))
    },
    ..super::gemini::WIRE
};

fn seen<'t>(model: Option<&str>, texts: impl Iterator<Item = &'t str>) -> Result<Seen, Wrong> {
    let mut seen = Seen {
        model: model.unwrap_or_default().to_owned(),
        ..Seen::default()
    };
    texts.for_each(|text| seen.user(text));
    if seen.model.is_empty() || seen.prompt.is_empty() {
        return Err(Wrong::request("model and input are required"));
    }
    Ok(seen)
}

fn vectors(answering: &Answering<'_>) -> Vec<Value> {
    let text = answering.step.text.as_deref().unwrap_or_default();
    serde_json::from_str(text).unwrap_or_default()
}

fn whole(body: Value) -> ProviderAnswer {
    ProviderAnswer {
        body,
        message: Vec::new(),
    }
}
