//! Is a string the address of a server?

use reqwest::Url;
use thiserror::Error;

/// Why a string is not the address of a server. Its text follows a colon.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BadUrl {
    /// The URL has no scheme.
    #[error("it needs a scheme, as in `{example}`")]
    NoScheme {
        /// An address that would do.
        example: String,
    },
    /// The URL has no host.
    #[error("it has no host")]
    NoHost,
    /// The scheme belongs to another protocol.
    #[error("`{scheme}:` is neither `http:` nor `https:`")]
    OtherScheme {
        /// The scheme.
        scheme: String,
    },
    /// The text is not a URL.
    #[error("{0}")]
    Unreadable(String),
}

/// Parses the address in a string. The error gives the problem and `example`, a valid address.
pub fn server_url(text: &str, example: &str) -> Result<Url, BadUrl> {
    let url = Url::parse(text.trim()).map_err(|error| match error.to_string() {
        // The parser's error is not a type that reqwest shows.
        why if why == "relative URL without a base" => BadUrl::NoScheme {
            example: example.to_owned(),
        },
        why => BadUrl::Unreadable(why),
    })?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        "http" | "https" => Err(BadUrl::NoHost),
        scheme => Err(BadUrl::OtherScheme {
            scheme: scheme.to_owned(),
        }),
    }
}
