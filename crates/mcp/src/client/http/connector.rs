//! The HTTP client: certificates, proxies, redirects, and an address that makes sense.

use super::super::Misbehaviour;
use http::{HeaderMap, HeaderName, HeaderValue};
use reqwest::Url;
use std::sync::Arc;
use std::time::Duration;

pub(super) fn address(text: &str) -> Result<Url, Misbehaviour> {
    let bad = |why: &str| Misbehaviour::BadAddress { url: text.to_owned(), why: why.to_owned() };
    let url = Url::parse(text.trim()).map_err(|error| match error.to_string().as_str() {
        "relative URL without a base" => bad("it needs a scheme, as in `http://localhost:8000/mcp`"),
        why => bad(why),
    })?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        "http" | "https" => Err(bad("it has no host")),
        scheme => Err(bad(&format!("`{scheme}:` is neither `http:` nor `https:`"))),
    }
}

pub(super) fn header_map(headers: &[(String, String)]) -> Result<HeaderMap, Misbehaviour> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let bad = || Misbehaviour::BadHeader { name: name.clone() };
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
        value.set_sensitive(true);
        map.append(key, value);
    }
    Ok(map)
}

/// A client for one address. Redirects are not followed: a tester wants to see them.
pub(super) fn client(url: &Url, connect_timeout: Duration) -> Result<reqwest::Client, Misbehaviour> {
    // Fails only when there is one already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = || {
        let builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            // A little less than the handshake has, so that it is told which of the two it was.
            .connect_timeout(connect_timeout.mul_f32(0.95))
            .user_agent(concat!("mcptest/", env!("CARGO_PKG_VERSION")));
        if is_loopback(url) { builder.no_proxy() } else { builder }
    };
    builder()
        .build()
        .or_else(|_| builder().tls_backend_preconfigured(bundled_roots()).build())
        .map_err(|error| Misbehaviour::BadAddress { url: url.to_string(), why: error.to_string() })
}

/// For systems that have no certificates of their own.
pub(crate) fn bundled_roots() -> rustls::ClientConfig {
    let roots = rustls::RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    match rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions() {
        Ok(builder) => builder.with_root_certificates(roots).with_no_client_auth(),
        Err(_) => rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth(),
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        address(text).unwrap_err().sentence("initialize")
    }

    #[test]
    fn an_address_that_makes_no_sense_is_told_why() {
        assert_eq!(
            refusal("localhost/mcp"),
            "\"localhost/mcp\" is not an address that can be used: it needs a scheme, as in `http://localhost:8000/mcp`"
        );
        assert_eq!(
            refusal("ftp://x/mcp"),
            "\"ftp://x/mcp\" is not an address that can be used: `ftp:` is neither `http:` nor `https:`"
        );
        assert!(refusal("localhost:8000/mcp").contains("`localhost:` is neither"));
    }

    #[test]
    fn the_loopback_is_known_in_every_spelling() {
        let loopback = |text: &str| is_loopback(&Url::parse(text).unwrap());
        assert!(
            loopback("http://localhost:1") && loopback("http://127.0.0.2") && loopback("http://[::1]:80")
        );
        assert!(!loopback("http://example.com"));
    }
}
