//! What does reading one part of a manifest need from the rest?

use super::content::Body;
use super::json::Json;
use super::store::Collection;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcptest_core::problem::{Problem, Span};
use mcptest_core::suite::ReadFile;
use mcptest_core::suite::read::Field;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;
use std::sync::Arc;

/// The state shared by the parts of a manifest while they are read.
pub(super) struct Context<'c> {
    pub(super) folder: &'c Path,
    pub(super) files: ReadFile<'c>,
    sequences: Cell<usize>,
    store: RefCell<Vec<Arc<Collection>>>,
    names: RefCell<BTreeMap<(&'static str, String), Span>>,
}

impl<'c> Context<'c> {
    pub(super) fn new(folder: &'c Path, files: ReadFile<'c>) -> Self {
        Self {
            folder,
            files,
            sequences: Cell::new(0),
            store: RefCell::default(),
            names: RefCell::default(),
        }
    }

    /// Reads a name. Reports a problem if an earlier entry of this kind has the same name.
    pub(super) fn own_name(&self, kind: &'static str, field: &mut Field<'_>) -> Option<String> {
        let name = field.name()?;
        match self.names.borrow_mut().entry((kind, name.clone())) {
            Entry::Vacant(entry) => {
                entry.insert(field.span());
            }
            Entry::Occupied(first) if !field.is_describing() => {
                let problem = Problem::error(format!("two {kind}s are called `{name}`"));
                field.report(
                    problem
                        .also(*first.get(), "the other one")
                        .help("rename one of them"),
                );
            }
            Entry::Occupied(_) => {}
        }
        Some(name)
    }

    /// The slot of the next sequence.
    pub(super) fn next_sequence(&self) -> usize {
        let slot = self.sequences.get();
        self.sequences.set(slot + 1);
        slot
    }

    /// The number of sequences that have been read.
    pub(super) fn sequence_count(&self) -> usize {
        self.sequences.get()
    }

    /// The collections of the store, each once.
    pub(super) fn read_store(&self, field: &mut Field<'_>) -> Option<()> {
        let collections = field.named_entries(|name, _, field| Collection::read(name, field))?;
        let collections = collections
            .into_iter()
            .map(|(_, collection)| Arc::new(collection));
        self.store.borrow_mut().extend(collections);
        Some(())
    }

    pub(super) fn store(&self) -> Vec<Arc<Collection>> {
        self.store.borrow().clone()
    }

    /// The collection that this field names, and its place.
    pub(super) fn collection(&self, field: &mut Field<'_>) -> Option<(usize, Arc<Collection>)> {
        let name = field.name()?;
        let store = self.store.borrow();
        let found = store
            .iter()
            .enumerate()
            .find(|(_, collection)| collection.name == name);
        if let Some((slot, collection)) = found {
            return Some((slot, Arc::clone(collection)));
        }
        let known: Vec<&str> = store
            .iter()
            .map(|collection| collection.name.as_str())
            .collect();
        let problem = Problem::error(format!("`store:` has no collection `{name}`"));
        let problem = if known.is_empty() {
            problem.help(format!("declare it: `store: {{{name}: {{}}}}`"))
        } else {
            problem.help(format!("declared there: {}", known.join(", ")))
        };
        field.report(problem.suggest(&name, known.iter().copied()));
        None
    }

    fn bytes_of(&self, name: &str, field: &Field<'_>) -> Option<Vec<u8>> {
        if field.is_describing() {
            return None;
        }
        let path = self.folder.join(name);
        let read = (self.files)(&path);
        read.map_err(|reason| {
            field.report(Problem::error(format!(
                "cannot read {}: {reason}",
                path.display()
            )));
        })
        .ok()
    }

    /// A file's bytes as a JSON string of base64.
    pub(super) fn base64_of(&self, name: &str, field: &Field<'_>) -> Option<Json> {
        self.bytes_of(name, field)
            .map(|bytes| Json::string(&STANDARD.encode(bytes)))
    }

    /// A file's text, or its bytes if they are not text.
    pub(super) fn body_of(&self, name: &str, field: &Field<'_>) -> Option<Body> {
        Some(match String::from_utf8(self.bytes_of(name, field)?) {
            Ok(text) => Body::Text(Json::string(&text)),
            Err(error) => Body::Blob(Json::string(&STANDARD.encode(error.as_bytes()))),
        })
    }
}
