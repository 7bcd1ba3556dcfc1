//! Which labels does a file contain, in one of three forms: JSON, JSON Lines or CSV?

use mcptest_core::problem::{Problem, Span, did_you_mean};
use mcptest_core::trace::{is_good_label, label_words};
use mcptest_core::yaml::{self, Entry, Kind, Node, Scalar};
use std::path::Path;

/// The keys of an entry, which identify the run and give its label.
const KEYS: [&str; 5] = ["source", "trace_id", "row", "run", "label"];

/// One label, and its runs.
#[derive(Debug, Clone, Default)]
pub(super) struct Label {
    pub(super) source: Option<String>,
    pub(super) trace_id: Option<String>,
    pub(super) row: Option<String>,
    pub(super) run: Option<usize>,
    pub(super) is_good: bool,
    pub(super) span: Span,
}

impl Label {
    fn names_one_thing(&self) -> bool {
        let named = [&self.source, &self.trace_id, &self.row];
        named.into_iter().flatten().count() == 1
    }
}

/// One value of an entry, with its place.
struct Cell {
    key: String,
    key_span: Span,
    text: String,
    span: Span,
}

/// The labels of a string, or all that is wrong with it.
pub(super) fn read(path: &Path, text: &str, file: usize) -> (Vec<Label>, Vec<Problem>) {
    let mut reader = LabelReader {
        file,
        entries: Vec::new(),
        problems: Vec::new(),
    };
    let extension = path
        .extension()
        .map(|extension| extension.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("csv") => reader.csv(text),
        Some("jsonl" | "ndjson") => {
            let mut start = 0;
            for line in text.split_inclusive('\n') {
                reader.document(line, start);
                start += line.len();
            }
        }
        _ => reader.document(text, 0),
    }
    if reader.entries.is_empty() && reader.problems.is_empty() {
        let problem = Problem::error("this file has no labels").at(Span {
            file,
            ..Span::default()
        });
        reader.problems.push(
            problem.help("write them as `{\"source\": \"runs/1.json\", \"label\": \"good\"}`"),
        );
    }
    (reader.entries, reader.problems)
}

struct LabelReader {
    file: usize,
    entries: Vec<Label>,
    problems: Vec<Problem>,
}

impl LabelReader {
    /// Reads a list of entries, one entry, or a map from files to labels. `start` is the offset of
    /// the text in the file.
    fn document(&mut self, text: &str, start: usize) {
        let mut problems = Vec::new();
        let root = yaml::parse(text, self.file, &mut problems);
        self.problems.extend(problems.into_iter().map(|problem| {
            let message = problem
                .message
                .replace("this is not YAML", "this is not JSON");
            moved(Problem { message, ..problem }, start)
        }));
        let Some(root) = root else { return };
        match &root.kind {
            Kind::List(items) => items.iter().for_each(|item| self.item(item, start)),
            Kind::Map(entries) if entries.iter().any(|entry| KEYS.contains(&&*entry.key)) => {
                self.item(&root, start);
            }
            Kind::Map(entries) => {
                for entry in entries {
                    self.labelled_source(entry, start);
                }
            }
            Kind::Scalar(Scalar::Null) => {}
            Kind::Scalar(_) => self.problem("expected a list of labels", at(root.span, start)),
        }
    }

    /// `runs/1.json: good`.
    fn labelled_source(&mut self, entry: &Entry, start: usize) {
        let Some(label) = self.scalar(&entry.value, start) else {
            return;
        };
        let cell = |key: &str, text: String, span: Span| Cell {
            key: key.to_owned(),
            key_span: at(span, start),
            text,
            span: at(span, start),
        };
        let source = cell("source", entry.key.to_string(), entry.key_span);
        let label = cell("label", label, entry.value.span);
        self.entry(&[source, label], at(entry.key_span, start));
    }

    fn item(&mut self, node: &Node, start: usize) {
        let Kind::Map(entries) = &node.kind else {
            let message = format!(
                "expected a map with `source` and `label`, found {}",
                node.describe()
            );
            return self.problem(&message, at(node.span, start));
        };
        let mut cells = Vec::new();
        for entry in entries {
            let Some(text) = self.scalar(&entry.value, start) else {
                return;
            };
            let (key_span, span) = (at(entry.key_span, start), at(entry.value.span, start));
            cells.push(Cell {
                key: entry.key.to_string(),
                key_span,
                text,
                span,
            });
        }
        self.entry(&cells, at(node.span, start));
    }

    /// A value as text.
    fn scalar(&mut self, node: &Node, start: usize) -> Option<String> {
        match &node.kind {
            Kind::Scalar(Scalar::Null) => Some(String::new()),
            Kind::Scalar(Scalar::Bool(flag)) => Some(flag.to_string()),
            Kind::Scalar(Scalar::Number(number)) => Some(number.to_string()),
            Kind::Scalar(Scalar::Text { text, .. } | Scalar::NotFinite(text)) => Some(text.clone()),
            Kind::List(_) | Kind::Map(_) => {
                self.problem(
                    &format!("expected one value, found {}", node.describe()),
                    at(node.span, start),
                );
                None
            }
        }
    }

    /// A header line with the names of the columns, then a line for each label.
    fn csv(&mut self, text: &str) {
        let mut lines = csv_lines(text, self.file).into_iter();
        let Some(header) = lines.next() else { return };
        for column in &header {
            if !KEYS.contains(&column.text.as_str()) {
                self.unknown_key(&column.text, column.span);
            }
        }
        if !self.problems.is_empty() {
            return;
        }
        for line in lines {
            self.csv_line(&header, line);
        }
    }

    fn csv_line(&mut self, header: &[CsvCell], line: Vec<CsvCell>) {
        let (Some(first), Some(last)) = (line.first(), line.last()) else {
            return;
        };
        if line.len() != header.len() {
            let message = format!(
                "expected {} values, as in the header, found {}",
                header.len(),
                line.len()
            );
            self.problem(&message, first.span);
            return;
        }
        let whole = Span {
            end: last.span.end,
            ..first.span
        };
        let cells: Vec<Cell> = header
            .iter()
            .zip(line)
            .map(|(column, value)| Cell {
                key: column.text.clone(),
                key_span: column.span,
                text: value.text,
                span: value.span,
            })
            .collect();
        self.entry(&cells, whole);
    }

    /// One label from its values. Empty values count as absent.
    fn entry(&mut self, cells: &[Cell], whole: Span) {
        let known_problems = self.problems.len();
        let mut entry = Label {
            span: whole,
            ..Label::default()
        };
        let mut label = None;
        for cell in cells {
            if !KEYS.contains(&cell.key.as_str()) {
                self.unknown_key(&cell.key, cell.key_span);
            }
            let text = cell.text.trim();
            if text.is_empty() {
                continue;
            }
            match cell.key.as_str() {
                "source" => entry.source = Some(text.to_owned()),
                "trace_id" => entry.trace_id = Some(text.to_owned()),
                "row" => entry.row = Some(text.to_owned()),
                "run" => entry.run = self.run(text, cell.span),
                "label" => label = self.label(text, cell.span),
                _ => {}
            }
        }
        if self.problems.len() > known_problems {
            return;
        }
        if !entry.names_one_thing() {
            let message = "a label needs exactly one of `source`, `trace_id` or `row`";
            return self.problem(message, whole);
        }
        match label {
            Some(is_good) => self.entries.push(Label { is_good, ..entry }),
            None => self.problem("`label` is missing here", whole),
        }
    }

    fn run(&mut self, text: &str, place: Span) -> Option<usize> {
        let number = text.parse().ok().filter(|number| *number > 0);
        if number.is_none() {
            self.problem(
                &format!("`{text}` is not the number of a run; the first is 1"),
                place,
            );
        }
        number
    }

    fn label(&mut self, text: &str, place: Span) -> Option<bool> {
        if let Some(is_good) = is_good_label(text) {
            return Some(is_good);
        }
        let help = did_you_mean(&text.to_lowercase(), label_words(), || {
            "write good or bad, pass or fail, true or false, or a reward from 0 to 1".to_owned()
        });
        let problem = Problem::error(format!("`{text}` is not a label"));
        self.problems.push(problem.at(place).help(help));
        None
    }

    fn unknown_key(&mut self, key: &str, place: Span) {
        let help = did_you_mean(key, KEYS, || format!("the keys are {}", KEYS.join(", ")));
        self.problems.push(
            Problem::error(format!("unknown key `{key}`"))
                .at(place)
                .help(help),
        );
    }

    fn problem(&mut self, message: &str, place: Span) {
        self.problems.push(Problem::error(message).at(place));
    }
}

fn at(span: Span, start: usize) -> Span {
    Span {
        start: span.start + start,
        end: span.end + start,
        ..span
    }
}

fn moved(problem: Problem, start: usize) -> Problem {
    Problem {
        span: problem.span.map(|span| at(span, start)),
        also: problem.also.map(|(span, label)| (at(span, start), label)),
        ..problem
    }
}

/// A value of a CSV file, with its place.
struct CsvCell {
    text: String,
    span: Span,
}

/// The lines of a CSV file that were read so far.
struct CsvLines {
    file: usize,
    lines: Vec<Vec<CsvCell>>,
    cell: String,
    /// The offset of the cell.
    start: usize,
}

impl CsvLines {
    fn end_cell(&mut self, end: usize) {
        let cell = std::mem::take(&mut self.cell);
        let span = Span {
            file: self.file,
            start: self.start,
            end,
        };
        if let Some(line) = self.lines.last_mut() {
            line.push(CsvCell {
                text: cell.trim().to_owned(),
                span,
            });
        }
        self.start = end + 1;
    }
}

/// The cells of each non-empty line. Quoted cells may contain commas, line breaks and doubled
/// quotes.
fn csv_lines(text: &str, file: usize) -> Vec<Vec<CsvCell>> {
    let mut csv = CsvLines {
        file,
        lines: vec![Vec::new()],
        cell: String::new(),
        start: 0,
    };
    let mut is_quoted = false;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' if is_quoted && letters.next_if(|(_, next)| *next == '"').is_some() => {
                csv.cell.push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => csv.end_cell(at),
            '\n' if !is_quoted => {
                csv.end_cell(at);
                csv.lines.push(Vec::new());
            }
            '\u{feff}' if at == 0 => csv.start = letter.len_utf8(),
            '\r' if !is_quoted => {}
            letter => csv.cell.push(letter),
        }
    }
    csv.end_cell(text.len());
    csv.lines
        .retain(|line| line.iter().any(|cell| !cell.text.is_empty()));
    csv.lines
}
