//! Server-sent events: bytes to events, and events to bytes.

use std::fmt::Write as _;

/// One event of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// Its type; `None` is `message`.
    pub event: Option<String>,
    /// The id to resume after.
    pub id: Option<String>,
    /// The delay before connecting again.
    pub retry_ms: Option<u64>,
    /// Its data; `None` without a `data` line.
    pub data: Option<String>,
}

/// Why a stream cannot be read on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// An event exceeds the limit.
    #[error("an event of the stream is larger than {0} bytes")]
    TooLong(usize),
    /// A line is not UTF-8.
    #[error("the stream is not UTF-8")]
    NotUtf8,
}

/// Events from bytes that arrive in any pieces.
#[derive(Debug, Default)]
pub struct Parser {
    limit: usize,
    line: Vec<u8>,
    after_return: bool,
    at_start: bool,
    event: Event,
    event_bytes: usize,
    is_open: bool,
}

impl Parser {
    /// Events of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            at_start: true,
            ..Self::default()
        }
    }

    /// Adds bytes, and returns the events that they complete.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Result<Vec<Event>, SseError> {
        let mut events = Vec::new();
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_return) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) else {
                self.line.extend_from_slice(bytes);
                break;
            };
            self.line.extend_from_slice(&bytes[..end]);
            self.after_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            self.end_line(&mut events)?;
        }
        if self.line.len() + self.event_bytes > self.limit {
            return Err(SseError::TooLong(self.limit));
        }
        Ok(events)
    }

    /// True if the bytes so far end inside an event.
    pub fn is_inside_event(&self) -> bool {
        self.is_open || !self.line.is_empty()
    }

    fn end_line(&mut self, events: &mut Vec<Event>) -> Result<(), SseError> {
        let line = std::mem::take(&mut self.line);
        self.event_bytes += line.len();
        if self.event_bytes > self.limit {
            return Err(SseError::TooLong(self.limit));
        }
        let mut text = std::str::from_utf8(&line).map_err(|_| SseError::NotUtf8)?;
        if std::mem::take(&mut self.at_start) {
            text = text.strip_prefix('\u{feff}').unwrap_or(text);
        }
        if text.is_empty() {
            if std::mem::take(&mut self.is_open) {
                events.push(std::mem::take(&mut self.event));
            }
            self.event_bytes = 0;
        } else if !text.starts_with(':') {
            let (field, value) = text.split_once(':').unwrap_or((text, ""));
            self.set(field, value.strip_prefix(' ').unwrap_or(value));
        }
        Ok(())
    }

    fn set(&mut self, field: &str, value: &str) {
        match field {
            "event" => self.event.event = Some(value.to_owned()),
            "data" => match &mut self.event.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.event.data = Some(value.to_owned()),
            },
            "id" if !value.contains('\0') => self.event.id = Some(value.to_owned()),
            "retry" => match value.parse() {
                Ok(retry_ms) => self.event.retry_ms = Some(retry_ms),
                Err(_) => return,
            },
            _ => return,
        }
        self.is_open = true;
    }
}

/// A message as an event.
pub fn message(data: String) -> Event {
    Event {
        event: Some("message".to_owned()),
        data: Some(data),
        ..Event::default()
    }
}

/// An event as bytes of a stream.
pub fn encode(event: &Event) -> String {
    let mut text = String::new();
    let mut line = |field: &str, value: &str| {
        let _infallible = writeln!(text, "{field}: {value}");
    };
    if let Some(kind) = &event.event {
        line("event", kind);
    }
    if let Some(id) = &event.id {
        line("id", id);
    }
    if let Some(retry_ms) = event.retry_ms {
        line("retry", &retry_ms.to_string());
    }
    for part in event.data.iter().flat_map(|data| data.split('\n')) {
        line("data", part);
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn events(text: &str, chunk: usize) -> Vec<Event> {
        let mut parser = Parser::new(1 << 20);
        text.as_bytes()
            .chunks(chunk.max(1))
            .flat_map(|bytes| parser.feed(bytes).unwrap())
            .collect()
    }

    #[test]
    fn comments_line_ends_and_many_data_lines_follow_the_standard() {
        let text =
            ": hi\r\nevent: message\rid: 7\ndata: a\ndata:  b\r\n\r\n: ping\n\nretry: 50\n\n";
        for chunk in 1..text.len() {
            let seen = events(text, chunk);
            assert_eq!(seen.len(), 2, "{seen:?}");
            assert_eq!(seen[0].data.as_deref(), Some("a\n b"));
            assert_eq!(seen[0].id.as_deref(), Some("7"));
            assert_eq!(
                seen[1],
                Event {
                    retry_ms: Some(50),
                    ..Event::default()
                }
            );
        }
    }

    #[test]
    fn a_stream_that_never_ends_its_event_is_refused() {
        let mut parser = Parser::new(100);
        let mut fed = (0..20).map(|_| parser.feed(b"data: 0123456789\n"));
        assert!(fed.any(|events| events == Err(SseError::TooLong(100))));
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_parsed_back(data in "[a-z \n]{0,40}", id in "[a-z0-9]{1,5}", chunk in 1usize..20) {
            let event = Event { id: Some(id), data: Some(data), ..Event::default() };
            prop_assert_eq!(events(&encode(&event), chunk), vec![event]);
        }
    }
}
