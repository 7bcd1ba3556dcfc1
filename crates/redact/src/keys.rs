//! Does this name mark its value as a secret?

use super::placeholder::is_spent;
use Also::{Lists, Nothing, Numbers};
use std::ops::Range;

/// A family of secret names.
#[derive(Debug)]
pub(crate) struct KeyRule {
    /// The name in the placeholder.
    pub(crate) name: &'static str,
    /// The family's names, whole.
    pub(crate) names: &'static [&'static str],
    /// Further endings of a name of the family.
    pub(crate) endings: &'static [&'static str],
    /// The kinds of values to replace besides strings.
    pub(crate) also: Also,
}

/// The kinds of values to replace besides strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Also {
    Nothing,
    /// Numbers, which are not counts under such a name.
    Numbers,
    /// The texts of a list, as headers are often written.
    Lists,
}

impl KeyRule {
    const fn new(
        name: &'static str,
        names: &'static [&'static str],
        endings: &'static [&'static str],
        also: Also,
    ) -> Self {
        Self {
            name,
            names,
            endings,
            also,
        }
    }
}

/// Names in the form for comparison: lower case, without `-`, `_` and spaces.
pub(crate) const KEYS: &[KeyRule] = &[
    KeyRule::new(
        "password",
        &[],
        &["password", "passwd", "passphrase", "passcode"],
        Numbers,
    ),
    KeyRule::new("secret", &[], &["secret", "secretkey"], Nothing),
    KeyRule::new(
        "api-key",
        &["xfunctionskey"],
        &["apikey", "accesskey", "accountkey", "subscriptionkey"],
        Lists,
    ),
    KeyRule::new(
        "private-key",
        &[],
        &["privatekey", "signingkey", "encryptionkey"],
        Nothing,
    ),
    KeyRule::new(
        "token",
        &[
            "token",
            "idtoken",
            "xgithubtoken",
            "xgitlabtoken",
            "xvaulttoken",
        ],
        &[
            "accesstoken",
            "apitoken",
            "authtoken",
            "bearertoken",
            "bottoken",
            "csrftoken",
            "privatetoken",
            "refreshtoken",
            "secrettoken",
            "securitytoken",
            "sessiontoken",
            "xsrftoken",
        ],
        Lists,
    ),
    KeyRule::new("authorization", &[], &["authorization"], Lists),
    KeyRule::new("cookie", &["cookie", "cookies", "setcookie"], &[], Lists),
];

/// Names that are secret only in the query of a URL: elsewhere, a signature is not a key.
pub(crate) const QUERY_KEYS: &[KeyRule] = &[KeyRule::new(
    "signature",
    &["sig", "xamzsignature", "xgoogsignature"],
    &[],
    Nothing,
)];

const SHORTEST_KEY: usize = 5;
const LONGEST_KEY: usize = 64;
/// The last letters of the names and endings in [`KEYS`], so that most keys are ruled out quickly.
const LAST_LETTERS: &[u8] = b"denstyDENSTY";
/// The schemes that may precede the secret in an `Authorization` header.
const SCHEMES: [&str; 8] = [
    "basic",
    "bearer",
    "token",
    "apikey",
    "key",
    "dpop",
    "negotiate",
    "digest",
];

/// The rule for the value under `key`.
pub(super) fn rule(key: &str) -> Option<&'static KeyRule> {
    if key.len() < SHORTEST_KEY || !LAST_LETTERS.contains(key.as_bytes().last()?) {
        return None;
    }
    let mut buffer = [0; LONGEST_KEY];
    let name = normal(key, &mut buffer)?;
    find(KEYS, name).or_else(|| is_token_variable(key).then(|| find(KEYS, b"token"))?)
}

/// Returns true if the value under this name is a secret, as for `password` or `X-Api-Key`.
pub fn is_secret_name(name: &str) -> bool {
    rule(name).is_some()
}

/// The rule for a parameter in the query of a URL.
pub(super) fn query_rule(key: &str) -> Option<&'static KeyRule> {
    let mut buffer = [0; LONGEST_KEY];
    rule(key).or_else(|| find(QUERY_KEYS, normal(key, &mut buffer)?))
}

/// `GITHUB_TOKEN`: capitals mean a variable, unlike the `next_page_token` of a list.
fn is_token_variable(key: &str) -> bool {
    key.ends_with("_TOKEN") && is_variable(key)
}

/// Returns true if a name has the form of an environment variable.
pub(super) fn is_variable(name: &str) -> bool {
    name.bytes()
        .all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_'))
}

fn find(rules: &'static [KeyRule], name: &[u8]) -> Option<&'static KeyRule> {
    rules.iter().find(|rule| {
        rule.names.iter().any(|whole| whole.as_bytes() == name)
            || rule
                .endings
                .iter()
                .any(|ending| name.ends_with(ending.as_bytes()))
    })
}

/// The key in the form for comparisons; `None` if it is too long for a name.
fn normal<'b>(key: &str, buffer: &'b mut [u8; LONGEST_KEY]) -> Option<&'b [u8]> {
    let mut length = 0;
    for byte in key
        .bytes()
        .filter(|byte| !matches!(byte, b'-' | b'_' | b' '))
    {
        *buffer.get_mut(length)? = byte.to_ascii_lowercase();
        length += 1;
    }
    Some(&buffer[..length])
}

impl KeyRule {
    /// The secret part of a value: all of it, except the scheme of an authorization.
    pub(super) fn secret_of(&self, value: &str) -> Option<Range<usize>> {
        let start = if self.name == "authorization" {
            scheme_length(value)
        } else {
            0
        };
        (!is_spent(&value[start..])).then_some(start..value.len())
    }
}

fn scheme_length(value: &str) -> usize {
    let Some((scheme, rest)) = value.split_once(' ') else {
        return 0;
    };
    if !SCHEMES
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known))
    {
        return 0;
    }
    value.len() - rest.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(key: &str) -> Option<&'static str> {
        rule(key).map(|rule| rule.name)
    }

    #[test]
    fn secret_names_are_known_however_they_are_written() {
        for (key, expected) in [
            ("password", "password"),
            ("DB_PASSWORD", "password"),
            ("newPasswd", "password"),
            ("client_secret", "secret"),
            ("ClientSecret", "secret"),
            ("api_key", "api-key"),
            ("X-Api-Key", "api-key"),
            ("x-goog-api-key", "api-key"),
            ("AWS_SECRET_ACCESS_KEY", "api-key"),
            ("token", "token"),
            ("access_token", "token"),
            ("refreshToken", "token"),
            ("id_token", "token"),
            ("GITHUB_TOKEN", "token"),
            ("Authorization", "authorization"),
            ("Proxy-Authorization", "authorization"),
            ("Set-Cookie", "cookie"),
            ("private_key", "private-key"),
        ] {
            assert_eq!(name(key), Some(expected), "{key}");
        }
    }

    #[test]
    fn names_that_only_sound_secret_are_not() {
        for key in [
            "tokens",
            "max_tokens",
            "total_tokens",
            "input_tokens",
            "token_budget",
            "token_type",
            "tokenizer",
            "eos_token",
            "progressToken",
            "nextPageToken",
            "next_token",
            "continuation_token",
            "invalid_token",
            "author",
            "authorization_endpoint",
            "password_hint",
            "secretary",
            "cookie_policy",
            "key",
            "public_key",
            "PWD",
            "",
        ] {
            assert_eq!(name(key), None, "{key}");
        }
        assert_eq!(name(&("x".repeat(80) + "password")), None);
    }

    #[test]
    fn the_glance_passes_over_no_rule() {
        for name in KEYS
            .iter()
            .flat_map(|rule| rule.names.iter().chain(rule.endings))
        {
            assert!(
                rule(name).is_some() && rule(&name.to_uppercase()).is_some(),
                "{name}"
            );
        }
    }

    #[test]
    fn a_signature_is_secret_in_a_query_alone() {
        assert_eq!(
            query_rule("X-Amz-Signature").map(|rule| rule.name),
            Some("signature")
        );
        assert_eq!(query_rule("sig").map(|rule| rule.name), Some("signature"));
        assert_eq!(name("sig"), None);
    }

    #[test]
    fn the_scheme_of_an_authorization_is_no_secret() {
        let rule = rule("authorization").unwrap();
        assert_eq!(rule.secret_of("Bearer  abc"), Some(8..11));
        assert_eq!(rule.secret_of("abc def"), Some(0..7));
        assert_eq!(rule.secret_of("Bearer ${TOKEN}"), None);
        assert_eq!(rule.secret_of("Bearer [redacted:token]"), None);
        assert_eq!(rule.secret_of(""), None);
    }
}
