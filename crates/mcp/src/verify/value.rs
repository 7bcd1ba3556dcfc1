//! Is what came back still what it was?

use super::drift::{Subject, Tier};
use mcptest_core::change::{Change, compare_parts};
use mcptest_core::escape::clipped;
use mcptest_redact::has_placeholder;
use serde_json::{Map, Value};

const BRIEF: usize = 60;
const DEEPEST: usize = 100;
/// Lists whose items are the answer: a missing item is a loss.
const CONTENTS: &[&str] = &["content", "contents", "messages"];

/// Compares two values. Missing values and other types break; other values are changes; new fields
/// are additions.
pub(super) fn compare(subject: &mut Subject<'_>, path: &str, old: &Value, new: &Value) {
    at_depth(subject, path, old, new, 0);
}

fn at_depth(subject: &mut Subject<'_>, path: &str, old: &Value, new: &Value, depth: usize) {
    if old == new || depth > DEEPEST || is_hidden(old) {
        return;
    }
    match (old, new) {
        (Value::Object(before), Value::Object(after)) => {
            compare_maps(subject, path, before, after, depth);
        }
        (Value::Array(before), Value::Array(after)) => {
            compare_lists(subject, path, before, after, depth);
        }
        _ if kind(old) != kind(new) => {
            let what = format!(
                "changed from {} {} to {} {}",
                kind(old),
                brief(old),
                kind(new),
                brief(new)
            );
            subject.add(Tier::Breaking, path, what);
        }
        _ => subject.add(Tier::Changed, path, changed(old, new)),
    }
}

type Members = Map<String, Value>;

fn compare_maps(
    subject: &mut Subject<'_>,
    path: &str,
    before: &Members,
    after: &Members,
    depth: usize,
) {
    if let Some((was, is)) = changed_block_type(before, after) {
        let what = format!("changed type from {} to {}", brief(was), brief(is));
        return subject.add(Tier::Breaking, path, what);
    }
    for member in compare_parts(before, after, |old, new| old == new) {
        let at = join(path, member.place);
        match member.change {
            Change::Changed { before, after } => {
                at_depth(subject, &at, before, after, depth + 1);
            }
            Change::Removed(before) => {
                let what = format!("is gone (was {})", brief(before));
                subject.add(Tier::Breaking, &at, what);
            }
            Change::Added(_) => subject.add(Tier::Added, &at, "is new"),
        }
    }
}

/// The old and new type of a content block, if its type changed: then everything else in it differs
/// too.
fn changed_block_type<'v>(
    before: &'v Members,
    after: &'v Members,
) -> Option<(&'v Value, &'v Value)> {
    let (was, is) = (before.get("type")?, after.get("type")?);
    (was.is_string() && is.is_string() && was != is).then_some((was, is))
}

fn compare_lists(
    subject: &mut Subject<'_>,
    path: &str,
    before: &[Value],
    after: &[Value],
    depth: usize,
) {
    for (index, (old, new)) in before.iter().zip(after).enumerate() {
        at_depth(subject, &format!("{path}[{index}]"), old, new, depth + 1);
    }
    if before.len() != after.len() {
        let what = format!("had {} items, now has {}", before.len(), after.len());
        subject.add(tier_of_length(path, before.len(), after.len()), path, what);
    }
}

fn tier_of_length(path: &str, before: usize, after: usize) -> Tier {
    let last = path.rsplit('.').next().unwrap_or_default();
    if !CONTENTS.contains(&last) {
        Tier::Changed
    } else if before < after {
        Tier::Added
    } else {
        Tier::Breaking
    }
}

/// Returns true for a value that was redacted in the recording. The live answer may have any value
/// there.
fn is_hidden(old: &Value) -> bool {
    old.as_str().is_some_and(has_placeholder)
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

/// The old and the new value.
pub(super) fn changed(old: &Value, new: &Value) -> String {
    format!("changed from {} to {}", brief(old), brief(new))
}

/// The value on one line, shortened.
pub(super) fn brief(value: &Value) -> String {
    clipped(&value.to_string(), BRIEF)
}

#[cfg(test)]
mod tests {
    use super::super::drift::Findings;
    use super::*;
    use serde_json::json;

    fn tiers(old: &Value, new: &Value) -> Vec<(Tier, String)> {
        let mut findings = Findings::default();
        compare(&mut findings.of("t", "call 1 `t`"), "result", old, new);
        findings
            .found
            .into_iter()
            .map(|finding| (finding.tier, finding.path))
            .collect()
    }

    #[test]
    fn what_is_gone_breaks_what_differs_changed_and_what_is_new_was_added() {
        let old = json!({"content": [{"type": "text", "text": "a"}], "structuredContent": {"n": 1, "s": "x"}});
        let new = json!({"content": [{"type": "text", "text": "b"}], "structuredContent": {"n": "1", "t": 2}});
        assert_eq!(
            tiers(&old, &new),
            [
                (Tier::Changed, "result.content[0].text".to_owned()),
                (Tier::Breaking, "result.structuredContent.n".to_owned()),
                (Tier::Breaking, "result.structuredContent.s".to_owned()),
                (Tier::Added, "result.structuredContent.t".to_owned()),
            ]
        );
    }

    #[test]
    fn content_that_is_gone_or_of_another_type_breaks() {
        let block = |kind: &str| json!({"type": kind, "text": "a"});
        let of = |blocks: Value| json!({"content": blocks});
        assert_eq!(
            tiers(&of(json!([block("text")])), &of(json!([])))[0].0,
            Tier::Breaking
        );
        assert_eq!(
            tiers(&of(json!([block("text")])), &of(json!([block("image")])))[0].0,
            Tier::Breaking
        );
    }

    #[test]
    fn where_the_recording_hides_a_secret_anything_may_stand() {
        assert_eq!(
            tiers(&json!({"k": "[redacted:token]"}), &json!({"k": "abc"})),
            []
        );
    }
}
