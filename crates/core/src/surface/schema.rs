//! Is the input schema one, and do providers take it?

use super::look::{Look, SCHEMA};
use super::rules::Spots;
use crate::provider::FAMILIES;
use crate::schema::JsonSchema;
use crate::tool_schema::{SchemaRule, fit};
use std::collections::BTreeMap;

pub(super) fn is_invalid(look: &Look<'_>, _: &[Look<'_>]) -> Spots {
    let Some(schema) = look.schema() else {
        return vec![(SCHEMA.to_owned(), "the input schema is missing".to_owned())];
    };
    match JsonSchema::compile_as_declared(schema) {
        _ if !schema.is_object() => vec![(SCHEMA.to_owned(), "it is not an object".to_owned())],
        Ok(_) => Vec::new(),
        Err(fault) => vec![(format!("{SCHEMA}{}", fault.pointer), fault.reason)],
    }
}

pub(super) fn is_refused(look: &Look<'_>, _: &[Look<'_>]) -> Spots {
    refusals(look, |rule| !rule.is_form)
}

pub(super) fn is_refused_for_its_form(look: &Look<'_>, _: &[Look<'_>]) -> Spots {
    refusals(look, |rule| rule.is_form)
}

fn refusals(look: &Look<'_>, is_meant: fn(&SchemaRule) -> bool) -> Spots {
    let Some(schema) = &look.tool.tool.input_schema else {
        return Vec::new();
    };
    let mut by: BTreeMap<(String, &str), Vec<&str>> = BTreeMap::new();
    for family in FAMILIES {
        for found in fit(schema.text(), family)
            .findings
            .into_iter()
            .filter(|found| is_meant(found.rule))
        {
            let titles = by.entry((found.pointer, found.rule.refused)).or_default();
            if !titles.contains(&family.title) {
                titles.push(family.title);
            }
        }
    }
    let say = |((pointer, refused), titles): ((String, &str), Vec<&str>)| {
        let verb = if titles.len() == 1 {
            "refuses"
        } else {
            "refuse"
        };
        (
            format!("{SCHEMA}{pointer}"),
            format!("{} {verb} {refused}", titles.join(", ")),
        )
    };
    by.into_iter().map(say).collect()
}
