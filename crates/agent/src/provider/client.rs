//! The HTTP client of a provider: certificates, proxies, redirects.

use reqwest::Url;
use std::sync::Arc;
use std::time::Duration;

/// How long a connection may take; past it another try is worth more.
const CONNECT: Duration = Duration::from_secs(15);

/// A client for one address. Redirects are not followed: they would take the key along.
pub(super) fn client(base: &Url) -> reqwest::Result<reqwest::Client> {
    // Fails only when there is one already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = || {
        let builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT)
            .user_agent(concat!("mcptest/", env!("CARGO_PKG_VERSION")));
        if is_loopback(base) { builder.no_proxy() } else { builder }
    };
    builder().build().or_else(|_| builder().tls_backend_preconfigured(bundled_roots()).build())
}

/// For systems that have no certificates of their own.
fn bundled_roots() -> rustls::ClientConfig {
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
