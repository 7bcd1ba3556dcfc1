//! Which requests of a log continue one conversation, so that its calls are not counted again?

use crate::json::{Fields, Json};
use mcptest_core::json::equal;
use std::collections::BTreeMap;

/// One request to a model and its response.
#[derive(Default)]
pub(crate) struct Exchange<'a> {
    /// The fields beside the messages: model, tools, system prompt.
    pub(crate) request: Fields<'a>,
    /// The messages that were sent.
    pub(crate) messages: Vec<Json<'a>>,
    /// The fields around the reply: model, usage, error.
    pub(crate) response: Fields<'a>,
    /// The model's message.
    pub(crate) reply: Option<Json<'a>>,
}

/// The identity of a reply: the ids of its calls, otherwise its text.
pub(crate) fn signed(ids: &[String], text: impl FnOnce() -> Option<String>) -> Option<String> {
    if ids.is_empty() {
        Some(format!("text {}", text()?))
    } else {
        Some(format!("calls {}", ids.join(" ")))
    }
}

/// Exchanges put together: each chain is one conversation, whose last request repeats what the earlier ones had.
///
/// An exchange continues another if its messages are the other's messages, the other's reply, and more.
pub(crate) fn chains<'a>(
    exchanges: Vec<Exchange<'a>>,
    signature: impl Fn(Json<'a>) -> Option<String>,
) -> Vec<Vec<Exchange<'a>>> {
    let mut chains: Vec<Vec<Exchange<'a>>> = Vec::new();
    let mut open: BTreeMap<(usize, String), Vec<usize>> = BTreeMap::new();
    for exchange in exchanges {
        let signed = |message: &Json<'a>| signature(*message);
        let before = exchange
            .messages
            .iter()
            .enumerate()
            .rev()
            .find_map(|(at, one)| Some((at, signed(one)?)));
        let continued = before.and_then(|key| {
            let candidates = open.get_mut(&key)?;
            let is_continued = |chain: &usize| {
                let last = chains[*chain]
                    .last()
                    .map(|last| &last.messages[..])
                    .unwrap_or_default();
                last.iter()
                    .zip(&exchange.messages)
                    .all(|(one, other)| equal(one.text(), other.text()))
            };
            let at = candidates.iter().position(is_continued)?;
            Some(candidates.remove(at))
        });
        let chain = continued.unwrap_or(chains.len());
        if let Some(signature) = exchange.reply.as_ref().and_then(signed) {
            open.entry((exchange.messages.len(), signature))
                .or_default()
                .push(chain);
        }
        match chains.get_mut(chain) {
            Some(known) => known.push(exchange),
            None => chains.push(vec![exchange]),
        }
    }
    chains
}
