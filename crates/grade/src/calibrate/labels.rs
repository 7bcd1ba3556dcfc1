//! Which label does a run have, and which labels belong to no run?

use super::Mislabelled;
use super::label_file::{Label, read};
use mcptest_core::escape::escape_path;
use mcptest_core::judge::MeasurableRun;
use mcptest_core::problem::{Problem, Sources, nearest};
use mcptest_files as files;
use mcptest_replay::cassette::is_tape;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The labels of a file, and which of them were used.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    entries: Vec<Label>,
    /// The labels by the part of a path that they name.
    by_source: BTreeMap<String, Vec<usize>>,
    by_row: BTreeMap<String, Vec<usize>>,
    by_trace_id: BTreeMap<String, Vec<usize>>,
    /// The files that each label was found to mean.
    used: Vec<BTreeSet<String>>,
    problems: Vec<Problem>,
    sources: Sources,
    seen: SeenRuns,
    /// True if a part could not be read, so that its trace id is unknown.
    is_excused: bool,
}

/// The names of runs, for suggestions.
#[derive(Debug, Default)]
struct SeenRuns {
    /// Each with the number of its last run.
    rows: BTreeMap<String, usize>,
    sources: BTreeMap<String, usize>,
    trace_ids: BTreeSet<String>,
}

impl Labels {
    /// Reads a file of labels.
    pub(crate) fn read(path: &Path) -> Result<Self, Mislabelled> {
        let mut sources = Sources::default();
        let named = escape_path(path);
        let refuse = |message: String| Mislabelled {
            problems: vec![Problem::error(message)],
            sources: Sources::default(),
        };
        let text = files::read_named_text(path, files::TEXT)
            .map_err(|error| refuse(format!("cannot read {named}: {}", files::reason(&error))))?;
        // The lines of a tape are not for quoting: they are redacted when it is shown.
        if is_tape(text.as_bytes()) {
            return Err(refuse(format!("{named} is a tape, not a file of labels")));
        }
        let file = sources.add(path.display().to_string(), text);
        let (entries, problems) = read(path, &sources.file(file).text, file);
        if !problems.is_empty() {
            return Err(Mislabelled { problems, sources });
        }
        let mut labels = Self {
            used: vec![BTreeSet::new(); entries.len()],
            entries,
            sources,
            ..Self::default()
        };
        labels.index_entries();
        Ok(labels)
    }

    fn index_entries(&mut self) {
        for (at, entry) in self.entries.iter().enumerate() {
            let places = if let Some(source) = &entry.source {
                self.by_source.entry(parts(source).join("/")).or_default()
            } else if let Some(id) = &entry.trace_id {
                self.by_trace_id.entry(id.clone()).or_default()
            } else if let Some(row) = &entry.row {
                self.by_row.entry(row.clone()).or_default()
            } else {
                continue;
            };
            places.push(at);
        }
    }

    /// The file they are from.
    pub(super) fn path(&self) -> String {
        self.sources.paths().next().unwrap_or_default().to_owned()
    }

    /// The label of a run of a row.
    pub(super) fn find(&mut self, row: &str, run: &MeasurableRun<'_>) -> Option<bool> {
        let source = run.source.map(|path| path.display().to_string());
        let trace_id = if self.by_trace_id.is_empty() {
            None
        } else {
            run.trace_id()
        };
        let found = self.entries_of(row, run, source.as_deref(), trace_id.as_deref());
        for at in &found {
            self.used[*at].insert(source.clone().unwrap_or_default());
        }
        self.seen.rows.insert(row.to_owned(), run.run.number);
        if let Some(source) = source {
            self.seen.sources.insert(source, run.in_source);
        }
        self.seen.trace_ids.extend(trace_id);
        let (first, others) = found.split_first()?;
        let first = &self.entries[*first];
        let mut others = others.iter().map(|at| &self.entries[*at]);
        if let Some(other) = others.find(|other| other.is_good != first.is_good) {
            let message = format!(
                "run {} of `{row}` is labelled both good and bad",
                run.run.number
            );
            self.problems.push(
                Problem::error(message)
                    .at(other.span)
                    .also(first.span, "the other label"),
            );
        }
        Some(first.is_good)
    }

    /// The entries that mean this run: by its file, its row or its trace id.
    fn entries_of(
        &self,
        row: &str,
        run: &MeasurableRun<'_>,
        source: Option<&str>,
        trace_id: Option<&str>,
    ) -> Vec<usize> {
        let means =
            |at: &usize, number: usize| self.entries[*at].run.is_none_or(|meant| meant == number);
        let by_source = source
            .into_iter()
            .flat_map(|source| self.naming(source))
            .filter(|at| means(at, run.in_source));
        let by_row = self.by_row.get(row).into_iter().flatten();
        let by_row = by_row.filter(|at| means(at, run.run.number));
        let by_trace_id = trace_id
            .and_then(|id| self.by_trace_id.get(id))
            .into_iter()
            .flatten();
        by_source
            .chain(by_row)
            .chain(by_trace_id)
            .copied()
            .collect()
    }

    /// Marks labels of unreadable rows or files as used.
    pub(super) fn excuse<P: AsRef<Path>>(&mut self, row: &str, files: impl Iterator<Item = P>) {
        self.is_excused = true;
        for at in self.by_row.get(row).into_iter().flatten() {
            self.used[*at].insert(String::new());
        }
        for file in files {
            let source = file.as_ref().display().to_string();
            let named: Vec<usize> = self.naming(&source).copied().collect();
            for at in named {
                self.used[at].insert(source.clone());
            }
        }
    }

    /// The labels that name a file by its path, or by the end of it.
    fn naming(&self, source: &str) -> impl Iterator<Item = &usize> {
        let parts = parts(source);
        let ends = (0..parts.len()).map(move |from| parts[from..].join("/"));
        ends.filter_map(|end| self.by_source.get(&end)).flatten()
    }

    /// Requires that every label belongs to a run, and each to runs of one file.
    pub(crate) fn finish(mut self) -> Result<(), Mislabelled> {
        for (entry, used) in self.entries.iter().zip(&self.used) {
            if used.is_empty() && self.is_excused && entry.trace_id.is_some() {
                continue;
            }
            if used.is_empty() {
                self.problems.push(self.seen.unused(entry));
            } else if entry.source.is_some() && used.len() > 1 {
                let files: Vec<&str> = used.iter().map(String::as_str).take(3).collect();
                let problem = Problem::error(format!(
                    "this matches {} files: {}",
                    used.len(),
                    files.join(", ")
                ));
                self.problems
                    .push(problem.at(entry.span).help("write more of the path"));
            }
        }
        if self.problems.is_empty() {
            return Ok(());
        }
        Problem::sort(&mut self.problems);
        Err(Mislabelled {
            problems: self.problems,
            sources: self.sources,
        })
    }
}

impl SeenRuns {
    fn unused(&self, entry: &Label) -> Problem {
        if let Some(number) = entry.run
            && let Some((name, last)) = self.known(entry)
        {
            let runs = if last == 1 {
                "1 run".to_owned()
            } else {
                format!("{last} runs")
            };
            let problem =
                Problem::error(format!("run {number} does not exist: `{name}` has {runs}"));
            return problem.at(entry.span);
        }
        let (message, near) = if let Some(source) = &entry.source {
            (
                format!("no run comes from `{source}`"),
                self.nearest_source(source),
            )
        } else if let Some(id) = &entry.trace_id {
            let near = nearest(id, self.trace_ids.iter().map(String::as_str));
            (format!("no run has the trace id `{id}`"), near)
        } else {
            let row = entry.row.as_deref().unwrap_or_default();
            let near = nearest(row, self.rows.keys().map(String::as_str));
            (format!("no row is named `{row}`"), near)
        };
        let help = near.map_or_else(|| self.in_words(), |near| format!("did you mean `{near}`?"));
        Problem::error(message).at(entry.span).help(help)
    }

    /// The most similar path, otherwise the most similar file name.
    fn nearest_source(&self, source: &str) -> Option<&str> {
        let paths = self.sources.keys().map(String::as_str);
        nearest(source, paths.clone()).or_else(|| nearest(file_name(source), paths.map(file_name)))
    }

    /// The row or file that a label names, with its number of runs.
    fn known(&self, entry: &Label) -> Option<(&str, usize)> {
        let of_row = entry
            .row
            .as_ref()
            .and_then(|row| self.rows.get_key_value(row));
        let is_it = |source: &String| {
            entry
                .source
                .as_ref()
                .is_some_and(|end| ends_with(source, end))
        };
        let of_source = || self.sources.iter().find(|(source, _)| is_it(source));
        of_row
            .or_else(of_source)
            .map(|(name, last)| (name.as_str(), *last))
    }

    fn in_words(&self) -> String {
        const SHOWN: usize = 3;
        let (what, names) = if self.sources.is_empty() {
            ("rows", &self.rows)
        } else {
            ("files", &self.sources)
        };
        let mut shown: Vec<&str> = names.keys().map(String::as_str).take(SHOWN).collect();
        if names.len() > SHOWN {
            shown.push("and so on");
        }
        match shown[..] {
            [] => "no run could be read".to_owned(),
            _ => format!("the {what} are {}", shown.join(", ")),
        }
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn parts(path: &str) -> Vec<String> {
    path.split(['/', '\\'])
        .filter(|part| !matches!(*part, "" | "."))
        .map(str::to_owned)
        .collect()
}

/// Returns true if a path ends in these parts, each a whole name.
fn ends_with(path: &str, end: &str) -> bool {
    parts(path).ends_with(&parts(end))
}
