//! Can everything that reads this JSON later read it too?

use super::problem::Fault;
use mcptest_core::json::{JsonFault, MAX_DEPTH, check};

/// Finds what the fast reader lets through and a later one refuses: half surrogate pairs, nesting that is
/// too deep, numbers that no double holds. What is not JSON at all is for the parser to say.
pub(super) fn check_json(text: &str) -> Result<(), (usize, Fault)> {
    let Err(problem) = check(text) else { return Ok(()) };
    let fault = match problem.fault {
        JsonFault::TooDeep => Fault::TooDeep { limit: MAX_DEPTH },
        JsonFault::NumberTooLarge => Fault::NumberTooLarge,
        JsonFault::LoneSurrogate => {
            let escape = text.get(problem.offset..problem.offset + 6).unwrap_or_default();
            Fault::LoneSurrogate { escape: escape.to_owned() }
        }
        JsonFault::InvalidEscape | JsonFault::ControlCharacter | JsonFault::UnclosedString => return Ok(()),
    };
    Err((problem.offset, fault))
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
        for depth in [MAX_DEPTH, MAX_DEPTH + 1] {
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
