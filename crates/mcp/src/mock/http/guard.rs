//! DNS rebinding: does a request mean this server, or was a browser led here?

use http::{HeaderMap, Uri, header};
use std::net::IpAddr;

/// Which hosts and origins are let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Guard {
    /// Only names of this machine's loopback, as long as the server listens only there.
    Loopback,
    /// Any: the server was asked to listen on another address.
    Open,
}

impl Guard {
    /// The guard of a server that listens on this address.
    pub(super) fn of(address: IpAddr) -> Self {
        if address.is_loopback() { Self::Loopback } else { Self::Open }
    }

    /// Why a request is refused; `None` when it is not.
    pub(super) fn refuses(self, uri: &Uri, headers: &HeaderMap) -> Option<String> {
        if self == Self::Open {
            return None;
        }
        let text = |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        let host = uri.authority().map(http::uri::Authority::as_str).or_else(|| text(header::HOST));
        if !host.is_some_and(is_loopback) {
            let host = host.unwrap_or("none");
            return Some(format!(
                "the host `{host}` is not this machine's loopback; this protects from DNS rebinding"
            ));
        }
        let origin = text(header::ORIGIN)?;
        let of_origin = origin.split_once("://").map(|(_, authority)| authority);
        if of_origin.is_some_and(is_loopback) {
            return None;
        }
        Some(format!(
            "the origin `{origin}` is not this machine's loopback; this protects from DNS rebinding"
        ))
    }
}

/// True for `localhost`, `127.x.y.z` and `[::1]`, with or without a port.
fn is_loopback(authority: &str) -> bool {
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !host.is_empty() => host,
        _ => authority,
    };
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    match bare {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok_and(|address| address.is_loopback()),
        None => {
            host.eq_ignore_ascii_case("localhost")
                || host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(host: Option<&str>, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in [(header::HOST, host), (header::ORIGIN, origin)] {
            if let Some(value) = value {
                headers.insert(name, value.parse().unwrap());
            }
        }
        Guard::Loopback.refuses(&Uri::from_static("/mcp"), &headers).is_some()
    }

    #[test]
    fn only_loopback_names_are_let_in() {
        for host in
            ["localhost", "localhost:80", "LOCALHOST:1", "127.0.0.1:8080", "127.9.9.9", "[::1]", "[::1]:1"]
        {
            assert!(!refused(Some(host), None), "{host}");
        }
        for host in
            ["evil.example.com", "localhost.evil.com", "127.0.0.1.evil.com:80", "10.0.0.1", "[::2]", ""]
        {
            assert!(refused(Some(host), None), "{host}");
        }
        assert!(refused(None, None));
    }

    #[test]
    fn an_origin_that_is_there_must_be_loopback_too() {
        assert!(!refused(Some("localhost"), Some("http://localhost:3000")));
        assert!(!refused(Some("localhost"), Some("https://[::1]:3000")));
        for origin in ["http://evil.example.com", "null", "http://localhost.evil.com", "file://"] {
            assert!(refused(Some("localhost"), Some(origin)), "{origin}");
        }
    }
}
