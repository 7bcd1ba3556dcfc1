//! How long is the plain content of a string, and what does an escape mean?

const ONES: u64 = u64::MAX / 255;
const HIGH_BITS: u64 = ONES << 7;

/// The number of leading bytes that are not `"`, `\` or a control character.
pub fn plain_prefix(bytes: &[u8]) -> usize {
    let (words, tail) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let special = zero_bytes(word ^ (ONES * u64::from(b'"')))
            | zero_bytes(word ^ (ONES * u64::from(b'\\')))
            | (word.wrapping_sub(ONES * 0x20) & !word & HIGH_BITS);
        if special != 0 {
            return index * 8 + special.trailing_zeros() as usize / 8;
        }
    }
    let plain = tail
        .iter()
        .take_while(|&&byte| byte != b'"' && byte != b'\\' && byte >= 0x20)
        .count();
    words.len() * 8 + plain
}

/// High bits of the zero bytes; exact up to and including the lowest one.
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGH_BITS
}

/// The meaning of one escape sequence, beginning at its backslash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escape {
    /// A character.
    Char(char),
    /// Half of a surrogate pair without the other half.
    LoneSurrogate(u16),
}

/// Reads the escape at the start of `bytes` and returns its length; `None` if it is not one.
pub fn escape(bytes: &[u8]) -> Option<(Escape, usize)> {
    let plain = match *bytes.get(1)? {
        b'u' => return unicode_escape(bytes),
        letter @ (b'"' | b'\\' | b'/') => letter,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        _ => return None,
    };
    Some((Escape::Char(char::from(plain)), 2))
}

fn unicode_escape(bytes: &[u8]) -> Option<(Escape, usize)> {
    let first = code_unit(bytes)?;
    if !(0xd800..0xe000).contains(&first) {
        return Some((Escape::Char(char::from_u32(u32::from(first))?), 6));
    }
    let second = bytes.get(6..).and_then(code_unit).unwrap_or_default();
    match char::decode_utf16([first, second]).next()? {
        Ok(character) => Some((Escape::Char(character), 12)),
        Err(_) => Some((Escape::LoneSurrogate(first), 6)),
    }
}

fn code_unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |unit: u16, &digit| {
        let value = char::from(digit).to_digit(16)?;
        Some(unit << 4 | value as u16)
    })
}

/// The number of leading bytes that can belong to a JSON number.
pub fn number_length(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_content_ends_at_the_first_special_byte_wherever_it_stands() {
        for special in [b'"', b'\\', b'\n', 0] {
            for position in 0..40 {
                let mut bytes = "é~ \u{7f}".repeat(10).into_bytes();
                bytes[position] = special;
                bytes[position + 1] = b'"';
                assert_eq!(plain_prefix(&bytes), position);
            }
        }
        assert_eq!(plain_prefix(&[0xff; 21]), 21);
    }

    #[test]
    fn an_escape_stands_for_its_character() {
        assert_eq!(escape(br"\n"), Some((Escape::Char('\n'), 2)));
        assert_eq!(escape(br"\u00e9x"), Some((Escape::Char('é'), 6)));
        assert_eq!(escape(br"\ud83d\ude00"), Some((Escape::Char('😀'), 12)));
        assert_eq!(
            escape(br"\ud83d\u0041"),
            Some((Escape::LoneSurrogate(0xd83d), 6))
        );
        assert_eq!(
            escape(br"\ude00\ud83d"),
            Some((Escape::LoneSurrogate(0xde00), 6))
        );
        for not_one in [&br"\x"[..], br"\u12", br"\u12g4", br"\u+123", br"\"] {
            assert_eq!(escape(not_one), None);
        }
    }
}
