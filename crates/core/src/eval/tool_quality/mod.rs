//! `tool_quality:` are the tools that the agent was offered fit to be chosen from?

use super::accept::{Proposal, ProposedChange, ProposedPlace};
use super::assertion::Assertion;
use super::gate::{Gate, GateKind, GateTrait};
use super::outlook::Outlook;
use super::scores::Scores;
use super::shown::Shown;
use super::target::{Target, Unit, targets};
use crate::baseline::TestBaseline;
use crate::matcher::Matcher;
use crate::problem::{Problem, Span, did_you_mean};
use crate::report::evidence::ToolFinding;
use crate::report::{Evidence, Finding, Number};
use crate::suite::read::{Block, Field};
use crate::surface::pin::{Change, Pins};
use crate::surface::{LintedTool, RULES, Rule, Severity, SurfaceTool, lint};
use crate::trace::{CatalogueTool, Run};

targets! {
    MIN_SCORE = Target::percent("tool_quality.min_score", "the score of the worst tool, 0 to 100").pooled();
    MEAN_SCORE = Target::percent("tool_quality.mean_score", "the mean of the tools' scores, floored")
        .pooled();
    CRITICAL_COUNT = Target::count("tool_quality.critical_count", "findings of severity critical").pooled();
    WARNING_COUNT = Target::count("tool_quality.warning_count", "findings of severity warning").pooled();
    SURFACE_TOKENS = Target::count(
        "tool_quality.surface_tokens",
        "the `cl100k_base` tokens that the tools take of every request",
    ).pooled().in_unit(Unit::Tokens);
    CHANGED_COUNT =
        Target::count("tool_quality.changed_count", "differences between the tools and the baseline")
            .pooled();
}

pub(super) const KIND: GateKind = GateKind {
    key: "tool_quality",
    summary: "Are the tools that the agent was offered fit to be chosen from?",
    targets: TARGETS,
    doc: include_str!("doc.md"),
    example: include_str!("example.yml"),
    floors: &[],
    read: |block| Box::new(ToolQuality::read(block)),
    traits: &[GateTrait::TakesTrue, GateTrait::ReadsFiles, GateTrait::JudgesTools],
};

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
            "The tools as they were pinned by `mcptest lint-tools --write-baseline`, relative to the suite";
        let baseline = block.optional("baseline", doc, |field| Some((field.name()?, field.span())));
        Self { ignore, baseline, pins: None }
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
        field.report(Problem::error(format!("there is no rule `{id}`")).at(field.span()).help(help));
    }
    Some(id)
}

impl Gate for ToolQuality {
    /// Nothing critical, and nothing changed in silence.
    fn expect_beside(&self, has_expect: bool) -> Vec<Assertion<Target>> {
        let critical = (!has_expect).then_some(CRITICAL_COUNT);
        let changed = self.baseline.as_ref().map(|_| CHANGED_COUNT);
        let none = |target: Target| Assertion::of(target, Matcher::at_most(0.0));
        critical.into_iter().chain(changed).map(none).collect()
    }

    fn score(&self, runs: &[Run<'_>]) -> Scores {
        let mut scores = Scores::default();
        let Some(surfaces) = surfaces(runs) else {
            scores.not_exercised = Some("the recording does not say which tools there were".to_owned());
            return scores;
        };
        if surfaces.iter().all(Vec::is_empty) {
            let why = if runs.is_empty() { "there are no runs" } else { "the agent was offered no tools" };
            scores.not_exercised = Some(why.to_owned());
            return scores;
        }
        let mut worst = Worst::default();
        for surface in &surfaces {
            self.add(surface, &mut worst, &mut scores.findings);
        }
        let whole = |number: usize| Some(Number::Int(number as i64));
        scores
            .set(&MIN_SCORE, whole(worst.min_score))
            .set(&MEAN_SCORE, whole(worst.mean_score))
            .set(&CRITICAL_COUNT, whole(worst.critical))
            .set(&WARNING_COUNT, whole(worst.warnings))
            .set(&SURFACE_TOKENS, worst.tokens.and_then(whole))
            .set(&CHANGED_COUNT, self.pins.as_ref().and_then(|_| whole(worst.changed)));
        let tokens = worst.tokens.map(|tokens| format!(", {tokens} tokens per request")).unwrap_or_default();
        scores.summary = Some(format!(
            "score {} at least, {} on average, {} critical, {} warnings{tokens}",
            worst.min_score, worst.mean_score, worst.critical, worst.warnings
        ));
        scores
    }

    fn evidence(&self, shown: &Shown<'_, '_>) -> Option<Evidence> {
        let mut tools: Vec<ToolFinding> = Vec::new();
        for found in surfaces(shown.all)?.iter().flat_map(|surface| self.found_in(surface)) {
            if !tools.contains(&found) {
                tools.push(found);
            }
        }
        Some(Evidence::ToolQuality { tools })
    }

    fn propose(&self, runs: &[Run<'_>], _captured: &dyn Fn() -> TestBaseline) -> Option<Proposal> {
        let ((file, _), pins) = self.baseline.as_ref().zip(self.pins.as_ref())?;
        let recorded = runs.iter().filter_map(|run| run.header?.catalogue.as_deref()).map(own);
        let mut surfaces: Vec<_> = recorded.collect();
        surfaces.dedup();
        let change = match &surfaces[..] {
            [surface] => {
                let tools: Vec<SurfaceTool> = surface.iter().map(SurfaceTool::recorded).collect();
                let has_changed = !pins.changes(&tools).is_empty();
                Ok(has_changed.then(|| ProposedChange::Pins(Pins::of(&tools))))
            }
            [] => Err("the recording does not say which tools there were".to_owned()),
            _ => Err("the runs were offered different tools".to_owned()),
        };
        Some(Proposal { place: ProposedPlace::File(file.clone()), change })
    }

    /// A server may offer other tools in the next run.
    fn outlook(&self, _: &Target, _: &Scores, _: &[Run<'_>], _: usize) -> Outlook {
        Outlook::Open
    }

    fn read_files(
        &mut self,
        _test: &TestBaseline,
        read: &dyn Fn(&str) -> Result<Vec<u8>, String>,
    ) -> Option<Problem> {
        let (file, _) = self.baseline.as_ref()?;
        let read = read(file).map_err(|reason| format!("cannot read the baseline {file}: {reason}"));
        match read.and_then(|bytes| Pins::read(&bytes).map_err(|error| format!("{file}: {error}"))) {
            Ok(pins) => self.pins = Some(pins),
            Err(message) => return Some(self.missing(message)),
        }
        None
    }
}

/// The tools that the runs were offered, each different list once; `None` when a recording does not say.
fn surfaces(runs: &[Run<'_>]) -> Option<Vec<Vec<CatalogueTool>>> {
    let recorded = |run: &Run<'_>| run.header.and_then(|header| header.catalogue.as_deref()).map(own);
    let mut surfaces = runs.iter().map(recorded).collect::<Option<Vec<_>>>()?;
    surfaces.dedup();
    Some(surfaces)
}

/// The tools of the servers; what was injected to distract is not theirs.
fn own(catalogue: &[CatalogueTool]) -> Vec<CatalogueTool> {
    catalogue.iter().filter(|tool| !tool.distractor).cloned().collect()
}

/// The numbers over all surfaces that the runs saw.
struct Worst {
    min_score: usize,
    mean_score: usize,
    critical: usize,
    warnings: usize,
    tokens: Option<usize>,
    changed: usize,
}

impl Default for Worst {
    fn default() -> Self {
        Self { min_score: 100, mean_score: 100, critical: 0, warnings: 0, tokens: Some(0), changed: 0 }
    }
}

impl ToolQuality {
    /// What rules say of each tool, then what is not as it was pinned.
    fn found_in(&self, surface: &[CatalogueTool]) -> Vec<ToolFinding> {
        let tools: Vec<SurfaceTool> = surface.iter().map(SurfaceTool::recorded).collect();
        let of_tool = |tool: LintedTool| {
            let found = tool.findings.into_iter();
            found.map(move |found| ToolFinding {
                server: tool.server.clone(),
                tool: tool.name.clone(),
                rule: found.rule.to_owned(),
                level: found.severity.word().to_owned(),
                message: format!("{}: {}. {}", found.place, found.what, found.fix),
            })
        };
        let changes = self.pins.as_ref().map(|pins| pins.changes(&tools)).unwrap_or_default();
        let changed = changes.into_iter().map(|change| ToolFinding {
            server: None,
            rule: "baseline".to_owned(),
            level: "changed".to_owned(),
            message: said(&change),
            tool: change.tool,
        });
        lint(&tools, &self.ignore).tools.into_iter().flat_map(of_tool).chain(changed).collect()
    }

    fn add(&self, surface: &[CatalogueTool], worst: &mut Worst, findings: &mut Vec<Finding>) {
        let tools: Vec<SurfaceTool> = surface.iter().map(SurfaceTool::recorded).collect();
        let linted = lint(&tools, &self.ignore);
        let lower = |worst: usize, score: Option<u32>| score.map_or(worst, |score| worst.min(score as usize));
        worst.min_score = lower(worst.min_score, linted.min_score());
        worst.mean_score = lower(worst.mean_score, linted.mean_score());
        worst.critical = worst.critical.max(linted.count(Severity::Critical));
        worst.warnings = worst.warnings.max(linted.count(Severity::Warning));
        worst.tokens = worst.tokens.zip(linted.tokens()).map(|(worst, tokens)| worst.max(tokens));
        let changes = self.pins.as_ref().map(|pins| pins.changes(&tools)).unwrap_or_default();
        worst.changed = worst.changed.max(changes.len());
        let changed = changes
            .into_iter()
            .map(|change| (vec![CHANGED_COUNT], format!("`{}`: {}", change.tool, said(&change))));
        let of_tool =
            linted.tools.iter().flat_map(|tool| tool.findings.iter().map(move |found| (tool, found)));
        let mut told: Vec<_> = of_tool.filter(|(_, found)| found.severity > Severity::Info).collect();
        told.sort_by_key(|(_, found)| std::cmp::Reverse(found.severity));
        let told = told.into_iter().map(|(tool, found)| {
            let is_critical = found.severity == Severity::Critical;
            let count = if is_critical { CRITICAL_COUNT } else { WARNING_COUNT };
            let message = format!(
                "{} {}: `{}` {}: {}. {}",
                found.severity.word(),
                found.rule,
                tool.name,
                found.place,
                found.what,
                found.fix
            );
            (vec![count, MIN_SCORE, MEAN_SCORE], message)
        });
        for (about, message) in changed.chain(told) {
            if findings.iter().all(|known| known.message != message) {
                findings.push(Finding::new(None, message).about(&about));
            }
        }
    }
}

fn said(change: &Change) -> String {
    let lines = if change.lines.is_empty() { String::new() } else { format!(": {}", change.lines.join(" ")) };
    format!("{} since the baseline{lines}", change.what)
}

#[cfg(test)]
mod tests;
