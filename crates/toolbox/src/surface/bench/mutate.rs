//! What does a change of one description do to the choices?

use super::selector::Text;
use super::{Intent, SelectorChoices, lexical_of};
use crate::surface::SurfaceTool;
use crate::surface::look::Look;
use crate::surface::similar::shared_words;
use serde::Serialize;

/// A change of one tool, with its effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mutation {
    /// The tool.
    pub tool: String,
    /// The change.
    pub change: String,
    /// The number of right choices before the change.
    pub before: usize,
    /// The number of right choices after the change.
    pub after: usize,
    /// Requests that were right and are not.
    pub lost: Vec<String>,
    /// Requests that are right and were not.
    pub won: Vec<String>,
}

/// Every small change of every tool, one at a time.
pub fn mutations(tools: &[SurfaceTool], intents: &[Intent]) -> Vec<Mutation> {
    let texts: Vec<Text> = tools.iter().map(Text::from_tool).collect();
    let looks = Look::at_all(tools);
    let before = lexical_of(tools, &texts, intents);
    let mut found = Vec::new();
    for at in 0..texts.len() {
        for (change, changed) in changes(&texts, &looks, at) {
            let after = lexical_of(tools, &changed, intents);
            found.push(mutation(&tools[at].tool.name, change, &before, &after));
        }
    }
    found
}

fn changes(texts: &[Text], looks: &[Look<'_>], at: usize) -> Vec<(String, Vec<Text>)> {
    let with = |change: &dyn Fn(&mut Vec<Text>)| {
        let mut texts = texts.to_vec();
        change(&mut texts);
        texts
    };
    let first = first_sentence(&texts[at].description);
    let mut changes = vec![
        (
            "name hidden".to_owned(),
            with(&|texts| texts[at].name.clear()),
        ),
        (
            "description dropped".to_owned(),
            with(&|texts| texts[at].description.clear()),
        ),
    ];
    if first.len() < texts[at].description.trim().len() {
        let cut = with(&|texts| texts[at].description.truncate(first.len()));
        changes.push(("first sentence only".to_owned(), cut));
    }
    if let Some(near) = nearest_to(looks, at) {
        let swapped = with(&|texts| {
            let description = texts[at].description.clone();
            texts[at].description = std::mem::replace(&mut texts[near].description, description);
        });
        changes.push((
            format!("description swapped with that of {}", texts[near].name),
            swapped,
        ));
    }
    changes
}

fn first_sentence(text: &str) -> &str {
    let ends = |(at, mark): (usize, &str)| {
        let after = &text[at + mark.len()..];
        (mark == "\n" || after.is_empty() || after.starts_with(char::is_whitespace))
            .then_some(at + mark.len())
    };
    let end = text.match_indices(['.', '!', '?', '\n']).find_map(ends);
    &text[..end.unwrap_or(text.len())]
}

/// The tool with the most similar description.
fn nearest_to(looks: &[Look<'_>], at: usize) -> Option<usize> {
    let alike = |other: usize| shared_words(&looks[at], &looks[other]);
    let better = |best: usize, other: usize| {
        if alike(other) > alike(best) {
            other
        } else {
            best
        }
    };
    (0..looks.len()).filter(|other| *other != at).reduce(better)
}

fn mutation(
    tool: &str,
    change: String,
    before: &SelectorChoices,
    after: &SelectorChoices,
) -> Mutation {
    let turned = |was_right: bool| {
        let pairs = before.choices.iter().zip(&after.choices);
        let turned = pairs
            .filter(|(before, after)| before.is_right == was_right && after.is_right != was_right);
        turned.map(|(before, _)| before.ask.clone()).collect()
    };
    let (lost, won) = (turned(true), turned(false));
    Mutation {
        tool: tool.to_owned(),
        change,
        before: before.right(),
        after: after.right(),
        lost,
        won,
    }
}
