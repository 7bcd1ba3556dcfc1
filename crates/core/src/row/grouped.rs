//! Which transcripts are judged together as the runs of one row?

use super::Reason;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Transcripts that are judged as the runs of one row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transcripts {
    /// Their name in the row: the subfolder that contains them, the name of a file outside of any subfolder, or the
    /// value of the key that their traces share.
    pub name: String,
    /// The files, in natural order.
    pub files: Vec<PathBuf>,
    /// The runs of the files that belong to the group.
    pub runs: GroupedRuns,
    /// True if a transcript is refused of which something would be dropped.
    pub is_strict: bool,
}

/// The runs of a group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum GroupedRuns {
    /// Every run of its files.
    #[default]
    All,
    /// Runs that share the value of a key: the parts of the files that have runs of other groups too, and every run of
    /// the other files.
    OfKey(Arc<BTreeMap<PathBuf, PartOfFile>>),
    /// Runs that cannot be put into a group, with the reason.
    Refused(Reason),
}

/// The runs of a file that belong to one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartOfFile {
    /// The lines of the runs, as a recording has them, below the header of the file if it has one.
    pub text: String,
    /// The line of each run in the whole file.
    pub lines: Vec<usize>,
    /// The fidelity of the file, if it was imported.
    pub remark: Option<String>,
}

impl Transcripts {
    /// The part of a file that belongs to the group. `None` if all of it does.
    pub fn part_of(&self, file: &Path) -> Option<&PartOfFile> {
        match &self.runs {
            GroupedRuns::OfKey(parts) => parts.get(file),
            GroupedRuns::All | GroupedRuns::Refused(_) => None,
        }
    }

    /// The distinct remarks on the parts of its files.
    pub fn remarks(&self) -> Vec<String> {
        let GroupedRuns::OfKey(parts) = &self.runs else {
            return Vec::new();
        };
        crate::words::distinct(parts.values().filter_map(|part| part.remark.clone()))
    }

    /// Why its runs cannot be judged.
    pub fn refused(&self) -> Option<&Reason> {
        match &self.runs {
            GroupedRuns::Refused(reason) => Some(reason),
            GroupedRuns::All | GroupedRuns::OfKey(_) => None,
        }
    }
}
