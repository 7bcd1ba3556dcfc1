//! One line is one message: how is a byte stream with arbitrary contents split into lines?

use std::io;
use tokio::io::{AsyncRead, AsyncReadExt};

/// The default size limit of a message.
pub const DEFAULT_MAX_MESSAGE_BYTES: usize = 64 << 20;

const CHUNK: usize = 16 << 10;

/// A piece of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// A line without its end; never empty or only blanks.
    Line(String),
    /// A line beyond the limit; the rest of it is skipped.
    TooLong {
        /// Its number of bytes, without its end.
        bytes: usize,
        /// Its beginning.
        start: String,
    },
    /// A line that is not UTF-8, with the bad bytes replaced.
    NotUtf8(String),
    /// The stream ended in the middle of a line.
    Cut(String),
}

/// Cuts lines, with a limit on their length.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    limit: usize,
    buffer: Vec<u8>,
    scanned: usize,
    start: usize,
    skipping: Option<(usize, String)>,
    ended: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Lines of at most `limit` bytes.
    pub fn new(reader: R, limit: usize) -> Self {
        Self {
            reader,
            limit,
            buffer: Vec::new(),
            scanned: 0,
            start: 0,
            skipping: None,
            ended: false,
        }
    }

    /// The next frame; `None` at the end. Cancel-safe: dropping the future loses no byte.
    pub async fn next(&mut self) -> io::Result<Option<Frame>> {
        loop {
            if let Some(frame) = self.take_line() {
                return Ok(Some(frame));
            }
            if self.ended {
                return Ok(self.take_rest());
            }
            self.make_room();
            if self.reader.read_buf(&mut self.buffer).await? == 0 {
                self.ended = true;
            }
        }
    }

    fn take_line(&mut self) -> Option<Frame> {
        while let Some(offset) = memchr::memchr(b'\n', &self.buffer[self.scanned..]) {
            let end = self.scanned + offset;
            let line = self.start..end;
            self.start = end + 1;
            self.scanned = self.start;
            if let Some((bytes, start)) = self.skipping.take() {
                return Some(Frame::TooLong {
                    bytes: bytes + line.len(),
                    start,
                });
            }
            if line.len() > self.limit {
                let start = beginning(&self.buffer[line.clone()]);
                return Some(Frame::TooLong {
                    bytes: line.len(),
                    start,
                });
            }
            if let Some(frame) = frame_of(&self.buffer[line]) {
                return Some(frame);
            }
        }
        self.scanned = self.buffer.len();
        let pending = self.buffer.len() - self.start;
        if self.skipping.is_some() || pending > self.limit {
            let (bytes, start) = self
                .skipping
                .take()
                .unwrap_or_else(|| (0, beginning(&self.buffer[self.start..])));
            self.skipping = Some((bytes + pending, start));
            self.start = self.buffer.len();
        }
        None
    }

    fn take_rest(&mut self) -> Option<Frame> {
        let rest = self.buffer.split_off(self.start);
        self.buffer.clear();
        (self.start, self.scanned) = (0, 0);
        if let Some((bytes, start)) = self.skipping.take() {
            return Some(Frame::TooLong {
                bytes: bytes + rest.len(),
                start,
            });
        }
        let text = String::from_utf8_lossy(&rest);
        (!text.trim().is_empty()).then(|| Frame::Cut(text.into_owned()))
    }

    fn make_room(&mut self) {
        if self.start > 0 && (self.start == self.buffer.len() || self.start > self.buffer.len() / 2)
        {
            self.buffer.drain(..self.start);
            self.scanned -= self.start;
            self.start = 0;
            if self.buffer.is_empty() && self.buffer.capacity() > 64 * CHUNK {
                self.buffer = Vec::new();
            }
        }
        self.buffer.reserve(CHUNK);
    }
}

fn frame_of(line: &[u8]) -> Option<Frame> {
    if line.trim_ascii().is_empty() {
        return None;
    }
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    Some(match std::str::from_utf8(line) {
        Ok(text) => Frame::Line(text.to_owned()),
        Err(_) => Frame::NotUtf8(String::from_utf8_lossy(line).into_owned()),
    })
}

fn beginning(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frames(bytes: &[u8], limit: usize, chunk: usize) -> Vec<Frame> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            let (mut writer, reader) = tokio::io::duplex(chunk.max(1));
            let bytes = bytes.to_vec();
            let feed = async move {
                tokio::io::AsyncWriteExt::write_all(&mut writer, &bytes)
                    .await
                    .unwrap();
            };
            let read = async {
                let mut lines = Lines::new(reader, limit);
                let mut frames = Vec::new();
                while let Some(frame) = lines.next().await.unwrap() {
                    frames.push(frame);
                }
                frames
            };
            tokio::join!(feed, read).1
        })
    }

    #[test]
    fn blank_lines_and_carriage_returns_are_not_part_of_a_message() {
        let seen = frames(b"{}\r\n\n  \n[]\n", 100, 3);
        assert_eq!(seen, [Frame::Line("{}".into()), Frame::Line("[]".into())]);
    }

    #[test]
    fn a_line_past_the_limit_is_skipped_and_the_next_one_is_read() {
        let seen = frames(b"aaaaaaaaaaaa\nok\n", 8, 4);
        assert!(
            matches!(&seen[0], Frame::TooLong { bytes: 12, start } if start.starts_with("aaaa")),
            "{seen:?}"
        );
        assert_eq!(seen[1..], [Frame::Line("ok".into())]);
    }

    #[test]
    fn an_end_inside_a_line_and_bad_bytes_are_told() {
        assert_eq!(
            frames(b"ok\n{\"a\":", 100, 5),
            [Frame::Line("ok".into()), Frame::Cut("{\"a\":".into())]
        );
        assert_eq!(
            frames(b"\xff\xfe\n", 100, 5),
            [Frame::NotUtf8("\u{fffd}\u{fffd}".into())]
        );
    }

    proptest! {
        #[test]
        fn how_the_bytes_arrive_does_not_matter(bytes in "[a-z\n]{0,200}", chunk in 1usize..50) {
            let expected: Vec<Frame> = bytes.split_inclusive('\n')
                .filter(|line| !line.trim().is_empty())
                .map(|line| match line.strip_suffix('\n') {
                    Some(line) => Frame::Line(line.to_owned()),
                    None => Frame::Cut(line.to_owned()),
                })
                .collect();
            prop_assert_eq!(frames(bytes.as_bytes(), 1000, chunk), expected);
        }
    }
}
