//! Why does a path lead to nothing in a run?

use super::shape::push_step;
use super::{Path, PathStep, resolve};
use crate::problem::nearest;
use crate::trace::Trace;
use crate::words::some_of;
use serde_json::Value;
use std::collections::BTreeSet;

impl Path {
    /// The message for a missing value: for `[*]`, the key that no item has.
    pub(crate) fn why_absent(&self, trace: &Trace<'_>) -> String {
        let nothing = || format!("`{}` has no value in this run", self.written);
        self.missing_role(trace)
            .or_else(|| self.missing_key(trace))
            .unwrap_or_else(nothing)
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

fn in_words(steps: &[PathStep]) -> String {
    let mut words = String::new();
    for step in steps {
        push_step(&mut words, step);
    }
    words
}
