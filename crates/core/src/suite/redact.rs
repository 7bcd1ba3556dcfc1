//! `redact:` what must be written nowhere, besides what is secret everywhere?

use super::read::Field;
use crate::matcher::regex_problem;
use crate::problem::Problem;
use mcptest_redact::{Builder, compile_pattern, is_placeholder_name};

/// A pattern of the suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactPattern {
    /// The name in the placeholder; by default, the pattern's named group.
    pub name: Option<String>,
    /// The regular expression whose matches are secrets.
    pub pattern: String,
}

impl RedactPattern {
    pub(super) fn read(field: &mut Field<'_>) -> Option<Self> {
        field.define("redact_pattern", |field| {
            field.shapes("a regular expression or {name, pattern}", |shapes| {
                shapes.text(|f| {
                    Some(Self {
                        name: None,
                        pattern: pattern(f)?,
                    })
                });
                shapes.block(|block| {
                    let name = block.required(
                        "name",
                        "The name in the placeholder: `[redacted:NAME]`",
                        name,
                    );
                    let pattern = block.required("pattern", "A regular expression", pattern);
                    Some(Self {
                        name: Some(name?),
                        pattern: pattern?,
                    })
                });
            })
        })
    }

    /// Adds it to the secrets.
    pub fn add_to(&self, builder: Builder) -> Builder {
        match &self.name {
            Some(name) => builder.named_pattern(name, &self.pattern),
            None => builder.pattern(&self.pattern),
        }
    }
}

fn name(field: &mut Field<'_>) -> Option<String> {
    let name = field.name()?;
    if !field.is_describing() && !is_placeholder_name(&name) {
        let problem = Problem::error(format!("`{name}` cannot be used as a placeholder"));
        field.report(problem.help("names are letters, digits, `_`, `.` and `-`"));
        return None;
    }
    Some(name)
}

fn pattern(field: &mut Field<'_>) -> Option<String> {
    let pattern = field.name()?;
    if field.is_describing() {
        return Some(pattern);
    }
    match compile_pattern(&pattern) {
        Ok(_) => Some(pattern),
        Err(error) => {
            field.report(regex_problem(&error));
            None
        }
    }
}
