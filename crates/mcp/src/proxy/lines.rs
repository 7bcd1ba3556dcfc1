//! Bytes of a stdio server, in any pieces, become entries of a tape.

use super::record::ToEntries;
use crate::frame::DEFAULT_MAX_MESSAGE_BYTES;
use crate::tape::{Direction, Entry, Event};
use bytes::Bytes;
use serde_json::value::RawValue;

/// The part to keep of a line that is too long or not JSON.
pub(crate) const EXCERPT: usize = 64 << 10;

/// An observation of a stdio server.
#[derive(Debug)]
pub(crate) enum LineSeen {
    /// Bytes of one side's stream of messages.
    Bytes { from: Direction, bytes: Bytes },
    /// Bytes of the server's standard error.
    Stderr(Bytes),
    /// The end of one side's stream.
    Closed(Direction),
    /// Anything else.
    Event(Event),
}

/// Splits lines and records them.
#[derive(Debug, Default)]
pub(crate) struct LineEntries {
    client: Line,
    server: Line,
    stderr: Line,
}

impl ToEntries for LineEntries {
    type Seen = LineSeen;

    fn note(&mut self, at_us: u64, seen: LineSeen, entries: &mut Vec<Entry>) {
        match seen {
            LineSeen::Bytes { from, bytes } => {
                self.side(from)
                    .feed(&bytes, |line| entries.extend(entry(at_us, from, line)));
            }
            LineSeen::Stderr(bytes) => self
                .stderr
                .feed(&bytes, |line| entries.push(stderr(at_us, line))),
            LineSeen::Closed(by) => {
                self.side(by)
                    .end(|line| entries.extend(entry(at_us, by, line)));
                entries.push(Entry {
                    event: Some(Event::Closed { by }),
                    ..Entry::at(at_us)
                });
            }
            LineSeen::Event(event) => {
                if matches!(event, Event::Exit { .. }) {
                    self.server
                        .end(|line| entries.extend(entry(at_us, Direction::Server, line)));
                    self.stderr.end(|line| entries.push(stderr(at_us, line)));
                }
                entries.push(Entry {
                    event: Some(event),
                    ..Entry::at(at_us)
                });
            }
        }
    }
}

impl LineEntries {
    fn side(&mut self, from: Direction) -> &mut Line {
        match from {
            Direction::Client => &mut self.client,
            Direction::Server => &mut self.server,
        }
    }
}

/// One line verbatim, or its beginning and its length.
#[derive(Clone, Copy)]
pub(crate) struct Kept<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) length: usize,
}

/// The line that is being received.
#[derive(Debug, Default)]
pub(crate) struct Line {
    kept: Vec<u8>,
    length: usize,
}

impl Line {
    /// Adds bytes, and returns each line that they complete.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], mut complete: impl FnMut(Kept<'_>)) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            if self.length == 0 {
                complete(Kept {
                    bytes: &bytes[..end],
                    length: end,
                });
            } else {
                self.push(&bytes[..end]);
                self.end(&mut complete);
            }
            bytes = &bytes[end + 1..];
        }
        self.push(bytes);
    }

    /// Adds bytes of the same line.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.length += bytes.len();
        if self.length > DEFAULT_MAX_MESSAGE_BYTES {
            let missing = EXCERPT.saturating_sub(self.kept.len()).min(bytes.len());
            self.kept.extend_from_slice(&bytes[..missing]);
            self.kept.truncate(EXCERPT);
            self.kept.shrink_to_fit();
        } else {
            self.kept.extend_from_slice(bytes);
        }
    }

    /// Returns the bytes since the last line, if any.
    pub(crate) fn end(&mut self, complete: impl FnOnce(Kept<'_>)) {
        if self.length > 0 {
            complete(Kept {
                bytes: &self.kept,
                length: self.length,
            });
        }
        self.kept.clear();
        self.kept.shrink_to(EXCERPT);
        self.length = 0;
    }
}

/// The entry of a line; none for a blank one.
pub(crate) fn entry(at_us: u64, from: Direction, line: Kept<'_>) -> Option<Entry> {
    let blank = line.bytes.trim_ascii().is_empty();
    if blank {
        return None;
    }
    let entry = Entry {
        from: Some(from),
        ..Entry::at(at_us)
    };
    if line.length == line.bytes.len()
        && let Ok(message) = serde_json::from_slice::<Box<RawValue>>(line.bytes)
    {
        return Some(Entry {
            message: Some(message),
            ..entry
        });
    }
    let (text, bytes) = excerpt(&line);
    Some(Entry {
        text: Some(text),
        bytes,
        ..entry
    })
}

fn stderr(at_us: u64, line: Kept<'_>) -> Entry {
    let (text, bytes) = excerpt(&line);
    Entry {
        event: Some(Event::Stderr { line: text }),
        bytes,
        ..Entry::at(at_us)
    }
}

/// The kept text, and the original length if it was longer.
pub(crate) fn excerpt(line: &Kept<'_>) -> (String, Option<u64>) {
    let kept = &line.bytes[..line.bytes.len().min(EXCERPT)];
    let is_cut = kept.len() < line.length;
    let kept = if is_cut {
        kept
    } else {
        kept.strip_suffix(b"\r").unwrap_or(kept)
    };
    (
        String::from_utf8_lossy(kept).into_owned(),
        is_cut.then_some(line.length as u64),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entries(pieces: &[&[u8]]) -> Vec<Entry> {
        let (mut to_entries, mut entries) = (LineEntries::default(), Vec::new());
        for piece in pieces {
            to_entries.note(
                1,
                LineSeen::Bytes {
                    from: Direction::Client,
                    bytes: Bytes::copy_from_slice(piece),
                },
                &mut entries,
            );
        }
        to_entries.note(2, LineSeen::Closed(Direction::Client), &mut entries);
        entries
    }

    #[test]
    fn json_stays_as_it_was_written_and_all_else_is_text() {
        let seen = entries(&[b"{\"a\" :1}\r\nhel", b"lo\n\xff\n\n{\"b\":"]);
        assert_eq!(seen[0].message.as_ref().unwrap().get(), "{\"a\" :1}");
        let texts: Vec<_> = seen
            .iter()
            .filter_map(|entry| entry.text.as_deref())
            .collect();
        assert_eq!(texts, ["hello", "\u{fffd}", "{\"b\":"]);
        assert_eq!(
            seen.last().unwrap().event,
            Some(Event::Closed {
                by: Direction::Client
            })
        );
    }

    #[test]
    fn of_a_line_past_the_limit_the_beginning_and_the_length_are_kept() {
        let piece = vec![b'a'; 1 << 20];
        let pieces: Vec<&[u8]> = (0..65)
            .map(|_| piece.as_slice())
            .chain([b"\n{}\n".as_slice()])
            .collect();
        let seen = entries(&pieces);
        assert_eq!(seen[0].bytes, Some(65 << 20));
        assert_eq!(seen[0].text.as_ref().unwrap().len(), EXCERPT);
        assert!(seen[1].message.is_some());
    }

    proptest! {
        #[test]
        fn how_the_bytes_arrive_does_not_matter(text in "[a\\{\\}\n]{0,60}", cut in 0usize..60) {
            let cut = cut.min(text.len());
            let of = |pieces: &[&[u8]]| serde_json::to_string(&entries(pieces)).unwrap();
            let (first, second) = text.as_bytes().split_at(cut);
            prop_assert_eq!(of(&[text.as_bytes()]), of(&[first, second]));
        }
    }
}
