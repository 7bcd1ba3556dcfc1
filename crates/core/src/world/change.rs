//! Where is something in a state, and how is it put there?

use serde_json::{Map, Value};

/// A place in a state: the names that lead to it, from the outermost.
pub type Place = Vec<String>;

/// The new value of a place. `None` if it is removed.
pub(super) struct StateChange {
    pub(super) place: Place,
    /// The new value. `None` removes the existing value.
    pub(super) value: Option<Value>,
}

/// The value at a place.
pub(crate) fn find<'v>(state: &'v Value, place: &[String]) -> Option<&'v Value> {
    place.iter().try_fold(state, |value, name| match value {
        Value::Object(members) => members.get(name),
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => None,
    })
}

/// A place in the suite's spelling.
pub(crate) fn shown(place: &[String]) -> String {
    place.join(".")
}

/// Refuses a place within a scalar, or in a missing item of a list.
pub(super) fn check(state: &Value, place: &[String]) -> Result<(), String> {
    for length in 0..place.len() {
        match find(state, &place[..length]) {
            None | Some(Value::Null | Value::Object(_)) => {}
            Some(Value::Array(items))
                if place[length]
                    .parse()
                    .is_ok_and(|at: usize| at < items.len()) => {}
            Some(Value::Array(items)) => {
                let (list, count) = (shown(&place[..length]), items.len());
                return Err(format!(
                    "`{list}` is a list of {count}; it has no item {}",
                    place[length]
                ));
            }
            Some(other) => {
                return Err(format!(
                    "`{}` is {other}, so it has no entries",
                    shown(&place[..length])
                ));
            }
        }
    }
    Ok(())
}

/// Sets a value at a checked place, or removes it.
pub(super) fn put(state: &mut Value, place: &[String], value: Option<Value>) {
    let Some((name, rest)) = place.split_first() else {
        *state = value.unwrap_or_default();
        return;
    };
    if state.is_null() {
        *state = Value::Object(Map::new());
    }
    match state {
        Value::Object(members) => match (members.get_mut(name), value) {
            (_, None) if rest.is_empty() => {
                members.remove(name);
            }
            (Some(inner), value) => put(inner, rest, value),
            (None, None) => {}
            (None, value) => put(
                members.entry(name.clone()).or_insert(Value::Null),
                rest,
                value,
            ),
        },
        Value::Array(items) => {
            let Some(at) = name.parse::<usize>().ok().filter(|at| *at < items.len()) else {
                return;
            };
            match value {
                None if rest.is_empty() => {
                    items.remove(at);
                }
                value => put(&mut items[at], rest, value),
            }
        }
        _ => {}
    }
}
