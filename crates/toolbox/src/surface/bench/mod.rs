//! Which tool is chosen for which request, and how do changes of a description affect that?

mod intents;
mod mutate;
mod selector;
#[cfg(test)]
mod tests;

pub use intents::{Intent, Intents};
pub use mutate::{Mutation, mutations};

use super::SurfaceTool;
use mcptest_core::trace::is_tool;
use mcptest_stats::{Interval, wilson};
use selector::{Selector, Text};
use serde::Serialize;
use std::collections::BTreeMap;

/// The word for choosing no tool.
pub const NONE: &str = "none";

/// The choice for one request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// The request.
    pub ask: String,
    /// The right tools; if empty, it is right to choose none.
    pub right: Vec<String>,
    /// The chosen tool, if any.
    pub chosen: Option<String>,
    /// True if the choice is right.
    pub is_right: bool,
}

/// The choices of one selector.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SelectorChoices {
    /// `lexical`, or a model.
    pub selector: String,
    /// In the order of the file.
    pub choices: Vec<Choice>,
}

impl Choice {
    fn new(intent: &Intent, chosen: Option<String>, tools: &[SurfaceTool]) -> Self {
        let right: Vec<String> = intent
            .tools
            .iter()
            .flat_map(|(written, _)| names_of(written, tools))
            .collect();
        let is_right = chosen
            .as_ref()
            .map_or(right.is_empty(), |chosen| right.contains(chosen));
        Self {
            ask: intent.ask.clone(),
            right,
            chosen,
            is_right,
        }
    }
}

/// The names of the tools that are meant by a written one, on whichever server.
fn names_of(written: &str, tools: &[SurfaceTool]) -> Vec<String> {
    tools
        .iter()
        .filter(|one| is_tool(written, &one.tool.name, one.tool.server.as_deref()))
        .map(|one| one.tool.name.clone())
        .collect()
}

impl SelectorChoices {
    /// Scores these choices, of tools by their names; a choice for each intent.
    pub fn new(
        selector: &str,
        tools: &[SurfaceTool],
        chosen: Vec<(&Intent, Option<String>)>,
    ) -> Self {
        Self {
            selector: selector.to_owned(),
            choices: chosen
                .into_iter()
                .map(|(intent, chosen)| Choice::new(intent, chosen, tools))
                .collect(),
        }
    }

    /// The number of right choices.
    pub fn right(&self) -> usize {
        self.choices.iter().filter(|choice| choice.is_right).count()
    }

    /// The 95% confidence interval of the true accuracy.
    pub fn interval(&self) -> Option<Interval> {
        wilson(self.right() as u64, self.choices.len() as u64, 0.95).ok()
    }

    /// The number of times each tool was chosen, by the right tool. If several tools are right, a right choice counts
    /// under its own name.
    pub fn matrix(&self) -> BTreeMap<String, BTreeMap<String, usize>> {
        let mut matrix: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
        for choice in &self.choices {
            let chosen = choice.chosen.clone().unwrap_or_else(|| NONE.to_owned());
            let right = choice
                .right
                .first()
                .cloned()
                .unwrap_or_else(|| NONE.to_owned());
            let row = if choice.is_right {
                chosen.clone()
            } else {
                right
            };
            *matrix.entry(row).or_default().entry(chosen).or_default() += 1;
        }
        matrix
    }

    /// The requests for other tools that each tool attracts.
    pub fn attracted(&self) -> BTreeMap<String, Vec<&str>> {
        let mut attracted: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for choice in self.choices.iter().filter(|choice| !choice.is_right) {
            if let Some(chosen) = &choice.chosen {
                attracted
                    .entry(chosen.clone())
                    .or_default()
                    .push(&choice.ask);
            }
        }
        attracted
    }
}

/// The choices by words alone.
pub fn lexical(tools: &[SurfaceTool], intents: &[Intent]) -> SelectorChoices {
    let texts: Vec<Text> = tools.iter().map(Text::from_tool).collect();
    lexical_of(tools, &texts, intents)
}

fn lexical_of(tools: &[SurfaceTool], texts: &[Text], intents: &[Intent]) -> SelectorChoices {
    let selector = Selector::new(texts);
    let chosen = |intent: &Intent| {
        selector
            .choose(&intent.ask)
            .map(|at| tools[at].tool.name.clone())
    };
    SelectorChoices::new(
        "lexical",
        tools,
        intents
            .iter()
            .map(|intent| (intent, chosen(intent)))
            .collect(),
    )
}
