//! Is this what `tools/call` must answer?

use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

type Members<'a> = BTreeMap<String, &'a RawValue>;

/// The kinds of content, and the required members of each.
const KINDS: [(&str, &[&str]); 5] = [
    ("text", &["text"]),
    ("image", &["data", "mimeType"]),
    ("audio", &["data", "mimeType"]),
    ("resource", &["resource"]),
    ("resource_link", &["uri", "name"]),
];

/// True for a result that has no members to look at.
pub(super) fn is_no_object(result: &RawValue) -> bool {
    !result.get().trim_start().starts_with('{')
}

/// The faults in a result of `tools/call`, each as the end of `the answer to …`.
pub fn faults(result: &RawValue) -> Vec<String> {
    let Ok(members) = serde_json::from_str::<Members<'_>>(result.get()) else {
        return Vec::new();
    };
    let mut faults = match members.get("content").map(|content| content.get()) {
        None | Some("null") => vec!["has no `content`".to_owned()],
        Some(content) => match serde_json::from_str::<Vec<&RawValue>>(content) {
            Ok(blocks) => blocks
                .iter()
                .enumerate()
                .filter_map(|(at, block)| of_block(at, block))
                .collect(),
            Err(_) => vec!["has a `content` that is not a list".to_owned()],
        },
    };
    if let Some(flag) = members
        .get("isError")
        .filter(|flag| !matches!(flag.get(), "true" | "false"))
    {
        faults.push(format!(
            "has an `isError` that is neither `true` nor `false`: {}",
            quote(flag)
        ));
    }
    if members
        .get("structuredContent")
        .is_some_and(|content| content.get() == "null")
    {
        faults.push("has a `structuredContent` that is null: omit it, or send a value".to_owned());
    }
    faults
}

fn of_block(at: usize, block: &RawValue) -> Option<String> {
    let Ok(members) = serde_json::from_str::<Members<'_>>(block.get()) else {
        return Some(format!(
            "has a `content[{at}]` that is not an object: {}",
            quote(block)
        ));
    };
    let Some(kind) = members.get("type") else {
        return Some(format!("has a `content[{at}]` without `type`"));
    };
    let name: Option<String> = serde_json::from_str(kind.get()).ok();
    let Some((name, needed)) = KINDS
        .iter()
        .find(|(known, _)| name.as_deref() == Some(known))
    else {
        let known = KINDS.map(|(known, _)| known).join(", ");
        return Some(format!(
            "has a `content[{at}]` of the unknown type {}; the types are {known}",
            quote(kind)
        ));
    };
    let is_there = |key: &str| {
        let value = members
            .get(key)
            .and_then(|value| serde_json::from_str::<Value>(value.get()).ok());
        value.is_some_and(|value| {
            if key == "resource" {
                value.is_object()
            } else {
                value.is_string()
            }
        })
    };
    let missing = needed.iter().find(|key| !is_there(key))?;
    let what = match (members.contains_key(*missing), *missing) {
        (false, _) => format!("without `{missing}`"),
        (true, "resource") => "whose `resource` is not an object".to_owned(),
        (true, _) => format!("whose `{missing}` is not a string"),
    };
    Some(format!("has a `content[{at}]` of the type {name} {what}"))
}

fn quote(value: &RawValue) -> String {
    super::conversation::quote(value.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_of(text: &str) -> Vec<String> {
        faults(&RawValue::from_string(text.to_owned()).unwrap())
    }

    #[test]
    fn a_good_result_has_no_fault() {
        let good = r#"{"content": [
            {"type": "text", "text": ""}, {"type": "image", "data": "", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "a:b"}}, {"type": "resource_link", "uri": "a:b", "name": "b"}
        ], "structuredContent": [], "isError": false, "other": null}"#;
        assert_eq!(faults_of(good), Vec::<String>::new());
        assert_eq!(faults_of(r#"{"content": []}"#), Vec::<String>::new());
    }

    #[test]
    fn every_fault_is_told_with_its_place() {
        let bad = r#"{"content": [
            {"type": "text"}, {"type": "txt", "text": "a"}, 7, {"text": "a"},
            {"type": "resource", "resource": "a:b"}, {"type": "audio", "data": 1, "mimeType": "a/b"}
        ], "structuredContent": null, "isError": "yes"}"#;
        assert_eq!(
            faults_of(bad),
            [
                "has a `content[0]` of the type text without `text`",
                "has a `content[1]` of the unknown type \"txt\"; the types are text, image, audio, resource, resource_link",
                "has a `content[2]` that is not an object: 7",
                "has a `content[3]` without `type`",
                "has a `content[4]` of the type resource whose `resource` is not an object",
                "has a `content[5]` of the type audio whose `data` is not a string",
                "has an `isError` that is neither `true` nor `false`: \"yes\"",
                "has a `structuredContent` that is null: omit it, or send a value",
            ]
        );
        assert_eq!(faults_of(r#"{"content": null}"#), ["has no `content`"]);
        assert_eq!(
            faults_of(r#"{"content": "a"}"#),
            ["has a `content` that is not a list"]
        );
    }
}
