//! Is the input schema one, and do providers take it?

use super::look::{Look, SCHEMA};
use super::rules::Spot;
use mcptest_core::provider::FAMILIES;
use mcptest_core::schema::JsonSchema;
use mcptest_core::tool_schema::{SchemaRule, fit};
use std::collections::BTreeMap;

pub(super) fn is_invalid(look: &Look<'_>, _: &[Look<'_>]) -> Vec<Spot> {
    let Some(schema) = look.schema() else {
        return vec![Spot::new(SCHEMA, "the input schema is missing")];
    };
    if !schema.is_object() {
        return vec![Spot::new(SCHEMA, "it is not an object")];
    }
    match JsonSchema::compile_as_declared(schema) {
        Ok(_) => Vec::new(),
        Err(fault) => vec![Spot::new(
            format!("{SCHEMA}{}", fault.pointer),
            fault.reason,
        )],
    }
}

pub(super) fn is_refused(look: &Look<'_>, _: &[Look<'_>]) -> Vec<Spot> {
    refusals(look, |rule| !rule.is_form)
}

pub(super) fn is_refused_for_its_form(look: &Look<'_>, _: &[Look<'_>]) -> Vec<Spot> {
    refusals(look, |rule| rule.is_form)
}

fn refusals(look: &Look<'_>, is_meant: fn(&SchemaRule) -> bool) -> Vec<Spot> {
    let Some(schema) = &look.tool.tool.input_schema else {
        return Vec::new();
    };
    let mut refusing: BTreeMap<(String, &str), Vec<&str>> = BTreeMap::new();
    for family in FAMILIES {
        for found in fit(schema.text(), family)
            .findings
            .into_iter()
            .filter(|found| is_meant(found.rule))
        {
            let titles = refusing
                .entry((found.pointer, found.rule.refused))
                .or_default();
            if !titles.contains(&family.title) {
                titles.push(family.title);
            }
        }
    }
    refusing
        .into_iter()
        .map(|((pointer, refused), titles)| {
            let verb = if titles.len() == 1 {
                "refuses"
            } else {
                "refuse"
            };
            let what = format!("{} {verb} {refused}", titles.join(", "));
            Spot::new(format!("{SCHEMA}{pointer}"), what)
        })
        .collect()
}
