//! `orders.{id}.status`: which place of the state does a call mean?

use super::change::{Place, find};
use crate::problem::{Problem, Span};
use crate::suite::read::Field;
use serde_json::Value;

/// The first name of a place that means an argument instead of the state.
pub(super) const ARGUMENTS: &str = "args";

/// Names with dots between them. `{argument}` means an argument of the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlaceTemplate(Vec<String>);

impl PlaceTemplate {
    pub(super) fn read(written: &str, span: Span, field: &Field<'_>) -> Option<Self> {
        let names = split(written);
        let problem = if names.iter().any(String::is_empty) {
            Problem::error(format!(
                "`{written}` is not a place in a state: a name is missing"
            ))
        } else {
            return Some(Self(names));
        };
        if !field.is_describing() {
            field.report(
                problem
                    .at(span)
                    .help("write names with dots between them, such as `orders.{id}.status`"),
            );
        }
        None
    }

    /// Returns true if it is among the arguments, not in the state.
    pub(super) fn is_argument(&self) -> bool {
        self.0.first().is_some_and(|first| first == ARGUMENTS)
    }

    /// The arguments that it names.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &str> {
        let own = self.0.get(1).filter(|_| self.is_argument());
        let own = own.filter(|name| holes(name).next().is_none());
        let within = self.0.iter().flat_map(|name| holes(name));
        own.map(String::as_str)
            .into_iter()
            .chain(within.map(|(_, name)| root(name)))
    }

    /// Returns true if it names an argument.
    pub(super) fn names_arguments(&self) -> bool {
        self.is_argument() || self.0.iter().any(|name| holes(name).next().is_some())
    }

    /// The place in a call with these arguments; `None` if it names a missing one.
    pub(super) fn filled(&self, args: &Value) -> Option<Place> {
        self.0.iter().map(|name| filled_text(name, args)).collect()
    }
}

/// The names between the dots; a dot within `{…}` leads into an argument.
fn split(written: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut is_within = false;
    for c in written.chars() {
        is_within = (is_within || c == '{') && c != '}';
        match names.last_mut() {
            Some(name) if c != '.' || is_within => name.push(c),
            _ => names.push(String::new()),
        }
    }
    names
}

/// The `{argument}` holes of a string: their byte ranges and names.
fn holes(text: &str) -> impl Iterator<Item = (std::ops::Range<usize>, &str)> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.match_indices('{').filter_map(move |(start, _)| {
        let name = &text[start + 1..];
        let name = &name[..name.find('}')?];
        (!name.is_empty() && name.chars().all(is_part))
            .then_some((start..start + name.len() + 2, name))
    })
}

/// The argument that a name with dots leads into.
fn root(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// The arguments that a value names, however deep.
pub(super) fn arguments_of(value: &Value) -> Box<dyn Iterator<Item = &str> + '_> {
    match value {
        Value::String(text) => Box::new(holes(text).map(|(_, name)| root(name))),
        Value::Array(items) => Box::new(items.iter().flat_map(arguments_of)),
        Value::Object(members) => Box::new(members.values().flat_map(arguments_of)),
        _ => Box::new(std::iter::empty()),
    }
}

fn argument<'a>(name: &str, args: &'a Value) -> Option<&'a Value> {
    find(
        args,
        &name.split('.').map(str::to_owned).collect::<Vec<_>>(),
    )
}

fn filled_text(text: &str, args: &Value) -> Option<String> {
    let (mut filled, mut at) = (String::new(), 0);
    for (bytes, name) in holes(text) {
        filled.push_str(&text[at..bytes.start]);
        match argument(name, args)? {
            Value::String(value) => filled.push_str(value),
            value => filled.push_str(&value.to_string()),
        }
        at = bytes.end;
    }
    filled.push_str(&text[at..]);
    Some(filled)
}

/// A value with its arguments filled in. A string that is one `{argument}` has the argument's type. A member or an
/// item whose argument is missing is omitted, and so is the value itself.
pub(super) fn filled(value: &Value, args: &Value) -> Option<Value> {
    match value {
        Value::String(text) => match holes(text).next() {
            Some((bytes, name)) if bytes == (0..text.len()) => argument(name, args).cloned(),
            Some(_) => filled_text(text, args).map(Value::String),
            None => Some(value.clone()),
        },
        Value::Array(items) => Some(items.iter().filter_map(|item| filled(item, args)).collect()),
        Value::Object(members) => {
            let members = members
                .iter()
                .filter_map(|(key, value)| Some((key.clone(), filled(value, args)?)));
            Some(Value::Object(members.collect()))
        }
        _ => Some(value.clone()),
    }
}
