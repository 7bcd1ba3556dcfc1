//! Is this request allowed? A web page must not reach a local server through the user's browser.

use http::{HeaderMap, StatusCode, Uri, header};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The allowed hosts and origins: names of this machine, the listening address, and configured
/// hosts.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// True if only this machine can connect.
    is_local: bool,
    /// Further allowed host names.
    allowed: Vec<String>,
    /// The option that allows a host name, for the message of a refusal.
    option: Option<&'static str>,
}

impl Guard {
    /// The guard of a server that listens on this address.
    pub fn for_address(address: IpAddr) -> Self {
        Self {
            is_local: address.is_loopback(),
            ..Self::default()
        }
    }

    /// Also allows these host names, which come from `option` (such as `start the proxy with
    /// --allow-host`).
    #[must_use]
    pub fn allow(self, allowed: Vec<String>, option: &'static str) -> Self {
        Self {
            allowed,
            option: Some(option),
            ..self
        }
    }

    /// Why a request is refused, if it is.
    pub fn refusal(&self, uri: &Uri, headers: &HeaderMap) -> Option<(StatusCode, String)> {
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        if headers.get_all(header::HOST).iter().nth(1).is_some() {
            return Some((
                StatusCode::BAD_REQUEST,
                "the request has more than one `Host`".to_owned(),
            ));
        }
        let address = uri.authority().map(http::uri::Authority::as_str);
        let hosts: Vec<&str> = address.into_iter().chain(text(header::HOST)).collect();
        if hosts.is_empty() {
            return Some((
                StatusCode::FORBIDDEN,
                "the request has no Host header".to_owned(),
            ));
        }
        let is_stranger = |host: &&str| !name_of(host).is_some_and(|name| self.lets_in(name));
        if let Some(host) = hosts.into_iter().find(is_stranger) {
            let name = name_of(host);
            let hint = match (self.option, name) {
                (Some(option), Some(name)) => format!("if it should be, {option} {name}"),
                _ => "this protects from DNS rebinding".to_owned(),
            };
            return Some((
                StatusCode::FORBIDDEN,
                format!("the Host `{host}` is not allowed; {hint}"),
            ));
        }
        let origin = text(header::ORIGIN).filter(|origin| {
            let host = origin.split_once("://").and_then(|(_, host)| name_of(host));
            !host.is_some_and(|host| is_loopback(host) || self.is_allowed(host))
        })?;
        let sentence = format!(
            "the Origin `{origin}` is not allowed: pages of that site may not use this server"
        );
        Some((StatusCode::FORBIDDEN, sentence))
    }

    /// Returns true if the host is allowed. DNS rebinding needs a name, so an IP address is safe if
    /// other machines may connect.
    fn lets_in(&self, host: &str) -> bool {
        is_loopback(host)
            || self.is_allowed(host)
            || (!self.is_local && host.parse::<IpAddr>().is_ok())
    }

    fn is_allowed(&self, host: &str) -> bool {
        self.allowed
            .iter()
            .any(|allowed| allowed.eq_ignore_ascii_case(host))
    }
}

/// The host of `host:port`, without the brackets of an address; `None` if it is not a name or an
/// address.
fn name_of(authority: &str) -> Option<&str> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => rest
            .split_once(']')
            .filter(|(host, _)| host.parse::<Ipv6Addr>().is_ok())?,
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let is_port = port.is_empty()
        || port
            .strip_prefix(':')?
            .bytes()
            .all(|byte| byte.is_ascii_digit());
    (is_port && !host.is_empty()).then_some(host)
}

/// True for the names of this machine: `localhost`, and the addresses of its loopback.
pub(crate) fn is_loopback(host: &str) -> bool {
    let is_v4 = || {
        host.parse::<Ipv4Addr>()
            .is_ok_and(|address| address.is_loopback())
    };
    host.eq_ignore_ascii_case("localhost")
        || is_v4()
        || host
            .parse::<Ipv6Addr>()
            .is_ok_and(|address| address.is_loopback())
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
        guard
            .refusal(&Uri::from_static("/mcp"), &headers)
            .map(|(_, sentence)| sentence)
    }

    fn local() -> Guard {
        Guard::for_address(Ipv4Addr::LOCALHOST.into())
    }

    #[test]
    fn only_names_of_this_machine_are_let_in() {
        let guard = local().allow(vec!["box.internal".into()], "start it with --allow-host");
        for host in [
            "localhost",
            "localhost:80",
            "127.0.0.1",
            "127.9.9.9:1",
            "[::1]:9",
            "[::1]",
            "LOCALHOST:1",
        ] {
            assert_eq!(refusal(&guard, host, None), None, "{host}");
        }
        assert_eq!(refusal(&guard, "box.internal:1", None), None);
        for host in [
            "evil.example:80",
            "192.168.0.7",
            "localhost.evil.example",
            "127.0.0.1.evil.com:80",
            "[::2]",
            "",
        ] {
            assert!(refusal(&guard, host, None).is_some(), "{host}");
        }
        for host in [
            "localhost:80:evil",
            "[::1]evil",
            "localhost@evil.example",
            "[::1",
        ] {
            assert!(refusal(&guard, host, None).is_some(), "{host}");
        }
    }

    #[test]
    fn a_refusal_names_the_option_where_there_is_one() {
        let guard = local().allow(Vec::new(), "start the proxy with --allow-host");
        let words = refusal(&guard, "evil.example:80", None).unwrap();
        assert!(
            words.ends_with("if it should be, start the proxy with --allow-host evil.example"),
            "{words}"
        );
        let words = refusal(&local(), "evil.example:80", None).unwrap();
        assert_eq!(
            words,
            "the Host `evil.example:80` is not allowed; this protects from DNS rebinding"
        );
    }

    #[test]
    fn the_host_must_be_there_once_and_an_absolute_address_is_held_to_the_same() {
        let mut headers = HeaderMap::new();
        let status = |uri: &'static str, headers: &HeaderMap| {
            local()
                .refusal(&Uri::from_static(uri), headers)
                .map(|(status, _)| status.as_u16())
        };
        assert_eq!(status("/mcp", &headers), Some(403));
        headers.insert(header::HOST, "localhost".parse().unwrap());
        assert_eq!(status("/mcp", &headers), None);
        assert_eq!(status("http://evil.example/mcp", &headers), Some(403));
        assert_eq!(status("http://localhost/mcp", &headers), None);
        headers.insert(header::HOST, "evil.example".parse().unwrap());
        assert_eq!(status("http://localhost/mcp", &headers), Some(403));
        headers.insert(header::HOST, "localhost".parse().unwrap());
        headers.append(header::HOST, "evil.example".parse().unwrap());
        assert_eq!(status("/mcp", &headers), Some(400));
    }

    #[test]
    fn a_page_of_another_site_is_refused() {
        for origin in ["http://localhost:6274", "https://[::1]:3000"] {
            assert_eq!(
                refusal(&local(), "localhost", Some(origin)),
                None,
                "{origin}"
            );
        }
        for origin in [
            "https://evil.example",
            "null",
            "http://localhost.evil.example",
            "file://",
        ] {
            assert!(
                refusal(&local(), "localhost", Some(origin)).is_some(),
                "{origin}"
            );
        }
    }

    #[test]
    fn where_others_may_connect_an_address_is_let_in_and_a_name_is_not() {
        let guard = Guard::for_address(Ipv4Addr::UNSPECIFIED.into());
        assert_eq!(refusal(&guard, "192.168.0.7:80", None), None);
        assert!(refusal(&guard, "rebound.example:80", None).is_some());
        assert!(refusal(&guard, "192.168.0.7:80", Some("http://rebound.example")).is_some());
    }
}
