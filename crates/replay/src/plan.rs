//! Suites become a plan: the rows that are judged, in the order of the files.

use crate::paths::{cassette_paths, side_path};
use crate::select::Selection;
use crate::tool_test;
use mcptest_core::eval::Gates;
use mcptest_core::problem::{SourceFile, Sources};
use mcptest_core::row::{Reason, ReasonKind, Row, Subject, Transcripts};
use mcptest_core::suite::{Loaded, Suite};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The rows to judge.
#[derive(Debug)]
pub struct Plan<'s> {
    /// The rows, in order.
    pub rows: Vec<Row<'s>>,
    sources: Vec<&'s Sources>,
}

impl<'s> Plan<'s> {
    /// The selected rows of these suites. A refused suite is a separate row.
    pub fn new(loaded: &'s [(String, Loaded)], selection: &Selection) -> Self {
        Self::from_rows(loaded, Suite::rows, selection)
    }

    /// The selected rows of these suites over the transcripts of a folder: one for each agent and group.
    pub fn from_traces(
        loaded: &'s [(String, Loaded)],
        folder: &Path,
        groups: &[Transcripts],
        selection: &Selection,
    ) -> Self {
        let rows_of = |suite: &'s Suite| {
            let mut rows = suite.rows_of_transcripts(groups);
            for row in &mut rows {
                row.rerun.traces = Some(folder.display().to_string());
            }
            rows
        };
        let mut plan = Self::from_rows(loaded, rows_of, selection);
        for row in plan.rows.iter_mut().filter(|row| row.is_refused()) {
            row.rerun.traces = Some(folder.display().to_string());
        }
        plan
    }

    /// The gates that its suites may use; none if every suite was refused.
    pub fn gates(&self) -> Gates {
        let suite = self.rows.iter().find_map(Row::suite);
        suite.map(|suite| suite.gates).unwrap_or_default()
    }

    /// The recordings that are read or written for it, as far as known in advance.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> + '_ {
        self.rows.iter().flat_map(files_of)
    }

    /// The same plan with only the rows at these places.
    #[must_use]
    pub fn narrowed_to(self, places: &BTreeSet<usize>) -> Self {
        let rows = self.rows.into_iter().enumerate();
        let kept = rows.filter(|(at, _)| places.contains(at));
        Self {
            rows: kept.map(|(_, row)| row).collect(),
            ..self
        }
    }

    /// The text of a file of its suites, by the path that rows name it by.
    pub(crate) fn source(&self, path: &str) -> Option<&'s SourceFile> {
        self.sources.iter().find_map(|sources| sources.named(path))
    }

    fn from_rows(
        loaded: &'s [(String, Loaded)],
        rows_of: impl Fn(&'s Suite) -> Vec<Row<'s>>,
        selection: &Selection,
    ) -> Self {
        let rows = loaded
            .iter()
            .flat_map(|(path, loaded)| match &loaded.suite {
                Some(suite) => rows_of(suite),
                None => vec![Row::refused(path, loaded)],
            });
        let is_selected =
            |row: &Row<'_>| row.is_refused() || selection.accepts(&row.name, row.tags());
        let (mut rows, others): (Vec<Row<'s>>, Vec<Row<'s>>) = rows.partition(is_selected);
        if rows.iter().all(Row::is_refused) {
            rows.extend(
                others
                    .into_iter()
                    .filter_map(|row| single_runs(row, selection)),
            );
        }
        if rows.iter().any(Row::is_only) {
            for row in rows
                .iter_mut()
                .filter(|row| !row.is_only() && !row.is_refused())
            {
                let other = || Reason::new(ReasonKind::OtherOnly, "another test has `only: true`");
                row.skip.get_or_insert_with(other);
            }
        }
        let sources = loaded.iter().map(|(_, loaded)| &loaded.sources).collect();
        Self { rows, sources }
    }
}

/// The row with the runs that the filters name, if they name any.
fn single_runs<'s>(row: Row<'s>, selection: &Selection) -> Option<Row<'s>> {
    /// The number of runs to inspect in a row whose number of runs is unknown in advance.
    const MOST: usize = 1000;
    let agent = row.agent_row()?.agent;
    let most = if agent.is_read_only() {
        MOST
    } else {
        agent.runs
    };
    let runs = selection.runs_of(&row.name, row.tags(), most);
    (!runs.is_empty()).then(|| row.with_runs(runs))
}

/// The recordings that are read or written for a row, as far as known in advance.
pub(crate) fn files_of(row: &Row<'_>) -> Vec<PathBuf> {
    match (row.subject, &row.transcripts) {
        (_, Some(group)) => group.files.clone(),
        (Subject::Agent(of), None) => {
            let mut files = cassette_paths(of).unwrap_or_default();
            files.extend(side_path(of));
            files
        }
        (Subject::Tool(of), None) => vec![tool_test::path_of(of.suite, of.test)],
        (Subject::Refused(_), None) => Vec::new(),
    }
}
