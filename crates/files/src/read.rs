//! What does a file contain, up to a limit?

use crate::confine::refuse_outside;
use crate::open::{STDIN, is_handed_over, open};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The longest file that people write, such as a suite or a manifest.
pub const TEXT: u64 = 16 << 20;
/// The longest recording.
pub const RECORDING: u64 = 4 << 30;
/// The number of bytes that identify a recording.
const HEAD: u64 = 16 << 20;
/// The maximum to read from a pipe, which may be endless.
const PIPED: u64 = 64 << 20;

/// The bytes of a regular file of at most `most` bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    let too_long = format!("it is longer than {}, the limit; split it", size(most));
    if length > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, too_long));
    }
    up_to(file, most, length, too_long)
}

/// The beginning of a regular file.
pub(crate) fn head(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(HEAD).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a file from the command line, including standard input and `<(command)`.
pub fn read_named(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    if !is_handed_over(path) {
        return read(path, most);
    }
    refuse_outside(path)?;
    let most = most.min(PIPED);
    let too_long = format!(
        "its output is longer than {}; write it to a file, and name the file",
        size(most)
    );
    if path == Path::new(STDIN) {
        return up_to(io::stdin().lock(), most, 0, too_long);
    }
    up_to(File::open(path)?, most, 0, too_long)
}

/// Reads a file from the command line as text, like [`read_named`].
pub fn read_named_text(path: &Path, most: u64) -> io::Result<String> {
    let not_text = |_| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            "it is not UTF-8; save it as UTF-8",
        )
    };
    String::from_utf8(read_named(path, most)?).map_err(not_text)
}

/// Returns a reader for the file on the command line and for the files that it names.
pub fn reading(named: &Path) -> impl Fn(&Path) -> Result<Vec<u8>, String> + '_ {
    move |path| {
        let bytes = if path == named {
            read_named(path, TEXT)
        } else {
            read(path, TEXT)
        };
        bytes.map_err(|error| crate::reason(&error))
    }
}

/// Reads everything, up to `most` bytes, whatever length the system reported.
fn up_to(from: impl Read, most: u64, expected: u64, too_long: String) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One more, so that the end is seen without growing.
    bytes.try_reserve_exact(
        usize::try_from(expected)
            .unwrap_or(usize::MAX)
            .saturating_add(1),
    )?;
    from.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, too_long));
    }
    Ok(bytes)
}

fn size(bytes: u64) -> String {
    match bytes {
        whole if whole % (1 << 30) == 0 => format!("{} GB", whole >> 30),
        other => format!("{} MB", other >> 20),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_bound_and_no_further() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, vec![b'x'; 2 << 20]).unwrap();
        assert_eq!(read(&path, 2 << 20).unwrap().len(), 2 << 20);
        let said = read(&path, 1 << 20).unwrap_err().to_string();
        assert_eq!(said, "it is longer than 1 MB, the limit; split it");
        let grown = up_to(io::repeat(0), 1 << 20, 0, "grown".to_owned()).unwrap_err();
        assert_eq!(grown.to_string(), "grown");
        assert_eq!(
            read(folder.path(), 1).unwrap_err().kind(),
            io::ErrorKind::IsADirectory
        );
        assert_eq!(
            read(&folder.path().join("b"), 1).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }

    #[test]
    #[cfg(unix)]
    fn what_is_no_file_is_refused_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let said = |path: &Path| crate::reason(&read(path, TEXT).unwrap_err());
        assert!(
            std::process::Command::new("mkfifo")
                .arg(at("pipe"))
                .status()
                .unwrap()
                .success()
        );
        let _listens = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        std::os::unix::fs::symlink("nowhere", at("link")).unwrap();
        std::os::unix::fs::symlink("round", at("round")).unwrap();
        assert_eq!(said(&at("pipe")), "it is a named pipe, not a file");
        assert_eq!(said(&at("socket")), "it is a socket, not a file");
        assert_eq!(said(Path::new("/dev/zero")), "it is a device, not a file");
        assert_eq!(said(&at("link")), "it is a broken link");
        assert_eq!(said(&at("round")), "it is a broken link");
        assert_eq!(said(folder.path()), "it is a folder");
    }
}
