//! Where is a request sent, given what people write as a base URL?

use mcptest_http::BadUrl;
use reqwest::Url;

/// Reads a base URL.
pub(super) fn base(text: &str) -> Result<Url, BadUrl> {
    mcptest_http::server_url(text, "http://localhost:11434/v1")
}

/// The address of an endpoint. A base with a version does not get a second one. A base that already
/// names the endpoint is unchanged.
pub(super) fn endpoint(base: &Url, version: &str, path: &str) -> Url {
    let mut url = base.clone();
    let own = base.path().trim_end_matches('/');
    let own = own
        .strip_suffix(path)
        .map_or(own, |rest| rest.trim_end_matches('/'));
    let has_version =
        own.split('/').any(is_version) || own.len() < base.path().trim_end_matches('/').len();
    let joined = if has_version {
        format!("{own}/{path}")
    } else {
        format!("{own}/{version}/{path}")
    };
    url.set_path(&joined);
    url
}

fn is_version(segment: &str) -> bool {
    let rest = segment.strip_prefix('v').unwrap_or_default();
    rest.starts_with(|c: char| c.is_ascii_digit())
        && rest.chars().all(|c| c.is_ascii_alphanumeric())
}

/// The address without credentials and query, which can be secrets.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // Fails only where there can be none.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.to_string().trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, version: &str, path: &str) -> String {
        endpoint(&base(text).unwrap(), version, path).to_string()
    }

    #[test]
    fn a_version_is_added_once_whatever_the_base_looks_like() {
        for (text, url) in [
            (
                "https://api.openai.com",
                "https://api.openai.com/v1/chat/completions",
            ),
            (
                "https://api.openai.com/",
                "https://api.openai.com/v1/chat/completions",
            ),
            (
                "https://api.openai.com/v1",
                "https://api.openai.com/v1/chat/completions",
            ),
            (
                "https://api.openai.com/v1//",
                "https://api.openai.com/v1/chat/completions",
            ),
            (
                "https://host/openai/v1/?api-version=1",
                "https://host/openai/v1/chat/completions?api-version=1",
            ),
            (
                "https://host/v1beta/openai",
                "https://host/v1beta/openai/chat/completions",
            ),
            (
                "https://host/proxy",
                "https://host/proxy/v1/chat/completions",
            ),
            (
                "https://host/chat/completions",
                "https://host/chat/completions",
            ),
        ] {
            assert_eq!(at(text, "v1", "chat/completions"), url, "{text}");
        }
        assert_eq!(
            at(
                "http://localhost:1/v1beta/",
                "v1beta",
                "models/gemini-3:generateContent"
            ),
            "http://localhost:1/v1beta/models/gemini-3:generateContent"
        );
    }

    #[test]
    fn what_is_no_address_is_told_why_and_secrets_of_one_are_not_shown() {
        let why = |text: &str| base(text).unwrap_err().to_string();
        assert!(why("localhost/v1").contains("needs a scheme"));
        assert!(why("ftp://x").contains("neither"));
        assert_eq!(
            shown(&base("https://user:pa55@host/v1?key=abc").unwrap()),
            "https://host/v1"
        );
    }
}
