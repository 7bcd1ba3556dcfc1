//! What do a request's headers ask for?

use http::{HeaderMap, header};

/// The forms of an answer that the client accepts: JSON, or an event stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Accepts {
    pub(super) json: bool,
    pub(super) events: bool,
}

impl Accepts {
    /// Without the header anything is accepted.
    pub(super) fn read(headers: &HeaderMap) -> Self {
        let mut values = headers.get_all(header::ACCEPT).iter().peekable();
        if values.peek().is_none() {
            return Self {
                json: true,
                events: true,
            };
        }
        let mut accepts = Self {
            json: false,
            events: false,
        };
        for value in values {
            for range in value.to_str().unwrap_or_default().split(',') {
                let media = range
                    .split(';')
                    .next()
                    .unwrap_or_default()
                    .trim()
                    .to_ascii_lowercase();
                accepts.json |=
                    matches!(media.as_str(), "application/json" | "application/*" | "*/*");
                accepts.events |= matches!(media.as_str(), "text/event-stream" | "text/*" | "*/*");
            }
        }
        accepts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(value: &str) -> (bool, bool) {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, value.parse().unwrap());
        let Accepts { json, events } = Accepts::read(&headers);
        (json, events)
    }

    #[test]
    fn both_kinds_are_found_in_any_order_and_spelling() {
        assert_eq!(accepts("text/event-stream, application/json"), (true, true));
        assert_eq!(accepts("Application/JSON;q=0.9,text/*"), (true, true));
        assert_eq!(accepts("*/*"), (true, true));
        assert_eq!(accepts("application/json"), (true, false));
        assert_eq!(accepts("text/html"), (false, false));
    }
}
