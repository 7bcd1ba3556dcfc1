//! Where do the records of OpenTelemetry go?

use mcptest_command::Failure;
use mcptest_core::escape::escape_path;
use mcptest_files as files;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// A file that gets the verdicts as OTLP in JSON Lines.
pub(crate) struct Export {
    shown: String,
    file: File,
}

impl Export {
    /// Opens the file, and empties it.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let shown = escape_path(path);
        let opened = files::make_folder_of(path).and_then(|()| {
            let (file, is_stream) = files::open_to_write(path)?;
            if !is_stream {
                file.set_len(0)?;
            }
            Ok(file)
        });
        match opened {
            Ok(file) => Ok(Self { shown, file }),
            Err(error) => Err(Failure::cannot(format!("write {shown}"), &error)),
        }
    }

    /// Writes a request.
    pub(super) fn write(&mut self, request: &str) -> Result<(), Failure> {
        let written = self.file.write_all(request.as_bytes());
        written.map_err(|error| self.failure(&error))
    }

    pub(super) fn finish(mut self) -> Result<(), Failure> {
        let flushed = self.file.flush();
        flushed.map_err(|error| self.failure(&error))
    }

    fn failure(&self, error: &std::io::Error) -> Failure {
        Failure::cannot(format!("write {}", self.shown), error)
    }
}
