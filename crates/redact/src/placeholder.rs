//! What stands where a secret stood, and is a string already that?

pub(super) const OPENING: &str = "[redacted:";
const LONGEST_NAME: usize = 100;
const HASH_DIGITS: usize = 6;
/// Part of every hash, so that a placeholder can be compared only with other placeholders.
const CONTEXT: &str = "mcptest redaction placeholder, version 1";

/// Returns true if a placeholder begins in the text, even one that is cut off.
pub fn has_placeholder(text: &str) -> bool {
    text.contains(OPENING)
}

/// `[redacted:NAME]`.
pub(super) fn plain(name: &str) -> String {
    format!("{OPENING}{name}]")
}

/// `[redacted:NAME:1a2b3c]`: 24 bits of a hash distinguish two secrets. Only for secrets that a
/// machine drew from at least 2^80: the same 24 bits would identify a password in a dictionary.
pub(super) fn hashed(name: &str, secret: &[u8]) -> String {
    let hash = blake3::Hasher::new_derive_key(CONTEXT)
        .update(secret)
        .finalize();
    format!("{OPENING}{name}:{}]", &hash.to_hex()[..HASH_DIGITS])
}

/// A name in the form that a placeholder allows: letters, digits, `_`, `.` and `-`.
pub(super) fn name_of(text: &str) -> String {
    let name: String = text
        .chars()
        .take(LONGEST_NAME)
        .map(|c| if is_name(c as u32) { c } else { '_' })
        .collect();
    if name.is_empty() {
        "secret".to_owned()
    } else {
        name
    }
}

/// Returns true if a placeholder can have this name unchanged.
pub fn is_placeholder_name(text: &str) -> bool {
    name_of(text) == text
}

fn is_name(code: u32) -> bool {
    u8::try_from(code)
        .is_ok_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
}

/// A placeholder at the start of `text`: its name and its length.
pub(super) fn read(text: &str) -> Option<(&str, usize)> {
    let rest = text.strip_prefix(OPENING)?;
    let length = rest
        .bytes()
        .take(LONGEST_NAME)
        .take_while(|&byte| is_name(u32::from(byte)))
        .count();
    let (name, mut rest) = rest.split_at(length);
    if let Some(hash) = rest.strip_prefix(':') {
        let is_hash = |digits: &str| {
            digits
                .bytes()
                .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        };
        hash.get(..HASH_DIGITS).filter(|digits| is_hash(digits))?;
        rest = &hash[HASH_DIGITS..];
    }
    let rest = rest.strip_prefix(']')?;
    (length > 0).then_some((name, text.len() - rest.len()))
}

/// Returns true if no secret can remain: the text has only placeholders, `${NAME}` references and spaces.
pub(super) fn is_spent(mut text: &str) -> bool {
    loop {
        text = text.trim_start();
        if text.is_empty() {
            return true;
        }
        let Some(length) = read(text)
            .map(|(_, length)| length)
            .or_else(|| reference(text))
        else {
            return false;
        };
        text = &text[length..];
    }
}

/// The length of a `${NAME}` at the start of `text`.
fn reference(text: &str) -> Option<usize> {
    let name = text.strip_prefix("${")?;
    let length = name
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        .count();
    (length > 0 && name[length..].starts_with('}')).then_some(length + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for text in [
            plain("API_KEY"),
            hashed("github-token", b"x"),
            plain(&name_of("a b]\"é")),
        ] {
            let (name, length) = read(&text).unwrap();
            assert_eq!(length, text.len());
            assert!(text.contains(name));
        }
    }

    #[test]
    fn other_brackets_are_not_placeholders() {
        for text in [
            "[redacted:]",
            "[redacted:a b]",
            "[redacted:a:12345]",
            "[redacted:a:12345G]",
            "[redacted:a",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_hash_stays_the_same_from_one_version_to_the_next() {
        assert_eq!(hashed("jwt", b"one"), "[redacted:jwt:fc39b7]");
        assert_ne!(hashed("jwt", b"one"), hashed("jwt", b"two"));
    }

    #[test]
    fn references_and_placeholders_hide_nothing() {
        for text in [
            "",
            " ",
            "${TOKEN}",
            "[redacted:a] [redacted:b:012345]",
            " ${A}${B}",
        ] {
            assert!(is_spent(text), "{text}");
        }
        for text in ["x", "${TOKEN", "${A:-secret}", "[redacted:a]x", "${}"] {
            assert!(!is_spent(text), "{text}");
        }
    }
}
