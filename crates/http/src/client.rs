//! Which certificates, proxies and redirects does mcptest's HTTP client use?

use crate::guard;
use reqwest::{Client, ClientBuilder, Url};
use std::sync::Arc;

/// A client for one address. It does not follow redirects, because a tester wants to see them and
/// keys must not leak.
pub fn client(
    url: &Url,
    settle: impl Fn(ClientBuilder) -> ClientBuilder,
) -> reqwest::Result<Client> {
    // Fails only when there is one already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = || {
        let builder = settle(Client::builder().redirect(reqwest::redirect::Policy::none()));
        if is_loopback(url) {
            builder.no_proxy()
        } else {
            builder
        }
    };
    builder()
        .build()
        .or_else(|_| builder().tls_backend_preconfigured(bundled_roots()).build())
}

/// The name that requests carry.
pub const USER_AGENT: &str = concat!("mcptest/", env!("CARGO_PKG_VERSION"));

/// Root certificates for systems without their own.
fn bundled_roots() -> rustls::ClientConfig {
    let roots = rustls::RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    match rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
    {
        Ok(builder) => builder.with_root_certificates(roots).with_no_client_auth(),
        Err(_) => rustls::ClientConfig::builder()
            .with_root_certificates(roots)
            .with_no_client_auth(),
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host.ends_with(".localhost") || guard::is_loopback(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_is_known_in_every_spelling() {
        let loopback = |text: &str| is_loopback(&Url::parse(text).unwrap());
        assert!(
            loopback("http://localhost:1")
                && loopback("http://127.0.0.2")
                && loopback("http://[::1]:80")
        );
        assert!(!loopback("http://example.com"));
    }
}
