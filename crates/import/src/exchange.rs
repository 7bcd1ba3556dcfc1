//! Which requests of a log continue one conversation, so that its calls are counted once?

use crate::json::{Fields, Json};
use mcptest_core::json::equal;
use std::collections::BTreeMap;

/// One request to a model and its response.
#[derive(Default)]
pub(crate) struct Exchange<'a> {
    /// The fields besides the messages: model, tools, system prompt.
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

/// Joins exchanges: each chain is one conversation, whose last request repeats the earlier ones.
///
/// An exchange continues another if its messages are the other's messages, the other's reply, and
/// more.
pub(crate) fn chains<'a>(
    exchanges: Vec<Exchange<'a>>,
    signature: impl Fn(Json<'a>) -> Option<String>,
) -> Vec<Vec<Exchange<'a>>> {
    let mut chains = Chains {
        all: Vec::new(),
        open: BTreeMap::new(),
        signature,
    };
    for exchange in exchanges {
        chains.add(exchange);
    }
    chains.all
}

/// A place at which a chain can continue: its number of messages, and the signature of its last reply.
type ChainEnd = (usize, String);

struct Chains<'a, S> {
    all: Vec<Vec<Exchange<'a>>>,
    /// The chains that end at a place, in their order.
    open: BTreeMap<ChainEnd, Vec<usize>>,
    signature: S,
}

impl<'a, S: Fn(Json<'a>) -> Option<String>> Chains<'a, S> {
    fn add(&mut self, exchange: Exchange<'a>) {
        let chain = self.continued(&exchange).unwrap_or(self.all.len());
        if let Some(signature) = exchange.reply.and_then(|reply| (self.signature)(reply)) {
            let end = (exchange.messages.len(), signature);
            self.open.entry(end).or_default().push(chain);
        }
        match self.all.get_mut(chain) {
            Some(known) => known.push(exchange),
            None => self.all.push(vec![exchange]),
        }
    }

    /// Takes the chain that an exchange continues.
    fn continued(&mut self, exchange: &Exchange<'a>) -> Option<usize> {
        let end = exchange
            .messages
            .iter()
            .enumerate()
            .rev()
            .find_map(|(at, message)| Some((at, (self.signature)(*message)?)))?;
        let candidates = self.open.get_mut(&end)?;
        let all = &self.all;
        let at = candidates
            .iter()
            .position(|&chain| repeats(exchange, &all[chain]))?;
        Some(candidates.remove(at))
    }
}

/// Returns true if an exchange begins with the messages of a chain's last one.
fn repeats(exchange: &Exchange<'_>, chain: &[Exchange<'_>]) -> bool {
    let before = chain
        .last()
        .map(|last| &last.messages[..])
        .unwrap_or_default();
    before
        .iter()
        .zip(&exchange.messages)
        .all(|(one, other)| equal(one.text(), other.text()))
}
