//! Which headers does a proxy pass on?

use http::{HeaderMap, HeaderName, HeaderValue, header};

const HOP_BY_HOP: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The headers for the target: `Host` is the target's own, and the answer must be readable on the
/// tape.
pub(super) fn for_target(headers: &HeaderMap) -> HeaderMap {
    let mut passed = end_to_end(headers);
    passed.remove(header::HOST);
    if passed.contains_key(header::ACCEPT_ENCODING) {
        passed.insert(
            header::ACCEPT_ENCODING,
            HeaderValue::from_static("identity"),
        );
    }
    passed
}

/// The headers for the other end.
pub(super) fn end_to_end(headers: &HeaderMap) -> HeaderMap {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let mut passed = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        if !HOP_BY_HOP.contains(&name.as_str()) && !named.contains(name) {
            passed.append(name, value.clone());
        }
    }
    passed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_connection_names_stays_there_and_repeated_headers_stay_repeated() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "keep-alive, X-Mine"),
            ("x-mine", "1"),
            ("transfer-encoding", "chunked"),
            ("host", "localhost:1"),
            ("set-cookie", "a"),
            ("set-cookie", "b"),
            ("mcp-session-id", "s"),
        ] {
            headers.append(name, HeaderValue::from_static(value));
        }
        let passed = for_target(&headers);
        assert_eq!(passed.get_all("set-cookie").iter().count(), 2);
        assert!(passed.contains_key("mcp-session-id"));
        assert_eq!(passed.len(), 3);
    }
}
