//! How are secrets found in base64?

use ::base64::Engine;
use ::base64::alphabet::STANDARD;
use ::base64::engine::general_purpose::{GeneralPurpose, NO_PAD, STANDARD_NO_PAD};

/// The characters that a value determines within a longer text, and whether it shares the
/// characters before and after them with its neighbours.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Core {
    pub(super) text: Vec<u8>,
    pub(super) shares_left: bool,
    pub(super) shares_right: bool,
}

/// The three encodings of `value` in base64: its first byte is the first, second or third of a group.
pub(super) fn cores(value: &[u8]) -> [Core; 3] {
    [0, 1, 2].map(|before| {
        let mut bytes = vec![0; before];
        bytes.extend_from_slice(value);
        let bits = bytes.len() * 8;
        let first = (before * 8).div_ceil(6);
        let text = STANDARD_NO_PAD.encode(&bytes).as_bytes()[first..bits / 6].to_vec();
        Core {
            text,
            shares_left: before > 0,
            shares_right: bits % 6 != 0,
        }
    })
}

/// The text in the URL-safe alphabet; `None` if it is equal.
pub(super) fn url_safe(text: &[u8]) -> Option<Vec<u8>> {
    let other = |byte: &u8| match byte {
        b'+' => b'-',
        b'/' => b'_',
        same => *same,
    };
    text.iter()
        .any(|byte| matches!(byte, b'+' | b'/'))
        .then(|| text.iter().map(other).collect())
}

/// Returns true if a byte belongs to either alphabet.
pub(super) fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// Decodes either alphabet, with or without padding; `None` if it is not base64.
pub(super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    const LENIENT: GeneralPurpose =
        GeneralPurpose::new(&STANDARD, NO_PAD.with_decode_allow_trailing_bits(true));
    let digits = text
        .iter()
        .position(|byte| *byte == b'=')
        .map_or(text, |end| &text[..end]);
    let standard = digits.iter().map(|byte| match byte {
        b'-' => b'+',
        b'_' => b'/',
        same => *same,
    });
    LENIENT.decode(standard.collect::<Vec<u8>>()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_vectors_of_rfc_4648() {
        let vectors = [
            ("", ""),
            ("f", "Zg"),
            ("fo", "Zm8"),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg"),
            ("fooba", "Zm9vYmE"),
        ];
        for (plain, text) in vectors {
            assert_eq!(STANDARD_NO_PAD.encode(plain), text);
            assert_eq!(decode(text.as_bytes()).unwrap(), plain.as_bytes());
        }
        assert_eq!(decode(b"Zg==").unwrap(), b"f");
        assert_eq!(decode(b"+/-_").unwrap(), decode(b"+/+/").unwrap());
        assert_eq!(decode(b"a b"), None);
        assert_eq!(decode(b"abcde"), None);
    }

    proptest! {
        #[test]
        fn a_value_is_found_wherever_it_stands(
            before in prop::collection::vec(any::<u8>(), 0..7),
            value in prop::collection::vec(any::<u8>(), 8..20),
            after in prop::collection::vec(any::<u8>(), 0..7),
        ) {
            let text = STANDARD_NO_PAD.encode([&before[..], &value, &after].concat()).into_bytes();
            let core = &cores(&value)[before.len() % 3];
            let start = (before.len() * 8).div_ceil(6);
            prop_assert_eq!(&text[start..start + core.text.len()], &core.text[..]);
            prop_assert_eq!(start * 6 > before.len() * 8, core.shares_left);
            prop_assert_eq!((start + core.text.len()) * 6 < (before.len() + value.len()) * 8, core.shares_right);
        }
    }
}
