//! How is the input cut into blocks that can be judged apart?

use super::groups::{Closed, Groups};
use super::input::{Input, Opened, Unreadable};
use super::queue::Queue;
use mcptest_core::score::Arrangement;
use mcptest_import::{FirstLine, group_of};
use std::io::{self, Read};
use std::mem;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// The number of bytes that are read at once.
const AT_ONCE: usize = 256 << 10;
/// The longest line, and the most bytes of one group.
pub(super) const LONGEST: usize = 16 << 20;
/// The number of lines that show whether whole lines follow a broken first line.
const LINES_SHOWN: usize = 100;

/// Some of the input, whose rows do not depend on the rest.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// Its place among the blocks.
    pub(super) number: usize,
    pub(super) bytes: Vec<u8>,
    pub(super) pieces: Vec<Piece>,
}

/// A part of one input in a block.
#[derive(Debug)]
pub(super) struct Piece {
    /// The name of the input.
    pub(super) source: Arc<str>,
    /// The number of its first line.
    pub(super) line: usize,
    /// Its bytes in the block.
    pub(super) bytes: Range<usize>,
    pub(super) contents: Contents,
}

/// The contents of a piece.
#[derive(Debug)]
pub(super) enum Contents {
    /// Lines of which each is judged alone.
    Lines,
    /// Lines that are the traces of this group.
    Group(String),
    /// One document, or the lines of one.
    Document,
    /// A file to read as a whole.
    File(PathBuf),
    /// Nothing can be judged, for this reason; the group, if it is known.
    Unreadable {
        /// The reason.
        why: String,
        /// The group of the traces.
        group: Option<String>,
    },
}

/// Cuts inputs into blocks.
pub(super) struct Cutter<'q> {
    queue: &'q Queue,
    arrangement: Arrangement,
    block: Block,
    groups: Groups,
    /// The lines of the open group.
    group: Option<OpenGroup>,
    room: Room,
}

/// The lines of a group that more lines may follow.
struct OpenGroup {
    name: String,
    line: usize,
    bytes: Vec<u8>,
    is_too_long: bool,
}

/// Further blocks are not needed.
pub(super) struct Stopped;

type Cut = Result<(), Stopped>;

impl<'q> Cutter<'q> {
    /// A cutter of traces in this arrangement.
    pub(super) fn new(queue: &'q Queue, arrangement: Arrangement) -> Self {
        Self {
            queue,
            arrangement,
            block: Block::default(),
            groups: Groups::default(),
            group: None,
            room: Room::new(),
        }
    }

    /// Cuts all inputs. The first may be open already.
    pub(super) fn cut_all(
        &mut self,
        first: Option<Result<Opened, Unreadable>>,
        rest: impl Iterator<Item = Input>,
    ) -> Cut {
        if let Some(first) = first {
            self.cut_or_report(first)?;
        }
        for input in rest {
            let opened = Opened::open(input, &mut self.room);
            self.cut_or_report(opened)?;
        }
        self.send()
    }

    fn cut_or_report(&mut self, input: Result<Opened, Unreadable>) -> Cut {
        match input {
            Ok(opened) => self.cut(opened),
            Err(unreadable) => self.add(&unreadable.name, 1, &[], unreadable.contents()),
        }
    }

    fn cut(&mut self, mut opened: Opened) -> Cut {
        let name = Arc::clone(&opened.input.name);
        match opened.shape() {
            Shape::Lines => self.cut_lines(opened)?,
            Shape::Whole => match opened.input.path() {
                Some(path) => self.add(&name, 1, &[], Contents::File(path.to_owned()))?,
                None => match opened.rest(&mut self.room) {
                    Ok(bytes) => self.add(&name, 1, &bytes, Contents::Document)?,
                    Err(error) => self.add_unreadable(&name, 1, mcptest_files::reason(&error))?,
                },
            },
            Shape::Empty => {}
        }
        self.close_group(&name)
    }

    /// Cuts lines as they arrive, so that the rows of a slow input are not late.
    fn cut_lines(&mut self, opened: Opened) -> Cut {
        let Opened {
            input,
            mut from,
            start,
            is_ended,
            ..
        } = opened;
        // Only a stream can be slow.
        let is_slow = input.path().is_none();
        let name = input.name;
        let mut rest = start;
        let mut line = 1;
        let mut is_ended = is_ended;
        // True while the rest of a line that is too long is skipped.
        let mut is_skipping = false;
        loop {
            let whole = if is_ended {
                rest.len()
            } else {
                memchr::memrchr(b'\n', &rest).map_or(0, |newline| newline + 1)
            };
            let (mut lines, after) = rest.split_at(whole);
            if is_skipping && whole > 0 {
                let end = memchr::memchr(b'\n', lines).map_or(whole, |newline| newline + 1);
                lines = &lines[end..];
                line += 1;
                is_skipping = false;
            }
            self.add_lines(&name, line, lines)?;
            line += memchr::memchr_iter(b'\n', lines).count();
            let after = after.to_vec();
            rest = after;
            if is_skipping || rest.len() > LONGEST {
                if !is_skipping {
                    let why = format!("this line is longer than {} MB, the limit", LONGEST >> 20);
                    self.add_unreadable(&name, line, why)?;
                }
                is_skipping = true;
                rest.clear();
            }
            if is_ended {
                return Ok(());
            }
            if is_slow {
                self.send()?;
            }
            match read_more(&mut *from, &mut rest, &mut self.room) {
                Ok(read) => is_ended = read == 0,
                Err(error) => {
                    return self.add_unreadable(&name, line, mcptest_files::reason(&error));
                }
            }
        }
    }

    fn add_lines(&mut self, name: &Arc<str>, first: usize, lines: &[u8]) -> Cut {
        if lines.is_empty() {
            return Ok(());
        }
        if self.arrangement == Arrangement::Alone {
            return self.add(name, first, lines, Contents::Lines);
        }
        for (line, bytes) in (first..).zip(lines.split_inclusive(|byte| *byte == b'\n')) {
            self.add_grouped(name, line, bytes)?;
        }
        Ok(())
    }

    fn add_grouped(&mut self, name: &Arc<str>, line: usize, bytes: &[u8]) -> Cut {
        let named = match group_of(bytes) {
            Ok(Some(group)) => group,
            Ok(None) => {
                self.close_group(name)?;
                return self.add(name, line, bytes, Contents::Lines);
            }
            // It may stand between two traces of one group, and ends none.
            Err(_) => return self.add(name, line, bytes, Contents::Lines),
        };
        if let Some(group) = self.group.as_mut().filter(|group| group.name == named) {
            if group.bytes.len() + bytes.len() > LONGEST {
                group.is_too_long = true;
                group.bytes.clear();
            }
            if !group.is_too_long {
                group.bytes.extend_from_slice(bytes);
            }
            return Ok(());
        }
        self.close_group(name)?;
        self.group = Some(OpenGroup {
            name: named.into_owned(),
            line,
            bytes: bytes.to_vec(),
            is_too_long: false,
        });
        Ok(())
    }

    /// Adds the open group, which is complete.
    fn close_group(&mut self, name: &Arc<str>) -> Cut {
        let Some(group) = self.group.take() else {
            return Ok(());
        };
        let why = match self.groups.close(&group.name) {
            Closed::Again => Some(
                "the traces of this group do not follow one another; sort the input by `group`"
                    .to_owned(),
            ),
            Closed::First if group.is_too_long => Some(format!(
                "the traces of this group are longer than {} MB together, the limit",
                LONGEST >> 20
            )),
            Closed::First => None,
        };
        let contents = match why {
            Some(why) => Contents::Unreadable {
                why,
                group: Some(group.name),
            },
            None => Contents::Group(group.name),
        };
        self.add(name, group.line, &group.bytes, contents)
    }

    fn add_unreadable(&mut self, name: &Arc<str>, line: usize, why: String) -> Cut {
        self.add(name, line, &[], Contents::Unreadable { why, group: None })
    }

    fn add(&mut self, name: &Arc<str>, line: usize, bytes: &[u8], contents: Contents) -> Cut {
        let start = self.block.bytes.len();
        self.block.bytes.extend_from_slice(bytes);
        self.block.pieces.push(Piece {
            source: Arc::clone(name),
            line,
            bytes: start..self.block.bytes.len(),
            contents,
        });
        if self.block.bytes.len() >= AT_ONCE || self.block.pieces.len() >= PIECES_AT_ONCE {
            self.send()?;
        }
        Ok(())
    }

    fn send(&mut self) -> Cut {
        if self.block.pieces.is_empty() {
            return Ok(());
        }
        let next = Block {
            number: self.block.number + 1,
            ..Block::default()
        };
        if self.queue.push(mem::replace(&mut self.block, next)) {
            Ok(())
        } else {
            Err(Stopped)
        }
    }
}

/// The number of pieces in a block: files take long to read.
const PIECES_AT_ONCE: usize = 32;

/// The form of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A trace, or several, on each line.
    Lines,
    /// One document, or lines that belong together.
    Whole,
    /// Nothing.
    Empty,
}

impl Opened {
    /// The form of the input, by its first lines.
    pub(super) fn shape(&self) -> Shape {
        let mut lines = self.first_lines();
        let Some(first) = lines.next() else {
            return Shape::Empty;
        };
        match FirstLine::read(first) {
            FirstLine::Whole => Shape::Lines,
            FirstLine::Part | FirstLine::Header => Shape::Whole,
            FirstLine::Broken => {
                let mut others = lines.take(LINES_SHOWN).peekable();
                let is_only = others.peek().is_none();
                let is_object = |line: &[u8]| {
                    line.starts_with(b"{") && FirstLine::read(line) == FirstLine::Whole
                };
                if is_only || others.any(is_object) {
                    Shape::Lines
                } else {
                    Shape::Whole
                }
            }
        }
    }

    /// Returns true if nothing but blank lines is in it.
    pub(super) fn is_empty(&self) -> bool {
        self.is_ended && self.first_lines().next().is_none()
    }

    /// Returns true if the first line names a group.
    pub(super) fn is_grouped(&self) -> bool {
        let first = self.first_lines().next();
        first.is_some_and(|line| matches!(group_of(line), Ok(Some(_))))
    }

    /// The lines at the start that are not blank.
    fn first_lines(&self) -> impl Iterator<Item = &[u8]> {
        let lines = self.start.split(|byte| *byte == b'\n');
        lines.filter(|line| !line.trim_ascii().is_empty())
    }

    /// All bytes, up to the limit for a stream that is one document.
    fn rest(&mut self, room: &mut Room) -> io::Result<Vec<u8>> {
        const MOST: usize = 64 << 20;
        let mut bytes = mem::take(&mut self.start);
        while !self.is_ended {
            if bytes.len() > MOST {
                let why = format!(
                    "it is one document of more than {} MB; write it to a file, and name the file",
                    MOST >> 20
                );
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
            }
            self.is_ended = read_more(&mut *self.from, &mut bytes, room)? == 0;
        }
        Ok(bytes)
    }
}

/// Appends what can be read without waiting twice, and returns its length.
pub(super) fn read_more(
    from: &mut dyn Read,
    into: &mut Vec<u8>,
    room: &mut Room,
) -> io::Result<usize> {
    loop {
        match from.read(&mut room.0) {
            Ok(read) => {
                into.extend_from_slice(&room.0[..read]);
                return Ok(read);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The buffer for one read. Every input uses it again, because many inputs are small.
pub(super) struct Room(Vec<u8>);

impl Room {
    pub(super) fn new() -> Self {
        Self(vec![0; AT_ONCE])
    }
}
