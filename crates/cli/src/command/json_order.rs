//! JSON as a server sent it, for people to read.

/// The same JSON on several lines: nothing but the blanks between its parts is changed.
pub(super) fn indented(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0;
    let mut rest = json;
    while let Some(next) = rest.chars().next() {
        let taken = if next == '"' { string_end(rest) } else { next.len_utf8() };
        let (token, after) = rest.split_at(taken);
        rest = after;
        match next {
            '{' | '[' => {
                out.push(next);
                let inside = rest.trim_start();
                if inside.starts_with(['}', ']']) {
                    out.push_str(&inside[..1]);
                    rest = &inside[1..];
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(next);
            }
            ',' => {
                out.push(',');
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            blank if blank.is_ascii_whitespace() => {}
            _ => out.push_str(token),
        }
    }
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

/// Where the string that a string begins with ends.
fn string_end(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indenting_changes_nothing_but_blanks() {
        let text = r#"{"z":1.50,"a" : [ ],"q\"}":{ },"l":[1,{"b":"x, {y}: é\\"}],"a":null}"#;
        let lines = "{\n  \"z\": 1.50,\n  \"a\": [],\n  \"q\\\"}\": {},\n  \"l\": [\n    1,\n    {\n      \"b\": \"x, {y}: é\\\\\"\n    }\n  ],\n  \"a\": null\n}";
        assert_eq!(indented(text), lines);
        assert_eq!(indented(lines), lines);
        assert_eq!(indented(" \"a b\" "), "\"a b\"");
    }
}
