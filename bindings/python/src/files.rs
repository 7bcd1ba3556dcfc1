//! Which files and environment variables does a suite consist of, so that another process can load it without them?

use mcptest_core::Host;
use mcptest_core::Loaded;
use mcptest_core::suite::load_for_traces;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Everything that loading a suite read. It pickles, so that an executor of Spark or Ray loads the suite of its driver.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct SuiteSource {
    /// The path of the suite, in the spelling of the user.
    pub(crate) path: PathBuf,
    /// The files with their contents, or the reason why a file could not be read.
    files: BTreeMap<PathBuf, Result<Vec<u8>, String>>,
    /// The environment variables that the suite asked for.
    environment: BTreeMap<String, Option<String>>,
}

impl SuiteSource {
    /// A suite that is a file.
    pub(crate) fn at(path: PathBuf) -> Self {
        Self {
            path,
            ..Self::default()
        }
    }

    /// A suite whose text is given; files that it names are read from the disk.
    pub(crate) fn with_text(path: PathBuf, text: String) -> Self {
        let files = BTreeMap::from([(path.clone(), Ok(text.into_bytes()))]);
        Self {
            path,
            files,
            ..Self::default()
        }
    }

    /// Loads the suite, and keeps whatever was read for the first time.
    pub(crate) fn load(self) -> (Self, Loaded) {
        let files = RefCell::new(self.files);
        let environment = RefCell::new(self.environment);
        let read = |path: &Path| {
            files
                .borrow_mut()
                .entry(path.to_owned())
                .or_insert_with(|| std::fs::read(path).map_err(|error| error.to_string()))
                .clone()
        };
        let variable = |name: &str| {
            environment
                .borrow_mut()
                .entry(name.to_owned())
                .or_insert_with(|| std::env::var(name).ok())
                .clone()
        };
        let loaded = load_for_traces(&self.path, &Host::new(&read, &variable));
        let source = Self {
            path: self.path,
            files: files.into_inner(),
            environment: environment.into_inner(),
        };
        (source, loaded)
    }
}
