//! Which columns and lines does a file with a JSON object on each line have?

use super::data_file::{Contents, DataText, NamedColumn};
use super::row::Cell;
use crate::json::type_word;
use crate::problem::{Problem, Span};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Reads the objects of a file, with all of its problems. Its columns are the keys of all objects.
pub(super) fn read(data: DataText<'_>) -> Contents {
    let mut contents = Contents::default();
    let mut objects: Vec<(Span, Map<String, Value>)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut start = data.mark();
    for line in data.text[start..].split_inclusive('\n') {
        let written = line.trim();
        if !written.is_empty() {
            let begins = start + line.len() - line.trim_start().len();
            match object(data, written, begins) {
                Ok(object) => {
                    for key in object.keys() {
                        places.entry(key.clone()).or_insert_with(|| {
                            contents.columns.push(column(data, key, written, begins));
                            contents.columns.len() - 1
                        });
                    }
                    objects.push((data.span(begins, begins + written.len()), object));
                }
                Err(problem) => contents.problems.push(*problem),
            }
        }
        start += line.len();
    }
    if contents.problems.len() > 1
        && let Some(problem) = one_document(data)
    {
        contents.problems = vec![problem];
    }
    for (span, mut object) in objects {
        let cell = |column: &NamedColumn| {
            object
                .remove(&column.name)
                .map_or(Cell::Missing, Cell::Json)
        };
        contents
            .lines
            .push((span, contents.columns.iter().map(cell).collect()));
    }
    contents
}

fn object(
    data: DataText<'_>,
    line: &str,
    start: usize,
) -> Result<Map<String, Value>, Box<Problem>> {
    match serde_json::from_str(line) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(other) => {
            let message = format!(
                "each line is a JSON object, but this is a JSON {}",
                type_word(&other)
            );
            let span = data.span(start, start + line.len());
            let problem = Problem::error(message).at(span);
            Err(Box::new(
                problem.help("write the columns as keys: {\"city\": \"Oslo\"}"),
            ))
        }
        Err(error) => {
            let column = error.column().saturating_sub(1).min(line.len());
            let is_boundary = |at: &usize| line.is_char_boundary(*at);
            let at = start + (0..=column).rfind(is_boundary).unwrap_or_default();
            let reason = error.to_string();
            let reason = reason.split(" at line ").next().unwrap_or_default();
            let problem = Problem::error(format!("this line is not JSON: {reason}"));
            let problem = problem.at(data.span(at, at));
            Err(Box::new(problem.help("write one JSON object on each line")))
        }
    }
}

/// The problem of a file that is one JSON document over many lines.
fn one_document(data: DataText<'_>) -> Option<Problem> {
    let document: Value = serde_json::from_str(data.text.trim_start_matches('\u{feff}')).ok()?;
    let message = format!(
        "the file is one JSON {}, not a JSON object on each line",
        type_word(&document)
    );
    let command = if document.is_array() {
        "jq -c '.[]'"
    } else {
        "jq -c ."
    };
    let problem = Problem::error(message).at(data.span(data.mark(), data.mark()));
    Some(problem.help(format!("`{command}` writes it so")))
}

/// A column at its first key.
fn column(data: DataText<'_>, key: &str, line: &str, start: usize) -> NamedColumn {
    let written = Value::from(key).to_string();
    let span = match line.find(&written) {
        Some(at) => data.span(start + at, start + at + written.len()),
        None => data.span(start, start),
    };
    NamedColumn {
        name: key.to_owned(),
        span,
    }
}
