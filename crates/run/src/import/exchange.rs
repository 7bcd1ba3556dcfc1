//! Which requests of a log go on with one conversation, so that its calls are not counted again with each?

use super::json::{Fields, Json};
use mcptest_core::json::equal;
use std::collections::BTreeMap;

/// One request to a model and its response.
#[derive(Default)]
pub(super) struct Exchange<'a> {
    /// What stands beside the messages: model, tools, system prompt.
    pub(super) request: Fields<'a>,
    /// The messages that were sent.
    pub(super) messages: Vec<Json<'a>>,
    /// What stands around the reply: model, usage, error.
    pub(super) response: Fields<'a>,
    /// The model's message.
    pub(super) reply: Option<Json<'a>>,
}

/// What tells a reply among all: the ids of its calls, else its text.
pub(super) fn signed(ids: &[String], text: impl FnOnce() -> Option<String>) -> Option<String> {
    if ids.is_empty() { Some(format!("text {}", text()?)) } else { Some(format!("calls {}", ids.join(" "))) }
}

/// Exchanges put together: each chain is one conversation, whose last request repeats what the earlier ones had.
///
/// An exchange goes on with another when its messages are the other's, then the other's reply, then more.
pub(super) fn chains<'a>(
    exchanges: Vec<Exchange<'a>>,
    signature: impl Fn(Json<'a>) -> Option<String>,
) -> Vec<Vec<Exchange<'a>>> {
    let mut chains: Vec<Vec<Exchange<'a>>> = Vec::new();
    let mut open: BTreeMap<(usize, String), Vec<usize>> = BTreeMap::new();
    for exchange in exchanges {
        let signed = |message: &Json<'a>| signature(*message);
        let before =
            exchange.messages.iter().enumerate().rev().find_map(|(at, one)| Some((at, signed(one)?)));
        let continued = before.and_then(|key| {
            let candidates = open.get_mut(&key)?;
            let is_continued = |chain: &usize| {
                let last = chains[*chain].last().map(|last| &last.messages[..]).unwrap_or_default();
                last.iter().zip(&exchange.messages).all(|(one, other)| equal(one.text(), other.text()))
            };
            let at = candidates.iter().position(is_continued)?;
            Some(candidates.remove(at))
        });
        let chain = continued.unwrap_or(chains.len());
        if let Some(signature) = exchange.reply.as_ref().and_then(signed) {
            open.entry((exchange.messages.len(), signature)).or_default().push(chain);
        }
        match chains.get_mut(chain) {
            Some(known) => known.push(exchange),
            None => chains.push(vec![exchange]),
        }
    }
    chains
}
