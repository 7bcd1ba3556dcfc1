//! Which JSON Pointer leads to a byte of a JSON text?

use super::forms::in_pointer;
use super::structure::string_end;

/// The containers that are open at the current place.
enum Open {
    Object { key: Option<String> },
    List { index: usize },
}

/// The pointers of these bytes, which are sorted. For a byte in a key, the pointer of the object
/// with the key.
pub(crate) fn pointers_at(text: &str, offsets: &[usize]) -> Vec<String> {
    let bytes = text.as_bytes();
    let mut open: Vec<Open> = Vec::new();
    let mut pointers = Vec::with_capacity(offsets.len());
    let mut at = 0;
    while at < bytes.len() && pointers.len() < offsets.len() {
        let after_string = || string_end(bytes, at + 1).map_or(bytes.len(), |(quote, _)| quote + 1);
        let end = if bytes[at] == b'"' {
            after_string()
        } else {
            at + 1
        };
        let is_key = bytes[at] == b'"'
            && matches!(open.last(), Some(Open::Object { .. }))
            && bytes[end..].trim_ascii_start().first() == Some(&b':');
        if is_key && let Some(Open::Object { key }) = open.last_mut() {
            *key = None;
        }
        while let Some(&offset) = offsets.get(pointers.len()).filter(|offset| **offset < end) {
            debug_assert!(offset >= at || pointers.is_empty());
            pointers.push(pointer(&open));
        }
        match (bytes[at], open.last_mut()) {
            (b'{', _) => open.push(Open::Object { key: None }),
            (b'[', _) => open.push(Open::List { index: 0 }),
            (b'}' | b']', _) => drop(open.pop()),
            (b',', Some(Open::List { index })) => *index += 1,
            (b',', Some(Open::Object { key })) => *key = None,
            (b'"', Some(Open::Object { key })) if is_key => {
                *key = serde_json::from_str(&text[at..end]).ok();
            }
            _ => {}
        }
        at = end;
    }
    pointers.resize_with(offsets.len(), String::new);
    pointers
}

fn pointer(open: &[Open]) -> String {
    let step = |open: &Open| match open {
        Open::Object { key: Some(key) } => format!("/{}", in_pointer(key)),
        Open::Object { key: None } => String::new(),
        Open::List { index } => format!("/{index}"),
    };
    open.iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_found_in_lists_objects_numbers_and_keys() {
        let text =
            r#"{"a" : [1, {"b/~\"c": "x\\\"y", "n": 25}, [true, "z"]], "k": {"deep": null}}"#;
        let at = |part: &str| text.find(part).unwrap();
        let offsets = [
            at("1,"),
            at("b/~"),
            at("x\\"),
            at("25"),
            at("z"),
            at("deep"),
            at("null"),
        ];
        assert_eq!(
            pointers_at(text, &offsets),
            [
                "/a/0",
                "/a/1",
                "/a/1/b~1~0\"c",
                "/a/1/n",
                "/a/2/1",
                "/k",
                "/k/deep"
            ]
        );
    }

    #[test]
    fn a_text_that_is_cut_off_or_no_json_has_pointers_as_far_as_it_goes() {
        assert_eq!(pointers_at(r#"{"a": {"b": "cut"#, &[13]), ["/a/b"]);
        assert_eq!(pointers_at("]}x\\\"", &[2, 99]), ["", ""]);
    }
}
