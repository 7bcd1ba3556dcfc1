//! Which defects do the tools of a surface have, where, and how many tokens does each tool cost?

pub mod bench;
mod description;
mod look;
mod naming;
mod parameters;
pub mod pin;
mod rules;
mod schema;
mod similar;
#[cfg(test)]
mod tests;
mod text;
mod words;

pub use rules::{RULES, Rule};

use look::Look;
use mcptest_core::price::{count_tokens, tool_text};
use mcptest_core::trace::CatalogueTool;
use mcptest_core::words::word_of;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// A tool as its server lists it.
#[derive(Debug, Clone, Default)]
pub struct SurfaceTool {
    /// The tool as the model reads it.
    pub tool: CatalogueTool,
    /// Its title.
    pub title: Option<String>,
    /// Its `annotations`, null if it has none; `None` if they were not recorded.
    pub annotations: Option<Value>,
}

impl SurfaceTool {
    /// A tool of a recorded catalogue, without annotations.
    pub fn recorded(tool: &CatalogueTool) -> Self {
        Self {
            tool: tool.clone(),
            ..Self::default()
        }
    }

    /// An entry of the answer to `tools/list`.
    pub fn listed(entry: &RawValue, server: Option<&str>) -> serde_json::Result<Self> {
        let tool: CatalogueTool = serde_json::from_str(entry.get())?;
        let tool = CatalogueTool {
            server: server.map(str::to_owned),
            distractor: false,
            ..tool
        };
        let entry: Value = serde_json::from_str(entry.get())?;
        let title = entry["title"].as_str().map(str::to_owned);
        Ok(Self {
            tool,
            title,
            annotations: Some(entry["annotations"].clone()),
        })
    }
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// It makes a wrong choice or a wrong call likely.
    Warning,
    /// The tool cannot be used or cannot be trusted.
    Critical,
}

impl Severity {
    /// The word for it.
    pub fn word(self) -> String {
        word_of(self)
    }

    /// The points that a rule with a finding costs a tool.
    fn cost(self) -> u32 {
        match self {
            Self::Info => 2,
            Self::Warning => 10,
            Self::Critical => 50,
        }
    }
}

/// A defect of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The id of the rule.
    pub rule: &'static str,
    /// The severity.
    pub severity: Severity,
    /// The place in the tool's entry, as a JSON pointer.
    pub place: String,
    /// The defect.
    pub what: String,
    /// The fix.
    pub fix: &'static str,
}

/// The findings for one tool.
#[derive(Debug, Clone, Serialize)]
pub struct LintedTool {
    /// Its name.
    pub name: String,
    /// Its server, if the surface has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The tokens that it adds to every request; `None` in a build without a tokenizer.
    pub tokens: Option<usize>,
    /// 100 minus the points of each rule with a finding, once per rule; never below 0.
    pub score: u32,
    /// In the order of the rules.
    pub findings: Vec<Finding>,
}

/// The findings in all tools.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Linted {
    /// In the order of the surface.
    pub tools: Vec<LintedTool>,
}

impl Linted {
    /// The score of the worst tool.
    pub fn min_score(&self) -> Option<u32> {
        self.tools.iter().map(|tool| tool.score).min()
    }

    /// The mean of the scores, floored.
    pub fn mean_score(&self) -> Option<u32> {
        let sum: u32 = self.tools.iter().map(|tool| tool.score).sum();
        sum.checked_div(self.tools.len() as u32)
    }

    /// The number of findings with this severity.
    pub fn count(&self, severity: Severity) -> usize {
        let all = self.tools.iter().flat_map(|tool| &tool.findings);
        all.filter(|finding| finding.severity == severity).count()
    }

    /// The tokens that all tools add to every request.
    pub fn tokens(&self) -> Option<usize> {
        self.tools.iter().map(|tool| tool.tokens).sum()
    }
}

/// Applies every rule except the ignored ones to every tool.
pub fn lint(tools: &[SurfaceTool], ignore: &[String]) -> Linted {
    let rules: Vec<&Rule> = RULES
        .iter()
        .filter(|rule| ignore.iter().all(|id| id != rule.id))
        .collect();
    let looks = Look::at_all(tools);
    let tools = looks
        .iter()
        .enumerate()
        .map(|(at, look)| lint_tool(look, &looks[..at], &rules))
        .collect();
    Linted { tools }
}

fn lint_tool(look: &Look<'_>, before: &[Look<'_>], rules: &[&Rule]) -> LintedTool {
    let mut findings = Vec::new();
    let mut cost = 0;
    for rule in rules {
        let spots = (rule.check)(look, before);
        if !spots.is_empty() {
            cost += rule.severity.cost();
        }
        findings.extend(spots.into_iter().map(|spot| Finding {
            rule: rule.id,
            severity: rule.severity,
            place: spot.place,
            what: spot.what,
            fix: rule.fix,
        }));
    }
    LintedTool {
        name: look.tool.tool.name.clone(),
        server: look.tool.tool.server.clone(),
        tokens: look.tokens,
        score: 100_u32.saturating_sub(cost),
        findings,
    }
}

/// The tokens that a tool adds to every request.
fn tokens_of(tool: &SurfaceTool) -> Option<usize> {
    count_tokens(&tool_text(&tool.tool))
}
