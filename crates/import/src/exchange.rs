//! Which lists of messages does a file hold, and which requests of a log continue one conversation, so that its calls
//! are not counted again?

use crate::json::{Fields, Json, Misfit, object_of};
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

/// Groups items with the same key, in the order in which the keys first appear.
pub(crate) fn grouped<K: Ord, T>(items: impl IntoIterator<Item = (K, T)>) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    let mut known: BTreeMap<K, usize> = BTreeMap::new();
    for (key, item) in items {
        let at = *known.entry(key).or_insert(groups.len());
        groups.resize_with(groups.len().max(at + 1), Vec::new);
        groups[at].push(item);
    }
    groups
}

/// One conversation, or a part of one.
pub(crate) enum Unit<'a> {
    /// Its messages in order.
    Messages(Vec<Json<'a>>),
    /// A request, a response, a pair of them, a run.
    Record(Fields<'a>),
}

/// The meaning of the values at the top of a file. Messages on separate lines are one conversation.
pub(crate) fn units<'a>(
    values: &[Json<'a>],
    is_message: &dyn Fn(&Fields<'a>) -> bool,
) -> Result<Vec<Unit<'a>>, Misfit> {
    let mut units = Vec::new();
    let mut loose: Vec<Json<'a>> = Vec::new();
    for value in values {
        if let Some(list) = value.list() {
            of_list(&list, is_message, &mut units)?;
            continue;
        }
        let fields = object_of(*value, "a conversation")?;
        if is_message(&fields) {
            loose.push(*value);
        } else {
            units.push(Unit::Record(fields));
        }
    }
    if !loose.is_empty() {
        units.push(Unit::Messages(loose));
    }
    Ok(units)
}

fn of_list<'a>(
    list: &[Json<'a>],
    is_message: &dyn Fn(&Fields<'a>) -> bool,
    units: &mut Vec<Unit<'a>>,
) -> Result<(), Misfit> {
    let Some(first) = list.first() else {
        return Ok(());
    };
    if first.object().is_some_and(|fields| is_message(&fields)) {
        units.push(Unit::Messages(list.to_vec()));
        return Ok(());
    }
    for value in list {
        match value.list() {
            Some(messages) => units.push(Unit::Messages(messages)),
            None => units.push(Unit::Record(object_of(
                *value,
                "a conversation of the list",
            )?)),
        }
    }
    Ok(())
}
