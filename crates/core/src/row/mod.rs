//! Which rows does a suite have, and what is each of them called?

mod grouped;
mod id;
mod reason;
mod rerun;

pub use grouped::{GroupedRuns, PartOfFile, Transcripts};
pub use id::RowId;
pub use reason::{Reason, ReasonKind};
pub use rerun::{Rerun, quoted};

use crate::digest::digest_of_value;
use crate::engine::{Assertion, GateBlock};
use crate::escape::escape;
use crate::grade::Question;
use crate::problem::{Level, Problem};
use crate::report::{Place, Status, TestReport};
use crate::suite::{Agent, Loaded, Model, Suite, ToolTest, Variant, evals};
use crate::target::Path;
use crate::words::count;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// An agent with one of its models, in one of its variants.
///
/// ```
/// use mcptest_core::{Host, load};
/// use std::path::Path;
///
/// let text = "
/// agents:
///   - name: forecast
///     model: gpt-5
///     prompt: Will it rain in Oslo?
///     golden_path: { calls: [get_weather] }
/// ";
/// let read = |_: &Path| Ok(text.as_bytes().to_vec());
/// let suite = load(Path::new("weather.yml"), &Host::new(&read, &|_| None)).into_result()?;
/// let row = suite.agent_rows().next().ok_or("no row")?;
/// assert_eq!((row.agent.name.as_str(), row.model_label()), ("forecast", Some("gpt-5".to_owned())));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct AgentRow<'s> {
    /// Its suite.
    pub suite: &'s Suite,
    /// The agent.
    pub agent: &'s Agent,
    /// The model, if the agent names one.
    pub model: Option<&'s Model>,
    /// The variant, if the agent has several.
    pub variant: Option<Variant>,
}

/// A direct tool test.
#[derive(Debug, Clone, Copy)]
pub struct ToolRow<'s> {
    /// Its suite.
    pub suite: &'s Suite,
    /// The test.
    pub test: &'s ToolTest,
}

/// The subject of a row.
#[derive(Debug, Clone, Copy)]
pub enum Subject<'s> {
    /// An agent with one of its models.
    Agent(AgentRow<'s>),
    /// A direct tool test.
    Tool(ToolRow<'s>),
    /// A file that was refused.
    Refused(&'s Loaded),
}

/// One row of a report, before it is judged.
#[derive(Debug, Clone)]
pub struct Row<'s> {
    /// The subject that is judged.
    pub subject: Subject<'s>,
    /// Its name, as filters and reports have it.
    pub name: String,
    /// Its place in the suite.
    pub place: Place,
    /// The command that judges this row alone.
    pub rerun: Rerun,
    /// The reason to skip it, if it is skipped.
    pub skip: Option<Reason>,
    /// The transcripts that are judged instead of the agent's own recordings.
    pub transcripts: Option<Transcripts>,
    /// The numbers of the judged runs, if only these were selected; empty for all.
    pub runs: Vec<usize>,
}

/// A row of an agent, with the agent.
#[derive(Debug, Clone, Copy)]
pub struct RowOfAgent<'r> {
    /// The row.
    pub row: &'r Row<'r>,
    /// The agent, with its model and variant.
    pub of: AgentRow<'r>,
}

impl Agent {
    /// Every model with every variant, each as a separate row: the only place that multiplies them.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (Option<&Model>, Option<Variant>)> {
        let models = self
            .models
            .iter()
            .map(Some)
            .chain(self.models.is_empty().then_some(None));
        let variants: Vec<Variant> = self.variants();
        models.flat_map(move |model| {
            let alone = variants.is_empty().then_some((model, None));
            variants
                .clone()
                .into_iter()
                .map(move |variant| (model, Some(variant)))
                .chain(alone)
        })
    }

    /// The name of its row with this model, in this variant: `name [gpt-5] [4 distractors]`.
    pub fn row_name(&self, model: Option<&Model>, variant: Option<Variant>) -> String {
        let model = model
            .filter(|_| self.has_several_models())
            .map(|model| format!(" [{}]", model.label()));
        let variant = variant.map(|variant| format!(" [{variant}]"));
        format!(
            "{}{}{}",
            self.name,
            model.unwrap_or_default(),
            variant.unwrap_or_default()
        )
    }
}

impl<'s> AgentRow<'s> {
    /// The scorers of its runs, by the paths of their checks. An eval of another agent's runs has
    /// only the scorers in its own `expect:`.
    pub(crate) fn scorers(self) -> impl Iterator<Item = (String, &'s Question)> {
        let is_named = move |name: &str| {
            self.agent
                .expect
                .iter()
                .any(|one| one.target.scorer() == Some(name))
        };
        self.suite.scorers.iter().filter_map(move |question| {
            let scorer = question.scorer()?;
            (!self.agent.is_eval() || is_named(&scorer.name)).then(|| (scorer.check(), question))
        })
    }

    /// The row that made the recording: another agent's row if this is an eval of it.
    #[must_use]
    pub fn recorded_by(self) -> Self {
        let source = self
            .agent
            .graded_agent()
            .and_then(|name| evals::recorder(&self.suite.agents, name));
        source.map_or(self, |agent| Self { agent, ..self })
    }

    /// The model as rows and recordings name it.
    pub fn model_label(&self) -> Option<String> {
        self.model.map(Model::label)
    }
}

impl Suite {
    /// Its agents, each with every model in every variant.
    pub fn agent_rows(&self) -> impl Iterator<Item = AgentRow<'_>> {
        self.agents.iter().flat_map(move |agent| {
            agent.rows().map(move |(model, variant)| AgentRow {
                suite: self,
                agent,
                model,
                variant,
            })
        })
    }

    /// All its rows: first the agents, then the tool tests, in the order of the file.
    pub fn rows(&self) -> Vec<Row<'_>> {
        let of_agents = self.agent_rows().map(|row| {
            let name = row.agent.row_name(row.model, row.variant);
            Row::new(Subject::Agent(row), name, &row.agent.place)
        });
        let of_tools = self.tools.iter().map(|test| {
            let subject = Subject::Tool(ToolRow { suite: self, test });
            Row::new(subject, test.name.clone(), &test.place)
        });
        self.with_reruns(of_agents.chain(of_tools).collect())
    }

    /// One row for each agent and group. The agents' models and the tool tests are ignored.
    pub fn rows_of_transcripts(&self, groups: &[Transcripts]) -> Vec<Row<'_>> {
        let firsts = self.agents.iter().filter_map(|agent| {
            let (model, variant) = agent.rows().next()?;
            Some(AgentRow {
                suite: self,
                agent,
                model,
                variant,
            })
        });
        let rows = firsts.flat_map(|row| {
            groups.iter().map(move |group| {
                let name = format!("{} [{}]", row.agent.name, group.name);
                let transcripts = Some(group.clone());
                Row {
                    transcripts,
                    ..Row::new(Subject::Agent(row), name, &row.agent.place)
                }
            })
        });
        self.with_reruns(rows.collect())
    }

    /// The command that judges each of the rows alone.
    fn with_reruns<'s>(&self, mut rows: Vec<Row<'s>>) -> Vec<Row<'s>> {
        let suite = self.path.display().to_string();
        let names: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
        for row in &mut rows {
            row.rerun = Rerun::new(&suite, &row.name, &names);
        }
        rows
    }
}

impl<'s> Row<'s> {
    fn new(subject: Subject<'s>, name: String, place: &Place) -> Self {
        let skip = match subject {
            Subject::Agent(row) => row.agent.skip.as_ref(),
            Subject::Tool(row) => row.test.skip.as_ref(),
            Subject::Refused(_) => None,
        };
        let skip = skip.map(|why| Reason::new(ReasonKind::Skipped, why));
        let rerun = Rerun::default();
        Self {
            subject,
            name,
            place: place.clone(),
            rerun,
            skip,
            transcripts: None,
            runs: Vec::new(),
        }
    }

    /// The row of a file that was refused.
    pub fn refused(path: &str, loaded: &'s Loaded) -> Self {
        let place = Place {
            file: path.to_owned(),
            line: 1,
        };
        let rerun = Rerun {
            suite: path.to_owned(),
            ..Rerun::default()
        };
        Self {
            rerun,
            ..Self::new(Subject::Refused(loaded), path.to_owned(), &place)
        }
    }

    /// The agent's row, if it is one.
    pub fn agent_row(&self) -> Option<AgentRow<'s>> {
        if let Subject::Agent(row) = self.subject {
            Some(row)
        } else {
            None
        }
    }

    /// The agent's row and the row, if it is one.
    pub fn of_agent(&self) -> Option<RowOfAgent<'_>> {
        let of = self.agent_row()?;
        Some(RowOfAgent { row: self, of })
    }

    /// The row that recorded the judged runs, if it is another row.
    pub fn recorded_by(&self) -> Option<Self> {
        let of = self.agent_row().filter(|_| self.transcripts.is_none())?;
        of.agent.graded_agent()?;
        let AgentRow {
            agent,
            model,
            variant,
            ..
        } = of.recorded_by();
        let name = agent.row_name(model, variant);
        let mut source = of.suite.rows().into_iter().find(|row| row.name == name)?;
        source.rerun.overrides.clone_from(&self.rerun.overrides);
        Some(source)
    }

    /// The suite that it is of, unless that was refused.
    pub fn suite(&self) -> Option<&'s Suite> {
        match self.subject {
            Subject::Agent(AgentRow { suite, .. }) | Subject::Tool(ToolRow { suite, .. }) => {
                Some(suite)
            }
            Subject::Refused(_) => None,
        }
    }

    /// Every question to judges and scorers, by the paths of its checks.
    pub fn questions(&self) -> Vec<(String, &'s Question)> {
        match self.subject {
            Subject::Agent(of) => of
                .agent
                .checks_of_judges()
                .into_iter()
                .chain(of.scorers())
                .collect(),
            Subject::Tool(of) => of.test.checks_of_judges(),
            Subject::Refused(_) => Vec::new(),
        }
    }

    /// The tool test's row, if it is one.
    pub fn tool_row(&self) -> Option<ToolRow<'s>> {
        if let Subject::Tool(row) = self.subject {
            Some(row)
        } else {
            None
        }
    }

    /// Returns true if the suite's file was refused.
    pub fn is_refused(&self) -> bool {
        matches!(self.subject, Subject::Refused(_))
    }

    /// The lines of the problems for which its suite was refused.
    pub fn refused_lines(&self) -> Vec<usize> {
        let Subject::Refused(loaded) = self.subject else {
            return Vec::new();
        };
        let places = loaded.refused_at();
        let here = places.filter(|place| place.file == self.place.file);
        here.map(|place| place.line).collect()
    }

    /// The words to select it by.
    pub fn tags(&self) -> &'s [String] {
        match self.subject {
            Subject::Agent(row) => &row.agent.tags,
            Subject::Tool(row) => &row.test.tags,
            Subject::Refused(_) => &[],
        }
    }

    /// Returns true if it has `only: true` and is not skipped.
    pub fn is_only(&self) -> bool {
        let says_only = match self.subject {
            Subject::Agent(row) => row.agent.only,
            Subject::Tool(row) => row.test.only,
            Subject::Refused(_) => false,
        };
        says_only && self.skip.is_none()
    }

    /// The row with only these runs, and the command that judges them.
    #[must_use]
    pub fn with_runs(mut self, runs: Vec<usize>) -> Self {
        self.rerun.select_runs(&runs);
        self.runs = runs;
        self
    }

    /// A report of this row without results.
    pub fn blank(&self) -> TestReport {
        TestReport {
            checks: self.checks(),
            rerun: self.rerun.to_string(),
            ..self.undescribed()
        }
    }

    /// A report without results, without the command that judges the row, and without the digests of its checks.
    pub(crate) fn undescribed(&self) -> TestReport {
        let row = self.agent_row();
        let own = row.filter(|_| self.transcripts.is_none());
        let name = own.map_or(&self.name, |row| &row.agent.name);
        TestReport {
            model: own.and_then(|row| row.model_label()),
            has_several_models: own.is_some_and(|row| row.agent.has_several_models()),
            variant: row.and_then(|row| row.variant),
            tags: self.tags().to_vec(),
            name: name.clone(),
            suite: self.place.clone(),
            ..TestReport::default()
        }
    }

    /// The digest of each block with requirements, by the block's key.
    fn checks(&self) -> BTreeMap<String, String> {
        let (expect, gates): (&[Assertion<Path>], &[GateBlock]) = match self.subject {
            Subject::Agent(of) => (&of.agent.expect, &of.agent.gates),
            Subject::Tool(of) => (&of.test.expect, &[]),
            Subject::Refused(_) => (&[], &[]),
        };
        let mut checks = BTreeMap::new();
        if !expect.is_empty() {
            let written: Vec<Value> = expect
                .iter()
                .map(|one| json!([one.target.as_str(), one.matcher.written()]))
                .collect();
            checks.insert("expect".to_owned(), digest_of_value(&Value::from(written)));
        }
        for gate in gates {
            checks.insert(gate.key().to_owned(), gate.digest.clone());
        }
        checks
    }

    /// A report of this row that cannot be judged for this reason.
    pub fn broken(&self, reason: Reason) -> TestReport {
        TestReport {
            status: Status::Error,
            reason: Some(reason),
            ..self.blank()
        }
    }
}

impl Loaded {
    fn errors(&self) -> impl Iterator<Item = &Problem> {
        let problems = self.problems.iter();
        problems.filter(|problem| problem.level == Level::Error)
    }

    /// The places of the problems for which the suite was refused.
    fn refused_at(&self) -> impl Iterator<Item = Place> {
        let spans = self.errors().filter_map(|problem| problem.span);
        spans.map(|span| self.sources.file_and_line(span))
    }

    /// Why the suite was refused, for its row.
    pub fn refusal(&self) -> Reason {
        let errors: Vec<&Problem> = self.errors().collect();
        let message = format!(
            "the suite is refused for {}",
            count(errors.len(), "problem")
        );
        let details = errors.iter().map(|problem| match problem.span {
            Some(span) => {
                let position = self.sources.position(span);
                escape(&format!("{position}: {}", problem.message)).into_owned()
            }
            None => escape(&problem.message).into_owned(),
        });
        Reason::new(ReasonKind::SuiteRefused, message).details(details.collect())
    }
}
