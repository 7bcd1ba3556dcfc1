//! `tool_quality:` are the tools that the agent was offered fit to be chosen from?

use crate::engine::accept::{Proposal, ProposedChange, ProposedPlace};
use crate::engine::gate::{Documentation, Gate, GateKind, GateTrait, ReadNamed, RunFailsBy};
use crate::engine::scores::Scores;
use crate::engine::shown::Shown;
use crate::engine::target::{Target, Unit};
use crate::problem::{Problem, Span, did_you_mean};
use crate::report::evidence::ToolFinding;
use crate::report::{Evidence, Finding, Number};
use crate::row::AgentRow;
use crate::suite::Agent;
use crate::suite::read::{Block, Field};
use crate::surface::pin::{Change, Pins};
use crate::surface::{Linted, LintedTool, RULES, Rule, Severity, SurfaceTool, lint};
use crate::trace::{CatalogueTool, Run};
use crate::words::distinct;
use std::path::Path;

const MIN_SCORE: Target = Target::percent(
    "tool_quality.min_score",
    "the score of the worst tool, 0 to 100",
)
.pooled();
const MEAN_SCORE: Target = Target::percent(
    "tool_quality.mean_score",
    "the mean of the tools' scores, floored",
)
.pooled();
const CRITICAL_COUNT: Target = Target::count(
    "tool_quality.critical_count",
    "findings of severity critical",
)
.pooled();
const WARNING_COUNT: Target =
    Target::count("tool_quality.warning_count", "findings of severity warning").pooled();
const SURFACE_TOKENS: Target = Target::count(
    "tool_quality.surface_tokens",
    "the `cl100k_base` tokens that the tools take of every request",
)
.pooled()
.in_unit(Unit::Tokens);
const CHANGED_COUNT: Target = Target::count(
    "tool_quality.changed_count",
    "differences between the tools and the baseline",
)
.pooled();

const TARGETS: &[Target] = &[
    MIN_SCORE,
    MEAN_SCORE,
    CRITICAL_COUNT,
    WARNING_COUNT,
    SURFACE_TOKENS,
    CHANGED_COUNT,
];

pub(super) const KIND: GateKind = GateKind::new(
    "tool_quality",
    Documentation {
        summary: "Are the tools that the agent was offered fit to be chosen from?",
        doc: include_str!("doc.md"),
        example: include_str!("example.yml"),
    },
    TARGETS,
    RunFailsBy::Nothing,
    |block| Box::new(ToolQuality::read(block)),
)
.with_traits(&[
    GateTrait::TakesTrue,
    GateTrait::ReadsFiles,
    GateTrait::JudgesTools,
]);

/// The block as written, and the baseline once that is read.
struct ToolQuality {
    ignore: Vec<String>,
    baseline: Option<(String, Span)>,
    pins: Option<Pins>,
}

impl ToolQuality {
    fn read(block: &mut Block<'_>) -> Self {
        let doc = "Rules that are not applied, by their ids";
        let ignore = block.list("ignore", doc, rule_id);
        let doc =
            "The tools pinned by `mcptest lint-tools --write-baseline`, relative to the suite";
        let baseline = block.optional("baseline", doc, |field| Some((field.name()?, field.span())));
        Self {
            ignore,
            baseline,
            pins: None,
        }
    }

    fn missing(&self, message: String) -> Problem {
        let (file, span) = self.baseline.clone().unwrap_or_default();
        let help = format!(
            "pin tools that you have read: `mcptest lint-tools --from CASSETTE --write-baseline {file}`"
        );
        Problem::error(message).at(span).help(help)
    }
}

fn rule_id(field: &mut Field<'_>) -> Option<String> {
    let id = field.name()?;
    if Rule::named(&id).is_none() && !field.is_describing() {
        let list = || "`mcptest explain tool_quality` lists the rules".to_owned();
        let help = did_you_mean(&id, RULES.iter().map(|rule| rule.id), list);
        field.report(
            Problem::error(format!("no rule is named `{id}`"))
                .at(field.span())
                .help(help),
        );
    }
    Some(id)
}

impl Gate for ToolQuality {
    /// Nothing critical, and nothing changed in silence.
    fn expect_beside(&self, has_expect: bool) -> Vec<(Target, f64)> {
        let critical = (!has_expect).then_some((CRITICAL_COUNT, 0.0));
        let changed = self.baseline.as_ref().map(|_| (CHANGED_COUNT, 0.0));
        critical.into_iter().chain(changed).collect()
    }

    fn score(&self, runs: &[Run<'_>]) -> Scores {
        let mut scores = Scores::default();
        let Some(surfaces) = surfaces(runs) else {
            scores.not_exercised =
                Some("the recording does not say which tools there were".to_owned());
            return scores;
        };
        if surfaces.iter().all(Vec::is_empty) {
            let why = if runs.is_empty() {
                "no runs"
            } else {
                "the agent was offered no tools"
            };
            scores.not_exercised = Some(why.to_owned());
            return scores;
        }
        let judged: Vec<_> = surfaces
            .iter()
            .map(|surface| self.found_in(surface))
            .collect();
        let linted = || judged.iter().map(|(linted, _)| linted);
        let lowest =
            |score: fn(&Linted) -> Option<u32>| linted().filter_map(score).min().unwrap_or(100);
        let most = |severity| {
            linted()
                .map(|linted| linted.count(severity))
                .max()
                .unwrap_or_default()
        };
        let (min, mean) = (lowest(Linted::min_score), lowest(Linted::mean_score));
        let (critical, warnings) = (most(Severity::Critical), most(Severity::Warning));
        let tokens: Option<Vec<usize>> = linted().map(Linted::tokens).collect();
        let tokens = tokens.and_then(|tokens| tokens.into_iter().max());
        let changes = judged
            .iter()
            .map(|(_, found)| found.iter().filter(|(of, _)| of.is_none()).count());
        let changed = changes.max().filter(|_| self.pins.is_some());
        let whole = |number: usize| Some(Number::Int(number as i64));
        scores
            .set(&MIN_SCORE, Some(Number::Int(min.into())))
            .set(&MEAN_SCORE, Some(Number::Int(mean.into())))
            .set(&CRITICAL_COUNT, whole(critical))
            .set(&WARNING_COUNT, whole(warnings))
            .set(&SURFACE_TOKENS, tokens.and_then(whole))
            .set(&CHANGED_COUNT, changed.and_then(whole));
        let tokens = tokens
            .map(|tokens| format!(", {tokens} tokens per request"))
            .unwrap_or_default();
        scores.summary = Some(format!(
            "lowest score {min}, average {mean}; {critical} critical, {warnings} warnings{tokens}"
        ));
        for (_, found) in judged {
            tell(found, &mut scores.findings);
        }
        scores
    }

    fn evidence(&self, shown: &Shown<'_, '_>) -> Option<Evidence> {
        let found = surfaces(shown.all)?
            .into_iter()
            .flat_map(|surface| self.found_in(&surface).1);
        Some(Evidence::ToolQuality {
            tools: distinct(found.map(|(_, found)| found)),
        })
    }

    fn propose(&self, runs: &[Run<'_>], _row: AgentRow<'_>) -> Option<Proposal> {
        let ((file, _), pins) = self.baseline.as_ref().zip(self.pins.as_ref())?;
        let recorded = runs.iter().filter_map(Run::catalogue).map(own);
        let mut surfaces: Vec<_> = recorded.collect();
        surfaces.dedup();
        let change = match &surfaces[..] {
            [surface] => {
                let tools: Vec<SurfaceTool> = surface.iter().map(SurfaceTool::recorded).collect();
                let has_changed = !pins.changes(&tools).is_empty();
                Ok(has_changed.then(|| proposed(&Pins::of(&tools))))
            }
            [] => Err("the recording does not say which tools there were".to_owned()),
            _ => Err("the runs were offered different tools".to_owned()),
        };
        Some(Proposal {
            place: ProposedPlace::File(file.clone()),
            change,
        })
    }

    fn read_files(
        &mut self,
        _agent: &Agent,
        _suite: &Path,
        read: ReadNamed<'_>,
    ) -> Option<Problem> {
        let (file, _) = self.baseline.as_ref()?;
        let read =
            read(file).map_err(|reason| format!("cannot read the baseline {file}: {reason}"));
        match read.and_then(|bytes| Pins::read(&bytes).map_err(|error| format!("{file}: {error}")))
        {
            Ok(pins) => self.pins = Some(pins),
            Err(message) => return Some(self.missing(message)),
        }
        None
    }
}

/// The whole file with these pins.
fn proposed(pins: &Pins) -> ProposedChange {
    let value = serde_json::to_value(pins).unwrap_or_default();
    ProposedChange::InFile(value, |_, value| {
        let pins: Result<Pins, _> = serde_json::from_value(value.clone());
        pins.map(|pins| pins.to_text())
            .map_err(|error| error.to_string())
    })
}

/// The tools that the runs were offered, each different list once; `None` when a recording does not say.
fn surfaces(runs: &[Run<'_>]) -> Option<Vec<Vec<CatalogueTool>>> {
    let recorded = runs.iter().map(|run| run.catalogue().map(own));
    let mut surfaces = recorded.collect::<Option<Vec<_>>>()?;
    surfaces.dedup();
    Some(surfaces)
}

/// The tools of the servers; what was injected to distract is not theirs.
fn own(catalogue: &[CatalogueTool]) -> Vec<CatalogueTool> {
    catalogue
        .iter()
        .filter(|tool| !tool.distractor)
        .cloned()
        .collect()
}

impl ToolQuality {
    /// What rules say of each tool, with its severity, then what is not as it was pinned.
    fn found_in(
        &self,
        surface: &[CatalogueTool],
    ) -> (Linted, Vec<(Option<Severity>, ToolFinding)>) {
        let tools: Vec<SurfaceTool> = surface.iter().map(SurfaceTool::recorded).collect();
        let linted = lint(&tools, &self.ignore);
        let of_tool = |tool: &LintedTool| {
            let found = tool.findings.iter().map(|found| {
                let finding = ToolFinding {
                    server: tool.server.clone(),
                    tool: tool.name.clone(),
                    rule: found.rule.to_owned(),
                    level: found.severity.word(),
                    message: format!("{}: {}. {}", found.place, found.what, found.fix),
                };
                (Some(found.severity), finding)
            });
            found.collect::<Vec<_>>()
        };
        let changes = self
            .pins
            .as_ref()
            .map(|pins| pins.changes(&tools))
            .unwrap_or_default();
        let changed = changes.into_iter().map(|change| {
            let (rule, level) = ("baseline".to_owned(), "changed".to_owned());
            (
                None,
                ToolFinding {
                    server: None,
                    rule,
                    level,
                    message: said(&change),
                    tool: change.tool,
                },
            )
        });
        let found = linted
            .tools
            .iter()
            .flat_map(of_tool)
            .chain(changed)
            .collect();
        (linted, found)
    }
}

/// Adds what a reader must know: what has changed, then what is critical, then what is a warning; each once.
fn tell(mut found: Vec<(Option<Severity>, ToolFinding)>, findings: &mut Vec<Finding>) {
    found.sort_by_key(|(severity, _)| (severity.is_some(), std::cmp::Reverse(*severity)));
    for (
        severity,
        ToolFinding {
            tool,
            rule,
            level,
            message,
            ..
        },
    ) in found
    {
        let of_rule = || format!("{level} {rule}: `{tool}` {message}");
        let (about, message) = match severity {
            None => (vec![CHANGED_COUNT], format!("`{tool}`: {message}")),
            Some(Severity::Info) => continue,
            Some(Severity::Warning) => (vec![WARNING_COUNT, MIN_SCORE, MEAN_SCORE], of_rule()),
            Some(Severity::Critical) => (vec![CRITICAL_COUNT, MIN_SCORE, MEAN_SCORE], of_rule()),
        };
        if findings.iter().all(|known| known.message != message) {
            findings.push(Finding::new(None, message).about(&about));
        }
    }
}

fn said(change: &Change) -> String {
    let lines = if change.lines.is_empty() {
        String::new()
    } else {
        format!(": {}", change.lines.join(" "))
    };
    format!("{} since the baseline{lines}", change.what)
}

#[cfg(test)]
mod tests;
