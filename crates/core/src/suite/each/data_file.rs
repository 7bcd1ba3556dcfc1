//! Which lines and columns does a data file have?

use super::row::{Cell, DataRow};
use super::{csv, json_lines};
use crate::problem::{Problem, Span};
use crate::suite::variables::is_variable_name;
use crate::words::quoted;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// A file of data, one test a line.
#[derive(Debug)]
pub(in crate::suite) struct DataFile {
    columns: Vec<NamedColumn>,
    pub(super) rows: Vec<Arc<DataRow>>,
    /// The name of the file, as the suite writes it.
    pub(super) name: String,
}

/// A column and the place where its name first appears.
#[derive(Debug)]
pub(super) struct NamedColumn {
    pub(super) name: String,
    pub(super) span: Span,
}

/// The contents of a data file, as its format has them.
#[derive(Default)]
pub(super) struct Contents {
    pub(super) columns: Vec<NamedColumn>,
    /// The place and values of each line.
    pub(super) lines: Vec<(Span, Vec<Cell>)>,
    pub(super) problems: Vec<Problem>,
}

/// A text with the number of its file among the sources.
#[derive(Clone, Copy)]
pub(super) struct DataText<'t> {
    pub(super) text: &'t str,
    pub(super) file: usize,
}

impl DataText<'_> {
    /// The place of these bytes.
    pub(super) fn span(self, start: usize, end: usize) -> Span {
        Span {
            file: self.file,
            start,
            end,
        }
    }

    /// The number of bytes of a byte order mark at the start.
    pub(super) fn mark(self) -> usize {
        self.text.len() - self.text.trim_start_matches('\u{feff}').len()
    }
}

/// Reads the contents of one format.
type ReadContents = fn(DataText<'_>) -> Contents;

/// The endings of data files.
const FORMATS: [(&str, ReadContents); 3] = [
    ("csv", csv::read),
    ("jsonl", json_lines::read),
    ("ndjson", json_lines::read),
];

/// Returns the problem of a path whose ending is not the ending of a data file.
pub(in crate::suite) fn refuse_ending(path: &str) -> Option<Problem> {
    if format_of(path).is_some() {
        return None;
    }
    let endings = FORMATS.map(|(ending, _)| format!("`.{ending}`")).join(", ");
    let problem = Problem::error(format!(
        "`{path}` is not a data file: its name must end in {endings}"
    ));
    Some(problem.help("write a CSV file with a header, or a JSON object on each line"))
}

fn format_of(path: &str) -> Option<ReadContents> {
    let ending = Path::new(path).extension()?;
    let known = FORMATS
        .iter()
        .find(|(known, _)| ending.eq_ignore_ascii_case(known));
    known.map(|(_, read)| *read)
}

impl DataFile {
    /// Reads the text of a file, with all of its problems.
    pub(in crate::suite) fn read(name: &str, text: &str, file: usize) -> (Self, Vec<Problem>) {
        let contents = format_of(name).map(|read| read(DataText { text, file }));
        let Contents {
            columns,
            lines,
            mut problems,
        } = contents.unwrap_or_default();
        if lines.is_empty() && problems.is_empty() {
            problems.push(without_lines(name, &columns, file));
        }
        let places = columns.iter().enumerate();
        let places: BTreeMap<String, usize> = places
            .map(|(at, column)| (column.name.clone(), at))
            .collect();
        let places = Arc::new(places);
        let row = |(span, cells)| Arc::new(DataRow::new(Arc::clone(&places), cells, span));
        let data = Self {
            columns,
            rows: lines.into_iter().map(row).collect(),
            name: name.to_owned(),
        };
        (data, problems)
    }

    /// A column to show in an example.
    pub(super) fn example_column(&self) -> &str {
        let usable = self
            .columns
            .iter()
            .find(|column| is_variable_name(&column.name));
        usable.map_or("column", |column| &column.name)
    }

    /// The warning for columns that no block uses. Names that start with `x-` are the author's notes.
    pub(in crate::suite) fn unused(&self, used: &BTreeSet<String>) -> Option<Problem> {
        let is_note = |name: &str| name.starts_with("x-") || name.starts_with("x_");
        let unused: Vec<&NamedColumn> = self
            .columns
            .iter()
            .filter(|column| !used.contains(&column.name) && !is_note(&column.name))
            .collect();
        let first = unused.first()?;
        let names = quoted(unused.iter().map(|column| &column.name));
        let message = match unused.len() {
            1 => format!("the column {names} is not used"),
            _ => format!("the columns {names} are not used"),
        };
        let help = match unused.iter().find(|column| !is_variable_name(&column.name)) {
            Some(column) => format!(
                "rename `{}`: the name of a column that is used consists of letters, digits and `_`",
                column.name
            ),
            None => format!(
                "write `${{{}}}` where its value belongs, or start the name with `x-`",
                first.name
            ),
        };
        Some(Problem::warning(message).at(first.span).help(help))
    }
}

fn without_lines(name: &str, columns: &[NamedColumn], file: usize) -> Problem {
    let message = match columns.last() {
        Some(_) => format!("`{name}` has a header, but no line of data"),
        None => format!("`{name}` is empty"),
    };
    let start = Span {
        file,
        start: 0,
        end: 0,
    };
    Problem::error(message).at(start).help(
        "each line below the header of a CSV file, or each line of a JSON Lines file, is a test",
    )
}
