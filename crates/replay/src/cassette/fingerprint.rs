//! Is this still the header that the runs were recorded under?

use mcptest_core::digest::digest_of_value;
use mcptest_core::trace::Header;
use serde::Serialize;

/// The fingerprint over everything in a header but its fingerprint: `blake3:` and 32 hex digits.
pub(crate) fn fingerprint_of(header: &impl Serialize) -> String {
    let mut header = serde_json::to_value(header).unwrap_or_default();
    header
        .as_object_mut()
        .map(|header| header.remove("fingerprint"));
    digest_of_value(&header)
}

/// Returns true if the header was edited: its fingerprint does not match its content.
pub(crate) fn is_tampered(header: &Header) -> bool {
    header
        .fingerprint
        .as_ref()
        .is_some_and(|recorded| *recorded != fingerprint_of(header))
}

/// The header for writing: with the current format and version, and its fingerprint.
pub fn sealed(header: &Header) -> Header {
    let mut header = Header {
        format: Header::FORMAT.to_owned(),
        version: Header::VERSION,
        ..header.clone()
    };
    header.fingerprint = Some(fingerprint_of(&header));
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Header {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn key_order_does_not_reach_the_fingerprint_and_every_field_does() {
        let one = header(
            r#"{"format":"f","version":1,"agent":"a","parameters":{"x":{"b":1,"a":2},"y":0.7},"prompt":["p"]}"#,
        );
        let other = header(
            r#"{"prompt":["p"],"parameters":{"y":0.7,"x":{"a":2,"b":1}},"agent":"a","version":1,"format":"f"}"#,
        );
        assert_eq!(fingerprint_of(&one), fingerprint_of(&other));
        for changed in [
            Header {
                agent: "b".into(),
                ..one.clone()
            },
            Header {
                model: Some("m".into()),
                ..one.clone()
            },
            Header {
                prompt: vec!["p".into(), String::new()],
                ..one.clone()
            },
            Header {
                system_prompt: Some(String::new()),
                ..one.clone()
            },
            Header {
                parameters: [].into(),
                ..one.clone()
            },
            Header {
                catalogue: Some(vec![]),
                ..one.clone()
            },
        ] {
            assert_ne!(
                fingerprint_of(&one),
                fingerprint_of(&changed),
                "{changed:?}"
            );
        }
    }

    #[test]
    fn a_fingerprint_keeps_its_value_across_releases() {
        let fixed = sealed(&Header {
            agent: "weather".into(),
            prompt: vec!["Rain in 東京?".into()],
            parameters: [("temperature".to_owned(), 0.7.into())].into(),
            ..Header::default()
        });
        insta::assert_snapshot!(fixed.fingerprint.unwrap(), @"blake3:91f946509acfa2ad48d385ee8cf886c7");
    }

    #[test]
    fn a_header_changed_by_hand_is_tampered() {
        let mut header = sealed(&Header {
            agent: "a".into(),
            ..Header::default()
        });
        assert!(!is_tampered(&header));
        header.prompt.push("another".into());
        assert!(is_tampered(&header));
        header.fingerprint = None;
        assert!(!is_tampered(&header), "an unpinned header promises nothing");
    }
}
