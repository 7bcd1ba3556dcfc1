//! `tool_quality:` are the agent's tools described well enough to choose from?

use crate::surface::pin::{PinChange, Pins};
use crate::surface::{self, Linted, LintedTool, RULES, Rule, Severity, SurfaceTool, lint};
use mcptest_core::gates::{
    Block, Documentation, Evidence, Field, Finding, Gate, GateKind, GateTrait, Number, Proposal,
    ProposedChange, ProposedPlace, ReadNamed, Run, RunFailsBy, Scores, Shown, Target, Unit,
};
use mcptest_core::problem::{Problem, Span, did_you_mean};
use mcptest_core::report::evidence::ToolFinding;
use mcptest_core::words::distinct;
use mcptest_core::{Agent, AgentRow, CatalogueTool};
use std::path::Path;

const MIN_SCORE: Target = Target::percent(
    "tool_quality.min_score",
    "the lowest score of any tool, 0 to 100",
)
.pooled();
const MEAN_SCORE: Target = Target::percent(
    "tool_quality.mean_score",
    "the mean score of all tools, rounded down",
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
    "the `cl100k_base` tokens that the tools add to every request",
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

pub(crate) const KIND: GateKind = GateKind::new(
    "tool_quality",
    Documentation {
        summary: "Are the agent's tools described well enough to choose from?",
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

/// The block, and the baseline once it is read.
struct ToolQuality {
    ignore: Vec<String>,
    baseline: Option<BaselineFile>,
    pins: Option<Pins>,
}

/// The file of a baseline, as the block names it.
#[derive(Clone, Default)]
struct BaselineFile {
    name: String,
    span: Span,
}

impl ToolQuality {
    fn read(block: &mut Block<'_>) -> Self {
        let doc = "Rules to skip, by their ids";
        let ignore = block.list("ignore", doc, rule_id);
        let doc =
            "The tools pinned by `mcptest lint-tools --write-baseline`, relative to the suite";
        let baseline = block.optional("baseline", doc, |field| {
            Some(BaselineFile {
                name: field.name()?,
                span: field.span(),
            })
        });
        Self {
            ignore,
            baseline,
            pins: None,
        }
    }

    fn missing(&self, message: String) -> Problem {
        let BaselineFile { name, span } = self.baseline.clone().unwrap_or_default();
        let help = format!(
            "pin tools after you have read them: `mcptest lint-tools --from CASSETTE \
            --write-baseline {name}`"
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
    /// The default: no critical findings, and no unreported changes.
    fn expect_beside(&self, has_expect: bool) -> Vec<(Target, f64)> {
        let critical = (!has_expect).then_some((CRITICAL_COUNT, 0.0));
        let changed = self.baseline.as_ref().map(|_| (CHANGED_COUNT, 0.0));
        critical.into_iter().chain(changed).collect()
    }

    fn score(&self, runs: &[Run<'_>]) -> Scores {
        let mut scores = Scores::default();
        let surfaces = match offered_surfaces(runs) {
            Ok(surfaces) => surfaces,
            Err(why) => {
                scores.not_exercised = Some(why.to_owned());
                return scores;
            }
        };
        let judged: Vec<JudgedSurface> = surfaces
            .iter()
            .map(|surface| self.judge_surface(surface))
            .collect();
        Worst::among(&judged).put_into(&mut scores, self.pins.is_some());
        for surface in judged {
            surface.explain(&mut scores.findings);
        }
        scores
    }

    fn evidence(&self, shown: &Shown<'_, '_>) -> Option<Evidence> {
        let found = surfaces(shown.all)?
            .into_iter()
            .flat_map(|surface| self.judge_surface(&surface).into_findings());
        Some(Evidence::ToolQuality {
            tools: distinct(found),
        })
    }

    fn propose(&self, runs: &[Run<'_>], _row: AgentRow<'_>) -> Option<Proposal> {
        let (file, pins) = self.baseline.as_ref().zip(self.pins.as_ref())?;
        let recorded = runs.iter().filter_map(Run::catalogue).map(own);
        let mut surfaces: Vec<_> = recorded.collect();
        surfaces.dedup();
        let change = match &surfaces[..] {
            [surface] => {
                let tools: Vec<SurfaceTool> = surface.iter().map(SurfaceTool::recorded).collect();
                let has_changed = !pins.changes(&tools).is_empty();
                Ok(has_changed.then(|| proposed(&Pins::new(&tools))))
            }
            [] => Err("the recording does not contain the agent's tools".to_owned()),
            _ => Err("the runs had different tools".to_owned()),
        };
        Some(Proposal {
            place: ProposedPlace::File(file.name.clone()),
            change,
        })
    }

    fn read_files(
        &mut self,
        _agent: &Agent,
        _suite: &Path,
        read: ReadNamed<'_>,
    ) -> Option<Problem> {
        let file = &self.baseline.as_ref()?.name;
        let pins = read(file)
            .map_err(|reason| format!("cannot read the baseline {file}: {reason}"))
            .and_then(|bytes| Pins::read(&bytes).map_err(|error| format!("{file}: {error}")));
        match pins {
            Ok(pins) => {
                self.pins = Some(pins);
                None
            }
            Err(message) => Some(self.missing(message)),
        }
    }
}

/// The whole file with these pins.
fn proposed(pins: &Pins) -> ProposedChange {
    let value = serde_json::to_value(pins).unwrap_or_default();
    ProposedChange::InFile {
        value,
        write: write_pins,
    }
}

fn write_pins(_now: &str, pins: &serde_json::Value) -> Result<String, String> {
    let pins: Result<Pins, _> = serde_json::from_value(pins.clone());
    pins.map(|pins| pins.to_text())
        .map_err(|error| error.to_string())
}

/// The tools of the runs, each distinct list once; `None` if a recording lacks them.
fn surfaces(runs: &[Run<'_>]) -> Option<Vec<Vec<CatalogueTool>>> {
    let recorded = runs.iter().map(|run| run.catalogue().map(own));
    let mut surfaces = recorded.collect::<Option<Vec<_>>>()?;
    surfaces.dedup();
    Some(surfaces)
}

/// The tools that the runs were offered, or why no tool can be judged.
fn offered_surfaces(runs: &[Run<'_>]) -> Result<Vec<Vec<CatalogueTool>>, &'static str> {
    let surfaces = surfaces(runs).ok_or("the recording does not contain the agent's tools")?;
    if !surfaces.iter().all(Vec::is_empty) {
        Ok(surfaces)
    } else if runs.is_empty() {
        Err("no runs")
    } else {
        Err("the agent had no tools")
    }
}

/// The numbers of the surface that is worst in each.
struct Worst {
    min: u32,
    mean: u32,
    critical: usize,
    warnings: usize,
    tokens: Option<usize>,
    changed: Option<usize>,
}

impl Worst {
    fn among(judged: &[JudgedSurface]) -> Self {
        let lowest = |score: fn(&Linted) -> Option<u32>| {
            let scores = judged.iter().filter_map(|judged| score(&judged.linted));
            scores.min().unwrap_or(100)
        };
        let most = |severity: Severity| {
            let counts = judged.iter().map(|judged| judged.linted.count(severity));
            counts.max().unwrap_or_default()
        };
        Self {
            min: lowest(Linted::min_score),
            mean: lowest(Linted::mean_score),
            critical: most(Severity::Critical),
            warnings: most(Severity::Warning),
            tokens: most_tokens(judged),
            changed: judged.iter().map(|judged| judged.changes.len()).max(),
        }
    }

    fn put_into(&self, scores: &mut Scores, is_pinned: bool) {
        let Self {
            min,
            mean,
            critical,
            warnings,
            tokens,
            changed,
        } = *self;
        let whole = |number: usize| Some(Number::Int(number as i64));
        scores
            .set(&MIN_SCORE, Some(Number::Int(min.into())))
            .set(&MEAN_SCORE, Some(Number::Int(mean.into())))
            .set(&CRITICAL_COUNT, whole(critical))
            .set(&WARNING_COUNT, whole(warnings))
            .set(&SURFACE_TOKENS, tokens.and_then(whole))
            .set(
                &CHANGED_COUNT,
                changed.filter(|_| is_pinned).and_then(whole),
            );
        let per_request = match tokens {
            Some(tokens) => format!(", {tokens} tokens per request"),
            None => String::new(),
        };
        scores.summary = Some(format!(
            "lowest score {min}, average {mean}; {critical} critical, {warnings} warnings{per_request}"
        ));
    }
}

/// The tools of the servers, without injected distractors.
fn own(catalogue: &[CatalogueTool]) -> Vec<CatalogueTool> {
    catalogue
        .iter()
        .filter(|tool| !tool.distractor)
        .cloned()
        .collect()
}

/// The tools of a server, checked against the rules and the pins.
struct JudgedSurface {
    linted: Linted,
    /// The differences from the pinned tools.
    changes: Vec<PinChange>,
}

impl ToolQuality {
    fn judge_surface(&self, surface: &[CatalogueTool]) -> JudgedSurface {
        let tools: Vec<SurfaceTool> = surface.iter().map(SurfaceTool::recorded).collect();
        let pins = self.pins.as_ref();
        JudgedSurface {
            linted: lint(&tools, &self.ignore),
            changes: pins.map(|pins| pins.changes(&tools)).unwrap_or_default(),
        }
    }
}

impl JudgedSurface {
    /// Adds the important findings: changes, then critical findings, then warnings; each once.
    fn explain(&self, findings: &mut Vec<Finding>) {
        let mut add = |about: &[Target], message: String| {
            if findings.iter().all(|known| known.message != message) {
                findings.push(Finding::new(None, message).about(about));
            }
        };
        for change in &self.changes {
            let message = format!("`{}`: {}", change.tool, describe(change));
            add(&[CHANGED_COUNT], message);
        }
        for (severity, counted) in [
            (Severity::Critical, CRITICAL_COUNT),
            (Severity::Warning, WARNING_COUNT),
        ] {
            for tool in &self.linted.tools {
                let of_severity = tool
                    .findings
                    .iter()
                    .filter(|found| found.severity == severity);
                for found in of_severity {
                    let ToolFinding {
                        tool,
                        rule,
                        level,
                        message,
                        ..
                    } = tool_finding(tool, found);
                    let message = format!("{level} {rule}: `{tool}` {message}");
                    add(&[counted, MIN_SCORE, MEAN_SCORE], message);
                }
            }
        }
    }

    /// The findings of the rules for each tool, then the differences from the pinned tools.
    fn into_findings(self) -> Vec<ToolFinding> {
        let mut findings = Vec::new();
        for tool in &self.linted.tools {
            findings.extend(tool.findings.iter().map(|found| tool_finding(tool, found)));
        }
        findings.extend(self.changes.into_iter().map(|change| ToolFinding {
            server: None,
            rule: "baseline".to_owned(),
            level: "changed".to_owned(),
            message: describe(&change),
            tool: change.tool,
        }));
        findings
    }
}

fn tool_finding(tool: &LintedTool, found: &surface::Finding) -> ToolFinding {
    ToolFinding {
        server: tool.server.clone(),
        tool: tool.name.clone(),
        rule: found.rule.to_owned(),
        level: found.severity.word(),
        message: format!("{}: {}. {}", found.place, found.what, found.fix),
    }
}

/// The highest number of tokens of a surface, if it is known for every surface.
fn most_tokens(judged: &[JudgedSurface]) -> Option<usize> {
    let tokens: Option<Vec<usize>> = judged.iter().map(|judged| judged.linted.tokens()).collect();
    tokens?.into_iter().max()
}

fn describe(change: &PinChange) -> String {
    let lines = if change.lines.is_empty() {
        String::new()
    } else {
        format!(": {}", change.lines.join(" "))
    };
    format!("{} since the baseline{lines}", change.what)
}

#[cfg(test)]
mod tests;
