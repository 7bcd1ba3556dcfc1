//! How is a tape written to a file, in whole lines, with one report of a full disk?

use super::{Entry, Event, FORMAT, Header, TapeServer, VERSION, is_tape};
use mcptest_files as files;
use mcptest_redact::{Redactor, command};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Lines that are gathered before they are written at once.
const GATHERED: usize = 256 << 10;

/// Why a tape cannot be begun.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The system refused.
    #[error("cannot write the recording {}: {reason}", path.display())]
    Refused {
        /// The path of the file.
        path: PathBuf,
        /// The system's message.
        reason: String,
    },
    /// The file is not a tape.
    #[error(
        "{} contains something that is not a tape, and stays unchanged; write the recording to another file with --out",
        .0.display()
    )]
    NotATape(PathBuf),
    /// Another proxy writes the same file.
    #[error(
        "{} is being written by another mcptest; give each server a separate file, or put `{{number}}` in the name",
        .0.display()
    )]
    Busy(PathBuf),
}

/// Writes a tape.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    file: File,
    redactor: Redactor,
    gathered: Vec<u8>,
    written: u64,
    failed: Option<String>,
    /// The treatment of the existing file if nothing is written.
    before: Before,
}

/// The earlier contents of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// The file did not exist.
    Nothing,
    /// A tape or an empty file: it stays until something is written.
    Kept,
    /// It was replaced: this tape has begun.
    Over,
}

impl Writer {
    /// Prepares to write a tape over an existing file; `{number}` in the name becomes the first free number. The
    /// first `flush` begins it: a writer that is dropped earlier changes no file.
    pub fn create(path: &Path, server: TapeServer, redactor: Redactor) -> Result<Self, WriteError> {
        let OpenedFile { path, file, before } = open(path)?;
        let header = Header {
            format: FORMAT.to_owned(),
            version: VERSION,
            server: TapeServer {
                name: server.name,
                command: without_secrets(&redactor, &server.command),
                url: server.url.map(|url| redactor.text(&url).into_owned()),
            },
        };
        let mut writer = Self {
            path,
            file,
            redactor,
            gathered: Vec::new(),
            written: 0,
            failed: None,
            before,
        };
        writer.line(&header);
        Ok(writer)
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds an entry, without its secrets; `flush` brings it to the file.
    pub fn add(&mut self, entry: Entry) {
        if self.failed.is_none() {
            let entry = redacted(&self.redactor, entry);
            self.line(&entry);
        }
    }

    /// True if the buffer should be written.
    pub fn is_full(&self) -> bool {
        self.gathered.len() >= GATHERED
    }

    /// Writes the buffer. Returns the reason if the recording ends here.
    pub fn flush(&mut self) -> Option<String> {
        if self.failed.is_some() || self.gathered.is_empty() {
            return None;
        }
        let outcome = self
            .begin()
            .and_then(|()| self.file.write_all(&self.gathered));
        let length = self.gathered.len() as u64;
        self.gathered.clear();
        if self.gathered.capacity() > 4 * GATHERED {
            self.gathered = Vec::new();
        }
        match outcome {
            Ok(()) => {
                self.written += length;
                None
            }
            Err(error) => {
                self.failed = Some(error.to_string());
                self.cut_half_lines();
                self.failed.clone()
            }
        }
    }

    fn begin(&mut self) -> io::Result<()> {
        let before = std::mem::replace(&mut self.before, Before::Over);
        if before == Before::Kept {
            self.file.set_len(0)
        } else {
            Ok(())
        }
    }

    /// The error that ended the recording early.
    pub fn failure(&self) -> Option<&str> {
        self.failed.as_deref()
    }

    /// Removes an incomplete last line after a failed write.
    fn cut_half_lines(&self) {
        let _kept_as_it_is = self.file.set_len(self.written);
    }

    fn line(&mut self, value: &impl serde::Serialize) {
        let before = self.gathered.len();
        if serde_json::to_writer(&mut self.gathered, value).is_err() {
            self.gathered.truncate(before);
            return;
        }
        for byte in &mut self.gathered[before..] {
            // Only white space of a message that came over many lines can be a raw line end.
            if *byte == b'\n' || *byte == b'\r' {
                *byte = b' ';
            }
        }
        self.gathered.push(b'\n');
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if self.before == Before::Nothing {
            let _stays_empty = std::fs::remove_file(&self.path);
        }
    }
}

fn redacted(redactor: &Redactor, mut entry: Entry) -> Entry {
    let hide = |text: &mut String| {
        if let Cow::Owned(hidden) = redactor.text(text) {
            *text = hidden;
        }
    };
    if let Some(message) = &mut entry.message
        && let Cow::Owned(hidden) = redactor.json(message.get())
    {
        match RawValue::from_string(hidden) {
            Ok(hidden) => *message = hidden,
            Err(_) => entry.message = None,
        }
    }
    if let Some(text) = &mut entry.text {
        hide(text);
    }
    if let Some(Event::Stderr { line: text } | Event::HttpRequest { path: text, .. }) =
        &mut entry.event
    {
        hide(text);
    }
    entry
}

fn without_secrets(redactor: &Redactor, words: &[String]) -> Vec<String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let secrets = command::secrets(redactor, &words);
    secrets
        .iter()
        .map(|(word, secrets)| command::hidden(redactor, word, secrets))
        .collect()
}

/// A file that is ready for a tape.
struct OpenedFile {
    path: PathBuf,
    file: File,
    before: Before,
}

fn open(path: &Path) -> Result<OpenedFile, WriteError> {
    files::make_folder_of(path).map_err(|error| refused(path, &error))?;
    let name = path.to_string_lossy();
    if name.contains("{number}") {
        return open_numbered(path, &name);
    }
    let (file, before) = match create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => open_existing(path)?,
        created => (
            created.map_err(|error| refused(path, &error))?,
            Before::Nothing,
        ),
    };
    match file.try_lock() {
        Err(std::fs::TryLockError::WouldBlock) => return Err(WriteError::Busy(path.to_owned())),
        // Not every file system, and no pipe or device, can be locked.
        Ok(()) | Err(std::fs::TryLockError::Error(_)) => {}
    }
    if before == Before::Kept
        && !files::may_replace(path, begins_as_tape).map_err(|error| refused(path, &error))?
    {
        return Err(WriteError::NotATape(path.to_owned()));
    }
    Ok(OpenedFile {
        path: path.to_owned(),
        file,
        before,
    })
}

/// The first file of this name that does not exist, counted from 1.
fn open_numbered(path: &Path, name: &str) -> Result<OpenedFile, WriteError> {
    for number in 1..=u32::MAX {
        let numbered = PathBuf::from(name.replace("{number}", &number.to_string()));
        match create_new(&numbered) {
            Ok(file) => {
                return Ok(OpenedFile {
                    path: numbered,
                    file,
                    before: Before::Nothing,
                });
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(refused(path, &error)),
        }
    }
    Err(WriteError::Busy(path.to_owned()))
}

fn open_existing(path: &Path) -> Result<(File, Before), WriteError> {
    let (file, is_stream) = files::open_to_write(path).map_err(|error| refused(path, &error))?;
    let before = if is_stream {
        Before::Over
    } else {
        Before::Kept
    };
    Ok((file, before))
}

fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

fn refused(path: &Path, error: &io::Error) -> WriteError {
    WriteError::Refused {
        path: path.to_owned(),
        reason: files::reason(error),
    }
}

fn begins_as_tape(bytes: &[u8]) -> bool {
    let first = bytes
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    is_tape(&String::from_utf8_lossy(first))
}

#[cfg(test)]
mod tests {
    use super::super::{Direction, Tape};
    use super::*;

    fn redactor() -> Redactor {
        Redactor::builder().pattern("hush-[0-9]+").build().unwrap()
    }

    #[test]
    fn what_is_secret_is_not_written_wherever_it_stands() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.jsonl");
        let secret = "hunter2hunter2";
        let server = TapeServer {
            command: ["srv", "--api-key", secret, "--token=hush-1", "run"]
                .map(str::to_owned)
                .to_vec(),
            url: Some("http://127.0.0.1/mcp?k=hush-2".into()),
            ..TapeServer::default()
        };
        let mut writer = Writer::create(&path, server, redactor()).unwrap();
        writer.add(message(
            r#"{"password":"hunter2hunter2","text":"say hush-3"}"#,
        ));
        writer.add(Entry {
            text: Some("hush-4".into()),
            ..Entry::at(1)
        });
        writer.add(Entry {
            event: Some(Event::Stderr {
                line: "key hush-5".into(),
            }),
            ..Entry::at(1)
        });
        writer.flush();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains(secret) && !text.contains("hush-"), "{text}");
        assert_eq!(Tape::read(&text).unwrap().entries.len(), 3);
        assert!(text.contains("\"run\""), "{text}");
    }

    fn message(text: &str) -> Entry {
        let message = RawValue::from_string(text.to_owned()).unwrap();
        Entry {
            from: Some(Direction::Client),
            message: Some(message),
            ..Entry::at(7)
        }
    }

    #[test]
    fn what_is_written_is_read_back_one_entry_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/session.jsonl");
        let mut writer = Writer::create(&path, TapeServer::default(), redactor()).unwrap();
        writer.add(message("{\n  \"a\": 1\r\n}"));
        assert_eq!(writer.flush(), None);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 2);
        let tape = Tape::read(&text).unwrap();
        assert_eq!(
            tape.entries[0].message.as_ref().unwrap().get(),
            "{   \"a\": 1  }"
        );
    }

    #[test]
    fn two_recordings_do_not_share_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.jsonl");
        let first = Writer::create(&path, TapeServer::default(), redactor()).unwrap();
        assert!(matches!(
            Writer::create(&path, TapeServer::default(), redactor()),
            Err(WriteError::Busy(_))
        ));
        drop(first);
        assert!(Writer::create(&path, TapeServer::default(), redactor()).is_ok());
        let numbered = folder.path().join("s-{number}.jsonl");
        let writers =
            [1, 2].map(|_| Writer::create(&numbered, TapeServer::default(), redactor()).unwrap());
        let names = writers.each_ref().map(|writer| writer.path().to_owned());
        assert_eq!(
            names,
            [
                folder.path().join("s-1.jsonl"),
                folder.path().join("s-2.jsonl")
            ]
        );
    }

    #[test]
    fn a_writer_that_never_wrote_leaves_all_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let create = |name: &str| {
            Writer::create(&folder.path().join(name), TapeServer::default(), redactor())
        };
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        create("tape.jsonl").unwrap().flush();
        let before = read("tape.jsonl");
        assert!(is_tape(&before), "{before}");
        drop(create("tape.jsonl").unwrap());
        drop(create("new.jsonl").unwrap());
        drop(create("new-{number}.jsonl").unwrap());
        assert_eq!(read("tape.jsonl"), before);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_not_a_tape_is_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        std::fs::write(&path, "mine\n").unwrap();
        let error = Writer::create(&path, TapeServer::default(), redactor()).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("notes.txt contains something that is not a tape"),
            "{error}"
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine\n");
        std::fs::write(&path, "").unwrap();
        assert!(Writer::create(&path, TapeServer::default(), redactor()).is_ok());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_told_once() {
        let mut writer = Writer {
            path: "/dev/full".into(),
            file: OpenOptions::new().write(true).open("/dev/full").unwrap(),
            redactor: redactor(),
            gathered: Vec::new(),
            written: 0,
            failed: None,
            before: Before::Over,
        };
        writer.add(message("{}"));
        assert!(writer.flush().unwrap().contains("No space left"));
        writer.add(message("{}"));
        assert_eq!(writer.flush(), None);
        assert!(writer.failure().is_some());
    }
}
