//! How do the tables of redaction read?

use super::keys::{Also, KEYS, KeyRule, QUERY_KEYS};
use super::shapes::{SHAPES, Shape};

/// The token shapes and the secret names as Markdown tables.
pub fn tables() -> String {
    let shapes: String = SHAPES.iter().map(shape_row).collect();
    let keys: String = KEYS.iter().map(|rule| key_row(rule, "")).collect();
    let query: String = QUERY_KEYS
        .iter()
        .map(|rule| key_row(rule, " (in the query of a URL)"))
        .collect();
    format!(
        "| placeholder | of | pattern |\n|---|---|---|\n{shapes}\n\
         | placeholder | the name is | or ends with | besides a string |\n|---|---|---|---|\n{keys}{query}"
    )
}

fn shape_row(shape: &Shape) -> String {
    let hash = if shape.is_hashed { ":…" } else { "" };
    let pattern = shape.pattern.replace('|', "\\|");
    format!("| `{}{hash}` | {} | `{pattern}` |\n", shape.name, shape.of)
}

fn key_row(rule: &KeyRule, place: &str) -> String {
    let list = |names: &[&str]| {
        names
            .iter()
            .map(|name| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let also = match rule.also {
        Also::Nothing => "",
        Also::Numbers => "a number",
        Also::Lists => "the texts of a list",
    };
    format!(
        "| `{}`{place} | {} | {} | {also} |\n",
        rule.name,
        list(rule.names),
        list(rule.endings)
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_has_the_tables_as_they_are() {
        let page = include_str!("../../../docs/redaction.md");
        for table in super::tables().split("\n\n") {
            assert!(
                page.contains(table),
                "docs/redaction.md should have this:\n{table}"
            );
        }
    }
}
