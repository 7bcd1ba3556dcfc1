//! Which tests does a block make, one for each line of its data, and which problems do they share?

use super::data_file::DataFile;
use super::each_of;
use super::row::DataRow;
use crate::hashed::HashMap;
use crate::problem::{Problem, Span};
use crate::suite::names::Declaration;
use crate::suite::read::{Field, Reading};
use crate::yaml::Node;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Reads one block of a test.
type ReadBlock<T> = fn(&mut Field<'_>) -> Option<T>;

/// Reads a block: the test that it is, or with `each:` one test for each line of the data.
pub(in crate::suite) fn read_rows<T: Declaration>(
    field: &mut Field<'_>,
    read: ReadBlock<T>,
) -> Option<Vec<T>> {
    let Some(node) = field.written() else {
        let reading = field.reading;
        return reading.describe_row(|| read(field).map(|one| vec![one]));
    };
    let Some(each) = each_of(node) else {
        return read(field).map(|one| vec![one]);
    };
    // The problems of a file that cannot be read are known.
    let data = field.reading.data_at(each.span)?;
    Some(TestsOfBlock::new(field.reading, &data).read(node, read))
}

/// The tests of one block.
struct TestsOfBlock<'r> {
    reading: &'r Reading<'r>,
    data: &'r DataFile,
    problems: ProblemsOfRows,
}

impl<'r> TestsOfBlock<'r> {
    fn new(reading: &'r Reading<'r>, data: &'r DataFile) -> Self {
        Self {
            reading,
            data,
            problems: ProblemsOfRows::default(),
        }
    }

    fn read<T: Declaration>(mut self, node: &Node, read: ReadBlock<T>) -> Vec<T> {
        let mut tests = Vec::new();
        for row in &self.data.rows {
            let reading = self.reading.of_row(row);
            let block = row.with_lists_and_maps(node);
            let test = read(&mut Field::new(&reading, &block));
            self.reading.note(reading.named());
            let name = test.as_ref().map(Declaration::name);
            self.problems.add(reading.into_problems(), row, name);
            tests.extend(test.map(|test| (test, Arc::clone(row))));
        }
        self.problems.report(self.reading, self.data.rows.len());
        self.with_unique_names(tests)
    }

    /// The tests, except tests with the name of an earlier line's test.
    fn with_unique_names<T: Declaration>(&self, tests: Vec<(T, Arc<DataRow>)>) -> Vec<T> {
        let names: BTreeSet<&str> = tests.iter().map(|(test, _)| test.name()).collect();
        if let ([(first, _), _, ..], 1) = (&tests[..], names.len()) {
            self.reading.report(one_name(first, self.data));
            return tests.into_iter().take(1).map(|(test, _)| test).collect();
        }
        let mut places: HashMap<String, Span> = HashMap::default();
        let mut unique = Vec::with_capacity(tests.len());
        for (test, row) in tests {
            if let Some(first) = places.get(test.name()) {
                let problem = same_name(test.name(), row.span, *first);
                self.reading.report(problem);
            } else {
                places.insert(test.name().to_owned(), row.span);
                unique.push(test);
            }
        }
        unique
    }
}

/// The problem of a name without a column.
fn one_name<T: Declaration>(test: &T, data: &DataFile) -> Problem {
    let message = format!(
        "every line of `{}` makes a test called `{}`",
        data.name,
        test.name()
    );
    let example = data.example_column();
    Problem::error(message).at(test.span()).help(format!(
        "write a column into the name: `name: {} ${{{example}}}`",
        test.name()
    ))
}

fn same_name(name: &str, line: Span, first: Span) -> Problem {
    Problem::error(format!("two lines of data make a test called `{name}`"))
        .at(line)
        .also(first, "the other line")
        .help("write another column into `name:`, or remove one of the lines")
}

/// The problems of the tests of a block, each once.
#[derive(Default)]
struct ProblemsOfRows {
    found: Vec<FoundProblem>,
    /// Their places in `found`, by place and message. The name of the test does not count.
    known: BTreeMap<(Option<Span>, String), usize>,
}

struct FoundProblem {
    problem: Problem,
    /// The first line that has it.
    line: Span,
    /// The number of lines that have it.
    lines: usize,
}

impl ProblemsOfRows {
    fn add(&mut self, problems: Vec<Problem>, row: &DataRow, name: Option<&str>) {
        let mut of_row = BTreeSet::new();
        for problem in problems {
            let message = match name {
                Some(name) => problem.message.replace(&format!("`{name}`"), "``"),
                None => problem.message.clone(),
            };
            let next = self.found.len();
            let at = *self.known.entry((problem.span, message)).or_insert(next);
            if at == next {
                self.found.push(FoundProblem {
                    problem,
                    line: row.span,
                    lines: 0,
                });
            }
            if of_row.insert(at) {
                self.found[at].lines += 1;
            }
        }
    }

    /// Reports the problems. A problem that only some lines have shows the first of these lines.
    fn report(&mut self, reading: &Reading<'_>, lines: usize) {
        for found in self.found.drain(..) {
            let is_of_block = found.lines == lines && lines > 1;
            reading.report(if is_of_block || found.problem.also.is_some() {
                found.problem
            } else {
                let label = match found.lines {
                    1 => "in the test of this line".to_owned(),
                    many => format!("in the tests of {many} lines; this is the first of them"),
                };
                found.problem.also(found.line, label)
            });
        }
    }
}
