//! Which lists of messages, and which records around them, does a file hold?

use crate::json::{Fields, Json, Misfit, object_of};
use std::collections::BTreeMap;

/// Groups items by key, in order of first occurrence.
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

/// A conversation, or a part of one.
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
