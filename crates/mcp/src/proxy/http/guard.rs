//! May this request come in? A web page must not reach a local server through the user's browser.

use http::header::{self, HeaderMap};
use std::net::IpAddr;

/// Which hosts and origins are let in.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// True when only this machine can connect.
    pub is_local: bool,
    /// Host names that are let in besides those of this machine.
    pub allowed: Vec<String>,
}

impl Guard {
    /// Why a request with these headers is refused, if it is.
    pub(super) fn refusal(&self, headers: &HeaderMap) -> Option<String> {
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        let Some(host) = text(header::HOST) else {
            return Some("the request has no Host header".to_owned());
        };
        if !self.lets_in(name_of(host)) {
            return Some(format!(
                "the Host `{host}` is not let in; if it should be, start the proxy with --allow-host {}",
                name_of(host)
            ));
        }
        let origin = text(header::ORIGIN).filter(|origin| {
            let host = origin.split_once("://").map(|(_, host)| name_of(host));
            !host.is_some_and(|host| is_loopback(host) || self.is_allowed(host))
        })?;
        Some(format!("the Origin `{origin}` is not let in; a page of that site may not use this server"))
    }

    /// DNS rebinding needs a name, so an address is what it says where others than this machine may connect.
    fn lets_in(&self, host: &str) -> bool {
        is_loopback(host) || self.is_allowed(host) || (!self.is_local && host.parse::<IpAddr>().is_ok())
    }

    fn is_allowed(&self, host: &str) -> bool {
        self.allowed.iter().any(|allowed| allowed.eq_ignore_ascii_case(host))
    }
}

/// The host of `host:port`, without the brackets of an address.
fn name_of(host: &str) -> &str {
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split(']').next().unwrap_or_default();
    }
    host.rsplit_once(':').map_or(host, |(host, _)| host)
}

pub(super) fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(guard: &Guard, host: &str, origin: Option<&str>) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        guard.refusal(&headers)
    }

    #[test]
    fn only_names_of_this_machine_are_let_in() {
        let guard = Guard { is_local: true, allowed: vec!["box.internal".into()] };
        for host in ["localhost:80", "127.0.0.1", "[::1]:9", "LOCALHOST", "box.internal:1"] {
            assert_eq!(refusal(&guard, host, None), None, "{host}");
        }
        for host in ["evil.example:80", "192.168.0.7", "localhost.evil.example", ""] {
            assert!(refusal(&guard, host, None).is_some(), "{host}");
        }
    }

    #[test]
    fn a_page_of_another_site_is_refused() {
        let guard = Guard { is_local: true, allowed: Vec::new() };
        assert_eq!(refusal(&guard, "localhost", Some("http://localhost:6274")), None);
        for origin in ["https://evil.example", "null", "http://localhost.evil.example"] {
            assert!(refusal(&guard, "localhost", Some(origin)).is_some(), "{origin}");
        }
    }

    #[test]
    fn where_others_may_connect_an_address_is_let_in_and_a_name_is_not() {
        let guard = Guard { is_local: false, allowed: Vec::new() };
        assert_eq!(refusal(&guard, "192.168.0.7:80", None), None);
        assert!(refusal(&guard, "rebound.example:80", None).is_some());
    }
}
