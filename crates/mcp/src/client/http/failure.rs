//! No connection, or no answer on it: what went wrong?

use super::super::Misbehaviour;
use mcptest_http::{causes, root_cause};
use reqwest::Url;
use std::error::Error;
use std::io;
use std::time::Duration;

/// The meaning of an error before any answer.
pub(super) fn misbehaviour_of(
    error: &reqwest::Error,
    url: &Url,
    connect_timeout: Duration,
) -> Misbehaviour {
    let address = url.to_string();
    let refused = io_kinds(error).any(|kind| kind == io::ErrorKind::ConnectionRefused);
    let whole = chain(error);
    if error.is_connect() && refused {
        Misbehaviour::ConnectionRefused { address }
    } else if error.is_connect() && whole.contains("dns error") {
        Misbehaviour::UnknownHost {
            host: url.host_str().unwrap_or_default().to_owned(),
        }
    } else if error.is_timeout() {
        Misbehaviour::ConnectTimeout {
            url: address,
            after: connect_timeout,
        }
    } else if error.is_connect() && url.scheme() == "https" {
        Misbehaviour::Tls {
            url: address,
            why: tls_words(error),
        }
    } else {
        Misbehaviour::ConnectionLost {
            url: address,
            why: root_cause(error),
        }
    }
}

fn tls_words(error: &reqwest::Error) -> String {
    let why = root_cause(error);
    if why.contains("InvalidContentType") {
        return "the server does not speak TLS: is the address `http://…` instead?".to_owned();
    }
    why
}

fn chain(error: &(dyn Error + 'static)) -> String {
    causes(error)
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}

fn io_kinds<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = io::ErrorKind> + 'a {
    causes(error).filter_map(|error| error.downcast_ref::<io::Error>().map(io::Error::kind))
}
