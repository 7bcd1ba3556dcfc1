//! Which texts must never be written, and what replaces them?

#[cfg(test)]
#[path = "../../core/src/json/arbitrary.rs"]
mod arbitrary;
mod automaton;
mod base64;
mod builder;
pub mod command;
mod cut;
mod decode;
mod forms;
mod keys;
mod named;
mod own;
mod page;
mod pairs;
mod place;
mod placeholder;
mod plain;
#[cfg(test)]
mod properties;
mod quick;
#[doc(hidden)]
pub mod scan;
mod shapes;
mod sighting;
mod span;
mod structure;
#[cfg(test)]
mod tests;

pub use builder::{Builder, RedactError, compile_pattern};
pub use forms::is_secret_value;
pub use keys::is_secret_name;
pub use named::NamedSecrets;
pub use page::tables;
pub use placeholder::{has_placeholder, is_placeholder_name};
pub use sighting::Sighting;

use automaton::Automaton;
use forms::Form;
use plain::Task;
use span::{Edit, apply};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use structure::Depth;

/// A replacement can reveal another secret (`\b` before a token that touched one), so a string is
/// searched until nothing is found. After the last round, a string that still has matches is
/// replaced as a whole.
const MOST_ROUNDS: usize = 4;

/// Replaces secrets by placeholders. The same secret has the same placeholder in every file and
/// every process. Placeholders are never replaced.
#[derive(Clone)]
pub struct Redactor {
    automaton: Automaton,
    /// The meaning of each text that the automaton finds.
    meanings: Vec<Meaning>,
    value_names: Vec<String>,
    values: Vec<String>,
    has_values: bool,
    shapes: &'static [shapes::Compiled],
    patterns: Vec<builder::Pattern>,
    /// Every name that a placeholder of this redactor can have.
    names: BTreeSet<String>,
}

#[derive(Debug, Clone, Copy)]
enum Meaning {
    /// A form of the value with this index.
    Value(usize, Form),
    /// The first characters of the value with this index.
    Head(usize),
    /// The start of a token of the shape with this index.
    Shape(usize),
    Placeholder,
    Colon,
    Equals,
}

impl Redactor {
    /// Begins with universal secrets: tokens of known shapes, and values under secret names.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A string without its secrets. JSON stays JSON; prose may contain JSON.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        settle(text, |text, all_or_nothing| {
            self.scan(text, Depth::default(), all_or_nothing)
        })
    }

    /// One or several JSON texts without their secrets. The result is still JSON, and everything else keeps its
    /// bytes. Input that is not JSON is treated as text.
    pub fn json<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.as_json(text, Depth::default())
    }

    /// A report or other document of mcptest as JSON, without its secrets: like
    /// [`json`](Self::json), but a pattern never replaces a number, because mcptest counted it.
    pub fn document<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.as_json(text, Depth::of_document())
    }

    fn as_json<'t>(&self, text: &'t str, level: Depth) -> Cow<'t, str> {
        settle(text, |text, all_or_nothing| {
            let edits = self.structured(text, level, all_or_nothing);
            edits.unwrap_or_else(|| {
                self.plain(
                    text,
                    Task {
                        rule: None,
                        all_or_nothing,
                    },
                )
            })
        })
    }

    /// The value of an HTTP header without its secrets. Of an authenticating header, only the scheme remains.
    pub fn header<'t>(&self, name: &str, value: &'t str) -> Cow<'t, str> {
        let Some(rule) = keys::rule(name) else {
            return self.text(value);
        };
        settle(value, |value, all_or_nothing| {
            self.plain(
                value,
                Task {
                    rule: Some(rule),
                    all_or_nothing,
                },
            )
        })
    }

    /// The names and the bytes of the secrets in a string or JSON text, in order; empty for a
    /// redacted one.
    pub fn find(&self, text: &str) -> Vec<(String, Range<usize>)> {
        let edits = self.scan(text, Depth::default(), false).into_iter();
        edits.map(|edit| (edit.what.to_owned(), edit.at)).collect()
    }

    /// The name of the first pattern that matches in a string.
    fn pattern_in(&self, text: &str) -> Option<&str> {
        self.patterns
            .iter()
            .find(|pattern| pattern.is_in(text))
            .map(|pattern| pattern.name.as_str())
    }
}

fn settle<'r, 't>(text: &'t str, scan: impl Fn(&str, bool) -> Vec<Edit<'r>>) -> Cow<'t, str> {
    let mut settled = Cow::Borrowed(text);
    for round in 1..=MOST_ROUNDS {
        let edits = scan(&settled, round == MOST_ROUNDS);
        if edits.is_empty() {
            break;
        }
        settled = Cow::Owned(apply(&settled, &edits));
    }
    settled
}

/// Shows the number of secrets, but not the secrets.
impl fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Redactor")
            .field("values", &self.value_names)
            .field("patterns", &self.patterns.len())
            .finish_non_exhaustive()
    }
}
