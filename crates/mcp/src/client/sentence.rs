//! A misbehaviour in the words that a user reads.

use super::misbehaviour::{Misbehaviour, Moment};
use mcptest_core::words::count;
use std::time::Duration;

impl Misbehaviour {
    /// The sentence for `asked`, such as `tools/call get_weather`.
    #[expect(
        clippy::too_many_lines,
        reason = "an arm for each variant, so that none is without words"
    )]
    pub fn sentence(&self, asked: &str) -> String {
        match self {
            Self::CannotStart(error) => error.to_string(),
            Self::Exited { moment, status } => {
                let status = status
                    .as_ref()
                    .map_or_else(String::new, |status| format!(" with {status}"));
                format!("it exited{status} {}", moment_words(*moment, asked))
            }
            Self::ClosedOutput { moment } => {
                format!(
                    "it closed its output while it was still running, {}",
                    moment_words(*moment, asked)
                )
            }
            Self::NoAnswer { after, unread } => {
                let unread = if *unread {
                    "; it did not even read the request from its input"
                } else {
                    ""
                };
                format!(
                    "no answer to {asked} within {}{unread}",
                    duration_words(*after)
                )
            }
            Self::NoFirstAnswer { after, unread } => {
                let unread = if *unread {
                    "; it did not even read its input"
                } else {
                    ""
                };
                // Where the legacy question was asked as well, the server did not answer that one either.
                let era = if asked == "server/discover" && unread.is_empty() {
                    "; if it ignores unknown requests, set `era: legacy`"
                } else {
                    ""
                };
                format!(
                    "no answer to {asked} within {}{unread}; if the server takes longer to start, \
                    raise `connect_timeout` or `--connect-timeout`{era}",
                    duration_words(*after)
                )
            }
            Self::Malformed { why, text } => {
                format!("the answer to {asked} is not a JSON-RPC message: {why}; it is {text:?}")
            }
            Self::WrongId {
                asked: id,
                answered,
            } => {
                format!("the answer to {asked} has the id {answered} instead of {id}")
            }
            Self::TooLong { bytes, limit } => {
                let bytes = bytes.map_or_else(String::new, |bytes| format!("{bytes} bytes, and "));
                format!(
                    "the answer to {asked} is too large: {bytes}the limit is {limit} bytes (`max_message_bytes`)"
                )
            }
            Self::NotUtf8 { text } => format!("the answer to {asked} is not UTF-8: {text:?}"),
            Self::ErrorWithoutId { error } => {
                format!("the server answered {asked} with an error that names no request: {error}")
            }
            Self::Refused { error } => format!("{asked} was refused: {error}"),
            Self::UnknownVersion { offered, answered } => format!(
                "it answered protocol version {answered:?}, which does not exist; {offered:?} was offered"
            ),
            Self::NoCommonVersion { supported } => format!(
                "it supports only protocol versions {}, none of which `era:` allows",
                supported.join(", ")
            ),
            Self::BadResult { why } => format!("the answer to {asked} {why}"),
            Self::RepeatingCursor { cursor, pages } => {
                format!(
                    "{asked} does not end: the cursor {cursor:?} came again after {}",
                    count(*pages, "page")
                )
            }
            Self::TooManyPages { pages } => {
                format!(
                    "{asked} does not end: mcptest read {}",
                    count(*pages, "page")
                )
            }
            Self::TooManyRounds { rounds } => {
                format!(
                    "{asked} asks for more input without end: mcptest repeated it {rounds} times"
                )
            }
            Self::InputRefused { method, error } => format!(
                "{asked} cannot continue: the server asks {method}, and the answer is {error}; \
                script an answer under `responses:`"
            ),
            Self::BadAddress { url, why } => {
                format!("{url:?} is not a valid address: {why}")
            }
            Self::BadHeader { name } => {
                format!(
                    "the header {name:?} cannot be sent: its name or value has characters that HTTP does not allow"
                )
            }
            Self::ConnectionRefused { address: url } => {
                format!(
                    "nothing listens at {url} (connection refused): is the server running, and is the port right?"
                )
            }
            Self::UnknownHost { host } => {
                format!("unknown host {host:?} (the name has no address)")
            }
            Self::Tls { url, why } => format!("no secure connection to {url}: {why}"),
            Self::ConnectTimeout { url, after } => {
                format!(
                    "no connection to {url} within {} (`connect_timeout`, `--connect-timeout`)",
                    duration_words(*after)
                )
            }
            Self::ConnectionLost { url, why } => {
                format!("the connection to {url} broke during {asked}: {why}")
            }
            Self::Redirect { status, location } => {
                let location = location.as_ref().map_or_else(
                    || "without saying where to".to_owned(),
                    |location| {
                        format!("to {location}: put that address into `url` if it is the right one")
                    },
                );
                format!(
                    "{asked} was redirected (HTTP {status}) {location}; mcptest does not follow \
                redirects"
                )
            }
            Self::Unauthorized {
                challenge,
                had_credentials,
                body,
            } => {
                let what = if *had_credentials {
                    "the server rejected the credentials: check the variable of \
                    `auth.bearer_token_env`, or the `Authorization` header"
                } else {
                    "it requires credentials: set `auth: {bearer_token_env: NAME}`, or a header \
                    such as `Authorization: {env: NAME}`"
                };
                let challenge = challenge
                    .as_ref()
                    .map_or_else(String::new, |text| format!(" (WWW-Authenticate: {text})"));
                format!(
                    "the server refused {asked} with HTTP 401{challenge}; {what}{}",
                    body_words(body)
                )
            }
            Self::Forbidden { body } => format!(
                "the server refused {asked} with HTTP 403: it does not allow the credentials, or \
                the `Origin` and `Host` of the request{}",
                body_words(body)
            ),
            Self::NotFound { url, body } => format!(
                "the server answered {asked} with HTTP 404: is {url} the whole address, with its \
                path (often `/mcp`)?{}",
                body_words(body)
            ),
            Self::SessionExpired => {
                format!(
                    "the server answered {asked} with HTTP 404: the session has ended, and a new \
                    session did not help"
                )
            }
            Self::TryLater {
                status,
                retry_after,
                tries,
                body,
            } => {
                let wish = retry_after.as_ref().map_or_else(
                    || "without a Retry-After".to_owned(),
                    |after| format!("with Retry-After: {after}"),
                );
                let tries = if *tries == 1 {
                    "once".to_owned()
                } else {
                    format!("{tries} times")
                };
                format!(
                    "the server answered {asked} with HTTP {status} {wish}; tried {tries} within \
                    the timeout{}",
                    body_words(body)
                )
            }
            Self::ServerError { status, body } => {
                format!(
                    "the server answered {asked} with HTTP {status}, an error inside the server{}",
                    body_words(body)
                )
            }
            Self::UnexpectedStatus { status, body } => {
                format!(
                    "the server answered {asked} with HTTP {status}{}",
                    body_words(body)
                )
            }
            Self::Html { status, start } => format!(
                "the server answered {asked} with a web page (HTTP {status}, {start:?}): is this \
                the address of an MCP endpoint (often `/mcp`)?"
            ),
            Self::WrongContentType { found, body } => {
                let found = found.as_ref().map_or_else(
                    || "without a Content-Type".to_owned(),
                    |found| format!("as {found:?}"),
                );
                format!(
                    "the server answered {asked} {found} instead of application/json or \
                    text/event-stream{}",
                    body_words(body)
                )
            }
            Self::EmptyBody { status } => {
                format!("the server answered {asked} with HTTP {status} and no body")
            }
            Self::TruncatedBody { bytes, why } => {
                format!("the answer to {asked} was cut off after {bytes} bytes: {why}")
            }
            Self::StreamCut {
                events,
                inside_event,
                resumed,
                why,
            } => {
                let inside = if *inside_event {
                    ", inside an event"
                } else {
                    ""
                };
                let resumed = if *resumed > 0 {
                    format!("; continued {resumed} times")
                } else {
                    String::new()
                };
                let why = why
                    .as_ref()
                    .map_or_else(String::new, |why| format!(": {why}"));
                let events = count(*events, "event");
                format!(
                    "the event stream ended before the answer to {asked}, after {events}{inside}{resumed}{why}"
                )
            }
        }
    }
}

fn moment_words(moment: Moment, asked: &str) -> String {
    match moment {
        Moment::Handshake => format!("before it answered {asked}"),
        Moment::Pending => format!("while {asked} was open"),
        Moment::Before => format!("before {asked} was sent"),
    }
}

fn body_words(body: &str) -> String {
    if body.is_empty() {
        String::new()
    } else {
        format!("; the answer: {body:?}")
    }
}

/// `2 s`, `1.5 s`, `200 ms`.
pub(super) fn duration_words(duration: Duration) -> String {
    let ms = duration.as_millis();
    match (ms / 1000, ms % 1000) {
        (0, ms) => format!("{ms} ms"),
        (s, 0) => format!("{s} s"),
        (s, rest) => format!("{s}.{} s", format!("{rest:03}").trim_end_matches('0')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        let words = |ms| duration_words(Duration::from_millis(ms));
        assert_eq!(
            [words(200), words(2000), words(1500), words(1050)],
            ["200 ms", "2 s", "1.5 s", "1.05 s"]
        );
    }
}
