//! Which address does `ADDR[:PORT]` mean?

use crate::listen::bind;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;
use std::{fmt, io};
use thiserror::Error;
use tokio::net::TcpListener;

const LOOPBACK: &str = "127.0.0.1";

/// The address to listen on: a port of this machine, an address, or both. Port 0 picks a free port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    host: String,
    port: u16,
}

/// A text that is not an address.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "write a port (8080), an address (127.0.0.1) or both (127.0.0.1:8080); port 0 picks a free one"
)]
pub struct BadAddress;

impl Address {
    /// Any free port of this machine alone.
    pub fn loopback() -> Self {
        Self {
            host: LOOPBACK.to_owned(),
            port: 0,
        }
    }

    /// Listens on the address.
    pub async fn bind(&self) -> io::Result<TcpListener> {
        bind((self.host.as_str(), self.port)).await
    }
}

impl FromStr for Address {
    type Err = BadAddress;

    fn from_str(written: &str) -> Result<Self, BadAddress> {
        let (host, port) = host_and_port(written).ok_or(BadAddress)?;
        let is_here = host.is_empty() || host.eq_ignore_ascii_case("localhost");
        let host = if is_here { LOOPBACK } else { host };
        is_host(host)
            .then(|| Self {
                host: host.to_owned(),
                port,
            })
            .ok_or(BadAddress)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') {
            write!(f, "[{host}]:{port}")
        } else {
            write!(f, "{host}:{port}")
        }
    }
}

fn host_and_port(written: &str) -> Option<(&str, u16)> {
    if let Ok(port) = written.parse() {
        return Some((LOOPBACK, port));
    }
    if let Some(rest) = written.strip_prefix('[') {
        let (host, rest) = rest.split_once(']')?;
        let port = if rest.is_empty() {
            0
        } else {
            rest.strip_prefix(':')?.parse().ok()?
        };
        return host.parse::<Ipv6Addr>().is_ok().then_some((host, port));
    }
    match written.split_once(':') {
        None => (!written.is_empty()).then_some((written, 0)),
        Some((_, port)) if port.contains(':') => Some((written, 0)),
        Some((host, port)) => Some((host, port.parse().ok()?)),
    }
}

/// Returns true for a host name. A bare number is a valid address too, but never intended.
fn is_host(host: &str) -> bool {
    let is_name = host
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
        && host.bytes().any(|byte| byte.is_ascii_alphabetic());
    is_name || host.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(written: &str) -> Option<String> {
        written
            .parse::<Address>()
            .ok()
            .map(|address| address.to_string())
    }

    #[test]
    fn an_address_may_leave_out_its_port_or_its_host() {
        for (written, expected) in [
            ("127.0.0.1", "127.0.0.1:0"),
            ("0.0.0.0", "0.0.0.0:0"),
            ("localhost", "127.0.0.1:0"),
            ("localhost:80", "127.0.0.1:80"),
            ("8080", "127.0.0.1:8080"),
            (":8080", "127.0.0.1:8080"),
            ("box.internal:1", "box.internal:1"),
            ("[::1]:9", "[::1]:9"),
            ("[::1]", "[::1]:0"),
            ("::1", "[::1]:0"),
        ] {
            assert_eq!(read(written).as_deref(), Some(expected), "{written}");
        }
    }

    #[test]
    fn what_is_no_address_is_told_how_to_write_one() {
        for written in [
            "",
            "localhost:x",
            "[::1",
            "[box]:1",
            "127.0.0.1:70000",
            "99999",
            "http://x",
            "a b",
        ] {
            assert_eq!(read(written), None, "{written}");
        }
        assert!(BadAddress.to_string().contains("127.0.0.1:8080"));
    }
}
