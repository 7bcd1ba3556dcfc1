//! Suites become a plan: one cell per (agent, model, variant), in the order of the files.

use crate::select::{Selection, quote, rerun_command};
use crate::traces::Group;
use mcptest_core::problem::{Level, Problem, Sources};
use mcptest_core::report::{Place, Reason, TestReport};
use mcptest_core::suite::{Agent, Loaded, Model, Suite, ToolTest, Variant};
use std::collections::BTreeSet;
use std::path::Path;

/// What is going to be judged.
#[derive(Debug)]
pub struct Plan<'s> {
    /// The cells, in order.
    pub cells: Vec<Cell<'s>>,
}

/// One row of the plan.
#[derive(Debug)]
pub struct Cell<'s> {
    /// What is judged.
    pub subject: Subject<'s>,
    /// The row's name.
    pub row_name: String,
    /// Where it is written.
    pub place: Place,
    /// The command that judges this row alone.
    pub rerun: String,
    /// Why it is left out, when it is.
    pub skip: Option<String>,
    /// The transcripts that are judged in place of the agent's own recordings.
    pub traces: Option<Group>,
}

/// What a cell judges.
#[derive(Debug, Clone, Copy)]
pub enum Subject<'s> {
    /// An agent with one of its models.
    Agent {
        /// Its suite.
        suite: &'s Suite,
        /// The agent.
        agent: &'s Agent,
        /// The model, when it names one.
        model: Option<&'s Model>,
        /// The variant, when it has several.
        variant: Option<Variant>,
    },
    /// A direct tool test.
    Tool {
        /// Its suite.
        suite: &'s Suite,
        /// The test.
        test: &'s ToolTest,
    },
    /// A file that was refused.
    Refused(&'s Loaded),
}

/// The row of an agent, with all that decides it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'c> {
    pub(crate) cell: &'c Cell<'c>,
    pub(crate) suite: &'c Suite,
    pub(crate) agent: &'c Agent,
    pub(crate) model: Option<&'c Model>,
    pub(crate) variant: Option<Variant>,
}

impl<'c> Row<'c> {
    /// The row of a cell that judges an agent.
    pub(crate) fn of(cell: &'c Cell<'c>) -> Option<Self> {
        let Subject::Agent { suite, agent, model, variant } = cell.subject else { return None };
        Some(Self { cell, suite, agent, model, variant })
    }
}

impl<'s> Plan<'s> {
    /// The selected rows of these suites. A refused suite is a row of its own.
    pub fn new(loaded: &'s [(String, Loaded)], selection: &Selection) -> Self {
        let mut cells: Vec<Cell<'s>> = Vec::new();
        for (path, loaded) in loaded {
            match &loaded.suite {
                Some(suite) => cells.extend(rows_of(path, suite, &loaded.sources)),
                None => cells.push(refused(path, loaded)),
            }
        }
        Self::of(cells, selection)
    }

    /// The selected rows of these suites over the transcripts of a folder: one for each agent and group.
    pub fn of_traces(
        loaded: &'s [(String, Loaded)],
        folder: &Path,
        groups: &[Group],
        selection: &Selection,
    ) -> Self {
        let mut cells: Vec<Cell<'s>> = Vec::new();
        for (path, loaded) in loaded {
            match &loaded.suite {
                Some(suite) => cells.extend(rows_of_traces(path, suite, &loaded.sources, groups)),
                None => cells.push(refused(path, loaded)),
            }
        }
        let traces = format!("--traces {} ", quote(&folder.display().to_string()));
        for cell in cells.iter_mut().filter(|cell| cell.traces.is_some()) {
            cell.rerun.insert_str("mcptest run ".len(), &traces);
        }
        Self::of(cells, selection)
    }

    fn of(mut cells: Vec<Cell<'s>>, selection: &Selection) -> Self {
        cells.retain(|cell| {
            matches!(cell.subject, Subject::Refused(_)) || selection.accepts(&cell.row_name, cell.tags())
        });
        if cells.iter().any(Cell::is_only) {
            for cell in cells.iter_mut().filter(|cell| !cell.is_only() && cell.skip.is_none()) {
                if !matches!(cell.subject, Subject::Refused(_)) {
                    cell.skip = Some("another test says `only: true`".to_owned());
                }
            }
        }
        Self { cells }
    }
}

impl Cell<'_> {
    fn tags(&self) -> &[String] {
        match self.subject {
            Subject::Agent { agent, .. } => &agent.tags,
            Subject::Tool { test, .. } => &test.tags,
            Subject::Refused(_) => &[],
        }
    }

    fn is_only(&self) -> bool {
        self.skip.is_none()
            && match self.subject {
                Subject::Agent { agent, .. } => agent.only,
                Subject::Tool { test, .. } => test.only,
                Subject::Refused(_) => false,
            }
    }

    /// A report of this row with nothing judged so far.
    pub(crate) fn blank(&self) -> TestReport {
        let row = Row::of(self);
        let of_agent = row.filter(|_| self.traces.is_none());
        let name = of_agent.map_or(&self.row_name, |row| &row.agent.name).clone();
        let model = of_agent.and_then(|row| row.model).map(Model::label);
        let matrix = of_agent.is_some_and(|row| row.agent.is_matrix());
        TestReport {
            name,
            variant: row.and_then(|row| row.variant).map(|variant| variant.to_string()),
            suite: self.place.clone(),
            model,
            matrix,
            status: mcptest_core::report::Status::Passed,
            reason: None,
            unpinned: false,
            notes: Vec::new(),
            tags: self.tags().to_vec(),
            rerun: self.rerun.clone(),
            runs: Vec::new(),
            gates: Vec::new(),
        }
    }
}

fn rows_of<'s>(path: &str, suite: &'s Suite, sources: &Sources) -> Vec<Cell<'s>> {
    let mut cells = Vec::new();
    for agent in &suite.agents {
        let place = place(sources, agent.span);
        let models: Vec<Option<&Model>> =
            if agent.models.is_empty() { vec![None] } else { agent.models.iter().map(Some).collect() };
        let variants = agent.variants().into_iter().map(Some).collect::<Vec<_>>();
        let variants = if variants.is_empty() { vec![None] } else { variants };
        for (model, variant) in models.iter().flat_map(|model| variants.iter().map(move |it| (*model, *it))) {
            cells.push(Cell {
                subject: Subject::Agent { suite, agent, model, variant },
                row_name: agent.row_name(model, variant),
                place: place.clone(),
                rerun: String::new(),
                skip: agent.skip.clone(),
                traces: None,
            });
        }
    }
    for test in &suite.tools {
        let place = place(sources, test.span);
        cells.push(Cell {
            subject: Subject::Tool { suite, test },
            row_name: test.name.clone(),
            place,
            rerun: String::new(),
            skip: test.skip.clone(),
            traces: None,
        });
    }
    name_reruns(path, &mut cells);
    cells
}

/// One row for each agent and group; which model an agent names, and its tool tests, play no part.
fn rows_of_traces<'s>(path: &str, suite: &'s Suite, sources: &Sources, groups: &[Group]) -> Vec<Cell<'s>> {
    let mut seen = BTreeSet::new();
    let mut cells = Vec::new();
    for row in rows_of(path, suite, sources) {
        let Subject::Agent { agent, .. } = row.subject else { continue };
        if !seen.insert(&agent.name) {
            continue;
        }
        cells.extend(groups.iter().map(|group| Cell {
            subject: row.subject,
            row_name: format!("{} [{}]", agent.name, group.name),
            place: row.place.clone(),
            rerun: String::new(),
            skip: row.skip.clone(),
            traces: Some(group.clone()),
        }));
    }
    name_reruns(path, &mut cells);
    cells
}

/// The command that judges each of a suite's rows alone.
fn name_reruns(path: &str, cells: &mut [Cell<'_>]) {
    let names: Vec<String> = cells.iter().map(|cell| cell.row_name.clone()).collect();
    let is_long = names.len() > 200;
    for cell in cells {
        // In a long suite the search for a unique plain name would be quadratic: the anchored form is always exact.
        let others =
            if is_long { vec![cell.row_name.clone(), format!("{} ", cell.row_name)] } else { names.clone() };
        cell.rerun = rerun_command(path, &cell.row_name, &others);
    }
}

fn place(sources: &Sources, span: mcptest_core::problem::Span) -> Place {
    let (file, line, _) = sources.place(span);
    Place { file: file.to_owned(), line }
}

fn refused<'s>(path: &str, loaded: &'s Loaded) -> Cell<'s> {
    Cell {
        subject: Subject::Refused(loaded),
        row_name: path.to_owned(),
        place: Place { file: path.to_owned(), line: 1 },
        rerun: format!("mcptest validate {}", quote(path)),
        skip: None,
        traces: None,
    }
}

/// Why a suite was refused, for its row.
pub(crate) fn refusal(loaded: &Loaded) -> Reason {
    let errors: Vec<&Problem> =
        loaded.problems.iter().filter(|problem| problem.level == Level::Error).collect();
    let message = match errors.len() {
        1 => "the suite is refused for 1 problem".to_owned(),
        count => format!("the suite is refused for {count} problems"),
    };
    let details = errors.iter().map(|problem| match problem.span {
        Some(span) => {
            let (file, line, column) = loaded.sources.place(span);
            format!("{file}:{line}:{column}: {}", problem.message)
        }
        None => problem.message.clone(),
    });
    Reason { message, details: details.collect(), help: None }
}
