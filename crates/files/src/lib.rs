//! How is a user's file read and written, so that nothing hangs, uses too much memory or is lost?
//!
//! All product code opens files here; `cargo xtask tidy` refuses `std::fs` elsewhere.

mod confine;
mod identity;
mod open;
mod read;
mod write;

pub use confine::{confine_to, refuse_outside};
pub use identity::{Identity, identity, leads_to, whole};
pub use open::{STDIN, is_handed_over, lock_file, open, open_named};
pub use read::{RECORDING, TEXT, read, read_named, read_named_text, reading};
pub use write::{discard, make_folder_of, may_replace, open_to_write, replace, write};

/// Why a file cannot be read or written, in equal words on every system.
pub fn reason(error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    match error.kind() {
        // What is said here already says it best.
        _ if error.get_ref().is_some() => error.to_string(),
        ErrorKind::NotFound => "no such file".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        ErrorKind::PermissionDenied => "you have no permission to read it".to_owned(),
        _ => error.to_string(),
    }
}
