//! Which number may a value mean, where doubt counts as danger?

use serde_json::{Number, Value};

/// The number itself, or the number in a text: `"900"`, `" 1,000.50 "`, `"$900"`, `"900 USD"`,
/// `"9e2"`.
///
/// Only for safety rules. A rule that forbids a payment of 500 or more must see the payment of
/// `"900"`, since the server may read the text as a number. Elsewhere, a text is never a number.
pub fn doubtful_number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => read(text),
        _ => None,
    }
}

fn read(text: &str) -> Option<Number> {
    let (is_negative, unsigned) = without_sign(text.trim());
    let (is_negative_inside, bare) = without_sign(without_unit(unsigned));
    let digits = without_separators(bare)?;
    let sign = if is_negative == is_negative_inside {
        ""
    } else {
        "-"
    };
    let signed = format!("{sign}{digits}");
    if let Ok(whole) = signed.parse::<i64>() {
        return Some(whole.into());
    }
    if let Ok(whole) = signed.parse::<u64>() {
        return Some(whole.into());
    }
    signed.parse().ok().and_then(Number::from_f64)
}

fn without_sign(text: &str) -> (bool, &str) {
    match text.strip_prefix(['-', '−']) {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// Without a currency or a percent sign on one side: `$900`, `900 €`, `USD 900`, `90%`.
fn without_unit(text: &str) -> &str {
    let is_number_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '−' | '+');
    let number = text.trim_start_matches(|c: char| !is_number_part(c));
    if is_unit(&text[..text.len() - number.len()]) && number.len() < text.len() {
        return number;
    }
    let number = text.trim_end_matches(|c: char| !is_number_part(c));
    if is_unit(&text[number.len()..]) {
        return number;
    }
    text
}

fn is_unit(text: &str) -> bool {
    let text = text.trim();
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(sign), None) => matches!(sign, '$' | '€' | '£' | '¥' | '₹' | '%'),
        _ => text.len() == 3 && text.bytes().all(|letter| letter.is_ascii_alphabetic()),
    }
}

/// Removes separators of groups of three digits. A comma that does not separate groups is a decimal
/// comma.
fn without_separators(text: &str) -> Option<String> {
    if !text.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let is_allowed = |c: char| {
        c.is_ascii_digit()
            || matches!(
                c,
                '.' | ',' | '_' | '\'' | ' ' | '\u{a0}' | '\u{202f}' | 'e' | 'E' | '+' | '-'
            )
    };
    if !text.chars().all(is_allowed) {
        return None;
    }
    let (whole, rest) = match text.find(['.', 'e', 'E']) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let groups: Vec<&str> = whole
        .split([',', '_', '\'', ' ', '\u{a0}', '\u{202f}'])
        .collect();
    let are_groups_of_three = groups[1..].iter().all(|group| group.len() == 3);
    if are_groups_of_three {
        return Some(format!("{}{rest}", groups.concat()));
    }
    match (&groups[..], rest) {
        ([whole, fraction], "") if text.contains(',') => Some(format!("{whole}.{fraction}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_text_that_a_server_may_read_as_a_number_is_that_number() {
        for (text, number) in [
            ("900", json!(900)),
            (" 900 ", json!(900)),
            ("+900", json!(900)),
            ("-900", json!(-900)),
            ("0900", json!(900)),
            ("900.50", json!(900.5)),
            (".5", json!(0.5)),
            ("9e2", json!(900.0)),
            ("1,000", json!(1000)),
            ("1,000,000.25", json!(1_000_000.25)),
            ("1_000", json!(1000)),
            ("1 000", json!(1000)),
            ("900,5", json!(900.5)),
            ("$900", json!(900)),
            ("-$900", json!(-900)),
            ("$-900", json!(-900)),
            ("900 €", json!(900)),
            ("USD 900", json!(900)),
            ("900.00 EUR", json!(900.0)),
            ("90%", json!(90)),
            ("9007199254740993", json!(9_007_199_254_740_993_i64)),
        ] {
            assert_eq!(
                doubtful_number(&json!(text)).map(Value::from),
                Some(number),
                "{text}"
            );
        }
        assert_eq!(
            doubtful_number(&json!(900.5)),
            json!(900.5).as_number().cloned()
        );
    }

    #[test]
    fn other_texts_and_values_are_not_numbers() {
        for value in [
            json!(""),
            json!(" "),
            json!("nine hundred"),
            json!("O-900"),
            json!("inf"),
            json!("NaN"),
            json!("1e999"),
            json!("10.0.0.1"),
            json!("2026-11-18"),
            json!("12:30"),
            json!("1,00,0"),
            json!("$"),
            json!("900 users"),
            json!("0x10"),
            json!(null),
            json!(true),
            json!([900]),
            json!({"amount": 900}),
        ] {
            assert_eq!(doubtful_number(&value), None, "{value}");
        }
    }
}
