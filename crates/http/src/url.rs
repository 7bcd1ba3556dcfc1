//! Is this an address that requests can be sent to?

use reqwest::Url;

/// The address in a string, or what is wrong with it; `example` is one that would do.
pub fn server_url(text: &str, example: &str) -> Result<Url, String> {
    let url = Url::parse(text.trim()).map_err(|error| match error.to_string().as_str() {
        "relative URL without a base" => format!("it needs a scheme, as in `{example}`"),
        why => why.to_owned(),
    })?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        "http" | "https" => Err("it has no host".to_owned()),
        scheme => Err(format!("`{scheme}:` is neither `http:` nor `https:`")),
    }
}
