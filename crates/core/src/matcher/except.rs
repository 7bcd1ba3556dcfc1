//! `except:` which places of a JSON value does `equals-json` not compare?

use crate::json::difference;
use crate::problem::Problem;
use crate::report::AssertionDiff;
use crate::suite::read::{Block, Field};
use serde_json::Value;
use std::borrow::Cow;

pub(super) const KEY: &str = "except";

/// Places such as `items.*.id`: names and numbers with dots between them. `*` is every name and every number.
#[derive(Debug, Clone, Default)]
pub(super) struct Exceptions(Vec<Vec<String>>);

impl Exceptions {
    /// Reads `except:` beside the matcher with this key, the only one that may have it.
    pub(super) fn read(block: &mut Block<'_>, of: &'static str) -> Option<Self> {
        let doc =
            "Beside `equals-json`: places that may differ or be absent, as `at` or `items.*.id`";
        let read = block.optional(KEY, doc, |field| field.list(place));
        if block.has(KEY) && !block.has(of) {
            let problem = Problem::error(format!("`{KEY}` works only with `{of}`"));
            block.report_at(KEY, problem.help(format!("remove it, or write `{of}:`")));
        }
        read.map(Self)
    }

    /// Where two values differ beside these places.
    pub(super) fn difference(&self, expected: &Value, actual: &Value) -> Vec<AssertionDiff> {
        difference(&self.without(expected), &self.without(actual))
    }

    fn without<'v>(&self, value: &'v Value) -> Cow<'v, Value> {
        if self.0.is_empty() {
            return Cow::Borrowed(value);
        }
        let mut value = value.clone();
        for place in &self.0 {
            remove(&mut value, place);
        }
        Cow::Owned(value)
    }
}

fn place(field: &mut Field<'_>) -> Option<Vec<String>> {
    let written = field.name()?;
    let names: Vec<String> = written.split('.').map(str::to_owned).collect();
    if names.iter().any(String::is_empty) {
        let problem = Problem::error(format!("`{written}` is not a place: a name is missing"));
        field.report(problem.help("write names with dots between them, as `items.*.id`"));
        return None;
    }
    Some(names)
}

/// Removes a member; an item of a list becomes null, so that the others keep their places.
fn remove(value: &mut Value, place: &[String]) {
    let Some((name, rest)) = place.split_first() else {
        return;
    };
    match value {
        Value::Object(fields) if rest.is_empty() => {
            fields.retain(|key, _| name != "*" && key != name);
        }
        Value::Object(fields) => {
            let inner = fields
                .iter_mut()
                .filter(|(key, _)| name == "*" || *key == name);
            inner.for_each(|(_, value)| remove(value, rest));
        }
        Value::Array(items) => {
            let is_meant = |at: usize| name == "*" || name.parse() == Ok(at);
            for (_, item) in items.iter_mut().enumerate().filter(|(at, _)| is_meant(*at)) {
                if rest.is_empty() {
                    *item = Value::Null;
                } else {
                    remove(item, rest);
                }
            }
        }
        _ => {}
    }
}
