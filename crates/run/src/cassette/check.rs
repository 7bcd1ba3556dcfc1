//! Can everything that reads this JSON later read it too?

use super::problem::Fault;

/// The deepest nesting that `serde_json` reads into a value.
pub(super) const DEPTH_LIMIT: usize = 127;

/// Finds what the fast reader lets through and a later one refuses: half surrogate pairs, nesting that is
/// too deep, numbers that no double holds. Text that is not JSON gives an answer, too, if not a useful one.
pub(super) fn check_json(text: &str) -> Result<(), (usize, Fault)> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at = match byte {
            b'"' => check_string(bytes, at + 1)?,
            b'-' | b'0'..=b'9' => check_number(text, at)?,
            b'{' | b'[' if depth == DEPTH_LIMIT => return Err((at, Fault::TooDeep { limit: DEPTH_LIMIT })),
            b'{' | b'[' => {
                depth += 1;
                at + 1
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                at + 1
            }
            _ => at + 1,
        };
    }
    Ok(())
}

/// Gives where the string that begins at `at` has ended.
fn check_string(bytes: &[u8], mut at: usize) -> Result<usize, (usize, Fault)> {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return Ok(at + 1),
            b'\\' => at = check_escape(bytes, at)?,
            _ => at += 1,
        }
    }
    Ok(at)
}

fn check_escape(bytes: &[u8], at: usize) -> Result<usize, (usize, Fault)> {
    let unpaired = || {
        let escape = bytes.get(at..at + 6).unwrap_or_default();
        Err((at, Fault::LoneSurrogate { escape: String::from_utf8_lossy(escape).into_owned() }))
    };
    match unicode_escape(bytes, at) {
        Some(0xD800..=0xDBFF) => match unicode_escape(bytes, at + 6) {
            Some(0xDC00..=0xDFFF) => Ok(at + 12),
            _ => unpaired(),
        },
        Some(0xDC00..=0xDFFF) => unpaired(),
        _ => Ok(at + 2),
    }
}

fn unicode_escape(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn check_number(text: &str, at: usize) -> Result<usize, (usize, Fault)> {
    let length = text.as_bytes()[at..]
        .iter()
        .take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
        .count();
    let number = &text[at..at + length];
    let may_overflow = length > 300 || number.contains(['e', 'E']);
    if may_overflow && number.parse::<f64>().is_ok_and(f64::is_infinite) {
        return Err((at, Fault::NumberTooLarge));
    }
    Ok(at + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offset(text: &str) -> Option<usize> {
        check_json(text).err().map(|(offset, _)| offset)
    }

    #[test]
    fn half_of_a_surrogate_pair_is_found_and_a_whole_one_is_not() {
        assert_eq!(offset(r#"["\ud83d\ude00", "\\ud800", "\u00e9"]"#), None);
        assert_eq!(offset(r#"["\ud83d"]"#), Some(2));
        assert_eq!(offset(r#"["a\ude00"]"#), Some(3));
        assert_eq!(offset(r#"["\ud83d\u0041"]"#), Some(2));
    }

    #[test]
    fn nesting_is_read_as_deep_as_a_value_can_be_and_no_deeper() {
        for depth in [DEPTH_LIMIT, DEPTH_LIMIT + 1] {
            let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            let readable = serde_json::from_str::<serde_json::Value>(&nested).is_ok();
            assert_eq!(check_json(&nested).is_ok(), readable, "{depth}");
        }
        assert_eq!(offset(&format!("\"{}\"", "[".repeat(5000))), None, "brackets in a string are text");
    }

    #[test]
    fn a_number_past_every_double_is_found() {
        assert_eq!(offset("[1e308, -1E+2, 0.5]"), None);
        assert_eq!(offset("[1, 1e400]"), Some(4));
        assert_eq!(offset(&"9".repeat(400)), Some(0));
    }
}
