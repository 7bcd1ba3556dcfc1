//! Why does a path lead to nothing in a run?

use super::shape::push_step;
use super::{Path, PathStep, resolve};
use crate::json::type_word;
use crate::problem::nearest;
use crate::trace::Trace;
use crate::words::{count, some_of};
use serde_json::Value;
use std::collections::BTreeSet;

impl Path {
    /// The message for a missing value: for `[*]`, the key that no item has.
    pub(crate) fn why_absent(&self, trace: &Trace<'_>) -> String {
        let nothing = || format!("`{}` has no value in this run", self.written);
        self.missing_role(trace)
            .or_else(|| self.missing_key(trace))
            .or_else(|| self.missing_step(|steps| resolve::in_trace(steps, trace)))
            .unwrap_or_else(nothing)
    }

    /// The message for a missing value in the JSON of a call.
    pub(crate) fn why_absent_in(&self, text: &str) -> Option<String> {
        self.missing_step(|steps| resolve::in_text(text, steps))
    }

    /// The step that leads to nothing, and what is there instead.
    fn missing_step(&self, resolve: impl Fn(&[PathStep]) -> Option<Value>) -> Option<String> {
        let missing = (1..self.steps.len()).find(|&at| resolve(&self.steps[..=at]).is_none())?;
        let (before, step) = (&self.steps[..missing], &self.steps[missing]);
        if before.iter().any(PathStep::is_each) {
            return None;
        }
        let place = in_words(before);
        match (resolve(before)?, step) {
            (Value::Object(fields), PathStep::Key { name, .. }) => {
                let keys = || fields.keys().map(String::as_str);
                let instead = match nearest(name, keys()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if fields.is_empty() => "it is empty".to_owned(),
                    None => format!("it has: {}", some_of(keys())),
                };
                Some(format!("`{place}` has no key `{name}`; {instead}"))
            }
            (Value::Array(items), PathStep::Index(index)) => Some(format!(
                "`{place}` has {}, so `[{index}]` is past its end",
                count(items.len(), "item")
            )),
            (Value::Array(_), PathStep::Key { name, .. }) => Some(format!(
                "`{place}` is a list, which has no key `{name}`; write `{place}[0].{name}` or `{place}[*].{name}`"
            )),
            (Value::String(text), _) if is_json_of_parts(&text) => Some(format!(
                "`{place}` is a text with JSON in it; compare all of it with `equals-json`"
            )),
            (Value::Null, _) => Some(format!("`{place}` is null")),
            (value, _) => Some(format!(
                "`{place}` is a {}, which has no parts",
                type_word(&value)
            )),
        }
    }

    /// The role that no turn has.
    fn missing_role(&self, trace: &Trace<'_>) -> Option<String> {
        let roles: BTreeSet<&str> = trace
            .conversation
            .turns
            .iter()
            .map(|turn| &*turn.role)
            .collect();
        let missing = self.steps.iter().find_map(|step| match step {
            PathStep::EachWith { value, .. } if !roles.contains(value.as_str()) => Some(value),
            _ => None,
        })?;
        if roles.is_empty() {
            return Some("the run has no turns".to_owned());
        }
        let there = some_of(roles.into_iter());
        Some(format!(
            "no turn has the role `{missing}`; there are {there}"
        ))
    }

    fn missing_key(&self, trace: &Trace<'_>) -> Option<String> {
        let each = self.steps.iter().position(PathStep::is_each)?;
        let found = |end: usize| resolve::in_trace(&self.steps[..end], trace);
        let missing = (each + 1..self.steps.len()).find(|&at| found(at + 1).is_none())?;
        let PathStep::Key { name, .. } = &self.steps[missing] else {
            return None;
        };
        let Value::Array(items) = found(missing)? else {
            return None;
        };
        let keys: BTreeSet<&str> = items
            .iter()
            .filter_map(Value::as_object)
            .flat_map(|item| item.keys().map(String::as_str))
            .collect();
        let before = in_words(&self.steps[each + 1..missing]);
        let key = |name: &str| {
            if before.is_empty() {
                name.to_owned()
            } else {
                format!("{before}.{name}")
            }
        };
        let list = in_words(&self.steps[..each]);
        let item = match list.as_str() {
            "tool_calls" => "call".to_owned(),
            "tool_results" => "result".to_owned(),
            _ => format!("item of `{list}`"),
        };
        let instead = match nearest(name, keys.iter().copied()) {
            Some(near) => format!("; did you mean `{}`?", key(near)),
            None if keys.is_empty() => String::new(),
            None => format!("; there are {}", some_of(keys.iter().copied())),
        };
        Some(format!("no {item} has the key `{}`{instead}", key(name)))
    }
}

/// Returns true for the text of a JSON object or list.
fn is_json_of_parts(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

fn in_words(steps: &[PathStep]) -> String {
    let mut words = String::new();
    for step in steps {
        push_step(&mut words, step);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leads_to_nothing_names_what_is_there() {
        let trace = r#"{"tool_calls": [{"name": "find", "args": {"order_id": "A-17", "deep": null, "tags": ["x"]}}],
            "tool_results": [{"content": [{"type": "text", "text": "{\"total\": 12}"}], "structured": {}}]}"#;
        let trace = Trace::read(trace).unwrap();
        for (path, why) in [
            (
                "tool_calls[0].args.order_di",
                "`tool_calls[0].args` has no key `order_di`; did you mean `order_id`?",
            ),
            (
                "tool_calls[0].args.city",
                "`tool_calls[0].args` has no key `city`; it has: deep, order_id, tags",
            ),
            (
                "tool_calls[0].args.order_id.x",
                "`tool_calls[0].args.order_id` is a string, which has no parts",
            ),
            (
                "tool_calls[0].args.deep.x",
                "`tool_calls[0].args.deep` is null",
            ),
            (
                "tool_calls[0].args.tags[2]",
                "`tool_calls[0].args.tags` has 1 item, so `[2]` is past its end",
            ),
            (
                "tool_calls[0].args.tags.first",
                "`tool_calls[0].args.tags` is a list, which has no key `first`; write `tool_calls[0].args.tags[0].first` or \
                 `tool_calls[0].args.tags[*].first`",
            ),
            (
                "tool_calls[4].args",
                "`tool_calls` has 1 item, so `[4]` is past its end",
            ),
            (
                "tool_results[0].content[0].text.total",
                "`tool_results[0].content[0].text` is a text with JSON in it; compare all of it with `equals-json`",
            ),
            (
                "tool_results[0].structured.total",
                "`tool_results[0].structured` has no key `total`; it is empty",
            ),
            (
                "final_response",
                "`final_response` has no value in this run",
            ),
        ] {
            assert_eq!(Path::into_trace(path).unwrap().why_absent(&trace), why);
        }
    }
}
