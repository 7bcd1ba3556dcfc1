//! The laws of redaction.

use super::*;
use crate::arbitrary::any_json;
use proptest::prelude::*;
use serde_json::Value;
use std::fmt::Write;

/// Values of variables: any characters, and long enough to count.
fn any_secret() -> impl Strategy<Value = String> {
    prop_oneof![
        "[A-Za-z0-9+/=_-]{8,40}",
        r#"[a-z"\\/ %+é✓\n\t&?=:]{8,20}"#,
        prop::collection::vec(any::<char>(), 8..20).prop_map(String::from_iter),
    ]
    .prop_filter("already used, and not part of a placeholder", |value| {
        is_secret_value(value)
            && value.trim() == value
            && !"[redacted:SECRET]".contains(value.as_str())
    })
}

/// Prose with the marks that redaction looks for.
fn any_prose() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        "[a-z .,]{0,12}",
        Just("sk-".to_owned()),
        Just("Bearer ".to_owned()),
        Just("?token=".to_owned()),
        Just("\"password\": \"".to_owned()),
        Just("://u:p".to_owned()),
        Just("[redacted:SECRET]".to_owned()),
        Just("[redacted:".to_owned()),
        Just("ghp_a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6".to_owned()),
        r#"[\\"'%:=@\[\]{}\n]{0,4}"#,
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn any_pattern() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "a",
        ".",
        r"\w+",
        r"\]",
        r"(?s).+",
        "^.",
        ".$",
        r"\bx",
        r"\d{3,}",
        "redacted",
        r"x(?<group>.*)",
        "[^a]e|p",
    ])
}

fn redactor(secret: &str) -> Redactor {
    Redactor::builder().value("SECRET", secret).build().unwrap()
}

fn base64(bytes: &[u8], alphabet: &str, pad: bool) -> String {
    let digits: Vec<char> = alphabet.chars().collect();
    let bits: String = bytes.iter().fold(String::new(), |mut bits, byte| {
        let _ = write!(bits, "{byte:08b}");
        bits
    });
    let sextets = bits.as_bytes().chunks(6).map(|chunk| {
        let sextet = chunk.iter().chain(b"000000").take(6);
        digits[sextet.fold(0, |value, bit| value * 2 + usize::from(bit - b'0'))]
    });
    let mut text: String = sextets.collect();
    while pad && !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

const STANDARD: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn percent(text: &str, keeps: fn(u8) -> bool) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        if keeps(byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
        encoded
    })
}

/// Every form in which the tests plant a secret.
fn forms(secret: &str, before: &str, after: &str) -> Vec<String> {
    let escaped = Value::from(secret).to_string();
    let longer = [before, secret, after].concat();
    let mut forms = vec![
        secret.to_owned(),
        percent(secret, |byte| {
            byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte)
        }),
        percent(secret, |byte| {
            byte.is_ascii_alphanumeric() || b"-_.!~*'();/?:@&=+$,#".contains(&byte)
        }),
        percent(secret, |_| false),
        percent(secret, |_| false).to_lowercase(),
        escaped[1..escaped.len() - 1].to_owned(),
    ];
    for alphabet in [STANDARD, URL_SAFE] {
        for pad in [true, false] {
            forms.push(base64(secret.as_bytes(), alphabet, pad));
            forms.push(base64(longer.as_bytes(), alphabet, pad));
        }
    }
    forms
}

/// The value without strings that have a placeholder, and without strings that became one.
fn without_replaced(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (_, Value::String(text)) if placeholder::has_placeholder(text) => {
            !before.is_object() && !before.is_array()
        }
        (Value::Array(before), Value::Array(after)) => {
            before.len() == after.len()
                && before
                    .iter()
                    .zip(after)
                    .all(|(b, a)| without_replaced(b, a))
        }
        (Value::Object(before), Value::Object(after)) => {
            after.iter().all(|(key, after)| match before.get(key) {
                Some(before) => without_replaced(before, after),
                None => placeholder::has_placeholder(key),
            })
        }
        (before, after) => before == after,
    }
}

proptest! {
    #[test]
    fn a_planted_secret_survives_in_no_form(
        secret in any_secret(),
        before in "[a-z:]{0,4}",
        after in "[a-z:]{0,4}",
        prose in any_prose(),
    ) {
        let redactor = redactor(&secret);
        for form in forms(&secret, &before, &after) {
            let text = format!("{prose}{form} {prose}");
            let redacted = redactor.text(&text);
            prop_assert!(!redacted.contains(&form), "{form:?} in {redacted:?}");
            let json = serde_json::json!({ "a": [text.as_str()], &text: 1, "b": Value::from(text.as_str()).to_string() });
            let redacted = redactor.json(&json.to_string()).into_owned();
            let value: Value = serde_json::from_str(&redacted).unwrap();
            prop_assert!(!value["a"][0].as_str().unwrap().contains(&form), "{form:?} in {redacted:?}");
            prop_assert!(value.as_object().unwrap().keys().all(|key| !key.contains(&form)));
            if let Ok(inner) = serde_json::from_str::<String>(value["b"].as_str().unwrap()) {
                prop_assert!(!inner.contains(&form), "{form:?} in {inner:?}");
            }
        }
    }

    #[test]
    fn json_stays_json_and_only_strings_change(value in any_json(), secret in any_secret(), pretty in any::<bool>()) {
        let planted = serde_json::json!({
            "first": value, "password": secret, "n": 1e300, "text": format!("x {secret}"), "last": [true, null],
        });
        let text = if pretty { format!("{planted:#}") } else { planted.to_string() };
        let redacted = redactor(&secret).json(&text).into_owned();
        let after: Value = serde_json::from_str(&redacted).unwrap();
        prop_assert!(without_replaced(&planted, &after), "{text}\n{redacted}");
        prop_assert_eq!(&after["password"], "[redacted:SECRET]");
    }

    #[test]
    fn what_is_not_secret_is_not_touched(value in any_json(), pretty in any::<bool>()) {
        let text = if pretty { format!("{value:#}") } else { value.to_string() };
        prop_assert!(matches!(redactor("no such text anywhere").json(&text), Cow::Borrowed(same) if same == text));
    }

    #[test]
    fn twice_is_once(prose in any_prose(), secret in any_secret(), value in any_json(), pattern in any_pattern()) {
        let plain = redactor(&secret);
        let patterned = Redactor::builder().value("SECRET", &secret).pattern(pattern).build().unwrap();
        let json = serde_json::json!({ "a": prose, "token": secret, "b": value, "c": format!("{prose}{secret}") });
        for redactor in [plain, patterned] {
            for text in [format!("{secret}{prose}"), json.to_string(), json.to_string()[1..].to_owned()] {
                let once = redactor.text(&text).into_owned();
                prop_assert_eq!(redactor.text(&once), &*once);
                prop_assert_eq!(redactor.find(&once), vec![]);
                let once = redactor.json(&text).into_owned();
                prop_assert_eq!(redactor.json(&once), &*once);
                let once = redactor.header("Authorization", &text).into_owned();
                prop_assert_eq!(redactor.header("Authorization", &once), &*once);
            }
            let redacted = redactor.json(&json.to_string()).into_owned();
            prop_assert!(serde_json::from_str::<Value>(&redacted).is_ok(), "{redacted}");
        }
    }

    #[test]
    fn nothing_of_a_value_stays_where_copies_of_it_overlap(
        unit in "[a-z0-9/%]{1,5}", times in 8..30_usize, more in 0..30_usize, cut in 8..20_usize,
    ) {
        let secret = unit.repeat(times);
        prop_assume!(is_secret_value(&secret));
        let redactor = redactor(&secret);
        let once = redactor.text(&unit.repeat(times + more)).into_owned();
        prop_assert_eq!(&once, "[redacted:SECRET]");
        prop_assert_eq!(redactor.text(&once), &*once);
        if let Some(piece) = secret.get(..cut).filter(|piece| piece.len() < secret.len()) {
            let text = format!("<{piece}…");
            prop_assert_eq!(redactor.text(&text), "<[redacted:SECRET]…");
        }
    }

    #[test]
    fn whatever_is_redacted_may_be_found(
        prose in any_prose(), secret in any_secret(), value in any_json(), form in 0..20_usize, key in "[a-z_\"\\\\né]{0,3}(password|token|API_TOKEN|sig|cookie)",
    ) {
        let redactors = [redactor(&secret), Redactor::builder().build().unwrap()];
        let forms = forms(&secret, "", "");
        let secret = &forms[form % forms.len()];
        let nested = serde_json::json!({ "a": format!("{prose}{secret}"), &key: prose, "b": value }).to_string();
        let twice = serde_json::json!([nested, format!("{key}={prose}"), format!("\n{key}={prose}")]).to_string();
        for text in [&prose, &format!("{prose}{secret}{prose}"), &nested, &twice, &twice.replace('\u{e9}', "\\u00e9")] {
            for redactor in &redactors {
                let is_changed = matches!(redactor.text(text), Cow::Owned(_))
                    || matches!(redactor.json(text), Cow::Owned(_))
                    || matches!(redactor.document(text), Cow::Owned(_));
                prop_assert!(!is_changed || redactor.may_find(text), "{text}");
            }
        }
    }

    #[test]
    fn every_find_is_a_character_of_the_text(prose in any_prose(), secret in any_secret()) {
        let text = format!("{prose}{secret}");
        for (_, at) in redactor(&secret).find(&text) {
            prop_assert!(text.is_char_boundary(at.start));
        }
    }
}
