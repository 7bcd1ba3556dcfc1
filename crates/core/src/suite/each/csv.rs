//! Which columns and lines does a CSV file have?

use super::data_file::{Contents, DataText, NamedColumn};
use super::row::Cell;
use crate::problem::Problem;
use crate::words::count;
use ::csv::{ReaderBuilder, StringRecord};
use std::collections::BTreeMap;
use std::ops::Range;

/// One record, and its place in the text.
struct Record {
    values: StringRecord,
    written: WrittenRecord,
}

/// The bytes of a record in the text.
struct WrittenRecord {
    /// The bytes of each value, quotes included.
    values: Vec<Range<usize>>,
    /// The byte of a quote that is never closed.
    unclosed: Option<usize>,
}

impl WrittenRecord {
    /// Finds the values of the record that starts at this byte.
    fn find(text: &str, start: usize) -> Self {
        let bytes = text.as_bytes();
        let mut found = Self {
            values: Vec::new(),
            unclosed: None,
        };
        let mut at = start;
        loop {
            let value = at;
            if bytes.get(at) == Some(&b'"') {
                let Some(end) = end_of_quoted(bytes, at) else {
                    found.unclosed = Some(at);
                    found.values.push(value..bytes.len());
                    return found;
                };
                at = end;
            }
            let is_end = |byte: &u8| matches!(byte, b',' | b'\n' | b'\r');
            at += bytes[at..]
                .iter()
                .position(is_end)
                .unwrap_or(bytes.len() - at);
            found.values.push(value..at);
            if bytes.get(at) != Some(&b',') {
                return found;
            }
            at += 1;
        }
    }

    fn bytes(&self) -> Range<usize> {
        let start = self.values.first().map_or(0, |value| value.start);
        start..self.values.last().map_or(start, |value| value.end)
    }
}

/// The byte after the quote that closes the value which begins at `open`. Two quotes are a quote within the value.
fn end_of_quoted(bytes: &[u8], open: usize) -> Option<usize> {
    let mut at = open + 1;
    loop {
        at += memchr::memchr(b'"', bytes.get(at..)?)? + 1;
        if bytes.get(at) != Some(&b'"') {
            return Some(at);
        }
        at += 1;
    }
}

/// Reads a CSV file with a header, with all of its problems.
pub(super) fn read(data: DataText<'_>) -> Contents {
    let mut contents = Contents::default();
    let mut records = records(data).into_iter();
    let Some(header) = records.next() else {
        return contents;
    };
    if let Some(problem) = unclosed(data, &header) {
        contents.problems.push(problem);
        return contents;
    }
    read_header(data, &header, &mut contents);
    for record in records {
        read_line(data, &record, &mut contents);
    }
    contents
}

fn records(data: DataText<'_>) -> Vec<Record> {
    let mark = data.mark();
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(&data.text.as_bytes()[mark..]);
    let mut records = Vec::new();
    let mut values = StringRecord::new();
    // The text is UTF-8 and in memory, and lines may have any number of values: no record fails.
    while let Ok(true) = reader.read_record(&mut values) {
        let start = values.position().map_or(0, |position| position.byte());
        let start = mark + usize::try_from(start).unwrap_or(usize::MAX);
        // The position of a record is before the ends of the lines that precede it.
        let ends =
            data.text[start..].len() - data.text[start..].trim_start_matches(['\r', '\n']).len();
        records.push(Record {
            values: values.clone(),
            written: WrittenRecord::find(data.text, start + ends),
        });
    }
    records
}

fn read_header(data: DataText<'_>, header: &Record, contents: &mut Contents) {
    let mut first: BTreeMap<&str, Range<usize>> = BTreeMap::new();
    for (name, bytes) in header.values.iter().zip(&header.written.values) {
        let (name, span) = (name.trim(), data.span(bytes.start, bytes.end));
        if name.is_empty() {
            let problem = Problem::error("a column of the header has no name").at(span);
            contents
                .problems
                .push(problem.help("name it, or remove the column from every line"));
        } else if let Some(first) = first.get(name) {
            let problem = Problem::error(format!("two columns are called `{name}`"))
                .at(span)
                .also(data.span(first.start, first.end), "the first of them");
            contents.problems.push(problem.help("rename one of them"));
        } else {
            first.insert(name, bytes.clone());
        }
        contents.columns.push(NamedColumn {
            name: name.to_owned(),
            span,
        });
    }
}

fn read_line(data: DataText<'_>, record: &Record, contents: &mut Contents) {
    let bytes = record.written.bytes();
    if let Some(problem) = unclosed(data, record) {
        contents.problems.push(problem);
        return;
    }
    let columns = &contents.columns;
    if record.values.len() != columns.len() {
        contents.problems.push(other_length(data, record, columns));
        return;
    }
    let cells = record
        .values
        .iter()
        .map(|value| Cell::Text(value.to_owned()));
    let span = data.span(bytes.start, bytes.end);
    contents.lines.push((span, cells.collect()));
}

/// The problem of a quote that is never closed: the rest of the file would be one value.
fn unclosed(data: DataText<'_>, record: &Record) -> Option<Problem> {
    let quote = record.written.unclosed?;
    let problem = Problem::error("this quote is never closed").at(data.span(quote, quote + 1));
    Some(problem.help("close it with `\"`; a quote within a quoted value is written `\"\"`"))
}

/// The problem of a line with more or fewer values than the header has columns.
fn other_length(data: DataText<'_>, record: &Record, columns: &[NamedColumn]) -> Problem {
    let (values, wanted) = (record.values.len(), columns.len());
    let message = format!(
        "this line has {}, but the header has {}",
        count(values, "value"),
        count(wanted, "column")
    );
    let bytes = record.written.bytes();
    let problem = Problem::error(message);
    let problem = if let Some(missing) = columns.get(values) {
        problem
            .at(data.span(bytes.end, bytes.end))
            .label(format!("`{}` is missing", missing.name))
    } else {
        let first = record.written.values.get(wanted);
        let start = first.map_or(bytes.start, |first| first.start);
        problem.at(data.span(start, bytes.end))
    };
    let help = match wanted {
        1 if columns[0].name.contains([';', '\t']) => {
            "separate the columns with commas, not with semicolons or tabs"
        }
        _ => {
            "write every value, empty ones too; quote values with a comma, a quote or a line break: \"Oslo, Norway\""
        }
    };
    problem.help(help)
}
