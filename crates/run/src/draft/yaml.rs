//! How does a value read in a suite?

use mcptest_core::escape::escape;
use mcptest_core::suite::yaml_to_json;
use serde_json::Value;

const LONGEST_COMMENT: usize = 100;

/// A string as a scalar that means exactly this text, without variables.
pub(crate) fn text(text: &str) -> String {
    template(&text.replace("${", "$${"))
}

/// A string in which `${NAME}` is a variable.
pub(super) fn template(text: &str) -> String {
    if is_plain(text) {
        text.to_owned()
    } else {
        quoted(text)
    }
}

/// A value on one line.
pub(crate) fn flow(value: &Value) -> String {
    flow_with(value, &text)
}

/// A value on one line, with its texts written by this function.
pub(super) fn flow_with(value: &Value, text: &dyn Fn(&str) -> String) -> String {
    match value {
        Value::String(one) => text(one),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| flow_with(item, text)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(map) if map.is_empty() => "{}".to_owned(),
        Value::Object(map) => {
            let members: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{}: {}", template(key), flow_with(value, text)))
                .collect();
            format!("{{ {} }}", members.join(", "))
        }
        other => other.to_string(),
    }
}

/// A name for a comment, with any contents.
pub(super) fn word(text: &str) -> String {
    let short: String = text.chars().take(LONGEST_COMMENT).collect();
    escape(&short).into_owned()
}

/// The text of a comment: one short line, without control characters.
pub(super) fn comment(text: &str) -> String {
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    let mut short: String = line.chars().take(LONGEST_COMMENT).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    escape(&short).into_owned()
}

/// Returns true if the text needs no quotes, even within brackets.
fn is_plain(text: &str) -> bool {
    let is_safe =
        |character: char| character.is_ascii_alphanumeric() || "_./- ".contains(character);
    !text.is_empty()
        && text.chars().all(is_safe)
        && !text.starts_with("- ")
        && !text.ends_with('-')
        && yaml_to_json(text).as_ref().and_then(Value::as_str) == Some(text)
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        let code = u32::from(character);
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            _ if escape(character.encode_utf8(&mut [0; 4])).as_ref() == character.to_string() => {
                out.push(character);
            }
            _ if code <= 0xffff => out.push_str(&format!("\\u{code:04x}")),
            _ => out.push_str(&format!("\\U{code:08x}")),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn plain_words_have_no_quotes_and_all_else_has() {
        for (written, expected) in [
            ("npx", "npx"),
            ("-y", "-y"),
            ("/tmp/a.txt", "/tmp/a.txt"),
            ("get-sum answers", "get-sum answers"),
            ("", "\"\""),
            ("1.5", "\"1.5\""),
            ("true", "\"true\""),
            ("a: b", "\"a: b\""),
            ("-", "\"-\""),
            ("- a", "\"- a\""),
            (" a", "\" a\""),
            ("${A}", "\"$${A}\""),
            ("é\u{202e}\u{1b}\"\\", "\"é\\u202e\\u001b\\\"\\\\\""),
        ] {
            assert_eq!(text(written), expected);
        }
        assert_eq!(
            flow(&json!({"a: b": [1, null, {}], "c": "x"})),
            "{ \"a: b\": [1, null, {}], c: x }"
        );
    }

    #[test]
    fn a_comment_is_one_line() {
        assert_eq!(comment("\n  a \u{85}b\nc"), "a \\u0085b");
        assert!(comment(&"x".repeat(200)).ends_with("x…"));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(written in any::<String>(), key in any::<String>(), number in any::<i32>()) {
            let read = yaml_to_json(&format!("a: {}\n", flow(&json!({ &key: [&written, number] }))));
            let unfilled = written.replace("${", "$${");
            prop_assert_eq!(read, Some(json!({ "a": { key: [unfilled, number] } })));
        }
    }
}
