//! What does a header say?

use http::header::{AsHeaderName, CONTENT_TYPE, HeaderMap};

/// A header as text. `None` if it is missing or not text.
pub fn header_text(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .map(str::trim)
}

/// The type of a body, without parameters, in small letters.
pub fn media_type(headers: &HeaderMap) -> Option<String> {
    let value = header_text(headers, CONTENT_TYPE)?;
    Some(
        value
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase(),
    )
}
