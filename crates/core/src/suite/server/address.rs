//! Can the text of a `url` be connected to?

use crate::problem::Problem;
use crate::suite::read::Field;
use std::net::{Ipv4Addr, Ipv6Addr};

pub(super) fn read(field: &mut Field<'_>) -> Option<String> {
    let url = field.template()?;
    if let Some(Err(why)) = field.literal(&url).map(|url| check(&url)) {
        let problem = Problem::error(format!("{url:?} is not a valid address: {why}"));
        field.report(problem.help("write it as `url: http://localhost:3000/mcp`"));
    }
    Some(url)
}

fn check(url: &str) -> Result<(), String> {
    let (scheme, rest) = url
        .trim()
        .split_once("://")
        .ok_or("it does not start with `http://` or `https://`")?;
    if !["http", "https"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known))
    {
        return Err(format!("`{scheme}:` is neither `http:` nor `https:`"));
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let place = authority
        .rsplit_once('@')
        .map_or(authority, |(_, place)| place);
    let (host, port) = match place.rfind(']') {
        Some(end) => (
            &place[..=end],
            place[end + 1..]
                .strip_prefix(':')
                .unwrap_or(&place[end + 1..]),
        ),
        None => place.split_once(':').unwrap_or((place, "")),
    };
    check_host(host)?;
    if port.is_empty() || port.parse::<u16>().is_ok() {
        Ok(())
    } else {
        Err(format!("{port:?} is not a port"))
    }
}

fn check_host(host: &str) -> Result<(), String> {
    if host.is_empty() {
        return Err("it has no host".to_owned());
    }
    let is_host = match host
        .strip_prefix('[')
        .and_then(|inner| inner.strip_suffix(']'))
    {
        Some(inner) => inner.parse::<Ipv6Addr>().is_ok(),
        None if host.split('.').count() == 4
            && host.chars().all(|c| c.is_ascii_digit() || c == '.') =>
        {
            host.parse::<Ipv4Addr>().is_ok()
        }
        None => {
            !host.contains(|c: char| c.is_whitespace() || c.is_control() || "<>[]\\^|".contains(c))
        }
    };
    if is_host {
        Ok(())
    } else {
        Err(format!("{host:?} is not a host"))
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn addresses_of_every_kind_are_taken() {
        for url in [
            "http://localhost:3000/mcp",
            "HTTPS://example.com",
            "http://[::1]:8000/mcp?x=1#y",
            "https://user:pa:ss@example.com:443/",
            "http://127.0.0.1/",
            "http://bücher.example/a b",
            " http://localhost/ ",
        ] {
            assert_eq!(check(url), Ok(()), "{url}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_with_the_reason() {
        for (url, why) in [
            ("", "it does not start with `http://` or `https://`"),
            (
                "localhost:3000/mcp",
                "it does not start with `http://` or `https://`",
            ),
            ("ftp://localhost", "`ftp:` is neither `http:` nor `https:`"),
            ("http:///mcp", "it has no host"),
            ("http://:80/", "it has no host"),
            ("http://localhost:99999/", "\"99999\" is not a port"),
            ("http://localhost:mcp/", "\"mcp\" is not a port"),
            ("http://my host/", "\"my host\" is not a host"),
            ("http://1.2.3.400/", "\"1.2.3.400\" is not a host"),
            ("http://[::1::]/", "\"[::1::]\" is not a host"),
        ] {
            assert_eq!(check(url), Err(why.to_owned()), "{url}");
        }
    }
}
