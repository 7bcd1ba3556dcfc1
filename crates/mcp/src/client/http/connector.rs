//! How are the HTTP client of one server, its headers and its address checked and built?

use super::super::Misbehaviour;
use http::{HeaderMap, HeaderName, HeaderValue};
use reqwest::Url;
use std::time::Duration;

pub(super) fn address(text: &str) -> Result<Url, Misbehaviour> {
    mcptest_http::server_url(text, "http://localhost:8000/mcp").map_err(|why| {
        Misbehaviour::BadAddress {
            url: text.to_owned(),
            why: why.to_string(),
        }
    })
}

pub(super) fn header_map(
    headers: &[(impl AsRef<str>, impl AsRef<str>)],
) -> Result<HeaderMap, Misbehaviour> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let bad = || Misbehaviour::BadHeader {
            name: name.as_ref().to_owned(),
        };
        let key = HeaderName::from_bytes(name.as_ref().as_bytes()).map_err(|_| bad())?;
        let mut value = HeaderValue::from_str(value.as_ref()).map_err(|_| bad())?;
        value.set_sensitive(true);
        map.append(key, value);
    }
    Ok(map)
}

/// A client for one address.
pub(super) fn client(
    url: &Url,
    connect_timeout: Duration,
) -> Result<reqwest::Client, Misbehaviour> {
    mcptest_http::client(url, |builder| {
        // A little less than the handshake has, so that the error says which of the two ran out.
        builder
            .connect_timeout(connect_timeout.mul_f32(0.95))
            .user_agent(mcptest_http::USER_AGENT)
    })
    .map_err(|error| Misbehaviour::BadAddress {
        url: url.to_string(),
        why: error.to_string(),
    })
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
            "\"localhost/mcp\" is not a valid address: it needs a scheme, as in `http://localhost:8000/mcp`"
        );
        assert_eq!(
            refusal("ftp://x/mcp"),
            "\"ftp://x/mcp\" is not a valid address: `ftp:` is neither `http:` nor `https:`"
        );
        assert!(refusal("localhost:8000/mcp").contains("`localhost:` is neither"));
    }
}
