//! Base64, as far as secrets are looked for in it.

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The characters that a value determines when it stands in a longer text, and whether it shares the one before
/// them and the one after them with its neighbours.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Core {
    pub(super) text: Vec<u8>,
    pub(super) shares_left: bool,
    pub(super) shares_right: bool,
}

/// The three ways in which `value` can stand in base64: its first byte is the first, second or third of a group.
pub(super) fn cores(value: &[u8]) -> [Core; 3] {
    [0, 1, 2].map(|before| {
        let mut bytes = vec![0; before];
        bytes.extend_from_slice(value);
        let bits = bytes.len() * 8;
        let first = (before * 8).div_ceil(6);
        let text = encode(&bytes)[first..bits / 6].to_vec();
        Core { text, shares_left: before > 0, shares_right: bits % 6 != 0 }
    })
}

/// In the URL-safe alphabet; nothing when that is the same.
pub(super) fn url_safe(text: &[u8]) -> Option<Vec<u8>> {
    let other = |byte: &u8| match byte {
        b'+' => b'-',
        b'/' => b'_',
        same => *same,
    };
    text.iter().any(|byte| matches!(byte, b'+' | b'/')).then(|| text.iter().map(other).collect())
}

/// Whether a byte belongs to either alphabet.
pub(super) fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// Without padding.
fn encode(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len() * 4 / 3 + 4);
    for group in bytes.chunks(3) {
        let byte = |index: usize| u32::from(group.get(index).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        let digits = [18, 12, 6, 0].map(|shift| STANDARD[(bits >> shift & 63) as usize]);
        text.extend_from_slice(&digits[..=group.len()]);
    }
    text
}

/// The bytes of either alphabet, with or without padding; nothing when it is not base64.
pub(super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let digits = text.iter().position(|byte| *byte == b'=').map_or(text, |end| &text[..end]);
    if digits.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for group in digits.chunks(4) {
        let bits = group.iter().try_fold(0_u32, |bits, digit| Some(bits << 6 | value_of(*digit)?))?;
        let bits = bits << (6 * (4 - group.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    Some(bytes)
}

fn value_of(digit: u8) -> Option<u32> {
    let value = match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_vectors_of_rfc_4648() {
        let vectors =
            [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE")];
        for (plain, text) in vectors {
            assert_eq!(encode(plain.as_bytes()), text.as_bytes());
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
            let text = encode(&[&before[..], &value, &after].concat());
            let core = &cores(&value)[before.len() % 3];
            let start = (before.len() * 8).div_ceil(6);
            prop_assert_eq!(&text[start..start + core.text.len()], &core.text[..]);
            prop_assert_eq!(start * 6 > before.len() * 8, core.shares_left);
            prop_assert_eq!((start + core.text.len()) * 6 < (before.len() + value.len()) * 8, core.shares_right);
        }
    }
}
