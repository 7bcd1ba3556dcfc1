//! `mcptest explain`: a page of the book, or the description of a `lint-tools` rule.

use super::pages::{self, pages};
use crate::GATES;
use clap::Args;
use mcptest_command::{Failure, Group, Program, RunCommand, output};
use mcptest_core::problem::did_you_mean;
use mcptest_toolbox::surface::{RULES, Rule};

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The key of a gate, such as `golden_path`, a rule of `lint-tools`, or a page, such as `recording`.
    page: Option<String>,
}

impl RunCommand for Explain {
    const NAME: &'static str = "explain";
    const GROUP: Group = Group::Document;
    const SUMMARY: &'static str = "Print a page of the documentation, or list all pages";
    const EXAMPLE: &'static str = "mcptest explain trajectory";

    fn run(self, _program: &Program) -> Result<u8, Failure> {
        output::own(&text(self.page.as_deref())?)?;
        Ok(0)
    }
}

/// The page, or a list of all.
pub(super) fn text(wanted: Option<&str>) -> Result<String, Failure> {
    match wanted {
        Some("matchers") => Ok(matchers()),
        Some(key) => page(key),
        None => Ok(list()),
    }
}

fn page(key: &str) -> Result<String, Failure> {
    let wanted = key.trim_end_matches(':');
    let gate = GATES
        .iter()
        .find(|gate| gate.key == wanted)
        .map(|gate| gate.doc);
    let mut beginning = GATES.iter().filter(|gate| gate.key.starts_with(wanted));
    let only = beginning
        .next()
        .filter(|_| beginning.next().is_none())
        .map(|gate| gate.doc);
    if let Some(text) = gate.or(pages::find(wanted).map(|page| page.text)).or(only) {
        return Ok(without_pictures(text));
    }
    if let Some(rule) = Rule::named(key) {
        return Ok(format!(
            "{} ({})\n\n{}\n{}\n",
            rule.id,
            rule.severity.word(),
            rule.doc,
            rule.fix
        ));
    }
    let rules = RULES.iter().map(|rule| rule.id);
    let known = GATES
        .iter()
        .map(|gate| gate.key)
        .chain(rules)
        .chain(pages().map(|page| page.name));
    let help = did_you_mean(wanted, known, || {
        "`mcptest explain` lists the gates and the pages".to_owned()
    });
    Err(Failure::with_help(
        format!("no gate or page is named `{key}`"),
        help,
    ))
}

/// A page without its pictures, which a terminal does not show.
fn without_pictures(page: &str) -> String {
    let paragraphs: Vec<&str> = page
        .split("\n\n")
        .filter(|text| !text.starts_with("!["))
        .collect();
    paragraphs.join("\n\n")
}

fn list() -> String {
    let gates = table(GATES.iter().map(|gate| (gate.key, gate.summary)));
    let pages = table(pages().map(|page| (page.name, page.title())));
    format!(
        "The gates, each a block of an agent. `mcptest explain NAME` prints the page.\n\n{gates}\n\
         The other pages:\n\n{pages}\n\
         `mcptest explain matchers` lists the checks for values. To judge your own traces, give the agent\n\
         `cassette: runs/*.json`.\n",
    )
}

fn table(rows: impl Iterator<Item = (&'static str, &'static str)> + Clone) -> String {
    let widest = rows
        .clone()
        .map(|(name, _)| name.len())
        .max()
        .unwrap_or_default();
    let lines = rows.map(|(name, about)| format!("  {name:widest$}  {about}\n"));
    lines.collect()
}

fn matchers() -> String {
    let mut text = String::from("A matcher is a map with one of these keys.\n\n");
    for matcher in mcptest_core::matcher::documentation() {
        let also = matcher
            .alias
            .map(|alias| format!(" (also {alias})"))
            .unwrap_or_default();
        text.push_str(&format!("  {:14}{}{also}\n", matcher.key, matcher.doc));
    }
    text
}
